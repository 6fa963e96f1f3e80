"""Overlap: in how many snapshots two objects must both be seen, and what each choice keeps.

A short overlap underestimates slow motion, so that half of all snapshots is asked for where nobody
says otherwise. Where few objects coexist that long, as in a crowd that comes and goes, ``"auto"``
takes the most snapshots that half of the objects share with some other.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Literal

import numpy as np

from timme._arrays import Bools, Ints
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.system.ensemble import Ensemble

Overlap = int | Literal["auto"] | None
"""Snapshots that a pair must share; chosen by what objects share; or half of all."""

_SAMPLE = 2_000  # objects whose partners are looked at, where there are more
_AT_ONCE = 10_000_000  # places in a table of snapshots and pairs that are looked at together


def default_overlap(n_snapshots: int, *, gaps: bool) -> int:
    """Return how many snapshots two sites must share if the user does not say.

    Parameters
    ----------
    n_snapshots : int
        Number of snapshots that count.
    gaps : bool
        Whether sites may be missing from snapshots.

    Returns
    -------
    int
        Half of the snapshots where there are gaps (a short overlap underestimates slow motion),
        all of them otherwise; at least 2.
    """
    return max(2, math.ceil(n_snapshots / 2)) if gaps else n_snapshots


def choose_overlap(objects: Objects, min_overlap: Overlap) -> int:
    """Say how many snapshots two objects must share.

    Parameters
    ----------
    objects : Objects
        What is compared.
    min_overlap : int, "auto" or None
        What the user wants.

    Returns
    -------
    int
        From 2 to the number of snapshots that count.
    """
    ensemble = objects.ensemble
    usual = default_overlap(ensemble.n_counting, gaps=ensemble.gaps)
    if min_overlap is None:
        overlap = usual
    elif isinstance(min_overlap, str):
        if min_overlap != "auto":
            raise ValueError(f"min_overlap is a number of snapshots or auto, got {min_overlap!r}")
        overlap = min(usual, kept_by_half(seen_objects(objects))) if ensemble.gaps else usual
    else:
        overlap = operator.index(min_overlap)
    if not 2 <= overlap <= ensemble.n_counting:
        raise ValueError(
            f"a minimum overlap must be from 2 to {ensemble.n_counting} snapshots, got {overlap}"
        )
    return overlap


def kept_by_half(seen: Bools) -> int:
    """Find the most snapshots that half of all objects share with some other.

    Parameters
    ----------
    seen : ndarray of bool, shape (snapshots, objects)
        Which object is seen in which snapshot.

    Returns
    -------
    int
        At least 2.

    Examples
    --------
    >>> kept_by_half(np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool))
    3
    """
    ordered = np.sort(shared_with_another(seen))[::-1]
    return max(2, int(ordered[(len(ordered) - 1) // 2]))


def shared_with_another(seen: Bools) -> Ints:
    """Count the snapshots that objects share with the one that shares most with them.

    Parameters
    ----------
    seen : ndarray of bool, shape (snapshots, objects)
        Which object is seen in which snapshot.

    Returns
    -------
    ndarray of int, shape (objects,)
        Of all objects; of 2,000 at even steps where there are more, as all would take long.
    """
    n_objects = seen.shape[1]
    count = min(n_objects, _SAMPLE)
    chosen = (np.arange(count) * n_objects) // max(1, count)
    numbers = seen.astype(np.float32)
    best = np.zeros(count, np.int64)
    step = max(1, _AT_ONCE // max(1, n_objects))
    for start in range(0, count, step):
        rows = chosen[start : start + step]
        common = numbers[:, rows].T @ numbers
        common[np.arange(len(rows)), rows] = 0.0  # with itself
        best[start : start + step] = common.max(axis=1)
    return best


def seen_objects(objects: Objects) -> Bools:
    """Tell which object is seen as a whole in which of the snapshots that count.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    ndarray of bool, shape (snapshots, objects)
        True where all of its sites are seen.
    """
    seen = seen_sites(objects.ensemble)
    if objects.are_points:
        return seen[:, objects.members]
    unseen = objects.membership().astype(np.int64) @ (~seen).T
    whole: Bools = (unseen == 0).T
    return whole


def seen_sites(ensemble: Ensemble) -> Bools:
    """Tell which site is seen in which of the snapshots that count.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots with gaps.

    Returns
    -------
    ndarray of bool, shape (snapshots, sites)
        False for sites without a position.
    """
    blocks = [np.isfinite(block.coordinates).all(axis=2) for block in ensemble.blocks()]
    seen: Bools = np.concatenate(blocks)
    return seen if ensemble.weights is None else seen[ensemble.weights > 0]


def refuse_unmeasured(objects: Objects, pairs: Pairs, overlap: int) -> None:
    """Refuse pairs of which none was measured, and say which overlap would keep how many.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    overlap : int
        Snapshots that they should share.
    """
    ensemble = objects.ensemble
    if not len(pairs):
        return
    seen = seen_objects(objects)
    counts = np.zeros(len(seen) + 1, np.int64)  # of pairs that share exactly so many snapshots
    best = np.zeros(len(objects), np.int64)
    for index in pairs.chunks(max(1, _AT_ONCE // max(1, len(seen)))):
        common = (seen[:, index[:, 0]] & seen[:, index[:, 1]]).sum(axis=0)
        counts += np.bincount(common, minlength=len(counts))
        np.maximum.at(best, index.ravel(), np.repeat(common, 2))
    kept = [(least, int(counts[least:].sum())) for least in _worth_naming(best)]
    raise ValueError(
        f"{ensemble.prefix}none of {len(pairs):,} pairs of {objects.kind} share the {overlap} of "
        f"{ensemble.n_counting} snapshots that they need: "
        + _advise(best, {least: f"{n_pairs:,} pairs of " for least, n_pairs in kept})
    )


def advise_overlap(shared: Ints) -> str:
    """Say which overlap would keep how many sites.

    Parameters
    ----------
    shared : ndarray of int, shape (sites,)
        Snapshots that each shares with the one that shares most with it.

    Returns
    -------
    str
        The end of a message.
    """
    return _advise(shared, dict.fromkeys(_worth_naming(shared), ""))


def _worth_naming(shared: Ints) -> Sequence[int]:
    """Overlaps at which half and all of those are kept that can be compared at all."""
    some = np.sort(shared[shared >= 2])[::-1]
    return sorted({int(some[(len(some) - 1) // 2]), int(some[-1])})[::-1] if len(some) else []


def _advise(shared: Ints, named: dict[int, str]) -> str:
    if not named:
        return (
            "no two are seen together in 2 snapshots, the least that σ needs (min_overlap=): "
            "give longer tracks"
        )
    told = [
        f"min_overlap={least} would keep {more}{np.count_nonzero(shared >= least):,} of "
        f"{len(shared):,}"
        for least, more in named.items()
    ]
    return f"{', '.join(told)}; min_overlap='auto' chooses what keeps half of all"
