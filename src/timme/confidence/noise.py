"""Take the error of positions off σ, for particles that a microscope has found.

Let the difference of two positions be off by e, Gaussian with variance s² along each of d
axes, that of both positions together. What is measured is r' = |r + e|. Its mean is larger than
r, by (d − 1) s² / 2r where r ≫ s, as an error across the pair makes it longer either way; the
variance that the error makes is ⟨r'²⟩ − ⟨r'⟩² = r² + d s² − ⟨r'⟩², which is s² only where r ≫ s.
Where two points are as near as the error is large, it is less (0.43 s² in two dimensions at
r = 0), and to take off s² would take off too much. So the distance is freed of its bias first, by
the mean length of a Gaussian vector, and what is taken off σ² follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from timme._arrays import Floats, frozen
from timme.fluctuations.sigma import Fluctuations
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """σ without the error of positions."""

    sigma: Floats  # (pairs,)
    distances: Floats  # (pairs,), mean distances without their bias
    n_clipped: int  # pairs that fluctuate less than the error alone would let them: σ is 0

    @property
    def words(self) -> str:
        """What was done, in one sentence."""
        share = f"{self.n_clipped:,} of {len(self.sigma):,} pairs"
        return f"the error of positions was taken off σ²; {share} fluctuate by no more than it"


def position_errors(ensemble: Ensemble) -> Floats:
    """Estimate the static error of positions, per particle and axis.

    The mean squared displacement of a diffusing particle that is found with an error s along an
    axis is 2 D t + 2 s²: its intercept, from those over one and two steps, is 2 s².

    Parameters
    ----------
    ensemble : Ensemble
        Tracks, unwrapped; NaN where a particle is not seen.

    Returns
    -------
    ndarray, shape (sites, dimensions)
        Standard deviations; 0 where displacements grow faster than by diffusion, NaN where too few
        steps were seen.
    """
    if ensemble.n_snapshots < 3:
        raise ValueError(
            f"the error of positions is estimated from at least 3 snapshots, got "
            f"{ensemble.n_snapshots}: give it as a number"
        )
    places = np.asarray(ensemble.coordinates(), np.float64)
    one, two = (_mean_square(places[lag:] - places[:-lag]) for lag in (1, 2))
    errors: Floats = np.sqrt(np.maximum(2 * one - two, 0.0) / 2)
    return errors


def correct_for_errors(
    sigma: Fluctuations,
    distances: npt.ArrayLike,
    errors: npt.ArrayLike,
    *,
    n_dimensions: int,
) -> Corrected:
    """Take the error of positions off σ of pairs.

    Parameters
    ----------
    sigma : Fluctuations
        As measured.
    distances : array_like, shape (pairs,)
        Mean distances, as measured.
    errors : array_like, shape () or (sites,) or (sites, dimensions)
        Standard deviation of the error of positions along an axis.
    n_dimensions : int
        Of space.

    Returns
    -------
    Corrected
        σ, clipped at 0, with a count of such pairs.
    """
    each = np.asarray(errors, np.float64)
    per_site = np.sqrt(np.mean(each**2, axis=1)) if each.ndim == 2 else each
    own = np.broadcast_to(per_site, (sigma.n_objects,)) ** 2
    together = own[sigma.pairs].sum(axis=1)
    measured = np.asarray(distances, np.float64)
    true = true_distances(measured, np.sqrt(together), n_dimensions)
    excess = noise_variance(true, np.sqrt(together), n_dimensions)
    squares = sigma.sigma**2 - excess
    clipped = int(np.count_nonzero(squares <= 0))
    return Corrected(frozen(np.sqrt(np.maximum(squares, 0.0))), frozen(true), clipped)


def noise_variance(distances: Floats, errors: Floats, n_dimensions: int) -> Floats:
    """Return the variance of a distance that an error of both positions makes by itself.

    Parameters
    ----------
    distances : ndarray
        True distances r.
    errors : ndarray
        Standard deviation s of the difference of both positions along an axis.
    n_dimensions : int
        d.

    Returns
    -------
    ndarray
        r² + d s² − ⟨r'⟩², with the mean of the length of a Gaussian vector about r: near s² for
        r ≫ s, and never more.
    """
    square = distances**2 + n_dimensions * errors**2
    variance: Floats = square - mean_length(distances, errors, n_dimensions) ** 2
    return np.clip(variance, 0.0, errors**2)


def mean_length(distances: Floats, errors: Floats, n_dimensions: int) -> Floats:
    """Return the mean length of a Gaussian vector about one of given length.

    Parameters
    ----------
    distances, errors, n_dimensions
        As for :func:`noise_variance`.

    Returns
    -------
    ndarray
        s √2 Γ((d + 1)/2) / Γ(d/2) · ₁F₁(−½; d/2; −r² / 2s²): r where there is no error.
    """
    r, s = np.broadcast_arrays(np.asarray(distances, float), np.asarray(errors, float))
    x = np.divide(r**2, 2 * s**2, out=np.full(r.shape, np.inf), where=s > 0)
    near = x < 500
    found = np.array(r, dtype=np.float64)
    # Far from the error, the length exceeds r by (d − 1) s² / 2r; the series has no digits there.
    far = ~near & (r > 0)
    found[far] += (n_dimensions - 1) * s[far] ** 2 / (2 * r[far])
    d = n_dimensions
    scale = np.sqrt(2) * np.exp(special.gammaln((d + 1) / 2) - special.gammaln(d / 2))
    found[near] = s[near] * scale * special.hyp1f1(-0.5, d / 2, -x[near])
    return found


def true_distances(measured: Floats, errors: Floats, n_dimensions: int) -> Floats:
    """Find the distances whose mean, with the error, is what was measured.

    Parameters
    ----------
    measured : ndarray
        Mean distances with the error.
    errors, n_dimensions
        As for :func:`noise_variance`.

    Returns
    -------
    ndarray
        0 where less was measured than the error alone makes.
    """
    low, high = np.zeros_like(measured), np.array(measured)
    for _ in range(50):  # the mean grows with the distance: halve
        middle = (low + high) / 2
        above = mean_length(middle, errors, n_dimensions) > measured
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return low


def _mean_square(steps: Floats) -> Floats:
    seen = ~np.isnan(steps)
    count = np.count_nonzero(seen, axis=0)
    total = np.where(seen, steps, 0.0)
    # Drift is no diffusion: the mean step is taken off.
    mean = np.divide(total.sum(axis=0), count, out=np.zeros(count.shape), where=count > 0)
    squares = np.where(seen, (total - mean) ** 2, 0.0).sum(axis=0)
    found: Floats = np.divide(squares, count, out=np.full(count.shape, np.nan), where=count > 0)
    return found
