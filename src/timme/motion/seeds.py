"""Make small pieces to begin with, and set aside sites that follow nothing around them."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.motion.crowd import follow, take_sites

_PATCH = 9  # sites of a patch
_PATCHES = 60  # patches at most: of many sites, larger ones
_NEIGHBOURS = 10
_FLOPPY = 3.0  # times the median
_FRAMES = 33
_ROUNDING = 1e-10  # of the size of the whole: who moves by less follows all around it


def patches(places: Floats) -> Ints:
    """Cut a body into patches of about nine sites that are near one another.

    Parameters
    ----------
    places : ndarray, shape (sites, 3)
        Positions in one snapshot.

    Returns
    -------
    ndarray of int, shape (sites,)
        Patch of each, from 0 on: k-means, begun from sites as far from one another as can be.
    """
    count = min(_PATCHES, round(len(places) / _PATCH))
    if count < 2:
        return np.zeros(len(places), np.int64)
    centres = _far_apart(places, count)
    labels = np.zeros(len(places), np.int64)
    for _ in range(30):
        found = ((places[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(found, labels):
            break
        labels = np.unique(found, return_inverse=True)[1].astype(np.int64)
        members = [places[labels == patch] for patch in range(labels.max() + 1)]
        centres = np.array([sites.mean(axis=0) for sites in members])
    return labels


def sow(pieces: Ints, seeds: Ints, *, least: int) -> Ints:
    """Put given pieces in the place of patches, where they are large enough.

    Parameters
    ----------
    pieces : ndarray of int, shape (sites,)
        Patches of all sites.
    seeds : ndarray of int, shape (sites,)
        Given pieces, -1 for sites of none.
    least : int
        Sites that a given piece needs.

    Returns
    -------
    ndarray of int, shape (sites,)
        Pieces, from 0 on.

    Examples
    --------
    >>> sow(np.array([0, 0, 0, 1, 1]), np.array([-1, 7, 7, 7, 2]), least=3)
    array([0, 2, 2, 2, 1])
    """
    numbers, which, counts = np.unique(seeds, return_inverse=True, return_counts=True)
    large = (counts[which] >= least) & (numbers[which] >= 0)
    after = int(pieces.max()) + 1
    mixed: Ints = np.unique(np.where(large, after + which, pieces), return_inverse=True)[1]
    return mixed


def floppy(snapshots: Floats) -> Bools:
    """Find sites that follow nothing around them: tails, loops, what is badly seen.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen.

    Returns
    -------
    ndarray of bool, shape (sites,)
        Whether a site moves, in the frame of its ten nearest neighbours, by more than three times
        the median of all sites.
    """
    from scipy.spatial import cKDTree

    snapshots = snapshots[:: -(-len(snapshots) // _FRAMES)]
    n_sites = snapshots.shape[1]
    if n_sites <= _NEIGHBOURS:
        return np.zeros(n_sites, np.bool_)
    near = np.asarray(cKDTree(snapshots[0]).query(snapshots[0], _NEIGHBOURS + 1)[1])
    owner = np.repeat(np.arange(n_sites), _NEIGHBOURS)
    crowd = follow(take_sites(snapshots, near[:, 1:].ravel()), owner, steps=3)
    away = snapshots.swapaxes(0, 1) - crowd.centres
    inner = np.einsum("stij,sti->stj", crowd.rotations, away)
    moved = np.sqrt(inner.var(axis=1).sum(axis=1))
    rounding = _ROUNDING * float(np.abs(snapshots).max())
    found: Bools = moved > np.maximum(_FLOPPY * np.median(moved), rounding)
    return found


def _far_apart(places: Floats, count: int) -> Floats:
    """Sites of which each is as far as can be from those before it, the first from the middle."""
    far = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
    chosen = [int(far.argmax())]
    far = np.full(len(places), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(far.argmax()))
    found: Floats = places[chosen]
    return found
