"""Planted motions that look like a protein: a Cα for every site."""

from dataclasses import replace
from typing import Any

import numpy as np

from timme import Atoms, Ensemble
from timme.synthetic import moving


def planted_protein(n_snapshots: int = 20, **options: Any) -> Ensemble:
    """Two bodies of 60 and 40 residues; the second is residues 61 to 100 of chain A."""
    made = moving((60, 40), n_snapshots, **{"spans": [40.0], **options}).ensemble
    count = made.n_sites
    atoms = Atoms(
        names=np.full(count, "CA"),
        elements=np.full(count, "C"),
        resnames=np.full(count, "ALA"),
        resids=np.arange(1, count + 1),
        icodes=np.full(count, ""),
        chains=np.full(count, "A"),
        masses=np.full(count, 12.011),
        bonds=np.empty((0, 2), np.int64),
    )
    return replace(made, atoms=atoms)
