"""Parity and invariants of ready-made matrices: NumPy, tables, AlphaFold."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.io.builders import written
from timme.io.tables import read_matrix

SYMMETRIC = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
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
    ],
)
def test_a_matrix_is_read_from_any_form(name: str, data: str | bytes, tmp_path: Path) -> None:
    found = read_matrix(written(tmp_path, data, name))
    np.testing.assert_array_equal(found.values, SYMMETRIC)
    assert (found.symbol, found.unit) == ("", "")


@pytest.mark.parametrize(
    "content",
    [
        [{"predicted_aligned_error": ALIGNED, "max_predicted_aligned_error": 31.75}],
        {"pae": ALIGNED, "atom_plddts": []},
    ],
    ids=["database", "pae"],
)
def test_aligned_errors_are_the_larger_of_both_directions(content: Any, tmp_path: Path) -> None:
    found = read_matrix(written(tmp_path, json.dumps(content), "a.json"))
    np.testing.assert_array_equal(found.values, SYMMETRIC)
    assert (found.symbol, found.words, found.unit) == ("PAE", "predicted aligned error", "Å")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.npy", npy(np.arange(6.0).reshape(2, 3)), "as many rows as columns"),
        ("a.npy", npy(SYMMETRIC * np.nan), "holds NaN: write inf"),
        ("a.npy", npy(SYMMETRIC) + b"more", "header announces"),
        ("a.csv", "0,1,2\n1,0,2\n", "as many rows as columns"),
        ("a.csv", "0,1\n1\n", "not a matrix of numbers|as many rows"),
        ("a.csv", "0,x\n1,0\n", "not a matrix of numbers"),
        ("a.json", "{", "not a JSON file"),
        ("a.json", "[" * 100_000, "not a JSON file"),
        ("a.json", "[]", "'predicted_aligned_error' or 'pae'"),
        ("a.json", '{"pae": [[1, 2], [3]]}', "not a JSON file of aligned errors"),
        ("a.xyz", "1", r"from \.npy, \.csv or \.json, got \.xyz"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    name: str, data: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_matrix(written(tmp_path, data, name))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
