"""Resample σ of pairs from sums of their distances over parts of the snapshots.

A trajectory that might have been has some parts twice and others not at all. Its σ follows from
sums over the parts alone: of r − r̄ and of its square, r̄ the mean over all snapshots. Squares of
objects of several sites are averaged over their cross pairs first, and how the mean of each cross
pair shifts when parts are resampled is left out: σ is then as much too large as r̄ is wrong. All is
held in single precision, 8 bytes for each pair and part, or 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints
from timme._html import Described
from timme._kernels import parts as kernel
from timme.engine.threads import Threads
from timme.fluctuations.crossing import Crossing, Singles
from timme.fluctuations.units import tile_pairs


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
        tiles = tile_pairs(n_rows)
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
        n_pairs = len(self.pairs if rows is None else rows)
        found = np.empty((n_pairs, len(np.asarray(times))), np.float32)
        for tile, squares in self.resample(times, rows=rows):
            np.sqrt(squares, out=found[tile])
        return found

    def _largest(self, counts: Singles, rows: Ints | None) -> Iterator[tuple[slice, Singles]]:
        """Resample sites, and take the largest of each pair of objects, draw by draw."""
        crossing = self.largest_of
        assert crossing is not None  # noqa: S101, asked before
        of_sites = np.concatenate(
            [_resample((self, counts), tile) for tile in tile_pairs(len(self.second))]
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
