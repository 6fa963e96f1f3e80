"""Assessment of a hierarchy: which clusters are found again, and which move by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from timme_next._arrays import Bools, Floats, Ints, indices
from timme_next._text import Described
from timme_next.confidence import bootstrap
from timme_next.confidence.bootstrap import N_DRAWS, Convergence, Matches, interval
from timme_next.confidence.levels import Silhouettes, silhouettes
from timme_next.confidence.sampling import Noise, Sampling, check_replicas, count_independent
from timme_next.confidence.separation import Separation, ShownSigma, measure_shown, separate
from timme_next.engine.checkpoint import DEFAULT, Run
from timme_next.engine.metrics import Metric
from timme_next.fluctuations import Fluctuations
from timme_next.hierarchy.condensed import MIN_SIZE, CondensedTree, condense
from timme_next.hierarchy.linking import Linkage
from timme_next.hierarchy.tree import Hierarchy
from timme_next.objects import Objects
from timme_next.parts import sum_parts

SOLID, HATCHED = 0.85, 0.75  # support of what is well supported, and of what is tentative
_SAMPLE = 500  # pairs by which σ of shorter trajectories is compared with that of all

Sure = Literal["well supported", "tentative", "not established"]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterRecord:
    """Confidence in one cluster of the condensed tree."""

    sites: Ints  # shown sites, ascending
    parent: int  # place of the cluster that it is a part of; -1 for a whole tree
    low: float  # cutoff from which its sites are together
    high: float  # cutoff at which others join them; inf if never
    support: float = np.nan  # mean overlap with resampled clusters; NaN of a whole tree
    sibling_support: float = np.nan  # of what it splits from, if that is less than half of it
    separation: Separation | None = None  # from its siblings; of a whole tree, from all else
    low_interval: tuple[float, float] = (np.nan, np.nan)  # 90 %
    high_interval: tuple[float, float] = (np.nan, np.nan)

    @property
    def size(self) -> int:
        """Number of shown sites."""
        return len(self.sites)

    @property
    def sure(self) -> Sure:
        """How well it is supported.

        Most of a large cluster is found again in any case, so what it splits from must be found
        again as well.
        """
        least = np.nanmin([self.support, self.sibling_support, 1.0])
        if self.separation is None or not self.separation.separate or least < HATCHED:
            return "not established"
        return "well supported" if least >= SOLID else "tentative"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confidence(Described):
    """Confidence in a hierarchy: its sampling, and a record for each condensed cluster."""

    sampling: Sampling
    tree: CondensedTree  # of the shown sites
    records: tuple[ClusterRecord, ...]
    silhouettes: Silhouettes
    convergence: Convergence | None = None  # of well supported clusters; None if not resampled
    notes: tuple[str, ...] = ()

    @property
    def trusted(self) -> tuple[ClusterRecord, ...]:
        """Clusters that are well supported, largest first."""
        found = [record for record in self.records if record.sure == "well supported"]
        return tuple(sorted(found, key=lambda record: -record.size))

    def facts(self) -> dict[str, object]:
        """Return what is worth knowing, by name."""
        n_effective = f"{self.sampling.n_effective:.3g}"
        return {
            "independent samples": n_effective,
            "clusters": len(self.records),
            "well supported": len(self.trusted),
        }


def assess(  # noqa: PLR0913, what was compared, and how
    objects: Objects,
    sigma: Fluctuations,
    hierarchy: Hierarchy,
    *,
    shown: Ints | None = None,
    replicas: Sequence[int] | None = None,
    min_size: int = MIN_SIZE,
    n_draws: int = N_DRAWS,
    linkage: Linkage = "single",
    metric: Metric | None = None,
    noise: Noise | None = None,
    seed: int = 0,
    run: Run = DEFAULT,
) -> Confidence:
    """Return how well the clusters of a hierarchy are supported.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations
        σ of the pairs that were linked.
    hierarchy : Hierarchy
        What they were linked to, or that as the shown objects see it.
    shown : array_like of int, optional
        Objects in which clusters are counted; all by default.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; by default, those of the ensemble.
    min_size : int, optional
        Shown objects that a cluster needs.
    n_draws : int, optional
        Resampled trajectories.
    linkage : {"single", "braced", "average"}, optional
        How pairs were joined.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        Variance that errors of positions add to pairs of points, if it was subtracted from `sigma`.
    seed : int, optional
        Seed of the random numbers.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Confidence
        With a record for each cluster of the condensed tree. Of fewer than 3 snapshots it knows
        cutoffs alone.

    Examples
    --------
    >>> import timme_next as timme
    >>> made = timme.synthetic.bodies((60, 40), 100)
    >>> points = timme.objects.points(made.ensemble)
    >>> sigma = timme.measure(points, timme.pairs.within(points, 10.0))
    >>> found = assess(points, sigma, timme.link(sigma))
    >>> [record.size for record in found.trusted]
    [60, 40]
    """
    seen = np.arange(len(objects))
    if shown is not None:
        seen = indices(shown, len(objects), "shown objects")
    own = hierarchy if hierarchy.n_sites == len(seen) else hierarchy.restrict(seen)
    tree = condense(own, min_size=min_size)
    runs = check_replicas(objects.ensemble, replicas)
    sampling = count_independent(
        objects, sigma, replicas=runs, metric=metric, noise=noise, seed=seed
    )
    known = measure_shown(objects, seen, sigma, metric=metric, noise=noise, seed=seed, run=run)
    levels = silhouettes(own, known.matrix, sites=known.chosen, min_size=min_size)
    if np.isnan(sampling.n_effective) or not len(tree):
        return Confidence(sampling, tree, _records(tree), levels)
    n_effective = np.inf if sampling.independent else sampling.n_effective
    draws = bootstrap.draw(
        objects.ensemble.n_snapshots, n_effective, replicas=runs, n_draws=n_draws, seed=seed
    )
    sums = bootstrap.sum_what_matters(
        objects, sigma, draws, linkage=linkage, metric=metric, noise=noise, run=run
    )
    grown = partial(
        bootstrap.hierarchies,
        sums,
        shown=None if shown is None else seen,
        quantity=hierarchy.quantity,
        linkage=linkage,
        noise=noise,
        run=run,
    )
    fractions, shorter = bootstrap.shorten(draws)
    masks = tree.masks()
    matches = bootstrap.match(masks, grown(draws.times))
    overlaps = bootstrap.match(masks, grown(shorter)).overlaps
    del sums, grown

    def resample(pairs: Ints) -> Floats:
        near = np.sort(seen[pairs], axis=1)
        crossing = sum_parts(objects, near, draws.parts, metric=metric, run=Run(run.engine))
        return bootstrap.resample(crossing, draws.times, noise)

    separations = _separations(tree, masks, matches.support, known, resample)
    reach = draws.reach(sampling.n_effective)
    records = _records(tree, matches, separations, reach)
    trusted = [place for place, each in enumerate(records) if each.sure == "well supported"]
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(len(sigma.pairs), min(_SAMPLE, len(sigma.pairs)), replace=False))
    sample = sum_parts(objects, sigma.pairs[some], draws.parts, metric=metric, run=Run(run.engine))
    told = bootstrap.converge(fractions, shorter, overlaps[:, trusted], sample, noise)
    return Confidence(sampling, tree, records, levels, told)


def levels_of_matrix(
    matrix: Floats, hierarchy: Hierarchy, *, min_size: int = MIN_SIZE
) -> Confidence:
    """Return the levels of a ready-made matrix (sites, sites), with records of cutoffs alone."""
    tree = condense(hierarchy, min_size=min_size)
    found = silhouettes(hierarchy, matrix, min_size=min_size)
    return Confidence(Sampling(0, np.nan, (), independent=False), tree, _records(tree), found)


def _separations(
    tree: CondensedTree,
    masks: Bools,
    support: Floats,
    known: ShownSigma,
    resample: Callable[[Ints], Floats],
) -> list[Separation | None]:
    """Separation of each cluster from its siblings, or of a whole tree from all else.

    The lowest splits come first: a side that consists of separate bodies is as stiff as these are.
    """
    found: list[Separation | None] = [None] * len(tree)
    bodies = np.arange(len(tree))[:, None] * masks - ~masks
    for cluster in range(len(tree) - 1, -1, -1):
        siblings, above = tree.siblings(cluster), tree.parents[cluster]
        side, other = masks[cluster], np.asarray(masks[siblings].any(axis=0))
        own = bodies[[cluster, *siblings]].max(axis=0)
        if above < 0:
            other = ~side
            own = np.where(other, len(tree), own)
        if not other.any():
            continue
        each = separate((side, other), known, bodies=own, resample=resample, seed=cluster)
        found[cluster] = each
        sibling = _sibling_support(tree, support, cluster)
        sure = each.separate and np.nanmin([support[cluster], sibling, 1.0]) >= SOLID
        if above >= 0 and sure:
            bodies[above] = np.where(side | other, own, -1)
    return found


def _sibling_support(tree: CondensedTree, support: Floats, cluster: int) -> float:
    """Highest support of what a cluster splits from, if that is less than half of it; else NaN."""
    siblings = tree.siblings(cluster)
    if not len(siblings) or 2 * tree.sizes[siblings].sum() > tree.sizes[cluster]:
        return np.nan
    return float(support[siblings].max())


def _records(
    tree: CondensedTree,
    matches: Matches | None = None,
    separations: Sequence[Separation | None] = (),
    reach: float = np.nan,
) -> tuple[ClusterRecord, ...]:
    """A record for each cluster; without matches, of cutoffs alone."""
    found = list[ClusterRecord]()
    for cluster in range(len(tree)):
        low, high = float(tree.births[cluster]), float(tree.deaths[cluster])
        parent = int(tree.parents[cluster])
        record = ClusterRecord(tree.members(cluster), parent, low, high)
        if matches is not None:
            overlaps = matches.overlaps[:, cluster]
            record = replace(
                record,
                support=float(matches.support[cluster]) if parent >= 0 else np.nan,
                sibling_support=_sibling_support(tree, matches.support, cluster),
                separation=separations[cluster],
                low_interval=interval(low, matches.births[:, cluster], overlaps, reach),
                high_interval=interval(high, matches.deaths[:, cluster], overlaps, reach),
            )
        found.append(record)
    return tuple(found)
