"""Put sites that were missed now and then where the motion of their neighbours takes them.

Tracks have gaps, and of many particles hardly a snapshot has all, so that no rigid motion could be
told. A site that was missed is put where it was, relative to its neighbours, in that snapshot near
in time in which these stood most alike: it trembles there as it does elsewhere.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme.motion.rotations import nearest_rotations
from timme.system.ensemble import Ensemble
from timme.system.held_frames import ArrayFrames

_MOSTLY = 0.75  # of the snapshots, in which a site is seen that may be filled in
_NEIGHBOURS, _FEWEST = 12, 5
_NEAR_IN_TIME = 10  # snapshots
_COMPARED = 20  # snapshots that tell who is near


def fill_gaps(ensemble: Ensemble) -> Ensemble:
    """Fill in sites that were missed in a few snapshots.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions.

    Returns
    -------
    Ensemble
        With places in the gaps of sites that are seen in at least three quarters of the snapshots,
        beside at least five of their neighbours, and a warning that counts them; as it was where
        nothing is missed, in a box, or where snapshots are too many to be held.
    """
    held = ensemble.gaps and ensemble.frames.in_memory
    if not held or ensemble.n_dimensions not in (2, 3):
        return ensemble
    places, boxes = ensemble.frames.read(0, ensemble.n_snapshots)
    there: Bools = np.asarray(np.isfinite(places).all(axis=2))
    mostly = np.flatnonzero(there.mean(axis=0) >= _MOSTLY)
    if boxes is not None or there[:, mostly].all():
        return ensemble
    filled = np.array(places[:, mostly], dtype=np.float64)
    gaps, n_filled = np.argwhere(~there[:, mostly]), 0
    near = _neighbours(filled, np.unique(gaps[:, 1]))
    known = filled.copy()
    for snapshot, site in gaps.tolist():
        place = _place(known, there[:, mostly], near[site], snapshot, site)
        if place is not None:
            filled[snapshot, site] = place
            n_filled += 1
    if not n_filled:
        return ensemble
    warnings.warn(
        f"{n_filled:,} of {filled[:, :, 0].size:,} places that were not seen are filled in by how "
        "their neighbours moved",
        stacklevel=2,
    )
    whole = np.array(places, dtype=np.float64)
    whole[:, mostly] = filled
    return replace(ensemble, frames=ArrayFrames(frozen(whole), None))


def _neighbours(places: Floats, sites: Ints) -> dict[int, Ints]:
    """Sites that are nearest on average to each that has gaps."""
    chosen = places[:: -(-len(places) // _COMPARED)]
    found = dict[int, Ints]()
    for site in sites.tolist():
        apart = np.linalg.norm(chosen - chosen[:, [site]], axis=2)
        n_seen = np.isfinite(apart).sum(axis=0)
        mean = np.nansum(apart, axis=0) / np.maximum(n_seen, 1)
        mean[(n_seen == 0) | (np.arange(len(mean)) == site)] = np.inf
        nearest = np.argsort(mean, kind="stable")[:_NEIGHBOURS]
        found[site] = nearest[np.isfinite(mean[nearest])]
    return found


def _place(
    places: Floats, there: Bools, neighbours: Ints, snapshot: int, site: int
) -> Floats | None:
    """Where a site must have been; None where too little of what is around it was seen."""
    around = neighbours[there[snapshot, neighbours]]
    if len(around) < _FEWEST:
        return None
    others = np.flatnonzero(there[:, [site, *around.tolist()]].all(axis=1))
    if not len(others):
        return None
    others = others[np.argsort(np.abs(others - snapshot), kind="stable")[:_NEAR_IN_TIME]]
    here, then = places[snapshot, around], places[np.ix_(others, around)]
    middle, middles = here.mean(axis=0), then.mean(axis=1, keepdims=True)
    turns = _turns(here - middle, then - middles)
    rests = ((np.einsum("tij,tnj->tni", turns, then - middles) - (here - middle)) ** 2).sum((1, 2))
    best = int(rests.argmin())
    found: Floats = middle + turns[best] @ (places[others[best], site] - middles[best, 0])
    return found


def _turns(here: Floats, then: Floats) -> Floats:
    """Rotations that bring neighbours of other snapshots onto those of this one."""
    n_dimensions = here.shape[1]
    matrices = np.zeros((len(then), 3, 3))
    matrices[:, :n_dimensions, :n_dimensions] = np.einsum("ni,tnj->tij", here, then)
    matrices[:, 2, 2] += n_dimensions == 2  # a plane turns within itself
    turns: Floats = nearest_rotations(matrices)[:, :n_dimensions, :n_dimensions]
    return turns
