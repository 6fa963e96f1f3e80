"""Alternative locations of atoms in structure files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import Record, as_mmcif, atom, pdb_text, peptide, write_pdb
from timme.readers import read, read_model
from timme.system.ensemble import Ensemble

Write = Callable[[Path, str], Path]


def _as_pdb(path: Path, text: str) -> Path:
    path = path.with_suffix(".pdb")
    path.write_text(text)
    return path


def _as_cif(path: Path, text: str) -> Path:
    return as_mmcif(path.with_suffix(".cif"), text)


formats = pytest.mark.parametrize("write", [_as_pdb, _as_cif], ids=["pdb", "mmcif"])


def lettered(records: list[Record], **occupancies: float) -> list[Record]:
    """Give every atom one place for each letter, 1 Å apart along z."""
    return [
        (*record[:1], letter, *record[2:8], record[8] + shift, occupancy, record[10])
        for record in records
        for shift, (letter, occupancy) in enumerate(occupancies.items())
    ]


def histidine_and_glycine() -> list[Record]:
    """Two residues whose carbonyl and amide flip together, each with its own favourite letter."""
    return [
        atom("N", 18, (-1.20, 0.85, 0.0), resname="HIS"),
        atom("CA", 18, (0.0, 0.0, 0.0), resname="HIS"),
        atom("C", 18, (1.25, 0.85, 0.0), altloc="A", occupancy=0.6, resname="HIS"),
        atom("C", 18, (1.25, 0.60, 0.6), altloc="B", occupancy=0.4, resname="HIS"),
        atom("O", 18, (1.25, 2.08, 0.0), altloc="A", occupancy=0.6, resname="HIS"),
        atom("O", 18, (1.55, 0.05, 1.67), altloc="B", occupancy=0.4, resname="HIS"),
        atom("N", 19, (2.40, 0.20, 0.0), resname="GLY", altloc="A", occupancy=0.45),
        atom("N", 19, (2.20, 1.65, 0.1), resname="GLY", altloc="B", occupancy=0.55),
        atom("CA", 19, (3.70, 0.90, 0.0), resname="GLY"),
        atom("C", 19, (4.90, 0.00, 0.0), resname="GLY"),
        atom("O", 19, (4.90, -1.23, 0.0), resname="GLY"),
    ]


def place(ensemble: Ensemble, name: str, resid: int) -> list[float]:
    found = (ensemble.atoms.names == name) & (ensemble.atoms.resids == resid)
    (index,) = np.flatnonzero(found)
    return [round(float(value), 3) for value in ensemble.snapshot(0)[0][index]]


@formats
def test_neighbours_take_one_letter_so_that_no_false_bond_appears(
    tmp_path: Path, write: Write
) -> None:
    ensemble = read(write(tmp_path / "a", pdb_text([histidine_and_glycine()])))
    assert ensemble.n_sites == 8
    # A has 0.6 + 0.6 + 0.45, B 0.4 + 0.4 + 0.55; the O of A and the N of B are 1.05 Å apart.
    assert place(ensemble, "O", 18) == [1.25, 2.08, 0.0]
    assert place(ensemble, "N", 19) == [2.4, 0.2, 0.0]
    names = ensemble.atoms.names[ensemble.atoms.bonds].tolist()
    assert ["O", "N"] not in names
    assert len(ensemble.atoms.bonds) == 7  # as a chain of eight atoms without rings has
    assert ensemble.notes[0] == (
        "3 atoms have alternative locations: those of highest occupancy were taken, one letter for "
        "residues that touch (A in 2), and 3 places were left out"
    )


@formats
@pytest.mark.parametrize(("second", "letter"), [(0.55, 0), (0.9, 1)], ids=["A", "B"])
def test_occupancies_are_summed_over_a_stretch(
    tmp_path: Path, write: Write, second: float, letter: int
) -> None:
    one, other = peptide()[:5], peptide()[5:]
    records = lettered(one, A=0.7, B=0.3) + lettered(other, A=1 - second, B=second)
    ensemble = read(write(tmp_path / "a", pdb_text([records])))
    found = ensemble.snapshot(0)[0][:, 2] - [record[8] for record in peptide()]
    np.testing.assert_allclose(found, letter, atol=1e-3)


def test_the_first_letter_is_taken_among_equals(tmp_path: Path) -> None:
    one, other = peptide()[:5], peptide()[5:]
    records = lettered(one, C=0.6, B=0.4) + lettered(other, C=0.4, B=0.6)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert "(B in 2)" in ensemble.notes[0]


def test_residues_that_do_not_touch_choose_for_themselves(tmp_path: Path) -> None:
    residues = [peptide(n_residues=3)[start : start + 5] for start in (0, 5, 10)]
    records = (
        lettered(residues[0], A=0.7, B=0.3) + residues[1] + lettered(residues[2], A=0.3, B=0.7)
    )
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert "(A in 1, B in 1)" in ensemble.notes[0]


def test_bare_alphas_follow_one_another_by_their_numbers(tmp_path: Path) -> None:
    alphas = [atom("CA", resid, (3.8 * resid, 0.0, 0.0)) for resid in (1, 2, 5)]
    records = lettered(alphas[:1], A=0.9, B=0.1)
    records += lettered(alphas[1:2], A=0.4, B=0.6) + lettered(alphas[2:], A=0.4, B=0.6)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert "(A in 2, B in 1)" in ensemble.notes[0]


def test_a_disulfide_takes_one_letter_on_both_sides(tmp_path: Path) -> None:
    sulfurs = [atom("SG", 5, (0.0, 0.0, 0.0), resname="CYS", element="S")]
    others = [atom("SG", 55, (2.03, 0.0, 0.0), resname="CYS", element="S")]
    records = lettered(sulfurs, A=0.6, B=0.4) + lettered(others, A=0.45, B=0.55)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert "(A in 2)" in ensemble.notes[0]


def test_residues_without_the_letter_choose_again_together(tmp_path: Path) -> None:
    residues = [peptide(n_residues=4)[start : start + 5] for start in (0, 5, 10, 15)]
    records = lettered(residues[0], A=0.9, B=0.1) + lettered(residues[1], A=0.9, B=0.1)
    # By themselves the third would take B and the fourth C.
    records += lettered(residues[2], B=0.6, C=0.4) + lettered(residues[3], B=0.45, C=0.55)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert ensemble.n_sites == 20
    assert "(A in 2, B in 2)" in ensemble.notes[0]


def test_an_atom_without_the_letter_takes_its_own_best(tmp_path: Path) -> None:
    records = [*peptide()[:4], *lettered(peptide()[4:5], A=0.8, B=0.2)]
    records += lettered([atom("OG", 1, (1.0, 2.6, 0.0))], B=0.2, C=0.3)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert place(ensemble, "OG", 1) == [1.0, 2.6, 1.0]
    assert "2 places were left out" in ensemble.notes[0]


@formats
def test_a_kind_of_residue_does_not_win_by_its_size(tmp_path: Path, write: Write) -> None:
    records = [
        atom(name, 1, (1.4 * number, y, 0.0), resname=resname, altloc=letter, occupancy=occupancy)
        for resname, letter, occupancy, y, names in (
            ("TRP", "A", 0.4, 4.0, "N CA C CB CG CD1 CD2 NE1 CE2 CE3"),
            ("GLY", "B", 0.6, 0.0, "N CA C"),
        )
        for number, name in enumerate(names.split())
    ]
    ensemble = read(write(tmp_path / "a", pdb_text([records])))
    assert set(ensemble.atoms.resnames) == {"GLY"}
    assert ensemble.atoms.names.tolist() == ["N", "CA", "C"]
    assert "10 places were left out" in ensemble.notes[0]


@formats
def test_two_kinds_of_residue_take_the_letter_of_their_neighbour(
    tmp_path: Path, write: Write
) -> None:
    records = lettered(peptide()[:5], A=0.2, B=0.8)
    for resname, letter, occupancy in (("SER", "A", 0.6), ("THR", "B", 0.4)):
        records += [
            (*record[:1], letter, resname, *record[3:9], occupancy, record[10])
            for record in peptide()[5:]
        ]
    ensemble = read(write(tmp_path / "a", pdb_text([records])))
    assert ensemble.atoms.resnames.tolist() == ["ALA"] * 5 + ["THR"] * 5


def test_backbone_atoms_are_not_lost_without_a_word(tmp_path: Path) -> None:
    records = [
        atom(name, 1, (1.4 * number, y, 0.0), resname=resname, altloc=letter, occupancy=occupancy)
        for resname, letter, occupancy, y, names in (
            ("SER", "A", 0.6, 0.0, ("N", "CA")),
            ("THR", "B", 0.4, 1.0, ("N", "CA", "C")),
        )
        for number, name in enumerate(names)
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert ensemble.atoms.names.tolist() == ["N", "CA"]
    assert "1 backbone atom was left out, such as A/THR 1/C: " in ensemble.notes[1]


def test_a_water_of_another_state_is_left_out_and_told(tmp_path: Path) -> None:
    waters = [
        atom("O", 301, (9.0, 9.0, 1.0), resname="HOH", altloc="B", occupancy=0.4),
        atom("O", 302, (30.0, 9.0, 1.0), resname="HOH", altloc="B", occupancy=0.4),
    ]
    side = lettered([atom("CB", 1, (9.0, 9.0, 0.0))], A=0.6, B=0.4)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [[*peptide()[:4], *side, *waters]]))
    assert ensemble.atoms.resids[-1] == 302
    assert 301 not in ensemble.atoms.resids
    assert "1 water was left out with a letter that was not taken" in ensemble.notes[1]


def test_what_has_one_letter_only_does_not_choose_for_its_neighbours(tmp_path: Path) -> None:
    side = lettered([atom("CB", 1, (9.0, 9.0, 0.0))], A=0.8, B=0.2)
    ligand = [
        (f"C{n}", "B", "LIG", "A", 401, "", 9.0, 9.0 + 1.5 * n, 0.0, 0.2, "C") for n in range(1, 9)
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [[*peptide()[:4], *side, *ligand]]))
    assert place(ensemble, "CB", 1) == [9.0, 9.0, 0.0]
    assert np.count_nonzero(ensemble.atoms.resnames == "LIG") == 8


@formats
def test_a_letter_without_another_is_nothing_to_tell(tmp_path: Path, write: Write) -> None:
    alone = [(*record[:1], "A", *record[2:]) for record in peptide()[:5]]
    ensemble = read(write(tmp_path / "a", pdb_text([[*alone, *peptide()[5:]]])))
    assert ensemble.n_sites == 10
    assert not any("alternative" in note for note in ensemble.notes)
    torn = lettered(peptide()[9:], A=0.4, B=0.6)
    ensemble = read(write(tmp_path / "b", pdb_text([[*alone, *peptide()[5:9], *torn]])))
    assert ensemble.notes[0].startswith("1 atom has alternative locations")
    assert ensemble.notes[0].endswith("(B in 1), and 1 place was left out")


def test_a_place_without_a_letter_is_an_alternative_of_one_with_a_letter(tmp_path: Path) -> None:
    records = [*peptide(), (*peptide()[4][:1], "B", *peptide()[4][2:8], 3.0, 0.4, "C")]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert ensemble.n_sites == 10
    assert place(ensemble, "CB", 1)[2] == -1.3
    assert "(no letter in 1)" in ensemble.notes[0]


@formats
def test_all_models_take_the_same_letter_in_a_stretch(tmp_path: Path, write: Write) -> None:
    one, other = peptide()[:5], peptide()[5:]
    models = [
        lettered(one, A=first, B=1 - first) + lettered(other, A=second, B=1 - second)
        for first, second in ((0.9, 0.2), (0.3, 0.4), (0.2, 0.3))
    ]
    path = write(tmp_path / "a", pdb_text(models))
    ensemble = read(path)
    found = ensemble.frames.read(0, 3)[0]
    np.testing.assert_allclose(found - found[:1], 0.0, atol=1e-6)
    assert "(B in 2)" in ensemble.notes[0]  # 5 × (1.6 + 2.1) atoms against 5 × (1.4 + 0.9)
    assert "(A in 2)" in read_model(path, model=1)[0].notes[0]
