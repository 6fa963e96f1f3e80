"""Hydrogens for structures that have none: placed by the hydride library, turned to bonds here.

Hydride places hydrogens on every molecule of the chemical component dictionary, needs no force
field, and always gives the same answer. It leaves open how hydroxyls and other ends are turned.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme_next._arrays import Bools, Floats, Ints, Strings, frozen
from timme_next.engine.checkpoint import DEFAULT, Progress, Run
from timme_next.ensemble import Ensemble, Frames, Images
from timme_next.ensemble.atoms import HYDROGENS, element_masses, sorted_bonds
from timme_next.ensemble.frames import ArraySource
from timme_next.ensemble.residues import is_ion, is_protein, is_water, residue_index
from timme_next.rigidity.chemistry import Chemistry, Structure, parent_residues
from timme_next.rigidity.contacts import metal_bonds
from timme_next.rigidity.energies import bond_energies, donor_hydrogens

_PIECE = 2000  # atoms that are given to hydride at once, so that progress is seen
_NAMED = 5  # molecules that a note names
# Names of older files and of force fields, and those of the dictionary.
_OTHER_NAMES = {"O1P": "OP1", "O2P": "OP2", "O3P": "OP3", "C5M": "C7"}
_OTHER_PROTEIN_NAMES = {
    **dict.fromkeys(("OT1", "OC1", "O1"), "O"),
    **dict.fromkeys(("OT2", "OC2", "O2"), "OXT"),
}
_SINGLE, _UNKNOWN = 1, 0  # types of bonds in biotite
_ORDERS = {2: 2, 6: 2, 3: 3}  # double, aromatic double and triple bonds; others count as single

_STEPS = 36  # of a full turn
_TOUCHING = {"H": 1.8, "C": 2.1}  # Å from a hydrogen that turns
_OTHERS_TOUCHING = 1.4  # Å
# Å, within which are all atoms that a hydrogen may touch, and all acceptors, before it turns.
_NEAR, _AROUND = 5.0, 7.0
_PENALTY = 10.0  # kcal/mol of two atoms that touch, more than a bond gives
_MOST_TRIALS = 20_000  # in one group of rotors, after which the best so far is taken

_Clashes = dict[tuple[int, int], Floats]  # of two rotors: (states, states) in kcal/mol


def add_hydrogens(
    ensemble: Ensemble,
    model: int = 0,
    *,
    ph: float = 7.0,
    turn: bool = True,
    progress: Progress | None = None,
) -> Ensemble:
    """Return one snapshot with hydrogens added to all molecules that need them.

    Acids and bases are charged by the pH and the acidity of free amino acids; neutral histidine has
    its hydrogen at Nε2. Cysteine and histidine that bind a metal ion bear none there. Waters get
    none, since nothing tells how they are turned, nor does the nitrogen after a gap in a chain.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds, without hydrogens.
    model : int, optional
        Which snapshot, from 0.
    ph : float, optional
        Acidity of the surroundings.
    turn : bool, optional
        Whether hydroxyls, thiols and ammonium are turned to their strongest hydrogen bonds: the
        best way in steps of 10° for each group of those that can touch.
    progress : callable, optional
        Called with the percentage done, and 100.

    Returns
    -------
    Ensemble
        That snapshot, in Å; hydrogens follow the other atoms of their residue. ``notes`` name
        molecules that the chemical component dictionary does not know, which get none.
    """
    structure, run = Structure.of(ensemble, model), Run.of(progress=progress)
    old, water = structure.atoms, is_water(structure.atoms)
    n_there = np.count_nonzero(np.isin(old.elements, HYDROGENS) & ~water)
    if n_there:
        raise ValueError(
            f"{ensemble.prefix}there are {n_there} hydrogens already: use them, or leave them out "
            "(select='not element H') to have all of them placed anew"
        )
    run.tell(0, 100)
    array, unknown = _as_array(structure)
    wanted = _set_charges(structure, array, ph) & ~(water | is_ion(old) | unknown)
    owners, names, coordinates = _place(array, wanted, residue_index(old), run)
    places = np.unique(owners, return_index=True)[1]  # of atoms; their hydrogens come later
    new = ~np.isin(np.arange(len(owners)), places)
    coordinates[places] = structure.coordinates
    elements = np.where(new, "H", old.elements[owners])
    to_new = np.column_stack([places[owners[new]], np.flatnonzero(new)])
    atoms = replace(
        old.take(owners),
        names=frozen(np.where(new, names, old.names[owners])),
        elements=frozen(elements),
        masses=frozen(np.where(new, element_masses(elements), old.masses[owners])),
        bonds=sorted_bonds(np.concatenate([places[old.bonds], to_new])),
    )
    made = Structure(atoms, coordinates, structure.boxes.select(owners))
    made = turn_hydrogens(made, run=run) if turn else made
    run.tell(100, 100)
    notes = [f"{np.count_nonzero(new):,} hydrogens were added by hydride for pH {ph:g}"]
    strange = np.flatnonzero(unknown & ~water).tolist()
    labels = [*dict.fromkeys(old.label(atom).rpartition("/")[0] for atom in strange)]
    if labels:
        more = f" and {len(labels) - _NAMED} others" * (len(labels) > _NAMED)
        notes.append(
            f"no hydrogens were added to {', '.join(labels[:_NAMED])}{more}: their atoms or bonds "
            "are not those of the chemical component dictionary"
        )
    box, times = structure.boxes.matrices, ensemble.times[model : model + 1]
    source = ArraySource(frozen(made.coordinates[None]), box if box.any() else None, times)
    return Ensemble(
        frames=Frames.of(source),
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit="Å",
        images=ensemble.images and Images(ensemble.images.molecules[owners]),
        sources=ensemble.sources,
        notes=(*ensemble.notes, *notes),
    )


def turn_hydrogens(structure: Structure, *, run: Run = DEFAULT) -> Structure:
    """Return a structure whose hydroxyls, thiols and ammonium have their strongest bonds.

    The energy of a rotor is that of the strongest bond of each of its hydrogens, and more for each
    atom that they touch. Since energies depend on the heavy neighbours of an acceptor only, rotors
    matter to one another only where their hydrogens touch: groups of such rotors are solved
    exactly, in steps of 10°.
    """
    chemistry = Chemistry(structure)
    rotors = _rotors(chemistry)
    count = len(rotors.donors)
    energies, clashes = _rotor_energies(chemistry, rotors, run), _rotor_clashes(structure, rotors)
    ends = np.array([*clashes], np.int64).reshape(-1, 2)
    links = sparse.coo_array((np.ones(len(ends)), ends.T), shape=(count, count))
    groups = csgraph.connected_components(links, directed=False)[1]
    states = np.zeros(count, np.int64)
    for group in np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]):
        states[group] = _solve(group.tolist(), energies, clashes)
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
    names = _renamed(np.char.replace(atoms.names, "*", "'"), _OTHER_NAMES)
    names = np.where(is_protein(atoms), _renamed(names, _OTHER_PROTEIN_NAMES), names)
    array.atom_name = np.where((array.res_name == "ILE") & (names == "CD"), "CD1", names)
    array.element = np.char.upper(atoms.elements)
    known = connect_via_residue_names(array, inter_residue=False).as_array().tolist()
    table = {(one, other): kind for one, other, kind in known}
    inside = residues[atoms.bonds[:, 0]] == residues[atoms.bonds[:, 1]]
    found = np.array([table.get((one, other), _UNKNOWN) for one, other in atoms.bonds.tolist()])
    types = np.where(inside, found.astype(np.int64), _SINGLE)
    array.bonds = BondList(len(atoms), np.column_stack([atoms.bonds, types]))
    strange = residues[atoms.bonds[types == _UNKNOWN, 0]]
    return array, np.isin(residues, strange)


def _renamed(names: Strings, others: dict[str, str]) -> Strings:
    for old, new in others.items():
        names = np.where(names == old, new, names)
    return names


def _set_charges(structure: Structure, array: Any, ph: float) -> Bools:
    """Set formal charges, of amino acids by the pH and of others as their bonds tell.

    Returns which atoms may get hydrogens.
    """
    from biotite.structure import filter_amino_acids, filter_canonical_amino_acids
    from hydride import estimate_amino_acid_charges

    names, resnames, elements = array.atom_name, array.res_name, structure.atoms.elements
    one, other, types = array.bonds.as_array().astype(np.int64).T
    starts, ends = np.append(one, other), np.append(other, one)
    orders = np.array([_ORDERS.get(kind, 1) for kind in types.tolist()] * 2, np.int64)
    degrees = np.bincount(starts, minlength=len(names))
    # Acids: oxygens by a single bond at an atom that has another one by a double bond. Cations:
    # nitrogens with four bonds, double ones counted twice, as in nitro groups and nicotinamide.
    free = (elements == "O") & (degrees == 1)
    acid = np.bincount(starts[free[ends] & (orders == 2)], minlength=len(names)) > 0
    acid &= np.isin(elements, ("P", "S", "C", "N"))
    cation = (elements == "N") & (np.bincount(starts, orders, minlength=len(names)) >= 4)
    charges = np.where(cation, 1, 0)
    charges[ends[free[ends] & (orders == 1) & acid[starts]]] = -1
    amino = filter_canonical_amino_acids(array)
    charges[amino] = estimate_amino_acid_charges(array, ph)[amino]
    # The first nitrogen of a chain is no end where it is bound to a cap.
    nitrogen = amino & (names == "N")
    charges[nitrogen & (degrees > np.where(resnames == "PRO", 2, 1))] = 0
    # A metal takes the proton of cysteine, and that of histidine is at the other nitrogen.
    metals = metal_bonds(structure, np.ones(len(names), np.bool_))
    bound = np.isin(np.arange(len(names)), metals[:, 1])
    charges[bound & (resnames == "CYS") & (names == "SG")] = -1
    histidine = bound & (resnames == "HIS") & np.isin(names, ("ND1", "NE2"))
    residues = residue_index(structure.atoms)
    tele = np.isin(residues, residues[histidine & (names == "NE2")])
    charges[tele & (names == "ND1") & ~bound] = 1
    array.set_annotation("charge", charges)
    # Before and after a gap, carbonyls and nitrogens lack the next amino acid.
    lost = (names == "C") | ((names == "N") & (degrees < 2) & (charges == 0))
    may: Bools = ~histidine & ~(lost & filter_amino_acids(array))
    return may


def _place(array: Any, wanted: Bools, residues: Ints, run: Run) -> tuple[Ints, Strings, Floats]:
    """Return all atoms in their new order: each one's owner, which it is or to which it is bound.

    Also their names and places. One piece after another goes to hydride; no bond joins two.
    """
    from hydride import add_hydrogen

    count, ends = len(wanted), np.sort(array.bonds.as_array()[:, :2].astype(np.int64), axis=1)
    crossing = np.cumsum(np.bincount(ends[:, 0] + 1, minlength=count + 1)[: count + 1])
    crossing -= np.cumsum(np.bincount(ends[:, 1] + 1, minlength=count + 1)[: count + 1])
    breaks = np.append(np.unique(residues, return_index=True)[1], count)
    breaks = breaks[crossing[breaks] == 0]
    bounds = np.unique(breaks[np.searchsorted(breaks, [*range(0, count, _PIECE), count])])
    found = list[tuple[Ints, Strings, Floats]]()
    for start, stop in pairwise(bounds.tolist()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of atoms without a fragment
            filled, original = add_hydrogen(array[start:stop], mask=wanted[start:stop])
        owners = start + np.cumsum(original) - 1
        bonds = np.sort(filled.bonds.as_array()[:, :2].astype(np.int64), axis=1)
        parents, hydrogens = bonds[~original[bonds].all(axis=1)].T  # which follow their parents
        owners[hydrogens] = owners[parents]
        found.append((owners, filled.atom_name, filled.coord.astype(np.float64)))
        run.tell(50 * stop // count, 100)
    owners, names, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return owners, names, places


# ---- turning -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Rotors:
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
    hydrogens, (donors, owners) = hydrogens[turns], np.unique(donors[turns], return_inverse=True)
    _, others = chemistry.neighbours(donors)
    axes = structure.vectors(others[heavy[others]], donors)
    axes = (axes / np.linalg.norm(axes, axis=1, keepdims=True))[owners]
    arms = structure.vectors(donors[owners], hydrogens)
    along = axes * np.einsum("ij,ij->i", arms, axes)[:, None]
    angles = 2 * np.pi * np.arange(_STEPS)[:, None, None] / _STEPS
    turned = along + np.cos(angles) * (arms - along) + np.sin(angles) * np.cross(axes, arms)
    return _Rotors(donors, hydrogens, owners, turned)


def _rotor_energies(chemistry: Chemistry, rotors: _Rotors, run: Run) -> Floats:
    """Return the energy of each rotor in each state (states, rotors), other rotors left aside."""
    count, hydrogens, elements = len(rotors.donors), rotors.hydrogens, chemistry.atoms.elements
    still = np.setdiff1d(np.arange(len(elements)), hydrogens)
    near = chemistry.structure.cross_pairs(hydrogens, still, _NEAR)
    acceptors = np.flatnonzero(chemistry.acceptors)
    bonds = chemistry.structure.cross_pairs(hydrogens, acceptors, _AROUND)
    giver = np.searchsorted(hydrogens, bonds[:, 0])
    donors = rotors.donors[rotors.owners[giver]]
    far = chemistry.far_apart(donors, bonds[:, 1])
    giver, donors, bonds = giver[far], donors[far], bonds[far]
    near = near[chemistry.far_apart(*near.T)]
    limits = [_TOUCHING.get(element, _OTHERS_TOUCHING) for element in elements[near[:, 1]]]
    toucher = np.searchsorted(hydrogens, near[:, 0])
    energies = np.empty((_STEPS, count))
    for state in range(_STEPS):
        turned = rotors.turned(chemistry.structure, np.full(count, state))
        strongest = np.zeros(len(hydrogens))
        np.minimum.at(strongest, giver, bond_energies(turned, chemistry, donors, *bonds.T).energies)
        strongest += _PENALTY * np.bincount(
            toucher[turned.distances(*near.T) < limits], minlength=len(hydrogens)
        )
        energies[state] = np.bincount(rotors.owners, strongest, minlength=count)
        run.tell(50 + 50 * (state + 1) // _STEPS, 100)
    return energies


def _rotor_clashes(structure: Structure, rotors: _Rotors) -> _Clashes:
    """Return what it costs that two rotors touch, for those that can."""
    found = _Clashes()
    for pair in structure.pairs(rotors.donors, _NEAR):
        one, other = np.searchsorted(rotors.donors, pair).tolist()
        start = rotors.arms[:, rotors.owners == one]
        end = structure.vectors(*pair[:, None]) + rotors.arms[:, rotors.owners == other]
        gaps = np.linalg.norm(end[None, :, None] - start[:, None, :, None], axis=-1)
        touching = np.count_nonzero(gaps < _TOUCHING["H"], axis=(2, 3))
        if touching.any():
            found[one, other] = _PENALTY * touching
    return found


def _solve(group: list[int], energies: Floats, clashes: _Clashes) -> list[int]:
    """Return the states of a group of rotors that have the lowest energy together.

    They are chosen one rotor after another, the best first, and of equal ones that which turns
    least. A choice is given up where the best that later rotors can add makes it no better than
    what is known.
    """
    floors = np.append(np.cumsum(energies[:, group].min(axis=0)[::-1])[::-1], 0.0)
    turns = np.minimum(np.arange(_STEPS), _STEPS - np.arange(_STEPS))
    best, lowest, n_trials = list[int](), np.inf, 0
    stack = [(0.0, best)]
    while stack and (n_trials < _MOST_TRIALS or not best):
        energy, chosen = stack.pop()
        n_trials += 1
        if energy + floors[len(chosen)] >= lowest:
            continue
        if len(chosen) == len(group):
            best, lowest = chosen, energy
            continue
        rotor = group[len(chosen)]
        total = energy + energies[:, rotor]
        for state, before in zip(chosen, group, strict=False):
            if (before, rotor) in clashes:
                total = total + clashes[before, rotor][state]
        order = np.lexsort((turns, total))[::-1].tolist()
        stack += [(float(total[state]), [*chosen, state]) for state in order]
    return best
