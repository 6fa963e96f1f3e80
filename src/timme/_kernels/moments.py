"""Moments of pair distances over a block of frames, merged into those of the blocks before.

**When single precision is enough.** Coordinates in single precision are summed in it first, which
takes half the time, and the sums themselves tell whether they give σ to 1e-5; where they do not,
the pair goes through the loop once more in double precision. Each step rounds by at most u = 2⁻²⁴
of its result. Coordinates are exact, being those of the file, however far they lie from the origin;
their differences, the squares with their sum in d dimensions, and the root add u, u d/2 and u of
the distance r. Let S be the sum of squared deviations over n frames, σ² = S/n.

1. Distances. √S is a length by itself, so that σ is off by no more than the root mean square of
   their errors, of which none is above (2 + d/2) ur. Where r is below 64 σ in 3-D (``_FARTHEST``),
   that is 1.4e-5 of σ if all roundings of all frames conspire. They do not: of three million pairs
   that jump between no more than two places the worst was off by 0.94e-5, and errors of 64
   different frames average out to 2e-6 at the worst.
2. Sums. Distances are counted from that of the first frame, and S is what is left of the sum of
   their squares when n times the square of their mean is taken off. Each lane of a vector adds few
   of them, so that either sum is off by a few u of itself, and S by as much times the ratio of the
   sum to S, which is below 16 (``_MOST_SHIFTED``): 1e-6 of σ.
3. Small and large numbers. Squares that are not far above the smallest number lose digits
   (``_LEAST``); those that are too large become infinite, which is below nothing.

All of this is known of the pair alone: whatever else is measured with it, and whoever measures it,
its bits are the same.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import (
    OPEN,
    STRAIGHT,
    TILTED,
    half_width,
    image_between,
    to_shortest_image,
)

# Sums may be reordered for vector units; NaN must keep its meaning (not seen).
_FOLLOWED = 3  # a kind of image that is no kind of box
_FAST = {"reassoc", "contract", "nsz"}
_SINGLE = 4  # bytes of a number in single precision
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above


@compiled(error_model="numpy")
def merge_two(weight, mean, m2, other_weight, other_mean, other_m2):
    """Merge two sets of moments (Chan, Golub and LeVeque's formula)."""
    if weight == 0.0:
        return other_weight, other_mean, other_m2
    if other_weight == 0.0:
        return weight, mean, m2
    total = weight + other_weight
    shift = other_mean - mean
    return (
        total,
        mean + shift * (other_weight / total),
        m2 + other_m2 + shift * shift * weight * (other_weight / total),
    )


@compiled(error_model="numpy")
def merge_moments(
    count, weight, mean, m2, reach, other_count, other_weight, other_mean, other_m2, other_reach
):
    """Merge the moments of many pairs into the first set, in place."""
    for p in range(len(weight)):
        count[p] += other_count[p]
        reach[p] = max(reach[p], other_reach[p])
        weight[p], mean[p], m2[p] = merge_two(
            weight[p], mean[p], m2[p], other_weight[p], other_mean[p], other_m2[p]
        )


@compiled(fastmath=_FAST, error_model="numpy")
def moments_of(distances, weights):
    """Count, weight, mean and sum of squared deviations of the distances that are not NaN.

    Distances are shifted by the first one seen, so that no digits are lost to a large mean.
    """
    shift = 0.0
    for frame in range(len(distances)):
        if weights[frame] > 0.0 and distances[frame] == distances[frame]:
            shift = distances[frame]
            break
    count = 0
    total = 0.0
    first = 0.0
    second = 0.0
    for frame in range(len(distances)):
        seen = distances[frame] == distances[frame]
        weight = weights[frame] if seen else 0.0
        deviation = distances[frame] - shift if seen else 0.0
        count += 1 if weight > 0.0 else 0
        total += weight
        first += weight * deviation
        second += weight * deviation * deviation
    if count == 0:
        return count, 0.0, 0.0, 0.0
    return count, total, shift + first / total, max(second - first * first / total, 0.0)


@compiled(error_model="numpy")
def add_distances(distances, weights, count, weight, mean, m2):
    """Merge ready-made distances (pairs, frames) into the moments of their pairs."""
    for p in range(len(distances)):
        seen, total, average, deviations = moments_of(distances[p], weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)


@compiled(fastmath=_FAST, error_model="numpy")
def _distance_in_space(xyz, a, b, frame):
    """Distance of two sites in one frame of open space in 3-D."""
    x = xyz[a, 0, frame] - xyz[b, 0, frame]
    y = xyz[a, 1, frame] - xyz[b, 1, frame]
    z = xyz[a, 2, frame] - xyz[b, 2, frame]
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums_of_two(xyz, site, one, other):
    """Sum the distances of a site from two others, less the first, and their squares, in 3-D.

    Two at a time: coordinates of the site are read once, and square roots need not wait.
    """
    one_shift = _distance_in_space(xyz, site, one, 0)
    other_shift = _distance_in_space(xyz, site, other, 0)
    one_first = one_second = other_first = other_second = one_shift - one_shift  # 0, single or not
    for frame in range(xyz.shape[2]):
        r = _distance_in_space(xyz, site, one, frame) - one_shift
        one_first += r
        one_second += r * r
        r = _distance_in_space(xyz, site, other, frame) - other_shift
        other_first += r
        other_second += r * r
    return (one_shift, one_first, one_second), (other_shift, other_first, other_second)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums(xyz, a, b, square):
    """The same of one pair in any dimension, in the precision of ``square``, one number a frame."""
    _, n_dimensions, n_frames = xyz.shape
    kind = square.dtype.type
    for frame in range(n_frames):
        x = kind(xyz[a, 0, frame]) - kind(xyz[b, 0, frame])
        square[frame] = x * x
    for d in range(1, n_dimensions):
        for frame in range(n_frames):
            x = kind(xyz[a, d, frame]) - kind(xyz[b, d, frame])
            square[frame] += x * x
    shift = np.sqrt(square[0])
    first = shift - shift
    second = shift - shift
    for frame in range(n_frames):
        r = np.sqrt(square[frame]) - shift
        first += r
        second += r * r
    return shift, first, second


@compiled(error_model="numpy")
def _deviations(n_frames, first, second):
    """Sum of squared deviations from the mean, of that about the first distance."""
    return max(second - first * first / n_frames, 0.0)


@compiled(error_model="numpy")
def _are_enough(n_dimensions, n_frames, shift, first, second):
    """Whether sums in single precision give σ to 1e-5; never where they are no numbers."""
    left = _deviations(n_frames, first, second)
    far = shift * (4.0 + n_dimensions) / (7.0 * _FARTHEST)
    return (
        (far * far * n_frames < left) & (second < _MOST_SHIFTED * left) & (_LEAST * n_frames < left)
    )


@compiled(error_model="numpy")
def _refine(xyz, a, b, sums, square):
    """Return the sums of a pair in double precision: as they are, or found anew in ``square``."""
    _, n_dimensions, n_frames = xyz.shape
    shift, first, second = np.float64(sums[0]), np.float64(sums[1]), np.float64(sums[2])
    if xyz.itemsize > _SINGLE or _are_enough(n_dimensions, n_frames, shift, first, second):
        return shift, first, second
    return _sums(xyz, a, b, square)


@compiled(error_model="numpy")
def _merge_sums(p, n_frames, sums, count, weight, mean, m2):
    """Merge the sums of one pair over frames of weight 1 into its moments."""
    shift, first, second = sums
    average, deviations = shift + first / n_frames, _deviations(n_frames, first, second)
    count[p] += n_frames
    weight[p], mean[p], m2[p] = merge_two(
        weight[p], mean[p], m2[p], float(n_frames), average, deviations
    )


@compiled(error_model="numpy")
def _add_in_space(xyz, pairs, count, weight, mean, m2):
    """Merge a block in 3-D, two pairs at a time where they have a site in common."""
    n_frames = xyz.shape[2]
    square = np.empty(n_frames)
    p = 0
    while p < len(pairs):
        q = min(p + 1, len(pairs) - 1)
        site, one, other_site, other = pairs[p, 0], pairs[p, 1], pairs[q, 0], pairs[q, 1]
        if one == other:
            site, one, other_site, other = one, site, other, other_site
        if site != other_site or q == p:
            q, other = p, one  # a pair alone goes twice through the same loop, and counts once
        sums, other_sums = _sums_of_two(xyz, site, one, other)
        _merge_sums(p, n_frames, _refine(xyz, site, one, sums, square), count, weight, mean, m2)
        if q > p:
            other_sums = _refine(xyz, site, other, other_sums, square)
            _merge_sums(q, n_frames, other_sums, count, weight, mean, m2)
        p = q + 1


@compiled(error_model="numpy")
def add_all_frames(xyz, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors; they take no views of it, whose references would have to be counted.
    Single precision stays single within the block where that is enough.
    """
    _, n_dimensions, n_frames = xyz.shape
    if n_dimensions == 3:
        _add_in_space(xyz, pairs, count, weight, mean, m2)
        return
    square, exact = np.empty(n_frames, xyz.dtype), np.empty(n_frames)
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        sums = _refine(xyz, a, b, _sums(xyz, a, b, square), exact)
        _merge_sums(p, n_frames, sums, count, weight, mean, m2)


@compiled(error_model="numpy")
def fill_band(xyz, first, square, pairs, sigma):
    """Fill in σ of some sites with one another and with all later ones, square by square of sites.

    As :func:`add_all_frames` would find it in one block that holds all frames, to the last bit.
    Sums of a site are kept until those with all of a square are known: divisions and roots, which
    take as long as many distances, are vectors then.
    """
    n_sites, n_dimensions, n_frames = xyz.shape
    scratch, exact = np.empty(n_frames, xyz.dtype), np.empty(n_frames)
    sums = np.empty((3, square), xyz.dtype)
    doubted = np.zeros(square, np.bool_)
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            one = begin
            while one < stop:
                other = min(one + 1, stop - 1)
                if n_dimensions == 3:
                    one_sums, other_sums = _sums_of_two(xyz, site, one, other)
                else:
                    other, one_sums = one, _sums(xyz, site, one, scratch)
                    other_sums = one_sums
                for k, found in ((one - begin, one_sums), (other - begin, other_sums)):
                    sums[0, k], sums[1, k], sums[2, k] = found
                one = other + 1
            for k in range(stop - begin):
                shift, low, high = (
                    np.float64(sums[0, k]),
                    np.float64(sums[1, k]),
                    np.float64(sums[2, k]),
                )
                sigma[p + k] = np.sqrt(_deviations(n_frames, low, high) / n_frames)
                doubted[k] = not _are_enough(n_dimensions, n_frames, shift, low, high)
            if xyz.itemsize == _SINGLE:
                for k in range(stop - begin):
                    if doubted[k]:
                        _, low, high = _sums(xyz, site, begin + k, exact)
                        sigma[p + k] = np.sqrt(_deviations(n_frames, low, high) / n_frames)
            for k in range(stop - begin):
                pairs[p + k, 0], pairs[p + k, 1] = site, begin + k
            p += max(stop - begin, 0)


@compiled(fastmath=_FAST, error_model="numpy")
def add_frames(
    xyz,
    weights,
    boxes,
    inverses,
    box_kind,
    molecules,
    origin,
    origin_box,
    pairs,
    count,
    weight,
    mean,
    m2,
    reach,
):
    """Merge a block into the moments of pairs in any box, with weights and unseen frames (NaN).

    Sites of one of the ``molecules`` (none if all are single) see one another as they are, others
    their nearest images, or, if there is an ``origin``, the images that are nearest there.
    ``reach`` gets how near a pair comes to half the box, where its nearest image changes: 1 is
    there.
    """
    _, n_dimensions, n_frames = xyz.shape
    square = np.empty(n_frames)
    near = np.zeros(n_frames)  # in units of half the box
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    lengths = np.zeros((n_dimensions, n_frames))
    inverse_lengths = np.zeros((n_dimensions, n_frames))
    halves = np.empty(n_frames)
    steps = np.empty(n_dimensions)
    if box_kind == STRAIGHT:
        for frame in range(n_frames):
            for d in range(n_dimensions):
                lengths[d, frame] = boxes[frame, d, d]
                inverse_lengths[d, frame] = inverses[frame, d, d]
    elif box_kind == TILTED:
        for frame in range(n_frames):
            halves[frame] = half_width(inverses[frame])
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a = xyz[i]
        b = xyz[j]
        kind = box_kind
        if len(molecules) > 0 and molecules[i] == molecules[j]:
            kind = OPEN
        elif kind != OPEN and len(origin) > 0:
            image_between(i, j, origin, origin_box, kind, vector, scratch, steps)
            kind = _FOLLOWED
        for frame in range(n_frames):
            square[frame] = 0.0
            near[frame] = 0.0
        if kind == TILTED:
            for frame in range(n_frames):
                for d in range(n_dimensions):
                    vector[d] = a[d, frame] - b[d, frame]
                to_shortest_image(
                    vector, boxes[frame], inverses[frame], kind, halves[frame], scratch
                )
                for d in range(n_dimensions):
                    square[frame] += vector[d] * vector[d]
                near[frame] = np.sqrt(square[frame]) / halves[frame]
        elif kind == STRAIGHT:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    x -= lengths[d, frame] * np.rint(x * inverse_lengths[d, frame])
                    square[frame] += x * x
                    near[frame] = max(near[frame], 2.0 * abs(x) * inverse_lengths[d, frame])
        elif kind == _FOLLOWED:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    for axis in range(n_dimensions):
                        x += steps[axis] * boxes[frame, axis, d]
                    square[frame] += x * x
        else:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    square[frame] += x * x
        for frame in range(n_frames):
            square[frame] = np.sqrt(square[frame])
        seen, total, average, deviations = moments_of(square, weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)
        for frame in range(n_frames):
            if near[frame] > reach[p]:  # never for NaN
                reach[p] = near[frame]
