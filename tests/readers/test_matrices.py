"""Ready-made matrices."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from timme.readers import read_matrix

SYMMETRIC = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
ALIGNED = [[0.2, 1.0, 3.0], [0.5, 0.3, 2.0], [2.0, 1.5, 0.1]]


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", SYMMETRIC)
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.npy"), SYMMETRIC)


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_matrix_market_keeps_to_the_listed_pairs(tmp_path: Path, suffix: str) -> None:
    plain = tmp_path / "plain.mtx"
    sparse = scipy.sparse.coo_array(
        ([1.0, 1.0, 2.0, 2.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3)
    )
    scipy.io.mmwrite(plain, sparse)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(
        gzip.compress(plain.read_bytes()) if suffix.endswith("gz") else plain.read_bytes()
    )
    matrix = read_matrix(path)
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.nnz == 4
    np.testing.assert_array_equal(matrix.toarray(), sparse.toarray())


def test_dense_matrix_market(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", SYMMETRIC)
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.mtx"), SYMMETRIC)


@pytest.mark.parametrize(
    "content",
    [
        [{"predicted_aligned_error": ALIGNED, "max_predicted_aligned_error": 31.75}],
        {"predicted_aligned_error": ALIGNED},
        {"pae": ALIGNED, "atom_plddts": []},
        [
            {
                "residue1": [i + 1 for i in range(3) for _ in range(3)],
                "residue2": [j + 1 for _ in range(3) for j in range(3)],
                "distance": [value for row in ALIGNED for value in row],
            }
        ],
    ],
    ids=["database", "plain", "pae", "pairs"],
)
def test_aligned_errors_are_the_larger_of_both_directions(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    np.testing.assert_array_equal(read_matrix(path), SYMMETRIC)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "not a JSON file"),
        ("a.json", "[]", "no predicted aligned error"),
        ("a.json", '{"pae": [[1, 2], [3]]}', "rows of numbers"),
        (
            "a.json",
            '{"residue1": [1], "residue2": [2], "distance": [1]}',
            "every pair of 2 residues",
        ),
        ("a.mtx", "hello", "not a MatrixMarket file"),
        ("a.npy", "hello", "not an array of numbers"),
        ("a.txt", "1", r"needs the form \.npy, \.mtx or \.json"),
        ("a.json", "", "is empty"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_matrix(path)


@pytest.mark.parametrize("sign", ["\0", "0,5", "\xff", "x"], ids=["zero", "comma", "high", "x"])
@pytest.mark.parametrize("place", ["0.25", "2 1"], ids=["value", "place"])
def test_a_market_file_with_other_signs_is_refused(tmp_path: Path, sign: str, place: str) -> None:
    """At a zero byte the parser ends the process, and 0,5 is 0 for it."""
    text = "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 2\n2 1 0.25\n3 2 0.75\n"
    path = tmp_path / "a.mtx"
    path.write_bytes(text.replace(place, sign).encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.mtx: line 4: numbers with decimal points"):
        read_matrix(path)


def test_zero_bytes_in_the_title_of_a_market_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(b"%%MatrixMarket matrix\0coordinate real symmetric\n2 2 1\n2 1 0.25\n")
    with pytest.raises(ValueError, match=r"a\.mtx: line 1"):
        read_matrix(path)
