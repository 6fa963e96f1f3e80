"""Moments of pair distances over a block of frames, and how those of blocks are merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen
from timme._kernels import metrics as named_kernel
from timme._kernels import moments as kernel
from timme._kernels import plain as plain_kernel
from timme._kernels.space import OPEN
from timme.engine.metrics import NAMED, refuse_undefined
from timme.system.blocks import Block
from timme.system.space import Boxes

Metric = Callable[[Coordinates, Coordinates], Coordinates] | str
"""Distances (…,) between points (…, dimensions) of two arrays of the same shape; or a name."""

"""Called with the work done and the whole work, in any unit."""

Merge = Callable[[Sequence["Moments"]], None]
"""Merges something into each of some moments, in place."""

_LANES, _FEWEST_FILLED = 16, 48  # numbers of a vector; frames of which a last one is filled up
_LINE = 64  # bytes of a cache that are fetched together
_TILE = 32_768  # pairs that one worker takes at a time, at most


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
        """Start with no snapshot.

        Parameters
        ----------
        n_pairs : int
            Number of pairs.

        Returns
        -------
        Moments
            All zero.
        """
        # Not np.zeros, whose memory comes page by page, slowly, while the loops run.
        return cls(np.full(n_pairs, 0), *(np.full(n_pairs, 0.0) for _ in range(4)))

    def clear(self) -> None:
        """Start again with no snapshot, in the same memory."""
        for array in self.arrays:
            array.fill(0)

    @property
    def variance(self) -> Floats:
        """Population variance σ² of each distance; NaN where no snapshot is in common."""
        return np.divide(
            self.m2, self.weight, where=self.count > 0, out=np.full_like(self.m2, np.nan)
        )

    def merge(self, other: Moments) -> Moments:
        """Return the moments over the snapshots of both.

        Parameters
        ----------
        other : Moments
            Of the same pairs over other snapshots.

        Returns
        -------
        Moments
            As if all had been measured together.
        """
        merged = Moments.empty(len(self.count))
        merged.add(self)
        merged.add(other)
        return merged

    def add(self, other: Moments) -> None:
        """Merge the moments over other snapshots into these.

        Parameters
        ----------
        other : Moments
            Of the same pairs.
        """
        kernel.merge_moments(*self.arrays, *other.arrays)

    @property
    def arrays(self) -> tuple[Ints, Floats, Floats, Floats, Floats]:
        """All arrays, in the order of the fields."""
        return self.count, self.weight, self.mean, self.m2, self.reach

    def part(self, tile: slice) -> Moments:
        """Return some of the pairs.

        Parameters
        ----------
        tile : slice
            Which pairs.

        Returns
        -------
        Moments
            A view: what is merged into it is merged into the whole.
        """
        return Moments(
            self.count[tile], self.weight[tile], self.mean[tile], self.m2[tile], self.reach[tile]
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive snapshots of one block that are summed by themselves: the block, or less."""

    block: int  # first snapshot of the block with which they are read
    start: int
    stop: int
    single: bool  # whether sums may be in single precision, if coordinates are

    def of(self, block: Block) -> Block:
        """Cut the piece out of its block.

        Parameters
        ----------
        block : Block
            All that was read.

        Returns
        -------
        Block
            A view of its snapshots.
        """
        return replace(block.cut(self.start, self.stop), single=block.single and self.single)


def pair_tiles(n_pairs: int) -> list[slice]:
    """Cut a list of pairs into the tiles that one worker takes at a time.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.

    Returns
    -------
    list of slice
        In order.
    """
    tile = min(_TILE, max(1024, n_pairs // 16))  # enough for all workers
    return [slice(start, start + tile) for start in range(0, n_pairs, tile)]


class PreparedBlock:
    """A block of frames laid out for the loops: the frames of a site next to one another.

    Parameters
    ----------
    block : Block
        Consecutive snapshots.
    metric : callable or str, optional
        Distance, or its name, as :func:`timme.engine.metrics.known_metric` returns it; Euclidean
        if not given.
    room : ndarray, optional
        Memory for as many coordinates, to be used again.
    """

    def __init__(
        self, block: Block, metric: Metric | None = None, room: Floats | None = None
    ) -> None:
        n_frames, _, n_dimensions = block.coordinates.shape
        self._metric = metric
        self._weights = np.array(block.weights)
        self._boxes = Boxes.of(block.boxes, n_frames, n_dimensions, block.images)
        # Whether all frames are seen and weigh the same, in open space.
        self.plain = metric is None and block.complete and self._boxes.kind == OPEN
        self._n_frames = n_frames
        if metric is None:
            laid_out = block.coordinates.transpose(1, 2, 0)
            room = room_for(block) if room is None else room
            width = fill_up(n_frames) if self.plain and block.single else n_frames
            shape = (*laid_out.shape[:2], width)
            self._xyz = room[: math.prod(shape)].reshape(shape)
            self._xyz[..., :n_frames] = laid_out
            self._xyz[..., n_frames:] = laid_out[..., :1]
        elif isinstance(metric, str):
            laid_out = block.coordinates.transpose(1, 2, 0)
            self._xyz = np.ascontiguousarray(laid_out, dtype=np.float64)
        else:
            self._points = block.coordinates.astype(np.float64)
            self._unseen = np.asarray(np.isnan(self._points).any(axis=2))

    @property
    def xyz(self) -> Floats:
        """Coordinates (sites, dimensions, frames) of a plain block, and some that fill it up."""
        return self._xyz

    def merge(self, pairs: Ints, into: Moments) -> None:
        """Merge the block into the moments of pairs.

        Parameters
        ----------
        pairs : ndarray, shape (pairs, 2)
            Pairs of sites.
        into : Moments
            Of each pair over the blocks before; changed in place.
        """
        pairs = frozen(np.ascontiguousarray(pairs))  # loops are compiled for what is read-only
        count, weight, mean, m2, reach = into.arrays
        if isinstance(self._metric, str):
            code = NAMED[self._metric].code
            moments = (count, weight, mean, m2)
            n_undefined = named_kernel.add_named(self._xyz, self._weights, code, pairs, *moments)
            refuse_undefined(self._metric, n_undefined)
        elif self._metric is not None:
            distances = self._distances(pairs, self._metric)
            kernel.add_distances(distances, self._weights, count, weight, mean, m2)
        elif self.plain:
            plain_kernel.add_all_frames(self._xyz, self._n_frames, pairs, count, weight, mean, m2)
        else:
            boxes = self._boxes
            kernel.add_frames(
                self._xyz,
                self._weights,
                boxes.matrices,
                boxes.inverses,
                boxes.kind,
                boxes.molecules,
                boxes.origin,
                boxes.origin_box,
                pairs,
                count,
                weight,
                mean,
                m2,
                reach,
            )

    def fill_band(self, first: int, square: int, pairs: Ints, sigma: Floats) -> None:
        """Fill in σ of some consecutive sites and all later ones, in squares of so many sites.

        Parameters
        ----------
        first : int
            The first of the sites.
        square : int
            Their number, and that of the sites on each side of a square.
        pairs : ndarray, shape (pairs, 2)
            Filled with pairs of sites.
        sigma : ndarray, shape (pairs,)
            Filled with σ of each over the block, which must be plain.
        """
        plain_kernel.fill_band(self._xyz, self._n_frames, first, square, pairs, sigma)

    def fill_band_below(
        self, first: int, square: int, gaps: Floats, pairs: Ints, sigma: Floats
    ) -> int:
        """Fill in the same of pairs whose σ is below the highest gap between their sites.

        Parameters
        ----------
        first, square
            As for :meth:`fill_band`.
        gaps : ndarray, shape (sites - 1,)
            Between neighbours.
        pairs, sigma
            As for :meth:`fill_band`, with room for all.

        Returns
        -------
        int
            How many there are; the rest of the room has no meaning.
        """
        made = plain_kernel.fill_band_below(
            self._xyz, self._n_frames, first, square, gaps, pairs, sigma
        )
        return int(made)

    def fill_list(self, pairs: Ints, sigma: Floats) -> None:
        """Fill in σ of pairs over the block, which must be plain.

        Parameters
        ----------
        pairs : ndarray, shape (pairs, 2)
            Pairs of sites.
        sigma : ndarray, shape (pairs,)
            Filled.
        """
        plain_kernel.fill_list(self._xyz, self._n_frames, pairs, sigma)

    def reorder(self, order: Ints) -> PreparedBlock:
        """Lay the sites of a plain block out in another order.

        Parameters
        ----------
        order : ndarray of int, shape (sites,)
            Sites in that order.

        Returns
        -------
        PreparedBlock
            A copy.
        """
        other = copy(self)
        room = _aligned(self._xyz.size, self._xyz.dtype.type).reshape(self._xyz.shape)
        other._xyz = np.take(self._xyz, order, axis=0, out=room, mode="clip")  # noqa: SLF001, ours
        return other

    def _distances(self, pairs: Ints, metric: Callable[..., Coordinates]) -> Floats:
        a, b = pairs.T
        unseen = self._unseen[:, a] | self._unseen[:, b]
        distances = np.asarray(metric(self._points[:, a], self._points[:, b]), dtype=np.float64)
        _check_metric(distances, unseen)
        return np.ascontiguousarray(np.where(unseen, np.nan, distances).T)


def room_for(block: Block) -> Floats:
    """Ask for memory in which blocks no larger than one can be laid out.

    Parameters
    ----------
    block : Block
        Consecutive snapshots.

    Returns
    -------
    ndarray
        One number for each coordinate, and for those that fill up the last vector.
    """
    n_frames, n_sites, n_dimensions = block.coordinates.shape
    width = fill_up(n_frames) if block.single else n_frames
    return _aligned(width * n_sites * n_dimensions, np.float32 if block.single else np.float64)


def _aligned(count: int, kind: type[np.floating[Any]]) -> Floats:
    """Ask for memory that begins with a line of the cache: no vector of it lies across two."""
    numbers = np.empty(count + _LINE // np.dtype(kind).itemsize, kind)
    begin = -numbers.ctypes.data % _LINE // numbers.itemsize
    return numbers[begin : begin + count]


def fill_up(n_frames: int) -> int:
    """Count frames with those that fill up the last vector, which a loop would take one by one.

    Parameters
    ----------
    n_frames : int
        Frames of a block in single precision.

    Returns
    -------
    int
        As many as are laid out.
    """
    return n_frames + -n_frames % _LANES if n_frames >= _FEWEST_FILLED else n_frames


def _check_metric(distances: Floats, unseen: Bools) -> None:
    if distances.ndim == 0:
        raise ValueError(
            "a metric takes two arrays of points and returns a distance for each two, got one "
            "number: reduce over the last axis alone, as np.linalg.norm(a - b, axis=-1)"
        )
    if distances.shape != unseen.shape:
        raise ValueError(
            f"a metric must return one distance for each of {unseen.shape} points, "
            f"got shape {distances.shape}: reduce over the last axis"
        )
    if not np.isfinite(distances[~unseen]).all() or (distances[~unseen] < 0).any():
        raise ValueError("a metric must return finite distances that are not negative")
