"""The same blocks and tiles on dask: a cluster of computers does the work, the bits stay the same.

A task is one block of frames and a run of pairs. Workers open trajectories themselves; frames that
are in memory here are sent block by block. Whatever a worker held is made again by another one if
it dies, and what they find is merged here in the order of the blocks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Ints
from timme._kernels import moments as kernel
from timme.compiling import first_time, merge_tiles
from timme.engine import available_cores, in_order, part_length
from timme.ensemble import Block, Ensemble
from timme.frames import Frames
from timme.moments import Metric, Moments, PreparedBlock, pair_tiles

if TYPE_CHECKING:
    from distributed import Client, Future

_TASK_TILES = 24  # tiles of pairs in a task at most: a fraction of a second, 30 MB of results
_AHEAD = 3  # tasks of each thread that wait or whose results do
_DEATHS = 8  # how often a task is tried again after dask gives it up: workers died under it
_SECONDS_TO_CONNECT = 5
_SECONDS = 60  # in which workers must have come
_LOST = "the dask cluster was closed or lost before the end: start it again"

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

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, starts: Sequence[int]
    ) -> Generator[Callable[[Moments], None]]:
        """Measure blocks of frames and runs of pairs as tasks, some ahead.

        Parameters
        ----------
        ensemble, pairs, metric, starts
            As for :class:`timme.engine.Engine`.

        Yields
        ------
        callable
            As for :class:`timme.engine.Engine`.
        """
        runs = _runs(len(pairs), len(starts), self._n_threads)
        tasks = self._tasks(ensemble, [pairs[run] for run in runs], metric, starts)
        with closing(self._in_order(tasks)) as waiting:

            def merge(into: Moments) -> None:
                for run, found in zip(runs, waiting, strict=False):  # runs end first
                    kernel.merge_moments(*into.part(run).arrays, *found.unpacked().arrays)

            for _ in starts:
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
            As for :class:`timme.engine.Engine`.

        Yields
        ------
        iterable
            As for :class:`timme.engine.Engine`.
        """
        n_frames = min(ensemble.block_length, ensemble.n_snapshots)
        length = part_length(n_frames, ensemble.n_sites, self._n_threads)

        def parts(start: int) -> range:
            return range(0, min(n_frames, ensemble.n_snapshots - start), length)

        def tasks() -> Iterator[Future[Any]]:
            sent = self._submit(_kept, shared)
            for start, block in zip(starts, self._sent_blocks(ensemble, starts), strict=True):
                for first in parts(start):
                    part = self._submit(_part, block, first, length)
                    yield self._submit(_called, function, sent, part)

        with closing(self._in_order(tasks())) as results:
            for start in starts:
                yield islice(results, len(parts(start)))

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Generator[Any]:
        """Call a function for each item, as tasks.

        Parameters
        ----------
        function, shared, items
            As for :class:`timme.engine.Engine`.

        Yields
        ------
        object
            As for :class:`timme.engine.Engine`.
        """

        def tasks() -> Iterator[Future[Any]]:
            sent = self._submit(_kept, shared)
            for item in items:
                yield self._submit(_called, function, sent, item)

        return self._in_order(tasks())

    @property
    def _n_threads(self) -> int:
        counts: dict[str, int] = self.client.nthreads()
        return max(1, sum(counts.values()))

    def _tasks(
        self, ensemble: Ensemble, runs: list[Ints], metric: Metric | None, starts: Sequence[int]
    ) -> Iterator[Future[Any]]:
        """Submit tasks block by block, so that few blocks are held at a time."""
        sent = [self._submit(_kept, run) for run in runs]
        for block in self._sent_blocks(ensemble, starts):
            prepared = self._submit(PreparedBlock, block, metric)
            for run in sent:
                yield self._submit(_measured, prepared, run)

    def _sent_blocks(self, ensemble: Ensemble, starts: Sequence[int]) -> Iterator[Any]:
        """Blocks as workers read them, or those in memory here, one after another."""
        source = _elsewhere(ensemble)
        opened = None if source is None else self._submit(_kept, source)
        for start in starts:
            if opened is None:
                yield self._submit(_kept, ensemble.block(start))
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


@contextmanager
def connect(where: str, *, workers: int | None = None) -> Iterator[Client]:
    """Start workers on this computer, or reach those of a cluster that runs.

    Parameters
    ----------
    where : str
        ``"local"``, or the address of a dask scheduler, such as ``tcp://10.0.0.1:8786``.
    workers : int, optional
        Number of local workers, one per core by default.

    Yields
    ------
    Client
        Connected; what was started here is stopped in the end.
    """
    _require_dask()
    if where == "local":
        with _local(available_cores() if workers is None else workers) as client:
            yield client
        return
    if workers is not None:
        raise ValueError(f"a number of workers is for a local cluster, not for {where}")
    from distributed import Client

    with _silence():
        try:
            _greet(where)
            client = Client(where, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split()) or "no answer"
            raise ConnectionError(
                f"no dask scheduler can be reached at {where!r} ({reason}): "
                "start one with `dask scheduler` and workers, or use `local`"
            ) from None
        with client:
            try:
                _wait(client, 1)
                yield client
            except OSError:
                if client.status == "running":
                    raise
                raise ConnectionError(_LOST) from None


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


def _kept(value: Any) -> Any:
    """Hold what tasks share."""
    return value


def _read(ensemble: Ensemble, start: int) -> Block:
    with _reading:
        return ensemble.block(start)


def _part(block: Block, first: int, length: int) -> Block:
    return next(block.parts(length, first=first))


def _measured(block: PreparedBlock, pairs: Ints) -> _Packed:
    found = Moments.empty(len(pairs))
    merge_tiles(block, pairs, found)
    return _Packed.of(found)


def _called(function: Callable[[Any, Any], Any], shared: Any, item: Any) -> Any:
    with first_time(function, shared, item) as first:
        if first:
            return function(shared, item)
    return function(shared, item)


def _version() -> str:
    return str(import_module("timme").__version__)  # which names modules above this one


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


def _elsewhere(ensemble: Ensemble) -> Ensemble | None:
    """Return an ensemble of files as others can open it; None for frames in memory."""
    frames = _with_whole_paths(ensemble.frames)
    return None if frames is None else replace(ensemble, frames=frames)


def _with_whole_paths(frames: Any) -> Frames | None:
    if hasattr(frames, "files"):
        files = tuple(replace(file, path=str(Path(file.path).absolute())) for file in frames.files)
        made: Frames = replace(frames, files=files)
        return made
    if hasattr(frames, "frames"):
        inner = _with_whole_paths(frames.frames)
        return None if inner is None else replace(frames, frames=inner)
    return None


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
            raise ConnectionError(_LOST) from None


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError(
            "clusters need dask: install it with `pip install 'pytimme[cluster]'`"
        ) from None


def _greet(where: str) -> None:
    """Make sure that a scheduler answers.

    A client waits forever for anything else that listens there, and one of what is no address
    cannot be closed again.
    """
    from distributed.comm.core import connect as comm_with

    async def greeted() -> None:
        comm = await comm_with(where, timeout=_SECONDS_TO_CONNECT)
        comm.abort()

    with ThreadPoolExecutor(1) as pool:  # notebooks have a loop in this thread
        answer = pool.submit(asyncio.run, asyncio.wait_for(greeted(), 2 * _SECONDS_TO_CONNECT))
    try:
        answer.result()
    except (OSError, ValueError):
        raise
    except Exception:  # noqa: BLE001, anything may come from anything that listens there
        raise ValueError("what answers is no scheduler") from None


def _wait(client: Client, count: int) -> None:
    try:
        client.wait_for_workers(count, timeout=_SECONDS)
    except TimeoutError:
        raise ConnectionError(
            f"{count} workers did not come within {_SECONDS} s: look into their logs"
        ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep dask's own messages off the terminal; what matters is raised."""
    names = [
        name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"
    ]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:  # some have levels of their own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _local(count: int) -> Iterator[Client]:
    """Run a scheduler in this process and workers in others, all on the loopback."""
    if count < 1:
        raise ValueError(f"at least 1 worker is needed, got {count}")
    from distributed import Client, LocalCluster

    with (
        _silence(),
        tempfile.TemporaryDirectory(prefix="timme-", ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        _workers(cluster.scheduler_address, count, folder),
    ):
        _wait(client, count)
        yield client


@contextmanager
def _workers(scheduler: str, count: int, folder: str) -> Iterator[None]:
    """Start workers by command: processes that dask starts itself run the user's script again."""
    options = (
        f"--nworkers {count} --nthreads 1 --memory-limit 0 --death-timeout 10 "
        "--host 127.0.0.1 --no-dashboard --dashboard-address 127.0.0.1:0"
    )
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, *options.split()]
    quiet = {"DASK_LOGGING__DISTRIBUTED": "critical"}
    process = subprocess.Popen(  # noqa: S603, a command of our own
        [*command, "--local-directory", folder],
        env=os.environ | quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
