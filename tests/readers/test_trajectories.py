"""Trajectories of the formats of simulation programs."""

from __future__ import annotations

import gzip
import os
import pickle
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.liquids import Water
from tests.readers.builders import (
    as_mmcif,
    pdb_text,
    trajectory_positions,
    waters,
    write_pdb,
    write_trajectory,
)
from timme._arrays import Coordinates
from timme.readers import read
from timme.readers.universes import quiet
from timme.system.ensemble import Ensemble

N_ATOMS = 12
BOX = (30.0, 31.0, 32.0, 90.0, 90.0, 90.0)
TILTED = (30.0, 31.0, 32.0, 80.0, 75.0, 70.0)


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "top.pdb", [waters(4)])


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd", "nc", "netcdf", "xyz", "gro", "lammpstrj"])
def test_formats_give_back_what_was_written(tmp_path: Path, topology: Path, suffix: str) -> None:
    positions = trajectory_positions(1 if suffix == "gro" else 5, N_ATOMS)
    path = tmp_path / f"a.{suffix}"
    if suffix == "lammpstrj":
        path.write_text(lammps_dump(positions))
    else:
        known = path.with_suffix(".nc") if suffix == "netcdf" else path
        write_trajectory(known, positions, box=BOX).rename(path)
    ensemble = read(topology, path)
    texts = {"xyz", "gro", "lammpstrj"}
    assert coordinates(ensemble).dtype == (np.float64 if suffix in texts else np.float32)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-3)
    assert ensemble.unit == ("" if suffix in {"xyz", "lammpstrj"} else "Å")
    assert not ensemble.independent
    box = ensemble.snapshot()[1]
    if suffix == "xyz":
        assert box is None
    else:
        assert box is not None
        np.testing.assert_allclose(box, np.diag(BOX[:3]), atol=1e-3)


def lammps_dump(positions: Coordinates) -> str:
    lines = list[str]()
    for step, frame in enumerate(positions):
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += ["ITEM: BOX BOUNDS pp pp pp", "0 30", "0 31", "0 32", "ITEM: ATOMS id type x y z"]
        lines += [f"{i + 1} 1 {x:.3f} {y:.3f} {z:.3f}" for i, (x, y, z) in enumerate(frame)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd", "nc"])
def test_tilted_boxes_keep_their_volume(tmp_path: Path, topology: Path, suffix: str) -> None:
    from MDAnalysis.lib.mdamath import triclinic_vectors

    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(2, N_ATOMS), box=TILTED)
    box = read(topology, path).snapshot()[1]
    assert box is not None
    expected = triclinic_vectors(np.array(TILTED))
    assert abs(np.linalg.det(box)) == pytest.approx(np.linalg.det(expected), rel=1e-4)
    # The vectors span the same lattice.
    shifts = box @ np.linalg.inv(expected)
    np.testing.assert_allclose(shifts, np.round(shifts), atol=1e-3)


def test_open_space_has_no_box(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, N_ATOMS))
    assert read(topology, path).snapshot()[1] is None


def test_trajectories_follow_one_another(tmp_path: Path, topology: Path) -> None:
    one, two = trajectory_positions(4, N_ATOMS), trajectory_positions(3, N_ATOMS, seed=1)
    paths = [
        write_trajectory(tmp_path / "one.xtc", one),
        write_trajectory(tmp_path / "two.dcd", two),
        write_trajectory(tmp_path / "three.trr", one),
    ]
    ensemble = read(topology, paths)
    assert ensemble.n_snapshots == 11
    np.testing.assert_allclose(coordinates(ensemble), np.concatenate([one, two, one]), atol=2e-3)
    assert ensemble.sources == tuple(map(str, [topology, *paths]))


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(1, None, None), (None, -1, None), (2, 9, 3), (-4, None, 2)]
)
@pytest.mark.parametrize("suffix", ["xtc", "dcd", "xyz"])
def test_frames_are_chosen_as_by_a_slice(
    tmp_path: Path,
    topology: Path,
    suffix: str,
    start: int | None,
    stop: int | None,
    step: int | None,
) -> None:
    positions = trajectory_positions(10, N_ATOMS)
    path = write_trajectory(tmp_path / f"a.{suffix}", positions)
    ensemble = read(topology, path, start=start, stop=stop, step=step)
    np.testing.assert_allclose(coordinates(ensemble), positions[start:stop:step], atol=2e-3)
    middle, _ = ensemble.frames.read(1, 2)
    np.testing.assert_allclose(middle[0], positions[start:stop:step][1], atol=2e-3)


def test_no_frame_left_is_refused(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, N_ATOMS))
    with pytest.raises(ValueError, match="zero snapshots are left of 3 with start=5"):
        read(topology, path, start=5)
    with pytest.raises(ValueError, match="step= must be at least 1"):
        read(topology, path, step=-1)


def test_nothing_is_written_beside_the_input(tmp_path: Path, topology: Path) -> None:
    for suffix in ("xtc", "trr", "dcd", "nc", "xyz"):
        write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(3, N_ATOMS))
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for suffix in ("xtc", "trr", "dcd", "nc", "xyz"):
        coordinates(read(topology, tmp_path / f"a.{suffix}"))
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_folder_that_is_read_only_is_fine(tmp_path: Path) -> None:
    folder = tmp_path / "input"
    folder.mkdir()
    topology = write_pdb(folder / "top.pdb", [waters(4)])
    path = write_trajectory(folder / "a.xtc", trajectory_positions(3, N_ATOMS))
    folder.chmod(0o555)
    try:
        assert read(topology, path, select="name O").frames.shape == (3, 4, 3)
    finally:
        folder.chmod(0o755)
    assert sorted(os.listdir(folder)) == ["a.xtc", "top.pdb"]  # noqa: PTH208


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd", "nc", "xyz"])
def test_sizes_that_do_not_match_are_both_named(
    tmp_path: Path, topology: Path, suffix: str
) -> None:
    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(2, 15))
    with pytest.raises(ValueError, match=rf"a\.{suffix}: .*15.*12"):
        read(topology, path)


def test_trajectories_of_different_sizes_are_refused(tmp_path: Path) -> None:
    one = write_trajectory(tmp_path / "one.gro", trajectory_positions(1, 5))
    two = write_trajectory(tmp_path / "two.gro", trajectory_positions(1, 6))
    with pytest.raises(ValueError, match=r"two\.gro: 6 atoms, but .*one\.gro has 5"):
        read(one, [one, two])


def test_a_selection_holds_the_chosen_sites_only(tmp_path: Path, topology: Path) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = write_trajectory(tmp_path / "a.xtc", positions, box=BOX)
    ensemble = read(topology, path, select="water-oxygen")
    np.testing.assert_allclose(coordinates(ensemble), positions[:, ::3], atol=2e-3)
    again = ensemble.select([2, 0])
    np.testing.assert_allclose(coordinates(again), positions[:, [6, 0]], atol=2e-3)
    assert again.site_atoms.tolist() == [6, 0]
    assert len(again.atoms) == N_ATOMS


def test_frames_travel_to_other_processes(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(4, N_ATOMS), box=BOX)
    frames = read(topology, path, select="name O", start=1).frames
    frames.read(0, 1)
    copy = pickle.loads(pickle.dumps(frames))
    assert copy.shape == frames.shape
    np.testing.assert_array_equal(copy.read(1, 3)[0], frames.read(1, 3)[0])


def test_frames_are_read_by_several_threads(tmp_path: Path, topology: Path) -> None:
    positions = trajectory_positions(40, N_ATOMS)
    frames = read(topology, write_trajectory(tmp_path / "a.xtc", positions)).frames
    found = dict[int, Coordinates]()

    def work(frame: int) -> None:
        found[frame] = frames.read(frame, frame + 1)[0][0]

    threads = [threading.Thread(target=work, args=(frame,)) for frame in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for frame, frame_positions in found.items():
        np.testing.assert_allclose(frame_positions, positions[frame], atol=2e-3)


def test_a_trajectory_alone_has_sites_without_names(tmp_path: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, N_ATOMS))
    ensemble = read(path)
    assert ensemble.frames.shape == (3, N_ATOMS, 3)
    assert "without a topology" in ensemble.notes[0]


def test_one_file_may_be_topology_and_trajectory(tmp_path: Path) -> None:
    positions = trajectory_positions(3, 5)
    ensemble = read(write_trajectory(tmp_path / "a.xyz", positions))
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-3)
    assert ensemble.atoms.elements.tolist() == ["C"] * 5


def test_a_list_of_gro_files_is_an_ensemble(tmp_path: Path) -> None:
    positions = trajectory_positions(2, 5)
    paths = [tmp_path / "0.gro", tmp_path / "1.gro"]
    for number, path in enumerate(paths):
        names = [f"{1:5d}{'LIG':<5}{f'C{i}':>5}{i + 1:5d}" for i in range(5)]
        lines = [
            name + "".join(f"{value / 10:8.3f}" for value in place)
            for name, place in zip(names, positions[number], strict=True)
        ]
        order = lines if number == 0 else lines[::-1]
        path.write_text("\n".join(["title", "    5", *order, "   3.0   3.0   3.0", ""]))
    np.testing.assert_allclose(coordinates(read(paths)), positions, atol=2e-3)


def one_frame(path: Path, places: Coordinates, box: str = "   3.0   3.1   3.2") -> Path:
    """Write a GRO file of five atoms, in Å; the box in nm."""
    rows = [
        f"{1:5d}{'LIG':<5}{f'C{atom}':>5}{atom + 1:5d}" + "".join(f"{x / 10:8.3f}" for x in place)
        for atom, place in enumerate(places)
    ]
    path.write_text("\n".join(["title", f"{len(rows):5d}", *rows, box, ""]))
    return path


def test_a_list_of_gro_files_keeps_their_boxes(tmp_path: Path) -> None:
    positions = trajectory_positions(3, 5)
    paths = [
        one_frame(tmp_path / f"{number}.gro", places, f"   3.0   3.1   3.{number}")
        for number, places in enumerate(positions)
    ]
    boxes = read(paths, bonds="none").frames.read(0, 3)[1]
    assert boxes is not None
    np.testing.assert_allclose(boxes, [np.diag([30, 31, 30 + number]) for number in range(3)])
    empty = one_frame(tmp_path / "open.gro", positions[0], "   0.0   0.0   0.0")
    with pytest.raises(ValueError, match=r"open\.gro: frame 1 has no box, and other frames have a"):
        read([*paths, empty])
    assert read([*paths, empty], box=False, bonds="none").snapshot()[1] is None


def test_a_list_of_xyz_files_claims_no_unit(tmp_path: Path) -> None:
    for number, places in enumerate(trajectory_positions(2, 5)):
        rows = [f"B{atom} " + " ".join(map(str, place)) for atom, place in enumerate(places)]
        (tmp_path / f"{number}.xyz").write_text("\n".join(["5", "", *rows, ""]))
    paths = [tmp_path / "0.xyz", tmp_path / "1.xyz"]
    assert read(paths).unit == read(paths[0]).unit == ""


def test_files_of_one_kind_with_one_frame_each_are_all_snapshots(tmp_path: Path) -> None:
    positions = trajectory_positions(4, 5)
    paths = [one_frame(tmp_path / f"{n}.gro", places) for n, places in enumerate(positions)]
    ensemble = read(paths[0], paths[1:])
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-3)
    assert any("the first of 4 snapshots" in note for note in ensemble.notes)
    assert read(paths[0], paths[0]).n_snapshots == 1  # not twice


@pytest.mark.parametrize(("several", "expected"), [(0, 3), (1, 2)])
def test_a_file_of_one_frame_beside_others_of_many_is_a_topology(
    tmp_path: Path, several: int, expected: int
) -> None:
    paths = [one_frame(tmp_path / f"{n}.gro", trajectory_positions(1, 5)[0]) for n in range(2)]
    paths[several].write_text(2 * paths[several].read_text())
    assert read(paths[0], paths[1]).n_snapshots == expected


BOXES = {"none": None, "1 × 1 × 1 Å": [1, 1, 1, 90, 90, 90], "true": [30, 30, 30, 90, 90, 90]}


def write_boxes(path: Path, boxes: Sequence[str]) -> Path:
    """Write frames of sites without names, in boxes of these kinds."""
    import MDAnalysis

    universe = MDAnalysis.Universe.empty(N_ATOMS, trajectory=True)
    with quiet(), MDAnalysis.Writer(str(path), N_ATOMS) as writer:
        for places, kind in zip(trajectory_positions(len(boxes), N_ATOMS), boxes, strict=True):
            universe.atoms.positions = places
            universe.trajectory.ts.dimensions = BOXES[kind]
            writer.write(universe.atoms)
    return path


@pytest.mark.parametrize("odd", ["none", "1 × 1 × 1 Å"])
@pytest.mark.parametrize("place", [0, 3, 9])
def test_a_frame_without_the_box_of_the_others_is_refused(
    tmp_path: Path, place: int, odd: str
) -> None:
    path = write_boxes(tmp_path / "a.trr", ["true"] * place + [odd] + ["true"] * (9 - place))
    said = "no box" if odd == "none" else f"a box of {odd}"
    with pytest.raises(
        ValueError, match=rf"a\.trr: frame {place + 1} has {said}, and other frames"
    ):
        read(path).frames.read(0, 10)
    for options in ({"box": [30.0, 30.0, 30.0]}, {"box": False}):
        assert coordinates(read(path, **options)).shape == (10, N_ATOMS, 3)
    kept = read(path, start=place + 1) if place < 9 else read(path, stop=9)
    assert kept.frames.read(0, kept.n_snapshots)[1] is not None


def test_a_box_in_a_frame_that_nobody_looked_at_is_no_open_space(tmp_path: Path) -> None:
    path = write_boxes(tmp_path / "a.trr", ["none"] * 3 + ["true"] + ["none"] * 6)
    with pytest.raises(ValueError, match=r"frame 4 has a box of 30 × 30 × 30 Å, .* have none"):
        read(path).frames.read(0, 10)


def test_a_frame_of_a_universe_without_the_box_of_the_others_is_refused(tmp_path: Path) -> None:
    import MDAnalysis

    path = write_boxes(tmp_path / "a.trr", ["none"] + ["true"] * 5)
    with quiet():
        universe = MDAnalysis.Universe.empty(N_ATOMS)
        universe.load_new(str(path))
    with pytest.raises(ValueError, match=r"a\.trr: frame 1 has no box"):
        read(universe)
    assert read(universe, box=False).n_snapshots == 6


@pytest.mark.parametrize("kind", ["none", "1 × 1 × 1 Å"])
def test_frames_that_all_have_no_true_box_are_in_open_space(tmp_path: Path, kind: str) -> None:
    ensemble = read(write_boxes(tmp_path / "a.trr", [kind] * 5))
    assert ensemble.frames.read(0, 5)[1] is None


def test_a_topology_without_coordinates_needs_a_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "a.psf"
    path.write_text(
        "PSF\n\n       1 !NTITLE\n REMARKS x\n\n       2 !NATOM\n"
        "       1 SYS  1    ALA  CA   CT1    0.070000       12.0110           0\n"
        "       2 SYS  1    ALA  CB   CT3   -0.270000       12.0110           0\n\n"
        "       1 !NBOND: bonds\n       1       2\n\n"
    )
    with pytest.raises(ValueError, match=r"a\.psf: .* names and no coordinates\): give its traj"):
        read(path)
    trajectory = write_trajectory(tmp_path / "a.dcd", trajectory_positions(2, 2))
    ensemble = read(path, trajectory)
    assert ensemble.atoms.bonds.tolist() == [[0, 1]]
    assert ensemble.atoms.masses.tolist() == [12.011, 12.011]


def test_a_file_of_unknown_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_text("hello")
    unknown = r"a\.docx: not a {} that can be read \(nobody knows .* '\.docx'\): give a"
    with pytest.raises(ValueError, match=unknown.format("topology")):
        read(path)
    topology = write_pdb(tmp_path / "top.pdb", [waters(4)])
    with pytest.raises(ValueError, match=unknown.format("trajectory")):
        read(topology, path)


def test_a_file_that_is_no_trajectory_is_refused(tmp_path: Path, topology: Path) -> None:
    for suffix in ("xtc", "trr", "dcd", "nc", "xyz", "docx"):
        path = tmp_path / f"b.{suffix}"
        path.write_bytes(b"this is not a trajectory at all, whatever its name says\n" * 4)
        with pytest.raises(ValueError, match=rf"b\.{suffix}: "):
            read(topology, path)
        path.write_bytes(b"")
        with pytest.raises(ValueError, match="is empty"):
            read(topology, path)


@pytest.mark.parametrize("kind", ["crlf", "bom", "latin-1", "gz", "cif", "models"])
def test_topologies_are_read_as_structures_are(tmp_path: Path, kind: str) -> None:
    text = pdb_text([waters(4)] * (2 if kind == "models" else 1)).encode()
    changed = {
        "crlf": text.replace(b"\n", b"\r\n"),
        "bom": b"\xef\xbb\xbf" + text,
        "latin-1": b"REMARK  caf\xe9 \xff\n" + text,
        "gz": gzip.compress(text),
        "models": text,
    }
    topology = tmp_path / ("top.pdb.gz" if kind == "gz" else "top.pdb")
    topology.write_bytes(changed.get(kind, text))
    if kind == "cif":
        topology = as_mmcif(tmp_path / "top.cif", text.decode())
    positions = trajectory_positions(2, N_ATOMS)
    ensemble = read(topology, write_trajectory(tmp_path / "a.xtc", positions), select="name O")
    assert ensemble.n_sites == 4
    assert ensemble.site_label(1) == "A/HOH 2/O"
    np.testing.assert_allclose(coordinates(ensemble), positions[:, ::3], atol=2e-3)


def test_a_coordinate_that_is_no_number_names_frame_and_atom(
    tmp_path: Path, topology: Path
) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    positions[2, 4] = np.nan
    ensemble = read(topology, write_trajectory(tmp_path / "a.dcd", positions))
    with pytest.raises(ValueError, match=r"atom A/HOH 2/H1 .* of snapshot 3 is"):
        list(ensemble.blocks())


def test_the_box_may_be_replaced_or_left_out(tmp_path: Path, topology: Path) -> None:
    path = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, N_ATOMS), box=BOX)
    assert read(topology, path, box=False).snapshot()[1] is None
    replaced = read(topology, path, box=[5.0, 6.0, 7.0], select="name O")
    np.testing.assert_array_equal(replaced.snapshot()[1], np.diag([5.0, 6.0, 7.0]))
    assert replaced.frames.shape == (3, 4, 3)


def test_water_is_bound_across_the_border(water: Water) -> None:
    ensemble = read(water.topology, water.trajectory)
    assert ensemble.frames.shape == (401, 774, 3)
    assert ensemble.rounding == pytest.approx(0.01)
    bonds = ensemble.atoms.bonds
    assert len(bonds) == 2 * 258
    assert (ensemble.atoms.elements[bonds[:, 0]] == "O").all()
    assert (ensemble.atoms.resids[bonds[:, 0]] == ensemble.atoms.resids[bonds[:, 1]]).all()
