"""Overlap: in how many snapshots two objects must both be seen, and what each choice keeps.

A short overlap underestimates slow motion, so that half of all snapshots is asked for where nobody
says otherwise. Where few objects coexist that long, as in a crowd that comes and goes, ``"auto"``
takes the most snapshots that half of the objects share with some other.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from timme._arrays import Bools, Coordinates, Ints
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.system.ensemble import Ensemble

Overlap = int | Literal["auto"] | None
"""Snapshots that a pair must share; chosen by what objects share; or half of all."""

_SAMPLE = 2_000  # objects whose partners are looked at, where all would take long:
_MOST_WORK = 1e12  # objects times sightings, a minute or so
_AT_ONCE = 10_000_000  # places in a table of snapshots and pairs that are looked at together
_BLOCK = 256  # objects whose partners are looked at together
_MOST_KEPT = 0.5  # of all pairs, above which they are walked through rather than listed
_MOST_LISTED = 30_000_000  # pairs; about 2 GB while they are put in order
_MOST_EXACT = 2**24  # snapshots that single precision can count


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
        Of all objects; of 2,000 at even steps where all would take long.
    """
    n_objects = seen.shape[1]
    chosen = np.arange(n_objects)
    if n_objects > _SAMPLE and n_objects * int(np.count_nonzero(seen)) > _MOST_WORK:
        chosen = (np.arange(_SAMPLE) * n_objects) // _SAMPLE
    best = np.zeros(n_objects, np.int64)
    for rows, partners, common in _shared_by_block(seen, chosen):
        best[rows] = _most_with_another(rows, partners, common)
    return best[chosen]


def keep_sharing(objects: Objects, pairs: Pairs, overlap: int) -> Pairs:
    """Leave out those of all pairs that share too few snapshots, before any distance is taken.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    overlap : int
        Snapshots that two must share.

    Returns
    -------
    Pairs
        A list in the order of all pairs; the same pairs where they are a list already, where
        nothing can be left out, or where too many would stay for a list to be of use.
    """
    if pairs.index is not None or not objects.ensemble.gaps or not objects.are_points:
        return pairs
    most, n_found = min(_MOST_LISTED, int(_MOST_KEPT * len(pairs))), 0
    found = [np.empty((0, 2), np.int64)]
    for rows, partners, common in _shared_by_block(seen_objects(objects)):
        one, other = np.nonzero((common >= overlap) & (rows[:, None] < partners))
        found.append(np.column_stack([rows[one], partners[other]]))
        n_found += len(one)
        if n_found > most:
            return pairs
    return pairs.keep(np.concatenate(found))


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
    if objects.are_points:
        return seen_sites(objects.centres())
    seen = seen_sites(objects.ensemble)
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
    counts, best = _count_shared(seen_objects(objects), pairs)
    kept = [(least, int(counts[least:].sum())) for least in _worth_naming(best)]
    raise ValueError(
        f"{ensemble.prefix}none of {len(pairs):,} pairs of {objects.kind} share the {overlap} of "
        f"{ensemble.n_counting} snapshots that they need: "
        + _advise(best, {least: f"{n_pairs:,} pairs of " for least, n_pairs in kept}, len(best))
    )


def advise_overlap(shared: Ints, n_sites: int) -> str:
    """Say which overlap would keep how many sites.

    Parameters
    ----------
    shared : ndarray of int
        Snapshots that sites, all or some of them, share with the one that shares most with them.
    n_sites : int
        How many sites there are.

    Returns
    -------
    str
        The end of a message; what is estimated from some of the sites is called so.
    """
    return _advise(shared, dict.fromkeys(_worth_naming(shared), ""), n_sites)


def _shared_by_block(
    seen: Bools, chosen: Ints | None = None
) -> Iterator[tuple[Ints, Ints, Coordinates]]:
    """Count the snapshots that objects share, for some of them and all who meet them at a time.

    Those who come at about the same time are taken together: they meet few others, and few
    snapshots count, so that of a crowd that comes and goes hardly anything is multiplied.
    """
    n_snapshots, n_objects = seen.shape
    kind = np.float32 if n_snapshots <= _MOST_EXACT else np.float64
    chosen = np.arange(n_objects) if chosen is None else chosen
    order = chosen[np.argsort(seen[:, chosen].argmax(axis=0), kind="stable")]
    at_once = max(1, _AT_ONCE // n_objects)
    step = min(_BLOCK, at_once)
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        inside = np.flatnonzero(seen[:, rows].any(axis=1))
        span = slice(0, 0) if not len(inside) else slice(inside[0], inside[-1] + 1)
        partners = np.flatnonzero(seen[span].any(axis=0))
        common = np.zeros((len(rows), len(partners)), kind)
        for first in range(0, len(inside), at_once):
            part = seen[inside[first : first + at_once]]
            common += part[:, rows].T.astype(kind) @ part[:, partners].astype(kind)
        yield rows, partners, common


def _most_with_another(rows: Ints, partners: Ints, common: Coordinates) -> Ints:
    """Find what each row shares at most with a partner that is not itself."""
    others = np.where(rows[:, None] == partners, 0, common)
    most: Ints = others.max(axis=1, initial=0).astype(np.int64)
    return most


def _count_shared(seen: Bools, pairs: Pairs) -> tuple[Ints, Ints]:
    """Count pairs by the snapshots that they share, if any, and find the most of each object."""
    counts = np.zeros(len(seen) + 1, np.int64)
    best = np.zeros(seen.shape[1], np.int64)
    if pairs.index is None and not len(pairs.left_out):
        for rows, partners, common in _shared_by_block(seen):
            shared = common[rows[:, None] < partners].astype(np.int64)
            counts += np.bincount(shared, minlength=len(counts))
            best[rows] = _most_with_another(rows, partners, common)
        return counts, best
    for index in pairs.chunks(max(1, _AT_ONCE // max(1, len(seen)))):
        shared = (seen[:, index[:, 0]] & seen[:, index[:, 1]]).sum(axis=0)
        counts += np.bincount(shared, minlength=len(counts))
        np.maximum.at(best, index.ravel(), np.repeat(shared, 2))
    return counts, best


def _worth_naming(shared: Ints) -> Sequence[int]:
    """Overlaps at which half and all of those are kept that can be compared at all."""
    some = np.sort(shared[shared >= 2])[::-1]
    return sorted({int(some[(len(some) - 1) // 2]), int(some[-1])})[::-1] if len(some) else []


def _advise(shared: Ints, named: dict[int, str], n_all: int) -> str:
    if not named:
        return (
            "no two are seen together in 2 snapshots, the least that σ needs (min_overlap=): "
            "give longer tracks"
        )
    about = "" if len(shared) == n_all else "about "
    told = list[str]()
    for least, more in named.items():
        kept = round(np.count_nonzero(shared >= least) * n_all / len(shared))
        told.append(f"min_overlap={least} would keep {more}{about}{kept:,} of {n_all:,}")
    return f"{', '.join(told)}; min_overlap='auto' chooses what keeps half of all"
