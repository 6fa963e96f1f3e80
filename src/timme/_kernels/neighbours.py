"""Pairs of points within a cutoff of one another, by a cell list."""

from __future__ import annotations

import numpy as np
from numba import njit

from timme._kernels.space import OPEN, to_shortest_image

_GRID_AXES = 3  # the grid spans the first three axes; distances always count all of them


@njit(nogil=True, cache=True)
def _squeezed(cells, most):
    """Shrink cell numbers along an open axis to at most about so many, neighbours staying so.

    Empty stretches are cut to one cell, so that a few far points cost nothing; cells that are
    still too many are joined.
    """
    occupied = np.unique(cells)
    number = np.zeros(len(occupied), np.int64)
    for k in range(1, len(occupied)):
        number[k] = number[k - 1] + min(occupied[k] - occupied[k - 1], 2)
    joined = number[-1] // most + 1
    return number[np.searchsorted(occupied, cells)] // joined


@njit(nogil=True, cache=True)
def _grid(points, radius, inverse, kind):
    """Assign a cell to every point: cells (points,), number of cells and wrapping of each axis.

    A cell is never narrower than the radius, so partners are in neighbouring cells. All points
    must be seen.
    """
    n_points, n_dimensions = points.shape
    n_axes = min(n_dimensions, _GRID_AXES)
    most = int((4.0 * n_points) ** (1.0 / n_axes)) + 1
    width = radius * (1.0 + 1e-9)  # so that rounding never puts partners two cells apart
    counts = np.ones(_GRID_AXES, np.int64)
    wraps = np.zeros(_GRID_AXES, np.bool_)
    cells = np.zeros(n_points, np.int64)
    along = np.zeros(n_points, np.int64)
    for axis in range(n_axes):
        inverse_length = np.sqrt(np.sum(inverse[:, axis] ** 2)) if kind != OPEN else 0.0
        wraps[axis] = inverse_length > 0.0
        if wraps[axis]:
            counts[axis] = max(1, min(most, int(1.0 / inverse_length / width)))
            for p in range(n_points):
                place = 0.0
                for d in range(n_dimensions):
                    place += points[p, d] * inverse[d, axis]
                place -= np.floor(place)
                along[p] = min(int(place * counts[axis]), counts[axis] - 1)
        else:
            low = points[:, axis].min()
            span = max((points[:, axis].max() - low) / 1e15, width)  # numbers stay exact
            for p in range(n_points):
                along[p] = int((points[p, axis] - low) / span)
            along = _squeezed(along, most)
            counts[axis] = along.max() + 1
        for p in range(n_points):
            cells[p] = cells[p] * counts[axis] + along[p]
    return cells, counts, wraps


@njit(nogil=True, cache=True)
def _next_cells(at, count, wrap):
    """List the cells of one axis that touch a cell, each once."""
    touching = np.empty(3, np.int64)
    n = 0
    for step in (-1, 0, 1):
        cell = at + step
        if wrap:
            cell %= count
        elif cell < 0 or cell >= count:
            continue
        new = True
        for k in range(n):
            new = new and touching[k] != cell
        if new:
            touching[n] = cell
            n += 1
    return touching[:n]


@njit(nogil=True, cache=True)
def pairs_within(points, radius, box, inverse, kind, found):
    """Fill ``found`` with the pairs (lower first) no farther apart than the radius.

    Returns the number of pairs there are; if that is more than ``found`` can hold, the caller
    comes again with more room. All points must be seen.
    """
    n_points, n_dimensions = points.shape
    if n_points == 0:
        return 0
    cells, counts, wraps = _grid(points, radius, inverse, kind)
    n_cells = counts[0] * counts[1] * counts[2]
    begin = np.zeros(n_cells + 1, np.int64)
    for p in range(n_points):
        begin[cells[p] + 1] += 1
    begin = np.cumsum(begin)
    filled = begin.copy()
    sorted_points = np.empty(n_points, np.int64)
    for p in range(n_points):
        sorted_points[filled[cells[p]]] = p
        filled[cells[p]] += 1

    total = 0
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    axes = min(n_dimensions, _GRID_AXES)
    position = np.zeros(_GRID_AXES, np.int64)
    for p in range(n_points):
        code = cells[p]
        for axis in range(axes - 1, -1, -1):
            position[axis] = code % counts[axis]
            code //= counts[axis]
        for x in _next_cells(position[0], counts[0], wraps[0]):
            for y in _next_cells(position[1], counts[1], wraps[1]):
                for z in _next_cells(position[2], counts[2], wraps[2]):
                    cell = x
                    if axes > 1:
                        cell = cell * counts[1] + y
                    if axes > 2:
                        cell = cell * counts[2] + z
                    for q in sorted_points[begin[cell] : begin[cell + 1]]:
                        if q <= p:
                            continue
                        for d in range(n_dimensions):
                            vector[d] = points[p, d] - points[q, d]
                        if kind != OPEN:
                            to_shortest_image(vector, box, inverse, kind, scratch)
                        square = 0.0
                        for d in range(n_dimensions):
                            square += vector[d] * vector[d]
                        if square <= radius * radius:
                            if total < len(found):
                                found[total, 0] = p
                                found[total, 1] = q
                            total += 1
    return total
