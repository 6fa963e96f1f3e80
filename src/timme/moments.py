"""The one reduction: moments of pair distances, summed over blocks of frames in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import moments as kernel
from timme.ensemble import Block, Ensemble
from timme.space import Boxes

Metric = Callable[[Coordinates, Coordinates], Coordinates]
"""Distances (…,) between points (…, dimensions) of two arrays of the same shape."""

Progress = Callable[[int, int], None]
"""Called with the work done and the whole work, in any unit."""

_TILE = 16_384  # pairs that one thread takes at a time


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of the distance of each pair over the snapshots in which both sites are seen."""

    count: Ints  # (pairs,), snapshots in common
    weight: Floats  # (pairs,), their weights added up
    mean: Floats  # (pairs,)
    m2: Floats  # (pairs,), weighted sum of squared deviations from the mean
    reach: Floats  # (pairs,), largest distance over half the width of the box; 0 in open space

    @classmethod
    def empty(cls, n_pairs: int) -> Moments:
        """Start with no snapshot.

        Parameters
        ----------
        n_pairs : int
            Number of pairs.

        Returns
        -------
        Moments
            All zero.
        """
        return cls(np.zeros(n_pairs, np.int64), *(np.zeros(n_pairs) for _ in range(4)))

    @property
    def variance(self) -> Floats:
        """Population variance σ² of each distance; NaN where no snapshot is in common."""
        return np.divide(
            self.m2, self.weight, where=self.count > 0, out=np.full_like(self.m2, np.nan)
        )

    def merge(self, other: Moments) -> Moments:
        """Return the moments over the snapshots of both.

        Parameters
        ----------
        other : Moments
            Of the same pairs over other snapshots.

        Returns
        -------
        Moments
            As if all had been measured together.
        """
        weight, mean, m2 = self.weight.copy(), self.mean.copy(), self.m2.copy()
        kernel.merge_moments(weight, mean, m2, other.weight, other.mean, other.m2)
        reach = np.maximum(self.reach, other.reach)
        return Moments(self.count + other.count, weight, mean, m2, reach)


def moments(
    ensemble: Ensemble,
    pairs: Ints,
    *,
    metric: Metric | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Moments:
    """Sum the distances of pairs of sites over all snapshots.

    Blocks of frames follow one another; within a block, threads share the pairs. The result is
    the same to the last bit for any number of threads.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    metric : callable, optional
        Distance of two arrays of points; Euclidean, by the shortest image, if not given.
    workers : int, optional
        Number of threads; all cores by default.
    progress : callable, optional
        Called with snapshots done and their number.

    Returns
    -------
    Moments
        Of each pair.
    """
    result = Moments.empty(len(pairs))
    tiles = [slice(start, start + _TILE) for start in range(0, len(pairs), _TILE)]
    with ThreadPoolExecutor(workers or available_cores()) as pool:
        for block in ensemble.blocks():
            fold = _euclidean(block) if metric is None else _by_metric(block, metric)
            for _ in pool.map(lambda tile, fold=fold: fold(pairs[tile], result, tile), tiles):
                pass
            if progress is not None:
                progress(block.start + len(block.weights), ensemble.n_snapshots)
    return result


def available_cores() -> int:
    """Count the cores this process may use.

    Returns
    -------
    int
        At least 1.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_Fold = Callable[[Ints, Moments, slice], None]


def _euclidean(block: Block) -> _Fold:
    n_frames, _, n_dimensions = block.coordinates.shape
    boxes = Boxes.of(block.boxes, n_frames, n_dimensions)
    xyz = np.ascontiguousarray(block.coordinates.transpose(1, 2, 0), dtype=np.float64)

    def fold(pairs: Ints, into: Moments, tile: slice) -> None:
        kernel.fold_block(
            xyz,
            block.weights,
            boxes.matrices,
            boxes.inverses,
            boxes.kind,
            pairs,
            into.count[tile],
            into.weight[tile],
            into.mean[tile],
            into.m2[tile],
            into.reach[tile],
        )

    return fold


def _by_metric(block: Block, metric: Metric) -> _Fold:
    points = block.coordinates.astype(np.float64)
    unseen = np.asarray(np.isnan(points).any(axis=2))

    def fold(pairs: Ints, into: Moments, tile: slice) -> None:
        a, b = pairs.T
        distances = np.asarray(metric(points[:, a], points[:, b]), dtype=np.float64)
        _check_metric(distances, unseen[:, a] | unseen[:, b])
        distances = np.where(unseen[:, a] | unseen[:, b], np.nan, distances)
        kernel.fold_distances(
            np.ascontiguousarray(distances.T),
            block.weights,
            into.count[tile],
            into.weight[tile],
            into.mean[tile],
            into.m2[tile],
        )

    return fold


def _check_metric(distances: Floats, unseen: Bools) -> None:
    if distances.shape != unseen.shape:
        raise ValueError(
            f"a metric must return one distance for each of {unseen.shape} points, "
            f"got shape {distances.shape}: reduce over the last axis"
        )
    if not np.isfinite(distances[~unseen]).all() or (distances[~unseen] < 0).any():
        raise ValueError("a metric must return finite distances that are not negative")
