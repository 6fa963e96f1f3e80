"""Who does the work: threads of this process, or the workers of a dask cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numba
from llvmlite.binding import get_host_cpu_name

from timme._text import one_line
from timme.ensemble import Block, Ensemble

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Task

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

_ANSWERING = 5.0  # seconds in which a scheduler answers, and between two questions to it
_COMING = 25.0  # seconds in which a worker comes, or comes back
_AHEAD = 3  # tasks of each thread that are under way

_making, _latest = threading.Lock(), dict[str, Any]()  # of a worker of a cluster


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of this process."""

    count: int = field(default_factory=available_cores)

    @property
    def threads_here(self) -> int:
        """Threads of this process that share the work: all."""
        return self.count

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Generator[Result]:
        """Yield ``function(shared, item)`` in the order of the items, which are taken as needed."""
        with ThreadPoolExecutor(self.count) as pool:
            tasks = (pool.submit(function, shared, item) for item in items)
            yield from in_order(tasks, Future.result, _AHEAD * self.count)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The workers of a dask cluster; where one dies, another one does its work."""

    threads_here: ClassVar[int] = 1  # of this process, which gathers results
    client: Client
    _sent: list[tuple[object, Task[Any]]] = field(default_factory=list, compare=False, repr=False)
    _workers: set[str] = field(default_factory=set, compare=False, repr=False)  # seen so far

    def __post_init__(self) -> None:
        """Refuse workers whose results may differ."""
        ours = environment()
        for address, theirs in self.client.run(environment, on_error="return").items():
            if theirs != ours:
                raise ValueError(
                    f"dask workers need {ours}, but {address} has {theirs}: use equal computers"
                )
            self._workers.add(address)

    @property
    def count(self) -> int:
        """Threads of all workers."""
        return max(1, int(sum(self.client.nthreads().values())))

    def map(
        self, function: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Generator[Result]:
        """Yield ``function(shared, item)`` in the order of the items, which are taken as needed.

        The function must be one of a module, and everything picklable. What is shared goes to each
        worker once: elements of a tuple by themselves, and not again where the last call had them.
        """
        # By a task that returns it, and not as scattered data: where all workers that held it died,
        # the scheduler makes it again.
        known = {id(one): task for one, task in self._sent}
        each = shared if isinstance(shared, tuple) else (shared,)
        self._sent[:] = [(one, known.get(id(one)) or self._submit(_keep, one)) for one in each]
        held = tuple(task for _, task in self._sent)
        sent = held if isinstance(shared, tuple) else held[0]
        tasks = (self._submit(function, sent, item) for item in items)
        yield from in_order(tasks, self._result, _AHEAD * self.count)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Task[Any]:
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            try:
                return self.client.submit(function, *arguments, pure=False)
            except TypeError as error:
                reason = error.__cause__ or error
                raise ValueError(f"dask needs metrics to be plain functions: {reason}") from None

    def _result(self, task: Task[Any]) -> Any:
        """Wait for a task as long as there are workers."""
        from distributed import KilledWorker

        done, last_seen = threading.Event(), time.monotonic()
        task.add_done_callback(lambda _: done.set())
        while True:
            try:
                if done.wait(_ANSWERING):
                    return task.result(timeout=2 * _COMING)
                if present := self.client.nthreads():
                    last_seen = time.monotonic()
                    self._workers.update(present)
                elif time.monotonic() - last_seen > _COMING:
                    raise TimeoutError("none came back")
            except (CancelledError, KilledWorker, OSError) as error:
                if isinstance(error, OSError) and task.status == "error":  # it is the task's own
                    raise
                # What was given up here may end later, and would be reported after this error.
                logging.getLogger("asyncio").addFilter(_is_of_interest)
                lost, reason = ", ".join(sorted(self._workers)), one_line(error)
                raise ConnectionError(f"dask workers were lost ({lost}): {reason}") from None


Engine = Threads | Cluster


def connect(where: str) -> Client:
    """Reach the dask scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("clusters need dask: pip install 'pytimme[cluster]'") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what matters is raised
    try:
        with ThreadPoolExecutor(1) as pool:  # in a notebook, this thread has a loop that runs
            pool.submit(asyncio.run, _greet(where)).result()
        client = Client(where, timeout=_ANSWERING, set_as_default=False)
        client.wait_for_workers(1, timeout=_COMING)
    except Exception as error:  # noqa: BLE001, anything may listen there and answer
        raise ConnectionError(
            f"no dask scheduler with workers can be reached at {where!r} ({one_line(error)}): "
            "start `dask scheduler` and `dask worker`"
        ) from None
    return client


def read_ahead(ensemble: Ensemble, starts: Sequence[int]) -> Generator[Block]:
    """Yield the blocks at some first snapshots, each read while the one before it is worked on.

    No other thread may read the ensemble meanwhile.
    """
    with ThreadPoolExecutor(1, "timme-reader") as reader:
        tasks = (reader.submit(ensemble.block, start) for start in starts)
        yield from in_order(tasks, Future.result, ahead=1)


def in_order(
    tasks: Iterable[Any], result: Callable[[Any], Result], ahead: int
) -> Generator[Result]:
    """Yield results of tasks in their order, while so many later ones are under way.

    Tasks are started by taking them; when no more results are needed, those that wait are
    cancelled.
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


def latest(make: Callable[..., Result], *arguments: object) -> Result:
    """Return ``make(*arguments)``, kept in a worker until something else is made."""
    with _making:
        if _latest.get("call") != (make, *arguments):
            _latest.clear()
            _latest.update(call=(make, *arguments), made=make(*arguments))
        made: Result = _latest["made"]
    return made


def environment() -> str:
    """Describe that on which the last bits of results depend."""
    return (
        f"timme {version('pytimme')}, numba {numba.__version__} and processor {get_host_cpu_name()}"
    )


def _is_of_interest(record: logging.LogRecord) -> bool:
    """Whether a message says more than that dask gave up waiting for a task."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__name__ != "AllExit"


def _keep(value: Shared) -> Shared:
    return value


async def _greet(address: str) -> None:
    """See whether a scheduler answers, since a client waits forever for anything else."""
    from distributed.comm.core import connect as comm_with

    comm = await asyncio.wait_for(comm_with(address, timeout=_ANSWERING), 2 * _ANSWERING)
    comm.abort()
