"""Whole molecules, and nearest images from snapshot to snapshot."""

from __future__ import annotations

import numpy as np

from timme_next._kernels import compiled
from timme_next._kernels.boxes import STRAIGHT, half_width, shortest_image


@compiled
def grow_trees(indptr, neighbours, order, parents, molecules):
    """Walk along bonds from the first atom of every molecule.

    ``indptr`` and ``neighbours`` list the bonded atoms of each. ``order`` gets the atoms of one
    molecule after another, each after its parent; ``parents`` the neighbour from which each was
    reached (-1 for the first); ``molecules`` numbers, in the order of first atoms.
    """
    molecules[:] = -1
    filled = n_molecules = 0
    for first in range(len(parents)):
        if molecules[first] >= 0:
            continue
        molecules[first], parents[first], order[filled] = n_molecules, -1, first
        place = filled
        filled += 1
        while place < filled:
            atom = order[place]
            place += 1
            for k in range(indptr[atom], indptr[atom + 1]):
                other = neighbours[k]
                if molecules[other] < 0:
                    molecules[other], parents[other], order[filled] = n_molecules, atom, other
                    filled += 1
        n_molecules += 1


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
def unwrap(
    centres, last, boxes, inverses, kind, lengths, ages, n_steps, longest, squares, longest_gaps
):
    """Replace centres (frames, molecules, dimensions) by the images nearest to those before.

    ``boxes`` are those of ``last`` and of all frames, each in the basis of the one before. A
    molecule that does not move keeps its place relative to a box that changes; from there, the
    nearest image is taken. ``last`` becomes the last frame; where it is NaN, a molecule begins
    where it is seen first. ``lengths`` are usual steps since the frame before, and ``ages`` those
    since each molecule was seen. Ways of one usual step are noted for each molecule and axis as
    parts of the box: their number, the ``longest`` and the sum of their ``squares``; of longer
    ones, the most usual steps.
    """
    n_frames, n_molecules, n_dimensions = centres.shape
    vector, stayed = np.empty(n_dimensions), np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    for frame in range(n_frames):
        box, inverse = boxes[frame + 1], inverses[frame + 1]
        half = half_width(inverse)
        for molecule in range(n_molecules):
            place = centres[frame, molecule]
            _move_with_box(last[molecule], inverses[frame], box, kind, stayed)
            ages[molecule] += lengths[frame]
            if _is_hidden(place):
                last[molecule] = stayed
                continue
            age, ages[molecule] = ages[molecule], 0
            if _is_hidden(stayed):
                last[molecule] = place
                continue
            for d in range(n_dimensions):
                vector[d] = place[d] - stayed[d]
            shortest_image(vector, box, inverse, kind, half, scratch)
            for d in range(n_dimensions):
                last[molecule, d] = place[d] = stayed[d] + vector[d]
            if age > 1:
                longest_gaps[molecule] = max(longest_gaps[molecule], age)
            if age != 1:
                continue
            n_steps[molecule] += 1
            for axis in range(n_dimensions):
                fraction = 0.0
                for d in range(n_dimensions):
                    fraction += vector[d] * inverse[d, axis]
                longest[molecule, axis] = max(longest[molecule, axis], abs(fraction))
                squares[molecule, axis] += fraction * fraction


@compiled
def _is_hidden(place):
    hidden = False
    for value in place:
        hidden |= np.isnan(value)
    return hidden


@compiled
def _move_with_box(place, inverse, box, kind, moved):
    """Fill in where a place is that keeps its fractions of a box as this changes."""
    n_dimensions = len(place)
    moved[:] = 0.0
    for axis in range(n_dimensions):
        fraction = 0.0
        for d in range(n_dimensions):
            fraction += place[d] * inverse[d, axis]
        for d in range(n_dimensions):
            moved[d] += fraction * box[axis, d]
    for d in range(n_dimensions):
        if kind == STRAIGHT and box[d, d] == 0.0:  # an open direction
            moved[d] = place[d]
