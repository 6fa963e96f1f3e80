"""Vectors between points in open space and in periodic boxes."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

OPEN, STRAIGHT, TILTED = 0, 1, 2


@compiled
def half_width(inverse):
    """Return half the smallest width of a box: no shorter image of a shorter vector exists."""
    dimensions = len(inverse)
    largest = 0.0
    for axis in range(dimensions):
        square = 0.0
        for k in range(dimensions):
            square += inverse[k, axis] * inverse[k, axis]
        largest = max(largest, square)
    return 0.5 / np.sqrt(largest) if largest > 0.0 else np.inf


@compiled
def to_shortest_image(vector, box, inverse, kind, half, scratch):
    """Replace a vector by the shortest of its periodic images.

    Rounding to the nearest cell is enough in a straight box, and in a tilted one for vectors no
    longer than ``half`` its smallest width. Else, in a box whose vectors are reduced, the shortest
    is that or one of its neighbours. ``scratch`` holds two vectors.
    """
    dimensions = len(vector)
    if kind == STRAIGHT:
        for axis in range(dimensions):
            vector[axis] -= np.rint(vector[axis] * inverse[axis, axis]) * box[axis, axis]
        return
    for axis in range(dimensions):
        fraction = 0.0
        for k in range(dimensions):
            fraction += vector[k] * inverse[k, axis]
        scratch[0, axis] = np.rint(fraction)
    best = 0.0
    for k in range(dimensions):
        for axis in range(dimensions):
            vector[k] -= scratch[0, axis] * box[axis, k]
        best += vector[k] * vector[k]
    if best <= half * half:
        return
    for k in range(dimensions):
        scratch[0, k] = vector[k]
    for image in range(3**dimensions):
        square = 0.0
        for k in range(dimensions):
            code = image
            scratch[1, k] = scratch[0, k]
            for axis in range(dimensions):
                scratch[1, k] += (code % 3 - 1) * box[axis, k]
                code //= 3
            square += scratch[1, k] * scratch[1, k]
        if square < best:
            best = square
            for k in range(dimensions):
                vector[k] = scratch[1, k]


@compiled
def image_between(a, b, origin, origin_box, kind, vector, scratch, steps):
    """Find in ``steps`` how many box vectors lead from one site to the image of another it sees.

    That is the nearest at the origin. ``vector`` and ``scratch`` hold one and two vectors.
    """
    dimensions = len(vector)
    for d in range(dimensions):
        vector[d] = origin[a, d] - origin[b, d]
    to_shortest_image(
        vector, origin_box[0], origin_box[1], kind, half_width(origin_box[1]), scratch
    )
    for axis in range(dimensions):
        fraction = 0.0
        for d in range(dimensions):
            moved = vector[d] - (origin[a, d] - origin[b, d])
            fraction += moved * origin_box[1, d, axis]
        steps[axis] = np.rint(fraction)


@compiled
def all_to_shortest_images(vectors, boxes, inverses, kind):
    """Replace vectors (frames, vectors, dimensions) by their shortest images, in place."""
    scratch = np.empty((2, vectors.shape[2]))
    for frame in range(vectors.shape[0]):
        half = half_width(inverses[frame])
        for index in range(vectors.shape[1]):
            vector = vectors[frame, index]
            to_shortest_image(vector, boxes[frame], inverses[frame], kind, half, scratch)
