"""Make particles that move one another through the fluid between them."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats
from timme.system.ensemble import Ensemble


def suspension(
    n_particles: int = 40,
    n_snapshots: int = 200,
    *,
    edge: float = 20.0,
    radius: float = 0.2,
    strength: float = 0.01,
    seed: int = 0,
) -> Ensemble:
    """Let particles diffuse in an unbounded fluid that carries the motion of each to the others.

    Displacements of every step are drawn with the mobility of Rotne, Prager and Yamakawa: of
    two particles at a distance r, D_rr = strength · τ / r · (1 − ⅔ (radius/r)²), where the strength
    is kT/(2πη).

    Parameters
    ----------
    n_particles, n_snapshots : int, optional
        Sizes.
    edge : float, optional
        Of the cube in which they start.
    radius : float, optional
        Of a particle; they start at least 2.5 of it apart.
    strength : float, optional
        kT/(2πη), with a snapshot as the unit of time.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In open space.
    """
    rng = np.random.default_rng(seed)
    positions = _apart(n_particles, edge, 2.5 * radius, rng)
    snapshots = [positions]
    for _ in range(n_snapshots - 1):
        covariance = 2 * 2 * np.pi * strength * mobility(positions, radius)
        step = np.linalg.cholesky(covariance) @ rng.normal(size=3 * n_particles)
        positions = positions + step.reshape(-1, 3)
        snapshots.append(positions)
    return Ensemble.from_array(np.array(snapshots))


def mobility(positions: Floats, radius: float) -> Floats:
    """Mobility of spheres in a fluid of viscosity 1, as Rotne, Prager and Yamakawa give it.

    Parameters
    ----------
    positions : ndarray, shape (particles, 3)
        Where they are.
    radius : float
        Of each.

    Returns
    -------
    ndarray, shape (particles × 3, particles × 3)
        Positive definite, also where spheres overlap.
    """
    count = len(positions)
    vectors = positions[:, None] - positions
    apart = np.linalg.norm(vectors, axis=2)
    np.fill_diagonal(apart, 1.0)
    unit = vectors / apart[..., None]
    outer = unit[..., :, None] * unit[..., None, :]
    ratio = (radius / apart)[..., None, None] ** 2
    far = (1 + 2 * ratio / 3) * np.eye(3) + (1 - 2 * ratio) * outer
    far = far / (8 * np.pi * apart[..., None, None])
    share = (apart / radius)[..., None, None]
    near = (1 - 9 * share / 32) * np.eye(3) + 3 * share / 32 * outer
    near = near / (6 * np.pi * radius)
    found = np.where(apart[..., None, None] >= 2 * radius, far, near)
    found[np.arange(count), np.arange(count)] = np.eye(3) / (6 * np.pi * radius)
    matrix: Floats = found.transpose(0, 2, 1, 3).reshape(3 * count, 3 * count)
    return matrix


def _apart(count: int, edge: float, least: float, rng: np.random.Generator) -> Floats:
    found = np.empty((0, 3))
    while len(found) < count:
        place = rng.uniform(0.0, edge, 3)
        if (np.linalg.norm(found - place, axis=1) >= least).all():
            found = np.vstack([found, place])
    return found
