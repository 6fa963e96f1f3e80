"""Compile the kernels while tests are collected: python -m tests.warm.

Machine code is kept on disk for all processes of a run. Without it, several of them would come upon
the same kernel in the same moment, and each would compile it; so they wait until this has let go of
the lock of the cache. Two processes share the work, about half of it each, and compile little that
the other does. What is compiled in a moment is left to the tests; where machine code is kept
already, all is.
"""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np

import timme
from timme._kernels import _compile
from timme.engine import compile_lock
from timme.fluctuations.sums import sum_parts
from timme.rigidity.network import Network
from timme.system.ensemble import SINGLE_FROM, Ensemble

N_SITES = 24
BOX = [6.0, 6.0, 6.0]


def main() -> int:
    """Compile what measures and links in this process, and all else in another."""
    if sys.argv[1:] == ["other"]:
        compile_others()
        return 0
    folder = _compile._folder()
    if folder is None or any(folder.rglob("*.nbc")):
        return 0
    with compile_lock._cache_lock():
        other = subprocess.Popen([sys.executable, "-m", "tests.warm", "other"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is near half the box
            measure()
        return other.wait()


def compile_others() -> None:
    """Take steps that share hardly a kernel with those of :func:`measure`."""
    play()
    name_metric()
    follow_walls()
    for precision in (np.float64, np.float32):
        give_up_pairs(precision)


def measure() -> None:
    """Measure, link and judge what is of each kind: precision, box, gaps; find bodies."""
    for precision in (np.float64, np.float32):
        for boxes in (None, BOX):
            for gaps in (False, True):
                link(wandering(precision, boxes=boxes, gaps=gaps))
        timme.analyse(wandering(precision), pairs="all")
    globe = timme.objects.points(Ensemble.from_array(np.zeros((2, N_SITES, 2))))
    timme.pairs.within(globe, 1000.0, metric="haversine")
    timme.motion.describe_motion(timme.synthetic.moving((18, 12), 6).ensemble)


def link(ensemble: Ensemble) -> None:
    """Take the steps from snapshots to clusters in all ways."""
    points = timme.objects.points(ensemble)
    near = timme.pairs.within(points, 2.0)
    timme.pairs.nearest(points, 3, by="mean")
    timme.link(timme.measure(points, near))
    timme.cluster(points, timme.pairs.all(points))
    pieces = np.arange(N_SITES).reshape(-1, 3)
    for reduction in ("rms", "max", "centre"):
        groups = timme.objects.groups(ensemble, list(pieces), reduction=reduction)
        timme.cluster(groups, timme.pairs.all(groups))
        timme.measure(groups, timme.pairs.all(groups))


def give_up_pairs(precision: type) -> None:
    """Cluster as many points and groups as it takes to give up pairs."""
    snapshots = timme.synthetic.planted((3, 10, 20), 20).ensemble.coordinates()
    ensemble = Ensemble.from_array(snapshots.astype(precision))
    points = timme.objects.points(ensemble)
    timme.cluster(points, timme.pairs.all(points))
    sites = np.arange(ensemble.n_sites)
    groups = timme.objects.groups(ensemble, list(np.column_stack([sites, np.roll(sites, 1)])))
    timme.cluster(groups, timme.pairs.all(groups))


def wandering(precision: type, *, boxes: list[float] | None = None, gaps: bool = False) -> Ensemble:
    """Some sites that move at random; as many snapshots as are summed in their precision."""
    rng = np.random.default_rng(1)
    start = rng.uniform(0.0, BOX[0], (N_SITES, 3))
    places = start + rng.normal(0.0, 0.1, (SINGLE_FROM, N_SITES, 3))
    if gaps:
        places[::7, 0] = np.nan
    return Ensemble.from_array(places.astype(precision), boxes=boxes, gaps=gaps)


def play() -> None:
    """Play the pebble game on a ring of bodies, and add its bonds one by one."""
    n_bodies = 8
    ring = np.array([(body, (body + 1) % n_bodies) for body in range(n_bodies)])
    for energies in (np.full(n_bodies, np.nan), -np.arange(1.0, n_bodies + 1)):
        bars, kinds = np.full(n_bodies, 5), np.full(n_bodies, "hydrogen bond")
        network = Network(n_bodies, ring, bars, kinds, energies)
        timme.rigidity.decompose(network)
        timme.rigidity.dilute(network)


def name_metric() -> None:
    """Measure by another metric, whole blocks and parts of them."""
    points = timme.objects.points(wandering(np.float64))
    pairs = timme.pairs.all(points)
    timme.measure(points, pairs, metric="cityblock")
    sum_parts(points, next(pairs.chunks(100)), [range(9)], metric="cityblock")


def follow_walls() -> None:
    """Follow particles through the walls of a box."""
    timme.read(wandering(np.float64).coordinates() % BOX[0], box=BOX, unwrap=True)


if __name__ == "__main__":
    raise SystemExit(main())
