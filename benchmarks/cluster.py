"""Workers of a cluster beside threads of one process: the same bits, and what of time is lost."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race
from timme.engine.dask import Cluster

_WORKERS = 2


def run(*, quick: bool) -> Results:
    """Cluster all pairs with as many workers, each a process with one thread, as threads."""
    from distributed import Client, LocalCluster, get_task_stream

    n_sites, n_frames = (1_500, 60) if quick else (20_000, 500)
    points = timme.objects.points(timme.synthetic.elastic(n_sites, n_frames))
    every = timme.pairs.all(points)
    with (
        LocalCluster(
            n_workers=_WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        Client(local) as client,
    ):
        elsewhere = Cluster(client)
        ours = timme.cluster(points, every, workers=elsewhere)
        if not np.array_equal(ours.heights, timme.cluster(points, every).heights):
            raise AssertionError("workers and threads give other bits")
        with get_task_stream(client) as stream:
            median = race(
                {
                    "workers": lambda: timme.cluster(points, every, workers=elsewhere),
                    "threads": lambda: timme.cluster(points, every, workers=_WORKERS),
                    "one thread": lambda: timme.cluster(points, every, workers=1),
                },
                repetitions=1 if quick else 3,
                warm_up=False,
                clock=time.perf_counter,  # workers compute in other processes
            )
        taken = _share_of_transfer(stream.data)
    name = f"all pairs, {n_sites:,} × {n_frames}, {_WORKERS} dask workers, processes of one thread"
    ours_taken = seconds(median["workers"])
    return Results(
        [
            Row(
                f"{name}; {100 * taken:.2g} % of their time in transfer",
                ours_taken,
                f"{_WORKERS} threads {seconds(median['threads'])}",
                median["threads"] / median["workers"],
                at_least=None if quick else 0.8,
            ),
            Row(
                name,
                ours_taken,
                f"1 thread {seconds(median['one thread'])}",
                median["one thread"] / median["workers"],
            ),
        ]
    )


def _share_of_transfer(tasks: list[dict[str, Any]]) -> float:
    """Share of the time of tasks in which workers waited for what others hold."""
    taken = {"transfer": 0.0, "compute": 0.0}
    for task in tasks:
        for step in task["startstops"]:
            if step["action"] in taken:
                taken[step["action"]] += step["stop"] - step["start"]
    return taken["transfer"] / (sum(taken.values()) or 1.0)
