"""Levels worth a look: cutoffs whose clusters are stiff inside and move against one another.

The silhouette of a site compares its mean σ to the others of its cluster (a) with that to the
nearest other cluster (b): (b - a) / max(a, b). Sites of small clusters count 0. Levels are the
highest local maxima of the mean over all sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.condensed import MIN_SIZE
from timme.hierarchy.partition import rand_index
from timme.hierarchy.tree import Hierarchy

STANDS_OUT = 0.3  # provisional: adenylate kinase has 0.32 to 0.60, single domains 0.10 to 0.23
_N_LEVELS = 3
_BREADTH = 0.002  # of cutoffs, within which the silhouette is averaged
_ALIKE = 0.8  # adjusted Rand index from which on two cuts show the same


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Described):
    """A cut worth a look."""

    cutoff: float  # in the unit of the heights
    silhouette: float
    sizes: tuple[int, ...]  # of its large clusters, largest first


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Silhouettes(Described):
    """The silhouette of every cut, and the levels at which it is highest."""

    cutoffs: Floats  # (levels,), ascending; each holds up to the next
    values: Floats  # (levels,)
    levels: tuple[Level, ...]  # the highest distinct peaks, best first

    @property
    def standing_out(self) -> tuple[Level, ...]:
        """Levels with a silhouette of at least 0.3."""
        return tuple(level for level in self.levels if level.silhouette >= STANDS_OUT)


def silhouettes(
    hierarchy: Hierarchy, matrix: Floats, *, sites: Ints | None = None, min_size: int = MIN_SIZE
) -> Silhouettes:
    """Find the levels whose clusters are stiffest inside and loosest against one another.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    matrix : ndarray, shape (some sites, some sites)
        Heights of all pairs of these sites; NaN where unknown.
    sites : ndarray of int, optional
        Which sites they are; all by default.
    min_size : int, optional
        Sites that a cluster needs to count.

    Returns
    -------
    Silhouettes
        With at most three levels, the best first; no two are nearly the same.

    Examples
    --------
    >>> from timme import link
    >>> blocks = np.kron(np.eye(2), np.full((3, 3), -4.0)) + 5.0
    >>> found = silhouettes(link(blocks * (1 - np.eye(6))), blocks, min_size=3)
    >>> [(level.cutoff, level.silhouette, level.sizes) for level in found.levels]
    [(3.0, 0.8, (3, 3))]
    """
    chosen = np.arange(hierarchy.n_sites) if sites is None else np.asarray(sites)
    cutoffs = hierarchy.levels
    if not len(cutoffs):
        return Silhouettes(frozen(cutoffs), frozen(cutoffs), ())
    values = _all_values(hierarchy, matrix, chosen, min_size)
    levels = _peaks(hierarchy, values, min_size)
    return Silhouettes(frozen(cutoffs), frozen(values), levels)


def _all_values(hierarchy: Hierarchy, matrix: Floats, chosen: Ints, min_size: int) -> Floats:
    """Silhouette at every level: clusters are runs of sites in leaf order, in which σ adds up."""
    ranked = np.argsort(hierarchy.starts[chosen])
    known = np.isfinite(matrix) & ~np.eye(len(matrix), dtype=bool)
    # Σ σ of each chosen site with those up to a place in leaf order, and how many are known.
    held = np.stack([np.where(known, matrix, 0.0), known])[:, ranked][:, :, ranked]
    sums = np.pad(np.cumsum(held, axis=2), ((0, 0), (0, 0), (1, 0)))
    large = np.flatnonzero(hierarchy.sizes >= min_size)
    begins = hierarchy.starts[large]
    runs = np.stack([begins, begins + hierarchy.sizes[large]])
    runs = np.searchsorted(hierarchy.starts[chosen][ranked], runs)
    births, deaths = hierarchy.births[large], hierarchy.deaths[large]
    alive = ((births <= level) & (level < deaths) for level in hierarchy.levels)
    return np.array([_value(sums, *runs[:, which]) for which in alive])


def _value(sums: Floats, begins: Ints, ends: Ints) -> float:
    """Mean silhouette of all chosen sites, of which those of no large cluster count 0."""
    if len(begins) < 2:
        return 0.0
    total, count = sums[:, :, ends] - sums[:, :, begins]
    means = np.divide(total, count, out=np.full(total.shape, np.inf), where=count > 0)
    place = np.arange(len(means))[:, None]
    own = (begins <= place) & (place < ends)
    a = np.where(own, means, np.inf).min(axis=1)
    b = np.where(own, np.inf, means).min(axis=1)
    known = np.isfinite(a) & np.isfinite(b) & (np.maximum(a, b) > 0)
    a, b = a[known], b[known]
    return float(((b - a) / np.maximum(a, b)).sum() / len(means))


def _peaks(hierarchy: Hierarchy, values: Floats, min_size: int) -> tuple[Level, ...]:
    """The highest local maxima, of which no two show nearly the same."""
    lasting = _blur(hierarchy.levels, values).round(9)  # a flat slope has no peaks by rounding
    before, after = np.append(-np.inf, lasting[:-1]), np.append(lasting[1:], -np.inf)
    peaks = np.flatnonzero((values > 0) & (lasting >= before) & (lasting > after))
    ends = np.append(hierarchy.levels, hierarchy.levels[-1])
    chosen, cuts = list[Level](), list[Ints]()
    for peak in peaks[np.argsort(-lasting[peaks], kind="stable")]:
        cutoff = float(ends[peak] + ends[peak + 1]) / 2
        cut = hierarchy.cut(cutoff)
        alone = len(cut.sizes) + np.arange(len(cut.labels))
        labels = np.where(cut.sizes[cut.labels] < min_size, alone, cut.labels)
        if all(rand_index(labels, other) < _ALIKE for other in cuts):
            large = tuple(cut.sizes[cut.sizes >= min_size].tolist())
            chosen.append(Level(cutoff, float(values[peak]), large))
            cuts.append(labels)
        if len(chosen) == _N_LEVELS:
            break
    return tuple(chosen)


def _blur(cutoffs: Floats, values: Floats) -> Floats:
    """Mean of the silhouette over cutoffs within 0.2 % of the middle of each level.

    As one more site makes a small cluster count, the silhouette jumps for a range of cutoffs that
    is too narrow to be read off an axis.
    """
    low = np.maximum(cutoffs, 1e-300)
    bounds = np.append(low, low[-1] * (1 + _BREADTH))
    middle = np.sqrt(bounds[:-1] * bounds[1:])
    total = np.concatenate([[0.0], np.cumsum(values * np.diff(bounds))])
    ends = np.clip([middle / (1 + _BREADTH), middle * (1 + _BREADTH)], bounds[0], bounds[-1])
    begin, end = np.interp(ends, bounds, total)
    return np.asarray((end - begin) / np.maximum(ends[1] - ends[0], 1e-300))
