"""The same blocks and tiles on dask: a cluster of computers does the work, the bits stay the same.

A task is one block of frames and a run of pairs. Workers open trajectories themselves; frames that
are in memory here are sent block by block, unless so few pairs are asked for that they are measured
sooner than sent. Whatever a worker held is made again by another one if it dies, and what they find
is merged here in the order of the blocks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Ints
from timme._version import __version__
from timme.engine.compile_lock import first_time, merge_tiles
from timme.engine.connect import LOST
from timme.engine.moments import Merge, Metric, Moments, Piece, PreparedBlock, pair_tiles
from timme.engine.protocol import Window
from timme.engine.threads import Threads, in_order, part_length
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble

if TYPE_CHECKING:
    from distributed import Client, Future

_TASK_TILES = 24  # tiles of pairs in a task at most: a fraction of a second, 30 MB of results
_TASK_SECONDS = 0.25  # that a task takes about, where it may be as many calls as one likes
_AHEAD = 3  # tasks of each thread that wait or whose results do
_FEW = 16  # pairs of each site: to measure them takes less than to send where it is
_DEATHS = 8  # how often a task is tried again after dask gives it up: workers died under it

_reading = threading.Lock()  # libraries of file formats do not read in two threads at a time


@dataclass(frozen=True, slots=True)
class Cluster:
    """The workers of a dask cluster.

    To be passed as ``workers=`` to :func:`timme.measure` and :func:`timme.cluster`. Results are
    those of one process to the last bit.
    """

    client: Client

    def __post_init__(self) -> None:
        """Refuse workers of another version, whose results would differ."""
        versions = self.client.run(_version, on_error="return")
        for address, version in versions.items():
            if version != _version():
                raise ValueError(
                    f"workers need timme {_version()}, but {address} has {version}: "
                    "install the same version everywhere"
                )

    @property
    def threads_here(self) -> int:
        """Threads of this process that share the work: it is done elsewhere."""
        return 1

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, pieces: Sequence[Piece]
    ) -> Generator[Merge]:
        """Measure pieces of blocks and runs of pairs as tasks, some ahead.

        Parameters
        ----------
        ensemble, pairs, metric, pieces
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        callable
            As for :class:`timme.engine.protocol.Engine`.
        """
        if len(pairs) <= _FEW * ensemble.n_sites and ensemble.frames.elsewhere() is None:
            yield from Threads(self.threads_here).merges(ensemble, pairs, metric, pieces)
            return
        runs = _runs(len(pairs), len(pieces), self._n_threads)
        tasks = self._tasks(ensemble, [pairs[run] for run in runs], metric, pieces)
        with closing(self._in_order(tasks)) as waiting:

            def merge(into: Sequence[Moments]) -> None:
                for run, packed in zip(runs, waiting, strict=False):  # runs end first
                    found = packed.unpacked()
                    for each in into:
                        each.part(run).add(found)

            for _ in pieces:
                yield merge

    def blocks(
        self,
        function: Callable[[Any, Block], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[Iterable[Any]]:
        """Call a function for parts of each block, as tasks.

        Parameters
        ----------
        function, shared, ensemble, starts
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        iterable
            As for :class:`timme.engine.protocol.Engine`.
        """
        with closing(self._parts(function, shared, ensemble, starts)) as results:
            for start in starts:
                yield islice(results, len(self._firsts(ensemble, start)))

    def tiles(
        self,
        prepare: Callable[[Any, Block], Iterable[Window]],
        function: Callable[[Any, Any], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[tuple[int, Iterable[Any]]]:
        """Call a function for all tiles of the windows of parts of each block, as tasks.

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
        search = partial(_search, prepare, function)
        with closing(self._parts(search, shared, ensemble, starts)) as results:
            yield from chain.from_iterable(results)

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Generator[Any]:
        """Call a function for each item, as tasks of several items if they take little time.

        Parameters
        ----------
        function, shared, items
            As for :class:`timme.engine.protocol.Engine`.

        Yields
        ------
        object
            As for :class:`timme.engine.protocol.Engine`.
        """
        fair = max(1, len(items) // (8 * self._n_threads))
        at_once = 1  # until one has told how long it takes

        def tasks() -> Iterator[Future[Any]]:
            sent = self._submit(_keep, shared)
            left = iter(items)
            while some := list(islice(left, at_once)):
                yield self._submit(_call_all, function, sent, some)

        with closing(self._in_order(tasks())) as results:
            for seconds, found in results:
                at_once = max(1, min(fair, int(_TASK_SECONDS * len(found) / max(seconds, 1e-9))))
                yield from found

    @property
    def _n_threads(self) -> int:
        counts: dict[str, int] = self.client.nthreads()
        return max(1, sum(counts.values()))

    def _firsts(self, ensemble: Ensemble, start: int) -> range:
        """Where the parts of a block begin, counted from its first snapshot."""
        n_frames = min(ensemble.block_length, ensemble.n_snapshots)
        length = part_length(n_frames, ensemble.n_sites, self._n_threads)
        return range(0, min(n_frames, ensemble.n_snapshots - start), length)

    def _parts(
        self,
        function: Callable[[Any, Block], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[Any]:
        """Call a function for parts of blocks; those of all blocks come in order."""

        def tasks() -> Iterator[Future[Any]]:
            sent = self._submit(_keep, shared)
            for start, block in zip(starts, self._sent_blocks(ensemble, starts), strict=True):
                firsts = self._firsts(ensemble, start)
                for first in firsts:
                    part = self._submit(_part, block, first, firsts.step)
                    yield self._submit(_call, function, sent, part)

        return self._in_order(tasks())

    def _tasks(
        self, ensemble: Ensemble, runs: list[Ints], metric: Metric | None, pieces: Sequence[Piece]
    ) -> Iterator[Future[Any]]:
        """Submit tasks block by block, so that few blocks are held at a time."""
        sent = [self._submit(_keep, run) for run in runs]
        starts = list(dict.fromkeys(piece.block for piece in pieces))
        blocks = self._sent_blocks(ensemble, starts)
        for (_, of_block), block in zip(groupby(pieces, attrgetter("block")), blocks, strict=True):
            for piece in of_block:
                prepared = self._submit(_prepare, block, piece, metric)
                for run in sent:
                    yield self._submit(_measure, prepared, run)

    def _sent_blocks(self, ensemble: Ensemble, starts: Sequence[int]) -> Iterator[Any]:
        """Blocks as workers read them, or those in memory here, one after another."""
        frames = ensemble.frames.elsewhere()
        opened = None if frames is None else self._submit(_keep, replace(ensemble, frames=frames))
        for start in starts:
            if opened is None:
                yield self._submit(_keep, ensemble.block(start))
            else:
                yield self._submit(_read, opened, start)

    def _in_order(self, tasks: Iterator[Future[Any]]) -> Generator[Any]:
        return in_order(tasks, _result, ahead=_AHEAD * self._n_threads)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        import dask

        # Not scattered: what a dead worker held is sent again by the scheduler, which keeps tasks.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            try:
                return self.client.submit(function, *arguments, pure=False)
            except TypeError as error:
                if "serialize" not in str(error):
                    raise
                reason = " ".join(str(error.__cause__ or error).split())
                raise ValueError(
                    f"what is sent to workers must be picklable ({reason}): "
                    "write the metric as a plain function that uses no open files or locks"
                ) from None


# ---- what workers do ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Packed:
    """Moments on their way: an array of one value is sent as that value."""

    n_pairs: int
    arrays: list[Any]

    @classmethod
    def of(cls, found: Moments) -> _Packed:
        arrays = [
            array[:1] if len(array) and (array == array[0]).all() else array
            for array in found.arrays
        ]
        return cls(len(found.count), arrays)

    def unpacked(self) -> Moments:
        full = [np.array(np.broadcast_to(array, self.n_pairs)) for array in self.arrays]
        return Moments(*full)


def _keep(value: Any) -> Any:
    """Hold what tasks share."""
    return value


def _read(ensemble: Ensemble, start: int) -> Block:
    with _reading:
        return ensemble.block(start)


def _part(block: Block, first: int, length: int) -> Block:
    return next(block.parts(length, first=first))


def _prepare(block: Block, piece: Piece, metric: Metric | None) -> PreparedBlock:
    return PreparedBlock(piece.of(block), metric)


def _measure(block: PreparedBlock, pairs: Ints) -> _Packed:
    found = Moments.empty(len(pairs))
    merge_tiles(block, pairs, found)
    return _Packed.of(found)


def _call(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> Any:
    with first_time(function, shared, item) as first:
        if first:
            return function(shared, item)
    return function(shared, item)


def _call_all(
    function: Callable[[Any, Any], Any], shared: Any, items: list[Any]
) -> tuple[float, list[Any]]:
    """Call a function for some items; tell how long it took as well."""
    start = time.perf_counter()
    found = [_call(function, shared, item) for item in items]
    return time.perf_counter() - start, found


def _search(
    prepare: Callable[[Any, Block], Iterable[Window]],
    function: Callable[[Any, Any], Any],
    shared: Any,
    part: Block,
) -> list[tuple[int, list[Any]]]:
    windows = prepare(shared, part)
    return [(window.stop, [function(window, t) for t in window.tiles]) for window in windows]


def _version() -> str:
    return __version__


# ---- what the client does ----------------------------------------------------------------------


def _runs(n_pairs: int, n_blocks: int, n_threads: int) -> list[slice]:
    """Cut pairs into runs of whole tiles: long enough to be worth a task, enough for all."""
    tiles = pair_tiles(n_pairs)
    fair = -(-len(tiles) * n_blocks // (4 * n_threads))
    step = max(1, min(_TASK_TILES, fair))
    return [
        slice(tiles[first].start, tiles[min(first + step, len(tiles)) - 1].stop)
        for first in range(0, len(tiles), step)
    ]


def _result(task: Future[Any]) -> Any:
    """Wait for a result; a task whose workers died is tried again, for they may have been shot."""
    from distributed import KilledWorker

    deaths = 0
    while True:
        try:
            return task.result()
        except KilledWorker as error:
            deaths += 1
            if deaths > _DEATHS:
                raise RuntimeError(
                    "worker after worker died over the same task, the last at "
                    f"{error.last_worker.address}: give workers more memory or fewer threads, and "
                    "look into their logs"
                ) from None
            task.retry()
        except CancelledError:
            raise ConnectionError(LOST) from None
