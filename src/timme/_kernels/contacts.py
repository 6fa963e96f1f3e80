"""Pairs of points in contact in any of some frames, by a tree of boxes around where points are.

**Why no contact is missed.** Over a run of frames each point stays in a box, its extent. Points
whose extents are farther apart than the radius are in contact in none of the frames, and neither
are those of two groups whose boxes, around all extents of each, are. Eight points form a leaf,
eight leaves a group, eight groups the next larger one and so on. Only pairs whose extents are near
are followed through the frames, in double precision. In periodic directions, boxes are as far apart
as their nearest images.

**Why the nearest cell is enough.** The caller refuses radii above half the smallest width of a
periodic box. An image within that radius lies within half a box vector of the origin along every
axis, so that rounding to the nearest cell gives it, in tilted boxes as well.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.boxes import OPEN, STRAIGHT, TILTED, round_to_cell

# Sums may be reordered for vector units; NaN keeps its meaning, not seen.
_FAST = {"reassoc", "contract", "nsz"}

_BITS = 3
GROUP = 1 << _BITS  # points of a leaf, leaves of a group and so on
AXES = 3  # of a box, at most
_ROOM = 64  # contacts of a point for which there is room at first
_ROUNDING = 1e-13  # of the largest coordinate, by which extents are widened
_NUMBER = np.uint64  # an index that is never counted from the end, so that loops become vectors


def axes_of(inverses, kind):
    """Return matrices (frames, dimensions, axes) from points to places, and periods of the axes.

    Along no axis are two points farther apart than in space. Beside tilted box vectors a direction
    without a period says nothing.
    """
    inverse_heights = np.linalg.norm(inverses, axis=1).max(axis=0)
    closed = inverse_heights > 0.0
    heights = 1.0 / np.where(closed, inverse_heights, 1.0)
    apart = np.zeros(inverses.shape[1:]) if kind == TILTED else np.eye(inverses.shape[1])
    matrices = np.where(closed, inverses * heights, apart)[:, :, :AXES]
    return matrices, np.where(closed, heights, np.inf)[:AXES]


@compiled
def extents(xyz, shifts, matrices, periods, centres, halves):
    """Fill in centres and half widths (points, AXES) of the extents of points over some frames.

    Places are coordinates ``xyz`` (points, dimensions, frames) times the matrix of their frame
    (frames, dimensions, axes) less its shift (frames, axes). Extents of a point that is never seen
    have half widths of -inf, so that nothing is near them.
    """
    n_points, n_dimensions, n_frames = xyz.shape
    for p in range(n_points):
        for axis in range(len(periods)):
            low, high, largest, period = np.inf, -np.inf, 0.0, periods[axis]
            for k in range(n_frames):
                place = -shifts[k, axis]
                for d in range(n_dimensions):
                    place += xyz[p, d, k] * matrices[k, d, axis]
                    if abs(xyz[p, d, k]) > largest:  # never for NaN
                        largest = abs(xyz[p, d, k])
                if period < np.inf and low <= high:  # the image near the others
                    place -= period * np.rint((place - 0.5 * (low + high)) / period)
                if place < low:
                    low = place
                if place > high:
                    high = place
            centre, half = 0.0, -np.inf
            if low <= high:
                centre, half = 0.5 * (low + high), 0.5 * (high - low) + _ROUNDING * largest
                if period < np.inf:
                    centre -= np.floor(centre / period) * period
            centres[p, axis], halves[p, axis] = centre, half


def box_tree(centres, halves):
    """Return boxes of points, around leaves of these, around groups of leaves and so on.

    Boxes are (groups, 2, AXES, GROUP), centres and half widths of those of a group side by side.
    Also returns where the groups of each level begin; the last level is one group.
    """
    levels, begins = [], [0]
    while len(begins) < 3 or len(centres) > 1:
        missing = (0, -len(centres) % GROUP), (0, 0)
        filled = np.pad(centres, missing), np.pad(halves, missing, constant_values=-np.inf)
        boxes = np.stack(filled).reshape(2, -1, GROUP, AXES).transpose(1, 0, 3, 2)
        low, high = (boxes[:, 0] - boxes[:, 1]).min(axis=2), (boxes[:, 0] + boxes[:, 1]).max(axis=2)
        seen = low <= high
        centres = 0.5 * (np.where(seen, low, 0.0) + np.where(seen, high, 0.0))
        halves = 0.5 * (high - low) * (1.0 + _ROUNDING)
        levels.append(boxes)
        begins.append(begins[-1] + len(boxes))
    return np.ascontiguousarray(np.concatenate(levels)), np.array(begins)


@compiled(fastmath={"nnan", *_FAST})
def _square_gaps(boxes, group, k, other, periods, straight, gaps):
    """Fill in squares of the least distances between a box and those of another group.

    Where axes are not at right angles, only the largest along an axis counts.
    """
    for n in range(GROUP):
        gaps[n] = 0.0
    for axis in range(len(periods)):
        centre, half, period = boxes[group, 0, axis, k], boxes[group, 1, axis, k], periods[axis]
        for n in range(GROUP):
            between = abs(centre - boxes[other, 0, axis, n])
            between = min(between, period - between)
            gap = max(between - (half + boxes[other, 1, axis, n]), 0.0)
            gaps[n] = gaps[n] + gap * gap if straight else max(gaps[n], gap * gap)


@compiled
def _leaves_near(leaf, tree, reach, gaps, waiting, near):
    """List the leaves, from a given one on, that may be near it; return how many."""
    boxes, begins, periods, straight = tree
    own, lane = begins[1] + leaf // GROUP, leaf % GROUP
    waiting[0, 0], waiting[0, 1] = len(begins) - 2, 0
    n_waiting, n_near = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        level, group = waiting[n_waiting, 0], waiting[n_waiting, 1]
        _square_gaps(boxes, own, lane, begins[level] + group, periods, straight, gaps[0])
        for k in range(GROUP):
            below = group * GROUP + k
            if gaps[0, k] > reach or (below + 1) << (_BITS * (level - 1)) <= leaf:
                continue
            if level == 1:
                near[n_near] = below
                n_near += 1
            else:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = level - 1, below
                n_waiting += 1
    return n_near


@compiled
def _points_near(leaf, other, tree, reach, gaps, near):
    """List the pairs of points of two leaves whose extents may be near; return how many."""
    boxes, begins, periods, straight = tree
    group, lane, n_near = begins[1] + other // GROUP, other % GROUP, 0
    _square_gaps(boxes, group, lane, leaf, periods, straight, gaps[0])
    for k in range(GROUP):
        if gaps[0, k] > reach:  # this point and all of the other leaf
            continue
        _square_gaps(boxes, leaf, k, other, periods, straight, gaps[1])
        for n in range(GROUP):  # written in any case, which is faster than to guess
            near[n_near, 0], near[n_near, 1] = leaf * GROUP + k, other * GROUP + n
            n_near += gaps[1, n] <= reach and near[n_near, 0] < near[n_near, 1]
    return n_near


@compiled
def near_pairs(leaves, tree, radius):
    """Return pairs of places, lower first, that may be near: of some leaves and of later ones.

    ``leaves`` is a run of groups of points, in the order of the places. ``tree`` is what `box_tree`
    returns, the periods of axes, and whether these are at right angles.
    """
    begins, reach = tree[1], radius * radius * (1.0 + 1e-9)
    gaps, waiting = np.empty((2, GROUP)), np.empty((len(begins) * GROUP, 2), np.int64)
    near_leaves, near = np.empty(begins[1], np.int64), np.empty((GROUP * GROUP + 1, 2), np.int64)
    found = np.empty((_ROOM * GROUP * (leaves[1] - leaves[0]), 2), np.int32)
    total = 0
    for leaf in range(leaves[0], leaves[1]):
        for n in range(_leaves_near(leaf, tree, reach, gaps, waiting, near_leaves)):
            count = _points_near(leaf, near_leaves[n], tree, reach, gaps, near)
            if total + count > len(found):
                full, found = found, np.empty((2 * len(found), 2), np.int32)
                for row in range(total):
                    found[row, 0], found[row, 1] = full[row, 0], full[row, 1]
            for row in range(count):
                found[total, 0], found[total, 1] = near[row, 0], near[row, 1]
                total += 1
    return found[:total]


@compiled(fastmath=_FAST)
def contacts_of(xyz, order, pairs, radius, box_kind, boxes, molecules):
    """Return which pairs of places are in contact, in any dimension and any box.

    Returns (contacts, 3), lower point first, then in how many frames. ``order`` tells which point
    is at a place of ``xyz`` (places, dimensions, frames); ``boxes`` are matrices and inverses, the
    frames last. Points of one of the ``molecules``, if there are any, see no images of one another.
    """
    _, n_dimensions, n_frames = xyz.shape
    matrices, inverses = boxes
    vectors, scratch = np.empty((n_dimensions, n_frames)), np.empty((n_dimensions, n_frames))
    square, most = np.empty(n_frames), radius * radius
    found, total = np.empty((len(pairs) + 1, 3), np.int32), 0
    for pair in range(len(pairs)):
        i, j, kind, count = pairs[pair, 0], pairs[pair, 1], box_kind, 0
        p, q = order[i], order[j]
        if len(molecules) > 0 and molecules[p] == molecules[q]:
            kind = OPEN
        if kind == OPEN and n_dimensions == 3:  # by far the most, and nothing need be kept
            for k in range(_NUMBER(n_frames)):
                x = xyz[i, 0, k] - xyz[j, 0, k]
                y = xyz[i, 1, k] - xyz[j, 1, k]
                z = xyz[i, 2, k] - xyz[j, 2, k]
                count += x * x + y * y + z * z <= most
        else:
            for d in range(n_dimensions):
                for k in range(_NUMBER(n_frames)):
                    x = xyz[i, d, k] - xyz[j, d, k]
                    if kind == STRAIGHT:
                        x -= matrices[d, d, k] * np.rint(x * inverses[d, d, k])
                    vectors[d, k] = x
            if kind == TILTED:
                round_to_cell(vectors, matrices, inverses, scratch)
            for k in range(_NUMBER(n_frames)):
                square[k] = 0.0
            for d in range(n_dimensions):
                for k in range(_NUMBER(n_frames)):
                    square[k] += vectors[d, k] * vectors[d, k]
            for k in range(_NUMBER(n_frames)):
                count += square[k] <= most
        found[total, 0], found[total, 1], found[total, 2] = min(p, q), max(p, q), count
        total += count > 0
    return found[:total]
