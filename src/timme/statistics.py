"""Count clusters at every cutoff: the curves of the paper, and the cutoffs they point to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from timme._arrays import Floats, Ints, frozen
from timme._errors import require
from timme._html import Described
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import Hierarchy, require_hierarchy
from timme.settings.values import LARGE

# Points on which the slope of a curve is looked at: so many per width of the blur, but no more.
_PER_WIDTH = 8
_MOST_POINTS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curves(Described):
    """What is counted of the clusters, against the cutoff.

    Every curve is a step function that is continuous from the right: entry k holds from
    ``cutoffs[k]`` on, up to the next cutoff. Unless cutoffs were asked for, the first is -inf (all
    sites single, below every level) and the others are the levels of the hierarchy.
    """

    cutoffs: Floats  # (cutoffs,), in the units of the heights
    n_clusters: Ints  # (cutoffs,), single sites included
    largest: Ints  # (cutoffs,), sites in the largest cluster
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


@dataclass(frozen=True, slots=True, repr=False)
class Suggestion(Described):
    """A cutoff worth looking at, and why."""

    cutoff: float  # in the units of the heights
    reason: str


def curves(
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
        Where to count; everywhere from below the first level to the last by default.

    Returns
    -------
    Curves
        One entry per cutoff in every curve.

    Examples
    --------
    >>> from timme import link
    >>> counted = curves(link([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]]), large=2)
    >>> counted.cutoffs
    array([-inf,  0.1,  0.4])
    >>> counted.n_clusters
    array([3, 2, 1])
    >>> counted.large_fraction
    array([0.  , 0.667, 1.   ])
    """
    require_hierarchy(hierarchy, "statistics.curves")
    if large < 1 or min(sizes, default=1) < 1:
        raise ValueError(f"cluster sizes start at 1, got large={large} and sizes={tuple(sizes)}")
    levels = hierarchy.levels
    places, index = _places(levels, cutoffs)
    size = hierarchy.sizes
    birth = np.searchsorted(levels, hierarchy.births, side="right")  # 0 below the first level
    death = np.searchsorted(levels, hierarchy.deaths, side="right")
    death[hierarchy.parents < 0] = len(levels) + 1

    # A sum over the clusters alive at every place: what was born less what died, accumulated.
    def total(values: npt.NDArray[np.generic]) -> Ints:
        change = np.bincount(birth, values, len(levels) + 2)
        change -= np.bincount(death, values, len(levels) + 2)
        return np.cumsum(change)[index].astype(np.int64)

    # A cluster only ever dies into a larger one, so the largest alive is the largest so far.
    largest = np.zeros(len(levels) + 1, dtype=np.int64)
    np.maximum.at(largest, birth, size)
    n_sites = hierarchy.n_sites
    return Curves(
        cutoffs=frozen(places),
        n_clusters=frozen(total(np.ones(len(size)))),
        largest=frozen(np.maximum.accumulate(largest)[index]),
        mean_size=frozen(total(size**2) / n_sites),
        size_fractions=frozen(
            np.array([total(size * (size == r)) for r in sizes]).reshape(len(sizes), len(index))
            / n_sites
        ),
        large_fraction=frozen(total(size * (size >= large)) / n_sites),
        sizes=tuple(int(r) for r in sizes),
        large=int(large),
        n_sites=n_sites,
        quantity=hierarchy.quantity,
    )


def inflection(counted: Curves) -> float | None:
    """Find where the fraction of sites in large clusters rises most steeply.

    This is the paper's criterion for its spheres. The measured fraction is a staircase, whose
    slope is nowhere or infinite; so every step is blurred by a Gaussian, and the cutoff returned is
    where their sum is highest. The width is Silverman's rule, 0.9 s n^(-1/5), with s the smaller of
    the standard deviation and the interquartile range / 1.34 of the steps, weighted by their
    height, and n the number of steps that matter, (Σ h)² / Σ h². With few unequal steps this is
    close to the highest step; with many it is a smooth slope. A curve with two rises has two
    candidates, of which this is the steeper: look at the curve.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.

    Returns
    -------
    float or None
        Cutoff of the steepest rise; None where no cluster ever becomes large.
    """
    require(counted, Curves, "statistics.inflection", {"other": "pass curves(hierarchy)"})
    steps = np.diff(counted.large_fraction)
    rising = steps > 0
    heights, places = steps[rising], counted.cutoffs[1:][rising]
    if not rising.any():
        return None
    width = _bandwidth(places, heights)
    if width < _PER_WIDTH**2 * np.spacing(np.abs(places).max()):  # steps apart by rounding alone
        return float(places[heights.argmax()])
    points = min(_MOST_POINTS, int(np.ceil(_PER_WIDTH * np.ptp(places) / width)) + 1)
    grid = np.linspace(places[0], places[-1], points)
    spacing = grid[1] - grid[0]
    bins = np.rint((places - grid[0]) / spacing).astype(np.int64)
    binned = np.bincount(bins, heights, points)
    slope = ndimage.gaussian_filter1d(binned, width / spacing, mode="constant")
    return float(grid[slope.argmax()])


def long_lived(hierarchy: Hierarchy, *, min_size: int = 5, count: int = 3) -> Floats:
    """Find the widest ranges of cutoffs over which the same clusters live side by side.

    A range ends when a cluster of at least `min_size` sites appears, or when two of them become
    one. Growth by smaller pieces is not counted as a change: otherwise every stray site that
    joins the core would end a range.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    min_size : int, optional
        Sites a cluster needs to count.
    count : int, optional
        How many ranges to return at most.

    Returns
    -------
    ndarray, shape (ranges, 2)
        First and last cutoff of each range, the widest range first.

    Examples
    --------
    >>> from timme import link
    >>> bodies = [[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]]
    >>> long_lived(link(bodies), min_size=2, count=1)
    array([[2., 5.]])
    """
    require_hierarchy(hierarchy, "statistics.long_lived")
    counting = hierarchy.sizes >= min_size
    below = counting & (hierarchy.parents >= 0)
    parts = np.bincount(hierarchy.parents[below], minlength=len(hierarchy.parents))
    changes = np.unique(hierarchy.births[counting & (parts != 1)])
    ranges = np.column_stack([changes[:-1], changes[1:]])
    ranges = ranges[np.isfinite(ranges).all(axis=1)]  # the life of single sites has no start
    widest = np.argsort(ranges[:, 0] - ranges[:, 1], kind="stable")[:count]
    return frozen(ranges[widest])


def suggest(
    hierarchy: Hierarchy, *, large: int = LARGE, min_size: int = 5, count: int = 3
) -> tuple[Suggestion, ...]:
    """Suggest cutoffs for a picture, each with its reason; none is the right one.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    large : int, optional
        The R of P(r ≥ R), whose steepest rise comes first.
    min_size : int, optional
        Sites a cluster needs to count as long-lived.
    count : int, optional
        How many long-lived levels to suggest at most.

    Returns
    -------
    tuple of Suggestion
        At least one, unless the hierarchy has no level at all.

    Examples
    --------
    >>> from timme import link
    >>> bodies = [[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]]
    >>> for suggestion in suggest(link(bodies), large=4, min_size=2):
    ...     print(suggestion.cutoff, suggestion.reason)
    5.0 steepest rise of the fraction in clusters of 4 or more
    3.5 the same 2 clusters of 2 or more from 2 to 5
    1.5 the same 1 cluster of 2 or more from 1 to 2
    """
    require_hierarchy(hierarchy, "statistics.suggest")
    found = []
    steepest = inflection(curves(hierarchy, large=large, sizes=()))
    if steepest is not None:
        reason = f"steepest rise of the fraction in clusters of {large} or more"
        found.append(Suggestion(steepest, reason))
    for low, high in long_lived(hierarchy, min_size=min_size, count=count):
        middle = float(low + high) / 2
        alive = int((hierarchy.cut(middle).sizes >= min_size).sum())
        unit = f" {hierarchy.unit}" if hierarchy.unit else ""
        reason = (
            f"the same {alive} cluster{'s' * (alive != 1)} of {min_size} or more "
            f"from {low:.3g} to {high:.3g}{unit}"
        )
        found.append(Suggestion(middle, reason))
    if not found and len(hierarchy.levels):
        middle = float(hierarchy.levels[len(hierarchy.levels) // 2])
        found.append(Suggestion(middle, "the middle level: too few sites for other criteria"))
    return tuple(found)


def _places(levels: Floats, cutoffs: npt.ArrayLike | None) -> tuple[Floats, Ints]:
    """Return where to count, and how many levels lie at or below each place."""
    if cutoffs is None:
        return np.append(-np.inf, levels), np.arange(len(levels) + 1)
    places = np.array(cutoffs, dtype=np.float64, ndmin=1)
    if np.isnan(places).any() or places.ndim != 1:
        raise ValueError("cutoffs must be a list of numbers, got nan or a nested list")
    return places, np.searchsorted(levels, places, side="right")


def _bandwidth(places: Floats, weights: Floats) -> float:
    """Silverman's rule for weighted points on a line, sorted."""
    share = weights / weights.sum()
    mean = share @ places
    spread = np.sqrt(share @ (places - mean) ** 2)
    low, high = places[np.searchsorted(np.cumsum(share), [0.25, 0.75])]
    quartiles = (high - low) / 1.34
    effective = 1 / (share @ share)
    return float(0.9 * min(spread, quartiles or spread) * effective**-0.2)
