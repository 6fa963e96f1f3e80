"""Points that meet in a run of snapshots, found by where each of them passes.

A run of snapshots is cut into windows, in which points stay near where they are. The box around
all places of a point in a window is its path, and pairs of paths that are too far apart need not
be followed. So it takes little more to search a window than one snapshot, as long as points move
little in it: windows are as long as that pays, down to single snapshots. A body that tumbles
through open space is turned back first, which leaves all distances as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, frozen
from timme._kernels import paths as kernel
from timme._kernels.space import OPEN, TILTED, half_width
from timme.system.blocks import Block
from timme.system.neighbours import squeeze
from timme.system.space import Boxes

Found = npt.NDArray[np.int32]
"""Pairs that meet, lower first, and in how many snapshots: (pairs, 3)."""

_SAMPLE = 400  # points by which it is judged how far they move
_EACH_WINDOW, _EACH_FRAME = 30.0, 0.3  # times to look for a pair of paths, and to follow it
_TILES = 32  # parts of a window that are searched at a time, at most
_USUAL = 64  # meetings of a point; where there are no more, a second search is saved
_ROOM = 1 << 15  # meetings of few points, for which there is room in any case
_MOST_SINGLE = 1e15  # radius above which squares may be infinite in single precision
_MOST_CELLS = 1000  # along an axis, so that their numbers have ten bits


@dataclass(frozen=True, slots=True)
class Meeting:
    """When points count as meeting."""

    radius: float  # in the units of the coordinates
    at_least: int  # snapshots; more of them are not counted


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Consecutive snapshots of some points, laid out for a search."""

    stop: int  # the first snapshot after it
    meeting: Meeting
    order: Ints  # (points,), which of them is at each place
    xyz: Coordinates  # (places, dimensions, frames), snapshots that are far apart come first
    boxes: tuple[Floats, Floats]  # this and the following as the loops want them
    seen: tuple[int, Ints, Floats, Coordinates, Coordinates]
    tree: tuple[Floats, Ints, Floats, bool]
    limits: tuple[float, float, float]

    @property
    def tiles(self) -> list[tuple[int, int]]:
        """Runs of leaves that are searched at a time."""
        n_leaves = int(self.tree[1][1])
        bounds = np.linspace(0, n_leaves, min(_TILES, n_leaves) + 1).astype(np.int64).tolist()
        return list(pairwise(bounds))


def cut_windows(meeting: Meeting, block: Block) -> Iterator[Window]:
    """Cut snapshots into windows in which points move little, and lay them out.

    Parameters
    ----------
    meeting : Meeting
        What is looked for.
    block : Block
        Consecutive snapshots.

    Yields
    ------
    Window
        In order.
    """
    n_frames, _, n_dimensions = block.coordinates.shape
    boxes = Boxes.of(block.boxes, n_frames, n_dimensions, block.images)
    motion = _Motion.of(block.coordinates, boxes)
    length = motion.window_length(block.coordinates, meeting.radius)
    for start in range(0, n_frames, length):
        part = slice(start, min(start + length, n_frames))
        yield _lay_out(meeting, block, boxes, motion, part)


def find_meetings(window: Window, tile: tuple[int, int]) -> list[Found]:
    """Find the pairs of a run of leaves, with points of the same and of later ones, that meet.

    Parameters
    ----------
    window : Window
        What all runs need.
    tile : tuple of int
        First leaf, and the first after the last.

    Returns
    -------
    list of ndarray, shape (pairs, 3)
        Pairs in no order. They are not brought together: memory that is new takes longer to fill
        than pairs to find.
    """
    leaf, end = tile
    room = max(_ROOM, _USUAL * kernel.GROUP * (end - leaf))
    parts = list[Found]()
    while leaf < end:
        found = np.empty((room, 3), np.int32)
        total, leaf = kernel.meetings(
            (leaf, end),
            window.tree,
            window.xyz,
            window.boxes,
            window.seen,
            window.limits,
            window.meeting.at_least,
            window.order,
            found,
        )
        parts.append(found[:total] if 2 * total > room else found[:total].copy())
        room *= 2
    return parts


def sort_pairs(parts: Iterable[Found], n_points: int) -> tuple[Ints, Ints]:
    """Sort pairs by their first point, and then by the second.

    Parameters
    ----------
    parts : iterable of ndarray, shape (pairs, 3)
        Pairs, each once; they are counted as they come, while others may still be found.
    n_points : int
        Number of points.

    Returns
    -------
    ndarray, shape (pairs,)
        All of them, as lower × points + higher.
    ndarray, shape (pairs,)
        In how many snapshots each meets.
    """
    times = np.zeros((2, n_points + 1), np.int64)
    held = list[Found]()
    for part in parts:
        kernel.count_pairs(part, *times)
        held.append(part)
    begins, ends = np.cumsum(times, axis=1)
    total = int(ends[-1])
    by_second = np.empty((total, 2), np.int32)
    for part in held:
        kernel.sort_by_second(part, ends, by_second)
    keys, counts = np.empty((2, total), np.int64)
    kernel.sort_by_first(by_second, ends, begins, keys, counts)
    return keys, counts


def split_keys(keys: Ints, n_points: int) -> Ints:
    """Tell the points of pairs.

    Parameters
    ----------
    keys : ndarray, shape (pairs,)
        As lower × points + higher, sorted.
    n_points : int
        Number of points.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Lower and higher.
    """
    pairs = np.empty((len(keys), 2), np.int64)
    kernel.split_keys(keys, n_points, pairs)
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class _Motion:
    """How places are seen so that points move least: turned, or in parts of a periodic box."""

    offsets: Floats  # (frames, dimensions)
    turns: Floats  # (frames, dimensions, axes)
    periods: Floats  # (axes,), infinite where they are open
    straight: bool  # whether axes are at right angles

    @classmethod
    def of(cls, coordinates: Coordinates, boxes: Boxes) -> _Motion:
        n_frames, _, n_dimensions = coordinates.shape
        n_axes = min(n_dimensions, kernel.AXES)
        turns = np.zeros((n_frames, n_dimensions, n_axes))
        turns[:, np.arange(n_axes), np.arange(n_axes)] = 1.0
        still = cls(
            np.zeros((n_frames, n_dimensions)), turns, np.full(n_axes, np.inf), straight=True
        )
        if boxes.kind == OPEN:
            return still._turned_back(coordinates)
        # A distance is no less than any of its parts in units of the box times the box's height.
        heights = _heights(boxes.inverses[:, :, :n_axes])
        closed = (np.linalg.norm(boxes.inverses[:, :, :n_axes], axis=1) > 0).all(axis=0)
        periods = np.where(closed, heights, np.inf)
        scaled = boxes.inverses[:, :, :n_axes] * np.where(closed, heights, 0.0)
        straight = boxes.kind != TILTED
        # Beside tilted vectors, a direction without a period says nothing.
        turns = np.where(closed, scaled, turns if straight else 0.0)
        return cls(still.offsets, turns, periods, straight)

    def _turned_back(self, coordinates: Coordinates) -> _Motion:
        """Superpose snapshots on the first, if points then move less.

        Any orthogonal matrix leaves distances as they are, a reflection as well.
        """
        sample = _sample(coordinates).astype(np.float64)
        if len(sample) < 2 or np.isnan(sample).any():
            return self
        offsets = sample.mean(axis=1)
        centred = sample - offsets[:, None]
        left, _, right = np.linalg.svd(centred.transpose(0, 2, 1) @ centred[0])
        turns = (left @ right)[:, :, : kernel.AXES].copy()
        turned = _Motion(offsets, turns, self.periods, straight=True)
        return min(self, turned, key=lambda motion: motion.width(sample, len(sample)))

    def extents(self, coordinates: Coordinates, frames: slice) -> tuple[Floats, Floats]:
        """Lowest and highest places of points, along up to three axes."""
        n_points = coordinates.shape[1]
        low, high = np.empty((2, n_points, len(self.periods)))
        places = frozen(np.ascontiguousarray(coordinates[frames]))
        turned = self.offsets[frames], self.turns[frames]
        kernel.extents(places, *turned, self.periods, low, high)
        return low, high

    def window_length(self, coordinates: Coordinates, radius: float) -> int:
        """How many snapshots it takes least to search at a time."""
        sample = _sample(coordinates)
        n_frames = len(sample)
        lengths: list[int] = sorted(
            {1, *(max(1, n_frames // 4**k) for k in range(n_frames.bit_length()))}
        )

        def cost(length: int) -> float:
            pairs = (1.0 + self.width(sample, length) / radius) ** len(self.periods)
            return pairs * (_EACH_WINDOW / length + _EACH_FRAME)

        return min(lengths, key=cost)

    def width(self, sample: Coordinates, length: int) -> float:
        """Mean width of paths in windows of a length."""
        if length == 1:
            return 0.0
        widths = []
        for start in range(0, len(sample), length):
            low, high = self.extents(sample, slice(start, start + length))
            widths.append(np.maximum(high - low, 0.0).mean())
        return float(np.mean(widths))


def _sample(coordinates: Coordinates) -> Coordinates:
    """Some points, spread over all."""
    return coordinates[:, :: -(-coordinates.shape[1] // _SAMPLE)]


def _heights(inverses: Floats) -> Floats:
    """Least height of boxes along each axis, infinite if it is open."""
    with np.errstate(divide="ignore"):
        heights: Floats = (1.0 / np.linalg.norm(inverses, axis=1)).min(axis=0)
    return heights


def _lay_out(
    meeting: Meeting, block: Block, boxes: Boxes, motion: _Motion, frames: slice
) -> Window:
    low, high = motion.extents(block.coordinates, frames)
    centres, halves = _centred(low, high, motion.periods)
    order = _order(centres, len(motion.periods), meeting.radius)
    spread = _spread(np.arange(frames.start, frames.stop))
    coordinates = frozen(np.ascontiguousarray(block.coordinates))
    kind = coordinates.dtype if meeting.radius < _MOST_SINGLE else np.float64
    xyz = np.empty((len(order), coordinates.shape[2], len(spread)), kind)
    kernel.lay_out(coordinates, spread, order, xyz)
    matrices, inverses = boxes.matrices[spread], boxes.inverses[spread]
    widths = np.array([half_width(inverse) for inverse in inverses])
    lengths = [np.einsum("fdd->df", each).astype(xyz.dtype) for each in (matrices, inverses)]
    periods = np.pad(motion.periods, (0, kernel.AXES - len(motion.periods)), constant_values=np.inf)
    return Window(
        stop=block.start + frames.stop,
        meeting=meeting,
        order=order,
        xyz=xyz,
        boxes=(matrices, inverses),
        seen=(boxes.kind, boxes.molecules, widths, *lengths),
        tree=(*_tree(centres, halves, order), periods, motion.straight),
        limits=(meeting.radius, *_limits(xyz, meeting.radius, float(np.abs(matrices).max()))),
    )


def _centred(low: Floats, high: Floats, periods: Floats) -> tuple[Floats, Floats]:
    """Centres of paths, within the period if there is one, and half their widths, in 3-D.

    Half a width has room for rounding. Of points that are never seen it is minus infinite, so that
    nothing is near them.
    """
    unseen = np.asarray((low > high).any(axis=1))
    if unseen.any():
        low, high = np.where(unseen[:, None], 0.0, low), np.where(unseen[:, None], 0.0, high)
    middle = 0.5 * (low + high)
    rounding = 1e-13 * max(-low.min(), high.max())
    for axis in np.flatnonzero(periods < np.inf):
        middle[:, axis] -= np.floor(middle[:, axis] / periods[axis]) * periods[axis]
    centres, halves = np.zeros((2, len(low), kernel.AXES))
    centres[:, : len(periods)] = middle
    halves[:, : len(periods)] = 0.5 * (high - low) + rounding
    halves[unseen] = -np.inf
    return centres, halves


def _order(centres: Floats, n_axes: int, radius: float) -> Ints:
    """Order points so that neighbours in it are near: along a curve through cells (Morton's)."""
    code = np.zeros(len(centres), np.int64)
    for axis in range(n_axes):
        places = centres[:, axis] - centres[:, axis].min()
        width = max(0.5 * radius, places.max() / 1e15)  # numbers stay exact
        cells = squeeze((places / width).astype(np.int64), _MOST_CELLS)
        code |= _with_room(cells) << axis
    return np.argsort(code, kind="stable")


def _with_room(numbers: Ints) -> Ints:
    """Move the ten bits of numbers apart, so that there are two places between each two."""
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        numbers = (numbers | numbers << shift) & mask
    return numbers


def _tree(centres: Floats, halves: Floats, order: Ints) -> tuple[Floats, Ints]:
    """Boxes of points, around groups of these, around groups of groups and so on.

    Returns all groups of boxes (groups, 2, axes, GROUP), those of points first, and where each
    level begins; there are two levels or more.
    """
    counts = [len(order)]  # of boxes at each level, and of groups at the last
    while len(counts) < 3 or counts[-1] > 1:
        counts.append(-(-counts[-1] // kernel.GROUP))
    begins = np.cumsum([0, *counts[1:]])
    low, high = np.empty((2, len(order), kernel.AXES))
    kernel.box_paths(centres, halves, order, low, high)
    boxes = np.empty((begins[-1], 2, kernel.AXES, kernel.GROUP))
    for count, begin in zip(counts, begins[:-1], strict=False):
        kernel.group_boxes(low, high, count, boxes[begin:])
    return boxes, begins


def _spread(frames: Ints) -> Ints:
    """Order frames so that the first few are spread over all: many pairs meet in one of these."""
    step = -(-len(frames) // kernel.FIRST_STAGE)
    return np.concatenate([frames[first::step] for first in range(step)])


def _limits(xyz: Coordinates, radius: float, longest: float) -> tuple[Any, Any]:
    """Squares up to which two points certainly meet, and beyond which they certainly do not.

    Rounding by a unit moves the difference of two coordinates by as much of the largest of them,
    and again where a length of the box is taken off, each of which is rounded as well; squares,
    their sum and its limit are off by a few units of themselves.
    """
    number = xyz.dtype.type
    limits = np.finfo(xyz.dtype)
    n_dimensions = xyz.shape[1]
    largest = float(max(np.nanmax(xyz, initial=0.0), -np.nanmin(xyz, initial=0.0)))
    across = 2 * largest + longest
    off = 8 * float(limits.eps) * (np.sqrt(n_dimensions) * across + (n_dimensions + 4) * radius)
    tiny = 4 * n_dimensions * float(limits.tiny)  # what squares lose that are near the least
    low = (radius - off) ** 2 - tiny if off < radius else -1.0
    return number(low), number((radius + off) ** 2 + tiny)
