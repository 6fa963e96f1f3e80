"""Reference: names, elements, residues and selections, by hand and as MDAnalysis has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.ensemble.builders import atoms_of, joined
from tests.golden import systems
from timme.ensemble import Atoms
from timme.ensemble.atoms import (
    angstroms,
    covalent_radii,
    element_masses,
    guess_elements,
    is_element,
    unit_label,
)
from timme.ensemble.residues import (
    default_sites,
    is_ion,
    is_nucleic,
    is_protein,
    is_water,
    residue_index,
    selector,
    shown_sites,
)

ALA = ("ALA", ("N", "CA", "C", "O", "CB"))
SUGAR = ("O5'", "C5'", "C4'", "O4'", "C3'", "O3'", "C2'", "C1'")
GUANINE = ("DG", ("P", *SUGAR))
WATER = ("HOH", ("O", "H1", "H2"))
CALCIUM = ("CA", ("CA",))


# ---- atoms ---------------------------------------------------------------------------------------


def test_taken_atoms_keep_the_bonds_between_them() -> None:
    atoms = replace(atoms_of(ALA), bonds=Atoms.unnamed(5, bonds=[(3, 2), (1, 0), (1, 2)]).bonds)
    some = atoms.take(np.array([2, 1, 4, 0]))
    assert some.names.tolist() == ["C", "CA", "CB", "N"]
    assert some.bonds.tolist() == [[1, 3], [0, 1]]
    assert [atoms.label(1), Atoms.unnamed(2).label(1)] == ["A/ALA 1/CA", "2"]


@pytest.mark.parametrize(
    ("name", "resname", "element"),
    [
        ("CA", "GLY", "C"), ("CA", "CA", "Ca"), ("1HB", "ALA", "H"), ("SE", "MSE", "Se"),
        ("CL1", "LIG", "Cl"), ("CL", "CLA", "Cl"), ("NA", "SOD", "Na"), ("OW", "SOL", "O"),
        ("MW", "SOL", ""), ("Ar", "", "Ar"), ("C12", "LIG", "C"), ("X1", "LIG", ""),
        ("HG", "SER", "H"), ("D", "HOH", "D"), ("", "", ""),
    ],
)  # fmt: skip
def test_elements_follow_from_names(name: str, resname: str, element: str) -> None:
    assert guess_elements(np.array([name]), np.array([resname])).tolist() == [element]


def test_atoms_of_a_protein_have_the_elements_of_its_file_and_beads_none() -> None:
    atoms = systems.barnase_nmr().atoms
    assert atoms is not None
    np.testing.assert_array_equal(guess_elements(atoms.names, atoms.resnames), atoms.elements)
    beads = guess_elements(np.array(["BB", "SC1"]), np.array(["LEU", "LEU"]))
    assert beads.tolist() == ["", ""]


def test_masses_and_radii_are_those_of_the_elements() -> None:
    # IUPAC 2021; Cordero et al. 2008 has 0.76, 0.31 and 1.22 Å for C, H and Zn, within 0.05.
    elements = np.array(["C", "H", "Zn", ""])
    np.testing.assert_allclose(element_masses(elements), [12.011, 1.008, 65.38, 1], atol=0.01)
    np.testing.assert_allclose(covalent_radii(elements), [0.76, 0.31, 0, 0], atol=0.1)
    assert covalent_radii(elements, metals=True)[2] == pytest.approx(1.22, abs=0.3)
    assert [is_element(each) for each in ("Ca", "CA", "X", "D")] == [True, False, False, True]


def test_units_have_several_names() -> None:
    lengths = {"": 1.0, "Angstrom": 1.0, "nm": 10.0, "pm": 0.01, "µm": None}
    assert {unit: angstroms(unit) for unit in lengths} == lengths
    assert [unit_label(unit) for unit in ("A", "um", "px", "")] == ["Å", "µm", "px", ""]


# ---- residues ------------------------------------------------------------------------------------


def test_kinds_of_residues_do_not_overlap() -> None:
    atoms = atoms_of(ALA, GUANINE, WATER, CALCIUM, ("XYZ", ("N", "CA", "C")), ("XYZ", SUGAR))
    kinds = np.stack([is_protein(atoms), is_nucleic(atoms), is_water(atoms), is_ion(atoms)])
    expected = [0] * 5 + [1] * 9 + [2] * 3 + [3] + [0] * 3 + [1] * 8
    np.testing.assert_array_equal(kinds, np.equal.outer(range(4), expected))
    assert not is_nucleic(atoms_of(("ATP", ("PA", "PB", *SUGAR)))).any()
    assert not is_protein(atoms_of(("LIG", ("N", "C")))).any()


def test_a_residue_ends_where_any_part_of_its_key_changes() -> None:
    resids, icodes = np.array([1, 2, 2, 2, 2]), np.array(["", "", "A", "A", "A"])
    atoms = replace(atoms_of(ALA), resids=resids, icodes=icodes, chains=np.array([*"AAABB"]))
    assert residue_index(atoms).tolist() == [0, 1, 2, 3, 3]
    assert residue_index(Atoms.unnamed(0)).tolist() == []


def test_solvent_of_a_protein_is_left_out_and_solvent_alone_is_not() -> None:
    sites, note = default_sites(atoms_of(ALA, WATER, WATER, CALCIUM, ("LIG", ("C1",))))
    assert sites.tolist() == [0, 1, 2, 3, 4, 12]
    assert note == "left out 2 waters and 1 ion: select them to keep them"
    assert len(default_sites(atoms_of(WATER, CALCIUM))[0]) == 4
    assert default_sites(Atoms.unnamed(0))[1] == ""


def test_one_atom_stands_for_a_residue() -> None:
    atoms = atoms_of(ALA, CALCIUM, ("DA5", SUGAR), GUANINE)
    assert atoms.names[shown_sites(atoms)].tolist() == ["CA", "C4'", "P"]
    assert shown_sites(Atoms.unnamed(3)).tolist() == []


# ---- selections ----------------------------------------------------------------------------------

SYSTEM = joined(
    atoms_of(ALA, ALA), atoms_of(("ALA", ("N", "CA", "C", "O", "H")), chain="B"),
    atoms_of(WATER, WATER, CALCIUM, chain="W"),
)  # fmt: skip
PLACES = np.random.default_rng(2).uniform(0, 8, (22, 3))


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("ca", ["CA", "CA", "CA"]),
        ("backbone", ["N", "CA", "C", "O"] * 3),
        ("water-oxygen", ["O", "O"]),
        (" Heavy ", [*ALA[1], *ALA[1], "N", "CA", "C", "O", "O", "O", "CA"]),
    ],
)
def test_presets_choose_by_residue_and_name(preset: str, names: list[str]) -> None:
    assert SYSTEM.names[selector(SYSTEM, None)(preset)].tolist() == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("protein and name CA", [1, 6, 11]),
        ("segid B and not name H", [10, 11, 12, 13]),
        ("chainID A and resid 2", [5, 6, 7, 8, 9]),
        ("element Ca", [21]),
        ("bonded index 0", [1]),
        ("resname HOH and name H*", [16, 17, 19, 20]),
    ],
)
def test_the_language_of_mdanalysis_chooses_atoms(text: str, expected: list[int]) -> None:
    atoms = replace(SYSTEM, bonds=np.array([[0, 1], [1, 2]]))
    assert selector(atoms, PLACES)(text).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name XX", "matches none of the 22 atoms.*residues ALA, CA, HOH; chains A, B, W"),
        ("name CA and", "is not understood .*MDAnalysis language"),
        ("nonsense", "is not understood"),
    ],
)
def test_a_selection_without_atoms_says_what_there_is(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        selector(SYSTEM, PLACES)(text)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="it gives no names"):
        selector(Atoms.unnamed(3), None)("water-oxygen")
