"""Memory: sizes as people write them, and how much is left."""

from __future__ import annotations

import re
import resource
from pathlib import Path

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", re.IGNORECASE)


def parse(text: str) -> int:
    """Return the bytes that a text such as ``2GB``, ``500 MB`` or ``1.5GiB`` stands for."""
    match = _SIZE.fullmatch(text.strip())
    factor = None if match is None else (_UNITS | _BINARY).get(match[2].lower())
    if match is None or factor is None or float(match[1]) <= 0:
        raise ValueError(f"is written as 2GB or 500MB, got {text!r}")
    return int(float(match[1]) * factor)


def shown(size: float) -> str:
    """Return a number of bytes as people read it: ``2.1 GB``, ``12 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 999.5e6 else f"{size / 1e6:.0f} MB"


def available() -> int | None:
    """Return the bytes that the machine and limits of this process leave, None where unknown."""
    machine = re.search(r"MemAvailable:\s*(\d+) kB", _read("/proc/meminfo"))
    left = [int(machine[1]) * 1024] if machine else []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # control groups, version 2 and 1
        limit = _read(f"/sys/fs/cgroup/{name}").strip()
        # What a group counts as used includes cached files; this process is what matters.
        left += [int(limit) - usage()] if limit.isdigit() else []
    allowed, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _read("/proc/self/statm").split()
    left += [allowed - int(pages[0]) * resource.getpagesize()] if pages and allowed >= 0 else []
    return min(left, default=None)


def usage() -> int:
    """Return the bytes that this process holds; its largest use so far where only that is known."""
    pages = _read("/proc/self/statm").split()
    if pages:
        return int(pages[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
