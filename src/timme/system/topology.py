"""Which sites bonds hold together: the names of sites, and who is how many bonds from whom."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from timme._arrays import Ints
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


def atoms_of_sites(ensemble: Ensemble) -> Atoms:
    """Name the sites, with the bonds between them.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the selected sites.

    Returns
    -------
    Atoms
        As many as there are sites.
    """
    return ensemble.atoms.take(ensemble.site_atoms)


def site_bonds(ensemble: Ensemble) -> Ints:
    """Return the covalent bonds whose two atoms are both sites.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.

    Returns
    -------
    ndarray, shape (bonds, 2)
        Pairs of sites.
    """
    site = np.full(len(ensemble.atoms), -1)
    site[ensemble.site_atoms] = np.arange(ensemble.n_sites)
    ends = site[ensemble.atoms.bonds]
    return np.sort(ends[(ends >= 0).all(axis=1)], axis=1)


def within_bonds(bonds: Ints, n_atoms: int, reach: int) -> sparse.csr_array:
    """Find the atoms that at most so many bonds separate, each from itself included.

    Parameters
    ----------
    bonds : ndarray, shape (bonds, 2)
        Pairs of atoms.
    n_atoms : int
        Number of atoms.
    reach : int
        Number of bonds.

    Returns
    -------
    csr_array of bool, shape (atoms, atoms)
        True for atoms that near.
    """
    step = adjacency(bonds, n_atoms) + sparse.eye_array(n_atoms, dtype=bool, format="csr")
    near = sparse.eye_array(n_atoms, dtype=bool, format="csr")
    for _ in range(reach):
        near = near @ step
    return sparse.csr_array(near)


def adjacency(bonds: Ints, n_atoms: int) -> sparse.csr_array:
    """Return which atoms are bonded.

    Parameters
    ----------
    bonds : ndarray, shape (bonds, 2)
        Pairs of atoms.
    n_atoms : int
        Number of atoms.

    Returns
    -------
    csr_array of bool, shape (atoms, atoms)
        Symmetric.
    """
    ends = np.concatenate([bonds, bonds[:, ::-1]])
    entries = (np.ones(len(ends), bool), (ends[:, 0], ends[:, 1]))
    return sparse.csr_array(entries, shape=(n_atoms, n_atoms))
