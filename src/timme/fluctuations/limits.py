"""Limits: coordinates so large or so small that the squares which σ is made of cannot be held."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints
from timme.system.ensemble import Ensemble

# Coordinates below these have squares of deviations that are rounded to nothing: in double
# precision, and where sums are in single precision.
_SMALLEST, _SMALLEST_SINGLE = 1e-145, 1e-14


def refuse_beyond_limits(ensemble: Ensemble, pairs: Ints, sigma: Floats) -> None:
    """Refuse σ that is not a number, or nothing because coordinates are too small to be squared.

    Parameters
    ----------
    ensemble : Ensemble
        What was measured.
    pairs : ndarray of int, shape (pairs, 2)
        Pairs of objects, which all share enough snapshots.
    sigma : ndarray, shape (pairs,)
        What was found for them.
    """
    finite = np.isfinite(sigma)
    if not finite.all():
        one, other = (pairs[~finite][0] + 1).tolist()
        raise ValueError(
            f"{ensemble.prefix}σ of {np.count_nonzero(~finite):,} pairs, objects {one} and {other} "
            f"first, is too large for a number: coordinates reach {_extent(ensemble)[0]:.3g}, give "
            "them in a larger unit"
        )
    # Only then are all snapshots looked at once more.
    if not len(sigma) or sigma.max() >= _SMALLEST_SINGLE:
        return
    largest, smallest = _extent(ensemble)
    if 0 < largest < smallest:
        raise ValueError(
            f"{ensemble.prefix}coordinates of at most {largest:.3g} are too small, as their "
            "squares are rounded to nothing, and σ with them: give them in a smaller unit"
        )


def _extent(ensemble: Ensemble) -> tuple[float, float]:
    """Size of the largest coordinate, and what it must be at least."""
    largest, single = 0.0, False
    for block in ensemble.blocks():
        seen = np.abs(block.coordinates[~np.isnan(block.coordinates)])
        largest = max(largest, float(seen.max(initial=0.0)))
        # With gaps, weights or boxes every sum is in double precision.
        single = single or (block.single and block.complete and block.boxes is None)
    return largest, _SMALLEST_SINGLE if single else _SMALLEST
