"""Invariants of the systems that come with the package."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from timme import data
from timme.ensemble import Ensemble


def test_every_file_is_the_one_that_its_record_describes() -> None:
    files = {
        name: each for record in data.records().values() for name, each in record["files"].items()
    }
    for name, each in files.items():
        content = data.path(name).read_bytes()
        assert len(content) == each["bytes"], name
        assert hashlib.sha256(content).hexdigest() == each["sha256"], name
    assert {path.suffix for path in map(data.path, files)} == {".pdb", ".xtc", ".npz", ".csv"}


def test_other_files_are_refused_with_the_names_of_all() -> None:
    with pytest.raises(ValueError, match=r"crowd\.csv.*got 'other\.csv'"):
        data.path("other.csv")


@pytest.mark.parametrize(
    ("system", "shape", "unit", "periodic"),
    [
        (data.kinase, (150, 1656, 3), "Å", 0),
        (data.barnase_md, (250, 1700, 3), "Å", 0),
        (partial(data.barnase_md, dense=True), (100, 1700, 3), "Å", 0),
        (data.water_drop, (200, 1000, 3), "Å", 0),
        (partial(data.water_drop, dense=True), (100, 3000, 3), "Å", 0),
        (data.spheres, (46, 991, 3), "µm", 2),
        (partial(data.spheres, fluid=True, noisy=True), (46, 991, 3), "µm", 2),
        (data.crowd, (120, 60, 2), "m", 0),
        (data.ring_road, (120, 32, 1), "m", 1),
    ],
)
def test_systems_have_their_shape_unit_and_periodic_directions(
    system: Callable[[], Ensemble], shape: tuple[int, ...], unit: str, periodic: int
) -> None:
    found = system()
    assert found.frames.shape == shape
    assert found.unit == unit
    boxes = found.frames.read(0, 1)[1]
    assert (0 if boxes is None else np.linalg.matrix_rank(boxes[0])) == periodic
