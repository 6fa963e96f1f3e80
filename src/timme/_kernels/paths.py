"""Points that come near one another in any of some frames, found by where each of them passes.

**Why no meeting is missed.** Over some frames a point stays in a box, its path. Two points whose
paths are farther apart than the radius never meet, and neither do those of two groups of points
whose boxes, around all paths of each, are. Only the pairs that are left are followed through the
frames. In directions that are periodic, the distance of paths is that of their nearest images.

**Why the answer is that of double precision.** Frames are gone through in the precision of the
coordinates, which takes half the time if it is single, twice over at once: against a square that is
certainly within the radius, and against one beyond which it is certainly not. Where the two counts
differ, which is rare, distances are computed again, each as :func:`_square_between` has it.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import OPEN, STRAIGHT, TILTED, to_shortest_image

# Counts may be added up in any order; NaN must keep its meaning (not seen).
_FAST = {"reassoc", "contract", "nsz"}

GROUP = 8  # points that share a box, boxes that share the next larger one and so on
AXES = 3  # along which boxes are told apart
FIRST_STAGE = 32  # frames after which most pairs that meet are known to do so
_SOME = 64  # points that are laid out at a time
_NUMBER = np.uint64  # an index that is never counted from the end, so that loops become vectors


@compiled
def extents(coordinates, offsets, turns, periods, low, high):
    """Fill in the lowest and highest place of each point in some frames, along up to three axes.

    Places are those of each frame shifted by its offset and multiplied by its matrix, which must
    leave no two points farther apart. Where an axis has a period, those images are taken that
    keep the extent small. Of a point that is never seen, the lowest is above the highest. Some
    points at a time, whose extents stay in the cache.
    """
    n_frames, n_points, n_dimensions = coordinates.shape
    n_axes = turns.shape[2]
    own, places = np.zeros((n_dimensions, _SOME)), np.empty(_SOME)
    lowest, highest = np.empty((n_axes, _SOME)), np.empty((n_axes, _SOME))
    for begin in range(0, n_points, _SOME):
        count = min(_SOME, n_points - begin)
        lowest[:] = np.inf
        highest[:] = -np.inf
        for frame in range(n_frames):
            for k in range(count):
                for d in range(n_dimensions):
                    own[d, k] = np.float64(coordinates[frame, begin + k, d]) - offsets[frame, d]
            for axis in range(n_axes):
                places[:] = 0.0
                for d in range(n_dimensions):
                    turn = turns[frame, d, axis]
                    for k in range(_SOME):
                        places[k] += own[d, k] * turn
                _widen(places, periods[axis], lowest[axis], highest[axis])
        for k in range(count):
            for axis in range(n_axes):
                low[begin + k, axis], high[begin + k, axis] = lowest[axis, k], highest[axis, k]


@compiled
def _widen(places, period, lowest, highest):
    """Let extents of some points reach their places, or images near them where there is a period.

    Places that are not seen are NaN.
    """
    if period < np.inf:
        for k in range(len(places)):
            if lowest[k] <= highest[k]:
                beyond = places[k] - 0.5 * (lowest[k] + highest[k])
                places[k] -= period * np.rint(beyond / period)
    for k in range(len(places)):
        if places[k] < lowest[k]:  # never for NaN
            lowest[k] = places[k]
        if places[k] > highest[k]:
            highest[k] = places[k]


@compiled
def lay_out(coordinates, frames, order, xyz):
    """Put the frames of a point next to one another, frames and points in the order wanted.

    Some points at a time, as they are given: these lie side by side in each of the frames, while to
    fetch one after another in the order wanted would be slow in each. All frames of them stay in
    the cache.
    """
    places = np.empty(len(order), np.int64)
    for place in range(len(order)):
        places[order[place]] = place
    for begin in range(0, len(order), _SOME):
        for k in range(_NUMBER(len(frames))):
            frame = _NUMBER(frames[k])
            for point in range(_NUMBER(begin), _NUMBER(min(begin + _SOME, len(order)))):
                place = _NUMBER(places[point])
                for d in range(_NUMBER(coordinates.shape[2])):
                    xyz[place, d, k] = coordinates[frame, point, d]


@compiled
def box_paths(centres, halves, order, low, high):
    """Fill in where paths begin and end, in the order wanted; before they begin if never seen."""
    for place in range(len(order)):
        for axis in range(AXES):
            centre, half = centres[order[place], axis], halves[order[place], axis]
            low[place, axis], high[place, axis] = centre - half, centre + half


@compiled
def group_boxes(low, high, count, boxes):
    """Lay boxes out group by group, centres and half widths of those of a group side by side.

    The box around each group takes the place of the first ones in ``low`` and ``high``. Nothing is
    near a box that ends before it begins, nor near what fills up the last group.
    """
    for group in range((count + GROUP - 1) // GROUP):
        for axis in range(AXES):
            lowest, highest = np.inf, -np.inf
            for k in range(GROUP):
                place = group * GROUP + k
                boxes[group, 0, axis, k], boxes[group, 1, axis, k] = 0.0, -np.inf
                if place < count and low[place, axis] <= high[place, axis]:
                    half = 0.5 * (high[place, axis] - low[place, axis]) * (1 + 1e-13)
                    boxes[group, 0, axis, k] = low[place, axis] + half
                    boxes[group, 1, axis, k] = half
                    lowest = min(lowest, low[place, axis])
                    highest = max(highest, high[place, axis])
            low[group, axis], high[group, axis] = lowest, highest


@compiled(fastmath={"nnan", *_FAST})
def _gap_between(centre, other, half_widths, period):
    """Least distance along an axis between two boxes, or nearest images of them."""
    between = abs(centre - other)
    between = min(between, period - between)
    return max(between - half_widths, 0.0)


@compiled(fastmath={"nnan", *_FAST})
def _square_gaps(boxes, own, lane, group, periods, straight, gaps):
    """Fill in the squares of the least distances between one box and all those of a group.

    Where axes are not at right angles, only the largest along an axis counts.
    """
    for k in range(GROUP):
        gaps[k] = 0.0
    for axis in range(AXES):
        centre, half, period = boxes[own, 0, axis, lane], boxes[own, 1, axis, lane], periods[axis]
        for k in range(GROUP):
            widths = half + boxes[group, 1, axis, k]
            gap = _gap_between(centre, boxes[group, 0, axis, k], widths, period)
            gaps[k] = gaps[k] + gap * gap if straight else max(gaps[k], gap * gap)


@compiled
def _groups_near(leaf, tree, reach, gaps, waiting, near):
    """List groups of leaves of which some, not before a leaf, may be near it; return how many."""
    boxes, begins, periods, straight = tree
    own, lane = begins[1] + leaf // GROUP, leaf % GROUP
    waiting[0, 0], waiting[0, 1] = len(begins) - 2, 0  # the group that holds all
    n_waiting, n_near = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        level, group = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if level == 1:
            near[n_near] = group
            n_near += 1
            continue
        _square_gaps(boxes, own, lane, begins[level] + group, periods, straight, gaps)
        span = GROUP ** (level - 1)  # leaves of each
        for k in range(GROUP):
            below = group * GROUP + k
            if gaps[k] <= reach and (below + 1) * span > leaf:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = level - 1, below
                n_waiting += 1
    return n_near


@compiled
def _leaves_near(leaf, tree, reach, gaps, groups, near, around):
    """List leaves of some groups that may be near one, and are not before it; return how many.

    ``around`` gets their boxes (2, axes, leaves), side by side for all points of the leaf.
    """
    boxes, begins, periods, straight = tree
    own, lane = begins[1] + leaf // GROUP, leaf % GROUP
    n_near = 0
    for group in groups:
        _square_gaps(boxes, own, lane, begins[1] + group, periods, straight, gaps)
        for k in range(GROUP):
            if gaps[k] <= reach and group * GROUP + k >= leaf:
                near[n_near] = group * GROUP + k
                for axis in range(AXES):
                    around[0, axis, n_near] = boxes[begins[1] + group, 0, axis, k]
                    around[1, axis, n_near] = boxes[begins[1] + group, 1, axis, k]
                n_near += 1
    return n_near


@compiled(fastmath={"nnan", *_FAST})
def _leaf_gaps(tree, i, around, n_near, gaps):
    """Fill in the squares of the least distances between the path of a point and some leaves."""
    boxes, _, periods, straight = tree
    for n in range(n_near):
        gaps[n] = 0.0
    for axis in range(AXES):
        centre, half = boxes[i // GROUP, 0, axis, i % GROUP], boxes[i // GROUP, 1, axis, i % GROUP]
        period = periods[axis]
        for n in range(n_near):
            widths = half + around[1, axis, n]
            gap = _gap_between(centre, around[0, axis, n], widths, period)
            gaps[n] = gaps[n] + gap * gap if straight else max(gaps[n], gap * gap)


@compiled
def _points_near(i, tree, reach, leaves, leaf_gaps, gaps, near):
    """List the later points of some leaves whose paths may be near that of one; return how many."""
    boxes, _, periods, straight = tree
    n_near = 0
    for n in range(len(leaves)):
        if leaf_gaps[n] > reach:
            continue
        _square_gaps(boxes, i // GROUP, i % GROUP, leaves[n], periods, straight, gaps)
        for k in range(GROUP):  # written in any case, which is faster than to guess
            near[n_near] = leaves[n] * GROUP + k
            n_near += gaps[k] <= reach and near[n_near] > i
    return n_near


@compiled(fastmath=_FAST)
def _count_in_space(xyz, i, j, begin, end, low, high):
    """Count frames with a square up to two limits, in open space of 3-D."""
    one, zero = high / high, high - high  # in the precision of the coordinates
    surely, perhaps = zero, zero
    for k in range(_NUMBER(begin), _NUMBER(end)):
        x = xyz[i, 0, k] - xyz[j, 0, k]
        y = xyz[i, 1, k] - xyz[j, 1, k]
        z = xyz[i, 2, k] - xyz[j, 2, k]
        square = x * x + y * y + z * z
        surely += one if square <= low else zero
        perhaps += one if square <= high else zero
    return surely, perhaps


@compiled(fastmath=_FAST)
def _meet_in_stage(xyz, i, j, begin, low, high):
    """Whether any square of one stage of frames is up to either limit, in open space of 3-D.

    Their number is known beforehand, so that the loop becomes a few vectors and nothing else.
    """
    surely = perhaps = False
    for k in range(FIRST_STAGE):
        frame = _NUMBER(begin + k)
        x = xyz[i, 0, frame] - xyz[j, 0, frame]
        y = xyz[i, 1, frame] - xyz[j, 1, frame]
        z = xyz[i, 2, frame] - xyz[j, 2, frame]
        square = x * x + y * y + z * z
        surely |= square <= low
        perhaps |= square <= high
    return surely, perhaps


@compiled
def meet_in_space(xyz, i, j, low, high):
    """Whether two points surely and perhaps meet in any frame, of which there is a stage or more.

    Stages end when one is sure. The last has as many frames as others: some are looked at again.
    """
    begin, last = 0, xyz.shape[2] - FIRST_STAGE
    surely, perhaps = _meet_in_stage(xyz, i, j, begin, low, high)
    while begin < last and not surely:
        begin = min(begin + FIRST_STAGE, last)
        surely, more = _meet_in_stage(xyz, i, j, begin, low, high)
        perhaps |= more
    return surely, perhaps


@compiled(fastmath=_FAST)
def _count_in_box(xyz, i, j, low, high, box, square):
    """The same in any dimension, in open space or in a straight box; ``square`` is for one pair."""
    lengths, inverses, wraps = box
    one, zero = high / high, high - high
    _, n_dimensions, n_frames = xyz.shape
    for k in range(n_frames):
        square[k] = zero
    for d in range(n_dimensions):
        if wraps:
            for k in range(n_frames):
                x = xyz[i, d, k] - xyz[j, d, k]
                x -= lengths[d, k] * np.rint(x * inverses[d, k])
                square[k] += x * x
        else:
            for k in range(n_frames):
                x = xyz[i, d, k] - xyz[j, d, k]
                square[k] += x * x
    surely, perhaps = zero, zero
    for k in range(n_frames):
        surely += one if square[k] <= low else zero
        perhaps += one if square[k] <= high else zero
    return surely, perhaps


@compiled
def _square_between(xyz, i, j, k, boxes, kind, half, scratch):
    """Square of the distance of two points in one frame, to the nearest image."""
    vector = scratch[2]
    for d in range(xyz.shape[1]):
        vector[d] = np.float64(xyz[i, d, k]) - np.float64(xyz[j, d, k])
    if kind != OPEN:
        to_shortest_image(vector, boxes[0][k], boxes[1][k], kind, half, scratch)
    square = 0.0
    for d in range(xyz.shape[1]):
        square += vector[d] * vector[d]
    return square


@compiled
def _count_exactly(xyz, i, j, boxes, kind, halves, radius, at_least, scratch):
    """Count frames within the radius one by one, until there are enough."""
    count = 0
    for k in range(xyz.shape[2]):
        square = _square_between(xyz, i, j, k, boxes, kind, halves[k], scratch)
        count += square <= radius * radius
        if count == at_least:
            break
    return count


@compiled
def meetings(leaves, tree, xyz, boxes, seen, limits, at_least, order, found):
    """Fill ``found`` with the pairs that meet, and in how many frames, up to ``at_least``.

    ``leaves`` is a run of leaves, each a group of points as they are laid out. Their partners are
    those of the same leaf and of later ones. ``tree`` holds the centres and half the widths of the
    boxes around paths, around leaves, around groups of these and so on (groups, 2, axes, GROUP),
    where each level begins, the periods of axes (infinite if they are open), and whether axes are
    at right angles. ``boxes`` holds periodic boxes and their inverses; ``seen`` their kind,
    molecules within which there are no images, half the width of boxes and, if they are straight,
    their lengths and inverse lengths (dimensions, frames). ``limits`` are the radius and two
    squares, as above. ``order`` tells which point is at a place.

    Returns the number of pairs and the first leaf that was not searched, since there was no room:
    the caller goes on from there.
    """
    begins = tree[1]
    box_kind, molecules, half_widths, lengths, inverses = seen
    radius, low, high = limits
    n_points, n_dimensions, n_frames = xyz.shape
    reach = radius * radius * (1 + 1e-9)
    stage = min(FIRST_STAGE, n_frames)
    once = at_least == 1 and n_dimensions == 3 and n_frames >= FIRST_STAGE  # the most frequent
    none, one = high - high, high / high  # in the precision of the coordinates
    square = np.empty(n_frames, xyz.dtype)
    scratch = np.empty((3, n_dimensions))
    n_groups = begins[2] - begins[1]
    groups, near_leaves = np.empty(n_groups, np.int64), np.empty(n_groups * GROUP, np.int64)
    around, leaf_gaps = np.empty((2, AXES, n_groups * GROUP)), np.empty(n_groups * GROUP)
    gaps, near = np.empty(GROUP), np.empty(begins[1] * GROUP + 1, np.int64)
    waiting = np.empty((len(begins) * GROUP, 2), np.int64)
    total = 0
    for leaf in range(leaves[0], leaves[1]):
        before = total
        n_groups = _groups_near(leaf, tree, reach, gaps, waiting, groups)
        n_leaves = _leaves_near(leaf, tree, reach, gaps, groups[:n_groups], near_leaves, around)
        leaves_near = near_leaves[:n_leaves]
        for i in range(leaf * GROUP, min((leaf + 1) * GROUP, n_points)):
            _leaf_gaps(tree, i, around, n_leaves, leaf_gaps)
            for n in range(_points_near(i, tree, reach, leaves_near, leaf_gaps, gaps, near)):
                j = near[n]
                p, q = order[i], order[j]
                kind = box_kind
                if len(molecules) > 0 and molecules[p] == molecules[q]:
                    kind = OPEN
                surely, perhaps = none, one  # of a tilted box, nothing is sure
                if kind == OPEN and once:
                    near_surely, near_perhaps = meet_in_space(xyz, i, j, low, high)
                    surely, perhaps = one if near_surely else none, one if near_perhaps else none
                elif kind == OPEN and n_dimensions == 3:
                    surely, perhaps = _count_in_space(xyz, i, j, 0, stage, low, high)
                    if surely < at_least:
                        more = _count_in_space(xyz, i, j, stage, n_frames, low, high)
                        surely, perhaps = surely + more[0], perhaps + more[1]
                elif kind != TILTED:
                    box = lengths, inverses, kind == STRAIGHT
                    surely, perhaps = _count_in_box(xyz, i, j, low, high, box, square)
                count = min(np.int64(surely), at_least)
                if surely < at_least and surely != perhaps:
                    count = _count_exactly(
                        xyz, i, j, boxes, kind, half_widths, radius, at_least, scratch
                    )
                if count > 0:
                    if total == len(found):
                        return before, leaf
                    found[total, 0] = min(p, q)
                    found[total, 1] = max(p, q)
                    found[total, 2] = count
                    total += 1
    return total, leaves[1]


@compiled
def count_pairs(found, firsts, seconds):
    """Count how often each point is the first and the second of a pair; counts go by one ahead."""
    for k in range(len(found)):
        firsts[found[k, 0] + 1] += 1
        seconds[found[k, 1] + 1] += 1


@compiled
def split_keys(keys, n_points, pairs):
    """Fill in the lower and the higher point of each key, of points that follow one another."""
    first, ends = 0, n_points  # keys of a first point are below this
    for k in range(len(keys)):
        while keys[k] >= ends:
            first += 1
            ends += n_points
        pairs[k, 0], pairs[k, 1] = first, keys[k] - ends + n_points


@compiled
def sort_by_second(found, begin, into):
    """Put first points and counts where pairs of their second point begin, one after another.

    ``begin`` goes on by one for each, and ends where the pairs of the next point begin.
    """
    for k in range(len(found)):
        place = begin[found[k, 1]]
        begin[found[k, 1]] += 1
        into[place, 0] = found[k, 0]
        into[place, 1] = found[k, 2]


@compiled
def sort_by_first(by_second, ends, begin, keys, counts):
    """The same by first points, of what was sorted by second; as lower × points + higher."""
    k = 0
    for second in range(len(ends) - 1):
        while k < ends[second]:
            first = np.int64(by_second[k, 0])
            place = begin[first]
            begin[first] += 1
            keys[place] = first * (len(ends) - 1) + second
            counts[place] = by_second[k, 1]
            k += 1
