"""Hydrogens for structures that have none, placed by the hydride library.

Hydride was chosen over OpenMM's Modeller by its results: it bends no amide, places hydrogens on
every molecule of the chemical component dictionary, needs no force field, and always gives the same
answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings, frozen
from timme.rigidity.checks import EXTRA
from timme.rigidity.chemistry import parent_residue
from timme.rigidity.structure import Structure, structure
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.elements import HYDROGENS, element_masses
from timme.system.ensemble import Ensemble
from timme.system.held_frames import ArrayFrames
from timme.system.residues import is_ion, is_protein, is_water, residue_index

_PH = 7.0
_NAMED = 5  # molecules that a note names
# Rotations of hydroxyls and the like, from coarse to fine: small steps alone end in the nearest
# valley, which for a third of the hydroxyls is not the one with a hydrogen bond.
_STEPS = (90.0, 45.0, 20.0, 10.0)  # degrees
# Names of older files and of force fields, and those of the dictionary.
_OTHER_NAMES = {"O1P": "OP1", "O2P": "OP2", "O3P": "OP3", "C5M": "C7"}
_OTHER_PROTEIN_NAMES = {
    **dict.fromkeys(("OT1", "OC1", "O1"), "O"),
    **dict.fromkeys(("OT2", "OC2", "O2"), "OXT"),
    "CD": "CD1",  # of isoleucine
}


def add_hydrogens(ensemble: Ensemble, model: int = 0) -> Ensemble:
    """Add hydrogens to one snapshot, as they are at pH 7.

    Acids are without and bases with a proton, histidine is neutral with its hydrogen at Nε2.
    Hydroxyls and other ends that turn are turned to where charges attract one another. Waters get
    none, since nothing tells how they are turned, nor does the nitrogen after a gap in a chain.
    Molecules that are not in the chemical component dictionary get none either; ``notes`` name
    these.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds, without hydrogens.
    model : int, optional
        Which snapshot, from 0.

    Returns
    -------
    Ensemble
        That snapshot, in Å; hydrogens follow the other atoms of their residue.

    Raises
    ------
    ImportError
        If the library is not there.
    ValueError
        If there are hydrogens already.
    """
    snapshot = structure(ensemble, model)
    there = np.isin(snapshot.atoms.elements, HYDROGENS) & ~is_water(snapshot.atoms)
    if there.any():
        raise ValueError(
            f"{ensemble.prefix}there are {np.count_nonzero(there)} hydrogens already: use them, or "
            "leave them out (select='not element H') to have all of them placed anew"
        )
    hydride = _library()
    array, wanted, unknown = _prepare(snapshot, hydride)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # atoms without a fragment are counted below
        filled, original = hydride.add_hydrogen(array, mask=wanted)
        for step in _STEPS:
            filled.coord = hydride.relax_hydrogen(filled, angle_increment=np.deg2rad(step))
    notes = [f"{int(np.count_nonzero(~original))} hydrogens were added by hydride for pH {_PH:g}"]
    if len(unknown) > _NAMED:
        unknown = [*unknown[:_NAMED], f"{len(unknown) - _NAMED} others"]
    if unknown:
        notes.append(
            f"no hydrogens were added to {', '.join(unknown)}: "
            "their atoms or bonds are not those of the chemical component dictionary"
        )
    return _complete(ensemble, snapshot, filled, original, tuple(notes))


def _library() -> Any:
    try:
        import hydride
    except ImportError:
        raise ImportError(f"adding hydrogens needs hydride: install it with `{EXTRA}`") from None
    return hydride


def _prepare(snapshot: Structure, hydride: Any) -> tuple[Any, Bools, list[str]]:
    """Make the array that hydride wants: types of bonds and charges are those of the dictionary."""
    from biotite.structure import AtomArray, BondList

    atoms = snapshot.atoms
    array = AtomArray(len(atoms))
    array.coord = snapshot.coordinates.astype(np.float32)
    array.chain_id, array.res_id, array.ins_code = atoms.chains, atoms.resids, atoms.icodes
    array.res_name = _parents(atoms.resnames)
    array.atom_name = _usual_names(atoms, array.res_name)
    array.element = np.char.upper(atoms.elements)
    types, unknown = _bond_types(array, atoms.bonds, residue_index(atoms))
    array.bonds = BondList(len(atoms), np.column_stack([atoms.bonds, types]))
    array.set_annotation("charge", _charges(array, atoms, types, hydride))
    wanted = ~is_water(atoms) & ~is_ion(atoms) & ~unknown & ~_beside_gaps(array, atoms)
    strange = np.flatnonzero(unknown & ~is_water(atoms))
    labels = dict.fromkeys(atoms.label(int(atom)).rpartition("/")[0] for atom in strange)
    return array, wanted, list(labels)


def _parents(resnames: Strings) -> Strings:
    distinct, inverse = np.unique(resnames, return_inverse=True)
    return np.array([parent_residue(str(name).upper()) for name in distinct])[inverse]


def _usual_names(atoms: Atoms, parents: Strings) -> Strings:
    names = _translate(np.char.replace(atoms.names, "*", "'"), _OTHER_NAMES)
    other = is_protein(atoms) & ((names != "CD") | (parents == "ILE"))
    return np.where(other, _translate(names, _OTHER_PROTEIN_NAMES), names)


def _translate(names: Strings, table: Mapping[str, str]) -> Strings:
    distinct, inverse = np.unique(names, return_inverse=True)
    return np.array([table.get(str(name), str(name)) for name in distinct])[inverse]


def _bond_types(array: Any, bonds: Ints, residues: Ints) -> tuple[Ints, Bools]:
    """Look up the types of bonds, and mark the residues of which some bond is not known."""
    from biotite.structure import BondType, info

    types = np.full(len(bonds), int(BondType.SINGLE), dtype=np.int64)
    inside = residues[bonds[:, 0]] == residues[bonds[:, 1]]
    strange = np.zeros(int(residues[-1]) + 1 if len(residues) else 0, dtype=np.bool_)
    tables: dict[str, Mapping[tuple[str, str], Any]] = {}
    for bond in np.flatnonzero(inside):
        one, other = bonds[bond]
        resname = str(array.res_name[one])
        if resname not in tables:
            tables[resname] = info.bonds_in_residue(resname)
        pair = str(array.atom_name[one]), str(array.atom_name[other])
        found = tables[resname].get(pair, tables[resname].get(pair[::-1]))
        types[bond] = int(BondType.ANY if found is None else found)
        strange[residues[one]] |= found is None
    return types, strange[residues]


def _charges(array: Any, atoms: Atoms, types: Ints, hydride: Any) -> Ints:
    """Give formal charges to atoms: amino acids as at pH 7, others as their bonds say."""
    from biotite.structure import filter_canonical_amino_acids

    amino = filter_canonical_amino_acids(array)
    charges = np.where(_acids(atoms, types), -1, 0) + np.where(_cations(atoms, types), 1, 0)
    charges = np.where(amino, hydride.estimate_amino_acid_charges(array, _PH), charges)
    # The first nitrogen of a chain is no end where it is bound to a cap.
    degrees = np.bincount(atoms.bonds.ravel(), minlength=len(atoms))
    capped = (array.atom_name == "N") & (degrees > np.where(array.res_name == "PRO", 2, 1))
    return np.where(amino & capped, 0, charges)


def _beside_gaps(array: Any, atoms: Atoms) -> Bools:
    """Find carbonyls and nitrogens that lack the next amino acid, and with it a direction."""
    from biotite.structure import filter_amino_acids

    degrees = np.bincount(atoms.bonds.ravel(), minlength=len(atoms))
    lost = (array.atom_name == "N") & (degrees < 2) & (array.charge == 0)
    lost |= array.atom_name == "C"
    found: Bools = lost & filter_amino_acids(array)
    return found


def _acids(atoms: Atoms, types: Ints) -> Bools:
    """Find the oxygens of phosphates, sulphates, carboxylates and the like without a proton."""
    from biotite.structure import BondType

    count = len(atoms)
    degrees = np.bincount(atoms.bonds.ravel(), minlength=count)
    oxygens = (atoms.elements == "O") & (degrees == 1)
    ends = np.concatenate([atoms.bonds, atoms.bonds[:, ::-1]])
    kinds = np.concatenate([types, types])
    double = oxygens[ends[:, 1]] & (kinds == int(BondType.DOUBLE))
    acid = np.isin(atoms.elements, ("P", "S", "C", "N"))
    acid &= np.bincount(ends[double, 0], minlength=count) > 0
    single = oxygens[ends[:, 1]] & (kinds == int(BondType.SINGLE)) & acid[ends[:, 0]]
    found = np.zeros(count, dtype=np.bool_)
    found[ends[single, 1]] = True
    return found


def _cations(atoms: Atoms, types: Ints) -> Bools:
    """Find nitrogens with four bonds, double ones counted twice: nitro groups, nicotinamide."""
    from biotite.structure import BondType

    orders = np.ones(len(types), dtype=np.int64)
    orders[np.isin(types, (int(BondType.DOUBLE), int(BondType.AROMATIC_DOUBLE)))] = 2
    orders[types == int(BondType.TRIPLE)] = 3
    sums = np.bincount(atoms.bonds.ravel(), np.repeat(orders, 2), minlength=len(atoms))
    found: Bools = (atoms.elements == "N") & (sums >= 4)
    return found


def _complete(
    ensemble: Ensemble, snapshot: Structure, filled: Any, original: Bools, notes: tuple[str, ...]
) -> Ensemble:
    """Make an ensemble of the atoms that were there, as they were, and the new ones."""
    old = snapshot.atoms
    parents = np.maximum.accumulate(np.where(original, np.cumsum(original) - 1, 0))
    elements = np.where(original, old.elements[parents], "H")
    new_bonds = filled.bonds.as_array()[:, :2].astype(np.int64)
    places = np.flatnonzero(original)
    atoms = Atoms(
        names=frozen(np.where(original, old.names[parents], filled.atom_name.astype(np.str_))),
        elements=frozen(elements),
        resnames=frozen(old.resnames[parents]),
        resids=frozen(old.resids[parents]),
        icodes=frozen(old.icodes[parents]),
        chains=frozen(old.chains[parents]),
        masses=frozen(np.where(original, old.masses[parents], element_masses(elements))),
        bonds=sorted_bonds(
            np.concatenate([places[old.bonds], new_bonds[~original[new_bonds].all(axis=1)]])
        ),
    )
    coordinates: Floats = np.asarray(filled.coord, dtype=np.float64)
    coordinates[original] = snapshot.coordinates
    box = None if not snapshot.boxes.matrices.any() else snapshot.boxes.matrices
    return replace(
        ensemble,
        frames=ArrayFrames(frozen(coordinates[None]), box),
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit="Å",
        weights=None,
        notes=(*ensemble.notes, *notes),
    )
