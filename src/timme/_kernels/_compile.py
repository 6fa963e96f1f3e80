"""Declare a kernel: it is compiled when first called, and kept on disk for the next process.

numba looks whether the file of a function has changed, never at the files of the functions that it
calls, which are part of its machine code. So machine code is kept in a folder that is named by all
sources of kernels together and by the versions of numba and numpy: after a change it is not found,
and processes that run different sources do not meet. All that is asked of numba is to take another
``CACHE_DIR`` while a kernel is declared, a setting that it documents, and to go on where machine
code cannot be kept or read: to keep it saves time, and a full disk is no reason to stop.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numba
import numpy as np
from numba import config, njit

_HERE = Path(__file__).parent
_PREFIX = "timme-"  # of folders that are ours
_KEPT = 8  # folders for other sources, beside those used within a day
_DAY = 86_400.0  # seconds
_settings: dict[str, Any] = vars(config)  # numba's
_declaring = threading.Lock()


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Declare a kernel, with more options of numba's ``njit`` if it needs them.

    Every option that changes numbers is said of every kernel: one that is not said is taken over by
    a helper from the caller for which it is first compiled, and its last bits would hang on which
    that was. Sums that may be reordered become part of whoever calls them: called as functions,
    they would be there twice in a process that has just compiled both, optimised once and once more
    with the caller, and add up in another order than in a process that finds the caller's on disk.
    """
    if function is None:
        return partial(compiled, **options)
    fast = options.get("fastmath", False)
    options = {"error_model": "numpy", "fastmath": fast, "forceinline": bool(fast)} | options
    folder = None if _settings["DISABLE_JIT"] else _folder_for(function.__module__)
    kernel = None if folder is None else _declare_kept(function, folder, options)
    return kernel or njit(nogil=True, **options)(function)


def _declare_kept(
    function: Callable[..., Any], folder: Path, options: dict[str, Any]
) -> Any | None:
    """Declare a kernel that is kept in a folder; None if that cannot be written any longer."""
    with _cache_in(folder), suppress(RuntimeError):  # which numba raises if it has no place at all
        kernel = njit(nogil=True, cache=True, **options)(function)
        if folder in Path(kernel.stats.cache_path).parents:  # and not where numba would look next
            cache = kernel._cache  # noqa: SLF001, numba offers no other way to its steps
            cache.load_overload = _forgive(cache.load_overload)
            cache.save_overload = _forgive(_take_turns(cache.save_overload, folder))
            return kernel
    return None


def _forgive(step: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step of numba's cache find nothing, or keep nothing, where it would fail."""

    @wraps(step)
    def forgiving(*arguments: Any) -> Any:
        # A full disk, a file that is cut off, a disk on which files cannot be locked.
        with suppress(OSError, EOFError, UnpicklingError, NotImplementedError):
            return step(*arguments)
        return None

    return forgiving


def _take_turns(step: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """Let one process after another keep machine code.

    numba numbers the files of a kernel: two processes that keep it for other types at the same time
    would take the same number, and either would later load the code of the other.
    """

    @wraps(step)
    def alone(*arguments: Any) -> Any:
        from filelock import FileLock

        with FileLock(folder / "keeping.lock"):
            return step(*arguments)

    return alone


def name_of_sources() -> str | None:
    """Name the machine code of all kernels as they stand in their files; None if there are none.

    A package that comes without its sources cannot tell whether they have changed. When they were
    written counts too, as it does for numba: beside the same text it would find its list of machine
    code outdated, begin to number files anew, and another process could load one of the old.
    """
    digest = hashlib.sha256(f"numba {numba.__version__}, numpy {np.__version__}".encode())
    try:
        sources = sorted(_HERE.glob("[!.]*.py"))  # some editors put hidden links beside a file
        for source in sources:
            text, written = source.read_bytes(), source.stat().st_mtime_ns
            digest.update(f"\0{source.name} {written} {len(text)}\0".encode() + text)
    except OSError:  # one is being replaced
        return None
    return _PREFIX + digest.hexdigest()[:16] if sources else None


def _stamps() -> frozenset[tuple[str, int, int]] | None:
    """Say when each source was last touched, which is quick to ask once for every module.

    The system sets that time itself, whatever else a file is made to say of its age.
    """
    try:
        with os.scandir(_HERE) as entries:
            found = [entry for entry in entries if entry.name.endswith(".py")]
            looks = [(entry.name, entry.stat()) for entry in found if entry.name[0] != "."]
    except OSError:  # one is being replaced
        return None
    return frozenset((name, look.st_ctime_ns, look.st_size) for name, look in looks)


# The package imports this file before any kernel, so these are the sources before they are loaded.
_STAMPS = _stamps()  # first: what is written between the two is seen as a change
_NAME = name_of_sources()


@cache
def _folder_for(module: str) -> Path | None:  # noqa: ARG001, it is asked once for each
    """Return the folder for the kernels of a module; None if they cannot be kept.

    They cannot if a source has changed since the first was loaded, as in a process that lives on
    while the package is updated: this module might be the new one and its helpers the old.
    """
    unchanged = _STAMPS is not None and _stamps() == _STAMPS
    return _folder() if _NAME is not None and unchanged else None


@cache
def _folder() -> Path | None:
    """Find the first place that can be written, in numba's order."""
    for place in _places():
        folder = place / str(_NAME)
        is_new = not folder.is_dir()
        if _can_be_used(folder):
            if is_new:
                _remove_stale(place)
            return folder
    return None


def _places() -> Iterator[Path]:
    if _settings["CACHE_DIR"]:
        yield Path(_settings["CACHE_DIR"])
    yield _HERE / "__pycache__"
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timme"


def _can_be_used(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)  # the time of its last use, by which folders are removed
    except OSError:
        return False
    return True


def _remove_stale(place: Path) -> None:
    """Remove machine code that was not used for a day, but for a few folders used last.

    What a process that runs for longer would still look for is compiled once more.
    """
    with suppress(OSError):  # other processes remove as well
        ours = [folder for folder in place.glob(f"{_PREFIX}{'[0-9a-f]' * 16}") if folder.is_dir()]
        used = {folder: folder.stat().st_mtime for folder in ours}
        for folder in sorted(ours, key=used.__getitem__, reverse=True)[_KEPT + 1 :]:
            if used[folder] < time.time() - _DAY:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Let numba keep what is declared meanwhile in a folder, wherever it was told to look."""
    ours = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": ""}  # the latter is new in 0.62
    with _declaring:
        theirs = {name: _settings.get(name, "") for name in ours}
        _settings.update(ours)
        try:
            yield
        finally:
            _settings.update(theirs)
