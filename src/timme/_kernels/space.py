"""Vectors between points in open space and in periodic boxes.

**Which images can be the shortest in a tilted box.** A vector r that is rounded to its cell is a
sum of box vectors e, of each no more than half. A lattice vector v makes it shorter if |r - v|² is
below |r|², that is if 2 r·v is above |v|². But 2 r·v is never above Σ |v·e|, and of v and -v only
the one on the side of r makes it shorter. So of the 26 neighbours of a cell in 3-D, those few are
tried that may be of use, which is known of the box alone: none of a straight box, nine pairs
or so where no angle is right.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

OPEN, STRAIGHT, TILTED = 0, 1, 2
_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units; NaN is kept
_ROUNDING = 1.0 + 1e-12  # of squares, below which nothing becomes shorter


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
def _lattice_vector(box, image, vector):
    """Fill in one of the 3ᵈ sums of box vectors, each taken -1, 0 or 1 times; return its square."""
    square = 0.0
    for d in range(len(vector)):
        code, vector[d] = image, 0.0
        for axis in range(len(vector)):
            vector[d] += (code % 3 - 1) * box[axis, d]
            code //= 3
        square += vector[d] * vector[d]
    return square


@compiled
def _may_shorten(boxes, image, vector):
    """Whether a lattice vector makes some rounded vector shorter in any of the boxes."""
    dimensions = len(vector)
    for frame in range(len(boxes)):
        square, most = _lattice_vector(boxes[frame], image, vector), 0.0
        for axis in range(dimensions):
            along = 0.0
            for d in range(dimensions):
                along += vector[d] * boxes[frame, axis, d]
            most += abs(along)
        if most > square * _ROUNDING:
            return True
    return False


@compiled
def shortening_vectors(boxes):
    """Return the lattice vectors that may make rounded ones shorter (vectors, dimensions, frames).

    Of two that are opposite it is one.
    """
    n_frames, dimensions, _ = boxes.shape
    vector = np.empty(dimensions)
    n_half = 3**dimensions // 2  # those before the middle, which is no step at all
    found, count = np.empty((n_half, dimensions, n_frames)), 0
    for image in range(n_half):
        if _may_shorten(boxes, image, vector):
            for frame in range(n_frames):
                _lattice_vector(boxes[frame], image, vector)
                for d in range(dimensions):
                    found[count, d, frame] = vector[d]
            count += 1
    return found[:count].copy()


@compiled(fastmath=_FAST)
def _round_to_cell(vectors, boxes, inverses, steps):
    """Bring vectors (dimensions, frames), one a frame, into the cell around the origin."""
    dimensions, n_frames = vectors.shape
    for axis in range(dimensions):
        for frame in range(n_frames):
            steps[axis, frame] = 0.0
        for d in range(dimensions):
            for frame in range(n_frames):
                steps[axis, frame] += vectors[d, frame] * inverses[d, axis, frame]
    for axis in range(dimensions):
        for d in range(dimensions):
            for frame in range(n_frames):
                vectors[d, frame] -= np.rint(steps[axis, frame]) * boxes[axis, d, frame]


@compiled(fastmath=_FAST)
def shortest_squares(vectors, boxes, inverses, halves, shortening, scratch, square):
    """Fill in the squares of the shortest images of vectors, one a frame; these are rounded.

    Frames come last throughout, so that loops over them are vectors: ``vectors`` (dimensions,
    frames), ``boxes`` and ``inverses`` (dimensions, dimensions, frames), ``halves`` as
    :func:`half_width` gives them, and ``shortening`` as :func:`shortening_vectors` does.
    ``scratch`` holds as many numbers as vectors, and two more of each frame.
    """
    dimensions, n_frames = vectors.shape
    _round_to_cell(vectors, boxes, inverses, scratch)
    along, other = scratch[dimensions], scratch[dimensions + 1]
    for frame in range(n_frames):
        square[frame] = 0.0
    for d in range(dimensions):
        for frame in range(n_frames):
            square[frame] += vectors[d, frame] * vectors[d, frame]
    n_far = 0
    for frame in range(n_frames):
        n_far += square[frame] > halves[frame] * halves[frame]
    if n_far == 0:
        return
    for v in range(len(shortening)):
        for frame in range(n_frames):
            along[frame] = other[frame] = 0.0
        for d in range(dimensions):
            for frame in range(n_frames):
                along[frame] += vectors[d, frame] * shortening[v, d, frame]
        for d in range(dimensions):
            for frame in range(n_frames):
                x = vectors[d, frame] - np.copysign(1.0, along[frame]) * shortening[v, d, frame]
                other[frame] += x * x
        for frame in range(n_frames):
            if other[frame] < square[frame]:  # never for NaN
                square[frame] = other[frame]


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
