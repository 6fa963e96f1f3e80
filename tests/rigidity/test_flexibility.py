"""Flexibility of residues: the bonds of the backbone, and no others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.rigidity.structures import joined, molecule
from timme.rigidity import network
from timme.rigidity.flexibility import backbone_bonds, residue_flexibility
from timme.system.ensemble import Ensemble
from timme.system.topology import atoms_of_sites

PLACES = {
    "N": (0.0, 0.0, 0.0),
    "CA": (1.5, 0.0, 0.0),
    "C": (2.0, 1.4, 0.0),
    "CB": (2.0, -0.8, 1.2),
    "H": (-0.5, 0.9, 0.0),
}


def alanines() -> Ensemble:
    """Two amino acids and a ligand without a backbone."""
    one = molecule(PLACES, "N-CA CA-C CA-CB N-H", resname="ALA")
    other = {name: (x + 20.0, y, z) for name, (x, y, z) in PLACES.items()}
    far = {"C1": (0.0, 30.0, 0.0), "C2": (1.5, 30.0, 0.0)}
    return joined(
        one, molecule(other, "N-CA CA-C CA-CB N-H", resname="ALA"), molecule(far, "C1-C2")
    )


def test_the_backbone_of_amino_acids_is_two_bonds() -> None:
    atoms, held = atoms_of_sites(alanines()), network(alanines())
    pairs = {tuple(atoms.names[bond]) for bond in held.bonds[backbone_bonds(held, atoms)]}
    assert pairs == {("N", "CA"), ("CA", "C")}
    assert backbone_bonds(held, atoms).sum() == 4


def test_nucleotides_have_a_backbone_too_in_old_names_as_well() -> None:
    names = ["P", "O5*", "C5*", "C4*", "C3*", "O3*"]
    strand = {name: (1.5 * k, 0.7 * (k % 2), 0.0) for k, name in enumerate(names)}
    bonds = " ".join(f"{one}-{other}" for one, other in itertools.pairwise(names))
    bare = molecule({**strand, "H": (9.0, 0.9, 0.0)}, f"{bonds} O3*-H", resname="DA")
    assert backbone_bonds(network(bare), atoms_of_sites(bare)).tolist() == [True] * 5 + [False]


def test_a_residue_has_the_mean_of_its_bonds() -> None:
    atoms, held = atoms_of_sites(alanines()), network(alanines())
    index = np.where(backbone_bonds(held, atoms), np.arange(len(held.bonds)), 100.0)
    mean = residue_flexibility(index, held, atoms)
    expected = [
        np.mean(
            [index[k] for k, bond in enumerate(held.bonds) if index[k] < 100 and bond[0] in own]
        )
        for own in (range(5), range(5, 10))
    ]
    assert mean[:2].tolist() == pytest.approx(expected)
    assert np.isnan(mean[2])
