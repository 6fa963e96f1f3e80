"""Find where a chain bends between bodies.

Between two snapshots, as DynDom does: every run of five residues has a rotation vector of its own.
Those of a domain scatter about their mean; walking from a boundary into a domain, a residue bends
as long as its vector is unlike those of the domain, beyond 80 of 100 of them (χ² of three, 4.6).
Over an ensemble: sites that are still in neither of two bodies.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Bools, Floats, Ints
from timme.motion.fits import fit
from timme.motion.superposition import rmsf, superpose
from timme.system.ensemble import Ensemble

_WINDOW = 5  # residues
_UNLIKE = 4.6  # of a squared distance from the mean, in standard deviations
_RESTLESS = 3.0  # times the rms of a body


def bending_residues(before: Floats, after: Floats, residues: Ints, labels: Ints) -> Ints:
    """Find residues that bend between two bodies, from two snapshots.

    Parameters
    ----------
    before, after : ndarray, shape (sites, 3)
        Two snapshots of a chain, such as N, Cα and C of every residue.
    residues : ndarray of int, shape (sites,)
        Residue of each site, ascending from 0 without gaps.
    labels : ndarray of int, shape (residues,)
        Body of each residue, -1 for none.

    Returns
    -------
    ndarray of int
        Residues, ascending: those on both sides of every boundary, and those that go on bending.
    """
    vectors = window_rotations(before, after, residues)
    bends = np.zeros(len(labels), np.bool_)
    edges = np.flatnonzero((labels[1:] != labels[:-1]) & (labels[1:] >= 0) & (labels[:-1] >= 0))
    for edge in edges:
        for first, step in ((edge, -1), (edge + 1, 1)):
            bends[first] = True
            unlike = _unlikeness(vectors, labels == labels[first])
            place = first + step
            while 0 <= place < len(labels) and labels[place] == labels[first]:
                if not unlike[place] > _UNLIKE:
                    break
                bends[place] = True
                place += step
    return np.flatnonzero(bends)


def window_rotations(before: Floats, after: Floats, residues: Ints) -> Floats:
    """Rotation vectors of runs of five residues, after one fit of the whole.

    Parameters
    ----------
    before, after : ndarray, shape (sites, 3)
        Two snapshots.
    residues : ndarray of int, shape (sites,)
        Residue of each site, ascending from 0 without gaps.

    Returns
    -------
    ndarray, shape (residues, 3)
        Of the run about each residue, in rad; NaN at the ends of the chain.
    """
    laid = fit(after, before[None]).out_of(after)[0]
    count = int(residues.max()) + 1
    found = np.full((count, 3), np.nan)
    half = _WINDOW // 2
    for middle in range(half, count - half):
        run = np.flatnonzero(np.abs(residues - middle) <= half)
        rotation = fit(before[run], laid[run][None]).rotations[0]
        if np.isfinite(rotation).all():
            found[middle] = Rotation.from_matrix(rotation).as_rotvec()
    return found


def restless_sites(ensemble: Ensemble, labels: Ints) -> Ints:
    """Find sites that are still in no body: linkers that bend, over an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    labels : ndarray of int, shape (sites,)
        Body of each site, -1 for none.

    Returns
    -------
    ndarray of int
        Sites that move, in the frame of every body, by more than three times what its own sites do.
    """
    restless = np.ones(ensemble.n_sites, np.bool_)
    for body in range(labels.max() + 1):
        own = labels == body
        moved = rmsf(superpose(ensemble, own).ensemble)
        restless &= moved > _RESTLESS * np.sqrt(np.mean(moved[own] ** 2))
    return np.flatnonzero(restless)


def _unlikeness(vectors: Floats, domain: Bools) -> Floats:
    """Squared distance of every vector from the mean of a domain, in its own spread."""
    own = vectors[domain & np.isfinite(vectors[:, 0])]
    if len(own) < 4:
        return np.full(len(vectors), np.nan)
    away = vectors - own.mean(axis=0)
    inverse = np.linalg.pinv(np.cov(own.T))
    found: Floats = np.einsum("ri,ij,rj->r", away, inverse, away)
    return found
