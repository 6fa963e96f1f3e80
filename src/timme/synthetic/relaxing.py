"""Make values that wander and relax: Ornstein–Uhlenbeck motion."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats


def relaxing(
    shape: tuple[int, ...], time: float, rng: np.random.Generator, *, n_snapshots: int
) -> Floats:
    """Make independent values of variance 1 whose correlation falls off as exp(−t / time).

    Parameters
    ----------
    shape : tuple of int
        Of the values in each snapshot.
    time : float
        In snapshots; 0 for values that are independent from the start.
    rng : numpy.random.Generator
        Source of randomness.
    n_snapshots : int
        How many.

    Returns
    -------
    ndarray, shape (snapshots, *shape)
        Stationary from the first snapshot on.
    """
    values = rng.normal(size=(n_snapshots, *shape))
    kept = np.exp(-1 / time) if time > 0 else 0.0
    values[1:] *= np.sqrt(1 - kept**2)
    for snapshot in range(1, n_snapshots):
        values[snapshot] += kept * values[snapshot - 1]
    return values
