"""Moments of the distances of pairs over a block of frames, and how those of blocks are merged.

**When single precision is enough.** Coordinates in single precision are summed in it first, and the
sums tell whether they give σ to 1e-5. If not, the pair is summed again in double precision. Each
step rounds by at most u = 2⁻²⁴ of its result. Coordinates are exact, as the file has them; their
differences, the squares with their sum in d dimensions, and the root add u, u d/2 and u of the
distance r. Let S be the sum of squared deviations over n frames, σ² = S/n.

1. Distances. √S is a length, so that σ is off by at most the root mean square of their errors, of
   which none is above (2 + d/2) u r. Where r is below 64 σ (``_FARTHEST``), that is 1.4e-5 of σ in
   3-D if all roundings of all frames conspire. They do not: of three million pairs that jump
   between two places or stay, the worst was off by 0.94e-5; errors of 64 different frames average
   out to 2e-6 at worst.
2. Sums. Distances are counted from that of the first frame, and S is what is left of the sum of
   their squares when n times the square of their mean is taken off. Each lane of a vector adds few
   of them, so that both sums are off by a few u of themselves, and S by as much times the ratio of
   the sum to S, which is below 16 (``_MOST_SHIFTED``): 1e-6 of σ.
3. Small and large numbers. Squares that are not far above the smallest number lose digits
   (``_LEAST``); those that are too large become infinite, and no test holds.

All of this depends on the pair alone, and every pair goes through the one loop of `_sum_run`:
whatever else is measured with it, its bits are the same.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.boxes import OPEN, STRAIGHT, TILTED, shortest_squares

_SUMS = {"reassoc", "contract", "nsz"}  # sums may be reordered for vectors; NaN keeps its meaning
_RUN = 256  # pairs whose sums stay in the cache
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
_SINGLE = 4  # bytes
_FOLLOWED = 3  # a kind of image that is no kind of box
_place = np.uint64  # an index that is never counted from the end, so that loops become vectors


@compiled
def merge(
    count, weight, mean, m2, reach, other_count, other_weight, other_mean, other_m2, other_reach
):
    """Merge the moments of pairs over other frames into the first (Chan, Golub and LeVeque)."""
    for p in range(len(count)):
        total = weight[p] + other_weight[p]
        share = other_weight[p] / total if total > 0.0 else 0.0
        shift = other_mean[p] - mean[p]
        mean[p] += shift * share
        m2[p] = m2[p] + other_m2[p] + shift * shift * weight[p] * share
        weight[p] = total
        count[p] += other_count[p]
    for p in range(len(count)):
        if other_reach[p] > reach[p]:
            reach[p] = other_reach[p]


@compiled(fastmath={"contract"})  # not reordered, so that the first frame of all is the shift
def _distance(x, y, z, a, b, frame, number):
    """Distance of two sites in one frame, in the precision of ``number``."""
    dx = number(x[a + frame]) - number(x[b + frame])
    dy = number(y[a + frame]) - number(y[b + frame])
    dz = number(z[a + frame]) - number(z[b + frame])
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@compiled(fastmath=_SUMS)
def _sum_run(xyz, frames, pairs, begin, stop, sums):
    """Fill in first distances, sums of distances less the first, and sums of their squares.

    Two pairs at a time, so that square roots need not wait; with more, fewer addresses fit in
    registers. The last of an odd number is summed twice.
    """
    number, width = sums.dtype.type, _place(xyz.shape[2])
    x = xyz.reshape(-1)
    y, z = x[xyz.shape[2] :], x[2 * xyz.shape[2] :]
    step, first, last = width + width + width, _place(frames[0]), stop - 1
    for p in range(begin, stop, 2):
        q, k = min(p + 1, last), p - begin
        a0, b0 = _place(pairs[p, 0]) * step, _place(pairs[p, 1]) * step
        a1, b1 = _place(pairs[q, 0]) * step, _place(pairs[q, 1]) * step
        shift0 = _distance(x, y, z, a0, b0, first, number)
        shift1 = _distance(x, y, z, a1, b1, first, number)
        sum0 = sum1 = square0 = square1 = number(0.0)
        for frame in range(first, _place(frames[1])):
            r0 = _distance(x, y, z, a0, b0, frame, number) - shift0
            r1 = _distance(x, y, z, a1, b1, frame, number) - shift1
            sum0, sum1 = sum0 + r0, sum1 + r1
            square0, square1 = square0 + r0 * r0, square1 + r1 * r1
        sums[0, k], sums[0, k + 1] = shift0, shift1
        sums[1, k], sums[1, k + 1] = sum0, sum1
        sums[2, k], sums[2, k + 1] = square0, square1


@compiled
def _settle(n_frames, sums, mean, m2, imprecise):
    """Fill in moments of a run, and which of them need more digits; count these."""
    inverse, n_imprecise = 1.0 / n_frames, 0
    for k in range(len(mean)):
        shift, first, second = (
            np.float64(sums[0, k]),
            np.float64(sums[1, k]),
            np.float64(sums[2, k]),
        )
        left = max(second - first * first * inverse, 0.0)
        mean[k] = shift + first * inverse
        m2[k] = left
        far = shift * (1.0 / _FARTHEST)
        enough = (
            (far * far * n_frames < left)
            & (second < _MOST_SHIFTED * left)
            & (_LEAST * n_frames < left)
        )
        imprecise[k] = not enough
        n_imprecise += not enough
    return n_imprecise


@compiled
def _refine(xyz, frames, n_frames, pairs, places, mean, m2):
    """Sum pairs at some places again, in double precision."""
    run, sums, inverse = np.empty((_RUN, 2), np.int64), np.empty((3, _RUN + 1)), 1.0 / n_frames
    for begin in range(0, len(places), _RUN):
        count = min(_RUN, len(places) - begin)
        for k in range(count):
            p = places[begin + k]
            run[k, 0], run[k, 1] = pairs[p, 0], pairs[p, 1]
        _sum_run(xyz, frames, run, 0, count, sums)
        for k in range(count):
            p = places[begin + k]
            mean[p] = sums[0, k] + sums[1, k] * inverse
            m2[p] = max(sums[2, k] - sums[1, k] * sums[1, k] * inverse, 0.0)


@compiled
def fill_open(xyz, frames, n_frames, pairs, mean, m2):
    """Fill in the moments of pairs over some frames in open space, all seen and of weight 1.

    ``xyz`` (sites, 3, frames) has missing dimensions filled up with 0. ``frames`` are the first and
    the end; beyond ``n_frames`` of them they repeat the first, up to a whole number of vectors, by
    which nothing is added. Single precision stays single where that is enough.
    """
    sums, imprecise = np.empty((3, _RUN + 1), xyz.dtype), np.empty(_RUN, np.bool_)
    places, n_places = np.empty(len(pairs), np.int64), 0
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, frames, pairs, begin, stop, sums)
        n_imprecise = _settle(n_frames, sums, mean[begin:stop], m2[begin:stop], imprecise)
        if n_imprecise > 0 and xyz.itemsize == _SINGLE:
            for p in range(begin, stop):
                if imprecise[p - begin]:
                    places[n_places] = p
                    n_places += 1
    _refine(xyz, frames, n_frames, pairs, places[:n_places], mean, m2)


@compiled(fastmath=_SUMS)
def _moments_of_all(r, start, stop):
    """Count, weight, mean and sum of squared deviations of distances, all seen and of weight 1.

    They are counted from the first one, so that no digits are lost to a large mean.
    """
    shift, first, second, total = r[start], 0.0, 0.0, float(stop - start)
    for frame in range(start, stop):
        deviation = r[frame] - shift
        first += deviation
        second += deviation * deviation
    return stop - start, total, shift + first / total, max(second - first * first / total, 0.0)


@compiled(fastmath=_SUMS)
def _moments_of_seen(r, weights, start, stop):
    """The same of distances that are not NaN, with weights."""
    count, shift, total, first, second = 0, 0.0, 0.0, 0.0, 0.0
    for frame in range(start, stop):
        if weights[frame] > 0.0 and r[frame] == r[frame]:
            shift = r[frame]
            break
    for frame in range(start, stop):
        seen = r[frame] == r[frame]
        weight = weights[frame] if seen else 0.0
        deviation = r[frame] - shift if seen else 0.0
        count += 1 if weight > 0.0 else 0
        total += weight
        first += weight * deviation
        second += weight * deviation * deviation
    if count == 0:
        return 0, 0.0, 0.0, 0.0
    return count, total, shift + first / total, max(second - first * first / total, 0.0)


@compiled
def _fill_distances(xyz, boxes, kind, a, b, steps, vectors, scratch, r, near):
    """Fill in distances of two sites by frame, and how near they come to half the box: 1 is there.

    ``steps`` are box vectors that lead to an image chosen once for all frames.
    """
    matrices, inverses, halves, shortening = boxes
    n_dimensions, n_frames = vectors.shape
    for d in range(n_dimensions):
        for frame in range(n_frames):
            vectors[d, frame] = np.float64(xyz[a, d, frame]) - np.float64(xyz[b, d, frame])
    for frame in range(n_frames):
        r[frame] = near[frame] = 0.0
    if kind == TILTED:
        shortest_squares(vectors, matrices, inverses, halves, shortening, scratch, r)
        for frame in range(n_frames):
            r[frame] = np.sqrt(r[frame])
            near[frame] = r[frame] / halves[frame]
        return
    for d in range(n_dimensions):
        if kind == STRAIGHT:
            for frame in range(n_frames):
                x, inverse = vectors[d, frame], inverses[d, d, frame]
                vectors[d, frame] = x - np.rint(x * inverse) * matrices[d, d, frame]
                share = 2.0 * abs(vectors[d, frame]) * inverse
                if share > near[frame]:
                    near[frame] = share
        elif kind == _FOLLOWED:
            for axis in range(n_dimensions):
                for frame in range(n_frames):
                    vectors[d, frame] += steps[axis] * matrices[axis, d, frame]
        for frame in range(n_frames):
            r[frame] += vectors[d, frame] * vectors[d, frame]
    for frame in range(n_frames):
        r[frame] = np.sqrt(r[frame])


@compiled
def fill_parts(
    xyz, weights, complete, boxes, pairs, parts, distances, count, weight, mean, m2, reach
):
    """Fill in moments (pairs, parts) over parts of the frames, in any box, with gaps and weights.

    ``parts`` are first frames and ends; ``complete`` says that all frames are seen and of weight 1.
    ``distances`` (pairs, frames) are given or, if there are none, measured in ``boxes``:
    four arrays, their kind, molecules, and steps. Sites of one molecule (none if all are single)
    see one another as they are, others the image to which steps lead or, without, the nearest.
    ``reach`` gets the largest distance over half the width of the box.
    """
    box, box_kind, molecules, steps = boxes[:4], boxes[4], boxes[5], boxes[6]
    n_frames, n_dimensions, n_parts = len(weights), xyz.shape[1], len(parts)
    vectors, scratch = np.empty((n_dimensions, n_frames)), np.empty((n_dimensions + 2, n_frames))
    r, near, no_steps = np.empty(n_frames), np.zeros(n_frames), np.empty(n_dimensions)
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        kind, to_image = box_kind, no_steps
        if len(molecules) > 0 and molecules[a] == molecules[b]:
            kind = OPEN
        elif kind != OPEN and len(steps) > 0:
            kind, to_image = _FOLLOWED, steps[p]
        if len(distances) > 0:
            r = distances[p]
        else:
            _fill_distances(xyz, box, kind, a, b, to_image, vectors, scratch, r, near)
        for q in range(n_parts):
            start, end, nearest = parts[q, 0], parts[q, 1], 0.0
            if complete:
                sums = _moments_of_all(r, start, end)
            else:
                sums = _moments_of_seen(r, weights, start, end)
            if kind in (STRAIGHT, TILTED):
                for frame in range(start, end):
                    if near[frame] > nearest:  # never for NaN
                        nearest = near[frame]
            count[p, q], weight[p, q], mean[p, q], m2[p, q] = sums
            reach[p, q] = nearest
