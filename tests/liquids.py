"""A periodic box of water in files, whose molecules go through the walls by known ways."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Floats

N_MOLECULES, N_SNAPSHOTS, WIDTH = 258, 401, 20.0  # of TIP3P near 1 g/cm³; ps; Å
STEP, NEAREST = 0.8, 1.8  # Å of a step along each axis; between oxygens, which wander the more
HYDROGENS = 0.9572 * np.array([[1.0, 0.0, 0.0], [np.cos(1.8242), np.sin(1.8242), 0.0]])


@dataclass(frozen=True)
class Water:
    """Files of a box of water, 1 ps from snapshot to snapshot."""

    topology: Path
    trajectory: Path
    oxygens: Floats  # (snapshots, molecules, 3), as they went, in no box


def write_water(folder: Path) -> Water:
    """Let hard molecules wander, and write them with every atom brought back into the box."""
    rng = np.random.default_rng(7)
    oxygens = _wander(rng)
    turned = np.linalg.qr(rng.normal(size=(N_SNAPSHOTS, N_MOLECULES, 3, 3)))[0] @ HYDROGENS.T
    offsets = np.concatenate([np.zeros((*oxygens.shape, 1)), turned], axis=-1)
    atoms = (oxygens[..., None] + offsets).swapaxes(-1, -2)
    return Water(*write_in_box(folder, atoms, WIDTH), oxygens)


def write_in_box(folder: Path, molecules: Floats, width: float) -> tuple[Path, Path]:
    """Write (snapshots, molecules, atoms, 3) of water, O first, 1 ps apart, in a periodic cube."""
    import MDAnalysis as mda

    n_snapshots, n_molecules, n_atoms, _ = molecules.shape
    universe = mda.Universe.empty(
        n_molecules * n_atoms,
        n_residues=n_molecules,
        atom_resindex=np.repeat(np.arange(n_molecules), n_atoms),
        trajectory=True,
    )
    universe.add_TopologyAttr("names", ["O", "H1", "H2"][:n_atoms] * n_molecules)
    universe.add_TopologyAttr("elements", ["O", "H", "H"][:n_atoms] * n_molecules)
    universe.add_TopologyAttr("resnames", ["HOH"] * n_molecules)
    universe.add_TopologyAttr("resids", np.arange(1, n_molecules + 1))
    box = [width, width, width, 90.0, 90.0, 90.0]
    places = (molecules % width).reshape(n_snapshots, -1, 3).astype(np.float32)
    universe.load_new(places, order="fac", dt=1.0, dimensions=box)
    topology, trajectory = folder / "water.pdb", folder / "water.xtc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what these bare files leave out
        universe.atoms.write(str(topology))
        universe.atoms.write(str(trajectory), frames="all")
    return topology, trajectory


def _wander(rng: np.random.Generator) -> Floats:
    """Move molecules from a grid; a step that would bring one near another is not made."""
    edge = WIDTH / 7
    cells = np.stack(np.unravel_index(rng.permutation(343)[:N_MOLECULES], (7, 7, 7)), axis=1)
    places = (cells + 0.5) * edge
    snapshots = [places]
    for _ in range(N_SNAPSHOTS - 1):
        tried = places + rng.normal(0.0, STEP, places.shape)
        for _ in range(50):  # who is in the way goes back, and may then be in the way of another
            tree = cKDTree(tried % WIDTH, boxsize=np.full(3, WIDTH))
            near = tree.query_pairs(NEAREST, output_type="ndarray").ravel()
            back = near[(tried[near] != places[near]).any(axis=1)]
            if not len(back):
                break
            tried[back] = places[back]
        places = tried
        snapshots.append(places)
    return np.array(snapshots)
