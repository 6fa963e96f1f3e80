"""Checkpoints: what a long run has summed so far, in one file from which it can go on."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

_FORMAT = 1
_MARK = "timme checkpoint"

# Saving takes at most about this share of the time, however large the sums are.
_SHARE = 0.1

# What damaged archives, arrays and texts end in, apart from errors of the file system.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


class Interrupted(KeyboardInterrupt):
    """A run was asked to stop, and has saved what it had."""


class Checkpoint:
    """Results so far of one run, kept by name and saved at intervals.

    As a context, it removes its file when the run has ended well, and leaves it otherwise. A run
    goes on only with what belongs to it: :func:`timme.analyse` compares inputs and settings and
    refuses a checkpoint of others; :func:`timme.measure`, :func:`timme.cluster` and
    :func:`timme.pairs.within` compare snapshots (those in memory by their numbers, files by name,
    size and time of change), weights, objects, pairs and metric, and begin anew where they differ.

    Parameters
    ----------
    path : path
        File to save to and to go on from.
    resume : bool, optional
        Whether to go on from the file, if it is there.
    interval : float, optional
        Seconds between savings, at least; a run shorter than that writes nothing, and 0 saves
        whenever it is possible.

    Examples
    --------
    >>> import numpy as np, timme
    >>> ensemble = timme.read(np.random.default_rng(0).normal(size=(600, 5, 3)))
    >>> with Checkpoint("run.checkpoint", resume=True) as checkpoint:
    ...     analysis = timme.analyse(ensemble, checkpoint=checkpoint)
    """

    def __init__(self, path: str | Path, *, resume: bool = False, interval: float = 30.0) -> None:
        if not 0 <= interval < math.inf:
            raise ValueError(f"an interval must be seconds, 0 or more, got {interval}")
        self.path = Path(path)
        if self.path.is_dir():
            raise IsADirectoryError(
                f"{path}: a checkpoint is one file, but this is a folder: name a file in it, "
                "or move the folder away"
            )
        self.resumed = False  # whether anything was found to go on from
        self._resume = resume
        self._interval = interval
        self._identity: dict[str, str] = {}
        self._kept: dict[str, Arrays] = {}
        self._next_save = time.monotonic() + interval
        self._taken_up = False  # whether the file was looked for
        self._under_way = False
        self._stopping = False

    def __enter__(self) -> Self:
        """Begin a run."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the file after success."""
        if kind is None:
            self.path.unlink(missing_ok=True)
            self._temporary.unlink(missing_ok=True)

    # ---- what is kept --------------------------------------------------------------------------

    def identify(self, identity: Mapping[str, str]) -> None:
        """Say what must be the same for a run to go on; to resume, compare it with the file.

        Parameters
        ----------
        identity : mapping of str to str
            What, in words for the user, and its value.
        """
        self._identity = dict(identity)
        self._kept = {}
        self._take_up()

    def release(self) -> None:
        """Say that the run that was identified has ended: of it, only the file stays.

        Its results are known by less than those of other data, and must not be taken for them.
        """
        self._identity, self._kept = {}, {}

    @property
    def identified(self) -> bool:
        """Whether it was said what must be the same; if not, results are known by their data."""
        return bool(self._identity)

    def recall(self, name: str, **expected: str) -> Arrays | None:
        """Return what was kept under a name.

        Parameters
        ----------
        name : str
            Which result.
        **expected
            Entries that must be these texts, if it is to be of use.

        Returns
        -------
        dict of ndarray or None
            Arrays by name; None if there are none, or others.
        """
        if not self._taken_up:
            self._take_up()
        kept = self._kept.get(name)
        with self.restoring():
            if kept is None or any(_text(kept, name) != text for name, text in expected.items()):
                return None
        return kept

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Tell of a damaged file if what is restored meanwhile is not what was kept.

        Raises
        ------
        ValueError
            One that names the file, in place of what damage ends in.
        """
        try:
            yield
        except DAMAGE:
            raise _damaged(self.path) from None

    def keep(self, name: str, **values: npt.ArrayLike) -> None:
        """Keep a result, in place of an earlier one of that name, until the next saving.

        Parameters
        ----------
        name : str
            Which result.
        **values
            Arrays, which are not copied: they may change, but not while something is saved.
        """
        self._kept[name] = {entry: np.asarray(value) for entry, value in values.items()}

    def forget(self, name: str) -> None:
        """Keep a result no longer.

        Parameters
        ----------
        name : str
            Which result; nothing happens if there is none.
        """
        self._kept.pop(name, None)

    # ---- when it is saved ----------------------------------------------------------------------

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Mark the time in which :meth:`tick` is called again and again."""
        self._under_way = True
        try:
            yield
        except BaseException:
            # What is kept may have changed since it was last whole; the file has not.
            self._kept, self._taken_up = {}, False
            raise
        finally:
            self._under_way = self._stopping = False

    def stop(self) -> bool:
        """Ask the run to save and end at the next :meth:`tick`; made for handlers of signals.

        Returns
        -------
        bool
            Whether it will: False if it is at something that cannot be saved.
        """
        self._stopping = self._under_way
        return self._stopping

    @property
    def due(self) -> bool:
        """Whether the next :meth:`tick` will save."""
        return self._stopping or time.monotonic() >= self._next_save

    def tick(self) -> None:
        """Save if it is time to; call it whenever all that is kept fits together."""
        if self.due:
            self.save()
        if self._stopping:
            raise Interrupted

    def save(self) -> None:
        """Write all that is kept: under another name first, so that a file is always whole."""
        begun = time.monotonic()
        text = {"mark": _MARK, "format": _FORMAT, "identity": self._identity}
        arrays = {
            f"{name}/{entry}": value
            for name, values in self._kept.items()
            for entry, value in values.items()
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._temporary.open("wb") as file:
            np.savez(file, text=_bytes(text), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        self._temporary.replace(self.path)
        _sync_folder(self.path.parent)
        now = time.monotonic()
        if self._interval > 0:
            self._next_save = now + max(self._interval, (now - begun) / _SHARE)

    def _take_up(self) -> None:
        self._taken_up = True
        if self._resume and self.path.exists():
            found, kept = _load(self.path)
            _refuse_other(self.path, found, self._identity)
            self._kept = kept
            self.resumed = True

    @property
    def _temporary(self) -> Path:
        return self.path.with_name(f".{self.path.name}.new")


def digest(*arrays: npt.ArrayLike) -> str:
    """Return a fingerprint of arrays: their shapes, types and values.

    Parameters
    ----------
    *arrays : array_like
        Any arrays.

    Returns
    -------
    str
        SHA-256 in hexadecimal.

    Examples
    --------
    >>> digest([1, 2]) == digest([1, 2]), digest([1, 2]) == digest([2, 1])
    (True, False)
    """
    made = hashlib.sha256()
    for value in arrays:
        array = np.atleast_1d(np.asarray(value))
        made.update(f"{array.dtype.str}{array.shape}".encode())
        # What is scattered in memory is not copied as a whole.
        for part in (array,) if array.flags.c_contiguous else array:
            made.update(np.ascontiguousarray(part).data)
    return made.hexdigest()


def take(
    kept: Arrays,
    name: str,
    kind: npt.DTypeLike,
    shape: tuple[int | None, ...] = (),
    *,
    below: int | None = None,
) -> npt.NDArray[Any]:
    """Take one of the arrays that were kept, if it is what it must be.

    Loops trust the lengths of arrays and the numbers in them: what came from a file is looked at
    here before it gets there.

    Parameters
    ----------
    kept : dict of ndarray
        What was kept.
    name : str
        Which array.
    kind : dtype
        Its type.
    shape : tuple of int or None, optional
        Its shape, where None stands for any length; a single number by default.
    below : int, optional
        For an array of indices, what all of them are below; none is negative.

    Returns
    -------
    ndarray
        As it was kept.

    Raises
    ------
    LookupError, ValueError
        If it is not there, or not what it must be.

    Examples
    --------
    >>> int(take({"done": np.array(3)}, "done", np.int64))
    3
    """
    array = kept[name]
    fits = array.dtype == kind and len(array.shape) == len(shape)
    fits = fits and all(map(_is_length, array.shape, shape))
    if fits and below is not None and array.size:
        fits = array.min() >= 0 and array.max() < below
    if not fits:
        raise ValueError(f"{name} is an array {array.dtype} of shape {array.shape}")
    return array


def _text(kept: Arrays, name: str) -> str:
    return str(take(kept, name, kept[name].dtype))


def _is_length(length: int, wanted: int | None) -> bool:
    return wanted is None or length == wanted


def _bytes(text: dict[str, Any]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(text, ensure_ascii=False).encode(), dtype=np.uint8)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last through a loss of power, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _load(path: Path) -> tuple[dict[str, str], dict[str, Arrays]]:
    kept: dict[str, Arrays] = {}
    with path.open("rb") as file:  # which np.load leaves open if it fails
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            text = json.loads(arrays.pop("text").tobytes())
            known, version = text["mark"] == _MARK, text["format"]
            for key, value in arrays.items():
                name, entry = key.split("/")
                kept.setdefault(name, {})[entry] = value
            identity = {str(name): str(value) for name, value in text["identity"].items()}
        except DAMAGE:
            known = False
    if not known:
        raise _damaged(path)
    if version != _FORMAT:
        raise ValueError(f"{path}: a checkpoint of another version: remove it and start anew")
    return identity, kept


def _damaged(path: Path) -> ValueError:
    return ValueError(
        f"{path}: not a checkpoint of timme, or a damaged one: remove it and start anew"
    )


def _refuse_other(path: Path, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    for name in sorted({*found, *wanted}):
        was, now = found.get(name, "none"), wanted.get(name, "none")
        if was != now:
            raise ValueError(
                f"{path}: a checkpoint of another run: {name} was {was}, now {now}: "
                "call it as it was, or remove the checkpoint and start anew"
            )
