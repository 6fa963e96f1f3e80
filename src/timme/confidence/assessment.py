"""Assessment of a hierarchy: support and separation of its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from timme._arrays import Floats, Ints
from timme._text import Described
from timme.confidence import bootstrap
from timme.confidence.bootstrap import Compared, Sampling, count_independent
from timme.confidence.chance import Chance, compare_with_chance
from timme.confidence.levels import Silhouettes, silhouettes
from timme.confidence.separation import Separation, ShownSigma, measure_shown, median, separate
from timme.fluctuations import Fluctuations
from timme.hierarchy import condensed
from timme.hierarchy.condensed import MIN_SIZE, CondensedTree, Lineage
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects

SOLID, HATCHED = 0.85, 0.75  # support of what is well supported, and of what is tentative

Sure = Literal["well supported", "tentative", "not established"]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterRecord:
    """Confidence in one cluster of the condensed tree, as its representative."""

    sites: Ints  # shown sites, ascending
    parent: int  # place of the cluster that it is a part of; -1 for a whole tree
    low: float  # cutoff from which its sites are together
    high: float  # cutoff at which others join them; inf if never
    plateau: float  # log(high / low); 0 where too few sites are outside
    support: float = np.nan  # mean overlap with resampled clusters; NaN of a whole tree
    separation: Separation | None = None  # from its siblings; of a whole tree, from all else
    chance: float = np.nan  # overlap with clusters of independent walkers; NaN unknown
    intervals: tuple[tuple[float, float], ...] = ((np.nan, np.nan),) * 2  # 90 % of low and high

    @property
    def size(self) -> int:
        """Number of shown sites."""
        return len(self.sites)

    @property
    def sure(self) -> Sure:
        """How well it is supported; a whole tree is always found again."""
        known = self.separation is not None and self.separation.separate
        if not known or self.support < HATCHED:
            return "not established"
        return "tentative" if self.support < SOLID else "well supported"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confidence(Described):
    """Confidence in a hierarchy: its sampling, and a record for each condensed cluster."""

    sampling: Sampling
    tree: CondensedTree  # of the shown sites
    records: tuple[ClusterRecord, ...]
    silhouettes: Silhouettes
    chance: Chance | None = None  # of independent walkers, if requested

    @property
    def trusted(self) -> tuple[ClusterRecord, ...]:
        """Records of clusters that are well supported."""
        return tuple(record for record in self.records if record.sure == "well supported")


def assess(
    objects: Objects,
    sigma: Fluctuations,
    hierarchy: Hierarchy,
    *,
    min_size: int = MIN_SIZE,
    n_draws: int = bootstrap.N_DRAWS,
    chance: bool = False,
    seed: int = 0,
    **how: Any,
) -> Confidence:
    """Return how well the clusters of a hierarchy are supported.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations
        σ of the pairs that were linked.
    hierarchy : Hierarchy
        Hierarchy to which they were linked, or its restriction to the shown objects.
    min_size : int, optional
        Shown objects that a cluster needs.
    n_draws : int, optional
        Resampled trajectories.
    chance : bool, optional
        Whether clusters are compared with those of independent walkers; only for points that
        belong to no molecule.
    seed : int, optional
        Seed of the random numbers.
    **how
        How pairs were measured and linked, if not by default: ``linkage``, ``metric``, ``noise``,
        ``shown`` (objects in which clusters are counted) and ``run``.

    Returns
    -------
    Confidence
        With a record for each cluster of the condensed tree. For fewer than 3 snapshots,
        it has cutoffs only.

    Examples
    --------
    >>> import timme
    >>> made = timme.synthetic.bodies((60, 40), 100)
    >>> points = timme.objects.points(made.ensemble)
    >>> sigma = timme.measure(points, timme.pairs.within(points, 10.0))
    >>> found = assess(points, sigma, timme.link(sigma))
    >>> sorted(record.size for record in found.trusted)
    [40, 60]
    """
    compared = Compared(objects, sigma, **how)
    seen = np.arange(len(objects)) if compared.shown is None else compared.shown
    own = hierarchy if hierarchy.n_sites == len(seen) else hierarchy.restrict(seen)
    tree = condensed.condense(own, min_size=min_size)
    sampling = count_independent(compared, seed=seed)
    known = measure_shown(compared, seen, seed=seed)
    levels = silhouettes(own, known.matrix, sites=known.chosen, min_size=min_size)
    ends = _ends(own, known)
    groups = condensed.lineages(own, min_size=min_size, ends=ends, strays=chance)
    level, overlaps = None, np.full(len(groups), np.nan)
    if chance and objects.ensemble.n_counting >= 3:
        level = compare_with_chance(compared, groups=groups, large=min_size, seed=seed)
        overlaps = level.overlaps
    found = Confidence(sampling, tree, _records(groups, tree, overlaps), levels, level)
    if np.isnan(sampling.n_effective) or not groups:
        return found
    return replace(found, records=_judge(found, compared, known, n_draws=n_draws, seed=seed))


def levels_of_matrix(
    matrix: Floats, hierarchy: Hierarchy, *, min_size: int = MIN_SIZE
) -> Confidence:
    """Return the levels of a matrix (sites, sites), with records of cutoffs only.

    Parameters
    ----------
    matrix : ndarray, shape (sites, sites)
        Heights of all pairs.
    hierarchy : Hierarchy
        Hierarchy to which they were linked.
    min_size : int, optional
        Sites that a cluster needs.

    Returns
    -------
    Confidence
        Without support, because a matrix cannot be resampled.

    Examples
    --------
    >>> from timme.hierarchy.linking import link
    >>> blocks = np.kron(np.eye(2), np.full((3, 3), -4.0)) + 5.0
    >>> matrix = blocks * (1 - np.eye(6))
    >>> [record.size for record in levels_of_matrix(matrix, link(matrix), min_size=3).records]
    [6, 3, 3]
    """
    tree = condensed.condense(hierarchy, min_size=min_size)
    found = silhouettes(hierarchy, matrix, min_size=min_size)
    groups = condensed.lineages(hierarchy, min_size=min_size)
    records = _records(groups, tree, np.full(len(groups), np.nan))
    return Confidence(Sampling(0, np.nan, (), independent=False), tree, records, found)


def _ends(hierarchy: Hierarchy, known: ShownSigma) -> Floats | None:
    """Median σ to all other sites of each of several trees."""
    trees = hierarchy.cut(np.inf)
    if trees.n_clusters == 1:
        return None
    inside = trees.labels[known.chosen] == np.arange(trees.n_clusters)[:, None]
    return np.array([median(known.matrix[np.ix_(own, ~own)]) for own in inside])


def _records(
    groups: Sequence[Lineage], tree: CondensedTree, chance: Floats
) -> tuple[ClusterRecord, ...]:
    known = zip(groups, tree.parents.tolist(), chance.tolist(), strict=True)
    return tuple(
        ClusterRecord(group.sites, parent, group.low, group.high, group.width, chance=overlap)
        for group, parent, overlap in known
    )


def _judge(
    found: Confidence, compared: Compared, known: ShownSigma, *, n_draws: int, seed: int
) -> tuple[ClusterRecord, ...]:
    """Add support, intervals and the separation from siblings; of a tree, from all else.

    The lowest splits come first: a side that consists of separate bodies is as stiff as these are.
    """
    sampling, tree, records = found.sampling, found.tree, list(found.records)
    n_effective = np.inf if sampling.independent else sampling.n_effective
    n_snapshots, runs = compared.objects.ensemble.n_snapshots, sampling.replicas
    draws = bootstrap.draw(n_snapshots, n_effective, replicas=runs, n_draws=n_draws, seed=seed)
    sums = bootstrap.sum_what_matters(compared, draws)
    masks = np.array([np.isin(np.arange(tree.hierarchy.n_sites), each.sites) for each in records])
    matches = bootstrap.match(masks, bootstrap.hierarchies(compared, sums, draws.times))
    reach = draws.reach(sampling.n_effective)

    def resample(pairs: Ints) -> Floats:
        index = pairs if compared.shown is None else np.sort(compared.shown[pairs], axis=1)
        crossing = compared.sum_parts(index, draws.parts)
        return bootstrap.resample(crossing, draws.times, compared.noise)

    bodies = np.where(masks, np.arange(len(records))[:, None], -1)
    for cluster in reversed(range(len(records))):
        record, (overlaps, births, deaths) = records[cluster], matches[:, :, cluster]
        siblings, side = tree.siblings(cluster), masks[cluster]
        whole = record.parent < 0
        other = ~side if whole else np.asarray(masks[siblings].any(axis=0))
        own = bodies[[cluster, *siblings]].max(axis=0)
        own = np.where(other, len(records), own) if whole else own
        low = bootstrap.interval(record.low, births, overlaps, reach)
        high = bootstrap.interval(record.high, deaths, overlaps, reach)
        support = np.nan if whole and record.plateau < condensed.PLATEAU else overlaps.mean()
        record = replace(record, support=float(support), intervals=(low, high))
        if other.any():
            options: dict[str, Any] = {"resample": resample, "whole": whole, "seed": cluster}
            split = separate((side, other), known, bodies=own, **options)
            record = replace(record, separation=split)
        records[cluster] = record
        if not whole and record.sure == "well supported":
            bodies[record.parent] = np.where(side | other, own, -1)
    return tuple(records)
