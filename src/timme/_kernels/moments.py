"""Moments of pair distances over a block of frames, and how those of two blocks merge."""

from __future__ import annotations

import numpy as np
from numba import njit

from timme._kernels.space import STRAIGHT, TILTED, half_width, to_shortest_image

# Sums may be reordered for vector units; NaN must keep its meaning (not seen).
_FAST = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True)
def merged(weight, mean, m2, other_weight, other_mean, other_m2):
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


@njit(nogil=True, cache=True)
def merge_moments(
    count, weight, mean, m2, reach, other_count, other_weight, other_mean, other_m2, other_reach
):
    """Merge the moments of many pairs into the first set, in place."""
    for p in range(len(weight)):
        count[p] += other_count[p]
        reach[p] = max(reach[p], other_reach[p])
        weight[p], mean[p], m2[p] = merged(
            weight[p], mean[p], m2[p], other_weight[p], other_mean[p], other_m2[p]
        )


@njit(nogil=True, cache=True, fastmath=_FAST)
def _moments_of(distances, weights):
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


@njit(nogil=True, cache=True)
def moments_of_distances(distances, weights, count, weight, mean, m2):
    """Fill in the moments of ready-made distances (pairs, frames)."""
    for p in range(len(distances)):
        count[p], weight[p], mean[p], m2[p] = _moments_of(distances[p], weights)


@njit(nogil=True, cache=True, fastmath=_FAST)
def _sums_in_space(a, b):
    """Sums over frames of the distance of two sites, less the first, and of its square, in 3-D."""
    x = a[0, 0] - b[0, 0]
    y = a[1, 0] - b[1, 0]
    z = a[2, 0] - b[2, 0]
    shift = np.sqrt(x * x + y * y + z * z)
    first = shift - shift
    second = shift - shift
    for frame in range(a.shape[1]):
        x = a[0, frame] - b[0, frame]
        y = a[1, frame] - b[1, frame]
        z = a[2, frame] - b[2, frame]
        r = np.sqrt(x * x + y * y + z * z) - shift
        first += r
        second += r * r
    return shift, first, second


@njit(nogil=True, cache=True, fastmath=_FAST)
def _sums(a, b, square):
    """The same in any number of dimensions; ``square`` has room for as many numbers as frames."""
    n_dimensions, n_frames = a.shape
    for frame in range(n_frames):
        x = a[0, frame] - b[0, frame]
        square[frame] = x * x
    for d in range(1, n_dimensions):
        for frame in range(n_frames):
            x = a[d, frame] - b[d, frame]
            square[frame] += x * x
    shift = np.sqrt(square[0])
    first = shift - shift
    second = shift - shift
    for frame in range(n_frames):
        r = np.sqrt(square[frame]) - shift
        first += r
        second += r * r
    return shift, first, second


@njit(nogil=True, cache=True)
def moments_of_all_frames(xyz, pairs, count, weight, mean, m2):
    """Fill in the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors. Single precision stays single within the block.
    """
    _, n_dimensions, n_frames = xyz.shape
    square = np.empty(n_frames, xyz.dtype)
    for p in range(len(pairs)):
        a = xyz[pairs[p, 0]]
        b = xyz[pairs[p, 1]]
        shift, first, second = _sums_in_space(a, b) if n_dimensions == 3 else _sums(a, b, square)
        count[p] = n_frames
        weight[p] = n_frames
        mean[p] = shift + first / n_frames
        m2[p] = max(second - first * first / n_frames, 0.0)


@njit(nogil=True, cache=True, fastmath=_FAST)
def moments_of_frames(xyz, weights, boxes, inverses, kind, pairs, count, weight, mean, m2, reach):
    """Fill in the moments of pairs in any box, with weights and unseen frames (NaN).

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
    if kind == STRAIGHT:
        for frame in range(n_frames):
            for d in range(n_dimensions):
                lengths[d, frame] = boxes[frame, d, d]
                inverse_lengths[d, frame] = inverses[frame, d, d]
    elif kind == TILTED:
        for frame in range(n_frames):
            halves[frame] = half_width(inverses[frame])
    for p in range(len(pairs)):
        a = xyz[pairs[p, 0]]
        b = xyz[pairs[p, 1]]
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
        else:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    square[frame] += x * x
        for frame in range(n_frames):
            square[frame] = np.sqrt(square[frame])
        count[p], weight[p], mean[p], m2[p] = _moments_of(square, weights)
        reach[p] = 0.0
        for frame in range(n_frames):
            if near[frame] > reach[p]:  # never for NaN
                reach[p] = near[frame]


@njit(nogil=True, cache=True)
def _place(indptr, columns, row, column):
    """Find an entry of a sparse matrix by halving its row."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def reduce_pairs(pairs, offsets, members, indptr, columns, variance, largest):
    """Reduce σ² of site pairs to σ² of object pairs: their mean, or the largest of them.

    ``indptr`` and ``columns`` (sorted within a row) hold the site pairs, lower site first; a site
    that both objects share counts 0.
    """
    reduced = np.empty(len(pairs))
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        total = 0.0
        top = 0.0
        for i in members[offsets[a] : offsets[a + 1]]:
            for j in members[offsets[b] : offsets[b + 1]]:
                if i != j:
                    value = variance[_place(indptr, columns, min(i, j), max(i, j))]
                    total += value
                    if not (np.isnan(top) or value <= top):  # NaN, an undefined σ, stays
                        top = value
        n_cross = (offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b])
        reduced[p] = top if largest else total / n_cross
    return reduced
