"""Memory: sizes as people write them, what there is, and what this process holds."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", re.IGNORECASE)


def parse(text: str, what: str = "an amount of memory") -> int:
    """Read a size as people write it.

    Parameters
    ----------
    text : str
        A number with a unit: ``2GB``, ``500 MB``, ``1.5GiB``.
    what : str, optional
        What has that size, for the message: ``memory=``.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> parse("2GB"), parse("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = _SIZE.fullmatch(text.strip())
    factor = None if match is None else (_UNITS | _BINARY).get(match[2].lower())
    if match is None or factor is None or float(match[1]) <= 0:
        raise ValueError(f"{what} is written as 2GB or 500MB, got {text!r}")
    return int(float(match[1]) * factor)


def shown(size: float) -> str:
    """Write a size as people read it.

    Parameters
    ----------
    size : float
        Bytes.

    Returns
    -------
    str
        In MB or GB, rounded.

    Examples
    --------
    >>> shown(2_140_000_000), shown(12_300_000), shown(10)
    ('2.1 GB', '12 MB', '0 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 999.5e6 else f"{size / 1e6:.0f} MB"


def available() -> int | None:
    """Return how much memory can still be taken.

    Returns
    -------
    int or None
        Bytes, the least that the machine, the control group and the limits of the process leave;
        None where the system does not tell.
    """
    return min(_left(), default=None)


def usage() -> int:
    """Return how much memory this process holds now.

    Returns
    -------
    int
        Bytes; where only the most that it has held is known, that.
    """
    pages = _read("/proc/self/statm").split()
    if pages:
        import resource

        return int(pages[1]) * resource.getpagesize()
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _left() -> Iterator[int]:
    machine = re.search(r"MemAvailable:\s*(\d+) kB", _read("/proc/meminfo"))
    if machine:
        yield int(machine[1]) * 1024
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # control groups, version 2 and 1
        limit = _read(f"/sys/fs/cgroup/{name}").strip()
        if limit.isdigit():
            yield int(limit) - usage()  # what a group counts as used holds files read before
    if sys.platform != "win32":
        import resource

        limit_of_process = resource.getrlimit(resource.RLIMIT_AS)[0]
        mapped = _read("/proc/self/statm").split()
        if limit_of_process != resource.RLIM_INFINITY and mapped:
            yield limit_of_process - int(mapped[0]) * resource.getpagesize()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
