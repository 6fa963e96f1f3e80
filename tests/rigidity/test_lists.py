"""Lists of constraints: written, edited and read back."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from tests.rigidity.structures import barnase_in_water, joined, molecule, moved
from timme.rigidity.lists import constraints_csv, read_constraints, write_constraints
from timme.rigidity.network import BARS, Network, network
from timme.system.ensemble import Ensemble

HYDROXYL = {"O": (0.0, 0.0, 0.0), "C": (-0.5, 1.3, 0.0), "H": (0.96, 0.0, 0.0)}


def pair() -> Ensemble:
    one = molecule(HYDROXYL, "O-C O-H")
    return joined(one, moved(one, (2.8, 0.0, 0.0)))


def assert_same(one: Network, other: Network) -> None:
    assert one.n_bodies == other.n_bodies
    for name in ("bonds", "bars", "kinds"):
        assert (getattr(one, name) == getattr(other, name)).all()
    np.testing.assert_array_equal(one.energies, other.energies)


def read_text(text: str, folder: Path) -> Network:
    path = folder / "constraints.csv"
    path.write_text(text)
    return read_constraints(path, pair())


def test_the_network_of_barnase_comes_back_as_it_was_written(tmp_path: Path) -> None:
    found = network(barnase_in_water(), waters=True)
    path = write_constraints(found, barnase_in_water(), tmp_path / "constraints.csv")
    assert_same(found, read_constraints(path, barnase_in_water()))
    assert [file.name for file in tmp_path.iterdir()] == ["constraints.csv"]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Any network of the six atoms of the pair."""
    ends = st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True)
    row = st.tuples(ends, st.integers(1, 6), st.sampled_from(list(BARS)))
    rows = draw(st.lists(row, min_size=1, unique_by=lambda one: frozenset(one[0])))
    weak = [kind in {"hydrogen bond", "salt bridge"} for *_, kind in rows]
    energies = [draw(st.floats(-20, 20)) if with_energy else np.nan for with_energy in weak]
    return Network(
        n_bodies=6,
        bonds=np.array([row[0] for row in rows], dtype=np.int64).reshape(-1, 2),
        bars=np.array([row[1] for row in rows], dtype=np.int64),
        kinds=np.array([row[2] for row in rows], dtype=np.str_),
        energies=np.array(energies, dtype=np.float64),
    )


@given(networks())
def test_every_network_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, found: Network
) -> None:
    path = tmp_path_factory.mktemp("lists") / "constraints.csv"
    write_constraints(found, pair(), path)
    assert_same(found, read_constraints(path, pair()))


def test_rows_say_what_they_are_of() -> None:
    header, first, *_, last = constraints_csv(network(pair()), pair()).splitlines()
    assert header == "kind,bars,energy (kcal/mol),atom 1,atom 2,label 1,label 2"
    assert first == "covalent,5,,1,2,A/LIG 1/O,A/LIG 1/C"
    assert last.startswith("hydrogen bond,5,-")
    assert last.endswith(",3,4,A/LIG 1/H,A/LIG 2/O")


def test_rows_may_be_removed_added_and_named_by_labels_only(tmp_path: Path) -> None:
    text = (
        "kind,bars,energy,atom 1,atom 2,label 1,label 2,my remark\n"
        "\n"
        "Tether,3,,,,A/LIG 1/C,A/LIG 2/C,doubtful\n"
        "salt bridge,5,-3.25,3.0,4\n"
    )
    found = read_text(text, tmp_path)
    assert found.bonds.tolist() == [[1, 4], [2, 3]]
    assert found.bars.tolist() == [3, 5]
    assert found.kinds.tolist() == ["tether", "salt bridge"]
    np.testing.assert_array_equal(found.energies, [np.nan, -3.25])
    assert "constraints.csv" in found.notes[0]


def test_a_minus_as_papers_write_it_is_read(tmp_path: Path) -> None:
    held = Network(
        2, np.array([[0, 1]]), np.array([5]), np.array(["hydrogen bond"]), np.array([-1.5])
    )
    pair = molecule({"C": (0.0, 0.0, 0.0), "O": (1.4, 0.0, 0.0)}, "C-O")
    text = constraints_csv(held, pair).replace("-1.5", "\N{MINUS SIGN}1.5")
    (tmp_path / "minus.csv").write_text(text, encoding="utf-8")
    assert read_constraints(tmp_path / "minus.csv", pair).energies.tolist() == [-1.5]


def test_what_a_spreadsheet_with_decimal_commas_writes_is_read(tmp_path: Path) -> None:
    text = (
        "\ufeffkind;bars;energy (kcal/mol);atom 1;atom 2;label 1;label 2\r\n"
        "hydrogen bond;5;-1,5;3;4;A/LIG 1/H;A/LIG 2/O\r\n"
    )
    found = read_text(text, tmp_path)
    assert found.bonds.tolist() == [[2, 3]]
    assert found.energies.tolist() == [-1.5]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("glue,5,,1,2", "the kind is one of covalent, locked, .*, got 'glue'"),
        ("covalent,7,,1,2", "a bond has 1 to 6 bars, got '7'"),
        ("covalent,2.5,,1,2", "a bond has 1 to 6 bars, got '2.5'"),
        ("covalent,,,1,2", "bars must be a number, got ''"),
        ("covalent,5,strong,1,2", "the energy must be a number, got 'strong'"),
        ("hydrogen bond,5,,3,4", "a hydrogen bond needs an energy in kcal/mol"),
        ("covalent,5,,1,7", "atoms go from 1 to 6, got '7'"),
        ("covalent,5,,1,x", "atom 2 must be a number, got 'x'"),
        ("covalent,5,,2,2", "a bond joins two atoms, got A/LIG 1/C twice"),
        ("covalent,5,,1", "atom 2 needs a number or a label, got '': there is none of that name"),
        ("covalent,5,,1,2,A/LIG 1/C", "atom 1 is A/LIG 1/O in this structure, not A/LIG 1/C"),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(row: str, message: str, tmp_path: Path) -> None:
    text = f"kind,bars,energy,atom 1,atom 2,label 1\ncovalent,5,,1,2\n\n{row}\n"
    with pytest.raises(ValueError, match=f"constraints.csv: line 4: {message}"):
        read_text(text, tmp_path)


HEADER = "kind,bars,energy,atom 1,atom 2\n"


@pytest.mark.parametrize(
    "rows",
    ["covalent,5,,1,2\nlocked,6,,2,1\n", "tether,2,,1,4\ntether,2,,4,1\n"],
)
def test_a_bond_that_is_listed_again_is_refused_by_its_line(rows: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"line 3: there is a (covalent bond|tether) of .* above"):
        read_text(HEADER + rows, tmp_path)


def test_a_list_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"constraints\.csv: rigidity needs covalent bonds"):
        read_text(HEADER, tmp_path)


def test_a_field_too_long_for_a_table_is_told_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"constraints\.csv: line 2: field"):
        read_text(HEADER + "x" * 200_000, tmp_path)


def test_a_label_of_several_atoms_needs_a_number(tmp_path: Path) -> None:
    twins = joined(*[molecule(HYDROXYL, "O-C O-H")] * 2)
    same = Ensemble.from_array(
        twins.snapshot()[0][None],
        atoms=type(twins.atoms)(
            **{
                name: getattr(twins.atoms, name)
                for name in ("names", "elements", "resnames", "icodes", "chains", "masses", "bonds")
            },
            resids=np.ones(6, dtype=np.int64),
        ),
        unit="Å",
    )
    path = tmp_path / "constraints.csv"
    path.write_text("kind,bars,energy,atom 1,atom 2,label 1\ncovalent,5,,,2,A/LIG 1/O\n")
    with pytest.raises(ValueError, match=r"line 2: atom 1 .* there are several of that name"):
        read_constraints(path, same)


def test_missing_columns_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 1: there is no column 'bars', 'energy'"):
        read_text("kind,atom 1,atom 2\ncovalent,1,2\n", tmp_path)
    with pytest.raises(ValueError, match=r"constraints\.csv: the file is empty"):
        read_text("\n", tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_constraints(tmp_path / "nowhere.csv", pair())


def test_a_network_of_another_structure_is_refused() -> None:
    with pytest.raises(ValueError, match="6 bodies and the structure 3 sites"):
        constraints_csv(network(pair()), pair().select([0, 1, 2]))
