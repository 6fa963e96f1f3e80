"""Make spheres that attract one another."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Floats
from timme.system.ensemble import Ensemble


def spheres(
    n_spheres: int = 991,
    n_snapshots: int = 46,
    *,
    diameter: float = 1.3,
    packing: float = 0.2,
    attraction: float = 4.0,
    seed: int = 0,
) -> Ensemble:
    """Let spheres with a weak, short-ranged attraction drift in a periodic box.

    Overdamped (Brownian) motion of soft-cored spheres, a model of the colloids of the paper:
    some jam into networks, others stay free.

    Parameters
    ----------
    n_spheres, n_snapshots : int, optional
        Sizes, by default those of the experiment of the paper.
    diameter : float, optional
        Of a sphere, in µm.
    packing : float, optional
        Fraction of space that spheres fill.
    attraction : float, optional
        Depth of the attraction, in units of k_B T.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In µm, with its periodic box.
    """
    rng = np.random.default_rng(seed)
    edge = (n_spheres * np.pi / 6 / packing) ** (1 / 3)  # in diameters
    per_axis = int(np.ceil(n_spheres ** (1 / 3)))
    lattice = np.stack(np.meshgrid(*[np.arange(per_axis)] * 3), axis=-1).reshape(-1, 3)
    positions = (lattice[rng.permutation(len(lattice))[:n_spheres]] + 0.5) * edge / per_axis
    unwrapped = positions.copy()
    warm_up, steps = 400, 30
    snapshots = []
    for step in range(warm_up + steps * n_snapshots):
        move = _brownian_step(unwrapped % edge, edge, attraction, rng)
        unwrapped = unwrapped + move
        if step >= warm_up and (step - warm_up) % steps == 0:
            snapshots.append(unwrapped % edge)
    return Ensemble.from_array(
        diameter * np.array(snapshots), boxes=np.full(3, diameter * edge), unit="µm"
    )


def _brownian_step(
    positions: Floats, edge: float, attraction: float, rng: np.random.Generator
) -> Floats:
    """Displacement of one time step, in diameters, under a Morse force of short range."""
    sharpness, time_step, range_ = 12.0, 2e-4, 1.4
    tree = cKDTree(positions % edge, boxsize=np.full(3, edge))
    first, second = tree.query_pairs(range_, output_type="ndarray").T
    vectors = positions[first] - positions[second]
    vectors -= edge * np.rint(vectors / edge)
    distance = np.maximum(np.linalg.norm(vectors, axis=1), 0.7)
    well = np.exp(-sharpness * (distance - 1.0))
    strength = 2 * sharpness * attraction * well * (well - 1) / distance
    push = vectors * np.minimum(strength, 1e3)[:, None]
    force = np.zeros_like(positions)
    for axis in range(3):
        force[:, axis] = np.bincount(first, push[:, axis], len(positions))
        force[:, axis] -= np.bincount(second, push[:, axis], len(positions))
    return force * time_step + rng.normal(0.0, np.sqrt(2 * time_step), positions.shape)
