"""Whole molecules: every atom beside the neighbour to which it is bound."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.boxes import half_width, shortest_image


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
def _is_hidden(place):
    hidden = False
    for value in place:
        hidden |= np.isnan(value)
    return hidden
