"""Parity and invariants of ready-made matrices: NumPy, Matrix Market, tables, AlphaFold."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

import timme
from tests.io.builders import written
from timme.io.matrices import read_matrix

SYMMETRIC = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
MARKET = "%%MatrixMarket matrix coordinate real general\n"
ROWS = [1, 1, 1, 2, 2, 2, 3, 3, 3]
ALIGNED = [[0.2, 1.0, 3.0], [0.5, 0.3, 2.0], [2.0, 1.5, 0.1]]


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npy", npy(SYMMETRIC)),
        ("a.npy", npy(SYMMETRIC.astype(np.float32))),
        ("a.csv", "0,1,3\n1,0,2\n3,2,0"),
        ("a.txt", "0 1 3\n1 0 2\n3 2 0\n"),
        ("a.tsv", "0\t1\t3\n1\t0\t2\n3\t2\t0\n"),
        ("a.csv", pd.DataFrame(SYMMETRIC).to_csv()),
        ("a.csv", pd.DataFrame(SYMMETRIC, list("abc"), list("abc")).to_csv()),
        ("a.csv", pd.DataFrame(SYMMETRIC, columns=list("abc")).to_csv(index=False)),
        ("a.txt", "a b c\na 0 1 3\nb 1 0 2\nc 3 2 0\n"),
        ("a.csv", '"","a","b","c"\n"a",0,1,3\n"b",1,0,2\n"c",3,2,0\n'),  # of R
        ("a.txt", "# of numpy.savetxt\n0 1 3\n1 0 2\n3 2 0\n"),
    ],
)
def test_a_matrix_is_read_from_any_form(name: str, data: str | bytes, tmp_path: Path) -> None:
    path = written(tmp_path, data, name)
    found = read_matrix(path)
    np.testing.assert_array_equal(found.values, SYMMETRIC)
    assert (found.symbol, found.unit) == ("", "")
    assert timme.io.holds_matrix(path) == (data[:1] in {b"\x93", "0", "#"})


@pytest.mark.parametrize("packed", [False, True])
def test_pairs_that_a_matrix_market_file_does_not_list_are_not_compared(
    packed: bool, tmp_path: Path
) -> None:
    expected = SYMMETRIC * (SYMMETRIC != 2.0)
    stream = io.BytesIO()
    mmwrite(stream, sparse.coo_array(expected), symmetry="symmetric")
    data = gzip.compress(stream.getvalue()) if packed else stream.getvalue()
    found = read_matrix(written(tmp_path, data, "a.mtx" + ".gz" * packed)).values
    assert isinstance(found, sparse.csr_array)
    assert found.nnz == 4  # both of 0-1 and of 0-2
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize(
    "content",
    [
        [{"predicted_aligned_error": ALIGNED, "max_predicted_aligned_error": 31.75}],
        {"pae": ALIGNED, "atom_plddts": []},
        [{"residue1": ROWS, "residue2": [1, 2, 3] * 3, "distance": np.ravel(ALIGNED).tolist()}],
    ],
    ids=["database", "pae", "pairs"],
)
def test_aligned_errors_are_the_larger_of_both_directions(content: Any, tmp_path: Path) -> None:
    found = read_matrix(written(tmp_path, json.dumps(content), "a.json"))
    np.testing.assert_array_equal(found.values, SYMMETRIC)
    assert (found.symbol, found.unit) == ("PAE", "Å")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.npy", npy(np.arange(6.0).reshape(2, 3)), "as many rows as columns"),
        ("a.npy", npy(SYMMETRIC * np.nan), "holds NaN: write inf"),
        ("a.csv", "0,x\n1,0\n", "not a matrix of numbers"),
        ("a.csv", ",1.5,3.5\n1.5,0,2\n3.5,2,0\n", "not a matrix of numbers"),  # no names
        ("a.npy", b"PK\x03\x04" + bytes(100), "not an array of real numbers"),  # of numpy.savez
        ("a.json", "{", "not a JSON file"),
        ("a.json", "[" * 100_000, "not a JSON file"),
        ("a.json", "[]", "'predicted_aligned_error', 'pae'"),
        ("a.json", '{"residue1": [1, 2], "residue2": [1, 2], "distance": [2, 3]}', "holds NaN"),
        ("a.json", '{"pae": [[1, 2]]}', "not a JSON file of aligned errors"),
        ("a.mtx", MARKET + "3 3 2\n1 2 0.5\n", "Expected another 1"),
        ("a.mtx", MARKET + "1 1 1\n1 1 0,5\n", "commas"),
        ("a.mtx", MARKET + "2000000000 2000000000 1\n1 2 0.5\n", "announces 2,000,000,000 rows"),
        ("a.mtx", MARKET.replace("coordinate", "array") + "60000 60000\n1\n", "60,000 rows"),
        ("a.mtx", "1 2 0.5\n", "not a Matrix Market file"),
        ("a.json", '{"pae": [[1, 2], [3]]}', "not a JSON file of aligned errors"),
        ("a.xyz", "1", r"from \.npy, \.mtx, \.csv or \.json, got \.xyz"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    name: str, data: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_matrix(written(tmp_path, data, name))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
