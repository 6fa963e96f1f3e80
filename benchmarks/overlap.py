"""Trajectories measured while they are read, beside reading first and measuring then."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race

_BLOCKS = 6  # of each trajectory: the first is read before anything is measured
_SIZES = {"xtc": 47_681, "dcd": 20_000, "nc": 20_000}  # sites
_PARTNERS = {"xtc": 12, "dcd": 12, "nc": 8}  # of each: to measure takes about as long as to read


def run(*, quick: bool) -> Results:
    """Measure pairs of points of files; the same σ must come from memory."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Results([_row(kind, Path(folder), quick=quick) for kind in _SIZES])


def _row(kind: str, folder: Path, *, quick: bool) -> Row:
    n_sites = _SIZES[kind] // (20 if quick else 1)
    path = folder / f"moving.{kind}"
    n_frames = _BLOCKS * timme.Ensemble.from_array(np.zeros((2, n_sites, 3), "f4")).block_length
    _write(path, n_frames // (10 if quick else 1), n_sites)
    read = timme.objects.points(timme.read(path, bonds="none"))
    held = timme.objects.points(timme.Ensemble.from_array(_all_of(read.ensemble)))
    pairs, held_pairs = (_partners(points, _PARTNERS[kind]) for points in (read, held))
    here = timme.measure(held, held_pairs).sigma
    if not np.array_equal(timme.measure(read, pairs).sigma, here):
        raise AssertionError("what is read gives other bits than what is held")
    median = race(
        {
            "read": lambda: _read_through(read.ensemble),
            "measured": lambda: timme.measure(held, held_pairs, workers=1),
            "both": lambda: timme.measure(read, pairs, workers=1),
        },
        repetitions=1 if quick else 3,
        clock=time.perf_counter,  # two threads at a time take no less of the processor
    )
    apart = median["read"] + median["measured"]
    name = f"{kind.upper()}, {n_sites:,} × {read.ensemble.n_snapshots:,}, {len(pairs):,} pairs"
    return Row(
        f"{name}, measured by one thread while it is read",
        seconds(median["both"]),
        f"read {seconds(median['read'])}, then measured {seconds(median['measured'])}",
        median["both"] / apart,
        at_most=None if quick else 0.8,
    )


def _write(path: Path, n_frames: int, n_sites: int) -> None:
    """Write points that tremble, each snapshot a little aside of the one before."""
    import MDAnalysis

    rng = np.random.default_rng(0)
    few = (rng.uniform(0, 80, (n_sites, 3)) + rng.normal(size=(20, n_sites, 3))).astype("f4")
    universe = MDAnalysis.Universe.empty(n_sites, trajectory=True)
    with MDAnalysis.Writer(str(path), n_sites) as writer:
        for frame in range(n_frames):
            universe.atoms.positions = few[7 * frame % 20] + np.float32(0.01 * frame)
            universe.trajectory.ts.frame = universe.trajectory.ts.time = frame
            writer.write(universe.atoms)


def _all_of(ensemble: timme.Ensemble) -> Any:
    return np.concatenate([block.coordinates for block in ensemble.blocks()])


def _read_through(ensemble: timme.Ensemble) -> None:
    for _ in ensemble.blocks():
        pass


def _partners(points: Any, count: int) -> Any:
    """So many random partners of each point."""
    first = np.arange(len(points)).repeat(count)
    second = np.random.default_rng(0).integers(0, len(points), len(first))
    index = np.sort(np.column_stack([first, second]), axis=1)
    return timme.pairs.given(points, np.unique(index[index[:, 0] < index[:, 1]], axis=0))
