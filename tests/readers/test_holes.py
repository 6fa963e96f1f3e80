"""Frames with holes: zeros where nobody wrote coordinates."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import MakeUniverse
from tests.readers.builders import trajectory_positions, waters, write_pdb, write_trajectory
from timme._arrays import Coordinates
from timme.mdanalysis import CoMovingClusters
from timme.readers import read

N_FRAMES, N_ATOMS = 9, 12
FORMATS = ["xtc", "trr", "dcd", "nc"]


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "top.pdb", [waters(4)])


def moving() -> Coordinates:
    """Positions that no two atoms share and that are on no lattice of whole numbers."""
    return trajectory_positions(N_FRAMES, N_ATOMS) + np.float32(0.5) / 10 + np.float32(20)


def measured(topology: Path, path: Path, **options: object) -> Coordinates:
    return read(topology, path, **options).coordinates()  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("frame", [0, 2, 4, 8])
@pytest.mark.parametrize("count", [2, N_ATOMS])
def test_a_frame_with_several_atoms_at_the_origin_is_named(
    tmp_path: Path, topology: Path, suffix: str, frame: int, count: int
) -> None:
    positions = moving()
    positions[frame, N_ATOMS - count :] = 0
    path = write_trajectory(tmp_path / f"a.{suffix}", positions)
    expected = rf"a\.{suffix}: frame {frame + 1} has {count} of 12 atoms at exactly \(0, 0, 0\)"
    with pytest.raises(ValueError, match=expected + ".*start=, stop=") as caught:
        measured(topology, path)
    assert "\n" not in str(caught.value)


def test_frames_before_and_after_a_hole_can_be_chosen(tmp_path: Path, topology: Path) -> None:
    positions = moving()
    positions[3, 4:] = 0
    path = write_trajectory(tmp_path / "a.trr", positions)
    before, after = measured(topology, path, stop=3), measured(topology, path, start=4)
    np.testing.assert_allclose(before, positions[:3], atol=2e-3)
    np.testing.assert_allclose(after, positions[4:], atol=2e-3)


def test_frames_that_were_laid_out_and_never_written_are_found(
    tmp_path: Path, topology: Path
) -> None:
    positions = moving()
    positions[2:] = 0
    path = write_trajectory(tmp_path / "a.nc", positions)
    with pytest.raises(ValueError, match="frame 3 has 12 of 12 atoms"):
        measured(topology, path)
    assert len(measured(topology, path, stop=2)) == 2


def test_holes_of_atoms_that_do_not_count_are_no_holes(tmp_path: Path, topology: Path) -> None:
    positions = moving()
    positions[5, 3:] = 0
    path = write_trajectory(tmp_path / "a.dcd", positions)
    chosen = measured(topology, path, select="resid 1")
    np.testing.assert_array_equal(chosen, positions[:, :3])
    with pytest.raises(ValueError, match="frame 6 has 3 of 6 atoms"):
        measured(topology, path, select="resid 1 2")


def test_other_processes_know_holes_too(tmp_path: Path, topology: Path) -> None:
    positions = moving()
    positions[5, 3:] = 0
    frames = read(topology, write_trajectory(tmp_path / "a.dcd", positions)).frames
    with pytest.raises(ValueError, match="frame 6 has 9 of 12"):
        pickle.loads(pickle.dumps(frames)).read(0, N_FRAMES)


@pytest.mark.parametrize("suffix", FORMATS)
def test_one_atom_may_lie_at_the_origin_and_several_always(
    tmp_path: Path, topology: Path, suffix: str
) -> None:
    positions = moving()
    positions[:, 9:] = 0
    positions[4, 1] = 0
    path = write_trajectory(tmp_path / f"a.{suffix}", positions)
    np.testing.assert_allclose(measured(topology, path), positions, atol=2e-3)


@pytest.mark.parametrize("kind", ["lattice", "line", "plane"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_particles_of_a_lattice_a_line_or_a_plane_may_meet_at_the_origin(
    tmp_path: Path, suffix: str, kind: str
) -> None:
    positions = moving()
    if kind == "lattice":
        positions = np.round(positions)
    else:
        positions[..., 1 if kind == "line" else 2 :] = 0
    positions[3, :4] = 0
    path = write_trajectory(tmp_path / f"a.{suffix}", positions)
    np.testing.assert_allclose(read(path).coordinates(), positions, atol=2e-3)


def test_walkers_of_a_text_may_start_at_the_origin(tmp_path: Path) -> None:
    positions = moving()
    positions[0, :8] = 0
    path = write_trajectory(tmp_path / "a.xyz", positions)
    np.testing.assert_allclose(read(path, bonds="none").coordinates(), positions, atol=2e-3)


def in_memory(positions: Coordinates, make_universe: MakeUniverse, kind: str) -> Any:
    """The same snapshots as a user has them, atoms by name or points without any."""
    if kind == "universe":
        return make_universe(positions, names=["C"] * N_ATOMS, resnames=["LIG"] * N_ATOMS)
    if kind == "ase":
        return [_AseAtoms(places) for places in positions]
    return positions


class _AseAtoms:
    """What of ASE's Atoms is looked at."""

    def __init__(self, places: Coordinates) -> None:
        self._places, self.cell, self.pbc = places, np.zeros((3, 3)), np.zeros(3, bool)

    def get_positions(self) -> Coordinates:
        return self._places

    def get_chemical_symbols(self) -> list[str]:
        return ["Ar"] * len(self._places)


@pytest.mark.parametrize("frame", [1, 4, 8])
@pytest.mark.parametrize(
    ("kind", "count", "name"),
    [
        ("universe", 2, "Universe: frame {} has 2 of 12 atoms"),
        ("ase", 2, "frame {} has 2 of 12 atoms"),
        ("array", N_ATOMS, "array: frame {} has 12 of 12 points"),
        ("array", 6, "array: frame {} has 6 of 12 points"),
    ],
)
def test_holes_in_memory_are_named_as_those_of_files(
    make_universe: MakeUniverse, kind: str, count: int, name: str, frame: int
) -> None:
    positions = moving()
    positions[frame, N_ATOMS - count :] = 0
    source = in_memory(positions, make_universe, kind)
    words = rf"{name.format(frame + 1)} at exactly \(0, 0, 0\).*start=, stop="
    with pytest.raises(ValueError, match=words):
        read(source, bonds="none").coordinates()
    before = read(source, bonds="none", stop=frame).coordinates()
    np.testing.assert_allclose(before, positions[:frame], atol=1e-5)


def test_an_array_that_was_never_filled_to_its_end_is_told(tmp_path: Path) -> None:
    positions = moving()[..., :2]
    positions[6:] = 0
    with pytest.raises(ValueError, match=r"array: frame 7 has 12 of 12 points at exactly \(0, 0\)"):
        read(positions)
    np.save(tmp_path / "a.npy", positions)
    with pytest.raises(ValueError, match=r"a\.npy: frame 7 has 12 of 12 points"):
        read(tmp_path / "a.npy").coordinates()
    assert len(read(tmp_path / "a.npy", stop=6).coordinates()) == 6


@pytest.mark.parametrize("dimensions", [1, 2, 3, 10])
def test_points_may_start_at_the_origin_and_meet_there(dimensions: int) -> None:
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(20, 8, dimensions))
    steps[0] = 0
    walkers = np.cumsum(steps, axis=0)
    walkers[7, :3] = 0  # as in a corner
    np.testing.assert_array_equal(read(walkers).coordinates(), walkers)


def test_holes_are_seen_in_an_analysis_of_a_universe(make_universe: MakeUniverse) -> None:
    positions = moving()
    positions[5, 3:] = 0
    universe = make_universe(positions, names=["C"] * N_ATOMS, resnames=["LIG"] * N_ATOMS)
    run = CoMovingClusters(universe, objects="points", pairs="all")
    with pytest.raises(ValueError, match="Universe: frame 6 has 9 of 12 atoms"):
        run.run()
