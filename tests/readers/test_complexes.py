"""Chains that touch stay together, whichever walls part them in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.readers.builders import Record, atom, write_pdb, write_trajectory
from timme._arrays import Coordinates, Floats, Ints
from timme.readers import read
from timme.readers.universes import quiet

BOX = np.array([40.0, 41.0, 42.0])
TILTED = [40.0, 41.0, 42.0, 80.0, 75.0, 100.0]
N_CHAIN, N_LIGAND, N_FRAMES = 12, 3, 12
BESIDE = np.array([0.0, 4.0, 0.0])  # from a chain to the next


def rod(chain: str, place: Floats) -> list[Record]:
    """A chain of three residues, straight, with bonds of 1.4 Å."""
    names = [(name, resid) for resid in (1, 2, 3) for name in ("N", "CA", "C", "O")]
    return [
        atom(name, resid, (place + np.array([1.4 * k, 0, 0])).tolist(), chain=chain)
        for k, (name, resid) in enumerate(names)
    ]


def ligand(place: Floats) -> list[Record]:
    return [
        atom(f"C{k}", 1, (place + np.array([1.4 * k, 0, 0])).tolist(), resname="LIG", chain="L")
        for k in range(N_LIGAND)
    ]


def water(number: int) -> list[Record]:
    return [atom("O", number, (3.0 * number, 20.0, 30.0), resname="HOH", chain="W")]


STRUCTURE = [
    *rod("A", np.zeros(3)),
    *rod("B", BESIDE),
    *rod("C", 5 * BESIDE),  # which touches neither
    *ligand(-BESIDE),
    *(record for number in range(1, 4) for record in water(number)),
]
MOLECULES = np.repeat(np.arange(7), [N_CHAIN] * 3 + [N_LIGAND] + [1] * 3)


def drifting(cell: list[float]) -> tuple[Coordinates, Coordinates]:
    """The complex on its way through a wall: as it is, and every molecule put into the box."""
    from MDAnalysis.lib.mdamath import triclinic_vectors

    box = np.asarray(triclinic_vectors(cell), np.float64)
    rng = np.random.default_rng(2)
    rest = np.array([record[6:9] for record in STRUCTURE])
    drift = np.linspace(0, 1, N_FRAMES)[:, None, None] * [9.0, 45.0, 30.0]
    whole = rest + drift + rng.normal(scale=0.05, size=(N_FRAMES, len(rest), 3))
    wrapped = whole.copy()
    for molecule in np.unique(MOLECULES):
        own = molecule == MOLECULES
        turns = np.floor(whole[:, own].mean(axis=1) @ np.linalg.inv(box))
        wrapped[:, own] -= (turns @ box)[:, None]
    return whole, wrapped


def files(folder: Path, cell: list[float]) -> tuple[Path, Path, Coordinates]:
    whole, wrapped = drifting(cell)
    topology = write_pdb(folder / "complex.pdb", [STRUCTURE])
    path = write_trajectory(folder / "a.dcd", wrapped.astype(np.float32), box=cell)
    return topology, path, whole


def between(places: Coordinates, one: int, other: int, molecules: Ints) -> Floats:
    ends = [places[:, molecules == number].mean(axis=1) for number in (one, other)]
    vectors: Floats = ends[1] - ends[0]
    return vectors


CELLS: list[list[float]] = [[*BOX.tolist(), 90.0, 90.0, 90.0], TILTED]


@pytest.mark.parametrize("cell", CELLS, ids=["straight", "tilted"])
def test_chains_and_ligands_that_touch_are_together_in_every_snapshot(
    tmp_path: Path, cell: list[float]
) -> None:
    topology, path, whole = files(tmp_path, cell)
    ensemble = read(topology, path)
    molecules = MOLECULES[ensemble.site_atoms]
    for other in (1, 3):  # chain B, the ligand
        found = between(ensemble.coordinates(), 0, other, molecules)
        np.testing.assert_allclose(found, between(whole, 0, other, MOLECULES), atol=1e-3)


@pytest.mark.parametrize("touching", [range(5, 7), range(9, 12)], ids=["half-way", "at the end"])
def test_chains_that_meet_later_are_together_when_they_do(tmp_path: Path, touching: range) -> None:
    """Chain B comes from 12 Å away, each molecule put into the box by itself."""
    records = [*rod("A", np.zeros(3)), *rod("B", BESIDE)]
    rest = np.array([record[6:9] for record in records])
    far = np.array([0.0 if frame in touching else 8.0 for frame in range(N_FRAMES)])
    whole = np.tile(rest, (N_FRAMES, 1, 1)) + np.linspace(0, 60, N_FRAMES)[:, None, None]
    whole[:, N_CHAIN:, 1] += far[:, None]
    wrapped = whole.copy()
    for own in (slice(N_CHAIN), slice(N_CHAIN, None)):
        wrapped[:, own] -= (np.floor(whole[:, own].mean(axis=1) / BOX) * BOX)[:, None]
    topology = write_pdb(tmp_path / "a.pdb", [records])
    cell = [*BOX.tolist(), 90.0, 90.0, 90.0]
    path = write_trajectory(tmp_path / "a.dcd", wrapped.astype(np.float32), box=cell)
    found = read(topology, path).coordinates()
    steps = found[:, N_CHAIN:].mean(axis=1) - found[:, :N_CHAIN].mean(axis=1)
    np.testing.assert_allclose(steps, far[:, None] * [0, 1, 0] + BESIDE, atol=1e-3)


def test_parts_of_a_complex_are_together_whatever_is_selected(tmp_path: Path) -> None:
    topology, path, whole = files(tmp_path, CELLS[0])
    sites = [5, *range(N_CHAIN, 2 * N_CHAIN)]  # one atom of chain A, and chain B
    ensemble = read(topology, path, select=sites)
    expected = whole[:, sites] - whole[:, sites[:1]]
    found = ensemble.coordinates()
    np.testing.assert_allclose(found - found[:, :1], expected, atol=1e-3)


def test_fluctuations_through_the_box_are_the_same_wherever_chains_are(tmp_path: Path) -> None:
    topology, path, whole = files(tmp_path, CELLS[0])
    ensemble = read(topology, path, select="all")
    objects = timme.objects.points(ensemble)
    index = [(0, 20), (2, 3 * N_CHAIN + 1), (3, N_CHAIN + 4)]
    sigma = timme.measure(objects, timme.pairs.given(objects, index)).sigma
    expected = [np.linalg.norm(whole[:, a] - whole[:, b], axis=1).std() for a, b in index]
    np.testing.assert_allclose(sigma, expected, rtol=1e-4)


def test_without_a_box_a_ligand_that_leaves_is_where_the_file_has_it(tmp_path: Path) -> None:
    """It begins at the chain, and goes farther than half of the box, through no wall."""
    records = [*rod("A", np.zeros(3)), *ligand(BESIDE)]
    rest = np.array([record[6:9] for record in records])
    places = np.tile(rest, (N_FRAMES, 1, 1))
    places[:, N_CHAIN:, 1] += np.linspace(0, 35, N_FRAMES)[:, None]
    topology = write_pdb(tmp_path / "a.pdb", [records])
    path = write_trajectory(tmp_path / "a.dcd", places.astype(np.float32), box=CELLS[0])
    ensemble = read(topology, path, select="all", box=False)
    np.testing.assert_allclose(ensemble.coordinates(), places, atol=1e-3)
    objects = timme.objects.points(ensemble)
    sigma = timme.measure(objects, timme.pairs.given(objects, [(5, N_CHAIN + 1)])).sigma
    expected = np.linalg.norm(places[:, 5] - places[:, N_CHAIN + 1], axis=1).std()
    np.testing.assert_allclose(sigma, [expected], rtol=1e-4)


def test_without_a_box_molecules_are_whole_and_stay_where_the_file_has_them(
    tmp_path: Path,
) -> None:
    topology, path, _ = files(tmp_path, CELLS[0])
    ensemble = read(topology, path, select="all", box=False)
    np.testing.assert_allclose(ensemble.coordinates(), drifting(CELLS[0])[1], atol=1e-3)


def test_without_a_box_no_molecule_goes_through_a_placeholder(tmp_path: Path) -> None:
    """One frame has a box of 1 Å, shorter than the bonds."""
    import MDAnalysis

    whole = drifting(CELLS[0])[0].astype(np.float32)
    topology = write_pdb(tmp_path / "a.pdb", [STRUCTURE])
    universe = MDAnalysis.Universe(str(topology))
    with quiet(), MDAnalysis.Writer(str(tmp_path / "a.trr"), len(STRUCTURE)) as writer:
        for number, places in enumerate(whole):
            universe.atoms.positions = places
            universe.trajectory.ts.dimensions = [1.0] * 3 + [90.0] * 3 if number == 4 else CELLS[0]
            writer.write(universe.atoms)
    for source in ((topology, tmp_path / "a.trr"), (universe.load_new(str(tmp_path / "a.trr")),)):
        found = read(*source, select="all", box=False).coordinates()
        np.testing.assert_allclose(found, whole, atol=1e-3)


def test_what_is_followed_is_not_put_beside_anything(tmp_path: Path) -> None:
    topology, path, whole = files(tmp_path, CELLS[0])
    found = read(topology, path, unwrap=True).coordinates()
    moved = found - found[:1]
    expected = (whole - whole[:1])[:, : moved.shape[1]]
    np.testing.assert_allclose(moved, expected, atol=1e-3)


@pytest.mark.parametrize("cell", [30.0, 38.0, 45.0, 60.0])
@pytest.mark.parametrize(("name", "resname", "step"), [("CA", "ALA", 3.8), ("P", "U", 6.0)])
def test_a_chain_of_one_atom_per_residue_is_whole_in_any_box(
    tmp_path: Path, name: str, resname: str, step: float, cell: float
) -> None:
    """Its ends are never near one another through a wall, be the box a placeholder or not."""
    rng = np.random.default_rng(6)
    count = 11 if name == "CA" else 7  # 38 and 36 Å long, and more where it is stretched
    line = np.outer(np.arange(count), [step, 0.0, 0.0])
    stretch = np.linspace(1.0, 1.15, 20)[:, None, None]
    places = line * stretch + rng.normal(scale=0.05, size=(20, count, 3)) + 5.0
    records = [
        atom(name, k + 1, place.tolist(), resname=resname, element=name[0])
        for k, place in enumerate(line)
    ]
    topology = write_pdb(tmp_path / "trace.pdb", [records])
    written = places % cell if cell > np.ptp(places[..., 0]) else places  # as programs would
    box = [cell] * 3 + [90.0] * 3
    path = write_trajectory(tmp_path / "a.dcd", written.astype(np.float32), box=box)
    objects = timme.objects.points(read(topology, path))
    sigma = timme.measure(objects, timme.pairs.given(objects, [(0, count - 1)])).sigma
    expected = np.linalg.norm(places[:, 0] - places[:, -1], axis=1).std()
    np.testing.assert_allclose(sigma, [expected], rtol=1e-4)


def models_of(path: Path, places: Coordinates) -> Path:
    """Models of the complex in the cell that all of them share."""
    models = [
        [(*record[:6], *place, *record[9:]) for record, place in zip(STRUCTURE, model, strict=True)]
        for model in places.tolist()
    ]
    lengths = "".join(f"{length:9.3f}" for length in BOX)
    cell = f"CRYST1{lengths}{'  90.00' * 3} P 1           1\n"
    write_pdb(path, models)
    path.write_text(cell + path.read_text())
    return path


def test_models_that_were_never_put_back_into_their_cell_stay_where_they_are(
    tmp_path: Path,
) -> None:
    """A chain leaves another by more than half the cell, step by step."""
    rest = np.array([record[6:9] for record in STRUCTURE])
    places = np.repeat(rest[None], N_FRAMES, axis=0)
    places[:, MOLECULES == 1] += np.linspace(0, 1, N_FRAMES)[:, None, None] * [0.0, 0.0, 33.0]
    found = read(models_of(tmp_path / "a.pdb", places)).coordinates()
    np.testing.assert_allclose(found, places, atol=1e-3)


def test_models_that_were_put_back_into_their_cell_are_kept_together(tmp_path: Path) -> None:
    whole, wrapped = drifting([*BOX, 90.0, 90.0, 90.0])
    assert np.abs(between(wrapped, 0, 1, MOLECULES) - between(whole, 0, 1, MOLECULES)).max() > 30
    found = read(models_of(tmp_path / "a.pdb", wrapped)).coordinates()
    expected = between(whole, 0, 1, MOLECULES)
    np.testing.assert_allclose(between(found, 0, 1, MOLECULES), expected, atol=2e-3)


@pytest.mark.parametrize("box", [[40.0, 41.0, 42.0], False])
def test_no_box_is_proposed_to_who_has_given_one(tmp_path: Path, box: Any) -> None:
    path = models_of(tmp_path / "a.pdb", drifting([*BOX, 90.0, 90.0, 90.0])[0])
    assert any("not taken for a periodic box" in note for note in read(path).notes)
    assert not any("periodic box" in note for note in read(path, box=box).notes)


@pytest.mark.parametrize("box", [1, 2.5, [5.0, 6.0, 7.0]])
def test_a_box_that_cannot_hold_the_atoms_is_to_blame_itself(tmp_path: Path, box: Any) -> None:
    path = models_of(tmp_path / "a.pdb", drifting([*BOX, 90.0, 90.0, 90.0])[0])
    with pytest.raises(ValueError, match=r"cannot hold these atoms.*give the true box"):
        read(path, box=box)
