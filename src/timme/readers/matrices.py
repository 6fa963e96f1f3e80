"""Ready-made matrices: numpy files, MatrixMarket, and the predicted aligned errors of AlphaFold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from timme._arrays import Floats
from timme.readers.files import checked_file, kind, one_line, read_bytes

_NUMERIC = b"0123456789+-.eE \tinfatyINFATY"  # bytes of numbers, inf and nan among them
_ALIGNED = {"symbol": "PAE", "words": "predicted aligned error", "unit": "Å"}  # of AlphaFold's JSON


@dataclass(frozen=True, slots=True, eq=False)
class GivenMatrix:
    """A ready-made matrix, and what is known of its entries from the kind of the file."""

    values: Any  # ndarray or scipy.sparse.csr_array, shape (sites, sites)
    symbol: str = ""  # nothing where the file does not tell: then it is taken for σ
    words: str = ""
    unit: str = ""


def read_matrix(path: str | Path) -> Any:
    """Read a symmetric matrix of σ, or of anything else that is small for what moves together.

    Parameters
    ----------
    path : path
        ``.npy``; MatrixMarket (``.mtx``, also ``.gz``), in which pairs that are not listed are not
        compared; or the JSON file of AlphaFold's predicted aligned error.

    Returns
    -------
    ndarray or scipy.sparse.csr_array, shape (sites, sites)
        The matrix. The two directions of an aligned error are replaced by the larger.
    """
    return read_given(path).values


def read_given(path: str | Path) -> GivenMatrix:
    """Read a symmetric matrix, and say what its entries are where the kind of the file tells.

    Parameters
    ----------
    path : path
        As for :func:`read_matrix`.

    Returns
    -------
    GivenMatrix
        The matrix; predicted aligned errors have their own symbol, and are in Å.
    """
    path = checked_file(path)
    readers = {".npy": _from_npy, ".mtx": _from_market, ".mm": _from_market, ".json": _from_json}
    if kind(path) not in readers:
        raise ValueError(
            f"{path}: a matrix needs the form .npy, .mtx or .json, "
            f"got {path.suffix or 'no extension'}"
        )
    matrix = readers[kind(path)](path)
    values = matrix.data if isinstance(matrix, sparse.csr_array) else matrix
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(f"{path}: the matrix holds NaN: write inf for pairs that are not compared")
    return GivenMatrix(matrix, **(_ALIGNED if kind(path) == ".json" else {}))


def _from_npy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(
            f"{path}: not an array of numbers ({one_line(error)}): save it with numpy.save as float"
        ) from None


def _from_market(path: Path) -> Any:
    import io

    from scipy.io import mmread

    data = read_bytes(path)
    if data.startswith(b"%%MatrixMarket"):
        _refuse_other_signs(data, path)
    try:
        matrix = mmread(io.BytesIO(data), spmatrix=False)
    except (ValueError, OverflowError, StopIteration) as error:
        raise ValueError(f"{path}: not a MatrixMarket file ({one_line(error)})") from None
    return matrix.tocsr() if hasattr(matrix, "tocsr") else matrix


def _refuse_other_signs(data: bytes, path: Path) -> None:
    """Refuse what is no number, at which the parser would end the process, or read 0,5 as 0."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        odd = b"\0" in line if line.startswith(b"%") else line.translate(None, _NUMERIC)
        if odd:
            shown = line[:40].decode("latin-1").replace("\0", "?")
            raise ValueError(
                f"{path}: line {number}: numbers with decimal points are needed, got {shown!r}: "
                "write the file again"
            )


def _from_json(path: Path) -> Floats:
    try:
        content = json.loads(read_bytes(path))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a JSON file ({error})") from None
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    if not isinstance(content, dict):
        content = {}
    for name in ("predicted_aligned_error", "pae"):
        if name in content:
            matrix = _numbers(content[name], path, name)
            break
    else:
        if not {"distance", "residue1", "residue2"} <= content.keys():
            raise ValueError(
                f"{path}: no predicted aligned error was found: "
                "the file needs 'predicted_aligned_error', 'pae', "
                "or 'residue1', 'residue2' and 'distance'"
            )
        matrix = _from_pairs(content, path)
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]:
        # The error of i aligned on j is not that of j on i: two parts are as loose as the worse.
        matrix = np.maximum(matrix, matrix.T)
        np.fill_diagonal(matrix, 0.0)
    return matrix


def _from_pairs(content: dict[str, Any], path: Path) -> Floats:
    first, second, distances = (
        _numbers(content[name], path, name) for name in ("residue1", "residue2", "distance")
    )
    if first.ndim != 1 or not first.shape == second.shape == distances.shape or not first.size:
        raise ValueError(
            f"{path}: 'residue1', 'residue2' and 'distance' need the same number of values"
        )
    size = int(max(first.max(), second.max()))
    if min(first.min(), second.min()) < 1 or len(first) != size * size:
        raise ValueError(
            f"{path}: every pair of {size} residues is needed once, got {len(first)} pairs"
        )
    matrix = np.zeros((size, size))
    matrix[first.astype(np.int64) - 1, second.astype(np.int64) - 1] = distances
    return matrix


def _numbers(values: Any, path: Path, name: str) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(f"{path}: {name!r} must be rows of numbers, all of one length") from None
