"""Sum distances of pairs of sites over many short parts of the snapshots.

Sums are of r − r̄ and of its square, r̄ the mean over all snapshots. In open space, where all frames
are seen and weigh the same, frames that are laid out in units go through a loop of their own;
anything else goes through the one reduction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import parts as kernel
from timme.engine.moments import Metric, Moments
from timme.engine.reduction import Kept, moments_by_part
from timme.engine.run import Run
from timme.engine.threads import Threads
from timme.fluctuations.crossing import Singles
from timme.fluctuations.units import Layout, Units, tile_pairs
from timme.system.ensemble import Ensemble


def is_plain(ensemble: Ensemble, metric: Metric | None) -> bool:
    """Tell whether distances are those of open space, all frames are seen and weigh the same.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    metric : callable, str or None
        As :func:`timme.engine.metrics.known_metric` returns it.

    Returns
    -------
    bool
        True if frames can be laid out in units, and summed by loops over these.
    """
    plain = metric is None and not ensemble.gaps and ensemble.weights is None
    return plain and ensemble.snapshot(0)[1] is None


def sum_plainly(layout: Layout, pairs: Ints, run: Run) -> tuple[Singles, Singles]:
    """Sum distances over parts in open space, where all frames are seen and weigh the same.

    Parameters
    ----------
    layout : Layout
        Frames of all sites, and the parts.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.
    run : Run
        How it is carried out: with the threads of this process.

    Returns
    -------
    ndarray of float32, shape (pairs, parts)
        Sums of r − r̄.
    ndarray of float32, shape (pairs, parts)
        Sums of its square.
    """
    shape = (len(pairs), len(layout.parts))
    first, second = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    used = np.unique(pairs)
    if layout.held is None and 0 < 2 * len(used) < layout.ensemble.n_sites:  # these are laid out
        layout = Layout(layout.ensemble.select(used), layout.parts, None)
        pairs = np.searchsorted(used, pairs)
    origin = first_distances(layout, pairs)
    threads = Threads(run.engine.threads_here)
    for units in layout:
        add_units(units, pairs, origin, (first, second), threads)
        del units  # before the next are laid out
    totals = np.array([float(len(part)) for part in layout.parts])
    run_all(threads.map(partial(_centre, totals), (first, second), tile_pairs(len(pairs))))
    return first, second


def sum_anything(
    ensemble: Ensemble, pairs: Ints, parts: Sequence[range], metric: Metric | None, run: Run
) -> tuple[Singles, Singles, Singles | None]:
    """Sum distances over parts in boxes, with gaps and weights, by any metric.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.
    parts : sequence of range
        Snapshots of each part.
    metric : callable, str or None
        As :func:`timme.engine.metrics.known_metric` returns it.
    run : Run
        How it is carried out: through the one reduction.

    Returns
    -------
    ndarray of float32, shape (pairs, parts)
        Sums of r − r̄.
    ndarray of float32, shape (pairs, parts)
        Sums of its square.
    ndarray of float32, shape (pairs, parts), or None
        Weight of what is seen; None if all is.
    """
    summed = partial(moments_by_part, ensemble, pairs, metric=metric, run=Run(run.engine))
    (one,) = summed([range(parts[0].start, parts[0].start + 1)])
    origin = Moments(*one).mean

    # Each part is written where it stays: arrays that are put together in the end are held twice.
    first, second, weight = (np.empty((len(pairs), len(parts)), np.float32) for _ in range(3))

    def keep(number: int, found: Moments) -> Kept:
        first[:, number] = np.where(found.weight > 0, found.mean - origin, 0.0)
        second[:, number], weight[:, number] = found.m2, found.weight
        return ()

    summed(parts, keep)
    for tile in tile_pairs(len(pairs)):
        _count_from_mean(first[tile], second[tile], weight[tile])
    return first, second, weight if ensemble.gaps else None


def first_distances(layout: Layout, pairs: Ints) -> Floats:
    """Measure the distances in the first snapshot of all parts, from which others are counted.

    Parameters
    ----------
    layout : Layout
        Frames in open space.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.

    Returns
    -------
    ndarray, shape (pairs,)
        In double precision.
    """
    points = np.asarray(layout.ensemble.snapshot(layout.parts[0].start)[0], np.float64)
    apart: Floats = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return apart


def add_units(
    units: Units, pairs: Ints, origin: Floats, sums: tuple[Singles, Singles], threads: Threads
) -> None:
    """Add the frames of some units to sums over parts.

    Parameters
    ----------
    units : Units
        Frames in open space.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.
    origin : ndarray, shape (pairs,)
        Distances from which those of the frames are counted.
    sums : tuple of two ndarrays of float32, shape (pairs, parts)
        Of distances and of their squares, to which they are added in place.
    threads : Threads
        Who does it.
    """
    first, second = sums

    def add(units: Units, tile: slice) -> None:
        known = units.owners, units.lengths, origin[tile]
        kernel.add_part_sums(units.xyz, np.array(pairs[tile]), *known, first[tile], second[tile])

    run_all(threads.map(add, units, tile_pairs(len(pairs))))


def run_all(results: Iterable[Any]) -> None:
    """Wait for all that threads do.

    Parameters
    ----------
    results : iterable
        What they return, which nobody asks for.
    """
    for _ in results:
        pass


def weights_of(ensemble: Ensemble, parts: Sequence[range]) -> Floats:
    """Add up the weights of the snapshots of each part.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    parts : sequence of range
        Which are in each part.

    Returns
    -------
    ndarray, shape (parts,)
        Their number, where all weigh the same.
    """
    if ensemble.weights is None:
        return np.array([float(len(part)) for part in parts])
    return np.array([float(ensemble.weights[part.start : part.stop].sum()) for part in parts])


def _count_from_mean(first: Singles, second: Singles, weight: Singles) -> None:
    """Make sums about the mean over all parts of means and of sums about the mean of each."""
    whole = weight.sum(axis=1, dtype=np.float64)
    average = (weight * first).sum(axis=1, dtype=np.float64) / np.maximum(whole, 1e-30)
    first -= average[:, None].astype(np.float32)
    second += weight * first**2
    first *= weight


def _centre(totals: Floats, sums: tuple[Singles, Singles], tile: slice) -> None:
    first, second = sums
    kernel.centre_sums(totals, first[tile], second[tile])
