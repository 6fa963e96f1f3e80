"""σ of points at the rate of the loop: written where it stays, and nothing else.

The ordinary way holds sums of each pair from block to block, of which σ is made in the end. Where
one block holds all snapshots, every point is seen in all of them, and space is open, there is
nothing to hold: the same sums become σ at once, to the same bits, of all pairs in their order, of
listed ones, or of those of all that are low enough to matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.engine.moments import Metric, PreparedBlock, pair_tiles
from timme.engine.run import Run
from timme.engine.threads import Threads
from timme.fluctuations.limits import refuse_beyond_limits
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs.lists import SQUARE, Pairs


def prepare_at_once(objects: Objects, metric: Metric | None, run: Run) -> PreparedBlock | None:
    """Lay out all snapshots of points for σ that is made at once.

    Parameters
    ----------
    objects : Objects
        What is compared.
    metric : callable, str or None
        Distance, Euclidean if None.
    run : Run
        How it is carried out.

    Returns
    -------
    PreparedBlock or None
        None where sums have to be held.
    """
    ensemble = objects.ensemble
    here = isinstance(run.engine, Threads) and run.checkpoint is None
    whole = ensemble.n_snapshots <= ensemble.block_length
    if not (objects.are_points and here and whole) or metric is not None:
        return None
    prepared = PreparedBlock(objects.centres().block(0))
    return prepared if prepared.plain else None


def measure_at_once(
    objects: Objects, pairs: Pairs, metric: Metric | None, run: Run
) -> Fluctuations | None:
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

    Returns
    -------
    Fluctuations or None
        The same as the ordinary way finds; None where there is no other.
    """
    if not is_every_pair(pairs):
        return None
    prepared = prepare_at_once(objects, metric, run)
    return None if prepared is None else next(measure_every(objects, prepared, run, len(pairs)))


def is_every_pair(pairs: Pairs) -> bool:
    """Whether pairs are all that there are.

    Parameters
    ----------
    pairs : Pairs
        Who with whom.

    Returns
    -------
    bool
        False as well where there are none.
    """
    return pairs.index is None and len(pairs.left_out) == 0 < len(pairs)


def measure_list(objects: Objects, prepared: PreparedBlock, index: Ints, run: Run) -> Fluctuations:
    """Measure σ of listed pairs of points.

    Parameters
    ----------
    objects : Objects
        What is compared.
    prepared : PreparedBlock
        As :func:`prepare_at_once` returns it.
    index : ndarray, shape (pairs, 2)
        Pairs of objects.
    run : Run
        How it is carried out.

    Returns
    -------
    Fluctuations
        The same as the ordinary way finds.
    """
    pairs, sigma = np.array(index), np.empty(len(index))
    listed = _Dense(prepared, len(objects), 0, pairs, sigma)
    for _ in run.engine.map(_measure_tile, listed, pair_tiles(len(pairs))):
        pass
    return _found(objects, pairs, sigma)


def measure_below(
    objects: Objects, prepared: PreparedBlock, order: Ints, gaps: Floats, run: Run
) -> Iterator[tuple[Ints, Floats]]:
    """Measure all pairs of points; keep those whose σ is below the highest gap between them.

    Parameters
    ----------
    objects : Objects
        What is compared.
    prepared : PreparedBlock
        As :func:`prepare_at_once` returns it.
    order : ndarray of int, shape (objects,)
        Objects in an order.
    gaps : ndarray, shape (objects - 1,)
        Between neighbours in it.
    run : Run
        How it is carried out.

    Yields
    ------
    ndarray, shape (pairs, 2)
        Pairs of objects.
    ndarray, shape (pairs,)
        σ of each.
    """
    n_objects = len(objects)
    below = _Below(prepared.reorder(order), n_objects, gaps)
    firsts = range(0, n_objects, SQUARE)
    found = run.engine.map(_measure_band_below, below, firsts)
    for first, (pairs, sigma) in zip(firsts, found, strict=True):
        index = order[pairs]
        refuse_beyond_limits(objects.ensemble, index, sigma)
        run.tell(_before(min(first + SQUARE, n_objects), n_objects), _before(n_objects, n_objects))
        yield index, sigma


def measure_every(
    objects: Objects, prepared: PreparedBlock, run: Run, size: int
) -> Iterator[Fluctuations]:
    """Measure σ of all pairs of points, in bands of objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    prepared : PreparedBlock
        As :func:`prepare_at_once` returns it.
    run : Run
        How it is carried out.
    size : int
        Pairs that are held at a time, about.

    Yields
    ------
    Fluctuations
        The same as the ordinary way finds, of consecutive pairs.
    """
    n_objects = len(objects)
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
        yield _found(objects, index, sigma)
        firsts = firsts[n_bands:]


def _found(objects: Objects, index: Ints, sigma: Floats) -> Fluctuations:
    """All that was found of some pairs, which are seen in every snapshot."""
    ensemble = objects.ensemble
    refuse_beyond_limits(ensemble, index, sigma)
    common = np.broadcast_to(np.int64(ensemble.n_snapshots), sigma.shape)
    return Fluctuations(len(objects), frozen(index), frozen(sigma), frozen(common), ensemble.unit)


def _before(first: int, n_objects: int) -> int:
    """Count the pairs of which one object comes before another."""
    return first * (2 * n_objects - first - 1) // 2


@dataclass(frozen=True, slots=True, eq=False)
class _Dense:
    """What all bands of objects, or tiles of listed pairs, need."""

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


def _measure_tile(listed: _Dense, tile: slice) -> None:
    """Measure some of the pairs of a list."""
    listed.prepared.fill_list(listed.index[tile], listed.sigma[tile])


@dataclass(frozen=True, slots=True, eq=False)
class _Below:
    """What all bands of objects need of which few pairs are kept."""

    prepared: PreparedBlock  # in the order of gaps
    n_objects: int
    gaps: Floats


def _measure_band_below(below: _Below, first: int) -> tuple[Ints, Floats]:
    """Measure a band; keep pairs, by their places in the order, that are below their gap."""
    n_objects = below.n_objects
    room = _before(min(first + SQUARE, n_objects), n_objects) - _before(first, n_objects)
    pairs, sigma = np.empty((room, 2), np.int64), np.empty(room)
    count = below.prepared.fill_band_below(first, SQUARE, below.gaps, pairs, sigma)
    return pairs[:count].copy(), sigma[:count].copy()
