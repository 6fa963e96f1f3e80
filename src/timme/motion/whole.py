"""Take snapshots in which all is seen and whole, spread over an ensemble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme.system.ensemble import Ensemble
from timme.system.held_frames import ArrayFrames
from timme.system.space import Boxes

_FEWEST = 4  # sites that may be more than one body
_MOST_HELD = 20_000_000  # numbers, 160 MB in double precision


def hold(ensemble: Ensemble) -> Ensemble:
    """Hold snapshots that are walked through many times, unless they are too many.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots, held or not.

    Returns
    -------
    Ensemble
        The same, in memory; as it was if that would take more than 160 MB in double precision.
    """
    if ensemble.frames.in_memory:
        return ensemble
    if ensemble.n_snapshots * ensemble.n_sites * ensemble.n_dimensions > _MOST_HELD:
        return ensemble
    parts = [(block.coordinates, block.boxes) for block in ensemble.blocks()]
    boxes = [box for _, box in parts if box is not None]
    frames = ArrayFrames(
        frozen(np.concatenate([coordinates for coordinates, _ in parts])),
        np.concatenate(boxes) if len(boxes) == len(parts) else None,
    )
    return replace(ensemble, frames=frames)


def whole_snapshots(ensemble: Ensemble, most: int) -> tuple[Floats, Ints, bool]:
    """Read some snapshots in which the same sites are seen.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions.
    most : int
        Snapshots at most, evenly spread.

    Returns
    -------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen; those in a plane have 0 as their third coordinate.
    seen : ndarray of int
        Which sites these are: those seen in at least half of the snapshots.
    ordered : bool
        Whether snapshots follow one another in time.
    """
    if ensemble.n_dimensions not in (2, 3):
        raise ValueError(
            f"bodies are found in 2 or 3 dimensions, got {ensemble.n_dimensions}: rigid motion is "
            "that of places in a plane or in space"
        )
    _refuse_few(ensemble)
    chosen = ensemble[_spread(ensemble, most)]
    refuse_cut_molecules(chosen)
    snapshots = np.asarray(chosen.coordinates(), dtype=np.float64)
    there: Bools = np.asarray(np.isfinite(snapshots).all(axis=2))
    seen = np.flatnonzero(there.mean(axis=0) >= 0.5)
    whole = np.flatnonzero(there[:, seen].all(axis=1)) if len(seen) else seen
    if len(whole) < 2 or len(seen) < _FEWEST:
        raise ValueError(
            f"{ensemble.prefix}bodies need at least 2 snapshots in which the same {_FEWEST} sites "
            f"or more are seen, got {len(whole)} of {len(snapshots)} snapshots and {len(seen)} "
            "sites: choose sites that are mostly seen"
        )
    snapshots = snapshots[np.ix_(whole, seen)]
    in_space = np.zeros((*snapshots.shape[:2], 3))
    in_space[:, :, : ensemble.n_dimensions] = snapshots
    return in_space, seen, not ensemble.independent


def _refuse_few(ensemble: Ensemble) -> None:
    """Refuse what has too few snapshots or sites even if all of them are seen."""
    if ensemble.n_snapshots < 2:
        raise ValueError(
            f"{ensemble.prefix}bodies need at least 2 snapshots, got {ensemble.n_snapshots}: read "
            "more models or frames"
        )
    if ensemble.n_sites < _FEWEST:
        raise ValueError(
            f"{ensemble.prefix}bodies need at least {_FEWEST} sites, got {ensemble.n_sites}: "
            "choose more of them"
        )


def spread_snapshots(ensemble: Ensemble, most: int) -> tuple[Floats, Ints]:
    """Read snapshots in which all sites are seen, spread over an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    most : int
        Snapshots at most.

    Returns
    -------
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        Positions in double precision.
    chosen : ndarray of int
        Which snapshots these are.
    """
    chosen = _spread(ensemble, most)
    snapshots = np.asarray(ensemble[chosen].coordinates(), dtype=np.float64)
    whole: Bools = np.asarray(np.isfinite(snapshots).all(axis=(1, 2)))
    if whole.sum() < 2:
        raise ValueError(
            f"{ensemble.prefix}at least 2 snapshots in which all sites are seen are needed, got "
            f"{whole.sum()} of {len(whole)}: choose sites that are mostly seen"
        )
    return snapshots[whole], chosen[whole]


def refuse_cut_molecules(ensemble: Ensemble) -> None:
    """Refuse molecules that the walls of a box cut apart.

    Parameters
    ----------
    ensemble : Ensemble
        Few snapshots.
    """
    atoms, sites = ensemble.atoms, ensemble.site_atoms
    chains, resids = atoms.chains[sites], atoms.resids[sites]
    follows = np.flatnonzero((chains[1:] == chains[:-1]) & (np.diff(resids) <= 1))
    for block in ensemble.blocks():
        if block.boxes is None or not len(follows):
            return
        vectors = np.asarray(block.coordinates[:, follows + 1] - block.coordinates[:, follows])
        boxes = Boxes.of(block.boxes, len(vectors), ensemble.n_dimensions)
        plain, nearest = (
            np.linalg.norm(each, axis=2)
            for each in (vectors, boxes.shorten(vectors.astype(np.float64)))
        )
        torn = np.argwhere(plain > nearest * (1 + 1e-4))
        if len(torn):
            frame, place = torn[0]
            raise ValueError(
                f"{ensemble.prefix}bodies need whole molecules, but in snapshot "
                f"{block.start + frame + 1} of those looked at the walls of the box cut between "
                f"{ensemble.site_label(int(follows[place]))} and the next site: read it with "
                "bonds, so that molecules are made whole"
            )


def _spread(ensemble: Ensemble, most: int) -> Ints:
    """Numbers of snapshots that count, evenly spread."""
    counting = np.arange(ensemble.n_snapshots)
    if ensemble.weights is not None:
        counting = np.flatnonzero(ensemble.weights)
    places = np.linspace(0, len(counting) - 1, min(most, len(counting))).round()
    return counting[np.unique(places.astype(np.int64))]
