"""How far rigid bodies stand out: the gap G, the separation Q and the sharpness S.

The gap G(n) decides how many bodies there are. It is the least growth of the rest on joining two of
n bodies, divided by the most it falls on cutting one of them into parts of at least 5 sites, or by
what noise alone would give if that is more: F₀ · 6 (T − 1) v (3 in a plane), with v the variance of
a coordinate within bodies and F₀ = 1 + 20/(n_eff − 1). Single domains have at most 5.5 (two open
crystal structures of adenylate kinase, whose domains differ by 4° to 7°) and known domains at least
8.4, so 6.5 is required, and half of that makes soft parts.

A rod that bends evenly is cut by G as well: by theory bending costs 32 times what another cut
gains. Sharpness S tells it from a hinge. Beside a hinge small parts turn alike within a body and
differ by a step between bodies; along a bending rod turning grows evenly with the place. S is what
the even model leaves over what the steps leave, each by its degrees of freedom.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.motion.pieces import Pieces, all_pairs, assign, follow, increases, merges, patches

GAP = 6.5  # G of bodies
SOFT = GAP / 2  # G of soft parts
SHARP = 0.7  # S of bodies; known domains have 0.84 and more
LEAST = 10  # sites of a body
PART = 5  # sites of a part into which a body is cut, and of a piece to begin with
_PATCH = 4  # sites of a part whose turning is looked at
_TINY = np.finfo(float).tiny


def gap(
    tracks: Floats, pieces: Pieces, start: Ints, n_effective: float, cuts: dict[bytes, float]
) -> float:
    """G of bodies of all sites; NaN for one.

    ``start`` (sites,) are small pieces, of which parts are made. ``cuts`` keeps what cutting bodies
    gains, by their sites, since numbers of bodies share some.
    """
    if pieces.n_bodies < 2:
        return float("nan")
    joining = increases(pieces, all_pairs(pieces.n_bodies)).min()
    cutting = max(_gain_of_noise(pieces, n_effective), _TINY)
    for body in range(pieces.n_bodies):
        members = np.flatnonzero(pieces.labels == body)
        if members.tobytes() not in cuts:
            cuts[members.tobytes()] = _best_cut(tracks[members], start[members])
        cutting = max(cutting, cuts[members.tobytes()])
    return float(joining / cutting)


def separation(sigma: Floats, labels: Ints) -> float:
    """Q: median σ across two bodies over the larger of those inside, the least of any two."""
    members = [np.flatnonzero(labels == body) for body in range(labels.max() + 1)]
    medians = np.array([[np.nanmedian(sigma[np.ix_(a, b)]) for b in members] for a in members])
    inside = np.maximum.outer(np.diag(medians), np.diag(medians))
    ratios = (medians / np.maximum(inside, _TINY))[*all_pairs(len(members)).T]
    return float(ratios.min()) if len(ratios) else float("nan")


def sharpness(tracks: Floats, pieces: Pieces, whole: Pieces) -> float:
    """S of bodies beside all sites as one body; NaN for one body, or too few parts."""
    if pieces.n_bodies < 2:
        return float("nan")
    parts, owners = np.full(len(pieces.labels), -1), list[int]()
    for body in range(pieces.n_bodies):
        members = np.flatnonzero(pieces.labels == body)
        patch = patches(whole.places[members])
        for number in np.flatnonzero(np.bincount(patch) >= _PATCH):
            parts[members[patch == number]] = len(owners)
            owners.append(body)
    small, turned = follow(tracks, parts), whole.rotations[0].swapaxes(1, 2)
    seen = [Rotation.from_matrix(each) for each in turned @ small.rotations]
    turns = np.array([(each * each.mean().inv()).as_rotvec().ravel() for each in seen])
    middles = [whole.places[parts == part].mean(axis=0) for part in range(len(owners))]
    even = np.column_stack([np.ones(len(owners)), np.array(middles)])
    steps = (np.array(owners)[:, None] == np.arange(pieces.n_bodies)).astype(np.float64)
    smooth, stepped = (_left(turns, model, small.sizes) for model in (even, steps))
    return smooth / max(stepped, _TINY)


def _left(turns: Floats, model: Floats, weights: Ints) -> float:
    """Squares that a linear model leaves, by degrees of freedom; NaN without any."""
    share = np.sqrt(weights)[:, None]
    basis, values, _ = np.linalg.svd(model * share, full_matrices=False)
    basis = basis[:, values > 1e-9 * values[0]]
    free = len(turns) - basis.shape[1]
    left = turns * share - basis @ (basis.T @ (turns * share))
    return float((left**2).sum() / free) if free > 0 else float("nan")


def _best_cut(tracks: Floats, start: Ints) -> float:
    """Most that the rest falls if a body is cut in two."""
    numbered = np.unique(start, return_inverse=True)[1]
    if numbered.max() < 2:  # what is very rigid is found as a whole at once
        numbered = patches(tracks[:, 0])
    if len(tracks) < PART + LEAST or numbered.max() == 0:
        return 0.0
    joined = [numbered, *(each for *_, each in merges(follow(tracks, numbered, steps=6)))]
    halves = np.unique(joined[-2], return_inverse=True)[1]
    best = 0.0
    for least in (PART, LEAST):
        cut = assign(tracks, halves, least=least)
        if cut.n_bodies == 2:
            best = max(best, float(increases(cut, np.array([[0, 1]]))[0]))
        if cut.sizes.min() >= LEAST:
            break
    return best


def _gain_of_noise(pieces: Pieces, n_effective: float) -> float:
    """What independent noise gives on cutting a body, as the best of many cuts."""
    n_snapshots, dimensions = pieces.centres.shape[1], pieces.dimensions
    pose = dimensions * (dimensions + 1) // 2
    free = ((dimensions * pieces.sizes - pose) * (n_snapshots - 1)).sum()
    factor = 1 + 20 / max(n_effective - 1, 0.5)
    return float(factor * pose * (n_snapshots - 1) * pieces.rests.sum() / max(free, 1))


def sigma_of(tracks: Floats) -> Floats:
    """σ of all pairs (sites, sites) in at most 50 snapshots; NaN of a site with itself."""
    chosen = tracks[:, :: -(-tracks.shape[1] // 50)].swapaxes(0, 1)
    total = square = np.zeros(len(tracks) * (len(tracks) - 1) // 2)
    for places in chosen:
        apart = pdist(places)
        total, square = total + apart, square + apart**2
    variances = np.maximum(square / len(chosen) - (total / len(chosen)) ** 2, 0.0)
    return squareform(np.sqrt(variances)) + np.diag(np.full(len(tracks), np.nan))
