"""Array types that travel between the steps, and the checks that every step shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Coordinates = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Strings = npt.NDArray[np.str_]

Scalar = TypeVar("Scalar", bound=np.generic)
Piece = TypeVar("Piece")


def frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Read-only view of an array, so that results are not changed by accident."""
    view = array.view()
    view.flags.writeable = False
    return view


def joined(pieces: Sequence[Piece], names: Sequence[str]) -> Piece:
    """Return dataclasses as one, whose arrays of these names follow one another."""
    if len(pieces) == 1:
        return pieces[0]
    arrays = {name: [getattr(piece, name) for piece in pieces] for name in names}
    whole = {name: frozen(np.concatenate(each)) for name, each in arrays.items()}
    return replace(pieces[0], **whole)  # type: ignore[type-var]


def indices(given: npt.ArrayLike, count: int, what: str) -> Ints:
    """Check distinct indices into ``count`` things, or one truth value for each."""
    array = np.asarray(given)
    if array.dtype == bool and array.shape == (count,):
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{what} must be a list of whole numbers, got {array.dtype} of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= count:
        raise ValueError(f"{what} range from 0 to {count - 1}, got {array.min()} to {array.max()}")
    if len(np.unique(array)) != len(array):
        raise ValueError(f"{what} must differ from one another, got some of them twice")
    return array.astype(np.int64)


def index_pairs(given: npt.ArrayLike, count: int, what: str) -> Ints:
    """Check pairs (pairs, 2) of indices into ``count`` things."""
    array = np.asarray(given) if np.size(given) > 0 else np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{what} need two whole numbers each, got {array.dtype} of shape {array.shape}"
        )
    if array.size > 0 and (array.min() < 0 or array.max() >= count):
        raise ValueError(f"{what} range from 0 to {count - 1}, got {array.min()} to {array.max()}")
    return array.astype(np.int64)


def whole(given: object, least: int, what: str, most: float = np.inf) -> int:
    """Check a whole number within a range."""
    if not (isinstance(given, int | np.integer) and least <= given <= most):
        span = f"of at least {least}" if most == np.inf else f"from {least} to {most}"
        raise ValueError(f"{what} must be a whole number {span}, got {given!r}")
    return int(given)


def numbers(given: npt.ArrayLike, what: str) -> Floats:
    """Check an array of real numbers and convert it to double precision."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must have rows of equal length") from None
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{what} must be real numbers, got {array.dtype}")
    return array.astype(np.float64)
