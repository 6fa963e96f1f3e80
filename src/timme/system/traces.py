"""Traces: chains of which a file has one atom of each residue, and so none of the bonds between.

Where Cα or phosphorus stand alone, neighbours along the chain are held together by atoms that are
not there. How many bonds are between them is known all the same, and that they are one molecule.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from timme._arrays import Bools, Floats, Ints, frozen
from timme.system.atoms import Atoms
from timme.system.residues import is_ion, is_named, is_nucleic, is_protein, residue_index

# Of two lists of atoms, how far each of the one is from that of the other, in Å, in (snapshots,
# pairs): in several of them, as in a single one anything may be far.
Measure = Callable[[Ints, Ints], Floats]


class _Kind(NamedTuple):
    """Atoms that stand for their residues."""

    names: tuple[str, ...]
    onwards: tuple[str, ...]  # atom of the residue that is bound to the next
    bonds: int  # from one to the next of a chain
    reach: float  # Å at most between these
    unnumbered: float  # Å at most where the numbers of residues do not follow


# A trans peptide has its Cα 3.8 Å apart. The ends of a missing loop may be two strands 4.4 Å apart,
# so that less is believed where numbers do not follow. Phosphorus is 5.5 to 7.5 Å apart.
_ALPHA = _Kind(("CA",), ("C",), 3, 4.5, 4.0)
_NUCLEIC = tuple(_Kind(names, ("O3'", "O3*"), 6, 8.0, 0.0) for names in (("P",), ("C4'", "C4*")))
_LEAST = 2.6  # Å; a cis peptide has 2.9
_UNKNOWN = frozenset(("UNK",))  # residues of which nobody knows that they are amino acids


def find_steps(atoms: Atoms, measure: Measure) -> tuple[Ints, Ints]:
    """Find residues that follow one another where the atoms between their sites are missing.

    Models of Cα alone often bind them to one another. These bonds stand for the missing atoms
    where they lead along the chain, and others for springs: none of them is covalent.

    Parameters
    ----------
    atoms : Atoms
        Their names, and the bonds of the source.
    measure : callable
        Called with two lists of atoms; returns how far each of the one is from that of the other in
        some snapshots, in Å, which tells where a chain is broken.

    Returns
    -------
    steps : ndarray of int, shape (steps, 3)
        Two atoms, the lower first, and how many bonds they are apart; none where the atom is there
        that leads from one residue to the next, whose bonds tell more.
    bonds : ndarray of int, shape (bonds, 2)
        Those that are left.
    """
    protein, nucleic = is_protein(atoms), is_nucleic(atoms)
    protein &= ~is_named(atoms.resnames, _UNKNOWN)  # calcium may be called so
    # A modified residue is known by its neighbours, as it has no backbone here.
    alpha = np.isin(atoms.names, _ALPHA.names) & np.isin(atoms.elements, ("C", "")) & ~is_ion(atoms)
    found = [_along(atoms, measure, _ALPHA, alpha, protein)]
    for kind in _NUCLEIC:
        sites = nucleic & np.isin(atoms.names, kind.names)
        found.append(_along(atoms, measure, kind, sites, nucleic))
    along, bonds = _bound(atoms, measure, alpha)
    steps = np.unique(np.concatenate([*found, along]), axis=0)
    return frozen(steps), bonds


def joined_atoms(bonds: Ints, steps: Ints | None) -> Ints:
    """List all pairs of atoms that are neighbours in a molecule.

    Parameters
    ----------
    bonds : ndarray, shape (bonds, 2)
        Covalent bonds.
    steps : ndarray, shape (steps, 3), or None
        Neighbours along traces.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Bonds first.
    """
    return bonds if steps is None or not len(steps) else np.concatenate([bonds, steps[:, :2]])


def with_missing_atoms(bonds: Ints, steps: Ints | None, n_atoms: int) -> tuple[Ints, int]:
    """Put the atoms back through which steps lead, so that bonds can be counted.

    Parameters
    ----------
    bonds : ndarray, shape (bonds, 2)
        Covalent bonds.
    steps : ndarray, shape (steps, 3), or None
        Neighbours along traces.
    n_atoms : int
        Number of atoms.

    Returns
    -------
    bonds : ndarray, shape (bonds, 2)
        Those known, and those through the missing atoms.
    n_atoms : int
        Number of all, of which the missing ones are the last.

    Examples
    --------
    >>> with_missing_atoms(np.zeros((0, 2), int), np.array([[0, 1, 3]]), 2)
    (array([[0, 2],
           [2, 3],
           [3, 1]]), 4)
    """
    ways = list[list[int]]()
    for one, other, count in () if steps is None else steps.tolist():
        between = range(n_atoms, n_atoms + count - 1)
        n_atoms += count - 1
        way = [one, *between, other]
        ways += [list(pair) for pair in pairwise(way)]
    return np.concatenate([bonds, np.array(ways, np.int64).reshape(-1, 2)]), n_atoms


def _along(atoms: Atoms, measure: Measure, kind: _Kind, sites: Bools, known: Bools) -> Ints:
    """Join those of some sites that follow one another, in stretches some of which are known.

    They do so in the order of the file or, where more of them are neighbours then, of their
    numbers: a fused domain is numbered as it likes, and other files are sorted otherwise.
    """
    chosen = np.flatnonzero(sites)
    chosen = chosen[np.argsort(atoms.chains[chosen], kind="stable")]
    numbered = chosen[
        np.lexsort((atoms.icodes[chosen], atoms.resids[chosen], atoms.chains[chosen]))
    ]
    as_written = _neighbours(atoms, measure, kind, chosen)
    by_number = as_written
    if not np.array_equal(chosen, numbered):
        by_number = _neighbours(atoms, measure, kind, numbered)
    pairs = by_number if len(by_number) > len(as_written) else as_written
    graph = sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (len(atoms), len(atoms)))
    stretches = sparse.csgraph.connected_components(graph, directed=False)[1]
    pairs = pairs[np.isin(stretches[pairs[:, 0]], stretches[known])]
    return _steps(pairs, kind.bonds)


def _neighbours(atoms: Atoms, measure: Measure, kind: _Kind, chosen: Ints) -> Ints:
    """List sites that are next to one another, in an order and in space."""
    one, other = chosen[:-1], chosen[1:]
    residues = residue_index(atoms)
    following = (atoms.chains[one] == atoms.chains[other]) & (residues[one] != residues[other])
    following &= ~np.isin(residues[one], residues[np.isin(atoms.names, kind.onwards)])
    one, other = one[following], other[following]
    if not len(one):
        return np.empty((0, 2), np.int64)
    apart = _usual(measure(one, other))
    numbered = np.isin(atoms.resids[other] - atoms.resids[one], (0, 1))
    near = (apart >= _LEAST) & (apart <= np.where(numbered, kind.reach, kind.unnumbered))
    return np.column_stack([one, other])[near]


def _bound(atoms: Atoms, measure: Measure, alpha: Bools) -> tuple[Ints, Ints]:
    """Tell steps among bonds of Cα with one another, which lead along the chain, and other bonds.

    Where every Cα is bound to two others at most, all of them do; of an elastic network, those of
    residues whose numbers follow.
    """
    bonds = atoms.bonds
    residues = residue_index(atoms)
    lone = alpha & ~np.isin(residues, residues[np.isin(atoms.names, _ALPHA.onwards)])
    between = lone[bonds].all(axis=1) & (residues[bonds[:, 0]] != residues[bonds[:, 1]])
    if between.any():
        # Whatever else may be called CA, carbon that is bound is nearer.
        between[between] = _usual(measure(*bonds[between].T)) >= _LEAST
    pairs = bonds[between]
    degrees = np.bincount(pairs.ravel(), minlength=len(atoms))
    along = (degrees[pairs] <= 2).all(axis=1)
    near = np.abs(np.diff(atoms.resids[pairs], axis=1)[:, 0]) <= 1
    along |= near & (atoms.chains[pairs[:, 0]] == atoms.chains[pairs[:, 1]])
    return _steps(pairs[along], _ALPHA.bonds), frozen(bonds[~between])


def _usual(apart: Floats) -> Floats:
    """Take the median of snapshots, the lower of two; what is not seen is far."""
    seen = np.sort(np.where(np.isnan(apart), np.inf, apart), axis=0)
    found: Floats = seen[(len(seen) - 1) // 2]
    return found


def _steps(pairs: Ints, bonds: int) -> Ints:
    return np.column_stack([np.sort(pairs, axis=1), np.full(len(pairs), bonds)]).astype(np.int64)
