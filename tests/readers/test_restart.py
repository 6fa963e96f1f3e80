"""Restart files of Amber, and files that programs write under names of their own."""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.readers.builders import atom, write_pdb
from tests.readers.test_lammps import dump_text
from timme._arrays import Coordinates, Floats
from timme.readers import read, read_model
from timme.readers.files import kind

PLACES = np.random.default_rng(4).uniform(-20, 20, size=(5, 3)).round(7)
CELL = np.array([37.1332590, 35.4106700, 34.4705580, 90.0, 90.0, 90.0])


def row(numbers: Coordinates) -> str:
    return "".join(f"{number:12.7f}" for number in numbers)


def restart(
    path: Path, places: Coordinates, *, velocities: bool = False, cell: Floats | None = None
) -> Path:
    """As the manual of Amber has them: 6F12.7, two atoms a line."""
    lines = ["a title", f"{len(places):5d}  0.3000000E+02"]
    for block in (places, 0.01 * places) if velocities else (places,):
        numbers = block.ravel()
        lines += [row(numbers[k : k + 6]) for k in range(0, len(numbers), 6)]
    lines += [] if cell is None else [row(cell)]
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("velocities", [False, True])
@pytest.mark.parametrize("cell", [None, CELL, CELL[:3]], ids=["open", "angles", "lengths"])
def test_a_restart_is_one_snapshot_with_its_box(
    tmp_path: Path, count: int, cell: Floats | None, *, velocities: bool
) -> None:
    path = restart(tmp_path / "a.rst7", PLACES[:count], velocities=velocities, cell=cell)
    ensemble = read_model(path)[0]
    np.testing.assert_array_equal(ensemble.coordinates(), [PLACES[:count]])
    box = ensemble.snapshot()[1]
    if cell is None:
        assert box is None
    else:
        assert box is not None
        np.testing.assert_allclose(np.diag(box), CELL[:3])


@pytest.mark.parametrize("name", ["a.rst7", "a.restrt", "a.inpcrd", "a.rst", "restrt", "inpcrd"])
def test_restarts_are_known_by_the_names_that_people_give_them(tmp_path: Path, name: str) -> None:
    path = restart(tmp_path / name, PLACES)
    np.testing.assert_array_equal(read_model(path)[0].coordinates(), [PLACES])


def test_several_restarts_of_a_topology_are_snapshots(tmp_path: Path) -> None:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    shutil.copy(files.RST7_ala2, tmp_path / "a.rst7")
    lines = Path(files.RST7_ala2).read_text().split("\n")
    lines[2] = f"{1.0 + float(lines[2][:12]):12.7f}{lines[2][12:]}"
    (tmp_path / "b.rst7").write_text("\n".join(lines))
    both = [tmp_path / "a.rst7", tmp_path / "b.rst7"]
    ensemble = read(files.PRM7_ala2, both, select="resname ALA ACE NME", box=False)
    first, second = ensemble.coordinates()[:, 0]
    assert (second - first).tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert len(ensemble.atoms.bonds) > 0
    boxed = read(files.PRM7_ala2, both).snapshot()[1]
    assert boxed is not None
    np.testing.assert_allclose(np.diag(boxed), [37.1332590, 35.4106700, 34.4705580])


def test_a_restart_may_be_netcdf(tmp_path: Path) -> None:
    from scipy.io import netcdf_file

    path = tmp_path / "a.ncrst"
    with netcdf_file(path, "w") as file:
        for name, size in (("atom", 5), ("spatial", 3), ("cell_spatial", 3), ("cell_angular", 3)):
            file.createDimension(name, size)
        file.createVariable("time", "d", ())[()] = 30.0
        file.createVariable("coordinates", "d", ("atom", "spatial"))[:] = PLACES
        file.createVariable("cell_lengths", "d", ("cell_spatial",))[:] = CELL[:3]
        file.createVariable("cell_angles", "d", ("cell_angular",))[:] = CELL[3:]
    ensemble = read_model(path)[0]
    np.testing.assert_array_equal(ensemble.coordinates(), [PLACES])
    box = ensemble.snapshot()[1]
    assert box is not None
    np.testing.assert_allclose(np.diag(box), CELL[:3])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title\nmany\n", "its second line is no number of atoms"),
        ("title\n    0\n", "its second line is no number of atoms"),
        ("title\n    5\n   1.0000000   2.0000000   3.0000000\n", "5 atoms need 15 coordinates"),
        ("title\n    1\n   1.0000000   2.0000000       three\n", "could not convert"),
        (f"title\n    1\n{3 * '   1.0000000'}\n" + 4 * "1\n", "neither velocities nor box"),
    ],
    ids=["words", "none", "cut off", "word", "more"],
)
def test_what_is_no_restart_is_told_in_one_line(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.rst7"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"not a restart file of Amber.*{reason}.*cpptraj") as told:
        read(path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("suffix", "remedy"),
    [
        (".sdf", r"SDF is not read: .*obabel in\.sdf -O out\.mol2"),
        (".mol", r"MDL MOL is not read: .*obabel in\.mol -O out\.mol2"),
        (".xdatcar", r"XDATCAR is not read: .*ase convert XDATCAR out\.extxyz"),
        (".tng", r"TNG is not read: .*gmx trjconv -f in\.tng -o out\.xtc"),
    ],
)
def test_formats_that_are_not_read_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, remedy: str
) -> None:
    monkeypatch.setattr("timme.readers.files.find_spec", lambda _: None)
    path = tmp_path / f"a{suffix}"
    path.write_text("something")
    with pytest.raises(ValueError, match=remedy):
        read(path)


def test_a_restart_that_is_called_a_trajectory_is_told(tmp_path: Path) -> None:
    from scipy.io import netcdf_file

    with netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("atom", 5)
        file.createDimension("spatial", 3)
        file.createVariable("coordinates", "d", ("atom", "spatial"))[:] = np.ones((5, 3))
    with pytest.raises(ValueError, match=r"one snapshot, as restart files do: call it \.ncrst"):
        read(tmp_path / "a.nc")


@pytest.mark.parametrize(
    "text", ['<?xml version="1.0"?>\n<TrackMate version="7">', '<Tracks nTracks="2">']
)
def test_xml_of_trackmate_is_told_to_be_written_as_a_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(ValueError, match=r"XML of TrackMate is not read: .*CSV"):
        read(tmp_path / "a.xml")


def test_a_text_of_amber_that_is_called_like_one_of_charmm_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.crd").write_text("title\n" + "   1.000" * 9 + "\n")
    structure = write_pdb(tmp_path / "a.pdb", [[atom("CA", k, (0, 0, 5 * k)) for k in (1, 2, 3)]])
    with pytest.raises(ValueError, match=r"not a CRD file of CHARMM: .* call it \.mdcrd"):
        read(structure, tmp_path / "a.crd")


def test_a_cut_file_without_a_whole_frame_is_told(tmp_path: Path) -> None:
    files: Any = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    (tmp_path / "a.trz").write_bytes(Path(files.TRZ).read_bytes()[:-500])
    with pytest.raises(ValueError, match=r"a\.trz: no frame was found, or it does not end"):
        read(files.TRZ_psf, tmp_path / "a.trz")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("dump", ".lammpstrj"), ("dump.0", ".lammpstrj"), ("dump.melt.gz", ".lammpstrj"),
        ("dump.npt.1000", ".lammpstrj"), ("dump_2", ".lammpstrj"),
        ("dump.lammpstrj.gz", ".lammpstrj"),
        ("dump.pdb", ".pdb"), ("dump.xyz", ".xyz"), ("dump.csv", ".csv"), ("dumpster.1", ".1"),
        ("HISTORY_run1", ".history"), ("HISTORY.2", ".history"), ("CONFIG.old", ".config"),
        ("REVCON-1", ".config"), ("HISTORY.xyz", ".xyz"), ("inpcrd.1", ".rst7"),
    ],
)  # fmt: skip
def test_names_of_programs_may_be_followed_by_others(name: str, known: str) -> None:
    assert kind(Path(name)) == known


def test_a_dump_is_known_by_the_habit_of_lammps(tmp_path: Path) -> None:
    places = np.random.default_rng(0).uniform(1, 5, (3, 4, 3))
    for step in (0, 1000):
        (tmp_path / f"dump.{step}").write_text(dump_text(places + step / 1e4))
    assert read(tmp_path / "dump.0").n_snapshots == 3
    assert read([tmp_path / "dump.0", tmp_path / "dump.1000"]).n_snapshots == 6


def test_trajectories_of_ase_follow_one_another(tmp_path: Path) -> None:
    io: Any = pytest.importorskip("ase.io", reason="needs ase")
    ase: Any = pytest.importorskip("ase", reason="needs ase")
    places = np.random.default_rng(0).uniform(0, 20, (5, 4, 3))
    for name, part in (("a", places[:2]), ("b", places[2:])):
        io.write(str(tmp_path / f"{name}.traj"), [ase.Atoms("Ar4", positions=k) for k in part])
    paths = [tmp_path / "a.traj", tmp_path / "b.traj"]
    for ensemble in (read(paths), read(paths[0], paths[1:])):
        np.testing.assert_allclose(ensemble.coordinates(), places)
        assert any("count as one run" in note for note in ensemble.notes)
    packed = tmp_path / "a.traj.gz"
    packed.write_bytes(gzip.compress(paths[0].read_bytes()))
    with pytest.raises(ValueError, match="compressed TRAJ files are not read: unpack it"):
        read(packed)


@pytest.mark.parametrize("name", ["HISTORY", "CONFIG", "REVCON"])
def test_files_of_dl_poly_are_known_without_a_suffix(tmp_path: Path, name: str) -> None:
    import MDAnalysis as mda

    files: Any = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    original = files.DLP_HISTORY if name == "HISTORY" else files.DLP_CONFIG
    shutil.copy(original, tmp_path / name)
    ensemble = read(tmp_path / name, bonds="none", box=False)
    known = "HISTORY" if name == "HISTORY" else "CONFIG"
    universe = mda.Universe(original, format=known, topology_format=known)
    expected = [universe.atoms.positions.copy() for _ in universe.trajectory]
    np.testing.assert_allclose(ensemble.coordinates(), expected, rtol=1e-6)


def test_trajectories_of_ase_are_read_by_name(tmp_path: Path) -> None:
    ase: Any = pytest.importorskip("ase", reason="needs ase")
    from ase.io.trajectory import Trajectory

    opened: Any = Trajectory
    cell = [30.0, 31.0, 32.0]
    with opened(str(tmp_path / "a.traj"), "w") as file:
        for shift in range(3):
            file.write(ase.Atoms("Ar5", positions=PLACES + shift, cell=cell, pbc=True))
    ensemble = read(tmp_path / "a.traj", start=1)
    np.testing.assert_allclose(ensemble.coordinates(), [PLACES + 1, PLACES + 2])
    box = ensemble.snapshot()[1]
    assert box is not None
    assert np.diag(box).tolist() == cell
    assert ensemble.sources == (str(tmp_path / "a.traj"),)
    (tmp_path / "b.traj").write_text("no such thing")
    with pytest.raises(ValueError, match=r"b\.traj: not a trajectory of ASE that can be read"):
        read(tmp_path / "b.traj")


def test_without_ase_its_trajectories_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ase.io.trajectory", None)
    (tmp_path / "a.traj").write_text("something")
    with pytest.raises(
        ValueError, match=r"a\.traj: .*pip install ase, or write it as extended XYZ"
    ):
        read(tmp_path / "a.traj")
