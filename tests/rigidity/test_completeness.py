"""Residues that lack atoms, and parts that no bond joins to the rest, are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import timme
from tests.readers.builders import Record, atom, peptide, write_pdb
from timme.rigidity.completeness import incomplete
from timme.rigidity.network import network
from timme.system.atoms import Atoms

BACKBONE = "N CA C O"
SUGAR = "O5' C5' C4' O4' C3' O3' C2' C1'"
ADENINE = "N9 C8 N7 C5 C6 N6 N1 C2 N3 C4"


def chain(*residues: tuple[str, str]) -> Atoms:
    """Residues of one chain, each a name and the names of its heavy atoms."""
    named = [
        (resname, number, name)
        for number, (resname, names) in enumerate(residues, start=1)
        for name in names.split()
    ]
    count = len(named)
    return Atoms(
        names=np.array([name for *_, name in named]),
        elements=np.array([name[0] for *_, name in named]),
        resnames=np.array([resname for resname, *_ in named]),
        resids=np.array([number for _, number, _ in named]),
        icodes=np.full(count, ""),
        chains=np.full(count, "A"),
        masses=np.ones(count),
        bonds=np.empty((0, 2), np.int64),
    )


def lacking(*residues: tuple[str, str]) -> list[int]:
    atoms = chain(*residues)
    return [int(number) for number in atoms.resids[incomplete(atoms)]]


@pytest.mark.parametrize(
    ("resname", "names"),
    [
        ("GLY", BACKBONE),
        ("ILE", f"{BACKBONE} CB CG1 CG2 CD1"),
        ("HIE", f"{BACKBONE} CB CG ND1 CD2 CE1 NE2"),
        ("MSE", f"{BACKBONE} CB CG SE CE"),
        ("SEP", f"{BACKBONE} CB OG P O1P O2P O3P"),
        ("XYZ", f"{BACKBONE} CB"),  # an amino acid by its backbone
        ("A", f"{SUGAR} {ADENINE}"),
        ("DC", f"P OP1 OP2 {SUGAR} N1 C2 O2 N3 C4 N4 C5 C6"),
        ("PSU", f"P O1P O2P {SUGAR} N1 C2 O2 N3 C4 O4 C5 C6"),
    ],
)
def test_a_residue_is_whole_with_all_its_atoms_only(resname: str, names: str) -> None:
    assert lacking((resname, names)) == []
    wanted = names.split()
    # Of a residue that is known by its backbone, no more is known than that.
    left = wanted[3:4] if resname == "XYZ" else wanted
    for missing in left:
        rest = " ".join(name for name in wanted if name != missing)
        assert lacking((resname, rest)) == [1]


def test_the_oxygen_that_ends_a_chain_stands_for_no_other_atom() -> None:
    assert lacking(("ALA", f"{BACKBONE} CB OXT")) == []
    assert lacking(("ALA", f"{BACKBONE} OXT")) == [1]
    assert lacking(("ALA", "N CA CB C OT1 OT2")) == []  # names of force fields


def test_a_phosphate_is_missing_but_in_the_first_nucleotide() -> None:
    bare = f"{SUGAR} {ADENINE}"
    assert lacking(("DA", bare), ("DA", f"P OP1 OP2 {bare}")) == []
    assert lacking(("DA", bare), ("DA", bare)) == [2]


def test_a_ribose_lacks_its_oxygen_where_others_have_it() -> None:
    bare, phosphate = f"{SUGAR} {ADENINE}", "P OP1 OP2"
    assert lacking(("A", f"{bare} O2'"), ("A", f"{phosphate} {bare}")) == [2]
    assert lacking(("A", bare), ("A", f"{phosphate} {bare}")) == []  # the old name in DNA
    assert lacking(("A", f"{bare} O2'"), ("DA", f"{phosphate} {bare}")) == []


def test_old_names_are_known() -> None:
    old = f"P O1P O2P {SUGAR} {ADENINE}".replace("'", "*")
    assert lacking(("A", old)) == []
    assert lacking(("ILE", f"{BACKBONE} CB CG1 CG2 CD")) == []


def with_amide(records: list[Record]) -> list[Record]:
    return [*records, atom("H", 1, (-0.6, 0.8, 0.0))]


def notes_of(folder: Path, records: list[Record]) -> list[str]:
    ensemble = timme.read(write_pdb(folder / "some.pdb", [with_amide(records)]))
    return [note for note in network(ensemble).notes if note.startswith("no bond joins")]


def test_an_atom_that_is_out_of_its_place_is_named(tmp_path: Path) -> None:
    records = peptide(n_residues=4)
    assert notes_of(tmp_path, records) == []
    away = [
        (*record[:6], record[6] + 30.0, *record[7:])
        if (record[0], record[4]) == ("CB", 2)
        else record
        for record in records
    ]
    (note,) = notes_of(tmp_path, away)
    assert note.startswith("no bond joins 1 part to the rest of the residue (A/ALA 2/CB): ")


def test_a_chain_that_is_broken_within_a_residue_is_named(tmp_path: Path) -> None:
    broken = [
        (*record[:6], record[6] + 30.0, *record[7:])
        if (record[0], record[4]) == ("CA", 3)
        else record
        for record in peptide(n_residues=4)
    ]
    (note,) = notes_of(tmp_path, broken)
    # Carbonyl is the largest part that is left.
    assert "no bond joins 3 parts" in note
    assert "(A/ALA 3/N, A/ALA 3/CA, A/ALA 3/CB)" in note
    assert "a chain is broken there" in note


def test_waters_ions_and_single_atoms_are_no_loose_parts(tmp_path: Path) -> None:
    others = [
        atom("O", 50, (50.0, 0.0, 0.0), resname="HOH"),
        atom("H1", 50, (60.0, 0.0, 0.0), resname="HOH", element="H"),
        atom("NA", 51, (70.0, 0.0, 0.0), resname="NA", element="Na"),
        atom("C1", 52, (80.0, 0.0, 0.0), resname="LIG"),
    ]
    assert notes_of(tmp_path, [*peptide(n_residues=3), *others]) == []


def test_a_metal_is_joined_to_its_residue_by_its_own_bonds(tmp_path: Path) -> None:
    heme = [
        atom("FE", 60, (90.0, 0.0, 0.0), resname="HEM", element="Fe"),
        atom("NA", 60, (92.0, 0.0, 0.0), resname="HEM", element="N"),
        atom("C1A", 60, (93.2, 0.6, 0.0), resname="HEM"),
    ]
    assert notes_of(tmp_path, [*peptide(n_residues=3), *heme]) == []
    far = replace_place(heme[0], (120.0, 0.0, 0.0))
    (note,) = notes_of(tmp_path, [*peptide(n_residues=3), far, *heme[1:]])
    assert "(A/HEM 60/FE)" in note


def replace_place(record: Record, place: tuple[float, float, float]) -> Record:
    return (*record[:6], *place, *record[9:])
