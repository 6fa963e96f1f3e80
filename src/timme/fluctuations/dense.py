"""σ of all pairs of points at the rate of the loop: written where it stays, and nothing else.

The ordinary way holds sums of each pair from block to block, of which σ is made in the end. Where
one block holds all snapshots, every point is seen in all of them, and space is open, there is
nothing to hold: the same sums become σ at once, to the same bits, in the order of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.engine.moments import Metric, PreparedBlock
from timme.engine.run import Run
from timme.engine.threads import Threads
from timme.fluctuations.limits import refuse_beyond_limits
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs.lists import SQUARE, Pairs


def measure_at_once(
    objects: Objects, pairs: Pairs, metric: Metric | None, run: Run, *, size: int | None = None
) -> Iterator[Fluctuations] | None:
    """Measure σ of all pairs of points, where nothing needs to be held for it.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    metric : callable, str or None
        Distance, Euclidean if None.
    run : Run
        How it is carried out.
    size : int, optional
        Pairs that are held at a time, about; all by default.

    Returns
    -------
    iterator of Fluctuations, or None
        The same as the ordinary way finds, of consecutive pairs; None where there is no other.
    """
    ensemble = objects.ensemble
    every = pairs.index is None and len(pairs.left_out) == 0 < len(pairs) and objects.are_points
    here = isinstance(run.engine, Threads) and run.checkpoint is None
    if size is not None and size < 1:
        return None  # which the ordinary way refuses
    if not (every and here) or metric is not None or ensemble.n_snapshots > ensemble.block_length:
        return None
    prepared = PreparedBlock(objects.centres().block(0))
    size = len(pairs) if size is None else size
    return _measure(objects, prepared, run, size) if prepared.plain else None


def _measure(
    objects: Objects, prepared: PreparedBlock, run: Run, size: int
) -> Iterator[Fluctuations]:
    """Measure bands of objects, as many at a time as have enough pairs."""
    n_objects, ensemble = len(objects), objects.ensemble
    total = _before(n_objects, n_objects)
    firsts = range(0, n_objects, SQUARE)
    while len(firsts) > 0:
        begin = _before(firsts[0], n_objects)
        n_bands = sum(_before(first, n_objects) < begin + size for first in firsts)
        end = _before(min(firsts[0] + n_bands * SQUARE, n_objects), n_objects)
        index, sigma = np.empty((end - begin, 2), np.int64), np.empty(end - begin)
        dense = _Dense(prepared, n_objects, begin, index, sigma)
        for stop in run.engine.map(_measure_band, dense, firsts[:n_bands]):
            run.tell(stop, total)
        refuse_beyond_limits(ensemble, index, sigma)
        common = np.broadcast_to(np.int64(ensemble.n_snapshots), sigma.shape)
        yield Fluctuations(n_objects, frozen(index), frozen(sigma), frozen(common), ensemble.unit)
        firsts = firsts[n_bands:]


def _before(first: int, n_objects: int) -> int:
    """Count the pairs of which one object comes before another."""
    return first * (2 * n_objects - first - 1) // 2


@dataclass(frozen=True, slots=True, eq=False)
class _Dense:
    """What all bands of objects need."""

    prepared: PreparedBlock
    n_objects: int
    begin: int  # number of the first pair, of all
    index: Ints  # (pairs, 2), to be filled
    sigma: Floats  # (pairs,), to be filled


def _measure_band(dense: _Dense, first: int) -> int:
    """Measure the pairs of some consecutive objects with later ones; return where they end."""
    stop = _before(min(first + SQUARE, dense.n_objects), dense.n_objects)
    band = slice(_before(first, dense.n_objects) - dense.begin, stop - dense.begin)
    dense.prepared.fill_band(first, SQUARE, dense.index[band], dense.sigma[band])
    return stop
