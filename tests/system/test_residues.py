"""Kinds of residues, and the sites chosen by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from timme.readers import default_sites, shown_sites
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.residues import (
    is_ion,
    is_nucleic,
    is_protein,
    is_water,
    preset_sites,
    residue_index,
)


def atoms_of(*residues: tuple[str, Sequence[str]]) -> Atoms:
    names = [name for _, members in residues for name in members]
    resnames = [resname for resname, members in residues for _ in members]
    resids = [number for number, (_, members) in enumerate(residues, start=1) for _ in members]
    blank = np.full(len(names), "")
    return Atoms(
        names=np.array(names),
        elements=blank,
        resnames=np.array(resnames),
        resids=np.array(resids),
        icodes=blank,
        chains=blank,
        masses=np.ones(len(names)),
        bonds=sorted_bonds(()),
    )


PROTEIN = ("ALA", ("N", "CA", "C", "O"))
SUGAR = ("O5'", "C5'", "C4'", "O4'", "C3'", "O3'", "C2'", "C1'")
WATER = ("HOH", ("O",))


def test_solvent_of_a_protein_is_left_out() -> None:
    atoms = atoms_of(
        PROTEIN, WATER, ("SOL", ("OW", "HW1", "HW2")), ("CA", ("CA",)), ("LIG", ("C1",))
    )
    sites, note = default_sites(atoms)
    assert sites.tolist() == [0, 1, 2, 3, 9]
    assert "left out 2 waters and 1 ion:" in note


def test_solvent_alone_is_kept() -> None:
    sites, note = default_sites(atoms_of(WATER, WATER, ("NA", ("NA",))))
    assert sites.tolist() == [0, 1, 2]
    assert not note


def test_everything_is_kept_where_there_is_no_solvent() -> None:
    assert default_sites(atoms_of(PROTEIN))[1] == ""


def test_alpha_carbons_stand_for_amino_acids_and_not_calcium() -> None:
    assert shown_sites(atoms_of(PROTEIN, ("CA", ("CA",)), PROTEIN)).tolist() == [1, 6]


def test_phosphorus_stands_for_nucleotides_and_c4_where_there_is_none() -> None:
    atoms = atoms_of(("DA5", SUGAR), ("DG", ("P", *SUGAR)), ("G", ("P", *SUGAR)))
    assert atoms.names[shown_sites(atoms)].tolist() == ["C4'", "P", "P"]


def test_an_insertion_code_alone_parts_two_residues() -> None:
    atoms = replace(
        atoms_of(PROTEIN, PROTEIN), resids=np.full(8, 52), icodes=np.array([""] * 4 + ["A"] * 4)
    )
    assert residue_index(atoms).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_modified_residues_are_known_by_their_backbone() -> None:
    assert is_protein(atoms_of(("XYZ", ("N", "CA", "C", "O")))).all()
    assert not is_protein(atoms_of(("XYZ", ("N1", "C2")))).any()
    assert is_nucleic(atoms_of(("XYZ", ("P", *SUGAR)))).all()
    assert not is_nucleic(atoms_of(("ATP", ("PA", "PB", "PG", *SUGAR)))).any()


def test_kinds_do_not_overlap() -> None:
    atoms = atoms_of(PROTEIN, ("DA", ("P", *SUGAR)), WATER, ("ZN", ("ZN",)))
    kinds = np.stack([is_protein(atoms), is_nucleic(atoms), is_water(atoms), is_ion(atoms)])
    assert (kinds.sum(axis=0) == 1).all()


def test_residues_are_numbered_as_they_come() -> None:
    assert residue_index(atoms_of(PROTEIN, WATER, WATER)).tolist() == [0, 0, 0, 0, 1, 2]
    assert residue_index(Atoms.unnamed(0)).tolist() == []


def test_nothing_is_shown_of_nothing() -> None:
    assert shown_sites(Atoms.unnamed(0)).tolist() == []
    assert default_sites(Atoms.unnamed(0))[0].tolist() == []


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ValueError, match="a preset is one of ca, backbone"):
        preset_sites(Atoms.unnamed(1), "all")
