"""Traces: chains of which a file has one atom of each residue, and so none of the bonds between.

Where Cα or phosphorus stand alone, neighbours along the chain are held together by atoms that are
not there. How many bonds are between them is known all the same, and that they are one molecule.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme.system.atoms import Atoms
from timme.system.residues import is_ion, is_nucleic, is_protein, residue_index

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


def find_steps(atoms: Atoms, measure: Measure) -> Ints:
    """Find residues that follow one another where the atoms between their sites are missing.

    Parameters
    ----------
    atoms : Atoms
        Their names.
    measure : callable
        Called with two lists of atoms; returns how far each of the one is from that of the other in
        the first snapshot, in Å, which tells where a chain is broken.

    Returns
    -------
    ndarray of int, shape (steps, 3)
        Two atoms, the lower first, and how many bonds they are apart; none where the atom is there
        that leads from one residue to the next, whose bonds tell more.
    """
    protein, nucleic = is_protein(atoms), is_nucleic(atoms)
    # A modified residue is known by its neighbours, as it has no backbone here.
    alpha = np.isin(atoms.names, _ALPHA.names) & np.isin(atoms.elements, ("C", "")) & ~is_ion(atoms)
    found = [_along(atoms, measure, _ALPHA, alpha, protein)]
    for kind in _NUCLEIC:
        sites = nucleic & np.isin(atoms.names, kind.names)
        found.append(_along(atoms, measure, kind, sites, nucleic))
    return frozen(np.concatenate(found))


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
    """Join those of some sites that follow one another, one of which at least is known."""
    chosen = np.flatnonzero(sites)
    one, other = chosen[:-1], chosen[1:]
    residues = residue_index(atoms)
    following = (atoms.chains[one] == atoms.chains[other]) & (residues[one] != residues[other])
    following &= known[one] | known[other]
    following &= ~np.isin(residues[one], residues[np.isin(atoms.names, kind.onwards)])
    one, other = one[following], other[following]
    if not len(one):
        return np.empty((0, 3), np.int64)
    apart = measure(one, other)
    numbered = np.isin(atoms.resids[other] - atoms.resids[one], (0, 1))
    near = (apart >= _LEAST) & (apart <= np.where(numbered, kind.reach, kind.unnumbered))
    one, other = one[near], other[near]
    return np.column_stack([one, other, np.full(len(one), kind.bonds)])
