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
        pairs = "; σ of all pairs of n sites are n(n - 1)/2 numbers" if array.ndim == 1 else ""
        raise ValueError(
            "coordinates need the shape (snapshots, sites, dimensions), "
            f"got {array.ndim} dimension{'s' * (array.ndim != 1)} of shape {array.shape}{pairs}"
        )
    if _are_distances(array):
        raise ValueError(
            f"coordinates need the shape (snapshots, sites, dimensions), got {len(array)} matrices "
            "that look like distances, symmetric with a diagonal of 0: analyse their "
            "fluctuations, distances.std(axis=0), as a matrix"
        )
    if 0 in array.shape:
        raise ValueError(f"coordinates must not be empty, got shape {array.shape}")
    if array.dtype not in {np.dtype(np.float32), np.dtype(np.float64)}:
        array = array.astype(np.float64)
    if gaps and np.isinf(array).any():
        raise ValueError("coordinates must be finite or NaN (a gap), got an infinite one")
    return array


def _are_distances(array: npt.NDArray[np.generic]) -> bool:
    """Tell whether the first snapshot is a matrix of distances, as no places are."""
    # Three sites of a lattice in space may lie at such places, (0, 1, 1), (1, 0, 1) and (1, 1, 0).
    if not len(array) or array.shape[1] != array.shape[2] or array.shape[1] <= 3:
        return False
    first, apart = array[0], ~np.eye(array.shape[1], dtype=np.bool_)
    symmetric = np.array_equal(first, first.T) and not first.diagonal().any()
    return bool(symmetric and (first[apart] > 0).all())


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
