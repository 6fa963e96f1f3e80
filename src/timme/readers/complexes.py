"""Complexes: chains and ligands that lie upon one another, kept together where a wall parts them.

Programs put every molecule back into the box by itself, so that two chains of one complex may be a
box apart, and jump there between two snapshots. Distances through the box do not mind, but pictures
and superpositions do. Molecules that touch in the first, the middle or the last snapshot are put
beside one another in all: partners that bind on the way are as near in the others as they can be.
Not so where the user wants no box, nor where a file of several models was never put back into its
cell: distances are plain then, and would be other than in the file.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from timme._arrays import Bools, Coordinates, Ints
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS
from timme.system.neighbours import pairs_within
from timme.system.residues import is_ion, is_nucleic, is_protein, is_water
from timme.system.space import Boxes

_TOUCHING = 4.5  # Å between heavy atoms
_FEW = 10  # molecules of one name: more are a solvent or a membrane, which has no complex


def links_of_complexes(
    atoms: Atoms,
    snapshots: Iterable[tuple[Coordinates, Boxes]],
    molecules: Ints,
    angstrom: float,
) -> Ints:
    """Link chains of proteins and nucleic acids, and ligands on them, where these touch.

    Parameters
    ----------
    atoms : Atoms
        Names of the sites.
    snapshots : iterable of tuple
        Positions (sites, 3) in some snapshots, each with its box; read where there are chains.
    molecules : ndarray of int, shape (sites,)
        Molecule of each site.
    angstrom : float
        Length of the unit in Å.

    Returns
    -------
    ndarray of int, shape (links, 2)
        Nearest sites of molecules that touch in any of these, each complex once through: most
        contacts first.
    """
    none = np.zeros((0, 2), np.int64)
    polymers, guests = members_of(atoms, molecules)
    if not polymers.any() or np.count_nonzero(polymers | guests) < 2:
        return none
    heavy = ~np.isin(atoms.elements, HYDROGENS)
    sites = np.flatnonzero((polymers | guests)[molecules] & heavy)
    found, apart = [none], [np.zeros(0)]
    for points, boxes in snapshots:
        seen = sites[np.isfinite(points[sites]).all(axis=1)]
        near = seen[pairs_within(points[seen], _TOUCHING / angstrom, boxes)]
        ends = molecules[near]
        # Ligands are held by chains, and not by one another.
        near = near[(ends[:, 0] != ends[:, 1]) & polymers[ends].any(axis=1)]
        found.append(near)
        apart.append(np.linalg.norm(boxes.between(points[None], *near.T)[0], axis=1))
    near, lengths = np.concatenate(found), np.concatenate(apart)
    return _spanning(near[np.argsort(lengths, kind="stable")], molecules) if len(near) else none


def members_of(atoms: Atoms, molecules: Ints) -> tuple[Bools, Bools]:
    """Tell which molecules are chains, and which of the others may be bound to them.

    Parameters
    ----------
    atoms : Atoms
        Names of the sites.
    molecules : ndarray of int, shape (sites,)
        Molecule of each site.

    Returns
    -------
    polymers : ndarray of bool, shape (molecules,)
        Chains of proteins and nucleic acids.
    guests : ndarray of bool, shape (molecules,)
        Ligands, and no solvent.
    """
    count = int(molecules.max(initial=-1)) + 1
    chain, solvent = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    chain[molecules[is_protein(atoms) | is_nucleic(atoms)]] = True
    solvent[molecules[is_water(atoms) | is_ion(atoms)]] = True
    first = np.unique(molecules, return_index=True)[1]
    _, names, counts = np.unique(atoms.resnames[first], return_inverse=True, return_counts=True)
    return chain, ~chain & ~solvent & (counts[names] <= _FEW)


def _spanning(near: Ints, molecules: Ints) -> Ints:
    """Choose the nearest pair of each two molecules, of those that join all with most contacts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    ends = np.sort(molecules[near], axis=1)
    pairs, nearest, contacts = np.unique(ends, axis=0, return_index=True, return_counts=True)
    size = int(molecules.max()) + 1
    ways = pairs.T.astype(np.int32)  # all that some versions of scipy take
    joined = minimum_spanning_tree(coo_array((1.0 / contacts, ways), shape=(size, size)).tocsr())
    kept = np.isin(pairs @ (size, 1), np.column_stack(joined.nonzero()) @ (size, 1))
    links: Ints = near[nearest[kept]]
    return links
