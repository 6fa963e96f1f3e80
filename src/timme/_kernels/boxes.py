"""Shortest vectors between points in open space and in periodic boxes, and whole molecules.

**Which images can be the shortest in a tilted box.** A vector r that is rounded to its cell is a
sum of box vectors e, each taken at most half a time. A lattice vector v makes it shorter if
|r - v|² < |r|², that is if 2 r·v > |v|². But 2 r·v is at most Σ |v·e|, and of v and -v only the one
on the side of r makes it shorter. So of the 26 neighbours of a cell in 3-D only those with
Σ |v·e| > |v|² need to be tried, one of each two opposite ones. They depend on the box alone: none
in a straight box, about nine where no angle is right.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from timme._kernels import compiled

OPEN, STRAIGHT, TILTED = 0, 1, 2
_ROUNDING = 1.0 + 1e-12  # of squares


@compiled
def half_width(inverse):
    """Return half the smallest width of a box; shorter vectors have no shorter image."""
    n_dimensions = len(inverse)
    largest = 0.0
    for axis in range(n_dimensions):
        square = 0.0
        for d in range(n_dimensions):
            square += inverse[d, axis] * inverse[d, axis]
        largest = max(largest, square)
    return 0.5 / np.sqrt(largest) if largest > 0.0 else np.inf


@compiled
def shortest_image(vector, box, inverse, kind, half, scratch):
    """Replace a vector by its shortest image; ``half`` is half the width, ``scratch`` two vectors.

    The nearest cell gives it in a straight box, and in a tilted one if the result is at most
    ``half``. Else, as box vectors are reduced, it is that or one of its 3ᵈ - 1 neighbours.
    """
    n_dimensions = len(vector)
    if kind == STRAIGHT:
        for d in range(n_dimensions):
            vector[d] -= np.rint(vector[d] * inverse[d, d]) * box[d, d]
        return
    rounded, image = scratch[0], scratch[1]
    for axis in range(n_dimensions):
        fraction = 0.0
        for d in range(n_dimensions):
            fraction += vector[d] * inverse[d, axis]
        rounded[axis] = np.rint(fraction)
    shortest = 0.0
    for d in range(n_dimensions):
        for axis in range(n_dimensions):
            vector[d] -= rounded[axis] * box[axis, d]
        shortest += vector[d] * vector[d]
    if shortest <= half * half:
        return
    for d in range(n_dimensions):
        rounded[d] = vector[d]
    for neighbour in range(3**n_dimensions):
        square = 0.0
        for d in range(n_dimensions):
            image[d], code = rounded[d], neighbour
            for axis in range(n_dimensions):
                image[d] += (code % 3 - 1) * box[axis, d]
                code //= 3
            square += image[d] * image[d]
        if square < shortest:
            shortest = square
            for d in range(n_dimensions):
                vector[d] = image[d]


@compiled
def shortest_images(vectors, boxes, inverses, kind):
    """Replace vectors (frames, vectors, dimensions) by their shortest images."""
    scratch = np.empty((2, vectors.shape[2]))
    for frame in range(len(vectors)):
        half = half_width(inverses[frame])
        for v in range(vectors.shape[1]):
            shortest_image(vectors[frame, v], boxes[frame], inverses[frame], kind, half, scratch)


def shortening_vectors(boxes):
    """Return lattice vectors that may shorten rounded ones, as (vectors, dimensions, frames)."""
    n_dimensions = boxes.shape[1]
    steps = np.array(list(product((-1.0, 0.0, 1.0), repeat=n_dimensions)))
    steps = steps[: len(steps) // 2]  # the others are their opposites, and no step at all
    vectors = np.einsum("va,fad->vfd", steps, boxes)
    most = np.abs(np.einsum("vfd,fad->vfa", vectors, boxes)).sum(axis=2)
    useful = (most > (vectors**2).sum(axis=2) * _ROUNDING).any(axis=1)
    return np.ascontiguousarray(vectors[useful].transpose(0, 2, 1))


@compiled
def shortest_squares(vectors, boxes, inverses, halves, shortening, scratch, square):
    """Fill in the squared lengths of the shortest images of vectors in tilted boxes.

    Frames come last, so that loops over them are vectorised: ``vectors`` (dimensions, frames), one
    a frame, become rounded; ``boxes`` and ``inverses`` (dimensions, dimensions, frames), ``halves``
    by `half_width`, ``shortening`` by `shortening_vectors`, ``scratch`` (dimensions + 2, frames).
    """
    n_dimensions, n_frames = vectors.shape
    along, other = scratch[n_dimensions], scratch[n_dimensions + 1]
    round_to_cell(vectors, boxes, inverses, scratch)
    for frame in range(n_frames):
        square[frame] = 0.0
    for d in range(n_dimensions):
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
        for d in range(n_dimensions):
            for frame in range(n_frames):
                along[frame] += vectors[d, frame] * shortening[v, d, frame]
        for d in range(n_dimensions):
            for frame in range(n_frames):
                step = shortening[v, d, frame] if along[frame] > 0.0 else -shortening[v, d, frame]
                x = vectors[d, frame] - step
                other[frame] += x * x
        for frame in range(n_frames):
            if other[frame] < square[frame]:  # never for NaN
                square[frame] = other[frame]


@compiled
def round_to_cell(vectors, boxes, inverses, fractions):
    """Bring vectors (dimensions, frames) into the cell around the origin."""
    n_dimensions, n_frames = vectors.shape
    for axis in range(n_dimensions):
        for frame in range(n_frames):
            fractions[axis, frame] = 0.0
        for d in range(n_dimensions):
            for frame in range(n_frames):
                fractions[axis, frame] += vectors[d, frame] * inverses[d, axis, frame]
    for axis in range(n_dimensions):
        for d in range(n_dimensions):
            for frame in range(n_frames):
                vectors[d, frame] -= np.rint(fractions[axis, frame]) * boxes[axis, d, frame]


@compiled
def make_whole(coordinates, boxes, inverses, kind, order, parents):
    """Move every atom of (frames, atoms, dimensions) to its image nearest to its parent.

    Atoms that are there already keep their coordinates to the last bit. A parent that is not seen
    (NaN) is replaced by the next before it that is, or else by the first seen of the molecule.
    """
    n_dimensions = coordinates.shape[2]
    vector, scratch = np.empty(n_dimensions), np.empty((2, n_dimensions))
    for frame in range(len(coordinates)):
        places, half, first = coordinates[frame], half_width(inverses[frame]), -1
        for atom in order:
            parent = parents[atom]
            if parent < 0:
                first = -1
            if _is_hidden(places[atom]):
                continue
            while parent >= 0 and _is_hidden(places[parent]):
                parent = parents[parent]
            if first < 0:
                first = atom
            elif parent < 0:
                parent = first
            if parent < 0:
                continue
            square = shortest = 0.0
            for d in range(n_dimensions):
                vector[d] = np.float64(places[atom, d]) - places[parent, d]
                square += vector[d] * vector[d]
            if square <= half * half:  # no image is nearer
                continue
            shortest_image(vector, boxes[frame], inverses[frame], kind, half, scratch)
            for d in range(n_dimensions):
                shortest += vector[d] * vector[d]
            if shortest < square:
                for d in range(n_dimensions):
                    places[atom, d] = places[parent, d] + vector[d]


@compiled
def _is_hidden(place):
    hidden = False
    for value in place:
        hidden |= np.isnan(value)
    return hidden
