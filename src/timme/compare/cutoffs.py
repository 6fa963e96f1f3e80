"""Compare two hierarchies at every pair of cutoffs, and find the pair at which they agree most.

**Every pair of cutoffs at once.** Within the clusters of the first at one cutoff, with sites in the
leaf order of the second, the gaps of the second say at which of its cutoffs neighbours join: they
are the edges of a chain, whose hierarchy counts the sites shared by clusters of both at all cutoffs
of the second. So a grid costs as much as sorting the sites once for each cutoff of one of the two.

**The best pair of cutoffs.** Any two hierarchies agree where both are one cluster but for a stray
site, and where all are single but for a few. So a cutoff may be the best only if more than a
quarter of the sites are in clusters and more than a twentieth are outside the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen, highest_between
from timme._html import Described
from timme.compare.clusters import (
    Overlap,
    as_partition,
    n_log_n,
    overlap,
    refuse_no_size,
    refuse_other_sites,
    variation_of_information,
)
from timme.compare.sites import Shown, common_sites
from timme.hierarchy.agreement import adjusted_rand, count_pairs
from timme.hierarchy.tree import Hierarchy, Partition, grow
from timme.settings.values import MIN_SIZE

Clusters = Hierarchy | Partition | npt.ArrayLike  # a list of labels is a partition
Comparable = Clusters | Shown

CLUSTERED, OUTSIDE = 0.25, 0.05  # more of the sites than these, at a cutoff that may be the best
_DIGITS = 12  # to which two indices must agree to be equally good


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Described):
    """How far two hierarchies of the same sites agree, at every pair of cutoffs.

    Cutoffs ascend. The first is -inf (all sites single, below every level), unless a partition was
    compared: it has one cutoff only.
    """

    first: Hierarchy
    second: Hierarchy
    first_cutoffs: Floats  # (first cutoffs,)
    second_cutoffs: Floats  # (second cutoffs,)
    rand: Floats  # (first cutoffs, second cutoffs), adjusted Rand index
    variation: Floats  # (first cutoffs, second cutoffs), variation of information, in nats
    telling: tuple[Bools, Bools]  # (first cutoffs,), (second cutoffs,): which may be the best
    best: tuple[int, int]  # place in the grid, of these, where the two agree most
    clusters: Overlap  # at the best pair of cutoffs, or at those asked for
    notes: tuple[str, ...]

    @property
    def n_sites(self) -> int:
        """Number of sites compared."""
        return self.first.n_sites

    @property
    def best_cutoffs(self) -> tuple[float, float]:
        """The cutoffs at which the two agree most, in the middle of their ranges."""
        return (
            _middle(self.first, self.first_cutoffs, self.best[0]),
            _middle(self.second, self.second_cutoffs, self.best[1]),
        )

    @property
    def looked_for(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Cutoffs of each from which, and up to which, the best pair is looked for."""
        first, second = (
            (float(cutoffs[telling][0]), _life(of, float(cutoffs[telling][-1]))[1])
            for of, cutoffs, telling in zip(
                (self.first, self.second),
                (self.first_cutoffs, self.second_cutoffs),
                self.telling,
                strict=True,
            )
        )
        return first, second

    @property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Cutoffs from which, and up to which, the clusters of each stay as they are."""
        return (
            _life(self.first, self.clusters.first.cutoff),
            _life(self.second, self.clusters.second.cutoff),
        )


def compare(
    first: Comparable,
    second: Comparable,
    *,
    cutoffs: tuple[float | None, float | None] | None = None,
    min_size: int = MIN_SIZE,
    clustered: float = CLUSTERED,
    outside: float = OUTSIDE,
    most: int = 1000,
) -> Comparison:
    """Compare two results, hierarchies or partitions of sites at every pair of cutoffs.

    Parameters
    ----------
    first, second : Analysis, Hierarchy, Partition or array_like of int
        Two results are compared on the sites that both show, found by their names: see
        :func:`common_sites`. Of anything else, site k of one is site k of the other. A list of
        labels is a partition.
    cutoffs : tuple of float or None, optional
        Where to compare cluster by cluster. By default at the best pair, each cutoff in the middle
        of the range over which the clusters stay as they are; None leaves one of them there.
    min_size : int, optional
        Sites a cluster needs to count.
    clustered, outside : float, optional
        A cutoff may be the best if more than the one fraction of the sites is in clusters of
        `min_size` or more, and more than the other is outside the largest.
    most : int, optional
        Cutoffs to look at in each; of more levels, so many at even ranks are taken.

    Returns
    -------
    Comparison
        The best pair has the highest adjusted Rand index; of equal ones it is the one with the
        lowest cutoff of the first, then of the second.

    Examples
    --------
    >>> from timme import link
    >>> bodies = link([[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]])
    >>> found = compare(bodies, [0, 0, 1, 1], min_size=2)
    >>> found.rand.ravel()
    array([0.  , 0.571, 1.  , 0.  ])
    >>> found.clusters.first.cutoff
    3.5
    """
    if most < 2 or not 0 <= clustered < 1 or not 0 <= outside < 1:
        raise ValueError(
            "a comparison needs 2 cutoffs or more and fractions from 0 to 1, "
            f"got most={most}, clustered={clustered} and outside={outside}"
        )
    refuse_no_size(min_size)
    both, notes = _on_common_sites(first, second)
    one, other = (_Side.of(given, most, min_size) for given in both)
    refuse_other_sites(one.hierarchy.n_sites, other.hierarchy.n_sites)
    rand, variation = _agreement(one, other)
    rows, first_notes = _telling(one, clustered, outside, "first")
    columns, second_notes = _telling(other, clustered, outside, "second")
    eligible = np.where(rows[:, None] & columns, np.round(rand, _DIGITS), -np.inf)
    best = divmod(int(eligible.argmax()), len(columns))
    chosen = [
        _middle(side.hierarchy, side.cutoffs, place) if asked is None else asked
        for side, place, asked in zip((one, other), best, cutoffs or (None, None), strict=True)
    ]
    return Comparison(
        first=one.hierarchy,
        second=other.hierarchy,
        first_cutoffs=frozen(one.cutoffs),
        second_cutoffs=frozen(other.cutoffs),
        rand=frozen(rand),
        variation=frozen(variation),
        telling=(frozen(rows), frozen(columns)),
        best=best,
        clusters=overlap(
            one.hierarchy.cut(chosen[0]), other.hierarchy.cut(chosen[1]), min_size=min_size
        ),
        notes=(*notes, *first_notes, *second_notes),
    )


def _on_common_sites(
    first: Comparable, second: Comparable
) -> tuple[tuple[Clusters, Clusters], tuple[str, ...]]:
    """Replace results by what they show: two of them on the sites of both, told in notes."""
    if isinstance(first, Shown) and isinstance(second, Shown):
        common = common_sites(first.shown_atoms, second.shown_atoms)
        one = first.shown_hierarchy.restrict(common.first)
        return (one, second.shown_hierarchy.restrict(common.second)), common.notes
    return (_clusters_of(first), _clusters_of(second)), ()


def _clusters_of(given: Comparable) -> Clusters:
    return given.shown_hierarchy if isinstance(given, Shown) else given


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One of the two that are compared, and what is counted at each of the cutoffs to look at."""

    hierarchy: Hierarchy
    cutoffs: Floats  # (cutoffs,)
    pairs: Floats  # (cutoffs,), pairs of sites within clusters
    logs: Floats  # (cutoffs,), sum of n ln n over clusters
    largest: Ints  # (cutoffs,), sites in the largest cluster
    clustered: Ints  # (cutoffs,), sites in clusters that count

    @classmethod
    def of(cls, given: Clusters, most: int, min_size: int) -> _Side:
        hierarchy, cutoffs = _with_cutoffs(given, most)
        counted = [
            (count_pairs(r).sum(), n_log_n(r).sum(), r[0], r[r >= min_size].sum())
            for r in (hierarchy.cut(cutoff).sizes for cutoff in cutoffs)
        ]
        pairs, logs, largest, clustered = np.array(counted, dtype=np.float64).T
        return cls(
            hierarchy, cutoffs, pairs, logs, largest.astype(np.int64), clustered.astype(np.int64)
        )


def _with_cutoffs(given: Clusters, most: int) -> tuple[Hierarchy, Floats]:
    """Return a hierarchy and the cutoffs to look at; a partition has one level and one cutoff."""
    if isinstance(given, Hierarchy):
        levels = given.levels
        if len(levels) >= most:
            levels = levels[np.linspace(0, len(levels) - 1, most - 1).round().astype(np.int64)]
        return given, np.append(-np.inf, levels)
    partition = as_partition(given)
    cutoff = float(np.nan_to_num(partition.cutoff))
    ranked = np.argsort(partition.labels, kind="stable")
    together = np.diff(partition.labels[ranked]) == 0
    edges = np.column_stack([ranked[:-1], ranked[1:]])[together]
    return grow(len(ranked), edges, np.full(len(edges), cutoff)), np.array([cutoff])


def _life(hierarchy: Hierarchy, cutoff: float) -> tuple[float, float]:
    """Return the cutoffs between which the clusters at a cutoff stay the same."""
    ends = np.concatenate([[-np.inf], hierarchy.levels, [np.inf]])
    place = int(np.searchsorted(ends[1:-1], cutoff, side="right"))
    return float(ends[place]), float(ends[place + 1])


def _middle(hierarchy: Hierarchy, cutoffs: Floats, place: int) -> float:
    """Return a cutoff that may be rounded: the middle of where the clusters stay the same."""
    low, high = _life(hierarchy, float(cutoffs[place]))
    middle = (low + high) / 2
    return middle if len(cutoffs) > 1 and low < middle < high else float(cutoffs[place])


def _telling(
    side: _Side, clustered: float, outside: float, name: str
) -> tuple[Bools, tuple[str, ...]]:
    """Find the cutoffs that may be the best; where there are none, say what was taken instead."""
    every = np.ones(len(side.cutoffs), dtype=np.bool_)
    if side.cutoffs[0] > -np.inf:  # a partition
        return every, ()
    n_sites = side.hierarchy.n_sites
    telling = side.clustered > clustered * n_sites
    telling &= n_sites - side.largest > outside * n_sites
    if telling.any():
        return telling, ()
    some = (side.largest > 1) & (side.largest < n_sites)
    note = (
        f"the {name} has no cutoff with more than {clustered:.0%} of the sites in clusters and "
        f"{outside:.0%} outside the largest: any cutoff may be the best"
    )
    return some if some.any() else every, (note,)


def _agreement(one: _Side, other: _Side) -> tuple[Floats, Floats]:
    """Return the adjusted Rand index and the variation of information at all pairs of cutoffs."""
    if len(one.cutoffs) > len(other.cutoffs):
        rand, variation = _agreement(other, one)
        return rand.T, variation.T
    n_sites = one.hierarchy.n_sites
    pairs, logs = _joint_sums(one, other)
    rand = adjusted_rand(one.pairs[:, None], other.pairs, pairs, n_sites=n_sites)
    variation = variation_of_information(one.logs[:, None], other.logs, logs, n_sites=n_sites)
    return rand, np.where(rand == 1, 0.0, variation)


def _joint_sums(one: _Side, other: _Side) -> tuple[Floats, Floats]:
    """Sum pairs of sites, and n ln n, over what clusters of both share, at all pairs of cutoffs."""
    n_sites, n_columns = one.hierarchy.n_sites, len(other.cutoffs)
    position = np.argsort(other.hierarchy.order)
    gaps = np.searchsorted(other.cutoffs, other.hierarchy.gaps)
    chain = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    pairs, logs = np.zeros((2, len(one.cutoffs), n_columns))
    for row, cutoff in enumerate(one.cutoffs):
        labels = one.hierarchy.cut(cutoff).labels
        ranked = np.lexsort((position, labels))
        place, together = position[ranked], np.diff(labels[ranked]) == 0
        joined = np.full(n_sites - 1, n_columns)  # the cutoff from which neighbours are joined
        joined[together] = highest_between(gaps, place[:-1][together], place[1:][together])
        tree = grow(n_sites, chain, np.where(joined < n_columns, joined, np.inf))
        inner, at = tree.parents >= 0, tree.heights.astype(np.int64)
        for sums, values in ((pairs, count_pairs(tree.sizes)), (logs, n_log_n(tree.sizes))):
            parts = np.bincount(tree.parents[inner], values[inner], len(values))
            sums[row] = np.cumsum(np.bincount(at, (values - parts)[n_sites:], n_columns))
    return pairs, logs
