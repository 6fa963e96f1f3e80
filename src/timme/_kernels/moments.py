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
from timme._kernels.boxes import TILTED, shortest_squares

_SUMS = {"reassoc", "contract", "nsz"}  # sums may be reordered for vectors; NaN keeps its meaning
RUN = 256  # pairs whose sums stay in the cache
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
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
def fill_open(xyz, frames, n_frames, pairs, sums, mean, m2, precise):
    """Fill in the moments of pairs over some frames in open space, all seen and of weight 1.

    ``xyz`` (sites, 3, frames) has missing dimensions filled up with 0. ``frames`` are the first and
    the end; beyond ``n_frames`` of them they repeat the first, up to a whole number of vectors, by
    which nothing is added. ``sums`` (3, RUN + 1) is for the sums of some pairs, in its precision;
    ``precise`` tells which pairs single precision is enough for.
    """
    inverse = 1.0 / n_frames
    for begin in range(0, len(pairs), RUN):
        stop = min(begin + RUN, len(pairs))
        _sum_run(xyz, frames, pairs, begin, stop, sums)
        for p in range(begin, stop):
            shift, first = np.float64(sums[0, p - begin]), np.float64(sums[1, p - begin])
            second = np.float64(sums[2, p - begin])
            left = max(second - first * first * inverse, 0.0)
            far = shift * (1.0 / _FARTHEST)
            mean[p] = shift + first * inverse
            m2[p] = left
            precise[p] = (
                (far * far * n_frames < left)
                & (second < _MOST_SHIFTED * left)
                & (_LEAST * n_frames < left)
            )


@compiled(fastmath={"contract"})
def fill_distances(xyz, pairs, distances):
    """Fill in the distances of pairs by frame in open space, of 3 dimensions or more."""
    for p in range(len(pairs)):
        a, b, r = xyz[pairs[p, 0]], xyz[pairs[p, 1]], distances[p]
        for frame in range(_place(distances.shape[1])):
            dx = np.float64(a[0, frame]) - np.float64(b[0, frame])
            dy = np.float64(a[1, frame]) - np.float64(b[1, frame])
            dz = np.float64(a[2, frame]) - np.float64(b[2, frame])
            r[frame] = dx * dx + dy * dy + dz * dz
        for d in range(3, xyz.shape[1]):
            for frame in range(_place(distances.shape[1])):
                x = np.float64(a[d, frame]) - np.float64(b[d, frame])
                r[frame] += x * x
        for frame in range(_place(distances.shape[1])):
            r[frame] = np.sqrt(r[frame])


@compiled
def fill_distances_in_boxes(xyz, boxes, kind, molecules, pairs, steps, distances, shares):
    """Fill in the same in ``boxes``, and how near they come to half the box: 1 is there.

    Sites of one molecule (none if all are single) see one another as they are, others the image to
    which ``steps`` lead, box vectors chosen once for all frames, or without any the nearest.
    """
    matrices, inverses, halves, shortening = boxes
    n_dimensions, n_frames = xyz.shape[1], distances.shape[1]
    vectors, scratch = np.empty((n_dimensions, n_frames)), np.empty((n_dimensions + 2, n_frames))
    for p in range(len(pairs)):
        a, b, r, share = pairs[p, 0], pairs[p, 1], distances[p], shares[p]
        together = len(molecules) > 0 and molecules[a] == molecules[b]
        nearest = not together and len(steps) == 0
        for d in range(n_dimensions):
            for frame in range(n_frames):
                vectors[d, frame] = np.float64(xyz[a, d, frame]) - np.float64(xyz[b, d, frame])
        for frame in range(n_frames):
            r[frame] = share[frame] = 0.0
        if nearest and kind == TILTED:
            shortest_squares(vectors, matrices, inverses, halves, shortening, scratch, r)
            for frame in range(n_frames):
                r[frame] = np.sqrt(r[frame])
                share[frame] = r[frame] / halves[frame]
            continue
        for d in range(n_dimensions):
            if nearest:
                for frame in range(n_frames):
                    x, inverse = vectors[d, frame], inverses[d, d, frame]
                    vectors[d, frame] = x - np.rint(x * inverse) * matrices[d, d, frame]
                    along = 2.0 * abs(vectors[d, frame]) * inverse
                    if along > share[frame]:
                        share[frame] = along
            elif not together:
                for axis in range(n_dimensions):
                    for frame in range(n_frames):
                        vectors[d, frame] += steps[p, axis] * matrices[axis, d, frame]
            for frame in range(n_frames):
                r[frame] += vectors[d, frame] * vectors[d, frame]
        for frame in range(n_frames):
            r[frame] = np.sqrt(r[frame])


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
def fill_parts(distances, shares, weights, complete, parts, count, weight, mean, m2, reach):
    """Fill in moments (pairs, parts) of distances (pairs, frames) over parts of the frames.

    ``parts`` are first frames and ends; ``complete`` says that all frames are seen and of weight 1.
    ``reach`` gets the largest of the ``shares``, as many as distances or none.
    """
    for p in range(len(distances)):
        for q in range(len(parts)):
            start, end, largest = parts[q, 0], parts[q, 1], 0.0
            if complete:
                sums = _moments_of_all(distances[p], start, end)
            else:
                sums = _moments_of_seen(distances[p], weights, start, end)
            if len(shares) > 0:
                for frame in range(start, end):
                    if shares[p, frame] > largest:  # never for NaN
                        largest = shares[p, frame]
            count[p, q], weight[p, q], mean[p, q], m2[p, q] = sums
            reach[p, q] = largest
