"""Make clusters within clusters."""

from __future__ import annotations

import numpy as np

from timme.synthetic.answers import Planted
from timme.system.ensemble import Ensemble


def planted(
    branching: tuple[int, ...] = (3, 3, 10),
    n_snapshots: int = 100,
    *,
    motions: tuple[float, ...] = (1.0, 0.3, 0.05),
    n_dimensions: int = 3,
    seed: int = 0,
) -> Planted:
    """Make clusters within clusters that are displaced by less and less at each level.

    Parameters
    ----------
    branching : tuple of int, optional
        Parts of the whole, parts of each of these, …, and last the sites of each.
    n_snapshots : int, optional
        Number of snapshots.
    motions : tuple of float, optional
        Standard deviation of the displacement of the parts of each level, largest first.
    n_dimensions : int, optional
        Dimensions of space.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        A level for each but the last, from the coarsest.
    """
    if len(branching) != len(motions):
        raise ValueError(f"{len(branching)} levels need as many motions, got {len(motions)}")
    rng = np.random.default_rng(seed)
    n_sites = int(np.prod(branching))
    snapshots = np.zeros((n_snapshots, n_sites, n_dimensions))
    snapshots += rng.uniform(0, n_sites ** (1 / n_dimensions), (n_sites, n_dimensions))
    labels = []
    for level, motion in enumerate(motions):
        parts = int(np.prod(branching[: level + 1]))
        label = np.repeat(np.arange(parts), n_sites // parts)
        snapshots += rng.normal(0.0, motion, (n_snapshots, parts, n_dimensions))[:, label]
        labels.append(label)
    return Planted(Ensemble.from_array(snapshots), np.array(labels[:-1]).reshape(-1, n_sites))
