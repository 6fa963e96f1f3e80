"""Sums of pair distances over many short parts of the frames, and their reduction to objects."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.crossing import _place

_FAST = {"reassoc", "contract", "nsz"}


@compiled(fastmath=_FAST, error_model="numpy")
def _sum_units(xyz, a, b, begin, first, second):
    """Sums of r - begin and of its square over the frames of each unit, begin being its first r.

    Units go side by side through the loop, so that short ones are as fast as long ones. Those of
    fewer frames than others repeat their first one, which adds nothing.
    """
    _, n_dimensions, n_frames, n_units = xyz.shape
    if n_dimensions != 3:
        _sum_units_in_any_space(xyz, a, b, begin, first, second)
        return
    for u in range(n_units):
        x = xyz[a, 0, 0, u] - xyz[b, 0, 0, u]
        y = xyz[a, 1, 0, u] - xyz[b, 1, 0, u]
        z = xyz[a, 2, 0, u] - xyz[b, 2, 0, u]
        begin[u] = np.sqrt(x * x + y * y + z * z)
        first[u] = 0.0
        second[u] = 0.0
    for frame in range(1, n_frames):
        for u in range(n_units):
            x = xyz[a, 0, frame, u] - xyz[b, 0, frame, u]
            y = xyz[a, 1, frame, u] - xyz[b, 1, frame, u]
            z = xyz[a, 2, frame, u] - xyz[b, 2, frame, u]
            r = np.sqrt(x * x + y * y + z * z) - begin[u]
            first[u] += r
            second[u] += r * r


@compiled(fastmath=_FAST, error_model="numpy")
def _sum_units_in_any_space(xyz, a, b, begin, first, second):
    """The same in any number of dimensions."""
    _, n_dimensions, n_frames, n_units = xyz.shape
    first[:] = 0.0
    second[:] = 0.0
    square = np.empty(n_units, xyz.dtype)
    for frame in range(n_frames):
        square[:] = 0.0
        for d in range(n_dimensions):
            for u in range(n_units):
                x = xyz[a, d, frame, u] - xyz[b, d, frame, u]
                square[u] += x * x
        for u in range(n_units):
            r = np.sqrt(square[u])
            if frame == 0:
                begin[u] = r
            first[u] += r - begin[u]
            second[u] += (r - begin[u]) * (r - begin[u])


@compiled(error_model="numpy")
def add_part_sums(xyz, pairs, owners, lengths, origin, first, second):
    """Add the units of a block of frames to the sums of r - origin and of its square over parts.

    ``xyz`` is (sites, dimensions, frames of a unit, units); ``owners`` and ``lengths`` say to which
    part each unit belongs, and how many frames it has; sums are (pairs, parts).
    """
    n_units = xyz.shape[3]
    begin, own, squares = (
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
    )
    for p in range(len(pairs)):
        _sum_units(xyz, pairs[p, 0], pairs[p, 1], begin, own, squares)
        for u in range(n_units):
            shift = np.float64(begin[u]) - origin[p]
            both = 2.0 * np.float64(own[u]) + lengths[u] * shift
            first[p, owners[u]] += own[u] + lengths[u] * shift
            second[p, owners[u]] += squares[u] + shift * both


@compiled(fastmath=_FAST, error_model="numpy")
def add_masses(xyz, pairs, lengths, masses, ladder, rounding, base, heavy):
    """Add up the snapshots of units within which r moves by more than each step of a ladder.

    ``lengths`` of the ``masses`` snapshots of each unit are in ``xyz``, laid out as for
    :func:`add_part_sums`. Steps are ``ladder`` times ``base``, which a pair takes from the first
    block in which it moves; ``heavy`` is (pairs, steps). What rounding of r may add is taken off:
    of a norm w that is known to within e, w² is at least 63/64 of what was found, less 63 e².
    """
    n_units = xyz.shape[3]
    begin, own, squares, inside = (
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
    )
    none = xyz.dtype.type(0.0)
    least = xyz.dtype.type(63.0 / 64.0)
    error = xyz.dtype.type(63.0 * rounding * rounding)
    n_whole = xyz.dtype.type(masses.sum())
    for p in range(len(pairs)):
        _sum_units(xyz, pairs[p, 0], pairs[p, 1], begin, own, squares)
        whole = none
        for u in range(n_units):
            far = squares[u] + begin[u] * (own[u] + own[u] + lengths[u] * begin[u])  # sum of r²
            moved = least * (squares[u] - own[u] * own[u] / lengths[u]) - error * far
            inside[u] = max(moved, none)
            whole += inside[u]
        if base[p] == 0.0:
            base[p] = whole / n_whole
        for step in range(len(ladder)):
            bar = ladder[step] * base[p]
            total = none
            for u in range(n_units):
                total += masses[u] if inside[u] >= bar * masses[u] else none
            heavy[p, step] += total


@compiled(error_model="numpy")
def least_squares(base, heavy, rises, entry, shares):
    """Add up the layers of a ladder: each rise times the least share of the snapshots above it."""
    found = np.empty(len(base))
    for p in range(len(base)):
        total = 0.0
        for step in range(len(rises)):
            # Weights are sums in single precision: a little less is safe.
            place = int(0.999999 * heavy[p, step] / entry)
            total += rises[step] * shares[min(place, len(shares) - 1)]
        found[p] = base[p] * total
    return found


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
