"""Pack sites at random, as densely as the residues of a protein."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from timme._arrays import Floats

VOLUME = 130.0  # of each site, Å³
APART = 4.0  # at least, Å


def ball(n_sites: int, rng: np.random.Generator, *, stretch: float = 1.0) -> Floats:
    """Pack sites into a ball about the origin, or into a spheroid that is longer along x.

    Parameters
    ----------
    n_sites : int
        How many.
    rng : numpy.random.Generator
        Source of randomness.
    stretch : float, optional
        Length divided by width.

    Returns
    -------
    ndarray, shape (sites, 3)
        Places, Å.
    """
    extent = radius_of(n_sites / stretch) * np.array([stretch, 1.0, 1.0])
    return _pack(n_sites, extent, lambda x: bool(((x / extent) ** 2).sum() <= 1), rng)


def rod(n_sites: int, radius: float, rng: np.random.Generator) -> Floats:
    """Pack sites into a cylinder along x, about the origin.

    Parameters
    ----------
    n_sites : int
        How many.
    radius : float
        Of the cylinder, Å.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, shape (sites, 3)
        Places, Å.
    """
    half = n_sites * VOLUME / (np.pi * radius**2) / 2
    reach = np.full(3, max(half, radius))
    return _pack(
        n_sites,
        reach,
        lambda x: bool(abs(x[0]) <= half and (x[1:] ** 2).sum() <= radius**2),
        rng,
    )


def radius_of(n_sites: float) -> float:
    """Return the radius of a ball that holds so many sites.

    Parameters
    ----------
    n_sites : float
        How many.

    Returns
    -------
    float
        In Å.
    """
    return float((3 * VOLUME * n_sites / (4 * np.pi)) ** (1 / 3))


def smooth_between(low: float, high: float, places: Floats, rng: np.random.Generator) -> Floats:
    """Make values from low to high that vary smoothly over space, one for each place.

    Parameters
    ----------
    low, high : float
        The least and the largest.
    places : ndarray, shape (sites, 3)
        Where.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, shape (sites,)
        Evenly spread between the two.
    """
    extent = np.ptp(places, axis=0).max()
    waves = rng.normal(size=(4, 3)) * np.pi / extent
    field = np.cos(places @ waves.T + rng.uniform(0, 2 * np.pi, 4)).sum(axis=1)
    rank: Floats = np.argsort(np.argsort(field)) / max(1, len(field) - 1)
    return low + (high - low) * rank


def _pack(
    n_sites: int, extent: Floats, inside: Callable[[Floats], bool], rng: np.random.Generator
) -> Floats:
    """Try places in a cuboid one after another; keep those inside that are far from all others."""
    placed = np.empty((0, 3))
    apart = APART
    tries = 0
    while len(placed) < n_sites:
        tried = rng.uniform(-extent, extent)
        tries += 1
        if inside(tried) and ((placed - tried) ** 2).sum(axis=1).min(initial=np.inf) > apart**2:
            placed = np.concatenate([placed, tried[None]])
        if tries % 20_000 == 0:
            apart *= 0.98  # the last ones of a small body may not fit otherwise
    return placed
