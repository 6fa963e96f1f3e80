"""How a run is carried: who does the work, who is told of it, and where it can be taken up again.

None of it changes a result. What users say in three options (`workers`, `progress`,
`checkpoint`) travels through the package as one `Run`, and whatever takes long is one `Loop`: it
recalls by its name and key what an interrupted run had found, passes over the work that is done,
keeps what it has whenever it is time to save, tells how far it is, and forgets all when it has
ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from timme.engine.checkpoint import Arrays, Checkpoint, take
from timme.engine.protocol import Engine
from timme.engine.threads import Threads
from timme.system.frames import Progress

State = Mapping[str, npt.ArrayLike]
"""All that a loop has found so far, by name."""

Step = TypeVar("Step")
"""What a loop does at a time."""

Found = TypeVar("Found")
"""What a loop had found before."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a run is carried out and watched; none of it changes the result.

    By default all cores of this computer do the work, nobody is told, and nothing is saved.
    """

    engine: Engine = field(default_factory=Threads)
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    @classmethod
    def of(
        cls,
        *,
        workers: int | str | Engine | None = None,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Run:
        """Take the options as users give them.

        Parameters
        ----------
        workers : int, str, Engine or None
            Number of threads, also as a text, all cores if None, or an engine as it is.
        progress : callable or None
            Called with the work done and the whole work.
        checkpoint : Checkpoint or None
            Where the work is saved at intervals, and from which it goes on.

        Returns
        -------
        Run
            All of them.
        """
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            raise TypeError(
                f"checkpoint= needs a Checkpoint, got {type(checkpoint).__name__}: pass "
                "timme.engine.checkpoint.Checkpoint('run.checkpoint', resume=True)"
            )
        return cls(engine_of(workers), progress, checkpoint)

    @property
    def options(self) -> dict[str, Any]:
        """The same as options of public functions, such as :func:`timme.measure`."""
        return {
            "workers": self.engine,
            "progress": self.progress,
            "checkpoint": self.checkpoint,
        }

    @property
    def identified(self) -> bool:
        """Whether the checkpoint says by itself to which data it belongs."""
        return self.checkpoint is not None and self.checkpoint.identified

    def tell(self, done: int, total: int) -> None:
        """Say how far the work is.

        Parameters
        ----------
        done, total : int
            Work done, and the whole work.
        """
        if self.progress is not None:
            self.progress(done, total)

    @contextmanager
    def identify(self, identity: Callable[[], Mapping[str, str]]) -> Iterator[None]:
        """Let the checkpoint say by itself, meanwhile, to which data it belongs.

        Parameters
        ----------
        identity : callable
            Returns what must be the same for a run to go on, as for :meth:`Checkpoint.identify`;
            it is not called where nothing is saved.
        """
        if self.checkpoint is None:
            yield
            return
        self.checkpoint.identify(identity())
        try:
            yield
        finally:
            self.checkpoint.release()

    def loop(
        self,
        name: str,
        key: Callable[[], str],
        *,
        total: int | None = None,
        lasting: bool = False,
    ) -> Loop:
        """Begin something that can be interrupted, or go on with it.

        Parameters
        ----------
        name : str
            By which the checkpoint knows it; at any time there is one of that name.
        key : callable
            Returns a text that is the same only for the same data and choices; it is not called
            where nothing is saved.
        total : int, optional
            The whole work, of a loop that tells how far it is.
        lasting : bool, optional
            Whether it is remembered after its end, so that a run that is interrupted in what comes
            next need not do it again.

        Returns
        -------
        Loop
            With what was found before.
        """
        return Loop(self, name, key, total, lasting=lasting)


DEFAULT = Run()


class Loop:
    """Something that takes long, and can be taken up again where it was interrupted.

    Its whole life is here. As a context it lives: what an interrupted run had found is there, and
    is forgotten when it ends well, unless it lasts. :meth:`left` passes over what is done, and
    :meth:`advance` and :meth:`keep` keep what is found.

    Parameters
    ----------
    run : Run
        Who is told, and where it is saved; nothing is where there is no checkpoint.
    name : str
        By which the checkpoint knows it.
    key, total, lasting
        As for :meth:`Run.loop`.
    """

    def __init__(
        self,
        run: Run,
        name: str,
        key: Callable[[], str],
        total: int | None = None,
        *,
        lasting: bool = False,
    ) -> None:
        self.done = 0  # work that need not be done again
        self._kept: Arrays | None = None  # what was found by it
        self._run, self._name, self._total, self._lasting = run, name, total, lasting
        if run.checkpoint is not None:
            self._key = key()
            self._kept = run.checkpoint.recall(name, key=self._key)
            self.done = self.restore(lambda kept: int(take(kept, "done", np.int64))) or 0

    def __enter__(self) -> Self:
        """Live."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Keep nothing of it any longer, if it has ended well and does not last."""
        if kind is None and not self._lasting and self._run.checkpoint is not None:
            self._run.checkpoint.forget(self._name)

    def under_way(self) -> AbstractContextManager[None]:
        """Mark the time in which it advances again and again, and may be asked to save and stop.

        After an error meanwhile, what was kept in memory counts no more, for it may have changed
        since it was last whole; the file has not.

        Returns
        -------
        context manager
            It is under way meanwhile.
        """
        checkpoint = self._run.checkpoint
        return nullcontext() if checkpoint is None else checkpoint.under_way()

    def left(self, work: Iterable[Step], end: Callable[[Step], int]) -> Iterator[Step]:
        """Pass over the work that is done.

        Parameters
        ----------
        work : iterable
            All steps, in order.
        end : callable
            Returns how much of the whole work is done after a step.

        Yields
        ------
        object
            Steps that are not done yet.
        """
        passed = 0
        for step in work:
            if end(step) > self.done:
                self._refuse_another_end(passed)
                yield step
            else:
                passed = end(step)
        self._refuse_another_end(passed)

    def _refuse_another_end(self, passed: int) -> None:
        """Refuse to go on from where no step has ended, for it would be neither done nor left."""
        if passed != self.done and self._run.checkpoint is not None:
            with self._run.checkpoint.restoring():
                raise ValueError(f"no step ends at {self.done}")

    def restore(self, read: Callable[[Arrays], Found]) -> Found | None:
        """Return what was found before.

        Parameters
        ----------
        read : callable
            Makes it of the arrays that were kept, and takes nothing but what these must be, as by
            :func:`timme.engine.checkpoint.take`.

        Returns
        -------
        object or None
            What it returns; None if there is nothing to go on from.

        Raises
        ------
        ValueError
            If the file is damaged.
        """
        if self._kept is None or self._run.checkpoint is None:
            return None
        with self._run.checkpoint.restoring():
            return read(self._kept)

    def advance(self, done: int, state: Callable[[], State]) -> None:
        """Say that more is done: save it if it is time to, and tell how far it is.

        Parameters
        ----------
        done : int
            Work done, of the whole.
        state : callable
            Returns all that it takes to go on from here; called only if it is to be saved, or in
            the end, so that what comes after need not do it again.
        """
        checkpoint = self._run.checkpoint
        # Whether it is due is asked once: what a later moment would save is not what is kept.
        if checkpoint is not None and (checkpoint.due or done == self._total):
            self.keep(done, state)
            checkpoint.tick()
        if self._total is not None:
            self._run.tell(done, self._total)

    def keep(self, done: int, state: Callable[[], State]) -> None:
        """Keep what was found until something is saved, and go on.

        Parameters
        ----------
        done : int
            Work done, of the whole.
        state : callable
            As for :meth:`advance`.
        """
        if self._run.checkpoint is not None:
            self._run.checkpoint.keep(self._name, key=self._key, done=done, **state())


def engine_of(workers: int | str | Engine | None) -> Engine:
    """Return what does the work.

    Parameters
    ----------
    workers : int, str, Engine or None
        Number of threads, also as a text, all cores if None, or an engine as it is.

    Returns
    -------
    Engine
        Threads, or the engine.
    """
    if workers is None:
        return Threads()
    if isinstance(workers, str) and workers.strip().isdecimal():
        workers = int(workers)  # as on the command line
    if isinstance(workers, int | np.integer):
        if workers < 1:
            raise ValueError(f"at least 1 worker is needed, got {workers}")
        return Threads(int(workers))
    if not isinstance(workers, Engine):
        raise TypeError(
            "workers are a number of threads or an engine, such as "
            f"timme.engine.dask.Cluster(client), got {workers!r}"
        )
    return workers
