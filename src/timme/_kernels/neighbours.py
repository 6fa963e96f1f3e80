"""Pairs of points within a cutoff of one another, among points that are sorted into cells."""

from __future__ import annotations

import numpy as np
from numba import njit

from timme._kernels.space import OPEN, half_width, to_shortest_image


@njit(nogil=True, cache=True)
def _touching(cell, count, wraps, touching):
    """List the cells of one axis that touch a cell, each once; return their number."""
    n = 0
    for step in range(-1, 2):
        other = cell + step
        if wraps:
            other %= count
        elif other < 0 or other >= count:
            continue
        new = True
        for k in range(n):
            new = new and touching[k] != other
        if new:
            touching[n] = other
            n += 1
    return n


@njit(nogil=True, cache=True)
def pairs_within(points, cells, counts, wraps, radius, box, inverse, kind, found):
    """Fill ``found`` with the pairs (lower first) no farther apart than the radius.

    ``cells`` gives the cell of each point along three axes, of which there are ``counts``; cells
    are no narrower than the radius, and those at both ends of an axis touch if it ``wraps``.
    Returns the number of pairs there are; if that is more than ``found`` can hold, the caller
    comes again with more room.
    """
    n_points, n_dimensions = points.shape
    begin = np.zeros(counts[0] * counts[1] * counts[2] + 1, np.int64)
    number = np.empty(n_points, np.int64)
    for p in range(n_points):
        number[p] = (cells[p, 0] * counts[1] + cells[p, 1]) * counts[2] + cells[p, 2]
        begin[number[p] + 1] += 1
    for cell in range(1, len(begin)):
        begin[cell] += begin[cell - 1]
    filled = np.zeros(len(begin), np.int64)
    members = np.empty(n_points, np.int64)
    for p in range(n_points):
        members[begin[number[p]] + filled[number[p]]] = p
        filled[number[p]] += 1

    total = 0
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    near = np.empty((3, 3), np.int64)
    half = half_width(inverse)
    for p in range(n_points):
        n_x = _touching(cells[p, 0], counts[0], wraps[0], near[0])
        n_y = _touching(cells[p, 1], counts[1], wraps[1], near[1])
        n_z = _touching(cells[p, 2], counts[2], wraps[2], near[2])
        for neighbour in range(n_x * n_y * n_z):
            x = near[0, neighbour // (n_y * n_z)]
            y = near[1, neighbour // n_z % n_y]
            z = near[2, neighbour % n_z]
            cell = (x * counts[1] + y) * counts[2] + z
            for k in range(begin[cell], begin[cell + 1]):
                q = members[k]
                if q <= p:
                    continue
                for d in range(n_dimensions):
                    vector[d] = points[p, d] - points[q, d]
                if kind != OPEN:
                    to_shortest_image(vector, box, inverse, kind, half, scratch)
                square = 0.0
                for d in range(n_dimensions):
                    square += vector[d] * vector[d]
                if square <= radius * radius:
                    if total < len(found):
                        found[total, 0] = p
                        found[total, 1] = q
                    total += 1
    return total
