"""Kernels among processes: one after another compiles them, for they share one cache."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Ints
from timme._kernels import moments as kernel
from timme.engine.moments import Moments, PreparedBlock, pair_tiles

_compiling = threading.Lock()
_compiled = set[Any]()  # what this process has compiled


def merge_tiles(block: PreparedBlock, pairs: Ints, into: Moments) -> None:
    """Merge a block of frames into the moments of pairs, in a process that is one of several.

    Parameters
    ----------
    block : PreparedBlock
        Frames.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    into : Moments
        Of each pair over the blocks before; changed in place.
    """
    with first_time(merge_tiles, block, pairs) as first:
        if first:
            block.merge(pairs[:1], Moments.empty(len(pairs[:1])))
    for tile in pair_tiles(len(pairs)):
        block.merge(pairs[tile], into.part(tile))


@contextmanager
def first_time(*call: Any) -> Iterator[bool]:
    """Let one process after another compile a kernel.

    numba numbers the files of its cache: two processes that compile one kernel for different types
    at the same time may take the same number, and either would later load the other's code.

    Parameters
    ----------
    *call : object
        What is called, and with what; its types count.

    Yields
    ------
    bool
        Whether it is now to be called for the first time in this process, while others wait.
    """
    what = _type_of(call)
    if what in _compiled:
        yield False
        return
    with _compiling, _cache_lock():
        yield what not in _compiled
        _compiled.add(what)


def _cache_lock() -> AbstractContextManager[Any]:
    from filelock import FileLock

    folder = getattr(getattr(kernel.merge_moments, "stats", None), "cache_path", None)
    if folder is None or not os.access(folder, os.W_OK):
        return nullcontext()
    return FileLock(Path(folder) / "timme.lock")


def _type_of(value: Any) -> Any:
    """Tell what numba compiles for: types, and of arrays also their layout."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.writeable, value.flags.c_contiguous
    if isinstance(value, PreparedBlock):
        return tuple(_type_of(part) for part in vars(value).values())
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_type_of(getattr(value, part.name)) for part in fields(value))
    if isinstance(value, tuple | list):
        return tuple(_type_of(part) for part in value)
    return value if callable(value) else type(value)
