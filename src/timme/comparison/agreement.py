"""Two hierarchies of the same sites at all pairs of cutoffs, beside the agreement by chance.

**Chance.** The sites of the second hierarchy are shifted along the chain and compared again, fifty
times. That keeps the clusters with their sizes and their contiguity, and loses which site is which.
Sites that form no chain are permuted. Known limit: a shift cuts the cluster that it moves across
the end of the chain, so that clusters of single stretches agree somewhat less by chance than they
should.

**p.** Whether two hierarchies agree is a question to the whole of them, not to the pair of cutoffs
that a search has found. The statistic is the number of pairs of sites that are together in both,
summed over all pairs of cutoffs: up to constants the correlation of the ranks at which pairs of
sites join (the cophenetic correlation of Sokal and Rohlf, 1962, in a test as that of Mantel, 1967).
p is the share of arrangements, the true one among them, in which it is as large.

**Best pair of cutoffs.** Any two hierarchies agree where both are one cluster, or both single
sites: the mutual information of such partitions is that of shifted ones. Slivers, such as a single
helix, agree easily as well, but hold few pairs of sites. So two excesses over the mean of all
arrangements count, that of information and that of pairs of sites together in both. Of the pairs of
cutoffs with at least half of the largest product of the two, the one with the highest adjusted Rand
index is the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from timme._arrays import Floats, Ints, frozen
from timme._kernels.linkage import joint_sums
from timme._text import Described
from timme.hierarchy.partition import (
    Partition,
    adjusted_rand,
    count_pairs,
    rand_index,
    rank_labels,
)
from timme.hierarchy.tree import SIGMA, Hierarchy, Quantity, grow

SHIFTS = 50  # arrangements by chance
LEAST_SHIFT = 10  # sites; smaller ones keep part of the correspondence
FEWEST_SITES = 40  # for which there are 20 shifts, and p can be below 0.05
MOST_CUTOFFS = 240  # of each hierarchy
ENOUGH = 1 / 2  # of the largest product of excesses, at the best pair
_WORK = 2e9  # sites × pairs of cutoffs × arrangements: a few seconds
_CUTOFFS = 100  # at most, of two hierarchies of one quantity

Clusters = Hierarchy | Partition | npt.ArrayLike


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlap(Described):
    """Two partitions of the same sites, cluster against cluster."""

    first: Partition
    second: Partition
    pairs: Ints  # (pairs, 2), a cluster of the first and one of the second that share sites
    shared: Ints  # (pairs,), number of sites they share
    jaccard: Floats  # (pairs,), shared sites divided by those in either
    partners: Ints  # (clusters of the second,), cluster of the first matched one to one, or -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chance(Described):
    """Results of the same search for arrangements by chance."""

    rand: Floats  # (arrangements,), adjusted Rand index of the best pair of each
    p: float  # share of arrangements as alike at all cutoffs together, the true one included

    @property
    def median(self) -> float:
        """Median adjusted Rand index."""
        return float(np.median(self.rand))

    @property
    def high(self) -> float:
        """Adjusted Rand index below which 95 % of arrangements are."""
        return float(np.quantile(self.rand, 0.95))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Described):
    """How far two hierarchies of the same sites agree, at every pair of cutoffs.

    Cutoffs ascend from -inf, where all sites are single; a partition has one cutoff.
    """

    first: Hierarchy
    second: Hierarchy
    cutoffs: tuple[Floats, Floats]  # of the first, of the second
    rand: Floats  # (first cutoffs, second cutoffs), adjusted Rand index
    variation: Floats  # (first cutoffs, second cutoffs), variation of information, in nats
    excess: Floats  # (first cutoffs, second cutoffs), information beyond chance, in nats
    best: tuple[int, int]  # place of the best pair in the grid
    best_cutoffs: tuple[float, float]  # in the middle of the ranges without change
    clusters: Overlap  # at the best pair, or at the cutoffs given
    chance: Chance | None  # None for too few sites

    @property
    def best_rand(self) -> float:
        """Adjusted Rand index at the best pair of cutoffs."""
        return float(self.rand[self.best])

    @property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Cutoffs from which, and up to which, the clusters of each stay as they are."""
        one, other = self.clusters.first.cutoff, self.clusters.second.cutoff
        return _life(self.first, one), _life(self.second, other)


def agree(
    first: Clusters,
    second: Clusters,
    *,
    cutoffs: tuple[float, float] | None = None,
    min_size: int = 10,
    along_chain: bool = True,
    seed: int = 0,
) -> Agreement:
    """Compare two hierarchies or partitions of the same sites at every pair of cutoffs.

    Parameters
    ----------
    first, second : Hierarchy, Partition or array_like of int, shape (sites,)
        Site k of one is site k of the other.
    cutoffs : tuple of float, optional
        Where clusters are matched; those of the best pair by default.
    min_size : int, optional
        Smaller clusters are not matched.
    along_chain : bool, optional
        Whether sites are in the order of a chain, along which they are shifted for the chance
        level; otherwise they are permuted.
    seed : int, optional
        Seed of the permutations.

    Returns
    -------
    Agreement
        With the chance level, if there are at least 40 sites.

    Examples
    --------
    >>> import timme
    >>> tree = timme.link([[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]])
    >>> found = agree(tree, [0, 0, 1, 1], min_size=2)
    >>> found.best_rand, found.best_cutoffs
    (1.0, (3.5, 0.0))
    """
    trees = as_hierarchy(first), as_hierarchy(second)
    n_sites = trees[0].n_sites
    _check_sites(n_sites, trees[1].n_sites)
    arrangements = _arrangements(n_sites, seed, along_chain=along_chain)
    most = min(MOST_CUTOFFS, max(2, math.isqrt(int(_WORK / n_sites / len(arrangements)))))
    levels = _cutoffs(trees[0], most), _cutoffs(trees[1], most)
    rand, together, information, variation = _compare(trees, levels, arrangements)
    places = _best_pairs(rand, together, information)
    chance = None
    if n_sites >= FEWEST_SITES:
        sums = together.sum(axis=(1, 2))
        best = np.array([grid[place] for grid, place in zip(rand, places, strict=True)])
        chance = Chance(frozen(best[1:]), float(np.mean(sums >= sums[0])))
    row, column = places[0]
    middles = _middle(trees[0], levels[0][row]), _middle(trees[1], levels[1][column])
    cuts = [tree.cut(cutoff) for tree, cutoff in zip(trees, cutoffs or middles, strict=True)]
    return Agreement(
        *trees,
        cutoffs=levels,
        rand=frozen(rand[0]),
        variation=frozen(variation),
        excess=frozen(information[0] - information[1:].mean(axis=0)),
        best=places[0],
        best_cutoffs=middles,
        clusters=overlap(*cuts, min_size=min_size),
        chance=chance,
    )


def as_hierarchy(given: Clusters, quantity: Quantity = SIGMA) -> Hierarchy:
    """Return a hierarchy; a partition has one level, at its cutoff."""
    if isinstance(given, Hierarchy):
        return given
    partition = as_partition(given)
    ranked = np.argsort(partition.labels, kind="stable")
    edges = np.column_stack([ranked[:-1], ranked[1:]])[np.diff(partition.labels[ranked]) == 0]
    cutoff = float(np.nan_to_num(partition.cutoff))
    return grow(len(ranked), edges, np.full(len(edges), cutoff), quantity=quantity)


def _cutoffs(tree: Hierarchy, most: int) -> Floats:
    """Cutoffs to look at: all levels, or so many; that of a partition alone."""
    levels = _thinned(tree.levels, most - 1)
    return frozen(levels if len(levels) == 1 else np.append(-np.inf, levels))


def _thinned(levels: Floats, most: int) -> Floats:
    """All levels, or so many at even ranks."""
    if len(levels) <= most:
        return levels
    return levels[np.linspace(0, len(levels) - 1, most).round().astype(np.int64)]


def _arrangements(n_sites: int, seed: int, *, along_chain: bool) -> Ints:
    """Sites in the true order, then in those by chance, (arrangements, sites)."""
    every = np.arange(n_sites)
    if along_chain and n_sites >= FEWEST_SITES:
        last = n_sites - LEAST_SHIFT
        count = min(SHIFTS, last - LEAST_SHIFT + 1)
        shifts = np.linspace(LEAST_SHIFT, last, count).round().astype(np.int64)
        moved = (every + shifts[:, None]) % n_sites
    else:
        rng = np.random.default_rng(seed)
        moved = rng.permuted(np.tile(every, (SHIFTS, 1)), axis=1)
    return np.concatenate([every[None], moved])


def _compare(
    trees: tuple[Hierarchy, Hierarchy], levels: tuple[Floats, Floats], arrangements: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """Compare all partitions in all arrangements.

    Returns, of shape (arrangements, first, second), the adjusted Rand index, the number of pairs of
    sites that are together in both, and mutual information in nats; of the true order alone the
    variation of information in nats.
    """
    n_sites = trees[0].n_sites
    first, second = (
        np.array([tree.cut(cutoff).labels for cutoff in cutoffs])
        for tree, cutoffs in zip(trees, levels, strict=True)
    )
    counts = np.arange(n_sites + 1)
    terms = xlogy(counts, counts).astype(np.float64)
    order = trees[1].order
    runs = np.ascontiguousarray(second[:, order])
    together, logs = np.empty((2, len(arrangements), len(first), len(second)))
    for place, arranged in enumerate(arrangements):
        moved = np.ascontiguousarray(first[:, arranged[order]])
        joint_sums(moved, runs, terms, together[place], logs[place])
    first_pairs, first_logs = _sums(first, terms)
    second_pairs, second_logs = _sums(second, terms)
    rand = adjusted_rand(first_pairs[:, None], second_pairs, together, n_sites=n_sites)
    total = first_logs[:, None] + second_logs
    variation = np.maximum(total - 2 * logs[0], 0.0) / n_sites
    information = np.log(n_sites) - (total - logs) / n_sites
    return rand, together, information, np.where(rand[0] == 1, 0.0, variation)


def _sums(partitions: Ints, terms: Floats) -> tuple[Floats, Floats]:
    """Sum pairs of sites and n ln n over the clusters of each partition (partitions, sites)."""
    sizes = [np.bincount(labels) for labels in partitions]
    pairs = [float(count_pairs(each).sum()) for each in sizes]
    return np.array(pairs), np.array([float(terms[each].sum()) for each in sizes])


def _best_pairs(rand: Floats, together: Floats, information: Floats) -> list[tuple[int, int]]:
    """Places of the best pairs of cutoffs, one for each arrangement; the lowest of equal ones."""
    product = np.ones_like(rand)
    for values in (information, together):
        product *= np.maximum(values - values.mean(axis=0), 0.0)
    enough = product >= ENOUGH * product.max(axis=(1, 2), keepdims=True)
    eligible = np.where(enough, rand, -np.inf).reshape(len(rand), -1)
    return [divmod(place, rand.shape[2]) for place in eligible.argmax(axis=1).tolist()]


def _life(hierarchy: Hierarchy, cutoff: float) -> tuple[float, float]:
    """Cutoffs between which the clusters at a cutoff stay the same."""
    ends = np.concatenate([[-np.inf], hierarchy.levels, [np.inf]])
    place = int(np.searchsorted(ends[1:-1], cutoff, side="right"))
    return float(ends[place]), float(ends[place + 1])


def _middle(hierarchy: Hierarchy, cutoff: float) -> float:
    """Middle of the range in which the clusters stay the same, so that it may be rounded."""
    low, high = _life(hierarchy, cutoff)
    middle = (low + high) / 2
    return middle if low < middle < high else float(cutoff)


# ---- cluster against cluster ---------------------------------------------------------------------


def overlap(
    first: Partition | npt.ArrayLike, second: Partition | npt.ArrayLike, *, min_size: int = 10
) -> Overlap:
    """Compare two partitions of the same sites.

    Clusters are matched one to one, the pair that shares most sites first (ties: the higher Jaccard
    index, then the lower labels), so that matched clusters can have the same colour.

    Parameters
    ----------
    first, second : Partition or array_like of int, shape (sites,)
        Cluster of each site.
    min_size : int, optional
        Smaller clusters are not matched one to one.

    Returns
    -------
    Overlap
        All pairs of clusters that share sites.

    Examples
    --------
    >>> found = overlap([0, 0, 0, 1, 1, 1], [5, 5, 5, 5, 7, 7], min_size=2)
    >>> found.pairs.tolist(), found.partners.tolist()
    ([[0, 0], [1, 0], [1, 1]], [0, 1])
    """
    if not min_size >= 1:
        raise ValueError(f"min_size must be at least 1, got {min_size}")
    one, other = as_partition(first), as_partition(second)
    _check_sites(len(one.labels), len(other.labels))
    cells, shared = np.unique(one.labels * other.n_clusters + other.labels, return_counts=True)
    rows, columns = np.divmod(cells, other.n_clusters)
    sizes = one.sizes[rows], other.sizes[columns]
    jaccard = shared / (sizes[0] + sizes[1] - shared)
    ranked = np.lexsort((columns, rows, -jaccard, -shared))
    partners = np.full(other.n_clusters, -1)
    for place in ranked[np.minimum(*sizes)[ranked] >= min_size].tolist():
        if partners[columns[place]] < 0 and rows[place] not in partners:
            partners[columns[place]] = rows[place]
    pairs = np.column_stack([rows, columns])
    return Overlap(one, other, frozen(pairs), frozen(shared), frozen(jaccard), frozen(partners))


def as_partition(given: Partition | npt.ArrayLike) -> Partition:
    """Partition with labels by size; lists of labels get the cutoff 0."""
    labels = np.asarray(given.labels if isinstance(given, Partition) else given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        raise ValueError(
            "a partition needs a whole number for each site, the label of its cluster, got "
            f"{labels.dtype} of shape {labels.shape}: cut a hierarchy with hierarchy.cut(cutoff)"
        )
    numbers = np.unique(labels, return_inverse=True)[1]
    cutoff = given.cutoff if isinstance(given, Partition) else 0.0
    return Partition(frozen(rank_labels(numbers)), cutoff)


def _check_sites(first: int, second: int) -> None:
    if first != second or first < 2:
        raise ValueError(
            f"a comparison needs at least 2 sites, the same in both, got {first} and {second}: "
            "restrict both to the sites that comparison.common_sites finds"
        )


# ---- equal cutoffs ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Described):
    """Two hierarchies of one quantity and unit at equal cutoffs."""

    cutoffs: Floats  # (cutoffs,)
    largest: Ints  # (2, cutoffs), sites in the largest cluster of each
    rand: Floats  # (cutoffs,), adjusted Rand index at equal cutoffs
    delta: Floats  # (sites,), height at which a site joins the core, second less first
    error: Floats | None  # (sites,), standard error of delta, if both spreads are known
    gained: tuple[str, ...]  # bonds of the second that the first has not
    lost: tuple[str, ...]  # bonds of the first that the second has not


def difference(
    first: Hierarchy,
    second: Hierarchy,
    *,
    spreads: tuple[Floats, Floats] | None = None,
    bonds: tuple[set[str], set[str]] = (set(), set()),
) -> Difference | None:
    """Compare two hierarchies of one quantity at equal cutoffs.

    Parameters
    ----------
    first, second : Hierarchy
        Of the same sites.
    spreads : tuple of ndarray, shape (sites,), optional
        Standard deviation of the core heights of each, from models, runs or perturbed copies.
    bonds : tuple of set of str, optional
        Names of the hydrogen bonds of each.

    Returns
    -------
    Difference or None
        None for different quantities, whose cutoffs cannot be equal.

    Examples
    --------
    >>> import timme
    >>> first = timme.link([[0, 1, 9], [1, 0, 2], [9, 2, 0]])
    >>> second = timme.link([[0, 3, 9], [3, 0, 2], [9, 2, 0]])
    >>> found = difference(first, second)
    >>> found.cutoffs.tolist(), found.rand.tolist()
    ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])
    """
    one, other = first.quantity, second.quantity
    if (one.symbol, one.unit) != (other.symbol, other.unit):
        return None
    levels = _thinned(np.unique(np.concatenate([first.levels, second.levels])), _CUTOFFS)
    cuts = [first.cut(cutoff) for cutoff in levels], [second.cut(cutoff) for cutoff in levels]
    rand = [rand_index(a.labels, b.labels) for a, b in zip(*cuts, strict=True)]
    return Difference(
        cutoffs=frozen(levels),
        largest=frozen(np.array([[cut.sizes[0] for cut in of_one] for of_one in cuts])),
        rand=frozen(np.array(rand)),
        delta=frozen(second.core_heights() - first.core_heights()),
        error=None if spreads is None else frozen(np.hypot(*spreads)),
        gained=tuple(sorted(bonds[1] - bonds[0])),
        lost=tuple(sorted(bonds[0] - bonds[1])),
    )
