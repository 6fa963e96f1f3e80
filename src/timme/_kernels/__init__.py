"""Compiled loops over plain arrays, which they fill: serial, without the interpreter lock.

Machine code is kept by numba's own cache. It looks only at the file of a function, although the
code of the helpers that it calls is part of it; so all kernels carry one stamp, the digest of all
their sources, and code with another stamp is compiled anew and overwritten.

Arrays are copied and computed number by number: to assign or subtract whole arrays, numba compiles
its error messages about shapes as well, which takes longer than many a kernel.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial
from pathlib import Path

import numba
import numpy as np
from filelock import FileLock

_SOURCES = sorted(Path(__file__).parent.glob("[!.]*.py"))
_STAMP = hashlib.sha256(f"numba {numba.__version__}, numpy {np.__version__}".encode())
for _source in _SOURCES:
    _STAMP.update(f"\0{_source.name}\0".encode() + _source.read_bytes())


def compiled(function=None, **options):
    """Compile a function when it is first called, with further options of ``numba.njit``.

    ``fastmath`` is always stated: numba lets a helper that does not state it take over that of the
    caller for which it is first compiled. Functions with ``fastmath`` become part of their callers:
    called as functions, they are optimised once more with each caller, and whether a process uses
    this copy, with sums in another order, would depend on what it has compiled before.
    """
    if function is None:
        return partial(compiled, **options)
    fast = options.get("fastmath", False)
    options = {"nogil": True, "error_model": "numpy", "forceinline": bool(fast)} | options
    options["fastmath"] = fast
    with suppress(RuntimeError):  # numba has no folder to write to
        kernel = numba.njit(cache=True, **options)(function)
        if not hasattr(kernel, "_cache") or _keep_by_stamp(kernel._cache):  # noqa: SLF001
            return kernel
    return numba.njit(**options)(function)


def _keep_by_stamp(cache):
    """Let numba's cache of a function compare all sources; False if it has no such stamp."""
    files = getattr(cache, "_cache_file", None)
    if not hasattr(files, "_source_stamp"):
        return False
    files._source_stamp = _STAMP.hexdigest()  # noqa: SLF001, numba has no public setting
    lock = FileLock(Path(cache.cache_path) / "kernels.lock")
    save, load = cache.save_overload, cache.load_overload

    def save_alone(*arguments):
        # Two processes that save at once would give two kernels the same file. A disk that is full
        # or cannot lock files costs compilation in the next process, nothing else.
        with suppress(OSError, NotImplementedError), lock:
            save(*arguments)

    def load_if_readable(*arguments):
        with suppress(OSError):
            return load(*arguments)
        return None

    cache.save_overload, cache.load_overload = save_alone, load_if_readable
    return True
