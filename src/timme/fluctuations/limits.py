"""Limits: coordinates so large or so small that the squares which σ is made of cannot be held."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints
from timme.system.ensemble import Ensemble

_SMALLEST = 1e-145  # coordinates below have squares of deviations that are rounded to nothing


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
    largest = float(sigma.max(initial=0.0))  # one pass; NaN if there is one
    if not np.isfinite(largest):
        finite = np.isfinite(sigma)
        one, other = (pairs[~finite][0] + 1).tolist()
        raise ValueError(
            f"{ensemble.prefix}σ of {np.count_nonzero(~finite):,} pairs, objects {one} and {other} "
            f"first, is too large for a number: coordinates reach {_extent(ensemble):.3g}, give "
            "them in a larger unit"
        )
    # Only then are all snapshots looked at once more.
    if not len(sigma) or largest >= _SMALLEST:
        return
    extent = _extent(ensemble)
    if 0 < extent < _SMALLEST:
        raise ValueError(
            f"{ensemble.prefix}coordinates of at most {extent:.3g} are too small, as their "
            "squares are rounded to nothing, and σ with them: give them in a smaller unit"
        )


def _extent(ensemble: Ensemble) -> float:
    """Size of the largest coordinate."""
    largest = 0.0
    for block in ensemble.blocks():
        seen = np.abs(block.coordinates[~np.isnan(block.coordinates)])
        largest = max(largest, float(seen.max(initial=0.0)))
    return largest
