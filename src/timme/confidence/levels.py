"""Levels worth looking at: cuts whose clusters are stiff inside and loose against one another.

The silhouette of a site compares its mean σ with the others of its cluster (a) and with those of
the nearest other cluster (b): (b − a) / max(a, b). Sites of small clusters count 0, so that a cut
into crumbs is worth as little as one cluster of all. Levels at which the mean over all sites is
highest are looked at first; where even the best is low, no level stands out, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.agreement import adjusted_rand, count_pairs
from timme.hierarchy.condensed import MIN_SIZE
from timme.hierarchy.tree import Hierarchy

STANDS_OUT = 0.3  # provisional: adenylate kinase has 0.32 to 0.60, single domains 0.10 to 0.23
_N_LEVELS = 3
_BREADTH = 0.002  # of cutoffs, within which the silhouette is averaged
_ALIKE = 0.8  # adjusted Rand index from which on two cuts show the same


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Described):
    """A cut worth looking at."""

    cutoff: float  # in the units of the heights
    silhouette: float
    sizes: tuple[int, ...]  # of its large clusters, largest first
    low: float  # cutoffs between which the same large clusters live, but for stray sites
    high: float

    @property
    def stands_out(self) -> bool:
        """Whether its clusters are stiff and apart enough to be shown without a caution."""
        return self.silhouette >= STANDS_OUT

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("cutoff", f"{self.cutoff:.6g}"),
            ("silhouette", f"{self.silhouette:.2f}"),
            ("clusters", ", ".join(map(str, self.sizes))),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Silhouettes(Described):
    """The silhouette of every cut, and the levels at which it is highest."""

    cutoffs: Floats  # (levels,), ascending; each holds up to the next
    values: Floats  # (levels,)
    levels: tuple[Level, ...]  # the highest distinct peaks, best first

    @property
    def standing_out(self) -> tuple[Level, ...]:
        """Levels to look at; none where no level stands out."""
        return tuple(level for level in self.levels if level.stands_out)

    @property
    def words(self) -> str:
        """What was found, in one sentence."""
        best = self.levels[0].silhouette if self.levels else 0.0
        if best < STANDS_OUT:
            return (
                f"no level stands out: the best has a silhouette of {best:.2f}, where "
                f"{STANDS_OUT:g} is asked for (provisional)"
            )
        told = ", ".join(f"{level.cutoff:.3g}" for level in self.standing_out)
        return f"worth looking at: {told}"

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (("levels", len(self.cutoffs)), ("found", self.words))


def silhouettes(
    hierarchy: Hierarchy,
    matrix: Floats,
    *,
    sites: Ints | None = None,
    min_size: int = MIN_SIZE,
    n_levels: int = _N_LEVELS,
) -> Silhouettes:
    """Find the levels whose clusters are stiffest inside and loosest against one another.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters, as shown sites see it.
    matrix : ndarray, shape (some sites, some sites)
        σ of all pairs of these sites, or whatever the heights are; NaN where it is unknown.
    sites : ndarray of int, optional
        Which sites they are; all by default. Of very many, some at random will do.
    min_size : int, optional
        Sites that a cluster needs to count.
    n_levels : int, optional
        How many levels to tell, at most.

    Returns
    -------
    Silhouettes
        Levels, the best first; two of them are never nearly the same.

    Examples
    --------
    >>> from timme import link
    >>> blocks = np.kron(np.eye(2), np.full((3, 3), -4.0)) + 5.0
    >>> found = silhouettes(link(blocks * (1 - np.eye(6))), blocks, min_size=3)
    >>> [(level.cutoff, level.silhouette, level.sizes) for level in found.levels]
    [(3.0, 0.8, (3, 3))]
    """
    chosen = np.arange(hierarchy.n_sites) if sites is None else np.asarray(sites)
    if matrix.shape != (len(chosen), len(chosen)):
        raise ValueError(
            f"silhouettes of {len(chosen)} sites need σ of all their pairs, got {matrix.shape}"
        )
    cutoffs = hierarchy.levels
    if not len(cutoffs):
        return Silhouettes(frozen(cutoffs), frozen(cutoffs), ())
    values = _all_values(hierarchy, matrix, chosen, min_size)
    return Silhouettes(
        frozen(cutoffs), frozen(values), _peaks(hierarchy, values, min_size, n_levels)
    )


def _all_values(hierarchy: Hierarchy, matrix: Floats, chosen: Ints, min_size: int) -> Floats:
    """Silhouette at every level: sums of σ with each cluster are added up as clusters join."""
    known = np.isfinite(matrix) & ~np.eye(len(matrix), dtype=bool)
    n_sites, n_nodes = hierarchy.n_sites, len(hierarchy.parents)
    total = dict[int, Floats]()  # Σ σ of each chosen site with those of a cluster
    count = dict[int, Floats]()  # and how many of these pairs are known
    owner = np.full(len(chosen), -1)  # the large cluster of each chosen site
    place = np.full(n_sites, -1)
    place[chosen] = np.arange(len(chosen))
    parts: list[list[int]] = [[] for _ in range(n_nodes)]
    for node, above in enumerate(hierarchy.parents):
        if above >= 0:
            parts[above].append(node)
    filled = np.where(known, matrix, 0.0)
    nothing = np.zeros(len(chosen))
    values = list[float]()
    alive = set[int]()
    merges = np.arange(n_sites, n_nodes)
    bounds = np.searchsorted(hierarchy.heights, hierarchy.levels, side="right")
    begin = 0
    for end in bounds:
        for node in merges[begin:end]:
            columns, counts = nothing.copy(), nothing.copy()
            for part in parts[node]:
                if part < n_sites:
                    if place[part] >= 0:
                        columns += filled[:, place[part]]
                        counts += known[:, place[part]]
                else:
                    columns += total.pop(part)
                    counts += count.pop(part)
                    alive.discard(part)
            total[int(node)], count[int(node)] = columns, counts
            if hierarchy.sizes[node] >= min_size:
                alive.add(int(node))
                first = hierarchy.starts[node]
                members = place[hierarchy.order[first : first + hierarchy.sizes[node]]]
                owner[members[members >= 0]] = node
        begin = int(end)
        values.append(_value(sorted(alive), total, count, owner))
    return np.array(values)


def _value(
    alive: list[int], total: dict[int, Floats], count: dict[int, Floats], owner: Ints
) -> float:
    """Mean silhouette of all chosen sites, those of no large cluster counting 0."""
    if len(alive) < 2:
        return 0.0
    number = np.searchsorted(alive, owner)
    inside = np.flatnonzero(owner >= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.stack([total[node][inside] / count[node][inside] for node in alive], axis=1)
    own = np.arange(len(inside)), number[inside]
    a = means[own]
    means[own] = np.inf
    b = np.where(np.isnan(means), np.inf, means).min(axis=1)
    held = np.isfinite(a) & np.isfinite(b) & (np.maximum(a, b) > 0)
    a, b = a[held], b[held]
    return float(((b - a) / np.maximum(a, b)).sum() / len(owner))


def _peaks(hierarchy: Hierarchy, values: Floats, min_size: int, n_levels: int) -> tuple[Level, ...]:
    """The highest local maxima, of which no two show nearly the same."""
    lasting = _blur(hierarchy.levels, values)
    before = np.concatenate([[-np.inf], lasting[:-1]])
    after = np.concatenate([lasting[1:], [-np.inf]])
    peaks = np.flatnonzero((values > 0) & (lasting >= before) & (lasting > after))
    chosen = list[Level]()
    cuts = list[Ints]()
    for peak in peaks[np.argsort(-lasting[peaks], kind="stable")]:
        level = _level(hierarchy, values, int(peak), min_size)
        labels = _large(hierarchy, level.cutoff, min_size)
        if all(_agreement(labels, other) < _ALIKE for other in cuts):
            chosen.append(level)
            cuts.append(labels)
        if len(chosen) == n_levels:
            break
    return tuple(chosen)


def _blur(cutoffs: Floats, values: Floats) -> Floats:
    """Mean of the silhouette over cutoffs within 0.2 % of the middle of each level.

    As one more site makes a small cluster count, the silhouette leaps for a hair's breadth of the
    cutoff. What is gone before a cutoff can be read off an axis is no level to look at.
    """
    low = np.maximum(cutoffs, 1e-300)
    bounds = np.append(low, low[-1] * (1 + _BREADTH))
    middle = np.sqrt(bounds[:-1] * bounds[1:])
    total = np.concatenate([[0.0], np.cumsum(values * np.diff(bounds))])
    ends = np.clip([middle / (1 + _BREADTH), middle * (1 + _BREADTH)], bounds[0], bounds[-1])
    begin, end = np.interp(ends, bounds, total)
    blurred: Floats = (end - begin) / np.maximum(ends[1] - ends[0], 1e-300)
    return blurred


def _level(hierarchy: Hierarchy, values: Floats, peak: int, min_size: int) -> Level:
    """The level of a peak, and how far the same large clusters reach."""
    levels = hierarchy.levels
    low, high = peak, peak
    here = _n_large(hierarchy, float(levels[peak]), min_size)
    while low > 0 and _n_large(hierarchy, float(levels[low - 1]), min_size) == here:
        low -= 1
    while high + 1 < len(levels) and _n_large(hierarchy, float(levels[high + 1]), min_size) == here:
        high += 1
    beyond = levels[peak + 1] if peak + 1 < len(levels) else levels[peak]
    cutoff = float(levels[peak] + beyond) / 2
    sizes = hierarchy.cut(cutoff).sizes
    end = float(levels[high + 1]) if high + 1 < len(levels) else float(levels[high])
    return Level(
        cutoff=cutoff,
        silhouette=float(values[peak]),
        sizes=tuple(int(size) for size in sizes[sizes >= min_size]),
        low=float(levels[low]),
        high=end,
    )


def _n_large(hierarchy: Hierarchy, cutoff: float, min_size: int) -> int:
    births, deaths = hierarchy.births, hierarchy.deaths
    alive: Bools = (births <= cutoff) & (deaths > cutoff) & (hierarchy.sizes >= min_size)
    return int(np.count_nonzero(alive))


def _large(hierarchy: Hierarchy, cutoff: float, min_size: int) -> Ints:
    """Labels of large clusters; all other sites are alone."""
    cut = hierarchy.cut(cutoff)
    small = cut.sizes[cut.labels] < min_size
    return np.where(small, len(cut.sizes) + np.arange(len(cut.labels)), cut.labels)


def _agreement(one: Ints, other: Ints) -> float:
    """Adjusted Rand index of two ways to part the same sites."""
    shared = np.unique(np.column_stack([one, other]), axis=0, return_counts=True)[1]
    counts = [
        np.unique(one, return_counts=True)[1],
        np.unique(other, return_counts=True)[1],
        shared,
    ]
    couples = (count_pairs(sizes).sum() for sizes in counts)
    return float(adjusted_rand(*couples, n_sites=len(one)))
