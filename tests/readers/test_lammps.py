"""LAMMPS dumps, with a topology and alone."""

from __future__ import annotations

import bz2
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import trajectory_positions, waters, write_pdb, write_trajectory
from timme._arrays import Coordinates, Ints
from timme.readers import read
from timme.system.ensemble import Ensemble
from timme.workflow import analyse

N_ATOMS = 12
LENGTHS = np.array([30.0, 31.0, 32.0])
ORIGIN = np.array([-5.0, 2.0, 0.5])


def dump_text(
    positions: Coordinates,
    *,
    places: str = "x y z",
    orders: Sequence[Ints] = (),
    bounds: str = "pp pp pp",
    tilt: Sequence[float] = (),
) -> str:
    """Frames whose positions count from the corner of the box, written from the origin on."""
    box = np.diag(LENGTHS)
    low, high = ORIGIN.copy(), ORIGIN + LENGTHS
    if tilt:
        xy, xz, yz = tilt
        box[1, 0], box[2] = xy, (xz, yz, LENGTHS[2])
        low[:2] += min(0, xy, xz, xy + xz), min(0, yz)
        high[:2] += max(0, xy, xz, xy + xz), max(0, yz)
    names = places.split()
    lines = list[str]()
    for step, frame in enumerate(np.asarray(positions, dtype=np.float64)):
        written = frame @ np.linalg.inv(box) if "s" in names[0] else frame + ORIGIN
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += [f"ITEM: BOX BOUNDS {'xy xz yz ' if tilt else ''}{bounds}"]
        lines += [
            f"{low[axis]} {high[axis]} {tilt[axis] if tilt else ''}".strip() for axis in range(3)
        ]
        lines += [f"ITEM: ATOMS id type {places} vx"]
        order = orders[step] if len(orders) else np.arange(len(frame))
        for atom in order:
            place = " ".join(f"{value:.8f}" for value in written[atom][: len(names)])
            lines.append(f"{10 * atom + 1} {atom % 2 + 1} {place} 0.5 ")
    return "\n".join(lines) + "\n"


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


@pytest.mark.parametrize("suffix", ["lammpstrj", "dump", "lammpsdump", "atom", "LAMMPSDUMP.bz2"])
@pytest.mark.parametrize("places", ["x y z", "xs ys zs", "xu yu zu", "xsu ysu zsu"])
@pytest.mark.parametrize("tilt", [(), (4.0, -3.0, 2.0)])
def test_a_dump_alone_is_read_with_any_kind_of_coordinates(
    tmp_path: Path, suffix: str, places: str, tilt: tuple[float, ...]
) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = tmp_path / f"a.{suffix}"
    text = dump_text(positions, places=places, tilt=tilt).encode()
    path.write_bytes(bz2.compress(text) if suffix.endswith("bz2") else text)
    ensemble = read(path)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-5)
    assert "without a topology" in ensemble.notes[0]
    assert ensemble.atoms.names.tolist() == ["1", "2"] * 6
    assert ensemble.atoms.resids.tolist() == list(range(1, 10 * N_ATOMS, 10))
    assert len(ensemble.atoms.bonds) == 0
    box = ensemble.snapshot()[1]
    assert box is not None
    assert np.linalg.det(box) == pytest.approx(LENGTHS.prod())


def test_a_unit_is_asked_for_only_where_none_was_given(tmp_path: Path) -> None:
    path = tmp_path / "a.lammpstrj"
    path.write_text(dump_text(trajectory_positions(4, N_ATOMS)))
    assert f"{path}: the unit is not known (unit=)" in read(path).notes
    named = read(path, unit="σ")
    assert named.unit == "σ"
    assert not any("unit is not known" in note for note in named.notes)


def test_atoms_that_are_shuffled_are_matched_by_id(tmp_path: Path) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(N_ATOMS) for _ in positions]
    path = tmp_path / "a.dump"
    path.write_text(dump_text(positions, orders=orders))
    np.testing.assert_allclose(coordinates(read(path)), positions, atol=2e-5)
    assert read(path).atoms.names.tolist() == ["1", "2"] * 6
    topology = write_pdb(tmp_path / "top.pdb", [waters(4)])
    np.testing.assert_allclose(coordinates(read(topology, path)), positions, atol=2e-5)


def test_atoms_that_are_others_in_a_later_frame_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.dump"
    text = dump_text(trajectory_positions(3, N_ATOMS))
    head, tail = text.rsplit("\n111 ", 1)
    path.write_text(f"{head}\n222 {tail}")
    ensemble = read(path)
    with pytest.raises(ValueError, match=r"frame 3 .*not the atoms of the first frame: see id 111"):
        coordinates(ensemble)


def test_ids_are_needed_once_and_alike_in_all_files(tmp_path: Path) -> None:
    topology = write_pdb(tmp_path / "top.pdb", [waters(4)])
    text = dump_text(trajectory_positions(2, N_ATOMS))
    one, two, twice = tmp_path / "a.dump", tmp_path / "b.dump", tmp_path / "c.dump"
    one.write_text(text)
    two.write_text(text.replace("\n111 ", "\n112 "))
    twice.write_text(text.replace("\n111 ", "\n101 "))
    with pytest.raises(ValueError, match=r"b\.dump: its atoms are not those of .*a\.dump"):
        read(topology, [one, two])
    with pytest.raises(ValueError, match=r"c\.dump: .*atom 101 is there twice"):
        read(twice)


@pytest.mark.parametrize("suffix", ["dump", "lammpsdump"])
def test_open_directions_have_no_length(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(dump_text(trajectory_positions(2, N_ATOMS), bounds="pp fs mm"))
    box = read(path).snapshot()[1]
    assert box is not None
    np.testing.assert_allclose(box, np.diag([30.0, 0.0, 0.0]))
    path.write_text(dump_text(trajectory_positions(2, N_ATOMS), bounds="ff ff ff"))
    assert read(path).snapshot()[1] is None


def test_motion_in_a_plane_lies_at_zero(tmp_path: Path) -> None:
    positions = trajectory_positions(5, N_ATOMS)
    path = tmp_path / "a.dump"
    path.write_text(dump_text(positions, places="x y"))
    ensemble = read(path)
    np.testing.assert_allclose(coordinates(ensemble)[..., :2], positions[..., :2], atol=2e-5)
    assert not coordinates(ensemble)[..., 2].any()
    assert analyse(path).hierarchy.n_sites == N_ATOMS


@pytest.mark.parametrize("columns", ["x y ix iy", "xs ys ix iy", "x y z ix iy iz"])
def test_images_in_a_plane_need_no_third_column(tmp_path: Path, columns: str) -> None:
    steps = np.random.default_rng(7).normal(scale=3.0, size=(20, N_ATOMS, 2))
    walked = 15.0 + np.cumsum(steps, axis=0)
    images = np.floor(walked / LENGTHS[:2])
    names = [name for name in columns.split() if name in {"x", "y", "z", "xs", "ys"}]
    lines = list[str]()
    for frame, turns in zip(walked - images * LENGTHS[:2], images.astype(int), strict=True):
        places = frame / LENGTHS[:2] if "xs" in names else frame
        lines += ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", str(N_ATOMS)]
        lines += ["ITEM: BOX BOUNDS pp pp pp", "0 30", "0 31", "-0.5 0.5"]
        lines += [f"ITEM: ATOMS id type {columns}"]
        for atom, (place, turn) in enumerate(zip(places, turns, strict=True)):
            flat = [0] * (len(names) - 2)
            lines += [" ".join(map(str, [atom + 1, 1, *place, *flat, *turn, *flat]))]
    path = tmp_path / "a.dump"
    path.write_text("\n".join(lines) + "\n")
    ensemble = read(path, box=False)
    np.testing.assert_allclose(coordinates(ensemble)[..., :2], walked, atol=2e-5)
    assert any("how often sites went" in note for note in ensemble.notes)


def test_positions_are_those_of_mdanalysis(tmp_path: Path) -> None:
    from MDAnalysis.coordinates.LAMMPS import DumpReader

    path = tmp_path / "a.lammpstrj"
    path.write_text(dump_text(trajectory_positions(3, N_ATOMS), tilt=(4.0, -3.0, 2.0)))
    with DumpReader(str(path)) as reader:
        expected = np.array([frame.positions.copy() for frame in reader])
    np.testing.assert_allclose(coordinates(read(path)), expected, atol=1e-4)


def test_a_file_with_units_and_times_is_read(tmp_path: Path) -> None:
    positions = trajectory_positions(3, N_ATOMS)
    text = dump_text(positions).replace("ITEM: TIMESTEP", "ITEM: TIME\n0.5\nITEM: TIMESTEP")
    path = tmp_path / "a.dump.bz2"
    path.write_bytes(bz2.compress(f"ITEM: UNITS\nreal\n{text}".encode()))
    np.testing.assert_allclose(coordinates(read(path)), positions, atol=2e-5)


@pytest.mark.parametrize(
    ("style", "unit", "scale", "picoseconds"),
    [
        ("real", "Å", 1.0, 1e-3),
        ("metal", "Å", 1.0, 1.0),
        ("nano", "Å", 10.0, 1e3),
        ("electron", "Å", 0.529177, 1e-3),
        ("micro", "µm", 1.0, 1e6),
        ("si", "m", 1.0, 1e12),
        ("cgs", "cm", 1.0, 1e12),
        ("lj", "", 1.0, None),
        ("", "", 1.0, None),
    ],
)
def test_units_and_times_are_those_of_the_style(
    tmp_path: Path, style: str, unit: str, scale: float, picoseconds: float | None
) -> None:
    """LAMMPS names its style once, before the first frame, and the time in each."""
    positions = trajectory_positions(4, N_ATOMS)
    parts = dump_text(positions).split("ITEM: TIMESTEP")[1:]
    timed = [f"ITEM: TIME\n{2.5 * k}\nITEM: TIMESTEP{part}" for k, part in enumerate(parts)]
    path = tmp_path / "a.dump"
    path.write_text((f"ITEM: UNITS\n{style}\n" if style else "") + "".join(timed))
    ensemble = read(path)
    assert ensemble.unit == unit
    said = "the σ of Lennard-Jones (units lj); unit=" if style == "lj" else "the unit is not known"
    assert any(said in note for note in ensemble.notes) == (not unit)
    np.testing.assert_allclose(coordinates(ensemble), scale * positions, rtol=1e-5, atol=2e-5)
    box = ensemble.frames.read(3, 4)[1]
    assert box is not None
    np.testing.assert_allclose(np.diag(box[0]), scale * LENGTHS, rtol=1e-6)
    if picoseconds is None:
        with pytest.raises(ValueError, match="its snapshots carry no times"):
            read(path, start="1ps")
    else:
        later = read(path, start=f"{5 * picoseconds}ps")
        np.testing.assert_array_equal(coordinates(later), coordinates(ensemble)[2:])


def test_a_dcd_after_a_data_file_states_no_unit(tmp_path: Path) -> None:
    """LAMMPS writes DCD in the units of the simulation, whatever they are."""
    positions = trajectory_positions(4, N_ATOMS)
    write_trajectory(tmp_path / "a.dcd", positions)
    rows = "".join(f"{k + 1} 1 1 0 0 {k}\n" for k in range(N_ATOMS))
    (tmp_path / "a.data").write_text(
        f"made\n\n{N_ATOMS} atoms\n1 atom types\n\n0 50 xlo xhi\n0 50 ylo yhi\n0 50 zlo zhi\n\n"
        f"Atoms # molecular\n\n{rows}"
    )
    assert read(tmp_path / "a.data", tmp_path / "a.dcd").unit == ""
    assert read(tmp_path / "a.dcd").unit == "Å"


@pytest.mark.parametrize("cut", [1, 2])
def test_a_dump_without_a_final_line_end_is_whole(tmp_path: Path, cut: int) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = tmp_path / "a.dump"
    path.write_text(dump_text(positions)[:-cut])
    ensemble = read(path)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-3)
    assert f"{path}: its last line has no line end, but all its columns" in ensemble.notes[0]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("cut", [3, 9, 200, 500])
def test_a_dump_that_is_cut_off_names_the_frame(tmp_path: Path, cut: int, alone: bool) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = tmp_path / "a.lammpstrj"
    path.write_text(dump_text(positions)[:-cut])
    topology = write_pdb(tmp_path / "top.pdb", [waters(4)])
    source, trajectories = (path, []) if alone else (topology, [path])
    with pytest.raises(ValueError, match=r"a\.lammpstrj: frame 4 .*allow_truncated"):
        read(source, trajectories)
    ensemble = read(source, trajectories, allow_truncated=True)
    assert "the 3 whole frames before it are used" in ensemble.notes[0]
    np.testing.assert_allclose(coordinates(ensemble), positions[:3], atol=2e-5)


def test_a_dump_without_positions_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "a.dump"
    path.write_text(dump_text(trajectory_positions(2, N_ATOMS)).replace("x y z vx", "q r s vx"))
    with pytest.raises(ValueError, match=r"a\.dump: .*needs columns x y z.*got id type q r s vx"):
        read(path)


def test_bounds_may_be_numbers_of_fortran(tmp_path: Path) -> None:
    positions = trajectory_positions(3, N_ATOMS)
    text = dump_text(positions)
    for low, high in zip(ORIGIN, ORIGIN + LENGTHS, strict=True):
        text = text.replace(f"\n{low} {high}\n", f"\n{low}D+00 {high / 10}d1\n")
    path = tmp_path / "a.dump"
    path.write_text(text)
    assert text.count("d1\n") == 9
    ensemble = read(path)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=2e-5)
    box = ensemble.snapshot()[1]
    assert box is not None
    np.testing.assert_allclose(np.diag(box), LENGTHS)


@pytest.mark.parametrize("word", ["x", "1e"])
def test_a_number_that_is_none_names_the_file(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a.dump"
    text = dump_text(trajectory_positions(2, N_ATOMS))
    for old in ("\n11 2 ", "ITEM: ATOMS id type x y z vx\n1 1 "):
        path.write_text(text.replace(old, f"{old}{word}", 1))
        with pytest.raises(ValueError, match=r"a\.dump: .*could not convert string"):
            read(path)


@pytest.mark.parametrize("tilt", [(), (2.0, 1.0, 0.5)], ids=["straight", "tilted"])
def test_a_frame_of_a_dump_that_is_open_in_one_direction_more_is_refused(
    tmp_path: Path, tilt: Sequence[float]
) -> None:
    positions = trajectory_positions(7, N_ATOMS)
    texts = [
        dump_text(positions[k : k + 1], bounds="pp pp ff" if k == 2 else "pp pp pp", tilt=tilt)
        for k in range(7)
    ]
    path = tmp_path / "a.lammpstrj"
    path.write_text("".join(texts))
    with pytest.raises(ValueError, match="frame 3 is periodic along x, y, and other frames"):
        read(path).coordinates()


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("NUMBER OF ENTRIES\n2", "ENTRIES index c_1[1] c_1[2]\n1 1.5 2\n2 2.5 3"),
        ("NUMBER OF BONDS\n2", "BONDS index c_1[1] c_1[2]\n1 1.5 2\n2 2.5 3"),
        ("DIMENSION\n3\nITEM: GRID SIZE nx ny nz\n1 1 2", "GRID CELLS f_1\n1.5\n2.5"),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_a_dump_of_something_else_is_told_from_a_damaged_one(
    tmp_path: Path, item: str, values: str, alone: bool
) -> None:
    bounds = "BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9"
    path = tmp_path / "bonds.dump"
    path.write_text("".join(f"ITEM: {part}\n" for part in ("TIMESTEP\n0", item, bounds, values)))
    sources = [path]
    if not alone:
        sources.insert(0, tmp_path / "a.dump")
        sources[0].write_text(dump_text(np.zeros((1, 2, 3))))
    with pytest.raises(ValueError, match=r"bonds\.dump: it has no positions of atoms") as refused:
        read(*sources)
    assert "damaged" not in str(refused.value)
