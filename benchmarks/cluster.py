"""All pairs of large systems, beside the reference, brute force and threads."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

import timme as reference
import timme_next as timme
from benchmarks.rows import Row, against, race, require
from benchmarks.systems import as_points, solid


def large(*, quick: bool) -> list[Row]:
    """All pairs clustered with pruning, beside the reference; the trees must be alike."""
    rows = []
    sizes = ((1_000, 100),) if quick else ((8_000, 100), (20_000, 500), (40_000, 100))
    for n_sites, n_frames in sizes:
        snapshots = solid(n_sites, n_frames)
        ours, theirs = as_points(timme, snapshots), as_points(reference, snapshots)
        every, all_theirs = timme.pairs.all(ours), reference.pairs.all(theirs)
        heights = timme.cluster(ours, every).heights
        expected = reference.cluster(theirs, all_theirs).heights
        require(np.allclose(heights, expected, rtol=2e-5, atol=1e-7), "trees")
        median = race(
            {
                "ours": partial(timme.cluster, ours, every),
                "reference": partial(reference.cluster, theirs, all_theirs),
            },
            repetitions=3,
            warm_up=False,
        )
        name = f"all pairs clustered, {n_sites:,} × {n_frames}"
        rows.append(against(name, median, "reference", "≤ 3.5", slower=True))
    return rows


def walkers(*, quick: bool) -> list[Row]:
    """Uncorrelated walkers, of which no pair can be pruned, beside brute force."""
    size = 1_000 if quick else 5_000
    snapshots = np.random.default_rng(0).normal(size=(200, size, 3)).astype(np.float32)
    points = as_points(timme, snapshots)
    every = timme.pairs.all(points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        median = race(
            {
                "ours": lambda: timme.cluster(points, every),
                "brute force": lambda: timme.link(timme.measure(points, every)),
            }
        )
    name = f"all pairs clustered, uncorrelated, {size:,} × 200"
    return [against(name, median, "brute force", "≤ 1.3", slower=True)]


def dask(*, quick: bool) -> list[Row]:
    """Two workers of dask, processes of one thread each, beside two threads."""
    from distributed import Client, LocalCluster

    n_sites, n_frames = (1_500, 60) if quick else (20_000, 500)
    points = as_points(timme, solid(n_sites, n_frames))
    every = timme.pairs.all(points)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
    ):
        found = timme.cluster(points, every, client=client)
        expected = timme.cluster(points, every)
        require(np.array_equal(found.heights, expected.heights), "trees of workers and threads")
        median = race(
            {
                "ours": lambda: timme.cluster(points, every, client=client),
                "2 threads": lambda: timme.cluster(points, every, workers=2),
            },
            repetitions=1 if quick else 3,
            warm_up=False,
        )
    name = f"all pairs clustered, 2 dask workers, {n_sites:,} × {n_frames}"
    return [against(name, median, "2 threads", "" if quick else "≥ 0.7")]
