"""Flexibility of residues: that of the bonds about which their backbone turns."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Floats
from timme.rigidity.network import COVALENT, LOCKED, Network
from timme.system.atoms import Atoms
from timme.system.residues import residue_index

_BACKBONE = {
    *(("N", "CA"), ("CA", "C")),
    *(("P", "O5'"), ("O5'", "C5'"), ("C5'", "C4'"), ("C4'", "C3'"), ("C3'", "O3'")),
}


def backbone_bonds(network: Network, atoms: Atoms) -> Bools:
    """Find the bonds of the backbone within residues.

    Parameters
    ----------
    network : Network
        Bodies and bars.
    atoms : Atoms
        Names of the bodies.

    Returns
    -------
    ndarray of bool, shape (bonds,)
        True for N–Cα and Cα–C of amino acids, and for those from P to O3' of nucleotides.
    """
    residues = residue_index(atoms)[network.bonds]
    inside = network.of_kind(COVALENT, LOCKED) & (residues[:, 0] == residues[:, 1])
    names = np.char.replace(atoms.names, "*", "'")[network.bonds].tolist()
    along = [(one, other) in _BACKBONE or (other, one) in _BACKBONE for one, other in names]
    found: Bools = inside & np.array(along, dtype=np.bool_)
    return found


def residue_flexibility(index: Floats, network: Network, atoms: Atoms) -> Floats:
    """Average the flexibility index over the backbone of each residue.

    Parameters
    ----------
    index : ndarray, shape (bonds,)
        ``flexibility`` of a Decomposition.
    network : Network
        What was decomposed.
    atoms : Atoms
        Names of the bodies.

    Returns
    -------
    ndarray, shape (residues,)
        In the order in which residues appear; NaN for those without a backbone.
    """
    residues = residue_index(atoms)
    chosen = backbone_bonds(network, atoms)
    owner = residues[network.bonds[chosen, 0]]
    count = np.bincount(owner, minlength=residues[-1] + 1)
    total = np.bincount(owner, index[chosen], minlength=residues[-1] + 1)
    mean: Floats = np.full(len(count), np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean
