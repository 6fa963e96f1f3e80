"""Number of independent snapshots, from the autocorrelation of the slowest distances.

Squares of deviations forget sooner than distances do: they give 12 samples where there are 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme._text import Described
from timme.confidence.noise import Noise, take_off
from timme.engine.checkpoint import DEFAULT, Run
from timme.engine.metrics import Metric, known_metric, measure_distances
from timme.ensemble import Boxes, Ensemble
from timme.fluctuations import Fluctuations, measure_listed
from timme.hierarchy.linking import Linkage, link
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.parts import PartSums, sum_parts
from timme.series import effective_size

_SLOWEST, _MOST_SERIES = 0.1, 300  # of the pairs, those with the largest σ
_ROUNDING = 1e-12  # of a coordinate in double precision
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


def count_independent(
    objects: Objects,
    sigma: Fluctuations,
    *,
    metric: Metric | None = None,
    noise: Noise | None = None,
    seed: int = 0,
) -> Sampling:
    """Return how many independent snapshots there are, as seen by the slowest pairs.

    Parameters
    ----------
    objects : Objects
        What is compared; of objects of several sites, their centres.
    sigma : Fluctuations
        σ of pairs, of which the tenth with the largest σ is the slowest.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        Variance that errors of positions add to pairs of points, if it was subtracted from
        `sigma`. Errors are new in each snapshot, so slow motion with errors looks fast.
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
    >>> count_independent(points, sigma).n_effective < 50
    True
    """
    ensemble = objects.ensemble
    known = Sampling(ensemble.n_counting, np.nan, ensemble.replicas, ensemble.independent)
    if known.n_snapshots < 3 or not _anything_moves(objects, sigma):
        return known
    if known.independent:
        return replace(known, n_effective=float(known.n_snapshots))
    pairs = slowest_pairs(sigma, n_snapshots=ensemble.n_snapshots, seed=seed)
    series = distances(objects.centres(), pairs, metric=metric)
    found = effective_size(
        series,
        replicas=known.replicas,
        weights=ensemble.weights,
        errors=None if noise is None else noise(pairs),
        corrected=True,
    )
    # A series that jumps once seems to forget at once, but copies of a snapshot add nothing.
    return replace(known, n_effective=min(found, _count_distinct(series)))


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
    one, other = index.reshape(-1, 2).T
    found = np.empty((len(pairs), ensemble.n_snapshots))
    for block in ensemble.select(ends).blocks():
        points, n_frames = block.coordinates.astype(np.float64), len(block.weights)
        if metric is None:
            boxes = Boxes.of(block.boxes, n_frames, points.shape[2], images=block.images)
            apart = np.linalg.norm(boxes.between(points, one, other), axis=2)
        else:
            apart = measure_distances(metric, points[:, one], points[:, other])
        found[:, block.start : block.start + n_frames] = apart.T
    return found


def _anything_moves(objects: Objects, sigma: Fluctuations) -> bool:
    """Return whether any σ exceeds the rounding of the coordinates."""
    places = np.abs(objects.ensemble.snapshot(0)[0])
    largest = np.max(sigma.sigma, initial=0.0, where=np.isfinite(sigma.sigma))
    return bool(largest > _ROUNDING * np.nanmax(places, initial=0.0))


def _count_distinct(series: Floats) -> float:
    """Number of snapshots that differ in some distance from the one before."""
    one, other = series[:, :-1], series[:, 1:]
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(1 + np.count_nonzero(~same.all(axis=0)))
