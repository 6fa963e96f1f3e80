"""Sums of distances over parts of the snapshots, from which σ of other trajectories is resampled.

A trajectory that might have been has some parts twice and others not at all. Its σ follows from the
sums over each part of r - r̄ and of its square, where r̄ is the mean over all snapshots. Squares of
objects of several sites are averaged over their cross pairs first; how the mean of each cross pair
shifts between such trajectories is left out, and their σ is too large by that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen, joined
from timme._kernels import reductions as kernel
from timme._text import Described
from timme.engine.checkpoint import DEFAULT, Run
from timme.engine.moments import Metric, Moments, known_metric
from timme.engine.reduction import reduce_moments
from timme.engine.workers import Threads
from timme.objects import Objects, require_flat
from timme.site_pairs import SitePairs

Singles = npt.NDArray[np.float32]

_PIECE_BYTES = 400_000_000  # of sums that are held at a time
_BYTES = 32  # for each pair of sites and part, while sums are put in order
_TILE = 8192  # pairs that a thread takes at a time
_TINY = np.float32(1e-30)  # in place of a weight of 0
_SUMS = ("second", "first", "seen")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartSums(Described):
    """Sums over parts of the snapshots.

    Rows are pairs of objects, or pairs of their sites where the largest of these counts. Arrays
    that are not needed have no columns.
    """

    n_objects: int
    pairs: Ints  # (pairs, 2)
    totals: Floats  # (parts,), weights of their snapshots
    second: Singles  # (rows, parts), Σ (r - r̄)²
    first: Singles  # (rows, parts), Σ (r - r̄); not needed where squares were averaged
    seen: Singles  # (rows, parts), weight where both are seen; not needed where all are
    site_pairs: SitePairs | None = None  # where rows are pairs of sites

    def resample(self, times: npt.ArrayLike) -> Singles:
        """Return σ² (pairs, draws) with each part counted so many times (draws, parts).

        It is infinite where a pair is seen in less than half of what would be expected.
        """
        counts = np.ascontiguousarray(np.asarray(times, np.float32).T)
        drawn = (self.totals @ counts)[None].astype(np.float32)
        weight = kernel.multiply(self.seen, counts) if self.seen.size else drawn
        divisor: Singles = np.maximum(weight, _TINY)
        squares = kernel.multiply(self.second, counts) / divisor
        if self.first.size:
            squares -= (kernel.multiply(self.first, counts) / divisor) ** 2
        np.maximum(squares, 0, out=squares)
        if self.seen.size:
            usual = self.seen.sum(axis=1, keepdims=True) / np.float32(self.totals.sum())
            squares[weight < 0.5 * drawn * usual] = np.inf
        return squares if self.site_pairs is None else self.site_pairs.reduce(squares, largest=True)

    def take(self, rows: Ints | slice) -> PartSums:
        """Return the sums of some of the pairs."""
        chosen, places = self.site_pairs, rows
        if chosen is not None:
            factors, before = np.array([chosen.ensemble.n_sites, 1]), chosen.site_pairs
            chosen = SitePairs.of(chosen.objects, self.pairs[rows])
            places = np.searchsorted(before @ factors, chosen.site_pairs @ factors)
        arrays: dict[str, Any] = {name: getattr(self, name)[places] for name in _SUMS}
        return replace(self, pairs=self.pairs[rows], site_pairs=chosen, **arrays)


def sum_parts(
    objects: Objects,
    index: Ints,
    parts: Sequence[range],
    *,
    keep: Callable[[PartSums], Bools] | None = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> PartSums:
    """Sum the distances of listed pairs of objects over parts of the snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Pairs of objects, the lower first.
    parts : sequence of range
        Runs of snapshots, each of which begins where the one before it ends.
    keep : callable, optional
        Called with the sums of some thousand pairs at a time, in several threads; returns which of
        them are kept. No more is held than 400 MB and what is kept.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    run : Run, optional
        How it is carried out; nothing is saved.

    Returns
    -------
    PartSums
        Of the pairs that are kept, all by default.
    """
    metric = known_metric(metric, objects.ensemble)
    require_flat(objects, metric)
    n_pieces, pieces = 1, list[PartSums]()
    if objects.are_points or objects.reduction != "max":
        n_rows = len(SitePairs.of(objects, index).site_pairs)
        n_pieces = max(1, -(-_BYTES * len(parts) * n_rows // _PIECE_BYTES))
    threads = Threads(run.engine.threads_here)
    for number, piece in enumerate(np.array_split(index, n_pieces)):
        sums = _sum_piece(SitePairs.of(objects, piece), parts, metric, Run(run.engine))
        if keep is not None:
            kept = threads.map(lambda sums, tile: keep(sums.take(tile)), sums, _tiles(len(piece)))
            sums = sums.take(np.flatnonzero(np.concatenate([*kept])))
        pieces.append(sums)
        run.tell(number + 1, n_pieces)
    return joined(pieces, ("pairs", *_SUMS))


def _sum_piece(
    chosen: SitePairs, parts: Sequence[range], metric: Metric | None, run: Run
) -> PartSums:
    """Sum all pairs of a piece."""
    objects, ensemble, threads = chosen.objects, chosen.ensemble, run.engine.threads_here
    pairs, gaps, shape = chosen.site_pairs, ensemble.gaps, (len(chosen.site_pairs), len(parts))
    counted = np.ones(ensemble.n_snapshots) if ensemble.weights is None else ensemble.weights
    totals = np.array([counted[part.start : part.stop].sum() for part in parts])
    means, weights = np.empty(shape), np.empty(shape if gaps else (0, 0))
    second, first = np.empty(shape, np.float32), np.empty(shape, np.float32)

    def reduce(part: int, tile: slice, found: Moments) -> None:
        """Add a part of a tile; with the last one, refer all to the mean over all parts."""
        means[tile, part] = found.mean
        second[tile, part] = found.m2
        if gaps:
            weights[tile, part] = found.weight
        if part == len(parts) - 1:
            weight, mean = weights[tile] if gaps else totals[None], means[tile]
            centre = (weight * mean).sum(axis=1) / np.maximum(weight.sum(axis=1), _TINY)
            shift = mean - centre[:, None]
            first[tile] = weight * shift
            second[tile] += weight * shift**2

    reduce_moments(ensemble, pairs, reduce, parts, metric=metric, run=run)
    seen = weights.astype(np.float32) if gaps else np.empty((len(pairs), 0), np.float32)
    chosen.clear_rigid(first)
    chosen.clear_rigid(second)
    made = PartSums(len(objects), frozen(chosen.index), totals, second, first, seen)
    if objects.are_points:
        return made
    if objects.reduction == "max":
        return replace(made, site_pairs=chosen)
    none = np.empty((len(chosen.index), 0), np.float32)
    if not ensemble.gaps:
        return replace(made, second=chosen.reduce(second, threads=threads), first=none, seen=none)
    second /= np.maximum(seen, _TINY)
    least = seen.max() - chosen.reduce(seen.max() - seen, largest=True)
    return replace(made, second=chosen.reduce(second) * least, first=none, seen=least)


def _tiles(n_rows: int) -> list[slice]:
    return [slice(first, min(first + _TILE, n_rows)) for first in range(0, max(1, n_rows), _TILE)]
