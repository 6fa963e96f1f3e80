"""Cells of files that say less than a box does: defaults of programs, zeros, NaN, negative ones."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file

import timme
from tests.readers.builders import atom, peptide, write_pdb
from timme._arrays import Coordinates, Floats

N_FRAMES = 4
Cell = Sequence[float]  # three lengths, then three angles
WriteCell = Callable[[Path, Coordinates, Cell], None]


def write_dcd(path: Path, places: Coordinates, cell: Cell) -> None:
    """Write a DCD file as CHARMM lays it out, record by record."""
    a, b, c, alpha, beta, gamma = cell
    write_dcd_cell(path, places, (a, gamma, b, beta, alpha, c))


def write_dcd_cell(path: Path, places: Coordinates, numbers: Cell) -> None:
    def record(data: bytes) -> bytes:
        return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))

    control = [0] * 20
    control[0], control[1], control[2], control[10], control[19] = len(places), 1, 1, 1, 24
    head = bytearray(struct.pack("<20i", *control))
    struct.pack_into("<f", head, 36, 0.02)
    parts = [record(b"CORD" + bytes(head)), record(struct.pack("<i", 1) + b"made".ljust(80))]
    parts.append(record(struct.pack("<i", places.shape[1])))
    for frame in places:
        parts.append(record(struct.pack("<6d", *numbers)))
        parts += [record(frame[:, axis].astype("<f4").tobytes()) for axis in range(3)]
    path.write_bytes(b"".join(parts))


def write_netcdf(path: Path, places: Coordinates, cell: Cell) -> None:
    with netcdf_file(path, "w") as file:
        setattr(file, "Conventions", "AMBER")  # noqa: B010, for the type checker
        file.createDimension("frame", None)
        for name, length in (("spatial", 3), ("atom", places.shape[1]), ("cell", 3)):
            file.createDimension(name, length)
        found = file.createVariable("coordinates", "f4", ("frame", "atom", "spatial"))
        setattr(found, "units", "angstrom")  # noqa: B010, for the type checker
        lengths = file.createVariable("cell_lengths", "f8", ("frame", "cell"))
        angles = file.createVariable("cell_angles", "f8", ("frame", "cell"))
        for number, frame in enumerate(places):
            found[number], lengths[number], angles[number] = frame, cell[:3], cell[3:]


def write_gro(path: Path, places: Coordinates, cell: Cell) -> None:
    lines = list[str]()
    for frame in places / 10:
        lines += ["made", str(len(frame))]
        for number, place in enumerate(frame, start=1):
            columns = "".join(f"{x:8.3f}" for x in place)
            lines.append(f"{number:5d}ALA     CA{number:5d}{columns}")
        lines.append(" ".join(f"{length / 10:.5f}" for length in cell[:3]))
    path.write_text("\n".join([*lines, ""]))


WRITERS: dict[str, WriteCell] = {".dcd": write_dcd, ".nc": write_netcdf, ".gro": write_gro}


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "top.pdb", [peptide(n_residues=6)])


@pytest.fixture
def places() -> Coordinates:
    """A peptide about 20 Å long that hardly moves."""
    still = np.array([record[6:9] for record in peptide(n_residues=6)], dtype=np.float64)
    noise = np.random.default_rng(3).normal(scale=0.1, size=(N_FRAMES, *still.shape))
    return np.round(5.0 + still + noise, 2).astype(np.float32)


def open_frame(ensemble: timme.Ensemble) -> Floats | None:
    boxes = ensemble.frames.read(0, ensemble.n_snapshots)[1]
    return None if boxes is None else boxes[0]


def read_cell(
    tmp_path: Path, topology: Path, places: Coordinates, cell: Cell, kind: str
) -> timme.Ensemble:
    path = tmp_path / f"made{kind}"
    WRITERS[kind](path, places, cell)
    return timme.read(topology, [path])


@pytest.mark.parametrize("kind", [".dcd", ".nc"])
@pytest.mark.parametrize("angle", [0.0, 1.0, 90.0, 180.0])
def test_a_cell_of_1_is_a_placeholder_whatever_its_angles_are(
    tmp_path: Path, topology: Path, places: Coordinates, angle: float, kind: str
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [1, 1, 1, angle, angle, angle], kind)
    assert open_frame(ensemble) is None
    assert any("taken for a placeholder" in note for note in ensemble.notes)
    assert not any("right ones" in note for note in ensemble.notes)


def test_a_record_of_a_dcd_that_begins_with_ones_and_ends_with_zeros_is_a_placeholder(
    tmp_path: Path, topology: Path, places: Coordinates
) -> None:
    write_dcd_cell(tmp_path / "made.dcd", places, (1, 1, 1, 0, 0, 0))  # lengths 1, 1 and 0
    ensemble = timme.read(topology, [tmp_path / "made.dcd"])
    assert open_frame(ensemble) is None
    assert any("taken for a placeholder" in note for note in ensemble.notes)


@pytest.mark.parametrize("kind", [".dcd", ".nc"])
@pytest.mark.parametrize("angle", [0.0, 90.0])
def test_a_cell_without_lengths_is_none(
    tmp_path: Path, topology: Path, places: Coordinates, angle: float, kind: str
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [0, 0, 0, angle, angle, angle], kind)
    assert open_frame(ensemble) is None
    assert not any("box" in note for note in ensemble.notes)


def test_angles_of_0_are_cosines_in_a_dcd(
    tmp_path: Path, topology: Path, places: Coordinates
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [40, 50, 60, 0, 0, 0], ".dcd")
    assert open_frame(ensemble) == pytest.approx(np.diag([40.0, 50.0, 60.0]))
    assert not any("right ones" in note for note in ensemble.notes)  # as NAMD writes them


def test_angles_of_0_stand_for_right_ones_elsewhere_and_are_told(
    tmp_path: Path, topology: Path, places: Coordinates
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [40, 50, 60, 0, 0, 0], ".nc")
    assert open_frame(ensemble) == pytest.approx(np.diag([40.0, 50.0, 60.0]))
    assert any("angles of its box are 0" in note for note in ensemble.notes)


@pytest.mark.parametrize("kind", list(WRITERS))
def test_an_open_side_of_a_box_is_told(
    tmp_path: Path, topology: Path, places: Coordinates, kind: str
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [100, 100, 0, 90, 90, 90], kind)
    assert open_frame(ensemble) == pytest.approx(np.diag([100.0, 100.0, 0.0]))
    assert any("no length along z, and space is open there" in note for note in ensemble.notes)


def test_a_plane_needs_no_wall_across_it(
    tmp_path: Path, topology: Path, places: Coordinates
) -> None:
    flat = places * np.array([1, 1, 0], np.float32) + 1
    ensemble = read_cell(tmp_path, topology, flat, [100, 100, 0, 90, 90, 90], ".dcd")
    assert not any("is open" in note for note in ensemble.notes)


def test_an_open_side_is_told_of_a_pdb_behind_a_topology(
    tmp_path: Path, places: Coordinates
) -> None:
    write_gro(tmp_path / "top.gro", places[:1], [40, 40, 40])
    records = [[atom("CA", n, x) for n, x in enumerate(frame, start=1)] for frame in places]
    path = write_pdb(tmp_path / "made.pdb", records)
    cell = "CRYST1  100.000  100.000    0.000  90.00  90.00  90.00 P 1           1\n"
    path.write_text(cell + path.read_text())
    ensemble = timme.read(tmp_path / "top.gro", [path])
    assert open_frame(ensemble) == pytest.approx(np.diag([100.0, 100.0, 0.0]))
    assert any("no length along z" in note for note in ensemble.notes)


@pytest.mark.parametrize("kind", list(WRITERS))
@pytest.mark.parametrize("length", [np.nan, np.inf])
def test_a_cell_without_numbers_is_none_and_told(
    tmp_path: Path, topology: Path, places: Coordinates, length: float, kind: str
) -> None:
    ensemble = read_cell(tmp_path, topology, places, [length] * 6, kind)
    assert open_frame(ensemble) is None
    assert any("no finite numbers" in note for note in ensemble.notes)


@pytest.mark.parametrize("kind", [".dcd", ".nc"])
@pytest.mark.parametrize(
    "cell",
    [
        [-40, -40, -40, 90, 90, 90], [40, -40, 40, 90, 90, 90], [40, 40, 40, 60, 60, 0],
        [40, 40, 40, np.nan, np.nan, np.nan], [np.nan, 40, 40, 90, 90, 90],
    ],
    ids=["negative", "one negative", "flat", "no angles", "one length missing"],
)  # fmt: skip
def test_a_cell_that_cannot_be_is_refused_and_left_out_on_demand(
    tmp_path: Path, topology: Path, places: Coordinates, cell: Cell, kind: str
) -> None:
    with pytest.raises(ValueError, match=r"lengths or angles that no box has.*box=False"):
        read_cell(tmp_path, topology, places, cell, kind)
    ensemble = timme.read(topology, [tmp_path / f"made{kind}"], box=False)
    assert ensemble.frames.read(0, N_FRAMES)[0] == pytest.approx(places, abs=1e-4)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ([1, 1, 1, 0, 0, 0], "taken for a placeholder"),
        ([40, 40, 40, 0, 0, 0], "angles of its box are 0"),
        ([100, 100, 0, 90, 90, 90], "no length along z"),
        ([np.nan] * 6, "no finite numbers"),
    ],
    ids=["1", "zero angles", "open", "NaN"],
)
def test_cells_of_a_universe_are_judged_likewise(
    topology: Path, places: Coordinates, cell: Cell, told: str
) -> None:
    import MDAnalysis as mda

    universe = mda.Universe(str(topology))
    universe.load_new(places.copy(), dimensions=np.tile(np.array(cell, np.float32), (N_FRAMES, 1)))
    assert any(told in note for note in timme.read(universe).notes)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ([0.1, 0.1, 0.1, 0, 0, 0], "taken for a placeholder"),
        ([4, 4, 4, 0, 0, 0], "angles of its box are 0"),
        ([10, 10, 0, 90, 90, 90], "no length along z"),
        ([np.nan] * 6, "no finite numbers"),
    ],
    ids=["1 Å", "zero angles", "open", "NaN"],
)
def test_cells_of_mdtraj_are_judged_likewise(
    topology: Path, places: Coordinates, cell: Cell, told: str
) -> None:
    mdtraj = pytest.importorskip("mdtraj")
    cells = np.tile(np.array(cell), (N_FRAMES, 1))
    trajectory = mdtraj.Trajectory(
        places / 10, mdtraj.load(str(topology)).topology,
        unitcell_lengths=cells[:, :3], unitcell_angles=cells[:, 3:],
    )  # fmt: skip
    assert any(told in note for note in timme.read(trajectory).notes)
    plain = timme.read(trajectory, box=False)
    assert plain.coordinates() == pytest.approx(places / 10, abs=1e-5)
    assert not any(told in note for note in plain.notes if "placeholder" not in told)


def test_six_numbers_of_a_box_have_no_negative_lengths(places: Coordinates) -> None:
    with pytest.raises(ValueError, match="not negative"):
        timme.read(places, box=[40, -40, 40, 90, 90, 60])


def test_bounds_of_a_dump_that_end_before_they_begin_are_refused(tmp_path: Path) -> None:
    lines = ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", "1", "ITEM: BOX BOUNDS pp pp pp"]
    lines += ["0 40", "40 0", "0 40", "ITEM: ATOMS id type x y z", "1 1 1.0 2.0 3.0", ""]
    (tmp_path / "a.lammpstrj").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"a\.lammpstrj: .*box ends before it begins"):
        timme.read(tmp_path / "a.lammpstrj")
