"""Make a soft solid."""

from __future__ import annotations

import numpy as np

from timme.synthetic.directions import directions
from timme.system.ensemble import Ensemble


def elastic(
    n_sites: int = 1_000,
    n_snapshots: int = 100,
    *,
    density: float = 0.05,
    motion: float = 1.0,
    jitter: float = 0.1,
    seed: int = 0,
) -> Ensemble:
    """Make a soft solid in open space: a few slow waves bend it, and every site trembles.

    Sites near one another move together as in a protein: the waves are longer than half of
    the cube, and change little from one snapshot to the next.

    Parameters
    ----------
    n_sites, n_snapshots : int, optional
        Sizes.
    density : float, optional
        Sites per volume; by default about that of the heavy atoms of a protein, in Å.
    motion : float, optional
        Standard deviation of each coordinate under all waves together.
    jitter : float, optional
        Standard deviation of the independent noise on every coordinate.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In single precision, sites in the order of a lattice.

    Examples
    --------
    >>> elastic(100, 5).n_sites
    100
    """
    if n_sites < 1 or n_snapshots < 1 or not density > 0:
        raise ValueError(
            f"an elastic solid needs at least 1 site, 1 snapshot and a density above 0, "
            f"got {n_sites}, {n_snapshots} and {density}"
        )
    rng = np.random.default_rng(seed)
    n_waves, memory = 12, 0.95  # what is left of a wave in the next snapshot
    per_axis = int(np.ceil(n_sites ** (1 / 3)))
    lattice = np.column_stack(np.unravel_index(np.arange(n_sites), (per_axis,) * 3))
    spacing = density ** (-1 / 3)
    places = (spacing * (lattice + rng.uniform(0.1, 0.9, lattice.shape))).astype(np.float32)
    lengths = per_axis * spacing / rng.uniform(0.25, 2.0, n_waves)
    vectors = 2 * np.pi * directions((n_waves,), rng) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, n_waves)
    # Isotropic in the mean: a unit vector has components of 1/3 square, a cosine one of 1/2.
    waves = np.cos(vectors @ places.T + phases[:, None])[:, :, None]
    waves = waves * directions((n_waves,), rng)[:, None] * np.sqrt(6 / n_waves) * motion
    waves = waves.reshape(n_waves, -1).astype(np.float32)
    strengths = rng.normal(size=(n_snapshots, n_waves))
    strengths[1:] *= np.sqrt(1 - memory**2)
    for frame in range(1, n_snapshots):
        strengths[frame] += memory * strengths[frame - 1]
    snapshots = (strengths.astype(np.float32) @ waves).reshape(n_snapshots, n_sites, 3)
    for frame in range(n_snapshots):
        noise = np.float32(jitter) * rng.standard_normal(places.shape, np.float32)
        snapshots[frame] += places + noise
    return Ensemble.from_array(snapshots)
