"""Threads of this process: blocks one after another, shared by the cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from timme._arrays import Floats, Ints
from timme.engine.moments import (
    Merge,
    Metric,
    Moments,
    Piece,
    PreparedBlock,
    pair_tiles,
    room_for,
)
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble

_PART_POINTS = 50_000  # points of all snapshots in one part of a block, about


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of this process."""

    count: int | None = None  # all cores if None

    @property
    def threads_here(self) -> int:
        """Threads of this process that share the work."""
        return self.count or available_cores()

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, pieces: Sequence[Piece]
    ) -> Generator[Merge]:
        """Measure one piece after another, the tiles of pairs in threads.

        Parameters
        ----------
        ensemble, pairs, metric, pieces
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        callable
            As for :class:`timme.engine.protocol.Engine`.
        """
        with ThreadPoolExecutor(self.threads_here) as pool:
            for prepared in _prepare(ensemble, metric, pieces):

                def merge(into: Sequence[Moments], prepared: PreparedBlock = prepared) -> None:
                    def fold(tile: slice) -> None:
                        _fold(prepared, pairs[tile], [each.part(tile) for each in into])

                    for _ in pool.map(fold, pair_tiles(len(pairs))):
                        pass

                yield merge

    def blocks(
        self,
        function: Callable[[Any, Block], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[Iterable[Any]]:
        """Read one block after another, and call a function for parts of it in threads.

        Parameters
        ----------
        function, shared, ensemble, starts
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        iterable
            As for :class:`timme.engine.protocol.Engine`.
        """
        count = self.threads_here
        with ThreadPoolExecutor(count) as pool:
            for block in read_ahead(ensemble, starts):
                n_frames, n_points, _ = block.coordinates.shape
                length = part_length(n_frames, n_points, count)
                tasks = (pool.submit(function, shared, part) for part in block.parts(length))
                del block  # which tasks hold for as long as they need it
                yield in_order(tasks, Future.result, ahead=count)

    def tiles(
        self,
        prepare: Callable[[Any, Block], Iterable[Any]],
        function: Callable[[Any, Any], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[tuple[int, Iterable[Any]]]:
        """Read one block after another; call a function for the tiles of its windows in threads.

        Parameters
        ----------
        prepare, function, shared, ensemble, starts
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        stop : int
            As for :class:`timme.engine.protocol.Engine`.
        results : iterable
            As for :class:`timme.engine.protocol.Engine`.
        """
        count = self.threads_here
        windows = _windows(prepare, shared, ensemble, starts)
        with ThreadPoolExecutor(count) as pool:
            for window in windows if count == 1 else _make_ahead(windows):
                tasks = (pool.submit(function, window, tile) for tile in window.tiles)
                yield window.stop, in_order(tasks, Future.result, ahead=4 * count)
                del window, tasks  # before the next is made

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Generator[Any]:
        """Call a function for each item, in threads.

        Parameters
        ----------
        function, shared, items
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        object
            As for :class:`timme.engine.protocol.Engine`.
        """
        count = self.threads_here
        if 1 in {len(items), count}:  # for which no thread needs to be started
            yield from (function(shared, item) for item in items)
            return
        with ThreadPoolExecutor(count) as pool:
            tasks = (pool.submit(function, shared, item) for item in items)
            yield from in_order(tasks, Future.result, ahead=4 * count)


def _fold(prepared: PreparedBlock, pairs: Ints, into: Sequence[Moments]) -> None:
    """Merge a block into the moments of a tile of pairs, of all parts that it belongs to."""
    if len(into) == 1:
        prepared.merge(pairs, into[0])
        return
    alone = Moments.empty(len(pairs))  # measured once, and still in the cache for all parts
    prepared.merge(pairs, alone)
    for each in into:
        each.add(alone)


def _prepare(
    ensemble: Ensemble, metric: Metric | None, pieces: Sequence[Piece]
) -> Iterator[PreparedBlock]:
    """Read one block after another, and lay its pieces out in the same memory."""
    rooms = dict[bool, Floats]()  # for single precision or not; the first block is the largest
    blocks = read_ahead(ensemble, list(dict.fromkeys(piece.block for piece in pieces)))
    for _, of_block in groupby(pieces, attrgetter("block")):
        block: Block | None = next(blocks)
        waiting = deque(of_block)
        while waiting and block is not None:
            cut = waiting.popleft().of(block)
            if cut.single not in rooms:
                rooms[cut.single] = room_for(replace(block, single=cut.single))
            prepared = PreparedBlock(cut, metric, rooms[cut.single])
            del cut
            if not waiting:
                block = None  # while it is measured
            yield prepared


def read_ahead(ensemble: Ensemble, starts: Sequence[int]) -> Generator[Block]:
    """Read one block after another, each while the one before it is worked on.

    Nobody else may read the ensemble meanwhile: files are read by one thread at a time.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    starts : sequence of int
        First snapshot of each block.

    Yields
    ------
    Block
        In order. What goes wrong with one is raised when its turn comes.
    """
    with ThreadPoolExecutor(1, "timme-reader") as reader:
        blocks = (reader.submit(ensemble.block, start) for start in starts)
        yield from in_order(blocks, Future.result, ahead=1)


def _windows(
    prepare: Callable[[Any, Block], Iterable[Any]],
    shared: object,
    ensemble: Ensemble,
    starts: Sequence[int],
) -> Generator[Any]:
    """Prepare the windows of one block after another."""
    for block in read_ahead(ensemble, starts):
        yield from prepare(shared, block)
        del block


def _make_ahead(things: Generator[Any]) -> Generator[Any]:
    """Make each of some things, none of which is None, while the one before it is worked on."""
    with closing(things), ThreadPoolExecutor(1, "timme-maker") as maker:
        upcoming = maker.submit(next, things, None)
        while (made := upcoming.result()) is not None:
            upcoming = maker.submit(next, things, None)
            yield made
            del made


def in_order(tasks: Iterable[Any], result: Callable[[Any], Any], *, ahead: int) -> Generator[Any]:
    """Yield results in the order of tasks, with a bounded number of them under way.

    Parameters
    ----------
    tasks : iterable
        Each is started when it is asked for.
    result : callable
        Waits for the result of one.
    ahead : int
        Number of tasks that are started before the result of one is waited for.

    Yields
    ------
    object
        Results. If no more are wanted, tasks that wait are cancelled.
    """
    waiting = deque[Any]()
    try:
        for task in tasks:
            waiting.append(task)
            if len(waiting) > ahead:
                yield result(waiting.popleft())
        while waiting:
            yield result(waiting.popleft())
    finally:
        for task in waiting:
            task.cancel()


def part_length(n_frames: int, n_points: int, n_threads: int) -> int:
    """Return how many snapshots of a block a thread takes at a time.

    Parameters
    ----------
    n_frames, n_points : int
        Shape of the block.
    n_threads : int
        Number of threads.

    Returns
    -------
    int
        Few enough for all threads to have some, and for the memory that results take.
    """
    return min(-(-n_frames // (4 * n_threads)), max(1, _PART_POINTS // max(1, n_points)))


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
