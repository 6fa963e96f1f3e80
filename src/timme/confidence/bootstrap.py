"""Bootstrap of hierarchies: which clusters are found again in resampled trajectories.

A run of snapshots that is drawn must be longer than the slowest distances remember, whose
autocorrelation gives the number of independent snapshots. Squares of deviations forget sooner than
distances do: they give 12 samples where there are 2.

Snapshots are cut into parts. A row of counts says how often each part counts: a draw of random
runs of parts, or a window. The hierarchy of each row follows from sums over parts, and clusters
are searched in it by their overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import special

from timme._arrays import Bools, Floats, Ints, frozen
from timme._text import Described
from timme.confidence.noise import Noise, take_off
from timme.engine.checkpoint import DEFAULT, Run
from timme.engine.moments import LaidOut, Metric, known_metric
from timme.engine.workers import Threads
from timme.ensemble import Ensemble
from timme.fluctuations import Fluctuations, measure_listed
from timme.hierarchy.linking import Linkage, link
from timme.hierarchy.tree import Hierarchy, grow, spanning_forest
from timme.objects import Objects
from timme.parts import PartSums, sum_parts
from timme.series import count_drawn, draw_runs, effective_size

N_PARTS, N_DRAWS = 64, 100
MOST_PAIRS = 1_500_000  # whose sums over 64 parts take less than 1 GB
_AT_A_TIME = 4_000_000  # σ of pairs in draws that are held
_FEW = 20_000  # pairs that are summed without looking for those that matter
_ROUNDING = 1e-5  # of products in single precision
_FOUND_AGAIN = 0.5  # overlap from which on a cluster is the same, so that its cutoffs count
_SLOWEST, _MOST_SERIES = 0.1, 300  # of the pairs, those with the largest σ
_ROUNDED = 1e-12  # of a coordinate in double precision
_MOST_VALUES = 30_000_000  # distances that are held


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What was compared, and how."""

    objects: Objects
    sigma: Fluctuations  # of the pairs that were linked
    linkage: Linkage = "single"
    metric: Metric | None = None
    noise: Noise | None = None  # that was subtracted from σ
    shown: Ints | None = None  # objects in which clusters are counted; all by default
    run: Run = DEFAULT

    def measure(self, objects: Objects, pairs: Ints) -> Fluctuations:
        """Return σ of pairs of these objects, or of others like them."""
        metric = known_metric(self.metric, objects.ensemble)
        found = measure_listed(objects, pairs, 2, metric, Run(self.run.engine))
        return found if self.noise is None else take_off(found, self.noise)[0]

    def link(self, sigma: Fluctuations) -> Hierarchy:
        """Return the hierarchy of other σ, as the shown objects see it."""
        tree = link(sigma, linkage=self.linkage)
        return tree if self.shown is None else tree.restrict(self.shown)

    def sum_parts(
        self, pairs: Ints, parts: Sequence[range], keep: Callable[[PartSums], Bools] | None = None
    ) -> PartSums:
        """Return the sums of pairs over parts of the snapshots."""
        run = Run(self.run.engine)
        return sum_parts(self.objects, pairs, parts, keep=keep, metric=self.metric, run=run)


@dataclass(frozen=True, slots=True, repr=False)
class Sampling(Described):
    """Number of independent snapshots as seen by the slowest pairs."""

    n_snapshots: int  # that count
    n_effective: float  # NaN for fewer than 3 snapshots, or where nothing moves
    replicas: tuple[int, ...]  # snapshots of each independent run
    independent: bool  # snapshots without an order in time, such as NMR models


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Parts of the snapshots, and how often each counts in every draw."""

    parts: tuple[range, ...]  # in their order; none is in two replicas
    length: int  # parts of a run
    times: Ints  # (draws, parts)

    def reach(self, n_effective: float) -> float:
        """Return the standard deviations of draws on either side of an interval of 90 %.

        Student's quantile for as many runs as a draw has, widened by what runs of finite length
        lose: of a correlation that decays with time t, runs of length l keep 1 - t / l of the
        variance of a mean.
        """
        n_runs = len(self.parts) / self.length
        lost = min(0.5, len(self.parts) / (2 * self.length * max(n_effective, 1.0)))
        return float(special.stdtrit(max(n_runs - 1, 1.0), 0.95) / np.sqrt(1 - lost))


def count_independent(compared: Compared, *, seed: int = 0) -> Sampling:
    """Return how many independent snapshots there are, as seen by the slowest pairs.

    Parameters
    ----------
    compared : Compared
        Objects, of which centres are followed, and σ of pairs, of which the tenth with the largest
        σ is the slowest. Errors of positions are new in each snapshot, so that slow motion with
        errors looks fast, unless their variance is given as well.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    Sampling
        With an effective number of NaN for two snapshots, and where nothing moves.

    Examples
    --------
    >>> import timme
    >>> points = timme.objects.points(timme.synthetic.bodies((30, 20), 100).ensemble)
    >>> sigma = timme.measure(points, timme.pairs.all(points))
    >>> count_independent(Compared(points, sigma)).n_effective < 50
    True
    """
    sigma, noise, ensemble = compared.sigma, compared.noise, compared.objects.ensemble
    known = Sampling(ensemble.n_counting, np.nan, ensemble.replicas, ensemble.independent)
    places = np.abs(ensemble.snapshot(0)[0])  # σ within their rounding is no motion
    largest = np.max(sigma.sigma, initial=0.0, where=np.isfinite(sigma.sigma))
    if known.n_snapshots < 3 or largest <= _ROUNDED * np.nanmax(places, initial=0.0):
        return known
    if known.independent:
        return replace(known, n_effective=float(known.n_snapshots))
    pairs = slowest_pairs(sigma, n_snapshots=ensemble.n_snapshots, seed=seed)
    series = distances(compared.objects.centres(), pairs, metric=compared.metric)
    found = effective_size(
        series,
        replicas=known.replicas,
        weights=ensemble.weights,
        errors=None if noise is None else noise(pairs),
        corrected=True,
    )
    # A series that jumps once seems to forget at once, but copies of a snapshot add nothing.
    return replace(known, n_effective=float(min(found, _count_distinct(series))))


def slowest_pairs(sigma: Fluctuations, *, n_snapshots: int, seed: int = 0) -> Ints:
    """Return at most 300 random pairs (pairs, 2) of the tenth with the largest σ."""
    finite = np.flatnonzero(np.isfinite(sigma.sigma))
    n_slow = max(1, round(_SLOWEST * len(finite)))
    slow = finite[np.argpartition(-sigma.sigma[finite], n_slow - 1)[:n_slow]]
    n_chosen = min(n_slow, _MOST_SERIES, max(1, _MOST_VALUES // n_snapshots))
    chosen = np.random.default_rng(seed).choice(np.sort(slow), n_chosen, replace=False)
    pairs: Ints = sigma.pairs[np.sort(chosen)]
    return pairs


def distances(ensemble: Ensemble, pairs: Ints, *, metric: Metric | None = None) -> Floats:
    """Return the distances (pairs, snapshots) of pairs of sites; NaN where one is not seen."""
    metric = known_metric(metric, ensemble)
    ends, index = np.unique(pairs, return_inverse=True)
    ranked = frozen(index.reshape(-1, 2))
    blocks = ensemble.select(ends).blocks()
    return np.concatenate([LaidOut(each, metric).distances(ranked)[0] for each in blocks], axis=1)


def draw(
    n_snapshots: int,
    n_effective: float,
    *,
    replicas: Sequence[int] | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Draws:
    """Return draws of runs of 2 n / n_effective snapshots, at most a third of all."""
    begins = np.cumsum([0, *([n_snapshots] if replicas is None else replicas)])
    parts, counts = list[range](), list[int]()
    for begin, end in pairwise(begins.tolist()):
        counts.append(int(np.clip(round(N_PARTS * (end - begin) / n_snapshots), 1, end - begin)))
        bounds = begin + np.linspace(0, end - begin, counts[-1] + 1).astype(np.int64)
        parts += [range(a, b) for a, b in pairwise(bounds.tolist())]
    ideal = round(2 * len(parts) / max(n_effective, 1.0))
    length = int(np.clip(ideal, 1, max(1, len(parts) // 3)))
    drawn = draw_runs(counts, length, n_draws=n_draws, seed=seed)
    return Draws(tuple(parts), length, frozen(count_drawn(drawn, len(parts))))


def sum_what_matters(compared: Compared, draws: Draws) -> PartSums:
    """Sum the pairs that can be in the hierarchy of some draw over parts of the snapshots.

    By single linkage, a pair is in no tree if its smallest σ exceeds the largest σ, over all
    draws, of all edges on some path between its sites. The path is that of the tree of all
    snapshots; of 938,000 contacts of adenylate kinase some thousands are left.
    """
    sigma, keep = compared.sigma, None
    if compared.linkage == "single" and compared.noise is None and len(sigma.pairs) > _FEW:
        edges, _ = spanning_forest(sigma.n_objects, sigma.pairs, sigma.sigma)
        edges = np.sort(edges, axis=1)
        highest = compared.sum_parts(edges, draws.parts).resample(draws.times).max(axis=1)
        keep = partial(_can_matter, grow(sigma.n_objects, edges, highest), draws.times)
    elif len(sigma.pairs) > MOST_PAIRS:
        raise ValueError(
            f"support of {compared.linkage} linkage needs sums of all {len(sigma.pairs):,} pairs, "
            f"at most {MOST_PAIRS:,}: compare nearer pairs, or use single linkage without noise="
        )
    return compared.sum_parts(sigma.pairs, draws.parts, keep)


def _can_matter(bounds: Hierarchy, times: Ints, sums: PartSums) -> Bools:
    lowest = sums.resample(times).min(axis=1)
    return np.asarray(lowest <= (1 + _ROUNDING) * bounds.heights_between(*sums.pairs.T))


def resample(sums: PartSums, times: Ints, noise: Noise | None = None) -> Floats:
    """Return σ² (pairs, rows) for each row of counts, without what errors of positions add."""
    squares = sums.resample(times).astype(np.float64)
    if noise is None:
        return squares
    n_counted = (sums.seen if sums.seen.size else sums.totals[None]) @ times.T
    share = 1 - 1 / np.maximum(n_counted, 1.0)
    return np.asarray(np.maximum(squares - noise(sums.pairs)[:, None] * share, 0.0))


def hierarchies(compared: Compared, sums: PartSums, times: Ints) -> Iterator[Hierarchy]:
    """Yield the hierarchy of each row of counts, as the shown objects see it."""
    pairs, threads = sums.pairs, Threads(compared.run.engine.threads_here)

    def grow_one(common: Ints, sigma: Floats) -> Hierarchy:
        return compared.link(Fluctuations(sums.n_objects, pairs, sigma, common))

    for some in np.array_split(times, -(-len(times) * len(pairs) // _AT_A_TIME) or 1):
        sigma = np.sqrt(resample(sums, some, compared.noise))
        yield from threads.map(grow_one, np.zeros(len(pairs), np.int64), [*sigma.T])


def match(masks: Bools, trees: Iterable[Hierarchy]) -> Floats:
    """Find clusters (clusters, sites) again in trees of the same sites, the lowest of equals.

    Returned are, of the cluster of each tree that overlaps each cluster best, the Jaccard overlap,
    birth and death (3, trees, clusters); the last is inf where it never joins another.
    """
    found = list[tuple[float, float, float]]()
    for tree in trees:
        births, deaths = tree.births, tree.deaths
        for mask in masks:  # one by one, so that they stay in the cache
            shared = tree.sum_over_nodes(mask)
            overlaps = shared / (tree.sizes + np.count_nonzero(mask) - shared)
            best = overlaps.argmax()
            found.append((overlaps[best], births[best], deaths[best]))
    return np.array(found).T.reshape(3, -1, len(masks))


def interval(estimate: float, drawn: Floats, overlaps: Floats, reach: float) -> tuple[float, float]:
    """Return between which values a cutoff lies in 9 of 10 cases; NaN if too few draws have one.

    A normal interval of log σ without the bias of the draws (draws,) that found the cluster again.
    Percentiles would count that bias twice. It may itself be wrong by as much, which adds to the
    width as errors do.
    """
    held = drawn[(overlaps >= _FOUND_AGAIN) & np.isfinite(drawn) & (drawn > 0)]
    if not (np.isfinite(estimate) and estimate > 0) or len(held) < max(3, len(drawn) // 2):
        return np.nan, np.nan
    bias = np.log(held).mean() - np.log(estimate)
    width = np.hypot(reach * np.log(held).std(ddof=1), bias)
    low, high = np.exp(np.log(estimate) - bias + np.array([-width, width]))
    return float(low), float(high)


def _count_distinct(series: Floats) -> float:
    """Number of snapshots that differ in some distance from the one before."""
    one, other = series[:, :-1], series[:, 1:]
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(1 + np.count_nonzero(~same.all(axis=0)))
