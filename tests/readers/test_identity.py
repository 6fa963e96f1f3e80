"""Atoms that come in another order from frame to frame, in every format that lets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.readers.texts import (
    KEPT,
    N_FRAMES,
    NAMED,
    NAMES,
    NUMBERED,
    PLACES,
    SHUFFLED,
    as_numbered_xyz,
)
from timme._arrays import Floats
from timme.readers import read


def coordinates(path: Path, **options: Any) -> Floats:
    return np.asarray(read(path, bonds="none", **options).frames.read(0, N_FRAMES)[0])


@pytest.mark.parametrize("kind", NUMBERED)
def test_atoms_with_ids_are_brought_into_one_order(tmp_path: Path, kind: str) -> None:
    suffix, write = NUMBERED[kind]
    path = write(tmp_path / f"a.{suffix}", PLACES, SHUFFLED)
    np.testing.assert_allclose(
        np.diff(coordinates(path), axis=0), np.diff(PLACES, axis=0), atol=1e-5
    )
    if kind == "extxyz":
        assert read(path, bonds="none").atoms.names.tolist() == NAMES


@pytest.mark.parametrize("kind", NAMED)
def test_atoms_whose_names_come_in_another_order_are_refused(tmp_path: Path, kind: str) -> None:
    suffix, write = NAMED[kind]
    kept = write(tmp_path / f"kept.{suffix}", PLACES, KEPT)
    np.testing.assert_allclose(
        np.diff(coordinates(kept), axis=0), np.diff(PLACES, axis=0), atol=1e-5
    )
    swapped = [*KEPT[:2], [0, 3, 2, 1, 4, 5], *KEPT[3:]]
    path = write(tmp_path / f"a.{suffix}", PLACES, swapped)
    ensemble = read(path, bonds="none")
    with pytest.raises(ValueError, match=rf"a\.{suffix}: frame 3 .*its atom 2 is .* first frame"):
        ensemble.frames.read(0, N_FRAMES)


@pytest.mark.parametrize("kind", ["xyz", "gro"])
def test_files_whose_atoms_come_in_another_order_are_refused(tmp_path: Path, kind: str) -> None:
    suffix, write = NAMED[kind]
    one = write(tmp_path / f"a.{suffix}", PLACES, KEPT)
    two = write(tmp_path / f"b.{suffix}", PLACES, [SHUFFLED[0]] * N_FRAMES)
    with pytest.raises(ValueError, match=rf"b\.{suffix}: its atoms are not those of .*a\.{suffix}"):
        read(one, [one, two], bonds="none")


def test_ids_that_are_there_twice_or_are_others_are_refused(tmp_path: Path) -> None:
    path = as_numbered_xyz(tmp_path / "a.extxyz", PLACES, KEPT)
    text = path.read_text()
    head, tail = text.rsplit(" 55\n", 1)
    path.write_text(f"{head} 56\n{tail}")
    with pytest.raises(ValueError, match=r"a\.extxyz: frame 4 .*first frame: see id 55"):
        coordinates(path)
    path.write_text(text.replace(" 55\n", " 45\n"))
    with pytest.raises(ValueError, match=r"a\.extxyz: .*atom 45 is there twice"):
        coordinates(path)


def test_positions_of_two_columns_lie_in_a_plane(tmp_path: Path) -> None:
    """What stands in the next column is no height."""
    path = tmp_path / "a.extxyz"
    rows = ["X 1.0 2.0 7.5", "X 3.0 5.0 8.5"]
    path.write_text("\n".join(["2", "Properties=species:S:1:pos:R:2:mass:R:1", *rows] * 2) + "\n")
    assert read(path).snapshot(0)[0].tolist() == [[1.0, 2.0, 0.0], [3.0, 5.0, 0.0]]
