"""Make rigid bodies that swing about hinges."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from timme.synthetic.answers import Planted
from timme.system.ensemble import Ensemble


def hinged(
    n_bodies: int = 3,
    sites_per_body: int = 30,
    n_snapshots: int = 100,
    *,
    swing: float = 0.5,
    jitter: float = 0.02,
    seed: int = 0,
) -> Planted:
    """Make rigid bodies in a row, each swinging about the hinge that joins it to the one before.

    Parameters
    ----------
    n_bodies, sites_per_body, n_snapshots : int, optional
        Sizes.
    swing : float, optional
        Standard deviation of each hinge's angle, in radians.
    jitter : float, optional
        Standard deviation of the noise on every coordinate; a body has size 1.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the bodies. Every snapshot is turned and moved as a whole at random.
    """
    rng = np.random.default_rng(seed)
    # A body of size 1 stands in the middle of an arm of length 2, clear of both of its hinges.
    shape = rng.uniform(-0.5, 0.5, (n_bodies, sites_per_body, 3)) + np.array([1.0, 0, 0])
    angles = rng.normal(0.0, swing, (n_snapshots, n_bodies))
    around = rng.uniform(0.0, 2 * np.pi, n_bodies)  # hinges turn across the arm, never along it
    axes = np.column_stack([np.zeros(n_bodies), np.cos(around), np.sin(around)])
    snapshots = np.empty((n_snapshots, n_bodies, sites_per_body, 3))
    for frame in range(n_snapshots):
        turn, joint = Rotation.random(rng=rng), rng.normal(size=3)
        for body in range(n_bodies):
            turn = turn * Rotation.from_rotvec(angles[frame, body] * axes[body])
            snapshots[frame, body] = joint + turn.apply(shape[body])
            joint = joint + turn.apply([2.0, 0.0, 0.0])
    snapshots += rng.normal(0.0, jitter, snapshots.shape)
    labels = np.repeat(np.arange(n_bodies), sites_per_body)[None]
    return Planted(Ensemble.from_array(snapshots.reshape(n_snapshots, -1, 3)), labels)
