"""Sums of pair distances over many short parts of the frames, and their reduction to objects."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.crossing import _place

_FAST = {"reassoc", "contract", "nsz"}


@compiled(fastmath=_FAST, error_model="numpy")
def _fill_distances(xyz, a, b, distance):
    """Distances of two sites in all frames of open space."""
    _, n_dimensions, n_frames = xyz.shape
    if n_dimensions == 3:
        for frame in range(n_frames):
            x = xyz[a, 0, frame] - xyz[b, 0, frame]
            y = xyz[a, 1, frame] - xyz[b, 1, frame]
            z = xyz[a, 2, frame] - xyz[b, 2, frame]
            distance[frame] = np.sqrt(x * x + y * y + z * z)
        return
    for frame in range(n_frames):
        x = xyz[a, 0, frame] - xyz[b, 0, frame]
        distance[frame] = x * x
    for d in range(1, n_dimensions):
        for frame in range(n_frames):
            x = xyz[a, d, frame] - xyz[b, d, frame]
            distance[frame] += x * x
    for frame in range(n_frames):
        distance[frame] = np.sqrt(distance[frame])


@compiled(fastmath=_FAST, error_model="numpy")
def add_part_sums(xyz, pairs, bounds, part, origin, first, second):
    """Add a block of frames to the sums of r - origin and of its square over parts.

    Frames from ``bounds[k]`` on, up to ``bounds[k + 1]``, belong to part ``part + k``. ``xyz`` is
    (sites, dimensions, frames); ``first`` and ``second`` are (pairs, parts).
    """
    distance = np.empty(xyz.shape[2], xyz.dtype)
    for p in range(len(pairs)):
        _fill_distances(xyz, pairs[p, 0], pairs[p, 1], distance)
        shift = distance.dtype.type(origin[p])
        for k in range(len(bounds) - 1):
            total = shift - shift
            squares = shift - shift
            for frame in range(bounds[k], bounds[k + 1]):
                r = distance[frame] - shift
                total += r
                squares += r * r
            first[p, part + k] += total
            second[p, part + k] += squares


@compiled(error_model="numpy")
def centre_sums(totals, first, second):
    """Count sums over parts from the mean of each pair over all of them, in place."""
    n_parts = len(totals)
    whole = 0.0
    for k in range(n_parts):
        whole += totals[k]
    for p in range(len(first)):
        mean = 0.0
        for k in range(n_parts):
            mean += first[p, k]
        mean /= whole
        for k in range(n_parts):
            before = np.float64(first[p, k])
            centred = second[p, k] - mean * (2.0 * before - totals[k] * mean)
            second[p, k] = max(centred, 0.0)
            first[p, k] = before - totals[k] * mean


@compiled(error_model="numpy")
def reduce_rows(pairs, offsets, members, indptr, site_pairs, rows, largest, reduced):
    """Reduce rows of site pairs to those of object pairs: their mean, or the largest, by column.

    ``site_pairs`` are sorted, lower site first, and begin at ``indptr`` of it; a site that both
    objects share counts 0.
    """
    n_columns = rows.shape[1]
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        for k in range(n_columns):
            reduced[p, k] = 0.0
        for i in members[offsets[a] : offsets[a + 1]]:
            for j in members[offsets[b] : offsets[b + 1]]:
                if i == j:
                    continue
                place = _place(indptr, site_pairs, min(i, j), max(i, j))
                if largest:
                    for k in range(n_columns):
                        if not rows[place, k] <= reduced[p, k]:  # NaN, an undefined σ, stays
                            reduced[p, k] = rows[place, k]
                else:
                    for k in range(n_columns):
                        reduced[p, k] += rows[place, k]
        if not largest:
            share = 1.0 / ((offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b]))
            for k in range(n_columns):
                reduced[p, k] *= share
