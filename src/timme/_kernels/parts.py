"""Sums of pair distances over many short parts of the frames, and their reduction to objects."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.crossing import _place

_FAST = {"reassoc", "contract", "nsz"}
_LANES = 32  # numbers that loops take at a time, about


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
    shifted, shifted_squares = np.empty(n_units), np.empty(n_units)
    for p in range(len(pairs)):
        _sum_units(xyz, pairs[p, 0], pairs[p, 1], begin, own, squares)
        for u in range(n_units):
            shift = np.float64(begin[u]) - origin[p]
            both = 2.0 * np.float64(own[u]) + lengths[u] * shift
            shifted[u] = own[u] + lengths[u] * shift
            shifted_squares[u] = squares[u] + shift * both
        for u in range(n_units):  # apart, as what is scattered is not done side by side
            first[p, owners[u]] += shifted[u]
            second[p, owners[u]] += shifted_squares[u]


@compiled(fastmath=_FAST, error_model="numpy")
def _lay_round(parts, replicas, again, begin, values):
    """Put values of parts one after another from a place on; each replica begins ``again``."""
    place = begin
    part = 0
    for count in replicas:
        here, own = values[place:], parts[part:]
        for k in range(count):
            here[k] = own[k]
        after = here[count:]
        for k in range(again):
            after[k] = here[k]
        place += count + again
        part += count


@compiled(fastmath=_FAST, error_model="numpy")
def _add_neighbours(length, n_places, values, doubled, sums):
    """Add up so many neighbours from every place on, by sums over 1, 2, 4, … of them.

    ``values`` and ``doubled``, which are written over, have ``length`` more than all places.
    """
    added, span, left = 0, 1, length
    while left > 0:
        if left % 2 == 1:
            if added == 0:
                for k in range(n_places):
                    sums[k] = values[k]
            else:
                further = values[
                    added:
                ]  # a sum as an index might be negative, for all that is known
                for k in range(n_places):
                    sums[k] += further[k]
            added += span
        left //= 2
        if left > 0:
            further = values[span:]
            for k in range(n_places):
                doubled[k] = values[k] + further[k]
            values, doubled = doubled, values
            span *= 2


@compiled(fastmath=_FAST, error_model="numpy")
def _quietest(first, second, middle, squared, windows, weights, inside_only, rounding, room):
    """Return the least variance of r within any window, from sums over parts of one pair.

    Deviations are those from the mean of the window, or from ``middle``, that of all parts. Of a
    norm that is known to within e, the square is at least 63/64 of what was found, less 63 e²:
    this, and what sums may be off by, is taken off, so that nothing is told too high.
    """
    replicas, length, totals, outside = windows
    weight, share = weights
    far, off = rounding
    values, doubled, sums, found = room
    half = len(sums) // 2  # both sums side by side: loops are short, and half as many
    _lay_round(first, replicas, length - 1, 0, values)
    _lay_round(second, replicas, length - 1, half, values)
    _add_neighbours(length, len(sums), values, doubled, sums)
    none = first.dtype.type(0.0)
    most = first.dtype.type(63.0 / 64.0)
    squares = sums[half:]
    for w in range(len(totals)):
        own, square = sums[w], squares[w]
        within = own * own * share[w] * inside_only
        within += middle * (own + own - weight[w] * middle)
        lost = far * (weight[w] * squared + square) + off * square
        least = (most * (square - within) - lost) * totals[w] + outside[w]
        found[w] = least if least > none else none  # noqa: FURB136, NaN bounds nothing, either
    return _lowest(found)


@compiled(fastmath=_FAST | {"nnan"}, error_model="numpy")
def _lowest(values):
    """Return the least of values, none of which is NaN: only then are they taken side by side."""
    low = values[0]
    for k in range(1, len(values)):
        low = min(low, values[k])
    return low


@compiled(error_model="numpy")
def _room_for(windows):
    """Arrays that are used again for every pair."""
    n_windows, length = len(windows[2]), windows[1]
    n_places = 2 * _LANES * -(-(n_windows + length - 1) // _LANES)  # loops without a rest
    return (
        np.zeros(n_places + length, np.float32),
        np.zeros(n_places + length, np.float32),
        np.zeros(n_places, np.float32),
        np.empty(n_windows, np.float32),
    )


@compiled(error_model="numpy")
def _weigh(seen, windows, room):
    """Weight of what is seen in each window, and one over it."""
    n_windows = len(windows[2])
    values, doubled, sums, _ = room
    _lay_round(seen, windows[0], windows[1] - 1, 0, values)
    _add_neighbours(windows[1], len(sums), values, doubled, sums)
    weight = sums[:n_windows].copy()
    share = np.empty(n_windows, np.float32)
    for w in range(n_windows):
        share[w] = 1.0 / max(weight[w], 1e-30)
    return weight, share


@compiled(error_model="numpy")
def least_within(sums, seen, origin, windows, errors, about_mean, least):
    """Find the least variance of r within any window of consecutive parts.

    Parameters
    ----------
    sums : tuple of ndarray of float32, shape (pairs, parts)
        Of r - origin and of its square.
    seen : ndarray of float32, shape (1, parts) or (pairs, parts)
        Weight of what was summed.
    origin : ndarray, shape (pairs,)
        From which r was counted.
    windows : tuple
        Parts of each replica; how many parts a window has; and, from every place on, one over the
        weight of so many parts, and what is added: inf where they are no window.
    errors : tuple of float
        Relative errors of r, and of sums.
    about_mean : bool
        Whether deviations are those from the mean over all parts, and not from that of the window.
    least : ndarray, shape (pairs,)
        What is found.
    """
    first, second = sums
    n_parts = first.shape[1]
    room = _room_for(windows)
    rounding = np.float32(126.0 * errors[0] * errors[0]), np.float32(errors[1])
    inside_only = np.float32(0.0 if about_mean else 1.0)
    own, square = np.empty(n_parts, np.float32), np.empty(n_parts, np.float32)
    weights = _weigh(seen[0], windows, room)
    for p in range(len(first)):
        row = min(p, len(seen) - 1)
        if row > 0:
            weights = _weigh(seen[row], windows, room)
        mean = 0.0
        total = 1e-30
        for k in range(n_parts):
            own[k] = first[p, k]
            square[k] = second[p, k]
            mean += first[p, k]
            total += seen[row, k]
        middle = np.float32(mean / total if about_mean else 0.0)
        squared = np.float32(origin[p] * origin[p])
        least[p] = _quietest(
            own, square, middle, squared, windows, weights, inside_only, rounding, room
        )


@compiled(fastmath=_FAST, error_model="numpy")
def least_within_units(xyz, pairs, owners, lengths, windows, errors, about_mean, least):
    """The same from frames themselves, all of which are laid out; sums never leave the cache."""
    n_units = xyz.shape[3]
    n_parts = windows[0].sum()
    room = _room_for(windows)
    rounding = np.float32(126.0 * errors[0] * errors[0]), np.float32(errors[1])
    inside_only = np.float32(0.0 if about_mean else 1.0)
    seen = np.zeros(n_parts, np.float32)
    for u in range(n_units):
        seen[owners[u]] += lengths[u]
    n_seen = lengths.sum()
    weights = _weigh(seen, windows, room)
    begin, own, squares = (
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
        np.empty(n_units, xyz.dtype),
    )
    first, second = np.empty(n_parts, np.float32), np.empty(n_parts, np.float32)
    for p in range(len(pairs)):
        _sum_units(xyz, pairs[p, 0], pairs[p, 1], begin, own, squares)
        origin = begin[0]
        total = xyz.dtype.type(0.0)
        for u in range(n_units):
            shift = begin[u] - origin
            squares[u] += shift * (own[u] + own[u] + lengths[u] * shift)
            own[u] += lengths[u] * shift
            total += own[u]
        if n_units == n_parts:  # side by side, as each part is one unit
            for k in range(n_parts):
                first[k] = own[k]
                second[k] = squares[k]
        else:
            first[:] = 0.0
            second[:] = 0.0
            for u in range(n_units):
                first[owners[u]] += own[u]
                second[owners[u]] += squares[u]
        middle = np.float32(total / n_seen if about_mean else 0.0)
        squared = np.float32(origin * origin)
        least[p] = _quietest(
            first, second, middle, squared, windows, weights, inside_only, rounding, room
        )


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


@compiled(fastmath={"contract"}, error_model="numpy")
def multiply(rows, counts, products):
    """Multiply two matrices, the second of which is small, adding up in the same order anywhere.

    Libraries start threads of their own, which wait for one another where others do the same.
    """
    n_parts, n_draws = counts.shape
    whole = n_parts - n_parts % 4
    for p in range(len(rows)):
        for d in range(n_draws):
            products[p, d] = 0.0
        for k in range(0, whole, 4):  # four at a time, as each time sums are read and written
            one, two, three, four = rows[p, k], rows[p, k + 1], rows[p, k + 2], rows[p, k + 3]
            for d in range(n_draws):
                products[p, d] += (one * counts[k, d] + two * counts[k + 1, d]) + (
                    three * counts[k + 2, d] + four * counts[k + 3, d]
                )
        for k in range(whole, n_parts):
            for d in range(n_draws):
                products[p, d] += rows[p, k] * counts[k, d]


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
