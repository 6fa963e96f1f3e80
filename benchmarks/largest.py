"""The largest systems, each in a process of its own: time and memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import timme
from benchmarks.contacts import DENSITY, NEIGHBOURS
from benchmarks.rows import Row, seconds
from benchmarks.systems import Snapshots, as_points, solid


def all_pairs(*, quick: bool) -> list[Row]:
    """All pairs of 100,000 sites, clustered."""
    size = 5_000 if quick else 100_000
    found = _in_process("all", solid(size, 100))
    name = f"all pairs clustered, {size:,} × 100"
    return [
        Row(name, seconds(found["seconds"]), "60 s", found["seconds"], "≤ 60"),
        Row(f"{name}: memory", f"{found['peak']:.3g} MB", "500 MB", found["peak"], "≤ 500"),
    ]


def in_contact(*, quick: bool) -> list[Row]:
    """A million particles in contact: searched, measured and linked."""
    size = 20_000 if quick else 1_000_000
    found = _in_process("contact", solid(size, 20, density=DENSITY))
    name = f"contacts, σ and tree, {size:,} × 20"
    return [
        Row(name, seconds(found["seconds"]), "120 s", found["seconds"], "≤ 120"),
        Row(f"{name}: memory", f"{found['peak']:.3g} MB", "8000 MB", found["peak"], "≤ 8000"),
    ]


def _in_process(kind: str, snapshots: Snapshots) -> dict[str, float]:
    """Cluster in a new process; return its seconds, and its peak memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coordinates.npy"
        np.save(path, snapshots)
        command = [sys.executable, "-m", "benchmarks.largest", kind, str(path)]
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True, check=True
        )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _cluster(kind: str, snapshots: Snapshots) -> None:
    points = as_points(timme, snapshots)
    within = timme.pairs.within
    timme.cluster(
        points, within(points, NEIGHBOURS) if kind == "contact" else timme.pairs.all(points)
    )


def _memory(name: str) -> float:
    """Memory of this process in MB, as the kernel counts it: VmRSS now, VmHWM at most."""
    (kilobytes,) = re.findall(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(kilobytes) / 1e3


def _main(kind: str, path: str) -> None:
    """Print seconds and memory beyond that of the libraries, coordinates included."""
    _cluster(kind, np.load(path, mmap_mode="r")[:, :1_000].copy())  # compiles
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak counts from here
    before = _memory("VmRSS")
    snapshots = np.load(path)
    start = time.perf_counter()
    _cluster(kind, snapshots)
    taken = time.perf_counter() - start
    print(json.dumps({"seconds": taken, "peak": _memory("VmHWM") - before}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
