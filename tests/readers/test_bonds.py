"""Guessed bonds and elements, and units told by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.builders import Record, atom, peptide, waters, write_pdb
from tests.rigidity.oracle import FOLDER, needs_oracle
from timme._arrays import Floats
from timme.readers import guess_bonds, read
from timme.system.atoms import Atoms
from timme.system.elements import element_masses, guess_elements


def bonds(tmp_path: Path, records: list[Record]) -> set[tuple[str, str]]:
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    atoms = ensemble.atoms
    return {
        (f"{atoms.resids[a]}{atoms.names[a]}", f"{atoms.resids[b]}{atoms.names[b]}")
        for a, b in atoms.bonds
    }


def test_a_peptide_is_one_chain(tmp_path: Path) -> None:
    assert bonds(tmp_path, peptide()) == {
        ("1N", "1CA"), ("1CA", "1C"), ("1C", "1O"), ("1CA", "1CB"), ("1C", "2N"),
        ("2N", "2CA"), ("2CA", "2C"), ("2C", "2O"), ("2CA", "2CB"),
    }  # fmt: skip


def test_no_bond_is_invented_across_a_gap(tmp_path: Path) -> None:
    records = [record for record in peptide(n_residues=4) if record[4] != 3]
    found = bonds(tmp_path, records)
    assert ("1C", "2N") in found
    assert not {pair for pair in found if pair[0][0] == "2" and pair[1][0] == "4"}


def test_a_hydrogen_has_one_bond_to_its_nearest_heavy_atom(tmp_path: Path) -> None:
    records = [
        atom("O", 1, (0.0, 0.0, 0.0)),
        atom("H", 1, (1.0, 0.0, 0.0)),
        atom("N", 1, (2.3, 0.0, 0.0)),
        atom("HX", 1, (1.0, 0.7, 0.0)),
    ]
    assert bonds(tmp_path, records) == {("1O", "1H"), ("1O", "1HX")}


def test_waters_ions_and_metals_are_not_bound_to_others(tmp_path: Path) -> None:
    records = [
        *waters(1),
        atom("O", 2, (1.0, 2.3, 1.0), resname="HOH"),
        atom("ZN", 3, (1.0, 1.0, 2.6), resname="ZN", element="ZN"),
        atom("CL", 4, (1.0, -0.6, 1.0), resname="CL", element="CL"),
        atom("C", 5, (0.0, 0.0, 1.0)),
    ]
    assert bonds(tmp_path, records) == {("1O", "1H1"), ("1O", "1H2")}


def test_a_disulphide_bridge_is_found(tmp_path: Path) -> None:
    records = [
        atom("SG", 1, (0.0, 0.0, 0.0), resname="CYS"),
        atom("SG", 9, (2.05, 0.0, 0.0), resname="CYS"),
        atom("SG", 12, (6.0, 0.0, 0.0), resname="CYS"),
    ]
    assert bonds(tmp_path, records) == {("1SG", "9SG")}


def test_atoms_on_top_of_each_other_are_not_bound(tmp_path: Path) -> None:
    assert not bonds(tmp_path, [atom("C", 1, (0.0, 0.0, 0.0)), atom("CA", 1, (0.0, 0.0, 0.1))])


BOXES = st.sampled_from(
    [np.diag([8.0, 9.0, 10.0]), np.array([[8.0, 0.0, 0.0], [3.0, 9.0, 0.0], [-2.0, 4.0, 10.0]])]
)


@given(BOXES, st.lists(st.floats(-30, 30), min_size=3, max_size=3), st.integers(0, 10_000))
def test_bonds_do_not_depend_on_where_the_box_is_cut(
    box: Floats,
    shift: list[float],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    atoms = replace(Atoms.unnamed(12), elements=np.array(["C"] * 12))
    places = rng.uniform(size=(12, 3)) @ box
    whole = guess_bonds(atoms, places, box=box)
    moved = places + shift + rng.integers(-2, 3, size=(12, 3)) @ box
    fractions = places @ np.linalg.inv(box)
    images = (np.stack(np.meshgrid(*[(-1, 0, 1)] * 3), axis=-1)).reshape(-1, 3)
    deltas = (fractions[:, None] - fractions[None])[..., None, :] + images
    distances = np.linalg.norm(deltas @ box, axis=-1).min(axis=-1)
    near = np.argwhere(np.triu((distances < 2 * 0.73 + 0.4) & (distances > 0.4), k=1))
    # At the very edge of the radius, rounding decides.
    if (
        np.abs(distances - (2 * 0.73 + 0.4)).min() > 1e-5
        and np.abs(distances[distances > 0] - 0.4).min() > 1e-5
    ):
        assert whole.tolist() == near.tolist()
        assert guess_bonds(atoms, moved, box=box).tolist() == near.tolist()


def test_a_direction_may_be_open() -> None:
    atoms = replace(Atoms.unnamed(3), elements=np.array(["C"] * 3))
    places = np.array([[0.2, 0.0, 0.0], [9.2, 0.0, 0.0], [0.2, 0.0, 8.6]])
    assert guess_bonds(atoms, places, box=np.diag([10.0, 10.0, 0.0])).tolist() == [[0, 1]]


def test_bonds_of_large_systems_are_cheap() -> None:
    count = 60_000
    side = np.arange(40) * 1.5
    grid = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)[:count]
    atoms = replace(Atoms.unnamed(count), elements=np.full(count, "C"))
    assert len(guess_bonds(atoms, grid)) > 2 * count


def test_nm_given_as_angstrom_is_warned_of(tmp_path: Path) -> None:
    records = [(*r[:6], r[6] / 10, r[7] / 10, r[8] / 10, *r[9:]) for r in peptide(n_residues=4)]
    path = write_pdb(tmp_path / "a.pdb", [records, records])
    with pytest.warns(
        UserWarning,
        match=r"a\.pdb: neighbouring atoms are 0\.1.* looks like nm: say so with unit='nm'",
    ):
        ensemble = read(path)
    assert any("looks like nm" in note for note in ensemble.notes)
    correct = read(path, unit="nm")
    assert correct.unit == "nm"
    assert not any("looks like" in note for note in correct.notes)
    expected = read(write_pdb(tmp_path / "b.pdb", [peptide(n_residues=4)])).atoms.bonds
    np.testing.assert_array_equal(correct.atoms.bonds, expected)
    np.testing.assert_array_equal(ensemble.atoms.bonds, expected)


def test_angstrom_called_nm_is_warned_of(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide()])
    with pytest.warns(UserWarning, match=r"looks like Å: say so with unit='Å'"):
        read(path, unit="nm")


@pytest.mark.parametrize("select", ["name CA", "name O"])
def test_sparse_files_are_not_warned_of(tmp_path: Path, select: str) -> None:
    records = [record for record in peptide(n_residues=6) if record[0] == select.split()[1]]
    notes = read(write_pdb(tmp_path / "a.pdb", [records])).notes
    assert not any("looks like" in note for note in notes)


def test_bonds_may_be_left_out_or_taken_from_the_file_only(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide()], extra=["CONECT    1    2"])
    assert read(path, bonds="none").atoms.bonds.tolist() == []
    assert read(path, bonds="file").atoms.bonds.tolist() == [[0, 1]]
    assert len(read(path, bonds="guess").atoms.bonds) == 9


def test_a_unit_far_from_atoms_has_no_bonds(tmp_path: Path) -> None:
    assert not len(read(write_pdb(tmp_path / "a.pdb", [peptide()]), unit="µm").atoms.bonds)


@pytest.mark.parametrize(
    ("name", "resname", "element"),
    [
        ("CA", "ALA", "C"), ("CA", "CA", "Ca"), ("HG", "SER", "H"), ("HG", "HG", "Hg"),
        ("1HB", "ALA", "H"), ("SE", "MSE", "Se"), ("OW", "SOL", "O"), ("MW", "SOL", ""),
        ("NA", "NA", "Na"), ("NA", "HEM", "N"), ("FE", "HEM", "Fe"), ("CL1", "LIG", "Cl"),
        ("C12", "LIG", "C"), ("P", "DA", "P"), ("H5''", "DA", "H"), ("SOD", "SOD", "Na"),
        ("CLA", "CLA", "Cl"), ("Zn", "", "Zn"), ("1", "", ""), ("NE2", "HIS", "N"),
        ("CD1", "LEU", "C"),
    ],
)  # fmt: skip
def test_elements_are_guessed_from_names(name: str, resname: str, element: str) -> None:
    assert guess_elements(np.array([name]), np.array([resname])).tolist() == [element]


def test_masses_of_unknown_elements_are_one() -> None:
    np.testing.assert_allclose(
        element_masses(np.array(["C", "", "Qq", "D"])), [12.011, 1, 1, 2.014], rtol=1e-4
    )


def test_guessed_bonds_are_those_of_a_force_field() -> None:
    """Of adenylate kinase with its hydrogens, 3341 atoms: bonds that CHARMM lists for it."""
    import MDAnalysis as mda

    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    known = np.sort(mda.Universe(files.PSF, files.PDB_small).bonds.indices, axis=1)
    found = read(files.PDB_small, bonds="guess").atoms.bonds
    assert {tuple(pair) for pair in found.tolist()} == {tuple(pair) for pair in known.tolist()}
    assert len(known) > 3341


@needs_oracle
def test_guessed_bonds_are_those_of_another_program(tmp_path: Path) -> None:
    lines = (FOLDER / "1bck_withH_proflexdataset").read_text().split("\n")
    real = [
        line[:66] for line in lines if line.startswith(("ATOM", "HETATM")) and line[17:20] != "XXX"
    ]
    # All hydrogens are called H there: give them names of their own.
    named = [
        f"{line[:12]} H{number % 100:02d}{line[16:]}" if line[12:16].strip() == "H" else line
        for number, line in enumerate(real)
    ]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([*named, "END", ""]))
    listed = [sorted(map(int, line.split()[1:3])) for line in lines if line.startswith("REMARK:CF")]
    expected = sorted([first - 1, second - 1] for first, second in listed if second <= len(real))
    assert len(expected) == 1601
    assert read(path).atoms.bonds.tolist() == expected
