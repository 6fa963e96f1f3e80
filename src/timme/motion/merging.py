"""Join rigid bodies by the least increase of what no rigid motion accounts for ("rigid Ward").

The union of two rigid bodies needs no site again. A body of n sites that is turned by A and whose
middle is at c has Σ |A x + c|² = Σ |x|² + n |c|², and the mean shape of a union is made of mean
rotations and mean middles, so that sizes, moments Σ x xᵀ and poses tell its rest. That takes both
bodies to be rigid; what moves within them adds the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import rotations as kernel
from timme.motion.crowd import Crowd

_MOST = 33  # snapshots from which the order of merges is told


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """Two bodies that became one."""

    kept: int  # a site of the one
    joined: int  # a site of the other
    growth: float  # of the rest, over all snapshots
    labels: Ints  # (sites,), bodies after it


def increases(crowd: Crowd, pairs: Ints, *, steps: int = 30) -> Floats:
    """Say how much the rest grows if two bodies become one.

    Parameters
    ----------
    crowd : Crowd
        Bodies.
    pairs : ndarray of int, shape (pairs, 2)
        Which are joined.
    steps : int, optional
        How often the shape of a union is averaged at most.

    Returns
    -------
    ndarray, shape (pairs,)
        Rest of the union less those of both, each body taken to be rigid.
    """
    return _unite(crowd, pairs, steps)[0] if len(pairs) else np.empty(0)


def all_pairs(count: int) -> Ints:
    """List the pairs of so many things.

    Parameters
    ----------
    count : int
        How many there are.

    Returns
    -------
    ndarray of int, shape (pairs, 2)
        The lower first.
    """
    return np.column_stack(np.triu_indices(count, 1))


def merges(crowd: Crowd, *, within: Ints | None = None) -> Iterator[Merge]:
    """Join the two bodies whose union adds least to the rest, again and again.

    Parameters
    ----------
    crowd : Crowd
        Bodies.
    within : ndarray of int, shape (bodies,), optional
        Families of bodies that are joined within before they are joined to others.

    Yields
    ------
    Merge
        One for each body but the last.
    """
    step = -(-crowd.centres.shape[1] // _MOST)
    crowd = replace(crowd, rotations=crowd.rotations[:, ::step], centres=crowd.centres[:, ::step])
    scale = step  # growth is a sum over all snapshots
    family = np.zeros(crowd.n_bodies, np.int64) if within is None else within.copy()
    growth = np.full((crowd.n_bodies, crowd.n_bodies), np.inf)
    _fill(growth, crowd, all_pairs(crowd.n_bodies))
    representative = np.array([np.argmax(crowd.labels == body) for body in range(crowd.n_bodies)])
    alive = np.ones(crowd.n_bodies, np.bool_)
    for _ in range(crowd.n_bodies - 1):
        same = family[:, None] == family
        masked = np.where(same, growth, np.inf)
        if not np.isfinite(masked).any():
            masked = growth
        first, second = divmod(int(masked.argmin()), len(masked))
        added = growth[first, second] * scale
        crowd = _merge(crowd, first, second, growth[first, second])
        growth[second], growth[:, second], alive[second] = np.inf, np.inf, False
        others = np.flatnonzero(alive)
        others = others[others != first]
        _fill(
            growth, crowd, np.sort(np.column_stack([np.full(len(others), first), others]), axis=1)
        )
        yield Merge(int(representative[first]), int(representative[second]), added, crowd.labels)


def _fill(growth: Floats, crowd: Crowd, pairs: Ints) -> None:
    growth[pairs[:, 0], pairs[:, 1]] = increases(crowd, pairs, steps=8)


def _unite(crowd: Crowd, pairs: Ints, steps: int) -> tuple[Floats, Floats]:
    """Growth of the rest for each pair, and the rotations of the union."""
    n_bodies, n_snapshots = crowd.centres.shape[:2]
    grown, union = np.empty(len(pairs)), np.empty((len(pairs), n_snapshots, 9))
    kernel.unite(
        crowd.sizes.astype(np.float64),
        np.ascontiguousarray(crowd.moments).reshape(n_bodies, 9),
        np.ascontiguousarray(crowd.rotations).reshape(n_bodies, n_snapshots, 9),
        np.ascontiguousarray(crowd.centres),
        np.ascontiguousarray(pairs),
        steps,
        grown,
        union,
    )
    return grown, union.reshape(len(pairs), n_snapshots, 3, 3)


def _merge(crowd: Crowd, first: int, second: int, growth: float) -> Crowd:
    """Make one body of two; the number of the second is left empty."""
    both = np.array([first, second])
    rotation = _unite(crowd, both[None], 30)[1][0]
    sizes = crowd.sizes[both]
    centre = np.tensordot(sizes / sizes.sum(), crowd.centres[both], 1)
    turns = (rotation.swapaxes(1, 2) @ crowd.rotations[both]).mean(axis=1)
    offsets = np.einsum("tji,btj->bi", rotation, crowd.centres[both] - centre) / len(centre)
    moment = (turns @ crowd.moments[both] @ turns.swapaxes(1, 2)).sum(axis=0)
    moment = moment + (sizes[:, None] * offsets).T @ offsets
    changed = {
        name: getattr(crowd, name).copy()
        for name in ("rotations", "centres", "moments", "sizes", "rests", "labels")
    }
    changed["rotations"][first], changed["centres"][first] = rotation, centre
    changed["moments"][first], changed["sizes"][first] = moment, sizes.sum()
    changed["rests"][first] = crowd.rests[both].sum() + growth
    changed["labels"][crowd.labels == second] = first
    return replace(crowd, **changed)
