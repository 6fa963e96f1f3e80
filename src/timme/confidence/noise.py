"""Errors of positions, and what they add to σ, for particles found with a microscope.

Let the difference R of two positions have a Gaussian error e with variance S_k along axis k, that
of both positions together. The error alone makes the measured distance r' = |R + e| vary by

    v = ⟨r'²⟩ - ⟨r'⟩² = Σ_k (R_k² + S_k) - ⟨|R + e|⟩².

Far apart, v is the error along the pair, Σ_k n_k² S_k with n = R / r. Near one another it is less
(0.43 S in a plane at r = 0). Both follow from S_k and the mean R_k² over snapshots, which is the
mean of the measured squares less S_k. Of n snapshots, the variance about their mean has
1 - 1/n of v.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.ensemble import Boxes, Ensemble
from timme.fluctuations import Fluctuations

Noise = Callable[[Ints], Floats]
"""Variance (pairs,) that errors of positions add to the distances of pairs (pairs, 2)."""

_AT_A_TIME = 4_000_000  # numbers
_FAR = 12.0  # times the largest error, from where on two terms of a series are enough
_STEP, _END = 0.5, 44.0  # of an integral over the logarithm of its variable
LEAST_SNAPSHOTS = 10  # from which an error is estimated


@dataclass(frozen=True, slots=True, eq=False)
class PositionErrors:
    """Points, and the errors of their positions."""

    points: Ensemble
    squares: Floats  # (points, dimensions), variance of the error along each axis

    def variance(self, pairs: Ints) -> Floats:
        """Return what errors add to the variance of distances of pairs (pairs, 2) of points."""
        errors = self.squares[pairs].sum(axis=1)
        true = np.maximum(_mean_squares(self.points, pairs) - errors, 0.0)
        return variance_of_length(true, errors)


def take_off(sigma: Fluctuations, noise: Noise) -> tuple[Fluctuations, int]:
    """Subtract what errors of positions add from σ of pairs of points.

    Where a pair fluctuates by no more than that, σ is 0; the number of such pairs comes second.
    """
    taken = noise(sigma.pairs) * (1 - 1 / sigma.common)
    squares = sigma.sigma**2 - taken
    n_clipped = int(np.count_nonzero((squares <= 0) & (taken > 0)))
    left = np.where(taken > 0, np.sqrt(np.maximum(squares, 0.0)), sigma.sigma)
    return replace(sigma, sigma=frozen(left)), n_clipped


def estimate_errors(ensemble: Ensemble) -> Floats:
    """Return the standard error (sites, dimensions) of positions of each site and axis.

    An error that makes a step longer makes the next one shorter: with the covariance c of a step
    and the next, the variance of the error is -c. The mean of the n steps is subtracted, and with
    it 1/n of their variance w less 2 s², which is added again. Sites of too few steps have the
    root mean square of the others.
    """
    steps = np.diff(np.asarray(ensemble.unwrapped().coordinates(), np.float64), axis=0)
    steps[np.cumsum(ensemble.replicas)[:-1] - 1] = np.nan  # between runs
    n_steps = np.count_nonzero(~np.isnan(steps), axis=0)
    with warnings.catch_warnings(action="ignore"):  # of sites with too few steps
        off = steps - np.nanmean(steps, axis=0)
        covariance, variance = (np.nanmean(x, axis=0) for x in (off[1:] * off[:-1], off**2))
        squares = np.maximum((-covariance - variance / n_steps) / (1 - 2 / n_steps), 0.0)
    enough = (n_steps >= LEAST_SNAPSHOTS - 1) & ~np.isnan(covariance)
    if not enough.any(axis=0).all():
        raise ValueError(
            f"noise='auto' needs tracks of at least {LEAST_SNAPSHOTS} snapshots, got "
            f"{n_steps.max(initial=0) + 1}: give the error of positions as a number"
        )
    usual = np.mean(squares, axis=0, where=enough)
    return np.asarray(np.sqrt(np.where(enough, squares, usual)))


def variance_of_length(squares: Floats, errors: Floats) -> Floats:
    """Return the variance v (vectors,) of the length of vectors with errors.

    `squares` of true components and variances of their errors are (vectors, dimensions).
    """
    total, largest = squares.sum(axis=1), errors.max(axis=1)
    found = np.zeros(len(squares))
    far = total > _FAR**2 * largest
    near = ~far & (largest > 0)
    found[far] = _variance_far(squares[far], errors[far])
    mean = _mean_length(squares[near], errors[near])
    found[near] = (squares[near] + errors[near]).sum(axis=1) - mean**2
    return np.clip(found, 0.0, largest)


def _variance_far(squares: Floats, errors: Floats) -> Floats:
    """Two terms in 1 / r² of v.

    With e_n along the vector and e_c across it, r' = r + e_n + e_c² / 2r - e_n e_c² / 2r² + …, so
    that v = ⟨e_n²⟩ + Var(e_c²) / 4r² - ⟨e_n² e_c²⟩ / r², and Gaussian moments are those of pairs.
    """
    total = np.maximum(squares.sum(axis=1), np.finfo(float).tiny)
    share = squares / total[:, None]
    along, along_square = (share * errors).sum(axis=1), (share * errors**2).sum(axis=1)
    across = errors.sum(axis=1) - along
    spread = (errors**2).sum(axis=1) - 2 * along_square + along**2  # half of Var(e_c²)
    together = along * across + 2 * (along_square - along**2)
    return np.asarray(along + (spread / 2 - together) / total)


def _mean_length(squares: Floats, errors: Floats) -> Floats:
    """Mean length of Gaussian vectors, from that of exp(-t r'²), which is a product over axes.

    ⟨r'⟩ = ∫ (1 - ⟨exp(-t r'²)⟩) t^(-3/2) dt / 2√π, summed at even steps of log t, which converges
    exponentially: with steps of ½ it is exact to rounding.
    """
    scale = (squares + errors).sum(axis=1)[:, None]
    own, off = squares / scale, errors / scale
    found = np.zeros(len(squares))
    for log in np.arange(-_END, _END + _STEP, _STEP):
        t = np.exp(log)
        exponent = -(0.5 * np.log1p(2 * t * off) + t * own / (1 + 2 * t * off)).sum(axis=1)
        found -= np.expm1(exponent) / np.sqrt(t)
    return np.asarray(found * np.sqrt(scale[:, 0]) * _STEP / (2 * np.sqrt(np.pi)))


def _mean_squares(ensemble: Ensemble, pairs: Ints) -> Floats:
    """Mean of the squared components between points, over the snapshots in which both are seen."""
    total, count = np.zeros((len(pairs), ensemble.n_dimensions)), np.zeros((len(pairs), 1))
    length = max(1, _AT_A_TIME // (ensemble.n_dimensions * ensemble.block_length))
    for block in ensemble.blocks():
        shape = len(block.weights), ensemble.n_dimensions
        boxes = Boxes.of(block.boxes, *shape, images=block.images)
        for start in range(0, len(pairs), length):
            some = slice(start, start + length)
            vectors = boxes.between(block.coordinates, *pairs[some].T)
            total[some] += np.nansum(vectors**2, axis=0)
            count[some] += np.count_nonzero(~np.isnan(vectors[:, :, :1]), axis=0)
    return total / np.maximum(count, 1)
