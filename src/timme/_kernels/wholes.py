"""Molecules made whole: every atom beside the neighbour to which it is bound."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import STRAIGHT, half_width, to_shortest_image


@compiled
def grow_trees(indptr, neighbours, order, parents, molecules):
    """Walk along bonds from the first atom of every molecule; return the number of molecules.

    ``indptr`` and ``neighbours`` list who is bound to whom. ``order`` gets the atoms of a molecule
    one after another, each after its parent, ``parents`` the neighbour from which each was reached
    (-1 for the first), and ``molecules`` the number of its molecule, in the order of first atoms.
    """
    n_atoms = len(parents)
    molecules[:] = -1
    filled = 0
    n_molecules = 0
    for first in range(n_atoms):
        if molecules[first] >= 0:
            continue
        molecules[first] = n_molecules
        parents[first] = -1
        order[filled] = first
        place = filled
        filled += 1
        while place < filled:
            atom = order[place]
            place += 1
            for k in range(indptr[atom], indptr[atom + 1]):
                other = neighbours[k]
                if molecules[other] < 0:
                    molecules[other] = n_molecules
                    parents[other] = atom
                    order[filled] = other
                    filled += 1
        n_molecules += 1
    return n_molecules


@compiled
def _is_seen(coordinates, frame, atom):
    unseen = False
    for d in range(coordinates.shape[2]):
        unseen |= np.isnan(coordinates[frame, atom, d])
    return not unseen


@compiled
def make_whole(coordinates, boxes, inverses, kind, order, parents):
    """Put every atom of (frames, atoms, dimensions) beside its parent, in place.

    Atoms that are there already keep their coordinates to the last bit. In the place of a parent
    that is not seen (NaN) stands the next before it that is, or else the first of the molecule.
    """
    n_frames, n_atoms, n_dimensions = coordinates.shape
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    for frame in range(n_frames):
        half = half_width(inverses[frame])
        first = -1
        for place in range(n_atoms):
            atom = order[place]
            parent = parents[atom]
            if parent < 0:
                first = -1
            if not _is_seen(coordinates, frame, atom):
                continue
            while parent >= 0 and not _is_seen(coordinates, frame, parent):
                parent = parents[parent]
            if first < 0:
                first = atom
            elif parent < 0:
                parent = first
            if parent < 0:
                continue
            square = 0.0
            for d in range(n_dimensions):
                vector[d] = np.float64(coordinates[frame, atom, d]) - coordinates[frame, parent, d]
                square += vector[d] * vector[d]
            if square <= half * half:  # no image is nearer
                continue
            to_shortest_image(vector, boxes[frame], inverses[frame], kind, half, scratch)
            shortest = 0.0
            for d in range(n_dimensions):
                shortest += vector[d] * vector[d]
            if shortest < square:
                for d in range(n_dimensions):
                    coordinates[frame, atom, d] = coordinates[frame, parent, d] + vector[d]


@compiled
def follow(centres, last, boxes, inverses, kind, seen, steps, longest, squares):
    """Replace centres (frames, molecules, dimensions) by the images that follow one another.

    ``boxes`` are those of the frame before the first (of ``last``) and of all frames, each in the
    basis of the one before. What has not moved keeps its place in the box as that changes; from
    there the nearest image is taken. ``last`` becomes the last frame, and ``seen`` who is seen in
    it. Steps from one frame to the next, not those over frames in which a molecule is not seen, are
    noted as parts of the box, for each molecule and axis: how many (``steps``), the ``longest``,
    and the sum of their ``squares``.
    """
    n_frames, n_molecules, n_dimensions = centres.shape
    vector = np.empty(n_dimensions)
    stayed = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    for frame in range(n_frames):
        half = half_width(inverses[frame + 1])
        for molecule in range(n_molecules):
            for d in range(n_dimensions):
                stayed[d] = 0.0
            for axis in range(n_dimensions):
                fraction = 0.0
                for d in range(n_dimensions):
                    fraction += last[molecule, d] * inverses[frame, d, axis]
                for d in range(n_dimensions):
                    stayed[d] += fraction * boxes[frame + 1, axis, d]
            for d in range(n_dimensions):
                if kind == STRAIGHT and boxes[frame + 1, d, d] == 0.0:
                    stayed[d] = last[molecule, d]  # an open direction
                vector[d] = centres[frame, molecule, d] - stayed[d]
            if np.isnan(vector).any():  # not seen: it goes on from where it was seen last
                for d in range(n_dimensions):
                    last[molecule, d] = stayed[d]
                seen[molecule] = False
                continue
            to_shortest_image(vector, boxes[frame + 1], inverses[frame + 1], kind, half, scratch)
            for axis in range(n_dimensions):
                fraction = 0.0
                for d in range(n_dimensions):
                    fraction += vector[d] * inverses[frame + 1, d, axis]
                if seen[molecule]:
                    longest[molecule, axis] = max(longest[molecule, axis], abs(fraction))
                    squares[molecule, axis] += fraction * fraction
            steps[molecule] += seen[molecule]
            seen[molecule] = True
            for d in range(n_dimensions):
                last[molecule, d] = stayed[d] + vector[d]
                centres[frame, molecule, d] = last[molecule, d]
