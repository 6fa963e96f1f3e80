"""The systems that come with TIMME: a whole analysis beside the measurement alone, in CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race
from timme.system.ensemble import Ensemble

_SYSTEMS: dict[str, tuple[Callable[[], Ensemble], float]] = {  # and within what they are compared
    "barnase": (timme.data.barnase_md, 10.0),
    "a drop of water": (timme.data.water_drop, 3.5),
    "spheres": (timme.data.spheres, 1.43),
}


def run(*, quick: bool) -> Results:
    """Analyse each as the command line does, with how sure its clusters are."""
    return Results([_row(name, repetitions=1 if quick else 3) for name in _SYSTEMS])


def _row(name: str, *, repetitions: int) -> Row:
    read, radius = _SYSTEMS[name]
    ensemble = read()
    points = timme.objects.points(ensemble)
    pairs = timme.pairs.within(points, radius)
    spent = race(
        {
            "whole": lambda: timme.analyse(ensemble, radius=radius, workers=1),
            "alone": lambda: timme.measure(points, pairs, workers=1),
        },
        repetitions,
        clock=time.process_time,
    )
    return Row(
        f"{name}, shipped: whole analysis of {ensemble.n_sites:,} × {ensemble.n_snapshots}",
        seconds(spent["whole"]),
        f"σ of {len(pairs):,} pairs of sites {seconds(spent['alone'])}",
        spent["whole"] / spent["alone"],
    )
