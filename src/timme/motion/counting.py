"""Say how many bodies there are: how much more they move against one another than parts of them do.

Any body can be cut in two, and what no rigid motion accounts for, the rest, then falls. Bodies are
worth their name where joining any two of them would cost far more than cutting any one of them
could gain. The gap G(n) is the least growth of the rest on joining two of n bodies, divided by the
most it falls on cutting one of them into parts of at least 5 sites, or by what noise alone would
give if that is more: F₀ · 6 (T − 1) v (3 in a plane), with v the variance of a coordinate within
the bodies and F₀ = 1 + 20/(n_eff − 1), n_eff the number of independent snapshots.

Both sides of the ratio are sums of squares of the same kind, so that it has no scale. Asked for is
6.5, between what should be one body and what should be more, of real proteins: 5.5 at most (two
open crystal structures of adenylate kinase, whose domains differ by 4° to 7°; single domains 4.4 at
most) and 8.4 at least (whole transitions). Half of that makes soft parts. Bending a rod smoothly
costs 32 times as much as it gains to cut a half again, by theory, so that G alone cuts it: bodies
are asked for sharpness as well (:mod:`timme.motion.sharpness`). The page on bodies lists what was
tried, and which of it was not seen before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints
from timme._html import Described
from timme.motion.crowd import Crowd, assign, follow, take_sites
from timme.motion.merging import all_pairs, increases, merges
from timme.motion.seeds import patches

ENOUGH = 6.5  # G of bodies
SOFT = ENOUGH / 2  # G of soft parts
SHARP = 0.7  # S of bodies: below it, one body that bends; known domains have 0.84 and more
JITTER = 1.3  # separation below which bodies move less than they jitter
LEAST = 10  # sites of a body
_PART = 5  # sites of a part into which a body is cut


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Described):
    """What so many bodies account for."""

    n_bodies: int
    gap: float  # G, NaN for one body
    separation: float  # Q, the least of any two bodies; NaN for one
    sharpness: float  # S, of turning by steps; NaN where it decides nothing or cannot be told
    rest: float  # rms distance of sites from their places
    labels: Ints  # (sites,), body of each, 0 the largest; -1 for those of none

    @property
    def bends(self) -> bool:
        """Whether bodies are parts of one that bends evenly; False where it cannot be told."""
        return bends(self.sharpness)


def bends(sharpness: float) -> bool:
    """Tell whether bodies are parts of one that bends evenly.

    Parameters
    ----------
    sharpness : float
        S; NaN where it cannot be told.

    Returns
    -------
    bool
        False where it cannot be told.
    """
    return sharpness < SHARP


def gap(
    snapshots: Floats,
    crowd: Crowd,
    pieces: Ints,
    *,
    n_effective: float,
    known: dict[bytes, float],
    down_to: float = 0.0,
) -> float:
    """Set what joining two bodies costs beside what cutting one of them gains.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen.
    crowd : Crowd
        Bodies of all sites.
    pieces : ndarray of int, shape (sites,)
        Small pieces, of which parts of bodies are made.
    n_effective : float
        Independent snapshots.
    known : dict
        What cutting bodies gains, by their sites; what is found is added, as numbers of bodies
        often share some.
    down_to : float, optional
        Where G is below it, no more is wanted than to know so: further bodies are not cut.

    Returns
    -------
    float
        G; NaN for one body. Below ``down_to``, a number between G and that.
    """
    if crowd.n_bodies < 2:
        return float("nan")
    joining = increases(crowd, all_pairs(crowd.n_bodies)).min()
    cutting = max(_of_noise(crowd, n_effective), np.finfo(float).tiny)
    for body in np.argsort(-crowd.rests, kind="stable"):  # where most is to be gained first
        if joining / cutting < down_to:
            break
        members = np.flatnonzero(crowd.labels == body)
        if members.tobytes() not in known:
            cut = _best_cut(take_sites(snapshots, members), pieces[members])
            known[members.tobytes()] = cut
        cutting = max(cutting, known[members.tobytes()])
    return float(joining / cutting)


def separation(sigma: Floats, labels: Ints) -> float:
    """Say how much more distances across bodies vary than those within.

    Parameters
    ----------
    sigma : ndarray, shape (sites, sites)
        σ of all pairs.
    labels : ndarray of int, shape (sites,)
        Bodies.

    Returns
    -------
    float
        Q: median across two bodies, divided by the larger of those inside them; the least of any
        two. NaN for one body.
    """
    bodies = [np.flatnonzero(labels == body) for body in range(labels.max() + 1)]
    inside = [
        float(np.median(sigma[np.ix_(each, each)][~np.eye(len(each), dtype=bool)])) if len(each) > 1
        else 0.0
        for each in bodies
    ]  # fmt: skip
    found = [
        float(np.median(sigma[np.ix_(bodies[a], bodies[b])]))
        / max(inside[a], inside[b], np.finfo(float).tiny)
        for a, b in all_pairs(len(bodies))
        if len(bodies[a]) and len(bodies[b])
    ]
    return min(found, default=float("nan"))


def choose(levels: tuple[Level, ...]) -> int:
    """Choose among numbers of bodies.

    Parameters
    ----------
    levels : tuple of Level
        For one body and more.

    Returns
    -------
    int
        Place of the largest number whose gap is wide enough and that does not merely bend; 0, one
        body, if none is.
    """
    wide = [place for place, level in enumerate(levels) if level.gap >= ENOUGH]
    return max((place for place in wide if not levels[place].bends), default=0)


def _best_cut(snapshots: Floats, pieces: Ints) -> float:
    """Most that the rest falls if a body is cut in two."""
    n_sites = snapshots.shape[1]
    numbered = np.unique(pieces, return_inverse=True)[1]
    if numbered.max() < 2:  # what is very rigid is found as a whole at once
        numbered = patches(snapshots[0])
    if n_sites < _PART + LEAST or numbered.max() == 0:
        return 0.0
    crowd = follow(snapshots, numbered, steps=6)
    halves = numbered
    for merge in merges(crowd):
        if len(np.unique(merge.labels)) == 2:
            halves = np.unique(merge.labels, return_inverse=True)[1]
    if crowd.n_bodies == 2:
        halves = numbered
    best = 0.0
    for least in (_PART, LEAST):
        cut = assign(snapshots, halves, least=least)
        if cut.n_bodies == 2:
            best = max(best, float(increases(cut, np.array([[0, 1]]))[0]))
        if cut.sizes.min() >= LEAST:
            break
    return best


def _of_noise(crowd: Crowd, n_effective: float) -> float:
    """What independent noise would give on cutting a body, chosen as the best of many cuts."""
    n_snapshots = crowd.centres.shape[1]
    dimensions = crowd.n_dimensions
    pose = dimensions * (dimensions + 1) // 2  # numbers that say where a body is
    free = ((dimensions * crowd.sizes - pose) * (n_snapshots - 1)).sum()
    factor = 1 + 20 / max(n_effective - 1, 0.5)
    return float(factor * pose * (n_snapshots - 1) * crowd.rests.sum() / max(free, 1))
