"""The array types that travel between the steps, and the checks every step shares."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Coordinates = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Strings = npt.NDArray[np.str_]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return a read-only view of an array, so that results cannot be changed by accident."""
    view = array.view()
    view.flags.writeable = False
    return view


def indices(given: npt.ArrayLike, count: int, what: str) -> Ints:
    """Check indices into ``count`` things; one truth value for each will do as well."""
    array = np.asarray(given)
    if array.dtype == bool and array.shape == (count,):
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{what} need a list of whole numbers, got {array.dtype} of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= count:
        raise ValueError(f"{what} go from 0 to {count - 1}, got {array.min()} to {array.max()}")
    if len(np.unique(array)) != len(array):
        raise ValueError(f"{what} must be given once each, got some twice")
    return array.astype(np.int64)


def highest_between(values: Ints, low: Ints, high: Ints) -> Ints:
    """Return the highest of the values from each low place up to each high one, itself excluded."""
    # Maxima over spans of 1, 2, 4, … values: any range is covered by two spans of one length.
    span = np.frexp(high - low)[1] - 1
    highest = np.empty(len(low), dtype=np.int64)
    maxima = values
    for power in range(int(span.max(initial=-1)) + 1):
        here = span == power
        highest[here] = np.maximum(maxima[low[here]], maxima[high[here] - 2**power])
        maxima = np.maximum(maxima[: -(2**power)], maxima[2**power :])
    return highest


def numbers(given: npt.ArrayLike, what: str) -> Floats:
    """Check an array of real numbers and bring it into double precision."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"{what} need rows of equal length") from None
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{what} must be real numbers, got {array.dtype}")
    return array.astype(np.float64)
