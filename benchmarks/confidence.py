"""How sure clusters are: what it costs beside the measurement, in CPU seconds and memory."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import timme
from benchmarks.memory import peak
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import in_process
from timme._arrays import Ints
from timme.confidence import assess
from timme.engine.run import Run
from timme.objects import Objects
from timme.system.ensemble import Ensemble


def run(*, quick: bool) -> Results:
    """Judge the clusters of adenylate kinase, whose trajectory is repeated to make it longer."""
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the header of the file
        whole = timme.read(PSF, DCD)
        with_and_without = _usual_run(whole, repetitions=1 if quick else 3)
    times = (6,) if quick else (6, 60)
    repetitions = 1 if quick else 3
    rows = [
        _judged(kind(_repeated(whole, count)), name, repetitions=repetitions)
        for count in times
        for name, kind in {"atoms": timme.objects.points, "bodies": timme.objects.bodies}.items()
    ]
    return Results([*rows, with_and_without, _memory()])


def _judged(compared: Objects, name: str, *, repetitions: int) -> Row:
    """CPU seconds of judging beside those of contacts and σ, on one core."""
    ensemble = compared.ensemble
    pairs = timme.pairs.within(compared, 10.0)
    alone = Run.of(workers=1)
    sigma = timme.measure(compared, pairs, workers=1)
    tree = timme.link(sigma)
    shown = _alphas(ensemble)

    def measure() -> None:
        timme.measure(compared, timme.pairs.within(compared, 10.0), workers=1)

    measured = _cpu(measure, repetitions)
    judged = _cpu(lambda: assess(compared, sigma, tree, shown=shown, run=alone), repetitions)
    size = f"{len(compared):,} {name}, {len(pairs):,} contacts × {ensemble.n_snapshots:,}, CPU time"
    return Row(
        f"how sure clusters are: {size}",
        seconds(judged),
        f"contacts and σ {seconds(measured)}",
        judged / measured,
        at_most=1.0,
    )


def _memory() -> Row:
    """Memory of judging a million pairs, in a process of its own."""
    found = in_process("benchmarks.confidence", [])
    return Row(
        f"how sure clusters are: memory for {found['pairs']:,.0f} pairs × 588",
        f"{found['peak'] / 1e6:.0f} MB",
        "asked for 1 GB",
        found["peak"] / 1e9,
        at_most=1.0,
    )


def main() -> None:
    """Judge a million contacts, and print what that adds to the peak of memory as JSON."""
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        compared = timme.objects.points(_repeated(timme.read(PSF, DCD), 6))
    pairs = timme.pairs.within(compared, 12.5)
    sigma = timme.measure(compared, pairs)
    tree = timme.link(sigma)
    baseline = peak()
    assess(compared, sigma, tree, shown=_alphas(compared.ensemble))
    print(json.dumps({"pairs": len(pairs), "peak": peak() - baseline}))


def _usual_run(ensemble: Ensemble, *, repetitions: int) -> Row:
    """CPU seconds of the whole analysis with and without it."""
    timme.analyse(ensemble)  # which compiles what is not yet
    with_it = _cpu(lambda: timme.analyse(ensemble), repetitions)
    without = _cpu(lambda: timme.analyse(ensemble, confidence=False), repetitions)
    return Row(
        f"the whole analysis with it, {ensemble.n_sites:,} atoms × {ensemble.n_snapshots}",
        seconds(with_it),
        f"without {seconds(without)}",
        with_it / without,
        at_most=2.0,
    )


def _alphas(ensemble: Ensemble) -> Ints:
    return np.flatnonzero(ensemble.atoms.names[ensemble.site_atoms] == "CA")


def _repeated(ensemble: Ensemble, count: int) -> Ensemble:
    frames = np.concatenate([block.coordinates for block in ensemble.blocks()])
    longer = Ensemble.from_array(np.tile(frames, (count, 1, 1)), unit=ensemble.unit)
    return replace(ensemble, frames=longer.frames)


def _cpu(work: Callable[[], object], repetitions: int) -> float:
    """Least CPU seconds of several runs, the first of which compiles."""
    work()
    found = list[float]()
    for _ in range(repetitions):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    main()
