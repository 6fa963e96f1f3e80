"""Moments of pair distances over a block of frames, and how those of blocks are merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Coordinates, Floats, Ints, frozen
from timme_next._kernels import boxes as box_kernel
from timme_next._kernels import moments as kernel
from timme_next.engine.metrics import Metric, measure_distances
from timme_next.ensemble import Block, Boxes

_LANES, _LINE = 16, 64  # frames of a vector; bytes of a line of the cache
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
        nothing = np.full_like(self.m2, np.nan)
        return np.divide(self.m2, self.weight, where=self.count > 0, out=nothing)

    def add(self, other: Moments) -> None:
        """Merge the moments of the same pairs over other snapshots into these, in place."""
        kernel.merge(*self.arrays, *other.arrays)

    def part(self, tile: slice) -> Moments:
        """Return a view of some of the pairs."""
        count, weight, mean, m2, reach = self.arrays
        return Moments(count[tile], weight[tile], mean[tile], m2[tile], reach[tile])


class LaidOut:
    """A block with the frames of each site next to one another; threads may share it."""

    def __init__(self, block: Block, metric: Metric | None = None) -> None:
        self._n_frames, _, n_dimensions = block.coordinates.shape
        self._metric, self._weights = metric, np.array(block.weights)
        self._boxes = Boxes.of(block.boxes, self._n_frames, n_dimensions, block.images)
        is_open = self._boxes.kind == box_kernel.OPEN
        self._plain = metric is None and block.complete and is_open and n_dimensions <= 3
        if metric is None:
            number = np.float32 if block.single else np.float64
            self._xyz = _lay_out(block.coordinates, number, whole_vectors=self._plain)
            self._box_arrays = _lay_out_boxes(self._boxes)
        else:
            self._points = block.coordinates.astype(np.float64)

    def measure(self, pairs: Ints, parts: Sequence[slice] | None = None) -> list[Moments]:
        """Return the moments of pairs (pairs, 2) over each of some slices of the frames.

        By default that is one slice, of all frames. Distances in open space are then summed in
        single precision where the block allows it, and else in double precision.
        """
        pairs = frozen(np.ascontiguousarray(pairs))  # one type, so that kernels are compiled once
        whole = [(0, self._n_frames)]
        bounds = whole if parts is None else [part.indices(self._n_frames)[:2] for part in parts]
        shape = len(bounds), len(pairs)
        if self._plain and bounds == whole:
            count, weight = np.full(shape, self._n_frames), np.full(shape, float(self._n_frames))
            mean, m2, reach = np.empty(shape), np.empty(shape), np.full(shape, 0.0)
            kernel.fill_open(self._xyz, self._n_frames, pairs, mean[0], m2[0])
        else:
            count, weight = np.empty(shape, np.int64), np.empty(shape)
            mean, m2, reach = np.empty(shape), np.empty(shape), np.full(shape, 0.0)
            found = count, weight, mean, m2
            edges = np.array(bounds, np.int64).reshape(-1, 2)
            if self._metric is None:
                boxes, steps = self._boxes, self._steps(pairs)
                kernel.fill_parts(
                    *(self._xyz, self._weights, self._box_arrays, boxes.kind, boxes.molecules),
                    *(steps, pairs, edges, *found, reach),
                )
            else:
                length = max(1, _HELD // self._points[:, 0].size)
                for begin in range(0, len(pairs), length):
                    a, b = pairs[begin : begin + length].T
                    points = self._points[:, a], self._points[:, b]
                    distances = measure_distances(self._metric, *points)
                    distances = np.ascontiguousarray(distances.T, dtype=np.float64)
                    kernel.fill_from_distances(distances, self._weights, edges, begin, *found)
        return [Moments(*arrays) for arrays in zip(count, weight, mean, m2, reach, strict=True)]

    def _steps(self, pairs: Ints) -> Floats:
        """Box vectors to the images that are seen in all frames; none where these are nearest."""
        if self._boxes.kind == box_kernel.OPEN or not len(self._boxes.origin):
            return np.empty((0, self._xyz.shape[1]))
        return self._boxes.steps_between(pairs[:, 1], pairs[:, 0])


def _lay_out(
    coordinates: Coordinates, number: npt.DTypeLike, *, whole_vectors: bool
) -> Coordinates:
    """Copy coordinates (frames, sites, dimensions) to (sites, dimensions, frames).

    Whole vectors of three dimensions and of frames, the last of which repeat the first, are for
    the fast loop. No vector lies across two lines of the cache.
    """
    n_frames, n_sites, n_dimensions = coordinates.shape
    width = n_frames + -n_frames % _LANES if whole_vectors else n_frames
    shape = n_sites, 3 if whole_vectors else n_dimensions, width
    room = np.empty(math.prod(shape) + _LINE, number)
    begin = -room.ctypes.data % _LINE // room.itemsize
    laid_out = room[begin : begin + math.prod(shape)].reshape(shape)
    laid_out[:, n_dimensions:] = 0.0
    laid_out[:, :n_dimensions, :n_frames] = coordinates.transpose(1, 2, 0)
    laid_out[..., n_frames:] = laid_out[..., :1]
    return laid_out


def _lay_out_boxes(boxes: Boxes) -> tuple[Floats, Floats, Floats, Floats]:
    """Matrices, inverses, half widths and shortening vectors with frames last."""
    matrices, inverses = (
        np.ascontiguousarray(given.transpose(1, 2, 0)) for given in (boxes.matrices, boxes.inverses)
    )
    if boxes.kind != box_kernel.TILTED:
        return matrices, inverses, np.empty(0), np.empty((0, *matrices.shape[1:]))
    halves = np.array([box_kernel.half_width(inverse) for inverse in boxes.inverses])
    return matrices, inverses, halves, box_kernel.shortening_vectors(boxes.matrices)
