"""Pairs of points within a cutoff of one another, among points that are sorted into cells."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import OPEN, TILTED, half_width, to_shortest_image


@compiled
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


@compiled
def _sort_into_cells(points, cells, counts):
    """Put points of a cell side by side, so that memory is read in order.

    Returns where each cell begins, which point is at each place, and its coordinates.
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
    placed = np.empty((n_points, n_dimensions))
    for p in range(n_points):
        place = begin[number[p]] + filled[number[p]]
        filled[number[p]] += 1
        members[place] = p
        for d in range(n_dimensions):
            placed[place, d] = points[p, d]
    return begin, members, placed


@compiled
def _square_distance(placed, place, other, box, inverse, kind, half, scratch):
    """Square of the distance between two places, to the nearest image; ``scratch`` holds three."""
    square = 0.0
    n_dimensions = placed.shape[1]
    for d in range(n_dimensions):
        scratch[2, d] = placed[place, d] - placed[other, d]
    if kind != OPEN:
        to_shortest_image(scratch[2], box, inverse, kind, half, scratch)
    for d in range(n_dimensions):
        square += scratch[2, d] * scratch[2, d]
    return square


@compiled
def have_partners(points, cells, counts, wraps, radius, box, inverse, kind, found):
    """Mark in ``found`` the points with another within the radius; arguments as below.

    A point is done when its first partner is met, so that crowds cost no more than others.
    """
    n_points, n_dimensions = points.shape
    begin, members, placed = _sort_into_cells(points, cells, counts)
    scratch = np.empty((3, n_dimensions))
    near_x, near_y, near_z = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    half = half_width(inverse)
    for place in range(n_points):
        p = members[place]
        n_x = _touching(cells[p, 0], counts[0], wraps[0], near_x)
        n_y = _touching(cells[p, 1], counts[1], wraps[1], near_y)
        n_z = _touching(cells[p, 2], counts[2], wraps[2], near_z)
        n_cells = n_x * n_y * n_z
        step = 0
        while step < n_cells and not found[p]:
            k = (step + n_cells // 2) % n_cells  # its own cell first, which is in the middle
            cell = (near_x[k % n_x] * counts[1] + near_y[k // n_x % n_y]) * counts[2]
            cell += near_z[k // (n_x * n_y)]
            step += 1
            for other in range(begin[cell], begin[cell + 1]):
                if other == place:
                    continue
                square = _square_distance(placed, place, other, box, inverse, kind, half, scratch)
                if square <= radius * radius:
                    found[p] = True
                    found[members[other]] = True
                    break


@compiled
def pairs_within(points, cells, counts, wraps, radius, box, inverse, box_kind, molecules, found):
    """Fill ``found`` with the pairs no farther apart than the radius: lower × points + higher.

    Points of one of the ``molecules`` (none if all are single) see no images of one another.

    ``cells`` gives the cell of each point along three axes, of which there are ``counts``; cells
    are no narrower than the radius, and those at both ends of an axis touch if it ``wraps``.
    Returns the number of pairs there are; if that is more than ``found`` can hold, the caller
    comes again with more room.
    """
    n_points, n_dimensions = points.shape
    begin, members, placed = _sort_into_cells(points, cells, counts)
    total = 0
    scratch = np.empty((3, n_dimensions))
    near_x, near_y, near_z = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    half = half_width(inverse)
    straight = n_dimensions == 3 and box_kind != TILTED  # by far the most frequent
    whole = len(molecules) > 0
    for place in range(n_points):
        p = members[place]
        n_x = _touching(cells[p, 0], counts[0], wraps[0], near_x)
        n_y = _touching(cells[p, 1], counts[1], wraps[1], near_y)
        n_z = _touching(cells[p, 2], counts[2], wraps[2], near_z)
        for k in range(n_x * n_y):
            column = (near_x[k % n_x] * counts[1] + near_y[k // n_x]) * counts[2]
            for layer in range(n_z):
                cell = column + near_z[layer]
                for other in range(max(begin[cell], place + 1), begin[cell + 1]):
                    q = members[other]
                    kind = box_kind
                    if whole and molecules[p] == molecules[q]:
                        kind = OPEN
                    if straight:
                        x = placed[place, 0] - placed[other, 0]
                        y = placed[place, 1] - placed[other, 1]
                        z = placed[place, 2] - placed[other, 2]
                        if kind != OPEN:
                            x -= np.rint(x * inverse[0, 0]) * box[0, 0]
                            y -= np.rint(y * inverse[1, 1]) * box[1, 1]
                            z -= np.rint(z * inverse[2, 2]) * box[2, 2]
                        square = x * x + y * y + z * z
                    else:
                        square = _square_distance(
                            placed, place, other, box, inverse, kind, half, scratch
                        )
                    # Written in any case, which is faster than to guess: the next may replace it.
                    if total < len(found):
                        found[total] = min(p, q) * n_points + max(p, q)
                    total += square <= radius * radius
    return total


@compiled
def count_new(keys, more):
    """Count the keys of a sorted list that another does not have; each has a key only once."""
    count = i = 0
    for key in more:
        while i < len(keys) and keys[i] < key:
            i += 1
        count += i == len(keys) or keys[i] != key
    return count


@compiled
def merge_counts(keys, counts, more, more_counts, all_keys, all_counts):
    """Merge two lists of sorted keys, each key with a count.

    From the end, so that the first may be the same arrays as all, with more room.
    """
    i, j = len(keys) - 1, len(more) - 1
    for k in range(len(all_keys) - 1, -1, -1):
        key = more[j] if i < 0 or (j >= 0 and more[j] > keys[i]) else keys[i]
        count = 0
        if i >= 0 and keys[i] == key:
            count = counts[i]
            i -= 1
        if j >= 0 and more[j] == key:
            count += more_counts[j]
            j -= 1
        all_keys[k] = key
        all_counts[k] = count
