"""Hydrogens for structures that have none: placed by the hydride library, turned to bonds here.

Hydride places hydrogens on every molecule of the chemical component dictionary, needs no force
field, and always gives the same answer. It leaves open how hydroxyls and other ends are turned.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme._arrays import Bools, Floats, Ints, frozen
from timme.engine.checkpoint import Progress, Run
from timme.ensemble import Ensemble, Images
from timme.ensemble.atoms import HYDROGENS, element_masses, sorted_bonds
from timme.ensemble.bonds import adjacency
from timme.ensemble.residues import is_ion, is_water, residue_index
from timme.rigidity.chemistry import Chemistry, Structure, parent_residues
from timme.rigidity.contacts import metal_bonds
from timme.rigidity.energies import donor_hydrogens, possible_bonds

_SINGLE, _UNKNOWN = 1, 0  # types of bonds in biotite
_DOUBLE = (2, 6)  # the second is aromatic

_STEPS = 36  # of a full turn
_TOUCHING = 1.8, 2.1, 1.4  # Å: hydrogens, carbons, others nearer to a hydrogen that turns
_NEAR = 5.0  # Å, within which are all atoms that a hydrogen may touch, before it turns
_PENALTY = 10.0  # kcal/mol of two atoms that touch, more than a bond gives
_LEAST = 1e-9  # kcal/mol for each step, so that of equal turns the smallest is chosen
_TOGETHER = 3  # rotors that are turned at once: 36³ states


def add_hydrogens(
    ensemble: Ensemble, model: int = 0, *, ph: float = 7.0, progress: Progress | None = None
) -> Ensemble:
    """Return one snapshot with hydrogens added to all molecules that need them.

    Acids and bases are charged by the pH and the pKa of free amino acids; neutral histidine has its
    hydrogen at Nε2. Cysteine and histidine that bind a metal ion have none there. Waters get none,
    because their orientation is unknown, nor does the nitrogen after a gap in a chain. Hydroxyls,
    thiols and ammonium are turned to their strongest hydrogen bonds: the best combination in steps
    of 10° for each group of those that can touch.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds, without hydrogens.
    model : int, optional
        Which snapshot, from 0.
    ph : float, optional
        The pH of the solution.
    progress : callable, optional
        Called with the percentage done, and 100.

    Returns
    -------
    Ensemble
        That snapshot, in Å; hydrogens follow the other atoms of their residue. ``notes`` name
        molecules that the chemical component dictionary does not know, which get none.
    """
    structure = Structure.of(ensemble, model)
    old = structure.atoms
    water = is_water(old)
    if (np.isin(old.elements, HYDROGENS) & ~water).any():
        raise ValueError(
            f"{ensemble.prefix}there are hydrogens already: use them, or leave them out "
            "(select='not element H') to have all of them placed anew"
        )
    run = Run.of(progress=progress)
    run.tell(0, 100)
    array, unknown = _as_array(structure)
    bearing = _set_charges(structure, array, ph) & ~(water | is_ion(old) | unknown)
    made, owners = _place(structure, array, bearing)
    run.tell(50, 100)
    made = turn_hydrogens(made)
    run.tell(100, 100)
    notes = [f"{len(owners) - len(old):,} hydrogens were added by hydride for pH {ph:g}"]
    for atom in np.flatnonzero(unknown & ~water)[:1]:
        words = (
            "no hydrogens were added where the chemical component dictionary lacks atoms or bonds"
        )
        notes.append(f"{words}, such as at {old.label(atom)}")
    box = made.boxes.matrices if made.boxes.matrices.any() else None
    return replace(
        Ensemble.from_array(made.coordinates[None], atoms=made.atoms, unit="Å", boxes=box),
        images=ensemble.images and Images(ensemble.images.molecules[owners]),
        sources=ensemble.sources,
        notes=(*ensemble.notes, *notes),
    )


def turn_hydrogens(structure: Structure) -> Structure:
    """Return a structure whose hydroxyls, thiols and ammonium have their strongest bonds.

    The energy of a rotor is that of the strongest bond of each of its hydrogens, and more for each
    atom that they touch. Since energies depend on the heavy neighbours of an acceptor only, rotors
    matter to one another only where their hydrogens touch. Up to three rotors of such a group are
    solved exactly, in steps of 10°, and those after them with these in place.
    """
    chemistry = Chemistry(structure)
    rotors = _rotors(chemistry)
    energies = _rotor_energies(chemistry, rotors)
    clashes = _rotor_clashes(structure, rotors)
    states = np.zeros(len(rotors.donors), np.int64)
    links = adjacency(np.array([*clashes], np.int64).reshape(-1, 2), len(states))
    n_groups, groups = csgraph.connected_components(links, directed=False)
    for group in range(n_groups):
        members = np.flatnonzero(groups == group)
        for start in range(0, len(members), _TOGETHER):
            chosen = members[start : start + _TOGETHER].tolist()
            places = np.ix_(*len(chosen) * [np.arange(_STEPS)])
            total = sum(energies[place, rotor] for place, rotor in zip(places, chosen, strict=True))
            for (i, one), (j, other) in combinations(enumerate(chosen), 2):
                if (one, other) in clashes:
                    total = total + clashes[one, other][places[i], places[j]]
            states[chosen] = np.unravel_index(np.argmin(total), np.shape(total))
            for one, other in clashes:
                if one in chosen:
                    energies[:, other] += clashes[one, other][states[one]]
    return rotors.turned(structure, states)


# ---- placing -------------------------------------------------------------------------------------


def _as_array(structure: Structure) -> tuple[Any, Bools]:
    """Return what hydride takes, with bonds as in the dictionary, and atoms it does not know."""
    try:
        from biotite.structure import AtomArray, BondList, connect_via_residue_names
    except ImportError:
        raise ImportError('adding hydrogens needs pip install "pytimme[rigidity]"') from None
    atoms, residues = structure.atoms, residue_index(structure.atoms)
    array = AtomArray(len(atoms))
    array.coord = structure.coordinates.astype(np.float32)
    array.chain_id, array.res_id, array.ins_code = atoms.chains, atoms.resids, atoms.icodes
    array.res_name = parent_residues(atoms.resnames)
    array.element, array.atom_name = np.char.upper(atoms.elements), atoms.names
    known = connect_via_residue_names(array, inter_residue=False).as_array().astype(np.int64)
    table = sparse.csr_array((known[:, 2], known[:, :2].T), shape=(len(atoms), len(atoms)))
    one, other = atoms.bonds.T
    types = np.where(residues[one] == residues[other], table[one, other], _SINGLE)
    array.bonds = BondList(len(atoms), np.column_stack([atoms.bonds, types]))
    return array, np.isin(residues, residues[one[types == _UNKNOWN]])


def _set_charges(structure: Structure, array: Any, ph: float) -> Bools:
    """Set the charges of amino acids by the pH, and return which atoms may get hydrogens."""
    from biotite.structure import filter_amino_acids, filter_canonical_amino_acids
    from hydride import estimate_amino_acid_charges

    names, resnames, elements = array.atom_name, array.res_name, structure.atoms.elements
    one, other, types = array.bonds.as_array().astype(np.int64).T
    starts, ends = np.append(one, other), np.append(other, one)
    double = np.tile(np.isin(types, _DOUBLE), 2)
    degrees = np.bincount(starts, minlength=len(names))
    charges = estimate_amino_acid_charges(array, ph)
    # The first nitrogen of a chain is no end where it is bound to a cap.
    charges[(names == "N") & (degrees > np.where(resnames == "PRO", 2, 1))] = 0
    # Other acids have lost their hydrogens: oxygens by a single bond at an atom that has another
    # one by a double bond. Nitrogens with four bonds, double ones counted twice, have none.
    free = (elements == "O") & (degrees == 1)
    acid = np.bincount(starts[free[ends] & double], minlength=len(names)) > 0
    full = (elements == "N") & (degrees + np.bincount(starts, double, len(names)) >= 4)
    full[ends[free[ends] & ~double & acid[starts]]] = True
    full &= ~filter_canonical_amino_acids(array)
    # A metal takes the proton of cysteine, and that of histidine is at the other nitrogen.
    metals = metal_bonds(structure, np.ones(len(names), np.bool_))
    bound = np.isin(np.arange(len(names)), metals[:, 1]) & np.isin(resnames, ("CYS", "HIS"))
    residues = residue_index(structure.atoms)
    charges[(names == "ND1") & np.isin(residues, residues[bound & (names == "NE2")])] = 1
    array.set_annotation("charge", charges)
    # Before and after a gap, carbonyls and nitrogens lack the next amino acid.
    lost = (names == "C") | ((names == "N") & (degrees < 2) & (charges == 0))
    return np.asarray(~(full | bound | (lost & filter_amino_acids(array))))


def _place(structure: Structure, array: Any, bearing: Bools) -> tuple[Structure, Ints]:
    """Return the structure with hydrogens, and which old atom each is or is bound to."""
    from hydride import add_hydrogen

    old = structure.atoms
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of atoms without a fragment
        filled, original = add_hydrogen(array, mask=bearing)
    bonds = sorted_bonds(filled.bonds.as_array()[:, :2])
    owners = np.cumsum(original) - 1
    parents, hydrogens = bonds[~original[bonds].all(axis=1)].T  # which follow their parents
    owners[hydrogens] = owners[parents]
    elements = np.where(original, old.elements[owners], "H")
    atoms = replace(
        old.take(owners),
        names=frozen(np.where(original, old.names[owners], filled.atom_name)),
        elements=frozen(elements),
        masses=frozen(np.where(original, old.masses[owners], element_masses(elements))),
        bonds=bonds,
    )
    places = filled.coord.astype(np.float64)
    places[original] = structure.coordinates
    return Structure(atoms, places, structure.boxes.select(owners)), owners


# ---- turning -------------------------------------------------------------------------------------


class _Rotors(NamedTuple):
    """Donors with one heavy neighbour, about the bond to which their hydrogens turn."""

    donors: Ints  # (rotors,), ascending
    hydrogens: Ints  # (hydrogens,), ascending
    owners: Ints  # (hydrogens,), the rotor of each
    arms: Floats  # (states, hydrogens, 3), from the donor to each, turned in even steps

    def turned(self, structure: Structure, states: Ints) -> Structure:
        """Return the structure with every rotor in one of its states."""
        places = structure.coordinates.copy()
        arms = self.arms[states[self.owners], np.arange(len(self.owners))]
        places[self.hydrogens] = places[self.donors[self.owners]] + arms
        return replace(structure, coordinates=places)


def _rotors(chemistry: Chemistry) -> _Rotors:
    structure, heavy = chemistry.structure, ~chemistry.hydrogens
    hydrogens, donors = donor_hydrogens(chemistry)
    turns = chemistry.beside(heavy)[donors] == 1
    turns &= ~np.isin(donors, chemistry.bonds[chemistry.locked])
    hydrogens = hydrogens[turns]
    donors, owners = np.unique(donors[turns], return_inverse=True)
    _, others = chemistry.neighbours(donors)
    axes = structure.vectors(others[heavy[others]], donors)
    axes = (axes / np.linalg.norm(axes, axis=1, keepdims=True))[owners]
    arms = structure.vectors(donors[owners], hydrogens)
    along = axes * np.einsum("ij,ij->i", arms, axes)[:, None]
    angles = 2 * np.pi * np.arange(_STEPS)[:, None, None] / _STEPS
    turned = along + np.cos(angles) * (arms - along) + np.sin(angles) * np.cross(axes, arms)
    return _Rotors(donors, hydrogens, owners, turned)


def _rotor_energies(chemistry: Chemistry, rotors: _Rotors) -> Floats:
    """Return the energy of each rotor in each state (states, rotors), other rotors left aside."""
    structure, hydrogens = chemistry.structure, rotors.hydrogens
    still = np.setdiff1d(np.arange(len(structure.atoms)), hydrogens)
    near = structure.cross_pairs(hydrogens, still, _NEAR)
    near = near[chemistry.far_apart(*near.T)]
    light = [chemistry.hydrogens, chemistry.is_element("C")]
    limits = np.select(light, _TOUCHING[:2], _TOUCHING[2])
    allowed = ~chemistry.hydrogens
    allowed[hydrogens] = True
    energies = np.empty((_STEPS, len(rotors.donors)))
    for state in range(_STEPS):
        turned = rotors.turned(structure, np.full(len(rotors.donors), state))
        bonds = possible_bonds(turned, chemistry, allowed=allowed)
        lowest = np.zeros(len(allowed))
        np.minimum.at(lowest, bonds.hydrogens, bonds.energies)
        touching = near[turned.distances(*near.T) < limits[near[:, 1]], 0]
        lowest += _PENALTY * np.bincount(touching, minlength=len(allowed))
        lowest += _LEAST * min(state, _STEPS - state)
        energies[state] = np.bincount(rotors.owners, lowest[hydrogens], len(rotors.donors))
    return energies


def _rotor_clashes(structure: Structure, rotors: _Rotors) -> dict[tuple[int, int], Floats]:
    """Return what it costs that two rotors touch (states, states), for those that can."""
    found = dict[tuple[int, int], Floats]()
    for pair in structure.pairs(rotors.donors, _NEAR):
        one, other = np.searchsorted(rotors.donors, pair).tolist()
        start = rotors.arms[:, rotors.owners == one]
        end = structure.vectors(*pair[:, None]) + rotors.arms[:, rotors.owners == other]
        gaps = np.linalg.norm(end[None, :, None] - start[:, None, :, None], axis=-1)
        touching = np.count_nonzero(gaps < _TOUCHING[0], axis=(2, 3))
        if touching.any():
            found[one, other] = _PENALTY * touching
    return found
