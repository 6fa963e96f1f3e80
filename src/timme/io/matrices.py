"""Matrices: NumPy files, Matrix Market, tables, and predicted aligned errors of AlphaFold."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mminfo, mmread

from timme._arrays import Floats
from timme._text import is_number, one_line
from timme.io.files import TABLES, checked_file, kind, open_npy, read_bytes, table_lines

_PAIRS = ("residue1", "residue2", "distance")  # of the oldest layout of aligned errors


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A symmetric matrix of σ, or of anything else that is small for what moves together.

    Attributes
    ----------
    values : ndarray or scipy.sparse.csr_array, shape (sites, sites)
        Pairs that a sparse matrix does not list are not compared.
    symbol, unit : str, optional
        What its entries are; nothing where the file does not tell, and then they are σ.
    """

    values: Floats | sparse.csr_array[Any]
    symbol: str = ""
    unit: str = ""


def read_matrix(path: str | Path) -> Matrix:
    r"""Return the symmetric matrix of a file.

    Parameters
    ----------
    path : path
        ``.npy``; Matrix Market (``.mtx``), in which pairs that are not listed are not compared; a
        table without or with names (``.csv``, ``.tsv``, ``.txt``, ``.dat``); or the JSON file of
        AlphaFold's predicted aligned error, of which the larger of both directions counts.

    Returns
    -------
    Matrix
        Values, and what they are where the file states it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "pairs.csv")
    ...     size = path.write_text("0.0,0.5\n0.5,0.0\n")
    ...     read_matrix(path).values.tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    path = checked_file(path)
    readers: dict[str, Callable[[Path], Any]] = {
        ".npy": lambda path: np.array(open_npy(path)),
        ".mtx": _read_market,
        ".json": _read_aligned_errors,
        **dict.fromkeys(TABLES, _read_rows),
    }
    format_ = kind(path)
    if format_ not in readers:
        raise ValueError(f"{path}: a matrix is read from .npy, .mtx, .csv or .json, got {format_}")
    values = readers[format_](path)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.dtype.kind not in "fiu":
        got = f"{values.dtype} of shape {values.shape}"
        raise ValueError(f"{path}: a matrix needs real numbers, as many rows as columns, got {got}")
    entries: Any = values.data if isinstance(values, sparse.csr_array) else values
    if np.isnan(entries).any():
        raise ValueError(f"{path}: the matrix holds NaN: write inf for pairs that are not compared")
    if format_ == ".json":
        return Matrix(values, "PAE", "Å")
    return Matrix(values)


def holds_matrix(path: Path) -> bool:
    """Return whether a file holds a matrix: of tables, those that are square and without names."""
    if kind(path) == ".npy" and path.is_file():
        return open_npy(path).ndim <= 2
    if kind(path) in TABLES and path.is_file():
        lines, separator, _ = table_lines(path)
        fields = lines[0].split(separator.strip() or None)
        return is_number(fields[0]) and len(fields) == len(lines)
    return kind(path) in {".json", ".mtx"}


def is_labelled(table: Any) -> bool:
    """Return whether a table of pandas has the same labels on both sides, as matrices have."""
    both = hasattr(table, "columns") and hasattr(table, "index")
    return both and list(table.columns) == list(table.index)


def _read_market(path: Path) -> Any:
    """Entries of a Matrix Market file; SciPy checks that they are as many as it announces."""
    data = read_bytes(path)
    try:
        n_rows, _, n_entries, *_ = mminfo(io.BytesIO(data))
        if max(n_rows, n_entries) > len(data):
            raise ValueError(f"it announces {n_rows:,} rows, {n_entries:,} entries")  # noqa: TRY301
        if b"," in data or not data.endswith(b"\n"):  # SciPy reads 0,5 as 0
            raise ValueError("it has commas, or its last line has no end")  # noqa: TRY301
        matrix = mmread(io.BytesIO(data), spmatrix=False)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path}: not a Matrix Market file: {one_line(error)}") from None
    return matrix.tocsr() if sparse.issparse(matrix) else matrix


def _read_rows(path: Path) -> Floats:
    """Rows of a table; names above the columns and beside the rows are left out."""
    lines, separator, _ = table_lines(path)
    sign = None if separator == " " else separator
    above, width = [field.strip(' "') for field in lines[0].split(sign)], len(lines[-1].split(sign))
    has_names = not is_number(above[0]) and not (is_number(above[-1]) and float(above[-1]) % 1)
    # pandas leaves the corner blank, R leaves it out.
    beside = int(has_names and (not above[0] or len(above) == width - 1))
    rows = lines[has_names:]
    try:
        return np.loadtxt(
            rows, delimiter=sign, usecols=range(beside, width), ndmin=2, comments=None
        )
    except ValueError as error:
        raise ValueError(f"{path}: not a matrix of numbers: {one_line(error)}") from None


def _read_aligned_errors(path: Path) -> Floats:
    """Predicted aligned errors in any of the three layouts of AlphaFold's JSON files."""
    import pandas as pd

    try:
        content = json.loads(read_bytes(path))
        content = content[0] if isinstance(content, list) else content
        if set(_PAIRS) <= content.keys():
            pairs = pd.DataFrame({name: content[name] for name in _PAIRS})
            rows: Any = pairs.pivot(index=_PAIRS[0], columns=_PAIRS[1])  # noqa: PD010, no mean
        else:
            rows = content["pae" if "pae" in content else "predicted_aligned_error"]
        matrix = np.array(rows, np.float64).reshape(len(rows), len(rows))
        # The error of i aligned on j is not that of j on i: two parts are as loose as the worse.
        matrix = np.asarray(np.maximum(matrix, matrix.T))
        np.fill_diagonal(matrix, 0.0 * matrix.diagonal())
    except Exception as error:  # noqa: BLE001, the file may hold anything else
        names = "'predicted_aligned_error', 'pae', or 'residue1', 'residue2' and 'distance'"
        fault = f"not a JSON file of aligned errors ({names}): {one_line(error)}"
        raise ValueError(f"{path}: {fault}") from None
    return matrix
