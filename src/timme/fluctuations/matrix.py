"""Take a ready-made matrix of σ, or of anything with its meaning, as if it had been measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import squareform

from timme._arrays import Floats, Ints, frozen, numbers
from timme.fluctuations.sigma import Fluctuations


def from_matrix(matrix: npt.ArrayLike | sparse.csr_array, *, unit: str = "") -> Fluctuations:
    """Take the pairs of a ready-made matrix: its upper triangle, where finite and held.

    Parameters
    ----------
    matrix : array_like or sparse array, shape (objects, objects) or (pairs,)
        Symmetric and not negative; or its upper triangle, row by row, as SciPy's ``pdist`` gives
        it. Entries that are masked are pairs that were not measured.
    unit : str, optional
        Of its entries.

    Returns
    -------
    Fluctuations
        As if they had been measured; no number of snapshots is known.
    """
    held: Any = matrix
    if not isinstance(matrix, sparse.sparray | sparse.spmatrix):
        held = numbers(_unmask(matrix), "matrices of σ")
    if held.dtype.kind not in "fiu":
        raise ValueError(f"a matrix of σ must hold real numbers, got {held.dtype}")
    if held.ndim == 1:
        held = _square(held)
    if held.ndim != 2 or held.shape[0] != held.shape[1] or held.shape[0] == 0:
        raise ValueError(f"a matrix of σ must be square and not empty, got shape {held.shape}")
    index, values = _above_diagonal(held)
    _refuse_asymmetric(index, values, *_above_diagonal(held.T))
    if (values < 0).any():
        raise ValueError("a matrix of σ must not be negative: check what it holds")
    return Fluctuations(
        n_objects=held.shape[0],
        pairs=frozen(index),
        sigma=frozen(values),
        common=frozen(np.zeros(len(values), np.int64)),
        unit=unit,
    )


def has_triangle(length: int) -> bool:
    """Tell whether so many numbers can be the upper triangle of a square matrix.

    Parameters
    ----------
    length : int
        How many there are.

    Returns
    -------
    bool
        True for 1, 3, 6, 10 and so on.

    Examples
    --------
    >>> [length for length in range(11) if has_triangle(length)]
    [1, 3, 6, 10]
    """
    size = round((1 + math.sqrt(1 + 8 * length)) / 2)
    return length > 0 and size * (size - 1) // 2 == length


def _unmask(matrix: Any) -> Any:
    """Put NaN, which is not measured, in place of masked entries, whatever is held behind these."""
    if not isinstance(matrix, np.ma.MaskedArray):
        return matrix
    return np.ma.filled(matrix.astype(np.float64), np.nan)


def _square(condensed: Floats) -> Floats:
    """Lay out an upper triangle, row by row, as a whole matrix."""
    if not has_triangle(len(condensed)):
        raise ValueError(
            "a matrix of σ must be square, or the upper triangle of one, 1, 3, 6, 10, … numbers, "
            f"got {len(condensed)}"
        )
    full: Floats = squareform(condensed, checks=False)
    return full


def _above_diagonal(matrix: Any) -> tuple[Ints, Floats]:
    """Pairs and values of the finite entries above the diagonal, row by row."""
    if isinstance(matrix, np.ndarray):
        finite = np.triu(np.isfinite(matrix), 1)
        index: Ints = np.argwhere(finite).astype(np.int64)
        values = matrix[finite]
    else:
        upper = sparse.csr_array(sparse.triu(matrix, 1))
        upper.sort_indices()
        held, finite = upper.tocoo(), np.isfinite(upper.data)
        index = np.column_stack(held.coords)[finite].astype(np.int64)
        values = held.data[finite]
    return index, values.astype(np.float64)


def _refuse_asymmetric(index: Ints, values: Floats, mirrored: Ints, others: Floats) -> None:
    same = np.array_equal(index, mirrored)
    difference = np.abs(values - others).max(initial=0.0) if same else np.inf
    if difference > 1e-6 * np.abs(values).max(initial=0.0):
        raise ValueError(
            "a matrix of σ must be symmetric, but mirrored entries differ by "
            f"{difference:.3g}: pass np.maximum(m, m.T) or the mean of both"
        )
