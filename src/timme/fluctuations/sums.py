"""Sum distances over many short parts of the snapshots, and resample σ from them.

A trajectory that might have been has some parts twice and others not at all. Its σ follows from
sums over the parts alone: of r − r̄ and of its square, r̄ the mean over all snapshots. Squares of
objects of several sites are averaged over their cross pairs first, and how the mean of each cross
pair shifts when parts are resampled is left out: σ is then as much too large as r̄ is wrong. All is
held in single precision, 8 bytes for each pair and part, or 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._html import Described
from timme._kernels import parts as kernel
from timme.engine.metrics import known_metric, unit_of_distances
from timme.engine.moments import Metric, Moments
from timme.engine.reduction import Kept, moments_by_part, require_parts
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.fluctuations.crossing import Crossing, Singles, count_site_pairs
from timme.fluctuations.units import Layout, Units, hold
from timme.objects import Objects
from timme.system.ensemble import Ensemble

HELD_BYTES = 24_000_000  # sums of site pairs that are held at a time, where objects have several
_TILE = 8192  # pairs that a thread takes at a time

NoiseVariance = Callable[[Ints], Floats]
"""Tells what errors of positions add to σ² of pairs of points, over very many snapshots."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartSums(Described):
    """Sums of pair distances over parts of the snapshots, from which σ is resampled."""

    n_objects: int
    pairs: Ints  # (pairs, 2)
    parts: tuple[range, ...]  # snapshots of each
    totals: Floats  # (parts,), their weight
    second: Singles  # (pairs, parts), Σ (r − r̄)²; of groups, averaged over cross pairs
    first: Singles | None  # (pairs, parts), Σ (r − r̄); None of objects of several sites
    seen: Singles | None  # (pairs, parts), weight where both are seen; None if always
    unit: str = ""
    largest_of: Crossing | None = None  # where the largest cross pair counts, and sums are theirs
    noise: Floats | None = None  # (pairs,), taken off σ², less 1/n of it for n snapshots

    def resample(
        self, times: npt.ArrayLike, *, rows: Ints | None = None, workers: int | None = None
    ) -> Iterator[tuple[slice, Singles]]:
        """Work out σ² with each part counted so many times.

        Parameters
        ----------
        times : array_like, shape (draws, parts)
            How often each part counts.
        rows : ndarray of int, optional
            Which pairs; all by default.
        workers : int, optional
            Threads; all cores by default.

        Yields
        ------
        slice
            Which of the pairs come next.
        ndarray of float32, shape (those pairs, draws)
            Their σ²; inf where a pair is seen in less than half of what it should be.
        """
        counts = np.ascontiguousarray(np.asarray(times, np.float32).T)
        if self.largest_of is not None:
            yield from self._largest(counts, rows)
            return
        n_rows = len(self.second) if rows is None else len(rows)
        tiles = [slice(k, min(k + _TILE, n_rows)) for k in range(0, n_rows, _TILE)]
        chosen = [tile if rows is None else rows[tile] for tile in tiles]
        found = Threads(workers).map(_resample, (self, counts), chosen)
        yield from zip(tiles, found, strict=True)

    def sigma(self, times: npt.ArrayLike, *, rows: Ints | None = None) -> Singles:
        """Work out σ of some pairs with each part counted so many times, all at once.

        Parameters
        ----------
        times, rows
            As for :meth:`resample`.

        Returns
        -------
        ndarray of float32, shape (pairs, draws)
            σ of each.
        """
        n_draws = len(np.asarray(times))
        pieces = [found for _, found in self.resample(times, rows=rows)]
        found: Singles = np.sqrt(np.concatenate([np.empty((0, n_draws), np.float32), *pieces]))
        return found

    def _largest(self, counts: Singles, rows: Ints | None) -> Iterator[tuple[slice, Singles]]:
        """Resample sites, and take the largest of each pair of objects, draw by draw."""
        crossing = self.largest_of
        assert crossing is not None  # noqa: S101, asked before
        of_sites = np.concatenate(
            [
                _resample((self, counts), np.arange(k, min(k + _TILE, len(self.second))))
                for k in range(0, len(self.second), _TILE)
            ]
        )
        index = self.pairs if rows is None else self.pairs[rows]
        yield slice(0, len(index)), crossing.reduce_rows(of_sites, index, largest=True)

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("objects", self.n_objects),
            ("pairs", len(self.pairs)),
            ("parts", len(self.parts)),
            ("snapshots", sum(map(len, self.parts))),
        )


def sum_parts(
    objects: Objects,
    index: Ints,
    parts: Sequence[range],
    *,
    metric: Metric | None = None,
    layout: Layout | None = None,
    noise: NoiseVariance | None = None,
    run: Run = DEFAULT,
) -> PartSums:
    """Sum the distances of pairs of objects over parts of the snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Who with whom, the lower first.
    parts : sequence of range
        Runs of consecutive snapshots that do not overlap, in their order.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    layout : Layout, optional
        Frames of the ensemble, if they were laid out in these parts before.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, which is taken off every draw.
    run : Run, optional
        How it is carried out: with the threads of this process.

    Returns
    -------
    PartSums
        Of each pair, 8 bytes for each part, or 4.
    """
    ensemble = objects.ensemble
    require_parts(parts, ensemble.n_snapshots)
    if any(one.stop != other.start for one, other in pairwise(parts)):
        raise ValueError(f"parts must follow one another without gaps, got {parts}")
    metric = known_metric(metric, ensemble)
    n_pieces = 1
    if not objects.are_points and objects.reduction != "max":
        held = 8 * len(parts) * count_site_pairs(objects, index)
        n_pieces = min(len(index), -(-held // HELD_BYTES)) or 1
    made = [
        _sum_piece(Crossing.of(objects, piece), parts, metric, layout, run)
        for piece in np.array_split(index, n_pieces)
    ]
    first, second, seen = (_join(arrays) for arrays in zip(*made, strict=True))
    assert second is not None  # noqa: S101, squares are always there
    return PartSums(
        n_objects=len(objects),
        pairs=frozen(index),
        parts=tuple(parts),
        totals=frozen(weights_of(ensemble, parts)),
        second=second,
        first=first,
        seen=seen,
        unit=unit_of_distances(metric, ensemble.unit),
        largest_of=Crossing.of(objects, index) if takes_largest(objects) else None,
        noise=None if noise is None else frozen(noise(index)),
    )


def _join(pieces: Sequence[Singles | None]) -> Singles | None:
    """Bring pieces of the pairs together; a part of them has nothing if all have not."""
    held = [piece for piece in pieces if piece is not None]
    return held[0] if len(held) == 1 else np.concatenate(held) if held else None


def takes_largest(objects: Objects) -> bool:
    """Tell whether the largest of all cross pairs counts, so that sums are those of sites.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    bool
        False for points, which have one.
    """
    return not objects.are_points and objects.reduction == "max"


def _sum_piece(
    crossing: Crossing,
    parts: Sequence[range],
    metric: Metric | None,
    layout: Layout | None,
    run: Run,
) -> tuple[Singles | None, Singles, Singles | None]:
    """Sums of r − r̄, of its square, and of weights, for a piece of the pairs."""
    ensemble = crossing.ensemble
    if is_plain(ensemble, metric):
        first, second = _sum_plainly(
            layout or Layout(ensemble, parts, None), crossing.site_pairs, run
        )
        seen = None
    else:
        first, second, seen = sum_anything(ensemble, crossing.site_pairs, parts, metric, run)
    if crossing.objects.are_points:
        return first, second, seen
    rigid = crossing.rigid_site_pairs()
    first[rigid], second[rigid] = 0.0, 0.0
    if takes_largest(crossing.objects):
        return first, second, seen
    del first
    if seen is not None:
        second /= np.maximum(seen, np.float32(1e-30))
    reduced = crossing.reduce_rows(second, crossing.index, largest=False, run=run)
    if seen is None:
        return None, reduced, None
    weight = seen.max() - crossing.reduce_rows(
        seen.max() - seen, crossing.index, largest=True, run=run
    )
    return None, reduced * weight, weight


def lay_out_once(
    objects: Objects, parts: Sequence[range], metric: Metric | None = None
) -> Layout | None:
    """Lay the frames of objects out for several sums over the same parts.

    Parameters
    ----------
    objects : Objects
        What is compared.
    parts : sequence of range
        As for :func:`sum_parts`.
    metric : str or callable, optional
        As for :func:`timme.measure`.

    Returns
    -------
    Layout or None
        None where sums are made another way.
    """
    ensemble = objects.ensemble
    if not is_plain(ensemble, known_metric(metric, ensemble)):
        return None
    return hold(objects.centres() if objects.are_points else ensemble, parts)


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
        True if the loops of this module may be used.
    """
    plain = metric is None and not ensemble.gaps and ensemble.weights is None
    return plain and ensemble.snapshot(0)[1] is None


def _sum_plainly(layout: Layout, pairs: Ints, run: Run) -> tuple[Singles, Singles]:
    """Sums over parts in open space, all frames seen and of weight 1."""
    shape = (len(pairs), len(layout.parts))
    first, second = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    used = np.unique(pairs)
    if layout.held is None and 0 < 2 * len(used) < layout.ensemble.n_sites:  # these are laid out
        layout = Layout(layout.ensemble.select(used), layout.parts, None)
        pairs = np.searchsorted(used, pairs)
    origin = first_distances(layout, pairs)
    tiles = [slice(k, k + _TILE) for k in range(0, len(pairs), _TILE)]
    threads = Threads(run.engine.threads_here)

    def add(units: Units, tile: slice) -> None:
        known = units.owners, units.lengths, origin[tile]
        kernel.add_part_sums(units.xyz, np.array(pairs[tile]), *known, first[tile], second[tile])

    for units in layout:
        run_all(threads.map(add, units, tiles))
    totals = np.array([float(len(part)) for part in layout.parts])
    run_all(threads.map(partial(_centre, totals), (first, second), tiles))
    return first, second


def run_all(results: Iterable[Any]) -> None:
    """Wait for all that threads do.

    Parameters
    ----------
    results : iterable
        What they return, which nobody asks for.
    """
    for _ in results:
        pass


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


def _centre(totals: Floats, sums: tuple[Singles, Singles], tile: slice) -> None:
    first, second = sums
    kernel.centre_sums(totals, first[tile], second[tile])


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

    def keep(_: int, found: Moments) -> Kept:
        mean = np.where(found.weight > 0, found.mean - origin, 0.0)
        return tuple(array.astype(np.float32) for array in (mean, found.m2, found.weight))

    mean, second, weight = (
        np.ascontiguousarray(np.stack(rows, axis=1))
        for rows in zip(*summed(parts, keep), strict=True)
    )
    whole = weight.sum(axis=1, dtype=np.float64)
    average = (weight * mean).sum(axis=1, dtype=np.float64) / np.maximum(whole, 1e-30)
    mean -= average[:, None].astype(np.float32)
    second += weight * mean**2
    return weight * mean, second, weight if ensemble.gaps else None


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


def _resample(shared: tuple[PartSums, Singles], rows: Any) -> Singles:
    """σ² of some pairs for every draw: two products of matrices, or one."""
    sums, counts = shared
    second = sums.second[rows]
    if sums.seen is None:
        share = counts / np.maximum(sums.totals.astype(np.float32) @ counts, 1e-30)
        squares = _multiply(second, share)
        if sums.first is not None:
            squares -= _multiply(sums.first[rows], share) ** 2
        _take_off_noise(sums, rows, squares, sums.totals @ counts)
        return np.maximum(squares, 0.0, out=squares)
    seen = sums.seen[rows]
    weight = _multiply(seen, counts)
    # A draw of a tenth of the snapshots should see a tenth of what is seen in all of them.
    drawn = (sums.totals @ counts) / sums.totals.sum()
    often = weight >= 0.5 * drawn.astype(np.float32) * seen.sum(axis=1, keepdims=True)
    weight = np.maximum(weight, 1e-30)
    squares = _multiply(second, counts) / weight
    if sums.first is not None:
        squares -= (_multiply(sums.first[rows], counts) / weight) ** 2
    _take_off_noise(sums, rows, squares, weight)
    found: Singles = np.where(often, np.maximum(squares, 0.0), np.float32(np.inf))
    return found


def _take_off_noise(sums: PartSums, rows: Any, squares: Singles, n_snapshots: Any) -> None:
    """Take what errors of positions add off σ² over so many snapshots, which all weigh the same."""
    if sums.noise is not None:
        share = 1 - 1 / np.maximum(n_snapshots, 1.0)
        squares -= (sums.noise[rows][:, None] * share).astype(np.float32)


def _multiply(rows: Singles, counts: Singles) -> Singles:
    products = np.empty((len(rows), counts.shape[1]), np.float32)
    kernel.multiply(np.ascontiguousarray(rows), np.ascontiguousarray(counts), products)
    return products
