"""Is there enough data: how often the slowest motions were seen, in a number and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from timme._arrays import Floats, Ints
from timme._html import Described
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric, Moments, Piece, PreparedBlock
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.objects import Objects
from timme.series import effective_size
from timme.system.ensemble import Ensemble

Colour = Literal["red", "amber", "green", "grey"]

RED_BELOW, GREEN_ABOVE = 8.0, 30.0
_SLOWEST = 0.1  # of the pairs, those with the largest σ
_N_SERIES = 300
_ROUNDING = 1e-12  # of a coordinate in double precision, whatever was computed with it
_MOST_VALUES = 30_000_000  # distances that are held


@dataclass(frozen=True, slots=True, repr=False)
class Sampling(Described):
    """How many independent snapshots there are, as the slowest pairs see it."""

    n_snapshots: int
    n_effective: float  # NaN where nothing can be told
    replicas: tuple[int, ...]  # snapshots of each independent run
    independent: bool  # snapshots without an order in time, such as NMR models

    @property
    def colour(self) -> Colour:
        """Red below 8, amber to 30, green above; grey where nothing can be told."""
        if np.isnan(self.n_effective):
            return "grey"
        if self.n_effective < RED_BELOW:
            return "red"
        return "amber" if self.n_effective <= GREEN_ABOVE else "green"

    @property
    def words(self) -> str:
        """One sentence for a banner; never a reason to hide anything."""
        if not self.n_snapshots:
            return "a ready-made matrix does not say how sure it is: no confidence can be given"
        if np.isnan(self.n_effective) and self.n_snapshots > 2:
            return (
                f"nothing moves in {self.n_snapshots} snapshots by more than its error: no "
                "confidence can be given"
            )
        if np.isnan(self.n_effective):
            return (
                f"{self.n_snapshots} snapshots tell what differs between them, not how sure it is: "
                "no confidence can be given"
            )
        if self.independent:
            return (
                f"{self.n_snapshots} models count as independent, but are no thermal sample: what "
                "follows says how well models agree, not how the molecule moves"
            )
        seen = f"the slowest motion was seen about {_times(self.n_effective)}"
        if len(self.replicas) > 1:
            seen += f" in {len(self.replicas)} replicas"
        return {
            "red": f"{seen}: what follows holds for this trajectory, another may differ",
            "amber": f"{seen}: clusters that are trusted should be found again, cutoffs are rough",
            "green": f"{seen}: enough for clusters and their cutoffs",
        }[self.colour]

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("snapshots", self.n_snapshots),
            ("effective", f"{self.n_effective:.3g}"),
            ("verdict", self.words),
        )


def count_independent(
    objects: Objects,
    sigma: Fluctuations,
    *,
    replicas: Sequence[int] | None = None,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
    seed: int = 0,
) -> Sampling:
    """Count how many independent snapshots there are, by the slowest pairs.

    The autocorrelation of distances themselves is summed, over a few hundred of the tenth of pairs
    with the largest σ. Squares of deviations would forget too soon: they read 12 where there are 2.

    Parameters
    ----------
    objects : Objects
        What is compared; of objects of several sites, their centres.
    sigma : Fluctuations
        σ of pairs, to find the slowest.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; by default, those that were read.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, if it was taken off `sigma`. They are
        new in every snapshot, and would make the slowest motion look quick.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Sampling
        With what it means, in words. Of two snapshots nothing can be told, nor where nothing moves.
    """
    ensemble = objects.ensemble
    n_snapshots = ensemble.n_snapshots
    runs = ensemble.replicas if replicas is None else tuple(replicas)
    n_counting = n_snapshots
    if ensemble.weights is not None:
        n_counting = int(np.count_nonzero(ensemble.weights))
    if n_counting < 3 or not _anything_moves(objects, sigma):
        return Sampling(n_counting, np.nan, runs, ensemble.independent)
    if ensemble.independent:
        return Sampling(n_snapshots, float(n_snapshots), runs, independent=True)
    pairs = slowest_pairs(sigma, n_snapshots=n_snapshots, seed=seed)
    series = distances(objects.centres(), pairs, metric=metric)
    found = effective_size(
        series,
        replicas=runs,
        weights=ensemble.weights,
        errors=None if noise is None else noise(pairs),
        corrected=True,
    )
    # What jumps once looks as if it forgot at once, but copies of a snapshot tell nothing new.
    return Sampling(n_snapshots, min(found, _count_distinct(series)), runs, independent=False)


def slowest_pairs(sigma: Fluctuations, *, n_snapshots: int, seed: int = 0) -> Ints:
    """Choose some of the pairs with the largest σ.

    Parameters
    ----------
    sigma : Fluctuations
        σ of pairs.
    n_snapshots : int
        How long their series are: of very long ones, fewer are chosen.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    ndarray of int, shape (chosen, 2)
        At most 300 of the tenth with the largest σ.
    """
    finite = np.flatnonzero(np.isfinite(sigma.sigma))
    n_slow = max(1, round(_SLOWEST * len(finite)))
    slow = finite[np.argpartition(-sigma.sigma[finite], n_slow - 1)[:n_slow]]
    n_chosen = min(n_slow, _N_SERIES, max(1, _MOST_VALUES // n_snapshots))
    chosen = np.random.default_rng(seed).choice(np.sort(slow), n_chosen, replace=False)
    pairs: Ints = sigma.pairs[np.sort(chosen)]
    return pairs


def distances(ensemble: Ensemble, pairs: Ints, *, metric: Metric | None = None) -> Floats:
    """Measure the distances of some pairs of sites in every snapshot.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.
    metric : str or callable, optional
        As for :func:`timme.measure`.

    Returns
    -------
    ndarray, shape (pairs, snapshots)
        NaN where one of the two is not seen.
    """
    metric = known_metric(metric, ensemble)
    ends, index = np.unique(pairs, return_inverse=True)
    narrowed = ensemble.select(ends)
    index = index.reshape(-1, 2).astype(np.int64)
    found = np.empty((len(pairs), ensemble.n_snapshots))
    for block in narrowed.blocks():
        if metric is None and block.boxes is None:
            places = block.coordinates.astype(np.float64)
            apart = np.linalg.norm(places[:, index[:, 0]] - places[:, index[:, 1]], axis=2)
            found[:, block.start : block.start + len(apart)] = apart.T
            continue
        # The mean over one snapshot is the distance, by whatever box, image and metric.
        for snapshot in range(block.start, block.start + len(block.weights)):
            one = Piece(block.start, snapshot, snapshot + 1, single=False).of(block)
            moments = Moments.empty(len(pairs))
            PreparedBlock(one, metric).merge(index, moments)
            found[:, snapshot] = np.where(moments.count > 0, moments.mean, np.nan)
    return found


def _anything_moves(objects: Objects, sigma: Fluctuations) -> bool:
    """Tell whether any σ is more than what rounding leaves of places that are so large."""
    places = np.abs(objects.ensemble.snapshot(0)[0])
    largest = np.max(sigma.sigma, initial=0.0, where=np.isfinite(sigma.sigma))
    return bool(largest > _ROUNDING * np.nanmax(places, initial=0.0))


def _count_distinct(series: Floats) -> float:
    """Count snapshots that are not all the same, in every distance, as the one before."""
    one, other = series[:, :-1], series[:, 1:]
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(1 + np.count_nonzero(~same.all(axis=0)))


def _times(count: float) -> str:
    whole = max(1, round(count))
    return "once" if whole == 1 else "twice" if whole == 2 else f"{whole} times"
