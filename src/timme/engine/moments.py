"""Moments of pair distances over a block of frames, and how those of blocks are merged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from timme._arrays import Coordinates, Floats, Ints, frozen
from timme._kernels import boxes as box_kernel
from timme._kernels import moments as kernel
from timme.engine.metrics import Metric, measure_distances
from timme.ensemble import Block, Boxes
from timme.ensemble.ensemble import SINGLE_FROM

_LINE = 64  # bytes of a vector, and of a line of the cache
_HELD = 2_000_000  # coordinates that a metric gets at a time, about


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of the distance of each pair over the snapshots in which both sites are seen."""

    count: Ints  # (pairs,), snapshots in common
    weight: Floats  # (pairs,), their weights added up
    mean: Floats  # (pairs,)
    m2: Floats  # (pairs,), weighted sum of squared deviations from the mean
    reach: Floats  # (pairs,), largest distance over half the width of the box; 0 in open space

    @classmethod
    def empty(cls, n_pairs: int) -> Moments:
        """Return the moments over no snapshots."""
        # np.zeros would leave it to the loops to map pages of memory.
        return cls(np.full(n_pairs, 0), *(np.full(n_pairs, 0.0) for _ in range(4)))

    @property
    def arrays(self) -> tuple[Ints, Floats, Floats, Floats, Floats]:
        """All arrays, in the order of the fields."""
        return self.count, self.weight, self.mean, self.m2, self.reach

    @property
    def variance(self) -> Floats:
        """Population variance σ² of each distance; NaN where no snapshot is in common."""
        with np.errstate(invalid="ignore"):  # 0 / 0
            return self.m2 / self.weight

    def add(self, other: Moments) -> None:
        """Merge the moments of the same pairs over other snapshots into these, in place."""
        kernel.merge(*self.arrays, *map(np.ascontiguousarray, other.arrays))

    def part(self, tile: slice) -> Moments:
        """Return a view of some of the pairs."""
        count, weight, mean, m2, reach = self.arrays
        return Moments(count[tile], weight[tile], mean[tile], m2[tile], reach[tile])


class LaidOut:
    """A block with the frames of each site next to one another; threads may share it."""

    def __init__(self, block: Block, metric: Metric | None = None) -> None:
        self._n_frames, _, n_dimensions = block.coordinates.shape
        self._metric, self._complete = metric, block.complete
        self._weights = np.array(block.weights)
        boxes = block.boxes if metric is None else None
        self._boxes = Boxes.of(boxes, self._n_frames, n_dimensions, block.images)
        self._box_arrays = _lay_out_boxes(self._boxes)
        is_open = self._boxes.kind == box_kernel.OPEN
        self._plain = metric is None and block.complete and is_open and n_dimensions <= 3
        number = np.dtype("f4" if block.single else "f8")
        if metric is None:
            self._xyz = _lay_out(block.coordinates, number, padded=self._plain)
        else:
            self._points = block.coordinates.astype(np.float64)
            self._xyz = np.empty((0, n_dimensions, 0), number)

    def measure(self, pairs: Ints, parts: Sequence[slice] | None = None) -> list[Moments]:
        """Return the moments of pairs (pairs, 2) over each of some slices of the frames.

        By default that is one slice, of all frames. Less than 64 of more frames are summed in
        double precision.
        """
        pairs = frozen(np.ascontiguousarray(pairs))  # one type, so that kernels are compiled once
        bounds = [part.indices(self._n_frames)[:2] for part in parts or [slice(None)]]
        others = self._measure_others(pairs, [b for b in bounds if not self._is_fast(*b)])
        return [
            self._measure_fast(pairs, *b) if self._is_fast(*b) else next(others) for b in bounds
        ]

    def _is_fast(self, start: int, stop: int) -> bool:
        return self._plain and (stop - start >= SINGLE_FROM or stop - start == self._n_frames)

    def _measure_fast(self, pairs: Ints, start: int, stop: int) -> Moments:
        n_frames, mean, m2 = stop - start, np.empty(len(pairs)), np.empty(len(pairs))
        end = self._xyz.shape[2] if n_frames == self._n_frames else stop
        kernel.fill_open(self._xyz, (start, end), n_frames, pairs, mean, m2)
        count = np.broadcast_to(np.int64(n_frames), len(pairs))
        weight, reach = np.broadcast_to([[float(n_frames)], [0.0]], (2, len(pairs)))
        return Moments(count, weight, mean, m2, reach)

    def _measure_others(self, pairs: Ints, bounds: Sequence[tuple[int, int]]) -> Iterator[Moments]:
        steps = np.empty((0, self._xyz.shape[1]))  # to images that are seen in all frames
        if self._boxes.kind != box_kernel.OPEN and len(self._boxes.origin):
            steps = self._boxes.steps_between(pairs[:, 1], pairs[:, 0])
        shape = len(pairs), len(bounds)
        found = (np.empty(shape, np.int64), *(np.empty(shape) for _ in range(4)))
        kernel.fill_parts(
            *(self._xyz, self._weights, self._complete, (*self._box_arrays, steps), pairs),
            *(np.array(bounds), self._other_distances(pairs), *found),
        )
        columns: Any = zip(*(array.T for array in found), strict=True)
        yield from (Moments(*arrays) for arrays in columns)

    def _other_distances(self, pairs: Ints) -> Floats:
        """Distances (pairs, frames) by another metric; none for the Euclidean one."""
        if self._metric is None:
            return np.empty((0, 0))
        distances = np.empty((len(pairs), self._n_frames))
        length = max(1, _HELD // self._points[:, 0].size)
        for begin in range(0, len(pairs), length):
            points = (self._points[:, sites] for sites in pairs[begin : begin + length].T)
            distances[begin : begin + length] = measure_distances(self._metric, *points).T
        return distances


def _lay_out(coordinates: Coordinates, number: np.dtype[Any], *, padded: bool) -> Coordinates:
    """Copy coordinates (frames, sites, dimensions) to (sites, dimensions, frames).

    The fast loop takes whole vectors, with 0 in missing dimensions and the first frame again in
    missing frames, by which nothing is added. None of them lies across two lines of the cache.
    """
    n_frames, n_sites, n_dimensions = coordinates.shape
    width = n_frames + -n_frames % (_LINE // number.itemsize) if padded else n_frames
    shape = n_sites, 3 if padded else n_dimensions, width
    room = np.empty(math.prod(shape) + _LINE, number)
    begin = -room.ctypes.data % _LINE // number.itemsize
    laid_out = room[begin : begin + math.prod(shape)].reshape(shape)
    laid_out[:, n_dimensions:] = 0.0
    laid_out[:, :n_dimensions, :n_frames] = coordinates.transpose(1, 2, 0)
    laid_out[..., n_frames:] = laid_out[..., :1]
    return laid_out


def _lay_out_boxes(boxes: Boxes) -> tuple[Floats, Floats, Floats, Floats, int, Ints]:
    """Matrices, inverses, half widths and shortening vectors, frames last; kind and molecules."""
    matrices = np.ascontiguousarray(boxes.matrices.transpose(1, 2, 0))
    inverses = np.ascontiguousarray(boxes.inverses.transpose(1, 2, 0))
    halves, shortening = np.empty(0), np.empty((0, *matrices.shape[1:]))
    if boxes.kind == box_kernel.TILTED:
        halves = np.array([box_kernel.half_width(inverse) for inverse in boxes.inverses])
        shortening = box_kernel.shortening_vectors(boxes.matrices)
    return matrices, inverses, halves, shortening, boxes.kind, boxes.molecules
