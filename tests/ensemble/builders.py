"""Small systems that the tests of ensembles share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from timme.ensemble import Atoms
from timme.ensemble.atoms import guess_elements

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BOXES = {
    "straight": [[10.0, 0, 0], [0, 11.0, 0], [0, 0, 12.0]],
    "tilted": [[10.0, 0, 0], [4.0, 11.0, 0], [-3.0, 5.0, 12.0]],
    "slab": [[10.0, 0, 0], [0, 11.0, 0], [0, 0, 0]],
    "tilted slab": [[10.0, 0, 0], [4.0, 11.0, 0], [0, 0, 0]],
}


def atoms_of(*residues: tuple[str, Sequence[str]], chain: str = "A") -> Atoms:
    """Atoms of residues that are given by their names and those of their atoms."""
    names = np.array([name for _, members in residues for name in members])
    resnames = np.array([resname for resname, members in residues for _ in members])
    return replace(
        Atoms.unnamed(len(names)),
        names=names,
        resnames=resnames,
        elements=guess_elements(names, resnames),
        resids=np.repeat(np.arange(1, len(residues) + 1), [len(m) for _, m in residues]),
        chains=np.full(len(names), chain),
    )


def joined(*parts: Atoms) -> Atoms:
    """Atoms of several parts, without bonds."""
    columns = ("names", "elements", "resnames", "resids", "icodes", "chains", "masses")
    merged = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return Atoms(**merged, bonds=np.empty((0, 2), np.int64))


def wrapped(places: Floats, box: npt.ArrayLike) -> Floats:
    """Put positions back into a box (row vectors, zeros where it is open)."""
    vectors = np.asarray(box, np.float64)
    closed = vectors[vectors.any(axis=1)]
    cells: Floats = places - np.floor(places @ np.linalg.pinv(closed)) @ closed
    return cells


def walkers(
    box: npt.ArrayLike, n_snapshots: int = 80, n_sites: int = 10, step: float = 0.4, seed: int = 5
) -> tuple[Floats, Floats]:
    """Particles that wander: where they are, and where a file has them."""
    rng = np.random.default_rng(seed)
    true = np.cumsum(rng.normal(scale=step, size=(n_snapshots, n_sites, 3)), axis=0)
    true += rng.uniform(0, 10, (n_sites, 3))
    return true, wrapped(true, box)
