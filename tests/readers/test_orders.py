"""Topologies whose atoms stand in another order than the ids of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.texts import N_ATOMS, N_FRAMES, NAMES, SHUFFLED, Write, as_dump, as_numbered_xyz
from timme._arrays import Floats
from timme.readers import read
from timme.system.ensemble import Ensemble

# Atoms that hardly move, so that the first frame is near every other one.
STEPS = np.random.default_rng(7).normal(scale=0.3, size=(N_FRAMES, N_ATOMS, 3))
PLACES = np.round(20 * np.random.default_rng(3).random((N_ATOMS, 3)) + STEPS, 2)
IDS = [10 * k + 5 for k in range(N_ATOMS)]
ROWS = [4, 2, 5, 1, 0, 3]  # atoms in the order of the topology
WRITERS = {"dump": as_dump, "extxyz": as_numbered_xyz}


def write_pdb(path: Path, serials: Sequence[int], places: Floats) -> Path:
    """Atoms in the order of ROWS, their residue the number of each."""
    lines = [
        f"HETATM{serial:5d}  {NAMES[k]:<3} PAR A{k:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        for serial, k, (x, y, z) in zip(serials, ROWS, places[ROWS], strict=True)
    ]
    path.write_text("\n".join([*lines, "END"]) + "\n")
    return path


def notes_of_order(ensemble: Ensemble) -> str:
    return "; ".join(note for note in ensemble.notes if "in the order of" in note)


def assert_matched(ensemble: Ensemble) -> None:
    assert ensemble.atoms.resids.tolist() == ROWS
    places = ensemble.coordinates()
    np.testing.assert_allclose(places - places[:1], (PLACES - PLACES[:1])[:, ROWS], atol=1e-4)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("far", [False, True])
def test_numbers_that_are_the_ids_match_atoms_wherever_they_are(
    tmp_path: Path, suffix: str, far: bool
) -> None:
    write: Write = WRITERS[suffix]
    elsewhere = 20 * np.random.default_rng(9).random((N_ATOMS, 3))
    serials = [IDS[k] for k in ROWS]
    topology = write_pdb(tmp_path / "a.pdb", serials, elsewhere if far else PLACES[0])
    ensemble = read(topology, write(tmp_path / f"a.{suffix}", PLACES, SHUFFLED), bonds="none")
    assert_matched(ensemble)
    assert not notes_of_order(ensemble)


def test_later_files_follow_the_same_order(tmp_path: Path) -> None:
    topology = write_pdb(tmp_path / "a.pdb", [IDS[k] for k in ROWS], PLACES[0])
    half = N_FRAMES // 2
    paths = [
        as_dump(tmp_path / "a.dump", PLACES[:half], SHUFFLED[:half]),
        as_dump(tmp_path / "b.dump", PLACES[half:], SHUFFLED[half:]),
    ]
    assert_matched(read(topology, paths, bonds="none"))


@pytest.mark.parametrize("shift", [0.0, 3.5])
def test_a_topology_in_the_order_of_the_first_frame_is_known_by_its_places(
    tmp_path: Path, shift: float
) -> None:
    """Its numbers count lines; the corner of the box of a dump may be anywhere."""
    topology = write_pdb(tmp_path / "a.pdb", range(1, N_ATOMS + 1), PLACES[1] + shift)
    ensemble = read(topology, as_dump(tmp_path / "a.dump", PLACES, [ROWS] * N_FRAMES), bonds="none")
    assert_matched(ensemble)
    assert "a.pdb: its atoms are in the order of the first frame" in notes_of_order(ensemble)


def test_places_tell_also_where_the_numbers_are_ids_of_others(tmp_path: Path) -> None:
    """Programs number the atoms of a file anew, and LAMMPS counts from 1 as well."""
    dump = as_dump(tmp_path / "a.dump", PLACES, [ROWS] * N_FRAMES)
    text = dump.read_text()
    for k in range(N_ATOMS):
        text = text.replace(f"\n{IDS[k]} {NAMES[k]} ", f"\n{k + 1} {NAMES[k]} ")
    dump.write_text(text)
    topology = write_pdb(tmp_path / "a.pdb", range(1, N_ATOMS + 1), PLACES[0])
    ensemble = read(topology, dump, bonds="none")
    assert_matched(ensemble)
    assert "in the order of the first frame" in notes_of_order(ensemble)


def test_an_order_that_nothing_tells_is_that_of_ids_and_said(tmp_path: Path) -> None:
    elsewhere = 20 * np.random.default_rng(9).random((N_ATOMS, 3))
    topology = write_pdb(tmp_path / "a.pdb", range(1, N_ATOMS + 1), elsewhere)
    ensemble = read(topology, as_dump(tmp_path / "a.dump", PLACES, SHUFFLED), bonds="none")
    np.testing.assert_allclose(ensemble.coordinates(), PLACES, atol=1e-4)
    assert "taken in the order of the ids" in notes_of_order(ensemble)
    sorted_rows = [list(range(N_ATOMS))] * N_FRAMES
    one = read(topology, as_dump(tmp_path / "b.dump", PLACES, sorted_rows), bonds="none")
    assert not notes_of_order(one)


def test_places_are_compared_through_the_walls_of_a_box(tmp_path: Path) -> None:
    topology = write_pdb(tmp_path / "a.pdb", range(1, N_ATOMS + 1), (PLACES[1] + 7.5) % 15.0)
    dump = as_dump(tmp_path / "a.dump", PLACES, [ROWS] * N_FRAMES)
    dump.write_text(dump.read_text().replace("ff ff ff", "pp pp pp").replace("0 100", "0 15"))
    ensemble = read(topology, dump, bonds="none", unit="σ")
    assert "in the order of the first frame" in notes_of_order(ensemble)
