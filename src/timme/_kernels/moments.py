"""Moments of pair distances over a block of frames, merged into those of the blocks before."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import (
    OPEN,
    STRAIGHT,
    TILTED,
    half_width,
    image_between,
    shortening_vectors,
    shortest_squares,
)

# Sums may be reordered for vector units; NaN must keep its meaning (not seen).
_FOLLOWED = 3  # a kind of image that is no kind of box
_FAST = {"reassoc", "contract", "nsz"}
_MOST_SHIFTED = 1e4  # of what is left of squares, beyond which digits are lost to the rest


@compiled
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


@compiled
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


@compiled(fastmath=_FAST)
def _sums_about(distances, weights, shift):
    """Count, weight, and sums of deviations from some length and of their squares."""
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
    return count, total, first, second


@compiled
def moments_of(distances, weights):
    """Count, weight, mean and sum of squared deviations of the distances that are not NaN.

    Distances are shifted by the first one seen, so that no digits are lost to a large mean; where
    that lies far from all others, by the mean that it gives.
    """
    shift = 0.0
    for frame in range(len(distances)):
        if weights[frame] > 0.0 and distances[frame] == distances[frame]:
            shift = distances[frame]
            break
    count, total, first, second = _sums_about(distances, weights, shift)
    if count == 0:
        return count, 0.0, 0.0, 0.0
    if second > _MOST_SHIFTED * (second - first * first / total):
        shift += first / total
        count, total, first, second = _sums_about(distances, weights, shift)
    return count, total, shift + first / total, max(second - first * first / total, 0.0)


@compiled
def add_distances(distances, weights, count, weight, mean, m2):
    """Merge ready-made distances (pairs, frames) into the moments of their pairs."""
    for p in range(len(distances)):
        seen, total, average, deviations = moments_of(distances[p], weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)


@compiled(fastmath=_FAST)
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
    vectors = np.empty((n_dimensions, n_frames))
    tilted = np.empty((2, n_dimensions, n_dimensions, n_frames))
    rounded = np.empty((n_dimensions + 2, n_frames))
    shortening = np.empty((0, n_dimensions, n_frames))
    steps = np.empty(n_dimensions)
    if box_kind == STRAIGHT:
        for frame in range(n_frames):
            for d in range(n_dimensions):
                lengths[d, frame] = boxes[frame, d, d]
                inverse_lengths[d, frame] = inverses[frame, d, d]
    elif box_kind == TILTED:
        for frame in range(n_frames):
            halves[frame] = half_width(inverses[frame])
            tilted[0, :, :, frame], tilted[1, :, :, frame] = boxes[frame], inverses[frame]
        shortening = shortening_vectors(boxes)
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
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    vectors[d, frame] = np.float64(a[d, frame]) - b[d, frame]
            shortest_squares(vectors, tilted[0], tilted[1], halves, shortening, rounded, square)
            for frame in range(n_frames):
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
