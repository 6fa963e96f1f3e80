"""Fill bodies with sites as a protein is filled with residues, and let numbers wander in time."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats

_VOLUME = 130.0  # Å³ for a residue
_APART = 4.0  # Å between two at least


def packed(n_sites: int, rng: np.random.Generator, *, stretch: float = 1.0) -> Floats:
    """Fill a ball, or a spheroid that is longer along x, with sites that do not touch.

    Parameters
    ----------
    n_sites : int
        Number of sites, 130 Å³ each and at least 4 Å apart.
    rng : Generator
        Random numbers.
    stretch : float, optional
        Length divided by width.

    Returns
    -------
    ndarray, shape (sites, 3)
        Places in Å about the middle.
    """
    width = (3 * n_sites * _VOLUME / (4 * np.pi * stretch)) ** (1 / 3)
    extent = width * np.array([stretch, 1.0, 1.0])
    found = np.empty((0, 3))
    while len(found) < n_sites:
        tried = rng.uniform(-1.0, 1.0, 3)
        place = tried * extent
        apart = ((found - place) ** 2).sum(axis=1) >= _APART**2
        if (tried**2).sum() <= 1 and apart.all():
            found = np.vstack([found, place])
    return found


def wandering(
    n_snapshots: int, n_series: int, rng: np.random.Generator, *, memory: float = 0.0
) -> Floats:
    """Draw series of variance 1 that forget within a time (Ornstein and Uhlenbeck's process).

    Parameters
    ----------
    n_snapshots, n_series : int
        Sizes.
    rng : Generator
        Random numbers.
    memory : float, optional
        Snapshots after which correlation is 1/e; 0 for independent ones.

    Returns
    -------
    ndarray, shape (snapshots, series)
        Series.
    """
    keep = np.exp(-1 / memory) if memory > 0 else 0.0
    series = rng.normal(size=(n_snapshots, n_series))
    series[1:] *= np.sqrt(1 - keep**2)
    for frame in range(1, n_snapshots):
        series[frame] += keep * series[frame - 1]
    return series
