"""Memory: sizes as people read them, and how much is left."""

from __future__ import annotations

import re
import resource
from pathlib import Path


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
