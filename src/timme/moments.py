"""The one reduction: moments of pair distances, summed over blocks of frames in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import moments as kernel
from timme._kernels.space import OPEN
from timme.checkpoint import Checkpoint, digest
from timme.ensemble import Block, Ensemble
from timme.space import Boxes

Metric = Callable[[Coordinates, Coordinates], Coordinates]
"""Distances (…,) between points (…, dimensions) of two arrays of the same shape."""

Progress = Callable[[int, int], None]
"""Called with the work done and the whole work, in any unit."""

_TILE = 32_768  # pairs that one worker takes at a time, at most


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
        # Not np.zeros, whose memory comes page by page, slowly, while the loops run.
        return cls(np.full(n_pairs, 0), *(np.full(n_pairs, 0.0) for _ in range(4)))

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
        merged = Moments.empty(len(self.count))
        kernel.merge_moments(*merged.arrays, *self.arrays)
        kernel.merge_moments(*merged.arrays, *other.arrays)
        return merged

    @property
    def arrays(self) -> tuple[Ints, Floats, Floats, Floats, Floats]:
        """All arrays, in the order of the fields."""
        return self.count, self.weight, self.mean, self.m2, self.reach

    def part(self, tile: slice) -> Moments:
        """Return some of the pairs.

        Parameters
        ----------
        tile : slice
            Which pairs.

        Returns
        -------
        Moments
            A view: what is merged into it is merged into the whole.
        """
        return Moments(
            self.count[tile], self.weight[tile], self.mean[tile], self.m2[tile], self.reach[tile]
        )


class Engine(Protocol):
    """What does the work: threads of this process, or a cluster of computers.

    Whatever does it, blocks are merged in their order, so that results are the same to the last
    bit.
    """

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, starts: Sequence[int]
    ) -> Iterator[Callable[[Moments], None]]:
        """Measure blocks; yield, for each in order, a function that merges it into moments.

        Each is called before the next is asked for: blocks may share memory.

        Parameters
        ----------
        ensemble : Ensemble
            Snapshots.
        pairs : ndarray, shape (pairs, 2)
            Pairs of sites.
        metric : callable or None
            Distance, Euclidean if None.
        starts : sequence of int
            First snapshots of the blocks.

        Yields
        ------
        callable
            Takes the moments of the blocks before, and changes them.
        """

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Iterator[Any]:
        """Yield ``function(shared, item)`` for each item, in order.

        Parameters
        ----------
        function : callable
            A function of a module, so that it can be sent elsewhere.
        shared : object
            What all calls need, sent once.
        items : sequence
            What each call needs.

        Yields
        ------
        object
            Results.
        """


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of this process."""

    count: int | None = None  # all cores if None

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, starts: Sequence[int]
    ) -> Iterator[Callable[[Moments], None]]:
        """Measure one block after another, the tiles of pairs in threads.

        Parameters
        ----------
        ensemble, pairs, metric, starts
            As for :class:`Engine`.

        Yields
        ------
        callable
            As for :class:`Engine`.
        """
        with ThreadPoolExecutor(self.count or available_cores()) as pool:
            room: Floats | None = None  # the first block is the largest
            for start in starts:
                block = ensemble.block(start)
                room = _room_for(block) if room is None else room
                prepared = PreparedBlock(block, metric, room)

                def merge(into: Moments, prepared: PreparedBlock = prepared) -> None:
                    def fold(tile: slice) -> None:
                        prepared.merge(pairs[tile], into.part(tile))

                    for _ in pool.map(fold, pair_tiles(len(pairs))):
                        pass

                yield merge

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Iterator[Any]:
        """Call a function for each item, in threads.

        Parameters
        ----------
        function, shared, items
            As for :class:`Engine`.

        Yields
        ------
        object
            As for :class:`Engine`.
        """
        with ThreadPoolExecutor(self.count or available_cores()) as pool:
            yield from pool.map(partial(function, shared), items)


def engine_of(workers: int | Engine | None) -> Engine:
    """Return what does the work.

    Parameters
    ----------
    workers : int, Engine or None
        Number of threads, all cores if None, or an engine as it is.

    Returns
    -------
    Engine
        Threads, or the engine.
    """
    if workers is None:
        return Threads()
    if isinstance(workers, int):
        if workers < 1:
            raise ValueError(f"at least 1 worker is needed, got {workers}")
        return Threads(workers)
    return workers


def moments(
    ensemble: Ensemble,
    pairs: Ints,
    *,
    metric: Metric | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Moments:
    """Sum the distances of pairs of sites over all snapshots.

    Blocks of frames are merged one after another; within a block, workers share the pairs. The
    result is the same to the last bit for any number of workers.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    metric : callable, optional
        Distance of two arrays of points; Euclidean, by the shortest image, if not given.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine.
    progress : callable, optional
        Called with snapshots done and their number.
    checkpoint : Checkpoint, optional
        Where sums are saved at intervals, and from which they go on.

    Returns
    -------
    Moments
        Of each pair.
    """
    saved = _Saved(checkpoint, ensemble, pairs)
    running, first = saved.recalled()
    starts = range(first, ensemble.n_snapshots, ensemble.block_length)
    merges = engine_of(workers).merges(ensemble, pairs, metric, starts)
    with saved.under_way():
        for start, merge in zip(starts, merges, strict=True):
            merge(running)
            done = min(start + ensemble.block_length, ensemble.n_snapshots)
            saved.keep(running, done)
            if progress is not None:
                progress(done, ensemble.n_snapshots)
    saved.forget()
    return running


class _Saved:
    """The sums of one reduction in a checkpoint; does nothing where there is none."""

    _NAME = "moments"

    def __init__(self, checkpoint: Checkpoint | None, ensemble: Ensemble, pairs: Ints) -> None:
        self._checkpoint = checkpoint
        self._n_pairs = len(pairs)
        if checkpoint is not None:
            first, _ = ensemble.snapshot(0)
            self._key = digest(ensemble.frames.shape, [ensemble.block_length], first, pairs)

    def recalled(self) -> tuple[Moments, int]:
        """Return the sums so far, and the snapshot from which to go on."""
        if self._checkpoint is not None:
            kept = self._checkpoint.recall(self._NAME, key=self._key)
            if kept is not None:
                sums = (kept[field.name] for field in fields(Moments))
                return Moments(*sums), int(kept["done"])
        return Moments.empty(self._n_pairs), 0

    def under_way(self) -> AbstractContextManager[None]:
        return nullcontext() if self._checkpoint is None else self._checkpoint.under_way()

    def keep(self, running: Moments, done: int) -> None:
        if self._checkpoint is not None:
            sums = {field.name: getattr(running, field.name) for field in fields(Moments)}
            self._checkpoint.keep(self._NAME, key=self._key, done=done, **sums)
            self._checkpoint.tick()

    def forget(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.forget(self._NAME)


def pair_tiles(n_pairs: int) -> list[slice]:
    """Cut a list of pairs into the tiles that one worker takes at a time.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.

    Returns
    -------
    list of slice
        In order.
    """
    tile = min(_TILE, max(1024, n_pairs // 16))  # enough for all workers
    return [slice(start, start + tile) for start in range(0, n_pairs, tile)]


class PreparedBlock:
    """A block of frames laid out for the loops: the frames of a site next to one another.

    Parameters
    ----------
    block : Block
        Consecutive snapshots.
    metric : callable, optional
        Distance, Euclidean if not given.
    room : ndarray, optional
        Memory for as many coordinates, to be used again.
    """

    def __init__(
        self, block: Block, metric: Metric | None = None, room: Floats | None = None
    ) -> None:
        n_frames, _, n_dimensions = block.coordinates.shape
        self._metric = metric
        self._weights = np.array(block.weights)
        self._boxes = Boxes.of(block.boxes, n_frames, n_dimensions)
        self._plain = block.complete and self._boxes.kind == OPEN
        if metric is None:
            laid_out = block.coordinates.transpose(1, 2, 0)
            room = _room_for(block) if room is None else room
            self._xyz = room[: laid_out.size].reshape(laid_out.shape)
            self._xyz[:] = laid_out
        else:
            self._points = block.coordinates.astype(np.float64)
            self._unseen = np.asarray(np.isnan(self._points).any(axis=2))

    def merge(self, pairs: Ints, into: Moments) -> None:
        """Merge the block into the moments of pairs.

        Parameters
        ----------
        pairs : ndarray, shape (pairs, 2)
            Pairs of sites.
        into : Moments
            Of each pair over the blocks before; changed in place.
        """
        pairs = np.array(pairs)  # loops are compiled for arrays they may write
        count, weight, mean, m2, reach = into.arrays
        if self._metric is not None:
            distances = self._distances(pairs, self._metric)
            kernel.add_distances(distances, self._weights, count, weight, mean, m2)
        elif self._plain:
            kernel.add_all_frames(self._xyz, pairs, count, weight, mean, m2)
        else:
            boxes = self._boxes
            kernel.add_frames(
                self._xyz,
                self._weights,
                boxes.matrices,
                boxes.inverses,
                boxes.kind,
                pairs,
                count,
                weight,
                mean,
                m2,
                reach,
            )

    def _distances(self, pairs: Ints, metric: Metric) -> Floats:
        a, b = pairs.T
        unseen = self._unseen[:, a] | self._unseen[:, b]
        distances = np.asarray(metric(self._points[:, a], self._points[:, b]), dtype=np.float64)
        _check_metric(distances, unseen)
        return np.ascontiguousarray(np.where(unseen, np.nan, distances).T)


def _room_for(block: Block) -> Floats:
    return np.empty(block.coordinates.size, np.float32 if block.single else np.float64)


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


def _check_metric(distances: Floats, unseen: Bools) -> None:
    if distances.shape != unseen.shape:
        raise ValueError(
            f"a metric must return one distance for each of {unseen.shape} points, "
            f"got shape {distances.shape}: reduce over the last axis"
        )
    if not np.isfinite(distances[~unseen]).all() or (distances[~unseen] < 0).any():
        raise ValueError("a metric must return finite distances that are not negative")
