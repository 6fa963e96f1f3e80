"""Invariants of alternative locations: one location for every atom, one letter for a residue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.io.builders import draft, line, pdb
from timme.ensemble import Ensemble


def residue(resid: int, versions: Sequence[tuple[str, float]], **fields: Any) -> list[str]:
    """A residue of three atoms, with a location 0.5 Å apart for each letter and occupancy."""
    return [
        line(
            name,
            resid,
            (1.5 * place + 3.8 * resid, 0.5 * number, 0.0),
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


def test_every_residue_takes_its_own_letter_and_atoms_without_it_their_best(tmp_path: Path) -> None:
    records = [
        *residue(1, [("A", 0.1), ("B", 0.9)]),
        *residue(2, [("A", 0.55), ("B", 0.45)]),
        *(line("CB", 1, (1.0, y, 0), altloc=c, occupancy=0.5) for c, y in (("C", 8), ("D", 9))),
        line("O", 8, (50.0, 0, 0), resname="HOH", altloc="B", occupancy=0.3, chain="W"),
    ]
    found = draft(pdb(tmp_path, records))
    assert heights(found) == [1, 0]
    assert found.coordinates()[0, found.atoms.names == "CB", 1].tolist() == [8.0]
    assert found.atoms.resids.tolist() == [1, 1, 1, 2, 2, 2, 1, 8]


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
