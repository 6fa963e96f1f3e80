"""Tell hinges from smooth bending: whether small parts turn by steps, or evenly along the whole.

A rod that bends can be cut in two, and its halves then move against one another far more than
parts inside them do. What tells it from a hinge is how small parts turn. Beside a hinge all parts
of one body turn alike, and those of the other by a step more; along a rod that bends, turning grows
evenly with the place. Both are linear models of the same turns, one with a turn for each body, one
that is affine in the place. Sharpness is what the even one leaves over what the steps leave, each
by its degrees of freedom: a step is described badly by a slope, and a slope as badly by steps, so
that 1 lies between both. Where parts turn little beside how well their turning is known, as in two
copies of one crystal, it comes near 1 whatever they do: only what is clearly below tells bending.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.motion.crowd import Crowd, follow
from timme.motion.seeds import patches

_LEAST = 4  # sites of a part whose turning is told


def sharpness(snapshots: Floats, crowd: Crowd, whole: Crowd) -> float:
    """Say whether parts of bodies turn by a step from body to body, or evenly along all of them.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen.
    crowd : Crowd
        Bodies of all sites.
    whole : Crowd
        All sites as one body.

    Returns
    -------
    float
        What turning evenly leaves over what turning by bodies leaves; above 1 beside hinges, below
        it in a body that bends. NaN for one body, or too few parts to tell.
    """
    if crowd.n_bodies < 2:
        return float("nan")
    parts, body = _parts(whole.places, crowd.labels)
    small = follow(snapshots, parts)
    turns = _turns(small, whole)
    sizes = small.sizes.astype(np.float64)
    middles = np.array([whole.places[parts == part].mean(axis=0) for part in range(len(sizes))])
    even = np.column_stack([np.ones(len(sizes)), middles])
    by_bodies = (body[:, None] == np.arange(crowd.n_bodies)).astype(np.float64)
    smooth, stepped = _left(turns, even, sizes), _left(turns, by_bodies, sizes)
    return smooth / max(stepped, np.finfo(float).tiny)


def _parts(places: Floats, labels: Ints) -> tuple[Ints, Ints]:
    """Patches of each body, those of few sites left out, and the body of each patch."""
    parts, bodies = np.full(len(labels), -1), list[int]()
    for body in range(labels.max() + 1):
        members = np.flatnonzero(labels == body)
        patch = patches(places[members])
        for sites in (members[patch == number] for number in range(patch.max() + 1)):
            if len(sites) >= _LEAST:
                parts[sites] = len(bodies)
                bodies.append(body)
    return parts, np.array(bodies)


def _turns(small: Crowd, whole: Crowd) -> Floats:
    """Rotation vectors of parts about their means, seen from the whole: (parts, snapshots × 3)."""
    seen = whole.rotations[0].swapaxes(1, 2) @ small.rotations
    turns = [Rotation.from_matrix(each) for each in seen]
    return np.array([(turn * turn.mean().inv()).as_rotvec().ravel() for turn in turns])


def _left(turns: Floats, model: Floats, weights: Floats) -> float:
    """Squares that the best of a linear model leaves, by degrees of freedom; NaN without any."""
    share = np.sqrt(weights)[:, None]
    basis, values, _ = np.linalg.svd(model * share, full_matrices=False)
    basis = basis[:, values > 1e-9 * values[0]]
    free = len(turns) - basis.shape[1]
    wanted = turns * share
    left = wanted - basis @ (basis.T @ wanted)
    return float((left**2).sum() / free) if free > 0 else float("nan")
