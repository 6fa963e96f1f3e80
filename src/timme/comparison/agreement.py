"""Two hierarchies of the same sites at all pairs of cutoffs, beside the agreement by chance.

**Chance.** The sites of the second hierarchy are shifted along the chain and compared again, fifty
times. That keeps the clusters with their sizes and their contiguity, and loses which site is which.
Sites that form no chain are permuted. Known limit: a shift cuts the cluster that it moves across
the end of the chain, so that clusters of single stretches agree somewhat less by chance than they
should.

**Best pair of cutoffs.** Any two hierarchies agree where both are one cluster, or both single
sites. The mutual information of such partitions is that of shifted ones, so the excess over their
mean is 0. Of the pairs of cutoffs with at least two thirds of the largest excess, the one with the
highest adjusted Rand index is the best.

**p.** The share of arrangements, the true one among them, with an excess as large; or with an
adjusted Rand index as high, found by the same search; whichever is larger.
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
from timme.comparison.overlaps import Overlap, as_partition, overlap
from timme.hierarchy.partition import Partition, adjusted_rand, count_pairs, rand_index
from timme.hierarchy.tree import Hierarchy, grow

SHIFTS = 50  # arrangements by chance
LEAST_SHIFT = 10  # sites; smaller ones keep part of the correspondence
FEWEST_SITES = 40  # for which there are 20 shifts, and p can be below 0.05
MOST_CUTOFFS = 240  # of each hierarchy
ENOUGH = 2 / 3  # of the largest excess, at the best pair
_WORK = 2e9  # sites × pairs of cutoffs × arrangements: a few seconds
_DIGITS = 12  # to which two indices must agree to be equally good
_CUTOFFS = 100  # at most, of two hierarchies of one quantity

Clusters = Hierarchy | Partition | npt.ArrayLike


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chance(Described):
    """What the same search finds between arrangements by chance."""

    rand: Floats  # (arrangements,), adjusted Rand index of the best pair of each
    p: float  # share of arrangements that agree as well, the true one included

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
    clusters: Overlap  # at the best pair, or at the cutoffs given
    chance: Chance | None  # None for too few sites

    @property
    def n_sites(self) -> int:
        """Number of sites compared."""
        return self.first.n_sites

    @property
    def best_rand(self) -> float:
        """Adjusted Rand index at the best pair of cutoffs."""
        return float(self.rand[self.best])

    @property
    def best_cutoffs(self) -> tuple[float, float]:
        """Cutoffs of the best pair, in the middle of the ranges without change."""
        return _middle(self.first, self.cutoffs[0], self.best[0]), _middle(
            self.second, self.cutoffs[1], self.best[1]
        )

    @property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Cutoffs from which, and up to which, the clusters of each stay as they are."""
        one, other = self.clusters.first.cutoff, self.clusters.second.cutoff
        return _life(self.first, one), _life(self.second, other)


def agree(
    first: Clusters,
    second: Clusters,
    *,
    cutoffs: tuple[float | None, float | None] = (None, None),
    min_size: int = 10,
    along_chain: bool = True,
    seed: int = 0,
) -> Agreement:
    """Compare two hierarchies or partitions of the same sites at every pair of cutoffs.

    Parameters
    ----------
    first, second : Hierarchy, Partition or array_like of int, shape (sites,)
        Site k of one is site k of the other.
    cutoffs : tuple of float or None, optional
        Where clusters are matched; those of the best pair by default.
    min_size : int, optional
        Smaller clusters are not matched.
    along_chain : bool, optional
        Whether sites are in the order of a chain, along which they are shifted for the chance
        level; otherwise they are permuted.
    seed : int, optional
        Of the permutations.

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
    trees = _as_hierarchy(first), _as_hierarchy(second)
    n_sites = trees[0].n_sites
    if n_sites != trees[1].n_sites or n_sites < 2:
        raise ValueError(
            f"a comparison needs at least 2 sites, the same in both, got {n_sites} and "
            f"{trees[1].n_sites}: restrict both to the sites that comparison.common_sites finds"
        )
    arrangements = _arrangements(n_sites, seed, along_chain=along_chain)
    most = min(MOST_CUTOFFS, max(2, math.isqrt(int(_WORK / n_sites / len(arrangements)))))
    levels = _thinned(trees[0], first, most), _thinned(trees[1], second, most)
    rand, variation, information = _grid(trees, levels, arrangements)
    excess = information - information.mean(axis=0)
    places = [_best(*pair) for pair in zip(excess, rand, strict=True)]
    found, found_rand = (
        excess.max(axis=(1, 2)),
        np.array([r[at] for r, at in zip(rand, places, strict=True)]),
    )
    as_good = [
        np.mean(np.round(values - values[0], _DIGITS) >= 0) for values in (found, found_rand)
    ]
    best = places[0]
    cuts = [
        tree.cut(_middle(tree, of_tree, place) if asked is None else asked)
        for tree, of_tree, place, asked in zip(trees, levels, best, cutoffs, strict=True)
    ]
    n_shifts = len(arrangements) - 1
    return Agreement(
        *trees,
        cutoffs=levels,
        rand=frozen(rand[0]),
        variation=frozen(variation),
        excess=frozen(excess[0] * (n_shifts + 1) / n_shifts),  # over the mean of the others
        best=best,
        clusters=overlap(*cuts, min_size=min_size),
        chance=None
        if n_sites < FEWEST_SITES
        else Chance(frozen(found_rand[1:]), float(max(as_good))),
    )


def _as_hierarchy(given: Clusters) -> Hierarchy:
    """Return a hierarchy; a partition has one level, at its cutoff."""
    if isinstance(given, Hierarchy):
        return given
    partition = as_partition(given)
    ranked = np.argsort(partition.labels, kind="stable")
    edges = np.column_stack([ranked[:-1], ranked[1:]])[np.diff(partition.labels[ranked]) == 0]
    cutoff = float(np.nan_to_num(partition.cutoff))
    return grow(len(ranked), edges, np.full(len(edges), cutoff))


def _thinned(tree: Hierarchy, given: Clusters, most: int) -> Floats:
    """Cutoffs to look at: all levels, or so many at even ranks; a partition has one."""
    if not isinstance(given, Hierarchy):
        return frozen(np.array([float(np.nan_to_num(as_partition(given).cutoff))]))
    levels = tree.levels
    if len(levels) >= most:
        levels = levels[np.linspace(0, len(levels) - 1, most - 1).round().astype(np.int64)]
    return frozen(np.append(-np.inf, levels))


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


def _grid(
    trees: tuple[Hierarchy, Hierarchy], levels: tuple[Floats, Floats], arrangements: Ints
) -> tuple[Floats, Floats, Floats]:
    """Rand indices and mutual information of all arrangements; variation of the true one."""
    n_sites = trees[0].n_sites
    labels = [
        np.array([tree.cut(cutoff).labels for cutoff in cutoffs])
        for tree, cutoffs in zip(trees, levels, strict=True)
    ]
    counts = np.arange(n_sites + 1)
    terms = xlogy(counts, counts).astype(np.float64)
    sums = [np.array([_sums_of(row, terms) for row in rows]) for rows in labels]
    order = trees[1].order
    runs = np.ascontiguousarray(labels[1][:, order])
    shape = len(arrangements), len(labels[0]), len(labels[1])
    pairs, logs = np.empty(shape), np.empty(shape)
    for place, arranged in enumerate(arrangements):
        moved = np.ascontiguousarray(labels[0][:, arranged[order]])
        joint_sums(moved, runs, terms, pairs[place], logs[place])
    (one_pairs, one_logs), (other_pairs, other_logs) = (found.T for found in sums)
    rand = adjusted_rand(one_pairs[:, None], other_pairs, pairs, n_sites=n_sites)
    total = one_logs[:, None] + other_logs
    variation = np.maximum(total - 2 * logs[0], 0.0) / n_sites
    information = np.log(n_sites) - (total - logs) / n_sites
    return rand, np.where(rand[0] == 1, 0.0, variation), information


def _sums_of(labels: Ints, terms: Floats) -> tuple[float, float]:
    sizes = np.bincount(labels)
    return float(count_pairs(sizes).sum()), float(terms[sizes].sum())


def _best(excess: Floats, rand: Floats) -> tuple[int, int]:
    """Place of the highest index where the excess is large; the lowest cutoffs of equal ones."""
    enough = excess >= ENOUGH * excess.max() if excess.max() > 0 else np.ones_like(excess, bool)
    place = int(np.argmax(np.where(enough, np.round(rand, _DIGITS), -np.inf)))
    row, column = divmod(place, excess.shape[1])
    return row, column


def _life(hierarchy: Hierarchy, cutoff: float) -> tuple[float, float]:
    """Cutoffs between which the clusters at a cutoff stay the same."""
    ends = np.concatenate([[-np.inf], hierarchy.levels, [np.inf]])
    place = int(np.searchsorted(ends[1:-1], cutoff, side="right"))
    return float(ends[place]), float(ends[place + 1])


def _middle(hierarchy: Hierarchy, cutoffs: Floats, place: int) -> float:
    """Middle of the range in which the clusters stay the same, so that it may be rounded."""
    low, high = _life(hierarchy, float(cutoffs[place]))
    middle = (low + high) / 2
    return middle if len(cutoffs) > 1 and low < middle < high else float(cutoffs[place])


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
    """
    one, other = first.quantity, second.quantity
    if (one.symbol, one.unit) != (other.symbol, other.unit):
        return None
    levels = np.unique(np.concatenate([first.levels, second.levels]))
    if len(levels) > _CUTOFFS:
        levels = levels[np.linspace(0, len(levels) - 1, _CUTOFFS).round().astype(np.int64)]
    cuts = [(first.cut(cutoff), second.cut(cutoff)) for cutoff in levels]
    return Difference(
        cutoffs=frozen(levels),
        largest=frozen(np.array([[part.sizes[0] for part in pair] for pair in cuts]).T),
        rand=frozen(np.array([rand_index(a.labels, b.labels) for a, b in cuts])),
        delta=frozen(second.core_heights() - first.core_heights()),
        error=None if spreads is None else frozen(np.hypot(*spreads)),
        gained=tuple(sorted(bonds[1] - bonds[0])),
        lost=tuple(sorted(bonds[0] - bonds[1])),
    )
