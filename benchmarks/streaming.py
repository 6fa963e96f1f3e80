"""A trajectory four times larger than memory: what a process takes that may take no more.

Run as a module, it analyses one trajectory and prints seconds, peak memory and a fingerprint of the
result as JSON: ``python -m benchmarks.streaming TRAJECTORY LIMIT``, or 0 to read it into memory.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import timme
from benchmarks.memory import peak
from benchmarks.results import Results, Row, megabytes, seconds
from benchmarks.timing import in_process, timed
from timme.engine.checkpoint import digest

_LIMIT = 1_000_000_000


def run(*, quick: bool) -> Results:
    """Stream a DCD through a process with a limit on its address space; compare with memory."""
    n_frames, n_sites = (1_000, 2_000) if quick else (17_000, 20_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trajectory.dcd"
        _write(path, n_frames, n_sites)
        size = path.stat().st_size
        streamed = in_process("benchmarks.streaming", [str(path), str(_LIMIT)])
        held = in_process("benchmarks.streaming", [str(path), "0"])
    if streamed["bits"] != held["bits"]:
        raise AssertionError("streamed and held trajectories give other bits")
    took = f"no resampling, in {seconds(streamed['seconds'])}, in memory {seconds(held['seconds'])}"
    return Results(
        [
            Row(
                f"a DCD of {megabytes(size)}, nearest pairs: peak memory, {took}, same bits",
                megabytes(streamed["peak"]),
                f"limit of the process {megabytes(_LIMIT)}",
                streamed["peak"] / _LIMIT,
                at_most=1.0,
            )
        ]
    )


def main(path: str, limit: int) -> None:
    """Analyse a trajectory within a limit, or from memory; print what it took."""
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    found: list[timme.Analysis] = []
    source = path if limit else _read(path)
    memory = str(limit) if limit else None
    # Resampling 17,000 snapshots for how sure clusters are takes memory of its own.
    options: dict[str, Any] = {"pairs": "nearest", "memory": memory, "confidence": False}
    taken = timed(lambda: found.append(timme.analyse(source, **options)))
    hierarchy = found[0].hierarchy
    bits = digest(hierarchy.parents, hierarchy.heights)[:12]
    print(json.dumps({"seconds": taken, "peak": peak(), "bits": int(bits, 16)}))


def _write(path: Path, n_frames: int, n_sites: int) -> None:
    """Write points that tremble, some snapshots again and again."""
    from MDAnalysis.lib.formats.libdcd import DCDFile

    rng = np.random.default_rng(0)
    rest = rng.uniform(0.0, 100.0, (n_sites, 3))
    strength = np.linspace(0.1, 1.0, n_sites)[:, None]
    few = (rest + strength * rng.normal(size=(50, n_sites, 3))).astype(np.float32)
    with DCDFile(str(path), "w") as file:
        file.write_header("", n_sites, 0, 1, 1.0, 0)
        for frame in range(n_frames):
            file.write(xyz=few[(frame * 7) % len(few)], box=[0, 0, 0, 90, 90, 90])


def _read(path: str) -> timme.Ensemble:
    from MDAnalysis.lib.formats.libdcd import DCDFile

    with DCDFile(path) as file:
        held = np.empty((len(file), file.header["natoms"], 3), np.float32)
        for frame, step in enumerate(file):
            held[frame] = step.xyz
    return timme.Ensemble.from_array(held)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
