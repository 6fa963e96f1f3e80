"""Frames with holes: zeros where nobody wrote coordinates."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import trajectory_positions, waters, write_pdb, write_trajectory
from timme._arrays import Coordinates
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
