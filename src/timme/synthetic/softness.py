"""Make bodies without hinges: sites that tremble alike, unequally or slowly, and one that bends."""

from __future__ import annotations

from typing import Literal

import numpy as np

from timme.synthetic.motions import tumble
from timme.synthetic.packing import ball
from timme.synthetic.relaxing import relaxing
from timme.system.ensemble import Ensemble

Softness = Literal["uniform", "gradient", "slow", "bending"]


def soft(
    kind: Softness = "uniform", n_snapshots: int = 100, *, n_sites: int = 100, seed: int = 0
) -> Ensemble:
    """Make one body whose sites tremble, and none of whose parts move against others as a whole.

    Parameters
    ----------
    kind : {"uniform", "gradient", "slow", "bending"}, optional
        A ball whose sites tremble by 0.2 Å, forgotten after 2 snapshots; a long body with 0.1 to
        0.6 Å along it; the ball with a memory of 20 snapshots; a long body that trembles by 0.15 Å
        and is bent smoothly by up to 3 Å at its ends, with a memory of 50.
    n_snapshots, n_sites : int, optional
        Sizes.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In Å; every snapshot is turned and shifted as a whole at random.
    """
    rng = np.random.default_rng(seed)
    long = kind in {"gradient", "bending"}
    places = ball(n_sites, rng, stretch=3.0 if long else 1.0)
    along = places[:, 0] / np.abs(places[:, 0]).max()
    memory = 20.0 if kind == "slow" else 2.0
    jitter = np.full(n_sites, 0.15 if kind == "bending" else 0.2)
    if kind == "gradient":
        jitter = 0.35 + 0.25 * along
    trembling = relaxing((n_sites, 3), memory, rng, n_snapshots=n_snapshots)
    snapshots = places + jitter[:, None] * trembling
    if kind == "bending":
        bends = relaxing((3,), 50.0, rng, n_snapshots=n_snapshots) * np.array([3.0, 2.0, 1.0])
        snapshots[:, :, 1] += bends[:, :1] * along**2 + bends[:, 2:] * along**3
        snapshots[:, :, 2] += bends[:, 1:2] * along**2
    return Ensemble.from_array(tumble(snapshots, rng), unit="Å")
