"""Bonds: guessed from distances where a file has none, along traces, and as a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen
from timme.ensemble.atoms import HYDROGENS, Atoms, bonds_between, covalent_radii, sorted_bonds
from timme.ensemble.residues import is_ion, is_nucleic, is_protein, is_water, residue_index
from timme.ensemble.space import Boxes, box_matrices, pairs_within

if TYPE_CHECKING:
    from timme.ensemble.ensemble import Ensemble

_TOLERANCE = 0.4  # Å beyond the sum of radii: thermal stretching, below second neighbours
_CLASH = 0.4  # Å: closer than this is a misplaced atom, not a bond
_OTHER_RESIDUE = 0.3  # Å by which a hydrogen prefers the atoms of its own residue

# Distances in Å between the atoms of two lists, (pairs,), NaN where unknown.
Distances = Callable[[Ints, Ints], Floats]


class _Trace(NamedTuple):
    """Atoms that stand for their residues where all others are missing."""

    names: tuple[str, ...]
    onwards: tuple[str, ...]  # atom of the residue that is bound to the next
    bonds: int  # from one to the next along the chain
    longest: float  # Å between these
    longest_unnumbered: float  # where the numbers of the residues do not follow


# Cα are 3.8 Å apart across a trans peptide. The ends of a missing loop may be two strands 4.4 Å
# apart, so numbers that do not follow allow less. Phosphorus atoms are 5.5 to 7.5 Å apart.
_ALPHA = _Trace(("CA",), ("C",), 3, 4.5, 4.0)
_NUCLEIC = tuple(_Trace(names, ("O3'", "O3*"), 6, 8.0, 0.0) for names in (("P",), ("C4'", "C4*")))
_SHORTEST = 2.6  # Å; Cα are 2.9 Å apart across a cis peptide


def guess_bonds(
    atoms: Atoms, coordinates: Coordinates, *, box: Floats | None = None, angstrom: float = 1.0
) -> Ints:
    """Return covalent bonds guessed from distances and covalent radii.

    A hydrogen is bound once, to its nearest heavy atom; waters are bound within themselves; metals,
    noble gases, ions and atoms of unknown element have no bonds, nor have two Cα or two P of a
    backbone. Atoms too far apart are not bound, so that no bond crosses a gap in a chain.

    Parameters
    ----------
    atoms : Atoms
        Names and elements; their own bonds do not count.
    coordinates : ndarray, shape (atoms, 3)
        Positions in one snapshot.
    box : ndarray, shape (3, 3), optional
        Box vectors as rows, for molecules that reach across the border.
    angstrom : float, optional
        Length of the unit of the coordinates in Å.

    Returns
    -------
    ndarray of int, shape (bonds, 2)
        Bonded atoms, lower index first, sorted.

    Examples
    --------
    >>> ethane = replace(Atoms.unnamed(2), elements=np.array(["C", "C"]))
    >>> guess_bonds(ethane, np.array([[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]))
    array([[0, 1]])
    """
    radii = np.where(is_ion(atoms), 0.0, covalent_radii(atoms.elements))
    bondable = np.flatnonzero((radii > 0) & np.isfinite(coordinates).all(axis=1))
    if len(bondable) < 2:
        return sorted_bonds(())
    reach = 2 * float(radii.max()) + _TOLERANCE
    points = np.asarray(coordinates, dtype=np.float64)[bondable] * angstrom
    boxes = Boxes.of(None if box is None else box_matrices(angstrom * box, 1, 3), 1, 3)
    pairs = pairs_within(points, reach, boxes)
    distances = np.linalg.norm(boxes.between(points[None], *pairs.T)[0], axis=1)
    first, second = bondable[pairs].T
    bonded = (distances < radii[first] + radii[second] + _TOLERANCE) & (distances > _CLASH)
    residues, waters, backbone = residue_index(atoms), is_water(atoms), atoms.names == "CA"
    backbone &= is_protein(atoms)
    backbone |= is_nucleic(atoms) & (atoms.names == "P")
    same = residues[first] == residues[second]
    bonded &= same | ~(waters[first] | waters[second])
    # Box faces may bring two Cα or two P close, but no two residues are bound by them.
    alike = atoms.names[first] == atoms.names[second]
    bonded &= same | ~(alike & backbone[first] & backbone[second])
    first, second, distances, same = first[bonded], second[bonded], distances[bonded], same[bonded]
    light = np.isin(atoms.elements, HYDROGENS)
    heavy = ~light[first] & ~light[second]
    hydrogens = _nearest_heavy(light, first, second, distances + _OTHER_RESIDUE * ~same)
    return sorted_bonds(np.concatenate([np.column_stack([first[heavy], second[heavy]]), hydrogens]))


def with_bonds(atoms: Atoms, *bonds: npt.ArrayLike) -> Atoms:
    """Return the same atoms with other bonds.

    Parameters
    ----------
    atoms : Atoms
        The atoms.
    *bonds : array_like, shape (bonds, 2)
        Sets of bonds, all of which are taken.

    Returns
    -------
    Atoms
        The same names with the new bonds; those of an atom with itself are left out.
    """
    joined = np.concatenate([np.asarray(pairs, np.int64).reshape(-1, 2) for pairs in ((), *bonds)])
    if len(joined) and (joined.min() < 0 or joined.max() >= len(atoms)):
        raise ValueError(
            f"bonds pair indices from 0 to {len(atoms) - 1}, got {joined.min()} to {joined.max()}"
        )
    return replace(atoms, bonds=sorted_bonds(joined[joined[:, 0] != joined[:, 1]]))


def site_bonds(ensemble: Ensemble) -> Ints:
    """Return the covalent bonds (bonds, 2) whose two atoms are both sites, as pairs of sites."""
    return bonds_between(ensemble.atoms.bonds, ensemble.site_atoms, len(ensemble.atoms))


def adjacency(bonds: Ints, n_atoms: int) -> sparse.csr_array:
    """Return which atoms are bonded, as a symmetric matrix of truth values."""
    ends = np.concatenate([bonds, bonds[:, ::-1]])
    entries = (np.ones(len(ends), bool), (ends[:, 0], ends[:, 1]))
    return sparse.csr_array(entries, shape=(n_atoms, n_atoms))


def within_bonds(bonds: Ints, n_atoms: int, reach: int) -> sparse.csr_array:
    """Return which atoms at most ``reach`` bonds separate, each from itself included.

    Examples
    --------
    >>> within_bonds(np.array([[0, 1], [1, 2]]), 3, 1).astype(int).toarray()
    array([[1, 1, 0],
           [1, 1, 1],
           [0, 1, 1]])
    """
    itself = sparse.eye_array(n_atoms, dtype=bool, format="csr")
    step, near = adjacency(bonds, n_atoms) + itself, itself
    for _ in range(reach):
        near = near @ step
    return sparse.csr_array(near)


def bonds_and_traces(bonds: Ints, traces: Ints | None) -> Ints:
    """Return all pairs of atoms (pairs, 2) that are neighbours in a molecule, bonds first."""
    return bonds if traces is None else np.concatenate([bonds, traces[:, :2]])


def with_missing_atoms(bonds: Ints, traces: Ints | None, n_atoms: int) -> tuple[Ints, int]:
    """Return bonds with those through the missing atoms of traces, and the number of all atoms.

    Examples
    --------
    >>> with_missing_atoms(np.zeros((0, 2), int), np.array([[0, 1, 3]]), 2)
    (array([[0, 2],
           [2, 3],
           [3, 1]]), 4)
    """
    added = list[tuple[int, int]]()
    for one, other, count in () if traces is None else traces.tolist():
        missing = range(n_atoms, n_atoms + count - 1)
        n_atoms += count - 1
        added += pairwise([one, *missing, other])
    return np.concatenate([bonds, np.array(added, np.int64).reshape(-1, 2)]), n_atoms


def trace_steps(atoms: Atoms, distances: Distances) -> tuple[Ints, Ints]:
    """Return neighbours along chains of Cα, P or C4' alone, and the bonds that are covalent.

    Where atoms between them are missing, neighbours are known to be 3 (Cα) or 6 bonds apart. Files
    of Cα alone often bind these to one another: such bonds stand for the missing atoms where they
    lead along the chain, and for springs elsewhere; none is covalent.

    Parameters
    ----------
    atoms : Atoms
        Names, and the bonds of the file.
    distances : callable
        Takes two lists of atoms, returns their usual distances in Å, (pairs,), which tell where a
        chain is broken.

    Returns
    -------
    traces : ndarray of int, shape (steps, 3)
        Two atoms, the lower first, and how many bonds they are apart. Where the atom is there that
        leads from one residue to the next, its bonds tell more, and there is no step.
    bonds : ndarray of int, shape (bonds, 2)
        Covalent bonds.
    """
    # Unknown residues may be no amino acids, and calcium may be called CA there.
    protein, nucleic = is_protein(atoms) & (atoms.resnames != "UNK"), is_nucleic(atoms)
    # A modified residue without its backbone is known by its neighbours alone.
    alpha = np.isin(atoms.names, _ALPHA.names) & np.isin(atoms.elements, ("C", "")) & ~is_ion(atoms)
    found = [_along(atoms, distances, _ALPHA, alpha, protein)]
    for trace in _NUCLEIC:
        sites = nucleic & np.isin(atoms.names, trace.names)
        found.append(_along(atoms, distances, trace, sites, nucleic))
    # Bonds between Cα of files without the atoms between them are longer than covalent ones.
    bonds, residues = atoms.bonds, residue_index(atoms)
    lone = alpha & ~np.isin(residues, residues[np.isin(atoms.names, _ALPHA.onwards)])
    springs = lone[bonds].all(axis=1) & (residues[bonds[:, 0]] != residues[bonds[:, 1]])
    springs[springs] = distances(*bonds[springs].T) >= _SHORTEST
    return frozen(np.unique(np.concatenate(found), axis=0)), frozen(bonds[~springs])


def _nearest_heavy(light: Bools, first: Ints, second: Ints, distances: Floats) -> Ints:
    """Return the bond of every hydrogen to the nearest of its heavy neighbours."""
    mixed = light[first] != light[second]
    first, second, distances = first[mixed], second[mixed], distances[mixed]
    hydrogen = np.where(light[first], first, second)
    heavy = np.where(light[first], second, first)
    order = np.lexsort((heavy, distances, hydrogen))
    _, nearest = np.unique(hydrogen[order], return_index=True)
    return np.column_stack([hydrogen, heavy])[order[nearest]]


def _along(atoms: Atoms, distances: Distances, trace: _Trace, sites: Bools, known: Bools) -> Ints:
    """Return steps between sites that follow one another in the file and are near in space.

    Stretches that hold no known residue have no steps.
    """
    chosen, residues = np.flatnonzero(sites), residue_index(atoms)
    chosen = chosen[np.argsort(atoms.chains[chosen], kind="stable")]
    one, other = chosen[:-1], chosen[1:]
    following = (atoms.chains[one] == atoms.chains[other]) & (residues[one] != residues[other])
    following &= ~np.isin(residues[one], residues[np.isin(atoms.names, trace.onwards)])
    one, other = one[following], other[following]
    apart = distances(one, other)
    numbered = np.isin(atoms.resids[other] - atoms.resids[one], (0, 1))
    longest = np.where(numbered, trace.longest, trace.longest_unnumbered)
    pairs = np.column_stack([one, other])[(apart >= _SHORTEST) & (apart <= longest)]
    graph = adjacency(pairs, len(atoms))
    stretches = sparse.csgraph.connected_components(graph, directed=False)[1]
    pairs = np.sort(pairs[np.isin(stretches[pairs[:, 0]], stretches[known])], axis=1)
    return np.column_stack([pairs, np.full(len(pairs), trace.bonds)]).astype(np.int64)
