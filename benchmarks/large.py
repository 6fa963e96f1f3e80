"""All pairs of systems whose matrix of σ would not fit: time beside brute force, and memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import timme
from benchmarks.results import Results, Row, megabytes, seconds
from benchmarks.timing import in_process, race

_PART = 10  # brute force is timed on one of so many pairs


def run(*, quick: bool) -> Results:
    """Cluster solids with slow waves; brute force is timed on a part of its rows and scaled."""
    sizes = ((4_000, 300), (10_000, 50)) if quick else ((20_000, 500), (100_000, 100))
    timed, largest = sizes
    return Results([_time_row(*timed), _memory_row(*timed), _memory_row(*largest)])


def _time_row(n_sites: int, n_frames: int) -> Row:
    points = timme.objects.points(timme.synthetic.elastic(n_sites, n_frames))
    every = timme.pairs.all(points)
    part = _random_rows(points)
    median = race(
        {
            "ours": lambda: timme.cluster(points, every),
            "part": lambda: timme.cluster(points, part),  # pairs in a list are all measured
        },
        repetitions=3,
        warm_up=False,
    )
    brute = median["part"] * len(every) / len(part)
    return Row(
        f"all pairs, {n_sites:,} × {n_frames}: time",
        seconds(median["ours"]),
        f"our brute force {seconds(brute)} ({_PART} × a random 1/{_PART} of its rows)",
        median["ours"] / brute,
        at_most=1 / 3,
    )


def _memory_row(n_sites: int, n_frames: int) -> Row:
    ensemble = timme.synthetic.elastic(n_sites, n_frames)
    coordinates, _ = ensemble.frames.read(0, n_frames)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coordinates.npy"
        np.save(path, coordinates)
        found = in_process("benchmarks.memory", [str(path)])
    limit = 3 * coordinates.nbytes + 300e6
    return Row(
        f"all pairs, {n_sites:,} × {n_frames}: peak memory, in {seconds(found['seconds'])}",
        megabytes(found["peak"]),
        f"3 × coordinates + 300 MB: {megabytes(limit)} (matrix of σ: {megabytes(4 * n_sites**2)})",
        found["peak"] / limit,
        at_most=1.0,
    )


def _random_rows(points: timme.objects.Objects) -> timme.pairs.Pairs:
    """List the pairs of some bands of rows, as brute force would take them."""
    n_sites, height = len(points), 50
    bands = np.arange(0, n_sites, height)
    chosen = np.sort(np.random.default_rng(0).permutation(bands)[: max(1, len(bands) // _PART)])
    rows = (chosen[:, None] + np.arange(height)).ravel()
    rows = rows[rows < n_sites - 1]
    first = np.repeat(rows, n_sites - 1 - rows)
    second = np.concatenate([np.arange(row + 1, n_sites) for row in rows])
    return timme.pairs.given(points, np.column_stack([first, second]))
