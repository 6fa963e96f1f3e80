"""Contacts that hold atoms without a hydrogen between them: tethers, metals, stacked bases."""

from __future__ import annotations

from typing import Literal

import numpy as np
from gemmi import Element

from timme._arrays import Bools, Floats, Ints, Strings
from timme.ensemble.atoms import covalent_radii
from timme.ensemble.residues import is_nucleic, residue_index
from timme.ensemble.space import pairs_within
from timme.rigidity.chemistry import Chemistry, Structure

Tethers = Literal["shortest", "all", "none"]

_RADII = {"C": 1.7, "S": 1.8}  # Å
_TETHER_GAP = 0.5  # Å beyond the sum of radii
_METAL_GAP = 0.4  # Å beyond the sum of covalent radii, as for covalent bonds
_LABILE = frozenset("Li Na K Rb Cs Fr".split())  # their shells change within nanoseconds
_LIGANDS = ("N", "O", "S", "Se")

_BASE_RING = ("N1", "C2", "N3", "C4", "C5", "C6")
_STACKED, _RISE = 5.5, (2.8, 4.2)  # Å between centres of rings, and along their normals
_PARALLEL = 0.85  # least cosine of the angle between normals


def find_tethers(structure: Structure, chemistry: Chemistry, which: Tethers = "shortest") -> Ints:
    """Return hydrophobic tethers (tethers, 2), lower atom first, sorted.

    Tethers join carbons or sulphurs bound to carbon, sulphur and hydrogen only, in different
    residues, more than three bonds apart and closer than their radii and 0.5 Å: the shortest of
    each atom to each residue, all, or none.
    """
    atoms = structure.atoms
    greasy = np.isin(atoms.elements, tuple(_RADII))
    foreign = chemistry.beside(~(greasy | chemistry.hydrogens)) > 0
    chosen = np.flatnonzero(greasy & ~foreign & (chemistry.degrees > 0))
    if which == "none" or not len(chosen):
        return np.empty((0, 2), np.int64)
    radii = np.where(atoms.elements == "S", _RADII["S"], _RADII["C"])
    reach = 2 * max(_RADII.values()) + _TETHER_GAP
    pairs = structure.pairs(chosen, reach)
    lengths, residues = structure.distances(*pairs.T), residue_index(atoms)[pairs]
    tied = lengths < radii[pairs].sum(axis=1) + _TETHER_GAP
    tied &= residues[:, 0] != residues[:, 1]
    tied[tied] = chemistry.far_apart(*pairs[tied].T)
    if which == "shortest":
        tied[tied] = _shortest(pairs[tied], lengths[tied], residues[tied])
    return np.asarray(pairs[tied])


def metal_bonds(structure: Structure, allowed: Bools) -> Ints:
    """Return the bonds (bonds, 2) of metal ions to nitrogen, oxygen and sulphur, the metal first.

    They are no longer than the sum of covalent radii and 0.4 Å. Alkali metals have none, since what
    surrounds them changes within nanoseconds. Bonds that the file has are left out.
    """
    elements = structure.atoms.elements
    metals = np.flatnonzero(_is_metal(elements) & allowed)
    ligands = np.flatnonzero(np.isin(elements, _LIGANDS) & allowed)
    radii = covalent_radii(elements, metals=True) + _METAL_GAP / 2
    reach = float(radii[metals].max(initial=0) + radii[ligands].max(initial=0))
    near = structure.cross_pairs(metals, ligands, reach)
    bound = near[structure.distances(*near.T) <= radii[near].sum(axis=1)]
    given = structure.atoms.bonds @ [len(elements), 1]
    return np.asarray(bound[~np.isin(np.sort(bound, axis=1) @ [len(elements), 1], given)])


def find_stacks(structure: Structure) -> Ints:
    """Return the nearest atoms (stacks, 2) of the six-membered rings of nucleic bases that stack.

    Rings stack if their centres are less than 5.5 Å apart, 2.8 to 4.2 Å of it along their normals,
    which are within 32° of one another.
    """
    atoms = structure.atoms
    members = np.flatnonzero(is_nucleic(atoms) & np.isin(atoms.names, _BASE_RING))
    _, counts = np.unique(residue_index(atoms)[members], return_counts=True)
    rings = members[np.repeat(counts, counts) == 6].reshape(-1, 6)
    first = rings[:, 0]
    arms = structure.vectors(np.repeat(first, 6), rings.ravel()).reshape(-1, 6, 3)
    centres = structure.coordinates[first] + arms.mean(axis=1)
    normals = np.linalg.svd(arms - arms.mean(axis=1, keepdims=True))[2][:, 2]
    boxes = structure.boxes.select(first)
    one, other = pairs_within(centres, _STACKED, boxes).T
    apart = boxes.between(centres[None], one, other)[0]
    stacked = np.abs(np.einsum("ij,ij->i", normals[one], normals[other])) > _PARALLEL
    for ends in (one, other):
        rise = np.abs(np.einsum("ij,ij->i", apart, normals[ends]))
        stacked &= (rise > _RISE[0]) & (rise < _RISE[1])
    pairs = np.stack(np.broadcast_arrays(rings[one, :, None], rings[other, None, :]), axis=-1)
    pairs = pairs[stacked].reshape(-1, 36, 2)
    lengths = structure.distances(*pairs.reshape(-1, 2).T).reshape(-1, 36)
    return np.asarray(pairs[np.arange(len(pairs)), lengths.argmin(axis=1)])


def _shortest(pairs: Ints, lengths: Floats, residues: Ints) -> Bools:
    """Return which pairs are the shortest of one of their atoms to the residue of the other."""
    kept = np.zeros(len(pairs), np.bool_)
    for one, other in ((0, 1), (1, 0)):
        order = np.lexsort((pairs[:, other], lengths, residues[:, other], pairs[:, one]))
        groups = np.column_stack([pairs[:, one], residues[:, other]])[order]
        starts = np.unique(groups, axis=0, return_index=True)[1]
        kept[order[starts]] = True
    return kept


def _is_metal(elements: Strings) -> Bools:
    symbols = set(elements.tolist()) - _LABILE - {""}
    return np.isin(elements, [symbol for symbol in symbols if Element(symbol).is_metal])
