"""Make the freely-jointed chain of the paper."""

from __future__ import annotations

import numpy as np

from timme.synthetic.directions import directions
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


def chain(
    n_links: int = 10_000, n_snapshots: int = 2, *, link_length: float = 1.0, seed: int = 0
) -> Ensemble:
    """Make a freely-jointed chain: every link points anywhere, independently in each snapshot.

    Parameters
    ----------
    n_links : int, optional
        Number of links; there is one joint more.
    n_snapshots : int, optional
        Number of independent realisations.
    link_length : float, optional
        Length a of each link.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        Of the joints, with the links as bonds.

    Examples
    --------
    >>> chain(5, 3).n_sites
    6
    """
    if n_links < 1 or n_snapshots < 1 or not link_length > 0:
        raise ValueError(
            f"a chain needs at least 1 link, 1 snapshot and a length above 0, "
            f"got {n_links}, {n_snapshots} and {link_length}"
        )
    steps = link_length * directions((n_snapshots, n_links), np.random.default_rng(seed))
    start = np.zeros((n_snapshots, 1, 3))
    joints = np.concatenate([start, np.cumsum(steps, axis=1)], axis=1)
    bonds = np.column_stack([np.arange(n_links), np.arange(1, n_links + 1)])
    return Ensemble.from_array(joints, atoms=Atoms.unnamed(n_links + 1, bonds=bonds))
