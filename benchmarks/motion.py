"""Rigid bodies, their axes and errors: no longer than the libraries take, or the rest of a run."""

from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import patch

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import python, race
from timme.motion import bodies, describe_motion, hinge
from timme.system.ensemble import Ensemble

_LIBRARIES = "import MDAnalysis, numba, scipy.spatial, matplotlib.pyplot"


def run(*, quick: bool) -> Results:
    """Time the bodies of adenylate kinase: of its Cα, and within a run of all its atoms."""
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the header of the file
        whole = timme.read(PSF, DCD)
        standing = whole.select("name CA")
        held = Ensemble.from_array(standing.coordinates(), atoms=None, unit="Å")
        _axes(held)  # which compiles what is not yet
        median = race(
            {
                "libraries": lambda: python("-c", _LIBRARIES),
                "axes": lambda: _axes(held),
                "all": lambda: describe_motion(standing),
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
        ]
    )


def _axes(ensemble: Ensemble) -> list[Any]:
    found = bodies(ensemble)
    core = found.members(0)
    moving = range(1, found.n_bodies)
    return [hinge(ensemble, body=found.members(body), reference=core) for body in moving]


def _without_motion(ensemble: Ensemble) -> object:
    with patch("timme.workflow.recipe.with_motion", lambda made, _: made):
        return timme.analyse(ensemble)
