"""How a run is carried out: workers, progress reports and checkpoints."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import whole
from timme.engine.workers import Cluster, Engine, Threads, connect

if TYPE_CHECKING:
    from distributed import Client

Arrays = dict[str, npt.NDArray[Any]]
Progress = Callable[[int, int], object]
"""Called with the work done and the whole work."""

_MARK = "timme checkpoint 1"  # name of the entry that says which run it is
_INTERVAL = float(os.environ.get("TIMME_CHECKPOINT_INTERVAL") or 30)  # seconds
_SHARE = 0.1  # of the time, at most, goes into saving, however large the arrays are


class Interrupted(KeyboardInterrupt):
    """A run was asked to stop, and has saved what it had."""


class CheckpointError(ValueError):
    """A file from which this run cannot go on."""


class OtherRunError(CheckpointError):
    """A whole checkpoint, but of another run."""


class Checkpoint:
    """File in which a long run saves what it has found, and from which it goes on.

    As a context, it removes the file when the run has ended, and leaves it after an error. A run
    takes up what was found for the same snapshots, pairs and options, and makes the rest anew.

    Parameters
    ----------
    path : path
        The file.
    resume : bool, optional
        Whether to go on from the file if it is there.
    interval : float, optional
        Least number of seconds between savings; a shorter run writes nothing, and 0 saves whenever
        it is possible.

    Attributes
    ----------
    resumed : bool
        Whether the file was there and is taken up.

    Examples
    --------
    >>> with Checkpoint("run.checkpoint", resume=True) as checkpoint:
    ...     run = Run.of(workers=1, checkpoint=checkpoint)
    """

    def __init__(
        self, path: str | Path, *, resume: bool = False, interval: float = _INTERVAL
    ) -> None:
        self.path = Path(path)
        self._beside = self.path.with_name(f".{self.path.name}.npz")  # renamed when it is whole
        self.resumed, self._stopping, self.under_way = False, False, 0  # loops that will save
        self._resume, self._interval = resume, interval
        self._next_save = time.monotonic() + interval
        self._identity = dict[str, str]()
        self._found: dict[str, Arrays] | None = None  # in the file, None if it was not opened
        self._kept = dict[str, tuple[Callable[[], str], Arrays]]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.path.unlink(missing_ok=True)
            self._beside.unlink(missing_ok=True)

    def identify(self, identity: Mapping[str, str]) -> None:
        """State what must be equal for the run to go on, and compare it with the file.

        Parameters
        ----------
        identity : mapping of str to str
            Names of things, as the user knows them, and their values.

        Raises
        ------
        CheckpointError
            If the file belongs to another run; it names the first difference.
        """
        self._identity = dict(identity)
        self._load()

    def recall(self, name: str, key: Callable[[], str]) -> Arrays:
        """Return the arrays that the file has under a name, or none if their key is another.

        The first word of a key is that of the snapshots, which are the same for a whole run.
        """
        found = self._load() if self._found is None else self._found
        if name not in found:
            return {}
        was, now = str(found[name]["key"]), key()
        if was.split()[:1] != now.split()[:1]:
            what = f"its {name} are of other snapshots, pairs or options"
            raise OtherRunError(f"{self.path}: of another run: {what}: remove the file")
        if was != now:
            return {}
        self._kept[name] = key, found.pop(name)
        return {entry: array for entry, array in self._kept[name][1].items() if entry != "key"}

    def keep(self, name: str, key: Callable[[], str], arrays: Arrays) -> None:
        """Keep arrays under a name, not copied, and save all that is kept if it is time to."""
        self._kept[name] = key, arrays
        if self._stopping or self._interval == 0 or time.monotonic() >= self._next_save:
            self.save()

    def save(self) -> None:
        """Write all that is kept beside the file and rename it, so that the file is always whole.

        Raises
        ------
        Interrupted
            If the run was asked to stop.
        """
        begun = time.monotonic()
        entries = {_MARK: np.frombuffer(json.dumps(self._identity).encode(), np.uint8)}
        # Keys are made here, in the time that saving may take: to read all data takes long.
        kept = {name: {**each, "key": np.array(key())} for name, (key, each) in self._kept.items()}
        for name, arrays in ((self._found or {}) | kept).items():
            entries |= {f"{name}/{entry}": array for entry, array in arrays.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self._beside, **entries)  # type: ignore[arg-type]
        self._beside.replace(self.path)
        now = time.monotonic()
        self._next_save = now + max(self._interval, (now - begun) / _SHARE)
        if self._stopping:
            raise Interrupted

    def stop(self) -> bool:
        """Ask the run to save and end; for handlers of signals.

        Returns
        -------
        bool
            Whether it will: False if it is at something that cannot be saved.
        """
        self._stopping = self.under_way > 0
        return self._stopping

    def drop(self) -> None:
        """Drop what is kept after an error: arrays may be half changed, only the file is whole."""
        self._kept, self._found, self._stopping = {}, None, False

    def _load(self) -> dict[str, Arrays]:
        self._found = found = dict[str, Arrays]()
        if not (self._resume and self.path.exists()):
            return found
        with self.path.open("rb") as file:
            try:
                with np.load(file, allow_pickle=False) as archive:
                    arrays = {name: archive[name] for name in archive.files}
                identity = dict(json.loads(arrays.pop(_MARK).tobytes()))
            except Exception:  # noqa: BLE001, zip and npy files may be damaged in any way
                raise CheckpointError(f"{self.path}: a damaged or other file: remove it") from None
        for what in sorted({*identity, *self._identity}):
            was, now = identity.get(what, "none"), self._identity.get(what, "none")
            if was != now:
                raise OtherRunError(
                    f"{self.path}: of another run: {what} was {was}, now {now}: remove the file"
                )
        for name, array in arrays.items():
            loop, _, entry = name.partition("/")
            found.setdefault(loop, {})[entry] = array
        self.resumed = True
        return found


@dataclass(frozen=True, slots=True)
class Run:
    """How a run is carried out; by default by all cores, without reports or checkpoints."""

    engine: Engine = field(default_factory=Threads)
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    @classmethod
    def of(
        cls,
        workers: int | None = None,
        client: Client | str | None = None,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Self:
        """Take what users pass: a number of threads, or a dask client or its address."""
        if isinstance(client, str):
            client = connect(client)
        if not (client is None or hasattr(client, "submit")):
            raise TypeError(f"client= needs a dask Client or its address, got {client!r}")
        if not isinstance(checkpoint, Checkpoint | None):
            raise TypeError(f"checkpoint= needs a timme.Checkpoint, got {checkpoint!r}")
        threads = Threads() if workers is None else Threads(whole(workers, 1, "workers="))
        return cls(threads if client is None else Cluster(client), progress, checkpoint)

    def tell(self, done: int, total: int) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(done, total)

    def within(self, before: int, size: int, total: int) -> Self:
        """Return the run of a part of the work, which reports how far the whole is."""
        return replace(
            self, progress=lambda done, whole: self.tell(before + size * done // whole, total)
        )

    def loop(self, name: str, key: Callable[[], str], total: int) -> Loop:
        """Begin a loop that can be interrupted, or go on with it."""
        return Loop(self, name, key, total)


DEFAULT = Run()


class Loop:
    """Context of something long, which goes on where it was interrupted.

    ``name`` is that of its entry in the checkpoint. ``key()`` differs for other data and options;
    it is called at most once, when something is saved or may be taken up. Of the ``total`` work,
    ``done`` need not be done again, and ``kept`` are the arrays that were found by then.
    """

    def __init__(self, run: Run, name: str, key: Callable[[], str], total: int) -> None:
        self.done, self.kept = 0, Arrays()
        self._run, self._name, self._key, self._total = run, name, cache(key), total
        if run.checkpoint is not None:
            self.kept = run.checkpoint.recall(name, self._key)
            self.done = int(self.kept.pop("done", 0))
            run.checkpoint.under_way += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._run.checkpoint is not None:
            self._run.checkpoint.under_way -= 1
            if kind is not None:
                self._run.checkpoint.drop()

    def advance(self, done: int, state: Callable[[], Mapping[str, npt.NDArray[Any]]]) -> None:
        """Keep all that it takes to go on from here, save it if it is time to, and report progress.

        Arrays are not copied: those of an outer loop must not change until its next call.
        ``state`` is not called where nothing is saved.
        """
        checkpoint = self._run.checkpoint
        if checkpoint is not None:
            checkpoint.keep(self._name, self._key, {**state(), "done": np.array(done)})
        self._run.tell(done, self._total)
