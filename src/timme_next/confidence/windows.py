"""Clusters in sliding windows, and how σ grows with the time over which it is measured.

Neighbouring windows share half of their snapshots. Clusters of neighbouring windows that overlap
most are one track. No window goes from one run into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from timme_next._arrays import Floats, Ints, frozen
from timme_next.confidence.bootstrap import hierarchies
from timme_next.confidence.sampling import Compared, check_replicas
from timme_next.hierarchy.condensed import MIN_SIZE
from timme_next.objects import points


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Which site is in which cluster, window after window."""

    windows: tuple[range, ...]  # snapshots of each
    tracks: Ints  # (windows, shown sites), number of the track; -1 in small clusters
    cutoff: float


def slide(
    compared: Compared,
    n_windows: int,
    *,
    cutoff: float,
    shown: Ints | None = None,
    replicas: Sequence[int] | None = None,
    min_size: int = MIN_SIZE,
) -> Windows:
    """Return the clusters of sliding windows at a cutoff, as tracks.

    Tracks are numbered in the order in which they begin, the largest first.
    """
    bounds = cut_windows(n_windows, check_replicas(compared.objects.ensemble, replicas))
    halves = [range(a, b) for ends in bounds for a, b in pairwise(ends)]
    whole = [range(a, b) for ends in bounds for a, b in zip(ends[:-2], ends[2:], strict=True)]
    times = np.array([[half.start in window for half in halves] for window in whole], np.int64)
    sums = compared.sum_parts(compared.sigma.pairs, halves)
    trees = hierarchies(compared, sums, times, shown=shown)
    labels = [tree.cut(cutoff).labels for tree in trees]
    large = [np.where(np.bincount(row)[row] >= min_size, row, -1) for row in labels]
    tracks, n_tracks = [np.full(len(large[0]), -1)], 0
    for row in large:
        track, n_tracks = _continue(tracks[-1], row, n_tracks)
        tracks.append(track)
    return Windows(tuple(whole), frozen(np.stack(tracks[1:])), cutoff)


def cut_windows(n_windows: int, runs: Sequence[int]) -> list[list[int]]:
    """Return where halves of windows begin and the last ends, run by run.

    Each run has about as many windows as its share of all snapshots, at least one; a window is
    two neighbouring halves.

    Examples
    --------
    >>> cut_windows(3, [12, 8])
    [[0, 4, 8, 12], [12, 16, 20]]
    """
    if n_windows < max(2, len(runs)):
        raise ValueError(
            f"windows= needs at least {max(2, len(runs))}, and one for each run, got {n_windows}"
        )
    shares = np.rint(n_windows * np.asarray(runs) / sum(runs))
    counts = np.maximum(shares.astype(np.int64), 1)
    for run, (length, count) in enumerate(zip(runs, counts.tolist(), strict=True)):
        if length < 2 * (count + 1):
            raise ValueError(
                f"windows={n_windows} needs at least {2 * (count + 1)} snapshots in run {run + 1}, "
                f"got {length}: choose fewer windows"
            )
    begins = np.cumsum([0, *runs]).tolist()
    return [
        np.linspace(a, b, count + 2).astype(int).tolist()
        for (a, b), count in zip(pairwise(begins), counts.tolist(), strict=True)
    ]


def sigma_by_time(
    compared: Compared,
    index: Ints,
    times: Sequence[int],
    *,
    replicas: Sequence[int] | None = None,
) -> Floats:
    """Return σ (times, pairs) within windows of so many snapshots, averaged over windows as σ².

    Objects of several sites are compared by their centres.
    """
    runs = check_replicas(compared.objects.ensemble, replicas)
    if min(times) < 2 or max(times) > max(runs):
        told = ", ".join(map(str, times))
        raise ValueError(f"lags= need 2 to {max(runs)} snapshots, the longest run, got {told}")
    centres = replace(compared, objects=points(compared.objects.centres()))
    errors = 0.0 if compared.noise is None else compared.noise(index)
    found = np.empty((len(times), len(index)))
    for row, time in enumerate(times):
        inside, total = np.zeros(len(index)), np.zeros(len(index))
        for begin, end in pairwise(np.cumsum([0, *runs]).tolist()):
            parts = [range(k, k + time) for k in range(begin, end - time + 1, time)]
            if parts:
                sums = centres.sum_parts(index, parts)
                weights = sums.seen if sums.seen.size else sums.totals[None]
                shifts = sums.first.astype(np.float64) ** 2 / np.maximum(weights, 1e-30)
                inside += (sums.second - shifts).sum(axis=1)
                total += weights.sum(axis=1)
        squares = inside / total - (1 - 1 / time) * errors
        found[row] = np.sqrt(np.maximum(squares, 0.0))
    return found


def _continue(before: Ints, labels: Ints, n_tracks: int) -> tuple[Ints, int]:
    """Give clusters the tracks of those before that they overlap most; others begin new ones."""
    olds, news = (np.unique(each[each >= 0]) for each in (before, labels))
    one, other = before[:, None] == olds, labels[:, None] == news
    shared = one.T.astype(np.int64) @ other
    jaccard = shared / (one.sum(axis=0)[:, None] + other.sum(axis=0) - shared)
    tracks = np.full(len(labels), -1)
    for _ in range(min(shared.shape)):  # the best pair first, each cluster once
        old, new = np.unravel_index(jaccard.argmax(), jaccard.shape)
        if jaccard[old, new] > 0:
            tracks[other[:, new]] = olds[old]
            jaccard[old], jaccard[:, new] = 0, 0
    for label in news[(tracks[:, None] < 0)[other.argmax(axis=0), 0]].tolist():
        tracks[labels == label], n_tracks = n_tracks, n_tracks + 1
    return tracks, n_tracks
