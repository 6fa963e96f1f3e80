"""Counts of clusters at every cutoff: the curves of the paper, and the cutoffs they point to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.condensed import MIN_SIZE, PLATEAU, lineages
from timme.hierarchy.tree import Hierarchy, Quantity

LARGE = 10  # the R of P(r ≥ R), as in the paper

# Grid on which the slope of a curve is computed: points per width of the blur, and at most.
_PER_WIDTH, _MOST_POINTS = 8, 1_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curves(Described):
    """Counts of clusters against the cutoff.

    Every curve is a staircase, continuous from the right: entry k holds from ``cutoffs[k]`` on, up
    to the next. Unless cutoffs were given, the first is -inf (all sites single) and the others are
    the levels of the hierarchy.
    """

    cutoffs: Floats  # (cutoffs,), in the unit of the heights
    n_clusters: Ints  # (cutoffs,), single sites included
    largest: Ints  # (cutoffs,), sites of the largest cluster
    mean_size: Floats  # (cutoffs,), ⟨r⟩: size of the cluster of a site, averaged over sites
    size_fractions: Floats  # (sizes, cutoffs), P(r): fraction of sites in clusters of each size
    large_fraction: Floats  # (cutoffs,), P(r ≥ R): fraction of sites in clusters of R or more
    sizes: tuple[int, ...]  # the r of size_fractions
    large: int  # R
    n_sites: int
    quantity: Quantity  # what the cutoffs are

    @property
    def largest_fraction(self) -> Floats:
        """Fraction of sites in the largest cluster."""
        return self.largest / self.n_sites


def count_clusters(
    hierarchy: Hierarchy,
    *,
    large: int = LARGE,
    sizes: Sequence[int] = (1, 2, 3, 4, 5),
    cutoffs: npt.ArrayLike | None = None,
) -> Curves:
    """Count clusters at every level, or at given cutoffs.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters; restrict it first to count some of the sites only.
    large : int, optional
        The R of P(r ≥ R).
    sizes : sequence of int, optional
        The r of P(r).
    cutoffs : array_like, shape (cutoffs,), optional
        By default -inf and all levels.

    Returns
    -------
    Curves
        One entry for each cutoff in every curve.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([0.1, 0.4]))
    >>> counted = count_clusters(hierarchy, large=2)
    >>> counted.cutoffs, counted.n_clusters
    (array([-inf,  0.1,  0.4]), array([3, 2, 1]))
    >>> counted.large_fraction
    array([0.  , 0.667, 1.   ])
    """
    levels, size, n_sites = hierarchy.levels, hierarchy.sizes, hierarchy.n_sites
    places = np.append(-np.inf, levels) if cutoffs is None else np.asarray(cutoffs, np.float64)
    index = np.searchsorted(levels, places, side="right")
    birth = np.searchsorted(levels, hierarchy.births, side="right")  # 0: below all levels
    death = np.searchsorted(levels, hierarchy.deaths, side="right")
    death[hierarchy.parents < 0] = len(levels) + 1

    def total(values: Ints) -> Ints:
        """Sum over the clusters that are alive at each place."""
        born, died = (np.bincount(when, values, len(levels) + 2) for when in (birth, death))
        return np.cumsum(born - died)[index].astype(np.int64)

    # A cluster only ever dies into a larger one, so the largest alive is the largest so far.
    largest = np.zeros(len(levels) + 1, dtype=np.int64)
    np.maximum.at(largest, birth, size)
    of_sizes = [total(size * (size == r)) / n_sites for r in sizes]
    return Curves(
        cutoffs=frozen(places),
        n_clusters=frozen(total(np.ones_like(size))),
        largest=frozen(np.maximum.accumulate(largest)[index]),
        mean_size=frozen(total(size**2) / n_sites),
        size_fractions=frozen(np.reshape(of_sizes, (len(sizes), len(index)))),
        large_fraction=frozen(total(size * (size >= large)) / n_sites),
        sizes=tuple(int(r) for r in sizes),
        large=int(large),
        n_sites=n_sites,
        quantity=hierarchy.quantity,
    )


def inflection(counted: Curves) -> float | None:
    """Return where the fraction of sites in large clusters rises most steeply.

    This is the criterion of the paper for its spheres. The measured fraction is a staircase, whose
    slope is zero or infinite, so every step is blurred by a Gaussian, and the highest place of
    their sum is returned. The width is Silverman's rule, 0.9 s n^(-1/5): s is the smaller of the
    standard deviation and the interquartile range / 1.34 of the steps, weighted by their height,
    and n = (Σ h)² / Σ h² the number of steps that matter. Of two rises, it is the steeper.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.

    Returns
    -------
    float or None
        Cutoff of the steepest rise; None if no cluster ever becomes large.
    """
    steps = np.diff(counted.large_fraction)
    rising = steps > 0
    heights, places = steps[rising], counted.cutoffs[1:][rising]
    if not rising.any():
        return None
    width = bandwidth(places, heights)
    if width < _PER_WIDTH**2 * np.spacing(np.abs(places).max()):  # rounding alone separates them
        return float(places[heights.argmax()])
    n_points = min(_MOST_POINTS, int(np.ceil(_PER_WIDTH * np.ptp(places) / width)) + 1)
    grid, spacing = np.linspace(places[0], places[-1], n_points, retstep=True)
    bins = np.rint((places - grid[0]) / spacing).astype(np.int64)
    binned = np.bincount(bins, heights, n_points)
    slope = ndimage.gaussian_filter1d(binned, width / spacing, mode="constant")
    return float(grid[slope.argmax()])


def bandwidth(places: Floats, weights: Floats) -> float:
    """Silverman's rule for weighted points on a line, sorted."""
    share = weights / weights.sum()
    spread = np.sqrt(share @ (places - share @ places) ** 2)
    low, high = places[np.searchsorted(np.cumsum(share), [0.25, 0.75])]
    quartiles = (high - low) / 1.34
    return float(0.9 * min(spread, quartiles or spread) * (share @ share) ** 0.2)


def suggest(
    hierarchy: Hierarchy, *, large: int = LARGE, min_size: int = MIN_SIZE
) -> list[tuple[float, str]]:
    """Return cutoffs for a picture, each with its reason: steepest rise and widest plateau.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    large : int, optional
        The R of P(r ≥ R), whose steepest rise comes first.
    min_size : int, optional
        Sites that a cluster with a plateau has, and that are outside it.

    Returns
    -------
    list of (float, str)
        Cutoff and reason of each criterion that applies.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> bodies = grow(4, np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 5.0, 2.0]))
    >>> for cutoff, reason in suggest(bodies, large=4, min_size=2):
    ...     print(round(cutoff, 3), reason)
    5.0 steepest rise of the fraction in clusters of 4 or more
    2.236 widest plateau: the same 2 sites from 1 to 5
    """
    found = list[tuple[float, str]]()
    steepest = inflection(count_clusters(hierarchy, large=large, sizes=()))
    if steepest is not None:
        found.append((steepest, f"steepest rise of the fraction in clusters of {large} or more"))
    # negative heights have no ratios
    lines = lineages(hierarchy, min_size=min_size) if hierarchy.heights.min(initial=0) >= 0 else ()
    widest = max(lines, key=lambda line: line.width, default=None)
    if widest is not None and widest.width >= PLATEAU:
        where = f"{widest.low:.3g} to {widest.high:.3g} {hierarchy.unit}".rstrip()
        reason = f"widest plateau: the same {len(widest.sites)} sites from {where}"
        found.append((float(np.sqrt(widest.low * widest.high)), reason))
    return found


def round_within(x: float, low: float, high: float) -> float:
    """Return the number with the fewest digits in a range, at least two.

    All cutoffs from one level of a hierarchy up to the next give the same clusters. One that is
    rounded within this range can be printed and typed again.

    Parameters
    ----------
    x : float
        Number in the range, near which the result is.
    low, high : float
        The range; `high` itself is not in it.

    Returns
    -------
    float
        In the range.

    Examples
    --------
    >>> round_within(0.038865, 0.038865, 0.03893)
    0.0389
    """
    for digits in range(2, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            found = float(Context(digits, rounding).create_decimal_from_float(x))
            if low <= found < high:
                return found
    return x


def round_cutoff(tree: Hierarchy, x: float) -> float:
    """Return the cutoff with the fewest digits that gives the same clusters.

    Parameters
    ----------
    tree : Hierarchy
        Clusters within clusters.
    x : float
        Cutoff.

    Returns
    -------
    float
        From the level at or below `x` up to the next.
    """
    place = int(np.searchsorted(tree.levels, x, side="right"))
    low, high = np.concatenate([[-np.inf], tree.levels, [np.inf]])[place : place + 2]
    return round_within(x, low, high)
