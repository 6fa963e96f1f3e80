"""Invariants of tables of constraints: they come back as written, and bad rows are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests_next.rigidity.structures import hydroxyl, joined, moved, structure
from timme_next.ensemble import Ensemble
from timme_next.rigidity import Network, network, read_constraints, write_constraints

HEADER = "kind,bars,energy (kcal/mol),atom 1,atom 2,label 1,label 2\n"


def pair() -> Ensemble:
    return joined(hydroxyl(), moved(hydroxyl(), (2.8, 0.0, 0.0)))


def read_text(text: str, folder: Path) -> Network:
    path = folder / "constraints.csv"
    path.write_text(text)
    return read_constraints(path, pair())


def test_a_table_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    ensemble = structure("1bck")
    written = network(ensemble)
    path = write_constraints(written, ensemble, tmp_path / "constraints.csv")
    again = read_constraints(path, ensemble)
    for column in ("n_bodies", "bonds", "bars", "kinds", "energies"):
        np.testing.assert_array_equal(getattr(again, column), getattr(written, column))
    assert str(path) in again.notes[0]


def test_rows_may_be_removed_changed_and_added_and_atoms_be_known_by_labels(
    tmp_path: Path,
) -> None:
    path = write_constraints(network(pair()), pair(), tmp_path / "constraints.csv")
    header, *rows = path.read_text().splitlines()
    assert header == HEADER.strip()
    hydrogen = "hydrogen bond,5,-2.5,,,A/LIG 1/H,A/LIG 2/O"
    text = "\n".join([header, *reversed(rows[:4]), "", ",,,,,,", hydrogen, ""])
    again = read_text(text, tmp_path)
    assert again.bonds.tolist() == [[3, 5], [3, 4], [0, 2], [0, 1], [2, 3]]
    assert again.energies.tolist()[-1] == -2.5


def test_a_table_without_labels_or_with_other_columns_is_read(tmp_path: Path) -> None:
    found = read_text("atom 2,note,atom 1,Bars,energy,kind\n2,so,1,6,,Locked\n", tmp_path)
    assert found.bonds.tolist() == [[0, 1]]
    assert (found.bars.tolist(), found.kinds.tolist()) == ([6], ["locked"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("glue,5,,1,2,,", "kind must be one of covalent, .* got 'glue'"),
        ("covalent,7,,1,2,,", "bars must be a number from 1 to 6, got '7'"),
        ("covalent,five,,1,2,,", "bars must be a number from 1 to 6, got 'five'"),
        ("covalent,5,strong,1,2,,", "an energy is one number in kcal/mol.* got 'strong'"),
        ("hydrogen bond,5,,3,4,,", "an energy is one number in kcal/mol.* got ''"),
        ("covalent,5,,1,7,,", "atom must be a number from 1 to 6, got '7'"),
        ("covalent,5,,0,1,,", "atom must be a number from 1 to 6, got '0'"),
        ("covalent,5,,1,-2,,", "atom must be a number from 1 to 6, got '-2'"),
        ("covalent,5,,1,1,,", "two different atoms .* got A/LIG 1/O and A/LIG 1/O"),
        ("covalent,5,,1,2,A/LIG 9/O,", "atom 1 is A/LIG 1/O in this structure, not A/LIG 9/O"),
        ("covalent,5,,,2,A/LIG 9/O,", "0 atoms have the label 'A/LIG 9/O': give a number"),
        ("covalent,5,,,2,,", "0 atoms have the label '': give a number"),
        ("covalent,5", "a row needs 'energy'"),
        ("covalent,5,,1,3,,\nlocked,6,,3,1,,", "line 4: .* A/LIG 1/O again"),
        ("x" * 200_000, "line 3: field larger"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(row: str, message: str, tmp_path: Path) -> None:
    text = f"{HEADER}covalent,5,,1,2,,\n{row}\n"
    with pytest.raises(ValueError, match=message) as refused:
        read_text(text, tmp_path)
    assert f"{tmp_path / 'constraints.csv'}: line " in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_label_of_several_atoms_needs_a_number(tmp_path: Path) -> None:
    twins = joined(hydroxyl(), hydroxyl())
    twins.atoms.resids[:] = 1
    path = tmp_path / "constraints.csv"
    path.write_text(f"{HEADER}covalent,5,,,2,A/LIG 1/O,\n")
    with pytest.raises(ValueError, match="2 atoms have the label 'A/LIG 1/O'"):
        read_constraints(path, twins)


def test_a_tether_and_a_hydrogen_bond_may_join_the_same_atoms(tmp_path: Path) -> None:
    rows = "covalent,5,,1,2,,\ntether,2,,3,4,,\nhydrogen bond,5,-1,3,4,,\n"
    assert len(read_text(HEADER + rows, tmp_path).bonds) == 3


@pytest.mark.parametrize(("text", "message"), [(HEADER, "empty table"), ("\n", "empty")])
def test_an_empty_table_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_text(text, tmp_path)


def test_a_network_of_another_structure_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "constraints.csv"
    with pytest.raises(ValueError, match="6 bodies and the structure 3 sites"):
        write_constraints(network(pair()), hydroxyl(), path)
    assert not path.exists()
