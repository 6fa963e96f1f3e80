"""All pairs of large systems, beside brute force and threads."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

import timme
from benchmarks.rows import Row, against, race, require
from benchmarks.systems import as_points, solid


def large(*, quick: bool) -> list[Row]:
    """All pairs clustered with pruning, beside σ of all pairs; the trees must be alike."""
    n_sites = 1_000 if quick else 8_000
    points = as_points(timme, solid(n_sites, 100))
    every = timme.pairs.all(points)
    expected = timme.link(timme.measure(points, every)).heights
    require(np.allclose(timme.cluster(points, every).heights, expected, rtol=1e-6), "trees")
    median = race(
        {
            "ours": partial(timme.cluster, points, every),
            "brute force": lambda: timme.link(timme.measure(points, every)),
        },
        warm_up=False,
    )
    return [against(f"all pairs clustered, {n_sites:,} × 100", median, "brute force")]


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
