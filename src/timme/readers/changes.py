"""Changes: how far a snapshot is from another, told by distances, which no rigid motion changes."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints
from timme.system.frames import Frames
from timme.system.images import Images
from timme.system.space import Boxes

_PAIRS = 300  # of sites, whose distances are compared
_STEPS = 40  # at most, of which it is told how long they are


def sample_pairs(n_sites: int) -> Ints:
    """Draw pairs of sites, always the same.

    Parameters
    ----------
    n_sites : int
        Number of sites, at least two.

    Returns
    -------
    ndarray of int, shape (2, pairs)
        No site with itself.
    """
    rng = np.random.default_rng(0)
    one = rng.integers(0, n_sites, _PAIRS)
    other = (one + rng.integers(1, n_sites, _PAIRS)) % n_sites  # any but itself
    return np.stack([one, other])


def spread_steps(part: range) -> list[int]:
    """Choose snapshots of a run that have a next one in it.

    Parameters
    ----------
    part : range
        Snapshots in a row.

    Returns
    -------
    list of int
        Evenly spread, none where there is no step.
    """
    chosen = np.linspace(part.start, part.stop - 2, min(_STEPS, len(part) - 1))
    return np.unique(np.rint(chosen).astype(np.int64)).tolist() if len(part) > 1 else []


def change_of_distances(
    frames: Frames, one: int, other: int, pairs: Ints, images: Images | None = None
) -> float:
    """Measure how much distances differ between two snapshots.

    Parameters
    ----------
    frames : Frames
        Snapshots.
    one, other : int
        Which two.
    pairs : ndarray of int, shape (2, pairs)
        Between which sites.
    images : Images, optional
        Which images sites see, the nearest by default.

    Returns
    -------
    float
        Root mean square over the pairs.
    """
    lengths = list[Floats]()
    for snapshot in (one, other):
        places, matrices = frames.read(snapshot, snapshot + 1)
        boxes = Boxes.of(matrices, 1, frames.shape[2], images)
        lengths.append(np.linalg.norm(boxes.between(places, *pairs), axis=2)[0])
    return float(np.sqrt(np.mean((lengths[1] - lengths[0]) ** 2)))
