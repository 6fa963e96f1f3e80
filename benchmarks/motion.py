"""Rigid bodies, their axes and errors: no longer than the libraries take, or the rest of a run.

Run as a module, it finds the motions of one long trajectory and prints seconds and peak memory as
JSON: ``python -m benchmarks.motion TOPOLOGY TRAJECTORY``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import timme
from benchmarks.memory import peak
from benchmarks.results import Results, Row, megabytes, seconds
from benchmarks.timing import in_process, python, race, timed
from timme.motion import bodies, describe_motion, hinge, split_motions
from timme.motion.whole import hold
from timme.system.ensemble import Ensemble

_LIBRARIES = "import MDAnalysis, numba, scipy.spatial, matplotlib.pyplot"
_LIMIT = 1_000_000_000


def run(*, quick: bool) -> Results:
    """Time the bodies of adenylate kinase: of its Cα, within a run of all atoms, of a long one."""
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the header of the file
        whole = timme.read(PSF, DCD)
        standing = whole.select("name CA")
        held = hold(standing)
        _axes(held)  # which compiles what is not yet
        median = race(
            {
                "libraries": lambda: python("-c", _LIBRARIES),
                "axes": lambda: _axes(held),
                "all": lambda: _all(standing),
                "run": lambda: _without_motion(whole),
            },
            repetitions=1 if quick else 5,
        )
    libraries = f"importing the libraries {seconds(median['libraries'])}"
    rest = f"the rest of its analysis {seconds(median['run'])}"
    return Results(
        [
            Row(
                "bodies, axes and bootstrap, 214 Cα × 98",
                seconds(median["axes"]),
                libraries,
                median["axes"] / median["libraries"],
                at_most=1.0,
            ),
            Row(
                "motion of 3,341 atoms × 98, bodies learned on Cα",
                seconds(median["all"]),
                rest,
                median["all"] / median["run"],
                at_most=1.0,
            ),
            _streamed(1_000 if quick else 10_000),
        ]
    )


def main(topology: str, trajectory: str) -> None:
    """Find the motions of a trajectory; print what it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = timed(lambda: timme.move(topology, trajectory))
    print(json.dumps({"seconds": taken, "peak": peak()}))


def _axes(ensemble: Ensemble) -> list[Any]:
    found = bodies(ensemble)
    core = found.members(0)
    moving = range(1, found.n_bodies)
    return [hinge(ensemble, body=found.members(body), reference=core) for body in moving]


def _all(ensemble: Ensemble) -> object:
    held = hold(ensemble)
    found = describe_motion(held)
    return split_motions(held, found.bodies.hierarchy)


def _without_motion(ensemble: Ensemble) -> object:
    with patch("timme.workflow.recipe.with_motion", lambda made, _: made):
        return timme.analyse(ensemble)


def _streamed(n_frames: int) -> Row:
    """Memory of all motions of 3,341 atoms, the transition again and again."""
    from MDAnalysis.lib.formats.libdcd import DCDFile
    from MDAnalysisTests.datafiles import DCD, PSF

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.dcd"
        with DCDFile(DCD) as source:
            frames = [step.xyz.copy() for step in source]
        with DCDFile(str(path), "w") as file:
            file.write_header("", len(frames[0]), 0, 1, 1.0, 0)
            for frame in range(n_frames):
                file.write(xyz=frames[frame % len(frames)], box=[0, 0, 0, 90, 90, 90])
        size = path.stat().st_size
        took = in_process("benchmarks.motion", [str(PSF), str(path)])
    return Row(
        f"motion of 3,341 atoms × {n_frames:,} from a DCD of {megabytes(size)}: peak memory, in "
        f"{seconds(took['seconds'])}",
        megabytes(took["peak"]),
        f"limit {megabytes(_LIMIT)}",
        took["peak"] / _LIMIT,
        at_most=1.0,
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
