"""Planted motions that look like a protein, a Cα for every site; domains of adenylate kinase."""

from dataclasses import replace
from typing import Any

import numpy as np

from timme import Atoms, Ensemble
from timme.synthetic import moving

CORE = [*range(1, 30), *range(68, 118), *range(161, 215)]
LID, NMP = [*range(118, 161)], [*range(30, 68)]


def of_residues(numbers: list[int]) -> np.ndarray:
    """Return the places of residues that are counted from 1."""
    return np.array(numbers) - 1


def overlap_with_domains(labels: np.ndarray) -> float:
    """Mean Jaccard of core, LID and NMP, each with the body that is most like it."""
    best = []
    for domain in (CORE, LID, NMP):
        here = np.isin(np.arange(1, 215), domain)
        best.append(
            max(
                np.sum(here & (labels == body)) / np.sum(here | (labels == body))
                for body in range(labels.max() + 1)
            )
        )
    return float(np.mean(best))


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
