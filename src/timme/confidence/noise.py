"""Take the error of positions off σ, for particles that a microscope has found.

Let the difference R of two positions be found with an error e, Gaussian with variance S_k along
axis k, that of both positions together. What is measured is r' = |R + e|, and the error alone makes
it vary by

    v = ⟨r'²⟩ − ⟨r'⟩² = Σ_k (R_k² + S_k) − ⟨|R + e|⟩².

Where r = |R| is far larger than the error, v is the error along the pair, Σ_k n_k² S_k with
n = R / r. Where two points are as near as the error is large, an error across the pair makes it
longer either way: the distance is biased, v is less (0.43 S in a plane at r = 0), and to take off S
would take off too much. Both follow from R_k² and S_k alone. Of R_k², the mean over snapshots is
known without bias: it is that of the measured squares, less S_k. Over snapshots, R turns; v is
linear in n_k² but for terms of order S² / r², so that the mean will do.

Of n snapshots whose errors are independent, the variance about their own mean has 1 − 1/n of v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.system.ensemble import Ensemble
from timme.system.space import Boxes

_AT_A_TIME = 4_000_000  # numbers
_FAR = 12.0  # times the largest error, from where on two terms of a series are enough
_STEP, _END = 0.5, 44.0  # of an integral over the logarithm of its variable
LEAST_SNAPSHOTS = 10  # of which an error is estimated


@dataclass(frozen=True, slots=True, eq=False)
class PositionErrors:
    """Points, and how far off their positions are."""

    points: Ensemble
    squares: Floats  # (points, dimensions), variance of the error along each axis

    def variance(self, pairs: Ints) -> Floats:
        """Work out the variance of distances that the errors make by themselves.

        Parameters
        ----------
        pairs : ndarray of int, shape (pairs, 2)
            Which points.

        Returns
        -------
        ndarray, shape (pairs,)
            Of infinitely many snapshots.
        """
        errors = self.squares[pairs].sum(axis=1)
        true = np.maximum(_mean_squares(self.points, pairs) - errors, 0.0)
        return variance_of_length(true, errors)


def take_off(sigma: Fluctuations, noise: NoiseVariance) -> tuple[Fluctuations, int]:
    """Take what errors of positions add off σ.

    Parameters
    ----------
    sigma : Fluctuations
        Of pairs of points, as measured.
    noise : callable
        What errors add to σ² of pairs over very many snapshots, such as
        :meth:`PositionErrors.variance`.

    Returns
    -------
    Fluctuations
        Without it; 0 where a pair fluctuates less than errors alone would let it.
    int
        How many such pairs there are.
    """
    taken = noise(sigma.pairs) * (1 - 1 / sigma.common)
    squares = sigma.sigma**2 - taken
    n_clipped = int(np.count_nonzero((squares <= 0) & (taken > 0)))
    left = np.where(taken > 0, np.sqrt(np.maximum(squares, 0.0)), sigma.sigma)
    return replace(sigma, sigma=frozen(left)), n_clipped


def estimate_errors(ensemble: Ensemble, *, replicas: Sequence[int] | None = None) -> Floats:
    """Estimate the static error of positions, per particle and axis.

    The mean squared displacement of a diffusing particle that is found with an error s along an
    axis is 2 D t + 2 s². Its intercept, drawn through those over one and two steps, is −2 c, with
    the covariance c of a step and the next: an error that makes a step longer makes the next one
    shorter. Drift is no diffusion, so the mean of the n steps is taken off; with it goes 1/n of the
    variance w − 2 s² that steps have besides errors, which is given back.

    Parameters
    ----------
    ensemble : Ensemble
        Tracks; NaN where a particle is not seen.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; as they were read by default.

    Returns
    -------
    ndarray, shape (sites, dimensions)
        Standard deviations; 0 where steps have no such covariance. Particles of which too few
        steps were seen have the root mean square of the others.
    """
    if ensemble.n_snapshots < LEAST_SNAPSHOTS:
        raise _too_few(ensemble.n_snapshots)
    steps = _steps(ensemble)
    runs = ensemble.replicas if replicas is None else replicas
    steps[np.cumsum(runs)[:-1] - 1] = np.nan  # from one run to the next is no step
    n_steps = np.count_nonzero(~np.isnan(steps), axis=0)
    off = steps - _mean(steps)
    covariance, variance = _mean(off[1:] * off[:-1]), _mean(off**2)
    count = np.maximum(n_steps, LEAST_SNAPSHOTS - 1)
    squares = np.maximum((-covariance - variance / count) / (1 - 2 / count), 0.0)
    enough = (n_steps >= LEAST_SNAPSHOTS - 1) & np.isfinite(squares)
    if not enough.any(axis=0).all():
        raise _too_few(int(n_steps.max(initial=0)) + 1)
    usual = np.mean(squares, axis=0, where=enough)
    errors: Floats = np.sqrt(np.where(enough, squares, usual))
    return errors


def variance_of_length(squares: Floats, errors: Floats) -> Floats:
    """Return the variance of the length of a vector whose components are off.

    Parameters
    ----------
    squares : ndarray, shape (vectors, dimensions)
        Squares of the true components.
    errors : ndarray, shape (vectors, dimensions)
        Variances of their errors.

    Returns
    -------
    ndarray, shape (vectors,)
        v of the module, at most the largest variance of an error.
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

    With e_n along the vector and e_c across it, r' = r + e_n + e_c² / 2r − e_n e_c² / 2r² + …, so
    that v = ⟨e_n²⟩ + Var(e_c²) / 4r² − ⟨e_n² e_c²⟩ / r², and Gaussian moments are those of pairs.
    """
    total = squares.sum(axis=1)
    share = squares / np.maximum(total, np.finfo(float).tiny)[:, None]
    along, along_square = (share * errors).sum(axis=1), (share * errors**2).sum(axis=1)
    across = errors.sum(axis=1) - along
    spread = (errors**2).sum(axis=1) - 2 * along_square + along**2  # half of Var(e_c²)
    together = along * across + 2 * (along_square - along**2)
    found: Floats = along + (spread / 2 - together) / np.maximum(total, np.finfo(float).tiny)
    return found


def _mean_length(squares: Floats, errors: Floats) -> Floats:
    """Mean length of Gaussian vectors, from that of exp(−t r'²), which is a product over axes.

    ⟨r'⟩ = ∫ (1 − ⟨exp(−t r'²)⟩) t^(−3/2) dt / 2√π, summed at even steps of log t, which converges
    exponentially: at steps of ½, rounding is what is left.
    """
    scale = (squares + errors).sum(axis=1)[:, None]
    own, off = squares / scale, errors / scale
    found = np.zeros(len(squares))
    for log in np.arange(-_END, _END + _STEP, _STEP):
        t = np.exp(log)
        exponent = -(0.5 * np.log1p(2 * t * off) + t * own / (1 + 2 * t * off)).sum(axis=1)
        found -= np.expm1(exponent) / np.sqrt(t)
    lengths: Floats = found * np.sqrt(scale[:, 0]) * _STEP / (2 * np.sqrt(np.pi))
    return lengths


def _too_few(n_snapshots: int) -> ValueError:
    return ValueError(
        f"noise='auto' needs tracks of at least {LEAST_SNAPSHOTS} snapshots, got {n_snapshots}: "
        "give the error of positions as a number"
    )


def _mean_squares(ensemble: Ensemble, pairs: Ints) -> Floats:
    """Mean of the squared components between points, over the snapshots in which both are seen."""
    total, count = np.zeros((len(pairs), ensemble.n_dimensions)), np.zeros((len(pairs), 1))
    length = max(1, _AT_A_TIME // (ensemble.n_dimensions * ensemble.block_length))
    for block in ensemble.blocks():  # each is read once, and looked at piece by piece
        boxes = Boxes.of(
            block.boxes, len(block.weights), ensemble.n_dimensions, images=ensemble.images
        )
        for start in range(0, len(pairs), length):
            some = slice(start, start + length)
            vectors = boxes.between(block.coordinates, *pairs[some].T)
            total[some] += np.nansum(vectors**2, axis=0)
            count[some] += np.count_nonzero(~np.isnan(vectors[:, :, :1]), axis=0)
    found: Floats = total / np.maximum(count, 1)
    return found


def _steps(ensemble: Ensemble) -> Floats:
    """Steps from each snapshot to the next, through the walls of a box."""
    made, last = list[Floats](), None
    for block in ensemble.blocks():
        places = np.asarray(block.coordinates, np.float64)
        known = places if last is None else np.concatenate([last, places])
        steps = np.diff(known, axis=0)
        walls = None if block.boxes is None else block.boxes[-len(steps) :]
        around = Boxes.of(walls, len(steps), ensemble.n_dimensions, images=ensemble.images)
        made.append(around.shorten(steps))
        last = places[-1:]
    return np.concatenate(made)


def _mean(values: Floats) -> Floats:
    """Mean over snapshots of what is seen; NaN where nothing is."""
    seen = ~np.isnan(values)
    count = np.count_nonzero(seen, axis=0)
    total = np.where(seen, values, 0.0).sum(axis=0)
    found: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return found
