"""Extended XYZ: the box and the columns that the title of a frame gives."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests import naive
from tests.readers.builders import trajectory_positions
from tests.readers.texts import KEPT, NAMED, PLACES
from timme._arrays import Coordinates
from timme.readers import read

STRAIGHT = "30 0 0 0 31 0 0 0 32"
TILTED = "30 0 0 10 31 0 0 0 33"


def write_xyz(path: Path, positions: Coordinates, *titles: str, first: str = "C") -> Path:
    """Write frames, the last title for all that are left."""
    lines = list[str]()
    for number, frame in enumerate(positions):
        lines += [str(len(frame)), titles[min(number, len(titles) - 1)]]
        lines += [f"{first} {x:.3f} {y:.3f} {z:.3f} 0.5" for x, y, z in frame]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (f'Lattice="{STRAIGHT}"', np.diag([30, 31, 32])),
        (f"energy=-1 lattice='{STRAIGHT}' Properties=species:S:1:pos:R:3", np.diag([30, 31, 32])),
        (f'Lattice="{STRAIGHT}" pbc="T T T"', np.diag([30, 31, 32])),
        (f'Lattice="{STRAIGHT}" pbc="T T F"', np.diag([30, 31, 0])),
        (f'Lattice="{STRAIGHT}" pbc="[T, F, T]"', np.diag([30, 0, 32])),
        (f'pbc="1 0 true" Lattice="{STRAIGHT}"', np.diag([30, 0, 32])),
        (f'Lattice="{STRAIGHT}" pbc=[T, F, T] energy=3', np.diag([30, 0, 32])),
        ('Lattice="-30 0 0 0 31 0 0 0 -32"', np.diag([30, 31, 32])),
        (f'Lattice="{TILTED}"', [[30, 0, 0], [10, 31, 0], [0, 0, 33]]),
        (f'Lattice="{STRAIGHT}" pbc="F F F"', None),
        ('Lattice="0 0 0 0 0 0 0 0 0"', None),
        ("my_lattice=30", None),
        ("a title with a Lattice", None),
        ("", None),
    ],
)
def test_the_title_gives_the_box(tmp_path: Path, title: str, expected: Any) -> None:
    positions = trajectory_positions(3, 5)
    ensemble = read(write_xyz(tmp_path / "a.xyz", positions, title))
    found, box = ensemble.snapshot(1)
    np.testing.assert_allclose(found, positions[1], atol=1e-5)
    assert ensemble.atoms.elements.tolist() == ["C"] * 5
    assert not any("box" in note for note in ensemble.notes)
    if expected is None:
        assert box is None
    else:
        assert np.array_equal(np.asarray(box), expected)


def test_every_frame_has_its_own_box(tmp_path: Path) -> None:
    titles = [f'Lattice="{size} 0 0 0 {size} 0 0 0 {size}"' for size in (30, 31, 32)]
    ensemble = read(write_xyz(tmp_path / "a.xyz", trajectory_positions(3, 5), *titles))
    assert [np.asarray(ensemble.snapshot(t)[1])[0, 0] for t in range(3)] == [30, 31, 32]


def test_pairs_reach_through_the_walls(tmp_path: Path) -> None:
    still = np.zeros((4, 2, 3))
    still[:, 1] = [[9.0, 0, 0], [1.0, 0, 0], [9.0, 0, 0], [1.0, 0, 0]]  # 1 away, on either side
    wrapped = read(write_xyz(tmp_path / "a.xyz", still, 'Lattice="10 0 0 0 10 0 0 0 10"'))
    bare = read(write_xyz(tmp_path / "b.xyz", still, "no box"))
    for ensemble, sigma in ((wrapped, 0.0), (bare, 4.0)):
        objects = timme.objects.points(ensemble)
        assert timme.measure(objects, timme.pairs.all(objects)).sigma == pytest.approx([sigma])


def test_a_tilted_box_may_be_open_in_a_direction(tmp_path: Path) -> None:
    positions = trajectory_positions(3, 5)
    path = write_xyz(tmp_path / "a.xyz", positions, f'Lattice="{TILTED}" pbc="T T F"')
    box = np.array(TILTED.split(), dtype=float).reshape(3, 3) * [[1], [1], [0]]
    objects = timme.objects.points(read(path))
    with pytest.warns(UserWarning, match="half the periodic box"):
        found = timme.measure(objects, timme.pairs.all(objects))
    for (a, b), sigma in zip(found.pairs.tolist(), found.sigma.tolist(), strict=True):
        distances = [
            np.linalg.norm(naive.nearest_image(frame[a], frame[b], box) - frame[a])
            for frame in positions
        ]
        assert sigma == pytest.approx(np.std(distances), rel=1e-5)


def test_positions_stand_in_the_columns_of_the_title(tmp_path: Path) -> None:
    positions = trajectory_positions(2, 5)
    title = "Properties=species:S:1:charge:R:1:tag:I:2:pos:R:3:mass:R:1"
    ensemble = read(write_xyz(tmp_path / "a.xyz", positions, title, first="C -1.0 7 8"))
    np.testing.assert_allclose(ensemble.snapshot(1)[0], positions[1], atol=1e-5)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('Lattice="30 31 32"', "its Lattice needs 9 numbers, got '30 31 32'"),
        ('Lattice="30 0 0 0 wide 0 0 0 30"', "its Lattice needs 9 numbers"),
        (f'Lattice="{STRAIGHT}" pbc="T T"', "its pbc needs T or F three times, got 2"),
    ],
)
def test_a_box_that_cannot_be_read_is_refused(tmp_path: Path, title: str, expected: str) -> None:
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(3, 5), title)
    with pytest.raises(ValueError, match=rf"a\.xyz: frame 1 cannot be read \({expected}"):
        read(path)


def test_frames_of_other_atoms_are_refused(tmp_path: Path) -> None:
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(3, 5), "")
    other = write_xyz(tmp_path / "b.xyz", trajectory_positions(1, 4), "").read_text()
    path.write_text(path.read_text() + other)
    with pytest.raises(ValueError, match=r"a\.xyz: frame 4 has 4 atoms, the others have 5"):
        read(path)


@pytest.mark.parametrize(
    ("title", "row", "expected"),
    [
        ("Properties=species:S:1:force:R:3", "C 1 2 3", "its Properties need positions, such as"),
        ("Properties=species:S:1:pos:R:1", "C 1", "its Properties need positions, such as"),
        ("Properties=species:S:one:pos:R:3", "C 1 2 3", "need name:type:count for each"),
        ("Properties=species:S:1:pos:R:3:id:I:1", "C 1 2 3 a", "invalid literal"),
        ("", "C 1 2", "invalid column index 3 at row"),
        ("", "", "coordinates are missing|invalid column index"),
        ("", "C 1 two 3", "could not convert string 'two'"),
    ],
)
@pytest.mark.parametrize("suffix", ["xyz", "extxyz"])
def test_rows_that_cannot_be_read_name_the_file(
    tmp_path: Path, title: str, row: str, expected: str, suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    whole = "C 1 2 3 4" if "id" in title else "C 1 2 3"
    path.write_text("\n".join(["3", title, whole, row, whole, ""] * 2))
    with pytest.raises(ValueError, match=rf"a\.{suffix}: frame 1 cannot be read \(.*({expected})"):
        read(path)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", ["xyz", "extxyz", "gro", "dump"])
def test_a_mark_of_the_byte_order_does_not_matter(tmp_path: Path, kind: str, packed: bool) -> None:
    suffix, write = NAMED[kind]
    path = write(tmp_path / f"a.{suffix}", PLACES, KEPT)
    data = b"\xef\xbb\xbf" + path.read_bytes()
    marked = tmp_path / (f"b.{suffix}.gz" if packed else f"b.{suffix}")
    marked.write_bytes(gzip.compress(data) if packed else data)
    found, plain = (read(each, bonds="none").frames.read(0, 4)[0] for each in (marked, path))
    np.testing.assert_array_equal(found, plain)


def test_a_frame_that_is_open_in_another_direction_is_refused(tmp_path: Path) -> None:
    """As many are periodic, but others."""
    box = f'Lattice="{STRAIGHT}"'
    titles = [f'{box} pbc="{flags}"' for flags in ("T T F", "T T F", "T F T", "T T F")]
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(4, 5), *titles)
    told = r"a\.xyz: frame 3 is periodic along x, z, and other frames along x, y:"
    with pytest.raises(ValueError, match=told):
        read(path, bonds="none").coordinates()


def test_a_frame_that_is_open_in_one_direction_more_is_refused(tmp_path: Path) -> None:
    box = f'Lattice="{STRAIGHT}"'
    titles = [f'{box} pbc="T T {z}"' for z in "TTTFTTT"]
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(7, 5), *titles)
    with pytest.raises(
        ValueError, match=r"a\.xyz: frame 4 is periodic along x, y, and other frames along x, y, z"
    ):
        read(path, bonds="none").coordinates()
    assert read(path, bonds="none", stop=3).coordinates().shape == (3, 5, 3)


@pytest.mark.parametrize(
    "title",
    [
        "Lattice=[[30,0,0],[0,31,0],[0,0,32]]",
        "Lattice=[30 0 0 0 31 0 0 0 32]",
        'Lattice="[[30, 0, 0], [0, 31, 0], [0, 0, 32]]" energy=1.0',
        "Lattice={30 0 0 0 31 0 0 0 32} Properties=species:S:1:pos:R:3",
        'Lattice="30,0,0,0,31,0,0,0,32"',
        'Lattice="3.0D+01 0 0 0 31 0 0 0 3.2d1"',
        '{"energy": 1.0, "Lattice": [[30, 0, 0], [0, 31, 0], [0, 0, 32]], "pbc": [true, true, 1]}',
        'Lattice="30 0 0 0 31 0 0 0 32" pbc="TTT"',
        'Lattice="30 0 0 0 31 0 0 0 32" pbc={T T T}',
    ],
)
def test_a_lattice_is_understood_in_any_form(tmp_path: Path, title: str) -> None:
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(2, 5), title, title)
    boxes = read(path, bonds="none").frames.read(0, 2)[1]
    assert boxes is not None
    np.testing.assert_allclose(boxes, [np.diag([30.0, 31.0, 32.0])] * 2)


def test_words_about_a_lattice_are_none(tmp_path: Path) -> None:
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(2, 5), *["a lattice: cubic"] * 2)
    assert read(path, bonds="none").frames.read(0, 2)[1] is None


@pytest.mark.parametrize("letter", "dD")
def test_exponents_of_fortran_are_numbers(tmp_path: Path, letter: str) -> None:
    places = trajectory_positions(3, 5)
    path = write_xyz(tmp_path / "a.xyz", places, *[""] * 3)
    rows = path.read_text().splitlines()
    for number, line in enumerate(rows):
        words = line.split()
        if len(words) == 4:
            numbers = [f"{float(word):.10e}".replace("e", letter) for word in words[1:]]
            rows[number] = " ".join([words[0], *numbers])
    path.write_text("\n".join([*rows, ""]))
    np.testing.assert_allclose(read(path, bonds="none").coordinates(), places, atol=1e-4)


@pytest.mark.parametrize(
    "title",
    [
        "# CELL(abcABC):   30.0  31.0 32.0  90.0 90.0 60.0  Step: 0  Bead: 0",
        "# CELL(abcABC): 30 31 32 90 90 60 Step: 7 positions{angstrom} cell{angstrom}",
        "# CELL(H): 30 15.5 0 0 26.846787517 0 0 0 32 Step: 7",
    ],
)
def test_cells_of_ipi_are_boxes(tmp_path: Path, title: str) -> None:
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(2, 5), title, title)
    boxes = read(path, bonds="none").frames.read(0, 2)[1]
    assert boxes is not None
    found = np.sort(np.linalg.norm(boxes[0], axis=1))
    # of 31 at 60° to 30, the difference of both is the shorter one
    shortest = np.sqrt(30.0**2 + 31.0**2 - 30.0 * 31.0)
    np.testing.assert_allclose(found, [30.0, shortest, 32.0], rtol=1e-6)


def test_a_cell_of_ipi_in_another_unit_is_refused(tmp_path: Path) -> None:
    title = "# CELL(abcABC): 30 31 32 90 90 90 Step: 7 positions{angstrom} cell{atomic_unit}"
    path = write_xyz(tmp_path / "a.xyz", trajectory_positions(2, 5), title, title)
    with pytest.raises(ValueError, match="cell is not in the unit of its positions"):
        read(path, bonds="none")


BOX = np.diag([9.0, 10.0, 11.0])


def wandering(n_frames: int = 6, n_atoms: int = 10) -> tuple[Coordinates, Coordinates]:
    """Places in the box, and how often each went through its walls."""
    rng = np.random.default_rng(7)
    parts = rng.uniform(size=(1, n_atoms, 3)) + rng.normal(scale=0.4, size=(n_frames, n_atoms, 3))
    return (parts - np.floor(parts)) @ BOX, np.floor(parts)


def extended(path: Path, columns: str, rows: Sequence[Sequence[str]]) -> Path:
    lines = list[str]()
    for frame in rows:
        lines += [str(len(frame)), f'Lattice="9 0 0 0 10 0 0 0 11" Properties={columns}', *frame]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "column",
    [
        "id", "ids", "atom_id", "ParticleIdentifier", "Particle_Identifier", "particle_id",
        "index", "Serial", "tags", "id:R",
    ],
)  # fmt: skip
def test_atoms_of_a_species_are_told_apart_by_whatever_numbers_them(
    tmp_path: Path, column: str
) -> None:
    rng, (places, _) = np.random.default_rng(1), wandering()
    rows = [
        [f"Ar {x:.6f} {y:.6f} {z:.6f} {k + 1}" for k in order for x, y, z in [frame[k]]]
        for frame, order in ((frame, rng.permutation(len(frame))) for frame in places)
    ]
    stated = column if ":" in column else f"{column}:I"
    path = extended(tmp_path / "a.xyz", f"species:S:1:pos:R:3:{stated}:1", rows)
    np.testing.assert_allclose(read(path).coordinates(), places, atol=1e-5)


@pytest.mark.parametrize("column", ["tags:I:1", "index:I:1", "id:R:1"])
def test_numbers_that_do_not_tell_atoms_apart_are_no_ids(tmp_path: Path, column: str) -> None:
    places = wandering()[0]
    rows = [[f"Ar {x:.6f} {y:.6f} {z:.6f} 0" for x, y, z in frame] for frame in places]
    path = extended(tmp_path / "a.xyz", f"species:S:1:pos:R:3:{column}", rows)
    np.testing.assert_allclose(read(path).coordinates(), places, atol=1e-5)


@pytest.mark.parametrize(
    "columns", ["periodic_image:I:3", "Image:I:3", "image_flags:I:3", "ix:I:1:iy:I:1:iz:I:1"]
)
def test_images_put_atoms_where_they_went(tmp_path: Path, columns: str) -> None:
    places, images = wandering()
    rows = [
        [
            f"Ar {x:.6f} {y:.6f} {z:.6f} {i:.0f} {j:.0f} {k:.0f}"
            for (x, y, z), (i, j, k) in zip(*frame, strict=True)
        ]
        for frame in zip(places, images, strict=True)
    ]
    path = extended(tmp_path / "a.xyz", f"species:S:1:pos:R:3:{columns}", rows)
    kinds: tuple[dict[str, Any], ...] = {"box": False}, {"unwrap": True}
    for kind in kinds:
        ensemble = read(path, bonds="none", **kind)
        assert any("went through the walls" in note for note in ensemble.notes)
        np.testing.assert_allclose(ensemble.coordinates(), places + images @ BOX, atol=1e-5)
    np.testing.assert_allclose(read(path, bonds="none").coordinates(), places, atol=1e-5)
    lines = path.read_text().splitlines()
    lines[len(lines) // 2 + 1] = lines[1].replace(f":{columns}", ":more:R:3")
    path.write_text("\n".join(lines) + "\n")
    partly = read(path, box=False, bonds="none")
    assert any("only some of its frames tell" in note for note in partly.notes)
    np.testing.assert_allclose(partly.coordinates(), places, atol=1e-5)


@pytest.mark.parametrize(
    "title",
    [
        'cell="10 0 0 0 10 0 0 0 10"',
        "cell= 10 10 10",
        "CELL: 10 10 10 90 90 90",
        "Step 5 Box 10 10 10",
        "unit cell 10, 10, 10",
        "unitcell [10 10 10]",
        "crystal 1.0e1 10 10",
        "dimensions 10 10 10",
        "a = 10.0, b=10, c=10",
        "10.0 10.0 10.0",
        "10 0 0 0 10 0 0 0 10",
    ],
)
def test_a_title_that_may_tell_a_box_is_pointed_out(tmp_path: Path, title: str) -> None:
    path = tmp_path / "a.xyz"
    frame = f"2\n{title}\nAr 0 0 0\nAr 1 {{}} 0\n"
    path.write_text(frame.format(0) + frame.format(2))
    assert any("not taken for a periodic box" in note for note in read(path).notes)
    assert not any("periodic box" in note for note in read(path, box=[10, 10, 10]).notes)


@pytest.mark.parametrize(
    "title", ["", "frame 3", "10 20", "i = 3, time = 10.0, E = -3.5", "boxer 7", "energy 1 2 3"]
)
def test_a_title_that_tells_no_box_is_not_pointed_out(tmp_path: Path, title: str) -> None:
    path = tmp_path / "a.xyz"
    frame = f"2\n{title}\nAr 0 0 0\nAr 1 {{}} 0\n"
    path.write_text(frame.format(0) + frame.format(2))
    assert not any("periodic box" in note for note in read(path).notes)
