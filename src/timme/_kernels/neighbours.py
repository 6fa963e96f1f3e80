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
    """Fill ``found`` with the pairs no farther apart than the radius: lower × points + higher.

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
    # Points of a cell stand side by side, so that memory is read in order.
    filled = np.zeros(len(begin), np.int64)
    members = np.empty(n_points, np.int64)
    placed = np.empty((n_points, n_dimensions))
    for p in range(n_points):
        place = begin[number[p]] + filled[number[p]]
        filled[number[p]] += 1
        members[place] = p
        for d in range(n_dimensions):
            placed[place, d] = points[p, d]

    total = 0
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    near_x, near_y, near_z = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    half = half_width(inverse)
    for place in range(n_points):
        p = members[place]
        n_x = _touching(cells[p, 0], counts[0], wraps[0], near_x)
        n_y = _touching(cells[p, 1], counts[1], wraps[1], near_y)
        n_z = _touching(cells[p, 2], counts[2], wraps[2], near_z)
        for k in range(n_x * n_y):
            column = (near_x[k % n_x] * counts[1] + near_y[k // n_x]) * counts[2]
            for z in range(n_z):
                cell = column + near_z[z]
                for other in range(max(begin[cell], place + 1), begin[cell + 1]):
                    for d in range(n_dimensions):
                        vector[d] = placed[place, d] - placed[other, d]
                    if kind != OPEN:
                        to_shortest_image(vector, box, inverse, kind, half, scratch)
                    square = 0.0
                    for d in range(n_dimensions):
                        square += vector[d] * vector[d]
                    if square <= radius * radius:
                        if total < len(found):
                            q = members[other]
                            found[total] = min(p, q) * n_points + max(p, q)
                        total += 1
    return total


@njit(nogil=True, cache=True)
def count_new(keys, more):
    """Count the different keys of a sorted list that another, each key once, does not have."""
    count = i = 0
    for j in range(len(more)):
        if j > 0 and more[j] == more[j - 1]:
            continue
        while i < len(keys) and keys[i] < more[j]:
            i += 1
        count += i == len(keys) or keys[i] != more[j]
    return count


@njit(nogil=True, cache=True)
def merge_counts(keys, counts, more, all_keys, all_counts):
    """Merge sorted keys, each with a count, and more sorted keys, which may be there several times.

    From the end, so that all may be the same arrays with more room.
    """
    i, j = len(keys) - 1, len(more) - 1
    for k in range(len(all_keys) - 1, -1, -1):
        key = more[j] if i < 0 or (j >= 0 and more[j] > keys[i]) else keys[i]
        count = 0
        if i >= 0 and keys[i] == key:
            count = counts[i]
            i -= 1
        while j >= 0 and more[j] == key:
            count += 1
            j -= 1
        all_keys[k] = key
        all_counts[k] = count
