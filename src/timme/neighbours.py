"""Points that are near one another in one snapshot, found through a grid of cells."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import neighbours as kernel
from timme.space import Boxes

_AXES = 3  # the grid spans the first three axes; distances always count all of them


def pairs_within(
    points: Coordinates, radius: float, boxes: Boxes, frame: int = 0, *, room: int = 0
) -> Ints:
    """Find the pairs of points no farther apart than a radius.

    Parameters
    ----------
    points : ndarray, shape (points, dimensions)
        Positions; points that are not seen (NaN) have no partners.
    radius : float
        In the units of the positions.
    boxes : Boxes
        Periodic boxes.
    frame : int, optional
        Which of the boxes.
    room : int, optional
        Number of pairs to be expected; a guess saves a second search.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Lower first, in no order.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> len(pairs_within(square, 1.1, Boxes.of(None, 1, 2)))
    4
    """
    seen = np.flatnonzero(~np.isnan(points).any(axis=1))
    places = np.ascontiguousarray(points[seen], dtype=np.float64)
    if len(seen) < 2:
        return np.empty((0, 2), np.int64)
    box, inverse = boxes.matrices[frame], boxes.inverses[frame]
    cells, counts, wraps = _grid(places, radius, inverse)
    room = max(room, 16 * len(seen))
    while True:
        found = np.empty((room, 2), np.int64)
        total = kernel.pairs_within(
            places, cells, counts, wraps, radius, box, inverse, boxes.kind, found
        )
        if total <= room:
            return found[:total].copy() if len(seen) == len(points) else seen[found[:total]]
        room = total


def count_more(keys: Ints, counts: Ints, more: Ints) -> tuple[Ints, Ints]:
    """Count keys that were found, in addition to those before.

    Parameters
    ----------
    keys : ndarray of int
        Keys so far, each once, sorted.
    counts : ndarray of int
        How often each was found.
    more : ndarray of int
        Further keys, in any order, some of them several times.

    Returns
    -------
    keys, counts : ndarray of int
        Of all.

    Examples
    --------
    >>> count_more(np.array([2, 5]), np.array([1, 1]), np.array([5, 3, 5]))
    (array([2, 3, 5]), array([1, 1, 3]))
    """
    room = len(keys) + len(more)
    all_keys, all_counts = np.empty(room, np.int64), np.empty(room, np.int64)
    n_all = kernel.count_more(keys, counts, np.sort(more), all_keys, all_counts)
    return all_keys[:n_all].copy(), all_counts[:n_all].copy()


def _grid(points: Floats, radius: float, inverse: Floats) -> tuple[Ints, Ints, Bools]:
    """Cell of each point along three axes, number of cells of each, and whether it wraps.

    A cell is never narrower than the radius, so that partners are in neighbouring cells.
    """
    n_points, n_dimensions = points.shape
    n_axes = min(n_dimensions, _AXES)
    most = int((4.0 * n_points) ** (1.0 / n_axes)) + 1
    width = radius * (1 + 1e-9)  # so that rounding never puts partners two cells apart
    cells = np.zeros((n_points, _AXES), np.int64)
    counts, wraps = np.ones(_AXES, np.int64), np.zeros(_AXES, np.bool_)
    for axis in range(n_axes):
        inverse_length = float(np.linalg.norm(inverse[:, axis]))
        wraps[axis] = inverse_length > 0
        if wraps[axis]:
            counts[axis] = max(1, min(most, int(1 / inverse_length / width)))
            places = points @ inverse[:, axis]
            places -= np.floor(places)
            cells[:, axis] = np.minimum((places * counts[axis]).astype(np.int64), counts[axis] - 1)
        else:
            places = points[:, axis] - points[:, axis].min()
            span = max(places.max() / 1e15, width)  # numbers stay exact
            cells[:, axis] = _squeezed((places / span).astype(np.int64), most)
            counts[axis] = cells[:, axis].max() + 1
    return cells, counts, wraps


def _squeezed(cells: Ints, most: int) -> Ints:
    """Shrink cell numbers along an open axis to at most about so many, neighbours staying so.

    Empty stretches are cut to one cell, so that a few far points cost nothing; cells that are still
    too many are joined.
    """
    if cells.max() <= most:
        return cells
    occupied, inverse = np.unique(cells, return_inverse=True)
    number = np.concatenate([[0], np.cumsum(np.minimum(np.diff(occupied), 2))])
    squeezed: Ints = number[inverse] // (number[-1] // most + 1)
    return squeezed
