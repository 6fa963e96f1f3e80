"""Would less of the trajectory have said the same: σ and trusted clusters against its length.

The trajectory is taken from its beginning on, and from its end on; replicas are left out each.
Hierarchies of less than all are grown from the pairs that can matter when the whole is resampled:
what they join, they may join a little too high, and never too low.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.confidence.draws import Draws
from timme.confidence.findings import Convergence
from timme.fluctuations.resampling import PartSums

_N_LENGTHS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Parts of a trajectory that are compared with all of it."""

    fractions: Floats  # (lengths,), of the trajectory
    times: Ints  # (2 lengths + replicas, parts): from the beginning, from the end, without each


def cut_lengths(draws: Draws) -> Lengths:
    """Cut a trajectory short, at eight lengths from either end, and without each replica.

    Lengths of one snapshot are left out: nothing moves in it, which is no σ of 0.

    Parameters
    ----------
    draws : Draws
        Parts of the snapshots.

    Returns
    -------
    Lengths
        How often each part counts: once or never.

    Examples
    --------
    >>> from timme.confidence.draws import draw
    >>> cut_lengths(draw(4, 4.0, n_draws=1)).times.tolist()[:3]
    [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """
    n_parts = len(draws.parts)
    lengths = np.unique(np.linspace(n_parts / _N_LENGTHS, n_parts, _N_LENGTHS).round()).astype(int)
    seen = np.array([len(part) for part in draws.parts])
    fewest = np.minimum(np.cumsum(seen), np.cumsum(seen[::-1]))  # from either end
    lengths = lengths[lengths >= 1]
    lengths = lengths[fewest[lengths - 1] >= 2]
    forward = np.arange(n_parts) < lengths[:, None]
    owner = np.repeat(np.arange(len(draws.replicas)), draws.replicas)
    without = owner != np.arange(len(draws.replicas))[:, None]
    kept = without if len(draws.replicas) > 1 else without[:0]
    times = np.concatenate([forward, forward[:, ::-1], kept]).astype(np.int64)
    return Lengths(frozen(lengths / n_parts), frozen(times))


def converge(lengths: Lengths, overlaps: Floats, sums: PartSums, sample: Ints) -> Convergence:
    """Compare what parts of a trajectory say with what all of it says.

    Parameters
    ----------
    lengths : Lengths
        What of it was taken.
    overlaps : ndarray, shape (2 lengths + replicas, clusters)
        How much of each trusted cluster is found in the hierarchy of each.
    sums : PartSums
        Of pairs over parts of the snapshots.
    sample : ndarray of int
        Places of some of them, by which σ is compared.

    Returns
    -------
    Convergence
        Against the length, forward and backward, and without each replica.
    """
    n_lengths = len(lengths.fractions)
    medians = _medians(sums, sample, lengths.times[: 2 * n_lengths])
    return Convergence(
        fractions=lengths.fractions,
        forward=frozen(medians[:n_lengths]),
        backward=frozen(medians[n_lengths:]),
        forward_overlaps=frozen(overlaps[:n_lengths]),
        backward_overlaps=frozen(overlaps[n_lengths : 2 * n_lengths]),
        left_out=frozen(overlaps[2 * n_lengths :]),
    )


def _medians(sums: PartSums, sample: Ints, times: Ints) -> Floats:
    """Median over pairs of σ of some parts over that of all; NaN where no pair is seen in them."""
    everything = np.ones((1, times.shape[1]), np.int64)
    sigma = sums.sigma(np.concatenate([everything, times]), rows=sample).astype(np.float64)
    moving = (sigma[:, 0] > 0) & np.isfinite(sigma[:, 0])
    if not moving.any():
        return np.ones(len(times))
    ratios = sigma[moving, 1:] / sigma[moving, :1]
    seen = np.isfinite(ratios)  # gaps may leave too little of a pair
    found = [
        np.median(column[own]) if own.any() else np.nan
        for column, own in zip(ratios.T, seen.T, strict=True)
    ]
    return np.array(found)
