"""Points that are near one another in one snapshot, found through a grid of cells."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import neighbours as kernel
from timme.system.space import Boxes

_USUAL = 16  # contacts of a point; where there are no more, a second search is saved
_AXES = 3  # the grid spans the first three axes; distances always count all of them


def pairs_within(points: Coordinates, radius: float, boxes: Boxes, frame: int = 0) -> Ints:
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
    buffer = np.empty(_USUAL * len(points), np.int64)
    buffer, total = _found(points, radius, boxes, frame, buffer, 0)
    return np.column_stack(np.divmod(buffer[:total], max(1, len(points))))


def have_partners(points: Coordinates, radius: float, boxes: Boxes, frame: int = 0) -> Bools:
    """Tell which points have another no farther away than a radius.

    In time and memory that grow with the number of points, however crowded they are.

    Parameters
    ----------
    points, radius, boxes, frame
        As for :func:`pairs_within`.

    Returns
    -------
    ndarray of bool, shape (points,)
        False for points that are not seen.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> have_partners(line, 2.0, Boxes.of(None, 1, 1))
    array([ True,  True, False])
    """
    partnered = np.zeros(len(points), np.bool_)
    seen = np.flatnonzero(np.isfinite(points).all(axis=1))
    if len(seen) < 2:
        return partnered
    places = np.ascontiguousarray(points[seen], dtype=np.float64)
    found = np.zeros(len(seen), np.bool_)
    grid = _grid(places, radius, boxes.inverses[frame])
    box = boxes.matrices[frame], boxes.inverses[frame], boxes.kind
    kernel.have_partners(places, *grid, radius, *box, found)
    partnered[seen] = found
    return partnered


def squeeze(cells: Ints, most: int) -> Ints:
    """Shrink cell numbers along an open axis to at most about so many, neighbours staying so.

    Empty stretches are cut to one cell, so that a few far points cost nothing; cells that are still
    too many are joined.

    Parameters
    ----------
    cells : ndarray of int
        Cell of each point, from 0 on.
    most : int
        About the largest number that is wanted.

    Returns
    -------
    ndarray of int
        Cells that are as far apart as before, or less.

    Examples
    --------
    >>> squeeze(np.array([0, 1, 900]), 10)
    array([0, 1, 3])
    """
    if len(cells) == 0 or cells.max() <= most:
        return cells
    occupied, inverse = np.unique(cells, return_inverse=True)
    number = np.concatenate([[0], np.cumsum(np.minimum(np.diff(occupied), 2))])
    squeezed: Ints = number[inverse] // (number[-1] // most + 1)
    return squeezed


def _found(
    points: Coordinates, radius: float, boxes: Boxes, frame: int, buffer: Ints, filled: int
) -> tuple[Ints, int]:
    """Put pairs behind those that a buffer holds; return it, or a larger one, and their number."""
    seen = np.flatnonzero(np.isfinite(points).all(axis=1))
    if len(seen) < 2:
        return buffer, filled
    chosen = points if len(seen) == len(points) else points[seen]
    places = np.ascontiguousarray(chosen, dtype=np.float64)
    grid = _grid(places, radius, boxes.inverses[frame])
    molecules = boxes.molecules[seen] if len(boxes.molecules) else boxes.molecules
    box = boxes.matrices[frame], boxes.inverses[frame], boxes.kind, molecules
    while True:
        found = buffer[filled:]
        total = kernel.pairs_within(places, *grid, radius, *box, found)
        if total <= len(found):
            break
        larger = np.empty(filled + total * 3 // 2, np.int64)
        larger[:filled] = buffer[:filled]
        buffer = larger
    if len(seen) < len(points):
        first, second = np.divmod(found[:total], len(seen))
        found[:total] = seen[first] * len(points) + seen[second]
    return buffer, filled + total


def _grid(points: Floats, radius: float, inverse: Floats) -> tuple[Ints, Ints, Bools]:
    """Cell of each point along three axes, number of cells of each, and whether it wraps.

    A cell is never narrower than the radius, so that partners are in neighbouring cells.
    """
    n_points, n_dimensions = points.shape
    n_axes = min(n_dimensions, _AXES)
    most = int((4.0 * n_points) ** (1.0 / n_axes)) + 1
    # So that rounding never puts partners two cells apart, also those in one place.
    width = max(radius * (1 + 1e-9), np.finfo(np.float64).tiny)
    cells = np.zeros((n_points, _AXES), np.int64)
    counts, wraps = np.ones(_AXES, np.int64), np.zeros(_AXES, np.bool_)
    for axis in range(n_axes):
        inverse_length = float(np.linalg.norm(inverse[:, axis]))
        wraps[axis] = inverse_length > 0
        if wraps[axis]:
            places = points @ inverse[:, axis]
            rounding = 8 * np.finfo(np.float64).eps * np.abs(places).max()
            counts[axis] = max(1, min(most, int(1 / (inverse_length * width + rounding))))
            places -= np.floor(places)
            cells[:, axis] = np.minimum((places * counts[axis]).astype(np.int64), counts[axis] - 1)
        else:
            places = points[:, axis] - points[:, axis].min()
            span = max(places.max() / 1e15, width)  # numbers stay exact
            cells[:, axis] = squeeze((places / span).astype(np.int64), most)
            counts[axis] = cells[:, axis].max() + 1
    return cells, counts, wraps
