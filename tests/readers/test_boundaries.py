"""Directions in which space is open, of files that MDAnalysis takes for periodic in all."""

from __future__ import annotations

from pathlib import Path

import MDAnalysis
import numpy as np
import pytest

import timme
from tests.readers.test_lammps import LENGTHS, dump_text
from timme._arrays import Coordinates

pytestmark = pytest.mark.filterwarnings("ignore")  # MDAnalysis guesses masses and times

PLACES = np.random.default_rng(3).uniform(0, 10, size=(5, 8, 3))
CELL = np.diag([10.0, 9.5, 11.0])


def numbers(row: Coordinates) -> str:
    return "".join(f"{value:20.10f}" for value in row)


def write_history(path: Path, boundary: int) -> Path:
    """Write a HISTORY file of DL_POLY, always with a cell."""
    count = len(PLACES[0])
    lines = ["title", f"{0:10d}{boundary:10d}{count:10d}"]
    for step, frame in enumerate(PLACES):
        lines.append(f"timestep{step:10d}{count:10d}{0:10d}{boundary:10d}   0.001")
        lines += map(numbers, CELL)
        for atom, place in enumerate(frame):
            lines += [f"{'Ar':8s}{atom + 1:10d}{39.9:12.6f}{0:12.6f}", numbers(place)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_config(path: Path, boundary: int, places: Coordinates) -> Path:
    cell = map(numbers, CELL if boundary else ())
    lines = ["title", f"{0:10d}{boundary:10d}{len(places):10d}", *cell]
    for atom, place in enumerate(places):
        lines += [f"{'Ar':8s}{atom + 1:10d}", numbers(place)]
    path.write_text("\n".join(lines) + "\n")
    return path


WALLS = {0: (0, 0, 0), 1: (1, 1, 1), 2: (1, 1, 1), 3: (1, 1, 1), 6: (1, 1, 0)}


@pytest.mark.parametrize("boundary", WALLS)
def test_a_slab_of_dlpoly_is_open_along_z(tmp_path: Path, boundary: int) -> None:
    path = write_history(tmp_path / "HISTORY", boundary)
    universe = MDAnalysis.Universe(path, format="HISTORY", topology_format="HISTORY")
    config = write_config(tmp_path / "CONFIG", boundary, PLACES[0])
    expected = CELL * np.array(WALLS[boundary])[:, None]
    for sources in [(path,), (universe,), (config, path), (config,)]:
        boxes = timme.read(*sources, bonds="none").frames.read(0, 1)[1]
        found = np.zeros((3, 3)) if boxes is None else boxes[0]
        np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("boundary", [4, 5, 7])
def test_cells_of_dlpoly_that_are_no_parallelepipeds_are_refused(
    tmp_path: Path, boundary: int
) -> None:
    path = write_history(tmp_path / "HISTORY", boundary)
    config = write_config(tmp_path / "CONFIG", boundary, PLACES[0])
    universe = MDAnalysis.Universe(path, format="HISTORY", topology_format="HISTORY")
    for source in (path, config, universe):
        with pytest.raises(ValueError, match=rf"\(imcon {boundary}\), which is not read: write"):
            timme.read(source)


@pytest.mark.parametrize("flags", ["pp ff pp", "fm pp ss", "ff ff ff", "pp pp pp"])
def test_a_universe_of_a_dump_is_open_where_its_file_is(tmp_path: Path, flags: str) -> None:
    path = tmp_path / "a.lammpstrj"
    path.write_text(dump_text(PLACES, bounds=flags))
    kind = "LAMMPSDUMP"
    universe = MDAnalysis.Universe(path, format=kind, topology_format=kind)
    box = timme.read(universe).snapshot()[1]
    expected = LENGTHS * [flag == "pp" for flag in flags.split()]
    np.testing.assert_allclose(np.zeros((3, 3)) if box is None else box, np.diag(expected))


def test_files_of_a_universe_that_differ_in_open_directions_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path / "a.lammpsdump", tmp_path / "b.lammpsdump"]
    for path, flags in zip(paths, ("pp pp pp", "pp ff pp"), strict=True):
        path.write_text(dump_text(PLACES, bounds=flags))
    universe = MDAnalysis.Universe(paths[0], [str(path) for path in paths])
    with pytest.raises(ValueError, match="periodic in different directions: read them one by one"):
        timme.read(universe)


# A cell of which no vector points along an axis, as an engine may write after a turn.
TURNED = np.array([[6.0, 8.0, 0.0], [-7.0, 5.0, 3.0], [1.0, -2.0, 11.0]])


def turned_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr("tests.readers.test_boundaries.CELL", TURNED)
    config = write_config(folder / "CONFIG", 3, PLACES[0])
    return write_history(folder / "HISTORY", 3), config


def test_a_cell_of_dlpoly_may_point_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, config = turned_files(tmp_path, monkeypatch)
    universe = MDAnalysis.Universe(path, format="HISTORY", topology_format="HISTORY")
    shifts = np.array(list(np.ndindex(7, 7, 7))) - 3
    between = PLACES[:, 1] - PLACES[:, 0]
    images = between[:, None] + shifts @ TURNED
    nearest = np.linalg.norm(images, axis=2).min(axis=1)
    for sources in [(path,), (universe,), (config, path)]:
        ensemble = timme.read(*sources, bonds="none")
        objects = timme.objects.points(ensemble)
        found = timme.measure(objects, timme.pairs.all(objects)).sigma[0]
        assert found == pytest.approx(nearest.std(), rel=1e-6)


def test_files_of_dlpoly_in_a_list_keep_their_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, config = turned_files(tmp_path, monkeypatch)
    last = write_config(tmp_path / "REVCON", 3, PLACES[1])
    places, boxes = timme.read([config, last], bonds="none").frames.read(0, 2)
    np.testing.assert_allclose(places, PLACES[:2], atol=1e-9)
    assert boxes is not None
    np.testing.assert_allclose(boxes[0], boxes[1])
    shifts = np.linalg.solve(TURNED.T, boxes[0].T)  # another basis of the same lattice
    np.testing.assert_allclose(shifts, np.rint(shifts), atol=1e-9)
    assert abs(np.linalg.det(shifts)) == pytest.approx(1.0)


@pytest.mark.parametrize("cut", [5, 30, 200])
def test_a_history_that_is_cut_off_is_told_and_used_as_far_as_it_goes(
    tmp_path: Path, cut: int
) -> None:
    path = write_history(tmp_path / "HISTORY", 1)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(ValueError, match="allow_truncated=True goes on with the 4 whole frames"):
        timme.read(path)
    ensemble = timme.read(path, allow_truncated=True, bonds="none")
    np.testing.assert_allclose(ensemble.coordinates(), PLACES[:4], atol=1e-9)
    assert [ensemble.frames.time(frame) for frame in range(4)] == [0.0, 0.001, 0.002, 0.003]


def test_a_config_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path / "CONFIG", 1, PLACES[0])
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ValueError, match="CONFIG: it is cut off after"):
        timme.read(path)
