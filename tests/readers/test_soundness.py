"""What a file says is believed only if it can be true."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from cProfile import Profile
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pytest

import timme
from tests.liquids import Water
from tests.readers.builders import Record, atom, peptide, write_pdb, write_trajectory
from timme._arrays import Coordinates, Floats, Strings
from timme.readers import guess_bonds, read, read_model
from timme.system.boxes import box_matrices
from timme.system.ensemble import Ensemble
from timme.system.placeholders import is_placeholder

RESIDUES = 60


def molecule(n_frames: int = 3) -> tuple[list[Record], Coordinates]:
    """A peptide that is 230 Å long, and snapshots of it."""
    records = peptide(n_residues=RESIDUES)
    places = np.array([record[6:9] for record in records], dtype=np.float64)
    noise = np.random.default_rng(0).normal(scale=0.02, size=(n_frames, *places.shape))
    return records, (places + noise).astype(np.float32)


def written(tmp_path: Path, box: list[float] | None, suffix: str = ".dcd") -> Ensemble:
    records, places = molecule()
    top = write_pdb(tmp_path / "top.pdb", [records])
    return read(top, write_trajectory(tmp_path / f"a{suffix}", places, box=box))


@pytest.mark.thorough
@pytest.mark.parametrize("box", [None, False])
def test_a_placeholder_costs_no_more_than_no_cell(
    tmp_path: Path, box: Literal[False] | None
) -> None:
    """2,834 atoms × 100 frames: bonds that are guessed through the walls of 1 Å took minutes.

    Seconds are for `make bench`, as those of a busy machine say little: calls and bytes are counted
    here, and seconds only as far as no machine is busy.
    """
    top, bare, celled = barnase_twice(tmp_path)
    without, beside = cost_of(top, bare, box), cost_of(top, celled, box)
    assert beside.calls <= 1.2 * without.calls
    assert beside.bytes <= 1.2 * without.bytes
    assert beside.seconds <= 10 * without.seconds  # walls of 1 Å: a thousand times as long


def barnase_twice(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Write 2,834 atoms × 100 frames of it: a topology without bonds, no cell, one of 1 Å."""
    whole = timme.data.barnase_md()
    places = np.concatenate([whole.coordinates()[:100], whole.coordinates()[:100] + 60], axis=1)
    places = places[:, :2834].astype(np.float32)
    atoms = whole.atoms
    records = [
        atom(
            str(atoms.names[k % len(atoms)]),
            int(atoms.resids[k % len(atoms)]),
            place,
            resname=str(atoms.resnames[k % len(atoms)]),
            chain="AB"[k // len(atoms)],
            element=str(atoms.elements[k % len(atoms)]).upper(),
        )
        for k, place in enumerate(places[0].tolist())
    ]
    return (
        write_pdb(tmp_path / "top.pdb", [records]),
        write_trajectory(tmp_path / "bare.dcd", places),
        write_trajectory(tmp_path / "celled.dcd", places, box=[1.0] * 3 + [90.0] * 3),
    )


class Cost(NamedTuple):
    """What it takes to read all of a file."""

    seconds: float  # of the processor
    calls: int  # of functions
    bytes: int  # at the most at a time


def cost_of(top: Path, path: Path, box: Literal[False] | None) -> Cost:
    """Measure one after the other, as counting takes time and memory."""

    def go() -> None:
        read(top, path, box=box).coordinates()

    go()  # which compiles
    started = time.process_time()
    go()
    seconds = time.process_time() - started
    calls = Profile()
    calls.runcall(go)
    tracemalloc.start()
    go()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(seconds, sum(entry.callcount for entry in calls.getstats()), most)


def box_of(ensemble: Ensemble) -> Floats | None:
    return ensemble.frames.read(0, 1)[1]


@pytest.mark.parametrize("suffix", [".dcd", ".xtc", ".trr"])
@pytest.mark.parametrize("length", [1.0, 2.0, 12.0])
def test_a_box_that_cannot_hold_the_atoms_is_a_placeholder(
    tmp_path: Path, suffix: str, length: float
) -> None:
    boxed = written(tmp_path, [length] * 3 + [90.0] * 3, suffix)
    assert box_of(boxed) is None
    (note,) = boxed.notes
    assert f"{length:g} × {length:g} × {length:g} Å cannot hold the atoms" in note
    np.testing.assert_array_equal(boxed.atoms.bonds, written(tmp_path, None, suffix).atoms.bonds)


@pytest.mark.parametrize("suffix", [".dcd", ".xtc", ".trr"])
def test_a_box_that_holds_the_atoms_is_kept(tmp_path: Path, suffix: str) -> None:
    boxed = written(tmp_path, [240.0, 30.0, 30.0, 90.0, 90.0, 90.0], suffix)
    found = box_of(boxed)
    assert found is not None
    assert np.diag(found[0]).tolist() == pytest.approx([240.0, 30.0, 30.0])
    assert not boxed.notes


def test_a_liquid_that_fills_its_box_is_no_placeholder(water: Water) -> None:
    assert box_of(read(water.topology, water.trajectory)) is not None


@pytest.mark.parametrize(
    ("box", "placeholder"),
    [
        ([2.9, 90.0, 90.0], True),  # narrower than anything
        ([3.1, 90.0, 90.0], False),
        ([90.0, 90.0, 0.0], False),  # open in one direction
        ([0.0, 0.0, 0.0], False),
    ],
)
def test_no_box_is_narrower_than_3_angstrom(box: list[float], placeholder: bool) -> None:
    atoms = np.array([[0.0, 0, 0], [1.5, 0, 0], [0, 1.5, 0]])
    assert is_placeholder(box_matrices(box, 1, 3)[0], atoms) == placeholder


def test_more_atoms_than_there_is_room_for_need_no_search() -> None:
    crowd = np.random.default_rng(0).uniform(0, 300, (100_000, 3))
    assert is_placeholder(np.diag([40.0, 40.0, 40.0]), crowd)  # 1.6 atoms for each Å³
    assert not is_placeholder(np.diag([300.0, 300.0, 300.0]), crowd)


@pytest.fixture(scope="module")
def kinase() -> tuple[Floats, Strings, Strings]:
    """Adenylate kinase, 50 × 47 × 42 Å: places, names and elements."""
    data = pytest.importorskip("MDAnalysisTests.datafiles")
    ensemble = read(data.PSF, data.DCD, stop=1)
    places = np.asarray(ensemble.snapshot()[0], np.float64)
    return places, ensemble.atoms.names, ensemble.atoms.elements


@pytest.mark.parametrize("chosen", ["all", "CA", "backbone"])
@pytest.mark.parametrize(
    ("length", "placeholder"),
    [(25.0, True), (35.0, True), (40.0, True), (42.0, True), (60.0, False)],
)
def test_a_box_a_little_smaller_than_its_protein_is_a_placeholder(
    kinase: tuple[Floats, Strings, Strings], chosen: str, length: float, placeholder: bool
) -> None:
    places, names, elements = kinase
    named = {"CA": ["CA"], "backbone": ["N", "CA", "C", "O"], "all": list(names)}[chosen]
    kept = np.isin(names, named)
    assert is_placeholder(length * np.eye(3), places[kept], elements[kept]) == placeholder


@pytest.mark.parametrize(
    ("residues", "length", "placeholder"),
    [(30, 20.0, True), (30, 14.0, True), (10, 10.0, True), (10, 8.0, True), (30, 26.0, False)],
)
def test_a_box_smaller_than_a_fragment_is_a_placeholder(
    kinase: tuple[Floats, Strings, Strings], residues: int, length: float, placeholder: bool
) -> None:
    """It has few neighbours through the walls, but each is a bond that no molecule has."""
    places, names, elements = kinase
    backbone = np.flatnonzero(np.isin(names, ["N", "CA", "C", "O"]))[: 4 * residues]
    assert np.ptp(places[backbone], axis=0).max() > 17
    found = is_placeholder(length * np.eye(3), places[backbone], elements[backbone])
    assert found == placeholder


@pytest.mark.parametrize("chosen", ["all", "CA", "OW"])
def test_a_solvated_protein_in_a_rhombic_box_is_held(chosen: str) -> None:
    data = pytest.importorskip("MDAnalysisTests.datafiles")
    ensemble = read(data.GRO, data.XTC, stop=1, bonds="none")
    places, boxes = ensemble.frames.read(0, 1)
    assert boxes is not None  # whole molecules, which reach far beyond the walls
    kept = np.full(ensemble.n_sites, True) if chosen == "all" else ensemble.atoms.names == chosen
    elements = ensemble.atoms.elements[kept]
    assert not is_placeholder(boxes[0], places[0][kept], elements)
    shifts = np.random.default_rng(0).integers(-1, 2, size=(ensemble.n_sites, 3))
    shifts = shifts[np.unique(ensemble.atoms.resids, return_inverse=True)[1]]
    assert not is_placeholder(boxes[0], (places[0] + shifts @ boxes[0])[kept], elements)


def crystal(side: int, spacing: float) -> Floats:
    """Diamond, of side × side × side cells whose atoms have moved a little."""
    corners = np.array([[0, 0, 0], [0, 2, 2], [2, 0, 2], [2, 2, 0]]) / 4
    cell = np.concatenate([corners, corners + 0.25])
    shifts = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 1, 3)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(8 * side**3, 3))
    return spacing * (cell + shifts).reshape(-1, 3) + noise


@pytest.mark.parametrize("spread", [0, 2])
def test_a_crystal_that_is_bound_through_all_walls_is_held(spread: int) -> None:
    places = crystal(4, 3.57)
    box = 4 * 3.57 * np.eye(3)
    moved = np.random.default_rng(0).integers(-spread, spread + 1, size=places.shape) @ box
    elements = np.full(len(places), "C")
    assert not is_placeholder(box, places + moved, elements)
    assert is_placeholder(0.8 * box, places, elements)


def test_whole_chains_longer_than_their_box_are_held() -> None:
    zigzag = np.column_stack([1.27 * np.arange(60), 0.87 * (np.arange(60) % 2), np.zeros(60)])
    across = 4.5 * np.stack(np.meshgrid(0, np.arange(4), np.arange(4)), axis=-1).reshape(-1, 1, 3)
    melt = (zigzag + across).reshape(-1, 3)  # chains of 75 Å, side by side
    box = np.diag([79.0, 18.0, 18.0])
    tilted = np.array([[79.0, 0, 0], [30.0, 18.0, 0], [0, 0, 18.0]])
    for walls in (box, tilted):
        assert not is_placeholder(walls, melt, np.full(len(melt), "C"))


def test_bonds_are_guessed_in_open_space_if_the_box_is_a_placeholder(tmp_path: Path) -> None:
    records, places = molecule()
    atoms = read(write_pdb(tmp_path / "a.pdb", [records]), bonds="none").atoms
    expected = guess_bonds(atoms, places[0])
    assert len(expected) > len(records) - RESIDUES
    np.testing.assert_array_equal(guess_bonds(atoms, places[0], box=np.eye(3)), expected)


# ---- clashes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", [read, read_model])
def test_models_piled_into_one_are_refused(tmp_path: Path, reader: Callable[..., object]) -> None:
    records, places = molecule()
    piled = [
        (*record[:3], chain, *record[4:6], *map(float, place), *record[9:])
        for chain, snapshot in zip("ABC", places, strict=True)
        for record, place in zip(records, snapshot, strict=True)
    ]
    path = write_pdb(tmp_path / "pile.pdb", [piled, piled])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"900 of 900 heavy atoms lie within 0\.5 Å.*models"):
        reader(path)


def extended(path: Path, records: list[Record], places: Coordinates, lattice: str = "") -> Path:
    """Write an extended XYZ file, which states no unit."""
    lines = list[str]()
    for snapshot in places:
        lines += [str(len(records)), f"{lattice} Properties=species:S:1:pos:R:3"]
        lines += [
            f"{record[-1]} " + " ".join(f"{x:.4f}" for x in place)
            for record, place in zip(records, snapshot, strict=True)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("length", [1, 20])
def test_a_placeholder_is_known_where_no_unit_is_stated(tmp_path: Path, length: int) -> None:
    records, places = molecule()
    cube = f'Lattice="{length} 0 0 0 {length} 0 0 0 {length}"'
    boxed = read(extended(tmp_path / "a.extxyz", records, places, cube))
    plain = read(extended(tmp_path / "b.extxyz", records, places))
    assert box_of(boxed) is None
    assert any("taken for a placeholder" in note for note in boxed.notes)
    np.testing.assert_array_equal(boxed.atoms.bonds, plain.atoms.bonds)


@pytest.mark.parametrize("unit", [None, "Å"])
def test_copies_piled_up_where_no_unit_is_stated_are_refused(
    tmp_path: Path, unit: str | None
) -> None:
    records, places = molecule()
    piled = np.concatenate([places, places + 0.1], axis=1)
    path = extended(tmp_path / "a.xyz", [*records, *records], piled)
    with pytest.raises(ValueError, match=r"600 of 600 heavy atoms lie within 0\.5 Å"):
        read(path, unit=unit)


def piled_at(number: int, n_frames: int) -> tuple[list[Record], Coordinates]:
    records, places = molecule(n_frames)
    places[number - 1] = 5.0
    return records, places


@pytest.mark.parametrize("number", [2, 14, 30])
def test_clashes_are_found_in_every_model(tmp_path: Path, number: int) -> None:
    records, places = piled_at(number, 30)
    models = [
        [
            (*record[:6], *map(float, place), *record[9:])
            for record, place in zip(records, frame, strict=True)
        ]
        for frame in places
    ]
    path = write_pdb(tmp_path / "a.pdb", models)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=rf"300 of 300 heavy.* in snapshot {number}, such as A/"):
        read(path)


@pytest.mark.parametrize("number", [1, 15, 30])
def test_clashes_of_a_trajectory_are_found_here_and_there(tmp_path: Path, number: int) -> None:
    records, places = piled_at(number, 30)
    if number == 15:  # as one run among others that went wrong
        places[10:20] = 5.0
    top = write_pdb(tmp_path / "top.pdb", [records])
    with pytest.raises(ValueError, match=r"300 of 300 heavy atoms .* in snapshot \d+, such as"):
        read(top, write_trajectory(tmp_path / "a.xtc", places))


def test_a_few_misplaced_atoms_are_no_error_but_a_note(tmp_path: Path) -> None:
    records, _ = molecule()
    records[7] = (*records[7][:6], *(x + 0.3 for x in records[20][6:9]), *records[7][9:])  # type: ignore[assignment]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert any("nearer than chemistry allows" in note for note in ensemble.notes)


# ---- distances that no chemistry knows -------------------------------------------------------


def pair(tmp_path: Path, one: str, other: str, distance: float) -> tuple[str, ...]:
    """Notes on two atoms of other residues, each bound to a carbon of its own."""
    atoms = [
        atom("CB", 1, (-1.5, 0.0, 0.0), resname="CYS"),
        atom(one, 1, (0.0, 0.0, 0.0), resname="CYS"),
        atom(other, 5, (distance, 0.0, 0.0), resname="CYS"),
        atom("CB", 5, (distance + (1.09 if other[0] == "H" else 1.5), 0.0, 0.0), resname="CYS"),
    ]
    return read(write_pdb(tmp_path / "a.pdb", [atoms])).notes


@pytest.mark.parametrize(
    ("one", "other", "distance", "strange"),
    [
        ("SG", "SG", 2.05, False),
        ("SG", "SG", 1.0, True),
        ("O", "HB", 1.6, False),
        ("O", "HB", 0.8, True),
        ("C", "N", 1.16, False),  # a nitrile
    ],
)
def test_distances_that_no_chemistry_knows_are_told(
    tmp_path: Path, one: str, other: str, distance: float, strange: bool
) -> None:
    notes = pair(tmp_path, one, other, distance)
    assert any(f"{distance:.2f} Å apart" in note for note in notes) == strange


def bound(
    tmp_path: Path, one: str, other: str, distance: float, *, resids: tuple[int, int] = (20, 40)
) -> tuple[str, ...]:
    """Notes on two atoms far from the rest of their residues, which are bound to one another."""
    atoms = [
        atom(one, resids[0], (0.0, 0.0, 0.0), resname="SER"),
        atom(other, resids[1], (distance, 0.0, 0.0), resname="GLN"),
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [atoms]))
    assert len(ensemble.atoms.bonds) == 1
    return ensemble.notes


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("O", "HA", 0.8), ("O", "HA", 1.1), ("CB", "CG", 1.5), ("OG", "NE2", 1.3), ("CB", "N", 1.8)],
)
def test_bonds_between_residues_that_have_none_are_told(
    tmp_path: Path, one: str, other: str, distance: float
) -> None:
    (note,) = bound(tmp_path, one, other, distance)
    assert "1 covalent bond between residues that have none, such as " in note
    assert f"A/SER 20/{one} and A/GLN 40/{other}, {distance:.2f} Å apart" in note


@pytest.mark.parametrize(
    ("one", "other", "distance", "resids"),
    [
        ("C", "N", 1.33, (1, 40)),  # a ring
        ("OG", "CD", 1.36, (20, 40)),  # an ester
        ("SG", "SG", 2.05, (20, 40)),
        ("C", "N", 1.33, (20, 21)),
        ("C", "N", 1.7, (20, 21)),
    ],
)
def test_links_that_proteins_have_are_not_told(
    tmp_path: Path, one: str, other: str, distance: float, resids: tuple[int, int]
) -> None:
    assert bound(tmp_path, one, other, distance, resids=resids) == ()


def test_a_hydrogen_with_two_bonds_is_told(tmp_path: Path) -> None:
    atoms = [
        atom("OG", 1, (0.0, 0.0, 0.0), resname="SER"),
        atom("HG", 1, (1.0, 0.0, 0.0), resname="SER"),
        atom("OB", 1, (2.4, 0.0, 0.0), resname="SER"),
    ]
    path = write_pdb(tmp_path / "a.pdb", [atoms], extra=["CONECT    2    3"])
    (note,) = read(path).notes
    assert "1 hydrogen with two covalent bonds, such as A/SER 1/HG and A/SER 1/O" in note


def test_hydrogens_after_all_other_atoms_are_those_of_their_residues(tmp_path: Path) -> None:
    records = peptide(n_residues=4)
    carbons = [record for record in records if record[0] == "CA"]
    hydrogens = [
        atom("HA", int(record[4]), (record[6], record[7], float(record[8]) + 1.09))
        for record in carbons
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [[*records, *hydrogens]]))
    assert len(ensemble.atoms.bonds) == len(records) - 1 + len(hydrogens)
    assert ensemble.notes == ()
