"""Cluster all pairs of coordinates in a file, and print seconds and peak memory as JSON."""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path

import numpy as np

import timme
from benchmarks.timing import timed


def main(path: str) -> None:
    """Count memory from after imports and compiling: the coordinates and all that follows."""
    small = timme.objects.points(timme.synthetic.elastic(1_000, 300))
    timme.cluster(small, timme.pairs.all(small))
    baseline = peak()
    points = timme.objects.points(timme.Ensemble.from_array(np.load(path)))
    taken = timed(lambda: timme.cluster(points, timme.pairs.all(points)))
    print(json.dumps({"seconds": taken, "peak": peak() - baseline}))


def peak() -> int:
    """Largest memory of this process so far, in bytes.

    Linux lets ru_maxrss begin with that of the parent, so its own account is asked first.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return 1024 * int(found[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    main(sys.argv[1])
