"""Invariants of alternative locations: one location for every atom, neighbours that fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.io.builders import draft, line, pdb
from timme.ensemble import Ensemble


def residue(
    resid: int, versions: Sequence[tuple[str, float]], *, far: float = 0.0, **fields: Any
) -> list[str]:
    """A residue of three atoms, with a location 0.5 Å apart for each letter and occupancy."""
    return [
        line(
            name,
            resid,
            (1.5 * place + 3.8 * resid + far, 0.5 * number, 0.0),
            altloc=letter,
            occupancy=occupancy,
            **fields,
        )
        for place, name in enumerate(["N", "CA", "C"])
        for number, (letter, occupancy) in enumerate(versions)
    ]


def heights(ensemble: Ensemble) -> list[float]:
    """Second coordinate of every Cα in the first snapshot: 0.5 Å times the number of its letter."""
    alpha = ensemble.atoms.names == "CA"
    found: list[float] = (2 * ensemble.coordinates()[0, alpha, 1]).tolist()
    return found


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([("A", 0.4), ("B", 0.6)], 1),
        ([("A", 0.6), ("B", 0.4)], 0),
        ([("B", 0.5), ("A", 0.5)], 1),  # the first letter among equals
        ([("", 0.3), ("B", 0.7)], 1),  # a location without a letter is an alternative, too
        ([("A", 0.1 + 0.2), ("B", 0.3)], 0),  # equal but for rounding
        ([("A", 0.3), ("B", 0.3), ("C", 0.4)], 2),
    ],
)
def test_the_location_of_highest_occupancy_is_kept(
    versions: Sequence[tuple[str, float]], expected: int, tmp_path: Path
) -> None:
    found = draft(pdb(tmp_path, residue(1, versions)))
    assert found.atoms.names.tolist() == ["N", "CA", "C"]
    assert heights(found) == [expected]
    assert any("3 atoms with alternative locations" in note for note in found.notes)


def test_residues_that_touch_take_one_letter_together(tmp_path: Path) -> None:
    """By itself the second residue would take A: 0.55 of it beside 0.9 of B in the first."""
    one, two = [("A", 0.1), ("B", 0.9)], [("A", 0.55), ("B", 0.45)]
    records = [*residue(1, one), *residue(2, two)]
    assert heights(draft(pdb(tmp_path, records))) == [1, 1]
    apart = [*residue(1, one), *residue(5, two)]
    assert heights(draft(pdb(tmp_path, apart))) == [1, 0]
    ligand = [*residue(1, one), *residue(90, two, far=-3.8 * 88, resname="LIG", chain="B")]
    assert heights(draft(pdb(tmp_path, ligand))) == [1, 1]  # 0.8 Å from the C of the first


def test_residues_without_the_letter_of_their_neighbours_choose_again(tmp_path: Path) -> None:
    records = [
        *residue(1, [("A", 0.2), ("B", 0.8)]),
        *residue(2, [("C", 0.3), ("D", 0.7)]),
        *residue(3, [("C", 0.6), ("D", 0.4)]),
    ]
    assert heights(draft(pdb(tmp_path, records))) == [1, 1, 1]  # D: 1.1 beside 0.9 of C


def test_waters_of_another_letter_are_left_out(tmp_path: Path) -> None:
    chain = residue(1, [("A", 0.7), ("B", 0.3)])
    near = line("O", 9, (7.0, 0.8, 0.9), resname="HOH", altloc="B", occupancy=0.3, chain="W")
    far = line("O", 8, (50.0, 0, 0), resname="HOH", altloc="B", occupancy=0.3, chain="W")
    found = draft(pdb(tmp_path, [*chain, near, far]))
    assert found.atoms.resids.tolist() == [1, 1, 1, 8]


def test_a_number_that_stands_for_two_kinds_of_residue_becomes_one_of_them(tmp_path: Path) -> None:
    """The larger kind does not win by its size."""
    alanine = residue(1, [("A", 0.6)], resname="ALA")
    serine = [
        *residue(1, [("B", 0.4)], resname="SER"),
        line("OG", 1, (0, 5, 0), resname="SER", altloc="B", occupancy=0.4),
        line("CB", 1, (0, 7, 0), resname="SER", altloc="B", occupancy=0.4),
    ]
    found = draft(pdb(tmp_path, [*alanine, *serine]))
    assert set(found.atoms.resnames) == {"ALA"}
    assert found.atoms.names.tolist() == ["N", "CA", "C"]


def test_all_models_keep_the_same_location(tmp_path: Path) -> None:
    """Occupancies are summed over models: 0.45 + 0.8 of B beside 0.55 + 0.2 of A."""
    first, second = residue(1, [("A", 0.55), ("B", 0.45)]), residue(1, [("A", 0.2), ("B", 0.8)])
    found = draft(pdb(tmp_path, first, second))
    np.testing.assert_array_equal(found.coordinates()[0], found.coordinates()[1])
    assert heights(found) == [1]
    assert found.numbers is not None
    assert found.numbers.tolist() == [2, 4, 6]  # places in the file


def test_a_letter_without_another_beside_it_needs_no_choice(tmp_path: Path) -> None:
    found = draft(pdb(tmp_path, residue(1, [("A", 0.4)])))
    assert found.n_sites == 3
    assert found.notes == ()
