"""Clusters in time: those of sliding windows, tracked by overlap, and how σ grows with the time.

Neighbouring windows share half of their snapshots. Clusters of neighbouring windows that overlap
most are one track, so that one sees who joins and who leaves. σ of a pair over windows of τ
snapshots is what a film of that length would show: it grows with τ until all motions are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.compare.clusters import match_one_to_one
from timme.confidence.findings import Windows
from timme.confidence.replicates import resampled_hierarchies
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.sums import NoiseVariance, sum_parts
from timme.hierarchy.condensed import MIN_SIZE
from timme.objects import Objects, points


def slide(  # noqa: PLR0913, what is compared, and how it is watched
    objects: Objects,
    index: Ints,
    n_windows: int,
    *,
    cutoff: float,
    shown: Ints | None = None,
    min_size: int = MIN_SIZE,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
    run: Run = DEFAULT,
) -> Windows:
    """Find the clusters of sliding windows, and track them.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Who with whom.
    n_windows : int
        How many; neighbours share half of their snapshots.
    cutoff : float
        At which clusters are cut.
    shown : ndarray of int, optional
        Objects in which clusters are counted; all by default.
    min_size : int, optional
        Sites that a cluster needs to be tracked.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, which is taken off.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Windows
        Tracks are numbered in the order in which they begin, the largest first.
    """
    n_snapshots = objects.ensemble.n_snapshots
    if n_windows < 2 or n_snapshots < 2 * (n_windows + 1):
        raise ValueError(
            f"sliding windows need at least 2 of 4 snapshots each, got {n_windows} windows of "
            f"{n_snapshots} snapshots: choose fewer windows"
        )
    bounds = np.linspace(0, n_snapshots, n_windows + 2).astype(int).tolist()
    halves = [range(a, b) for a, b in pairwise(bounds)]
    times = np.eye(n_windows, n_windows + 1, dtype=np.int64)
    times += np.eye(n_windows, n_windows + 1, 1, dtype=np.int64)
    sums = sum_parts(objects, index, halves, metric=metric, noise=noise, run=run)
    trees = resampled_hierarchies(sums, times, shown=shown)
    tracks = np.stack([_large(tree.cut(cutoff).labels, min_size) for tree in trees])
    n_tracks = 0
    for window in range(n_windows):
        before = tracks[window - 1] if window else np.full(tracks.shape[1], -1)
        tracks[window], n_tracks = _continue(before, tracks[window], n_tracks)
    whole = tuple(range(a, b) for a, b in zip(bounds[:-2], bounds[2:], strict=True))
    return Windows(whole, frozen(tracks), cutoff)


def sigma_by_time(
    objects: Objects,
    index: Ints,
    times: Sequence[int],
    *,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
) -> Floats:
    """Measure how σ depends on the time over which snapshots are compared.

    Parameters
    ----------
    objects : Objects
        What is compared; of objects of several sites, their centres.
    index : ndarray of int, shape (pairs, 2)
        Who with whom.
    times : sequence of int
        Snapshots of a window, 2 at least.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        As for :func:`slide`.

    Returns
    -------
    ndarray, shape (times, pairs)
        Root of the mean over windows of σ² within each.
    """
    n_snapshots = objects.ensemble.n_snapshots
    if min(times) < 2 or max(times) > n_snapshots:
        raise ValueError(f"windows have 2 to {n_snapshots} snapshots, got {list(times)}")
    centres = points(objects.centres())
    found = []
    errors = 0.0 if noise is None else noise(index)
    for time in times:
        parts = [range(k, k + time) for k in range(0, n_snapshots - time + 1, time)]
        sums = sum_parts(centres, index, parts, metric=metric)
        weight = sums.totals if sums.seen is None else np.maximum(sums.seen, 1e-30)
        shift = 0.0 if sums.first is None else sums.first.astype(np.float64) ** 2 / weight
        inside = sums.second.astype(np.float64) - shift
        total = sums.totals.sum() if sums.seen is None else sums.seen.sum(axis=1)
        squares = inside.sum(axis=1) / total - (1 - 1 / time) * errors
        found.append(np.sqrt(np.maximum(squares, 0.0)))
    return np.stack(found)


def _large(labels: Ints, min_size: int) -> Ints:
    """Labels of large clusters; -1 elsewhere."""
    return np.where(np.bincount(labels)[labels] >= min_size, labels, -1)


def _continue(before: Ints, labels: Ints, n_tracks: int) -> tuple[Ints, int]:
    """Give clusters the tracks of those before that they overlap most; others begin new ones."""
    clusters, olds = np.unique(labels[labels >= 0]), np.unique(before[before >= 0])
    shared = np.array([[((labels == c) & (before == o)).sum() for c in clusters] for o in olds])
    shared = shared.reshape(len(olds), len(clusters))
    rows, columns = np.nonzero(shared)
    size = np.array([(labels == c).sum() for c in clusters])[columns]
    old_size = np.array([(before == o).sum() for o in olds])[rows]
    jaccard = shared[rows, columns] / (size + old_size - shared[rows, columns])
    ranked = np.argsort(-jaccard, kind="stable")
    partners = match_one_to_one(rows[ranked], columns[ranked], len(clusters))
    tracks = np.full(len(labels), -1)
    for place, cluster in enumerate(clusters):
        if partners[place] >= 0:
            tracks[labels == cluster] = olds[partners[place]]
        else:
            tracks[labels == cluster] = n_tracks
            n_tracks += 1
    return tracks, n_tracks
