"""Would less of the trajectory have said the same: σ and trusted clusters against its length.

The trajectory is taken from its beginning on, and from its end on; replicas are left out each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.confidence.records import Confidence
from timme.confidence.replicates import resampled_hierarchies
from timme.confidence.support import match
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.sigma import Fluctuations
from timme.fluctuations.sums import PartSums, sum_parts
from timme.objects import Objects

_N_LENGTHS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """What parts of a trajectory say, beside what all of it says."""

    fractions: Floats  # (lengths,), of the trajectory
    forward: Floats  # (lengths,), median of σ over that of all snapshots, from the beginning on
    backward: Floats  # (lengths,), from the end on
    forward_overlaps: Floats  # (lengths, trusted clusters), how much of each is found
    backward_overlaps: Floats
    left_out: Floats  # (replicas, trusted clusters), without one replica; none of a single run

    @property
    def words(self) -> str:
        """What halves of the trajectory say, in one sentence."""
        half = int(np.argmin(np.abs(self.fractions - 0.5)))
        ratio = self.forward[half], self.backward[half]
        told = f"σ of the first half is {ratio[0]:.2f}, of the second {ratio[1]:.2f} of that of all"
        if self.forward_overlaps.shape[1]:
            least = min(
                float(self.forward_overlaps[half].min()), float(self.backward_overlaps[half].min())
            )
            told += f"; every trusted cluster is found in both, by {least:.2f} at least"
        return told


def converge(
    objects: Objects,
    sigma: Fluctuations,
    found: Confidence,
    *,
    shown: Ints | None = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> Convergence:
    """Compare what parts of a trajectory say with what all of it says.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations
        σ of the pairs that were linked.
    found : Confidence
        How sure the clusters of all snapshots are.
    shown : ndarray of int, optional
        Objects in which clusters are counted; all by default.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Convergence
        Against the length, forward and backward, and without each replica.
    """
    if found.draws is None:
        raise ValueError(f"nothing converges: {found.sampling.words}")
    seen = np.arange(len(objects)) if shown is None else np.asarray(shown)
    draws = found.draws
    sums = sum_parts(objects, sigma.pairs, draws.parts, metric=metric, run=run)
    n_parts = len(draws.parts)
    lengths = np.unique(np.linspace(n_parts / _N_LENGTHS, n_parts, _N_LENGTHS).round()).astype(int)
    lengths = lengths[lengths >= 1]
    forward = (np.arange(n_parts) < lengths[:, None]).astype(np.int64)
    backward = forward[:, ::-1].copy()
    trusted = [record.cluster for record in found.trusted]
    masks = found.tree.masks()[trusted]

    def overlaps(times: Ints) -> Floats:
        if not len(times) or not trusted:
            return np.empty((len(times), len(trusted)))
        return match(masks, resampled_hierarchies(sums, times, shown=seen)).overlaps

    return Convergence(
        fractions=frozen(lengths / n_parts),
        forward=frozen(_medians(sums, forward)),
        backward=frozen(_medians(sums, backward)),
        forward_overlaps=overlaps(forward),
        backward_overlaps=overlaps(backward),
        left_out=overlaps(_without_each(draws.replicas)),
    )


def _medians(sums: PartSums, times: Ints) -> Floats:
    """Median over pairs of σ of some parts over that of all."""
    everything = np.ones((1, times.shape[1]), np.int64)
    sigma = sums.sigma(np.concatenate([everything, times])).astype(np.float64)
    moving = sigma[:, 0] > 0
    if not moving.any():
        return np.ones(len(times))
    medians: Floats = np.median(sigma[moving, 1:] / sigma[moving, :1], axis=0)
    return medians


def _without_each(replicas: tuple[int, ...]) -> Ints:
    """Times that count all parts but those of one replica; none where there is one replica."""
    if len(replicas) < 2:
        return np.empty((0, sum(replicas)), np.int64)
    owner = np.repeat(np.arange(len(replicas)), replicas)
    return np.asarray(owner != np.arange(len(replicas))[:, None], dtype=np.int64)
