"""Clusters in time: those of sliding windows, tracked by overlap, and how σ grows with the time.

Neighbouring windows share half of their snapshots. Clusters of neighbouring windows that overlap
most are one track, so that one sees who joins and who leaves. σ of a pair over windows of τ
snapshots is what a film of that length would show: it grows with τ until all motions are seen.
Runs are independent of one another: no window leads from one into the next.
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
from timme.fluctuations.sigma import NoiseVariance
from timme.fluctuations.sums import sum_parts
from timme.hierarchy.condensed import MIN_SIZE
from timme.hierarchy.linkages import Linkage
from timme.objects import Objects, points


def slide(  # noqa: PLR0913, what is compared, and how it is watched
    objects: Objects,
    index: Ints,
    n_windows: int,
    *,
    cutoff: float,
    shown: Ints | None = None,
    replicas: Sequence[int] | None = None,
    min_size: int = MIN_SIZE,
    linkage: Linkage = "single",
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
        How many; neighbours in one run share half of their snapshots.
    cutoff : float
        At which clusters are cut.
    shown : ndarray of int, optional
        Objects in which clusters are counted; all by default.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; by default, those that were read.
    min_size : int, optional
        Sites that a cluster needs to be tracked.
    linkage : {"single", "braced", "average"}, optional
        How pairs are joined, as those of all snapshots were: a cutoff of one linkage says nothing
        of another.
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
    runs = objects.ensemble.replicas if replicas is None else replicas
    bounds = cut_windows(n_windows, runs)
    halves = [range(a, b) for ends in bounds for a, b in pairwise(ends)]
    whole = tuple(range(a, b) for ends in bounds for a, b in zip(ends[:-2], ends[2:], strict=True))
    times = np.array(
        [[half.start in window for half in halves] for window in whole], dtype=np.int64
    )
    sums = sum_parts(objects, index, halves, metric=metric, noise=noise, run=run)
    trees = [*resampled_hierarchies(sums, times, shown=shown, linkage=linkage)]
    tracks = np.stack([_large(tree.cut(cutoff).labels, min_size) for tree in trees])
    n_tracks = 0
    for window in range(n_windows):
        before = tracks[window - 1] if window else np.full(tracks.shape[1], -1)
        tracks[window], n_tracks = _continue(before, tracks[window], n_tracks)
    return Windows(whole, frozen(tracks), cutoff)


def cut_windows(n_windows: int, runs: Sequence[int]) -> list[list[int]]:
    """Cut runs into halves of windows, as many for each as its share of all snapshots.

    Parameters
    ----------
    n_windows : int
        Windows in all, one at least for each run.
    runs : sequence of int
        Snapshots of each.

    Returns
    -------
    list of list of int
        Where halves begin and the last ends, run by run; a window is two neighbours of one run.

    Examples
    --------
    >>> cut_windows(3, [12, 8])
    [[0, 4, 8, 12], [12, 16, 20]]
    """
    if n_windows < max(2, len(runs)):
        none = "" if len(runs) == 1 else ", as none leads from one run into the next"
        raise ValueError(
            f"windows= takes {max(2, len(runs))} or more{none}, got {n_windows}: choose more"
        )
    shares = n_windows * np.asarray(runs) / sum(runs)
    counts = np.maximum(shares.astype(np.int64), 1)
    while counts.sum() < n_windows:
        counts[np.argmax(shares - counts)] += 1
    while counts.sum() > n_windows and counts.max() > 1:
        counts[np.argmin(np.where(counts > 1, shares - counts, np.inf))] -= 1
    for run, (length, count) in enumerate(zip(runs, counts.tolist(), strict=True)):
        if length < 2 * (count + 1):
            where = "" if len(runs) == 1 else f" in run {run + 1}"
            raise ValueError(
                f"windows={n_windows} needs at least {2 * (count + 1)} snapshots{where}, got "
                f"{length}: choose fewer windows"
            )
    begins = np.cumsum([0, *runs]).tolist()
    return [
        np.linspace(a, b, count + 2).astype(int).tolist()
        for (a, b), count in zip(pairwise(begins), counts.tolist(), strict=True)
    ]


def check_times(times: Sequence[int], runs: Sequence[int]) -> None:
    """Refuse times that no run is long enough for.

    Parameters
    ----------
    times : sequence of int
        Snapshots of a window.
    runs : sequence of int
        Snapshots of each run.
    """
    if min(times) < 2 or max(times) > max(runs):
        told = ",".join(map(str, times))
        longest = "" if len(runs) == 1 else ", as many as the longest run has,"
        raise ValueError(f"lags= are 2 to {max(runs)} snapshots{longest} each, got {told}")


def sigma_by_time(
    objects: Objects,
    index: Ints,
    times: Sequence[int],
    *,
    replicas: Sequence[int] | None = None,
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
    replicas : sequence of int, optional
        As for :func:`slide`.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        As for :func:`slide`.

    Returns
    -------
    ndarray, shape (times, pairs)
        Root of the mean over windows of σ² within each.
    """
    runs = objects.ensemble.replicas if replicas is None else replicas
    check_times(times, runs)
    centres = points(objects.centres())
    found = []
    errors = 0.0 if noise is None else noise(index)
    for time in times:
        inside, total = np.zeros(len(index)), np.zeros(len(index))
        for begin, end in pairwise(np.cumsum([0, *runs]).tolist()):
            parts = [range(k, k + time) for k in range(begin, end - time + 1, time)]
            if not parts:  # of a run that is too short
                continue
            sums = sum_parts(centres, index, parts, metric=metric)
            weight = sums.totals if sums.seen is None else np.maximum(sums.seen, 1e-30)
            shift = 0.0 if sums.first is None else sums.first.astype(np.float64) ** 2 / weight
            inside += (sums.second.astype(np.float64) - shift).sum(axis=1)
            total += sums.totals.sum() if sums.seen is None else sums.seen.sum(axis=1)
        squares = inside / total - (1 - 1 / time) * errors
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
