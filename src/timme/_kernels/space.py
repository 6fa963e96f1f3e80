"""Vectors between points in open space and in periodic boxes."""

from __future__ import annotations

import numpy as np
from numba import njit

OPEN, STRAIGHT, TILTED = 0, 1, 2


@njit(nogil=True, cache=True)
def to_shortest_image(vector, box, inverse, kind, scratch):
    """Replace a vector by the shortest of its periodic images.

    Rounding to the nearest cell is enough in a straight box. In a tilted one, whose vectors must be
    reduced, the shortest is that or one of its neighbours. ``scratch`` holds two vectors.
    """
    dimensions = len(vector)
    if kind == STRAIGHT:
        for axis in range(dimensions):
            vector[axis] -= np.rint(vector[axis] * inverse[axis, axis]) * box[axis, axis]
        return
    start, fraction = scratch[0], scratch[1]
    for axis in range(dimensions):
        fraction[axis] = 0.0
        for k in range(dimensions):
            fraction[axis] += vector[k] * inverse[k, axis]
    for axis in range(dimensions):
        for k in range(dimensions):
            vector[k] -= np.rint(fraction[axis]) * box[axis, k]
    best = 0.0
    for k in range(dimensions):
        start[k] = vector[k]
        best += vector[k] * vector[k]
    candidate = fraction
    for image in range(3**dimensions):
        code = image
        candidate[:] = start
        for axis in range(dimensions):
            step = code % 3 - 1
            code //= 3
            for k in range(dimensions):
                candidate[k] += step * box[axis, k]
        square = 0.0
        for k in range(dimensions):
            square += candidate[k] * candidate[k]
        if square < best:
            best = square
            vector[:] = candidate


@njit(nogil=True, cache=True)
def all_to_shortest_images(vectors, boxes, inverses, kind):
    """Replace vectors (frames, vectors, dimensions) by their shortest images, in place."""
    scratch = np.empty((2, vectors.shape[2]))
    for frame in range(vectors.shape[0]):
        for index in range(vectors.shape[1]):
            vector = vectors[frame, index]
            to_shortest_image(vector, boxes[frame], inverses[frame], kind, scratch)
