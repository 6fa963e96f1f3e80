"""Invariants of tables of constraints: they come back as written, and bad rows are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.rigidity.structures import hydroxyl, joined, moved, structure
from timme.ensemble import Ensemble
from timme.rigidity import Network, network, read_constraints, write_constraints

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


def test_rows_may_be_removed_changed_and_added_in_any_order(tmp_path: Path) -> None:
    path = write_constraints(network(pair()), pair(), tmp_path / "constraints.csv")
    header, *rows = path.read_text().splitlines()
    assert header == HEADER.strip()
    hydrogen = "hydrogen bond,5,-2.5,3,4,,A/LIG 2/O"
    text = "\n".join([header, *reversed(rows[:4]), "", ",,,,,,", hydrogen, ""])
    again = read_text(text, tmp_path)
    assert again.bonds.tolist() == [[3, 5], [3, 4], [0, 2], [0, 1], [2, 3]]
    assert again.energies.tolist()[-1] == -2.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("glue,5,,1,2,,", "line 3 needs a kind .covalent, .* got 'glue,5,,1,2,,'"),
        ("covalent,7,,1,2,,", "line 3 needs .* 1 to 6 bars"),
        ("covalent,5,strong,1,2,,", "line 3 needs .* got 'covalent,5,strong"),
        ("hydrogen bond,5,,3,4,,", "line 3 needs .* the energy of a hydrogen bond"),
        ("covalent,5,,1,7,,", "line 3 needs .* two atoms of 1 to 6 .* got 'covalent,5,,1,7,,'"),
        ("\ncovalent,5,,0.5,1,,", "line 4 needs .* got 'covalent,5,,0.5,1,,'"),
        ("covalent,5", "line 3 needs .* got 'covalent,5,,,,,'"),
        ("covalent,5,,1,1,,", "line 3 needs .* got 'covalent,5,,1,1,,'"),
        ("covalent,5,,1,2,A/LIG 9/O,", "line 3 needs .* with their labels .* got .*LIG 9/O,'"),
        ("covalent,5,,1,3,,\nlocked,6,,3,1,,", "line 4 needs .* bound in one row only"),
        ("covalent,5,,1,2,,,8", "line 3, saw 8"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(row: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        read_text(f"{HEADER}covalent,5,,1,2,,\n{row}\n", tmp_path)
    assert str(refused.value).startswith(f"{tmp_path / 'constraints.csv'}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", [HEADER, "", "kind,bars\ncovalent,5\n"])
def test_a_table_without_rows_or_columns_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"constraints\.csv: (constraints need|the file is empty)"):
        read_text(text, tmp_path)
