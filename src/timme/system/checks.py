"""What an ensemble is made of, checked: coordinates of all snapshots, and their weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, frozen, numbers


def checked_coordinates(coordinates: npt.ArrayLike, *, gaps: bool) -> Coordinates:
    """Check the coordinates of all snapshots.

    Parameters
    ----------
    coordinates : array_like, shape (snapshots, sites, dimensions)
        Real numbers; what a masked array hides is NaN.
    gaps : bool
        Whether NaN means "not seen in this snapshot".

    Returns
    -------
    ndarray, shape (snapshots, sites, dimensions)
        Single and double precision as they are, all else in double.
    """
    try:
        array = np.asanyarray(coordinates)
    except ValueError:
        raise ValueError(
            "snapshots need the same number of sites each, got a ragged list: "
            "pad missing sites with NaN and read them as gaps"
        ) from None
    if array.dtype == object or np.iscomplexobj(array) or array.dtype.kind not in "fiu":
        raise ValueError(
            f"coordinates must be real numbers, got an array of {array.dtype}: "
            "convert it to float first"
        )
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.ndim != 3:
        raise ValueError(
            "coordinates need the shape (snapshots, sites, dimensions), "
            f"got {array.ndim} dimension{'s' * (array.ndim != 1)} of shape {array.shape}"
        )
    if 0 in array.shape:
        raise ValueError(f"coordinates must not be empty, got shape {array.shape}")
    if array.dtype not in {np.dtype(np.float32), np.dtype(np.float64)}:
        array = array.astype(np.float64)
    if gaps and np.isinf(array).any():
        raise ValueError("coordinates must be finite or NaN (a gap), got an infinite one")
    return array


def checked_weights(weights: npt.ArrayLike, snapshots: int) -> Floats:
    """Check one weight per snapshot.

    Parameters
    ----------
    weights : array_like, shape (snapshots,)
        Weights, not negative, at least two above zero; only their ratios count.
    snapshots : int
        Number of snapshots.

    Returns
    -------
    ndarray, shape (snapshots,)
        The weights in double precision, the largest 1.
    """
    array = numbers(weights, "weights")
    if array.shape != (snapshots,):
        raise ValueError(
            f"weights need one number for each of {snapshots} snapshots, got shape {array.shape}"
        )
    if (
        not np.isfinite(array).all()
        or (array < 0).any()
        or np.count_nonzero(array) < min(2, snapshots)
    ):
        raise ValueError(
            "weights must be finite, not negative, and above zero for at least 2 snapshots: "
            "leave out the snapshots that should not count"
        )
    return frozen(array / array.max())
