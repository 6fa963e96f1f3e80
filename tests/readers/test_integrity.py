"""Trajectories that are cut off or damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import trajectory_positions, waters, write_pdb, write_trajectory
from timme.readers import read
from timme.readers.integrity import layout

FORMATS = ["xtc", "trr", "dcd", "nc"]
N_ATOMS = 12


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "top.pdb", [waters(4)])


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("n_atoms", [3, 9, 10, 12, 500])
@pytest.mark.parametrize("box", [None, (30.0, 30.0, 30.0, 90.0, 90.0, 90.0)])
def test_whole_files_are_whole(
    tmp_path: Path, suffix: str, n_atoms: int, box: tuple[float, ...] | None
) -> None:
    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(7, n_atoms), box=box)
    found = layout(path, f".{suffix}")
    assert found is not None
    assert (found.n_atoms, len(found.offsets), found.damage) == (n_atoms, 7, "")


def test_offsets_are_those_of_the_format(tmp_path: Path) -> None:
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile, XTCFile

    for suffix, opener in (("xtc", XTCFile), ("trr", TRRFile)):
        path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(5, 40))
        found = layout(path, f".{suffix}")
        assert found is not None
        with opener(str(path)) as file:
            np.testing.assert_array_equal(found.offsets, file.offsets)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("cut", [1, 4, 30, 100])
def test_a_file_that_is_cut_off_names_the_frame(
    tmp_path: Path, topology: Path, suffix: str, cut: int
) -> None:
    positions = trajectory_positions(6, N_ATOMS)
    path = write_trajectory(tmp_path / f"a.{suffix}", positions)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(ValueError, match=rf"a\.{suffix}: frame 6 .*allow_truncated"):
        read(topology, path)
    ensemble = read(topology, path, allow_truncated=True)
    assert ensemble.n_snapshots == 5
    assert "the 5 whole frames before it are used" in ensemble.notes[0]
    np.testing.assert_allclose(ensemble.frames.read(0, 5)[0], positions[:5], atol=2e-3)


@pytest.mark.parametrize("announced", [0, 4, 9])
def test_a_dcd_that_announces_other_frames_is_used_with_all_it_holds(
    tmp_path: Path, topology: Path, announced: int
) -> None:
    positions = trajectory_positions(6, N_ATOMS)
    path = write_trajectory(tmp_path / "a.dcd", positions)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<i", announced)
    path.write_bytes(data)
    ensemble = read(topology, path)
    np.testing.assert_allclose(ensemble.frames.read(0, 6)[0], positions, atol=2e-3)
    assert ensemble.notes[0] == (
        f"{path}: its header announces {announced} frames, and it holds 6 frames, all whole"
    )


def test_a_dcd_of_a_run_that_was_stopped_between_frames_is_used(
    tmp_path: Path, topology: Path
) -> None:
    positions = trajectory_positions(6, N_ATOMS)
    path = write_trajectory(tmp_path / "a.dcd", positions)
    found = layout(path, ".dcd")
    assert found is not None
    path.write_bytes(path.read_bytes()[: found.offsets[4]])
    ensemble = read(topology, path)
    np.testing.assert_allclose(ensemble.frames.read(0, 4)[0], positions[:4], atol=2e-3)
    assert "its header announces 6 frames, and it holds 4 frames" in ensemble.notes[0]


def test_a_dcd_that_ends_within_a_frame_is_refused_whatever_it_announces(
    tmp_path: Path, topology: Path
) -> None:
    path = write_trajectory(tmp_path / "a.dcd", trajectory_positions(6, N_ATOMS))
    for announced in (0, 5, 6, 9):
        data = bytearray(path.read_bytes())
        data[8:12] = struct.pack("<i", announced)
        cut = tmp_path / f"{announced}.dcd"
        cut.write_bytes(data[:-20])
        with pytest.raises(ValueError, match=r"frame 6 is cut off.*allow_truncated"):
            read(topology, cut)


def test_a_dcd_that_keeps_its_promise_has_no_note(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.dcd", trajectory_positions(6, N_ATOMS))
    assert not any("announces" in note for note in read(topology, path).notes)


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd"])
def test_a_file_damaged_in_the_middle_names_the_frame(
    tmp_path: Path, topology: Path, suffix: str
) -> None:
    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(6, N_ATOMS))
    found = layout(path, f".{suffix}")
    assert found is not None
    data = bytearray(path.read_bytes())
    data[found.offsets[3] : found.offsets[3] + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"frame 4"):
        read(topology, path)
    assert read(topology, path, allow_truncated=True).n_snapshots == 3


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_without_a_whole_frame_is_refused(
    tmp_path: Path, topology: Path, suffix: str
) -> None:
    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(1, N_ATOMS))
    path.write_bytes(path.read_bytes()[:-8])
    for allowed in (False, True):
        with pytest.raises(ValueError, match="no whole frame was found"):
            read(topology, path, allow_truncated=allowed)


def test_a_netcdf_file_that_ends_within_its_header_is_refused(
    tmp_path: Path, topology: Path
) -> None:
    path = write_trajectory(tmp_path / "a.nc", trajectory_positions(6, N_ATOMS))
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    with pytest.raises(ValueError, match=r"a\.nc: .* bytes are missing .*: copy or write the file"):
        read(topology, path)
    path.write_bytes(b"\x89HDF" + whole[4:])
    with pytest.raises(ValueError, match=r"a\.nc: the file does not start as a NetCDF 3 file"):
        read(topology, path)


def test_an_xyz_file_that_is_cut_off_is_refused(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.xyz", trajectory_positions(6, N_ATOMS))
    path.write_text("\n".join(path.read_text().split("\n")[:-4]))
    with pytest.raises(ValueError, match=r"a\.xyz: frame 6 is cut off"):
        read(topology, path)
    assert read(topology, path, allow_truncated=True).n_snapshots == 5


def text_of(suffix: str, n_atoms: int, form: str) -> str:
    """Three frames of a text whose last number is a coordinate."""
    rng, frames = np.random.default_rng(1), list[str]()
    for step in range(3):
        rows = [" ".join(form % x for x in place) for place in rng.uniform(10, 99, (n_atoms, 3))]
        if suffix == "xyz":
            frames += [str(n_atoms), "a title", *(f"C {row}" for row in rows)]
        elif suffix == "extxyz":
            frames += [str(n_atoms), "Properties=pos:R:3", *rows]
        else:
            frames += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(n_atoms)]
            frames += ["ITEM: BOX BOUNDS ff ff ff", *["0 100"] * 3, "ITEM: ATOMS id x y z"]
            frames += [f"{k} {row}" for k, row in enumerate(rows, start=1)]
    return "\n".join(frames) + "\n"


@pytest.mark.parametrize("suffix", ["xyz", "extxyz", "dump"])
@pytest.mark.parametrize("n_atoms", [1, 5])
def test_a_text_cut_off_within_its_last_number_is_refused(
    tmp_path: Path, suffix: str, n_atoms: int
) -> None:
    path, text = tmp_path / f"a.{suffix}", text_of(suffix, n_atoms, "%.4f")
    for cut in range(2, 9):
        path.write_text(text[:-cut])
        with pytest.raises(ValueError, match=rf"a\.{suffix}: frame 3 .*allow_truncated"):
            read(path)
        assert read(path, allow_truncated=True).n_snapshots == 2


@pytest.mark.parametrize("suffix", ["xyz", "extxyz", "dump"])
@pytest.mark.parametrize("form", ["%.4f", "%g", "%.3e", "%d"])
def test_a_text_without_a_final_line_end_is_whole(tmp_path: Path, suffix: str, form: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(text_of(suffix, 9, form)[:-1])
    ensemble = read(path, bonds="none")
    assert ensemble.n_snapshots == 3
    assert any("its last line has no line end, but all its columns" in n for n in ensemble.notes)


def test_large_xtc_frames_have_long_counts(tmp_path: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(1, 40))
    data = path.read_bytes()
    (count,) = struct.unpack(">i", data[88:92])
    large = struct.pack(">i", 2023) + data[4:88] + struct.pack(">q", count) + data[92:]
    path.write_bytes(large * 3)
    found = layout(path, ".xtc")
    assert found is not None
    assert (len(found.offsets), found.damage) == (3, "")
