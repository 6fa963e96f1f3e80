"""Molecules that a file numbers, where it has no bonds: atoms joined from neighbour to neighbour.

Numbers mean molecules in some files, and anything in others, where what has the same number is
anywhere. So a molecule counts as one if its atoms can be joined by ways that are short against the
box in all snapshots that are looked at: in the order of the file, as along a chain, or else from
each to one that is near. Each is judged by itself; 0 is the number of atoms that are in none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels.space import half_width
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes
from timme.system.wholes import Trees, endless

_NEAR = 0.5  # of half the box, within which neighbours in a molecule are
_FIRST_RADIUS = 1 / 32  # of that, in which neighbours are sought first
_MOST_NEIGHBOURS = 100  # of an atom, above which a molecule is no piece with a few atoms far off

Snapshots = Sequence[tuple[Coordinates, Boxes]]


def join_molecules(snapshots: Snapshots, molecules: Ints) -> tuple[Ints, int, int]:
    """Join the atoms of molecules that have numbers.

    Parameters
    ----------
    snapshots : sequence of (ndarray, Boxes)
        Places in some snapshots, each with its box; the first is that of all.
    molecules : ndarray of int, shape (atoms,)
        Number of the molecule of each atom, 0 for none.

    Returns
    -------
    pairs : ndarray, shape (pairs, 2)
        Atoms that are neighbours in their molecule.
    n_apart : int
        Molecules of several atoms that cannot be joined, as they reach too far through the box.
    n_molecules : int
        All molecules of several atoms.
    """
    order = np.argsort(molecules, kind="stable")
    rows = np.column_stack([order[:-1], order[1:]])
    rows = rows[(molecules[rows[:, 0]] == molecules[rows[:, 1]]) & (molecules[rows[:, 0]] != 0)]
    numbers, inverse = np.unique(molecules[rows[:, 0]], return_inverse=True)
    far: Bools = np.zeros(len(numbers), np.bool_)
    far[inverse[_stretch(snapshots, rows) > _NEAR]] = True
    joined, n_apart = [rows[~far[inverse]]], 0
    for number in numbers[far]:
        atoms = order[slice(*np.searchsorted(molecules[order], [number, number + 1]))]
        pairs = _join_neighbours([(places[atoms], boxes) for places, boxes in snapshots])
        n_apart += not len(pairs)
        joined.append(atoms[pairs])
    return np.concatenate(joined), n_apart, len(numbers)


def _join_neighbours(snapshots: Snapshots) -> Ints:
    """Join all atoms by the shortest ways between neighbours; none where one of them is long."""
    none, (places, boxes) = np.empty((0, 2), np.int64), snapshots[0]
    count, limit = len(places), _NEAR * half_width(boxes.inverses[0])
    radius, pairs = _FIRST_RADIUS * limit, none
    while not _is_connected(pairs, count):
        if radius > limit or len(pairs) > _MOST_NEIGHBOURS * count:
            return none
        radius *= 2
        pairs = pairs_within(places, min(radius, limit), boxes)
    lengths = np.maximum(_stretch(snapshots, pairs), np.finfo(np.float64).tiny)  # 0 is no way
    ends = tuple(pairs.T.astype(np.int32))  # all that some versions of scipy take
    graph = sparse.coo_array((lengths, ends), shape=(count, count))
    tree = minimum_spanning_tree(graph.tocsr()).tocoo()
    ways = np.column_stack([tree.row, tree.col]).astype(np.int64)
    if tree.data.max() > _NEAR:
        return none
    # What fills the box has neighbours all the way through its walls, and is no molecule.
    loops = pairs[lengths <= tree.data.max()]
    return none if endless(places, boxes, Trees.of(ways, count), loops).any() else ways


def _stretch(snapshots: Snapshots, pairs: Ints) -> Floats:
    """Find how far pairs come apart through the box, as parts of half its width."""
    found = np.zeros(len(pairs))
    for places, boxes in snapshots:
        apart = np.linalg.norm(boxes.between(places[None], *pairs.T)[0], axis=1)
        np.maximum(found, apart / half_width(boxes.inverses[0]), out=found)
    return found


def _is_connected(pairs: Ints, count: int) -> bool:
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(count, count))
    return int(connected_components(graph, directed=False)[0]) == 1
