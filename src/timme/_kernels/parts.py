"""Sums of pair distances over many short parts of the frames, and their reduction to objects."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.crossing import _place

_FAST = {"reassoc", "contract", "nsz"}
_LANES = 32  # numbers that loops take at a time, about
_TOGETHER = 8  # pairs whose windows go through one loop
_MOST = 63.0 / 64.0  # of a square, whatever a norm is off by


@compiled(fastmath=_FAST)
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


@compiled(fastmath=_FAST)
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


@compiled(fastmath=_FAST)
def _sum_units_from_first(xyz, a, b, heads, first, second):
    """Sums of r - origin and of its square over the frames of each unit; return the origin.

    That is the first r of all. The first frame of a unit counts ``heads`` times, so that those that
    repeat it add nothing. More is lost to rounding than where each unit is counted from its own
    first r, and no more than bounds allow for.
    """
    _, n_dimensions, n_frames, n_units = xyz.shape
    origin = xyz.dtype.type(0.0)
    for d in range(n_dimensions):
        x = xyz[a, d, 0, 0] - xyz[b, d, 0, 0]
        origin += x * x
    origin = np.sqrt(origin)
    if n_dimensions != 3:
        begin = np.empty(n_units, xyz.dtype)
        _sum_units_in_any_space(xyz, a, b, begin, first, second)
        for u in range(n_units):
            shift = begin[u] - origin
            count = heads[u] + xyz.dtype.type(n_frames - 1)
            second[u] += shift * (first[u] + first[u] + count * shift)
            first[u] += count * shift
        return origin
    for u in range(n_units):
        x = xyz[a, 0, 0, u] - xyz[b, 0, 0, u]
        y = xyz[a, 1, 0, u] - xyz[b, 1, 0, u]
        z = xyz[a, 2, 0, u] - xyz[b, 2, 0, u]
        r = np.sqrt(x * x + y * y + z * z) - origin
        first[u] = heads[u] * r
        second[u] = heads[u] * (r * r)
    for frame in range(1, n_frames):
        for u in range(n_units):
            x = xyz[a, 0, frame, u] - xyz[b, 0, frame, u]
            y = xyz[a, 1, frame, u] - xyz[b, 1, frame, u]
            z = xyz[a, 2, frame, u] - xyz[b, 2, frame, u]
            r = np.sqrt(x * x + y * y + z * z) - origin
            first[u] += r
            second[u] += r * r
    return origin


@compiled
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


@compiled(fastmath=_FAST)
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


@compiled(fastmath=_FAST)
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


@compiled(fastmath=_FAST)
def _quietest(first, second, middle, squared, outside, weights, rounding, found):
    """Return the least variance of r within any window, from sums over windows of one pair.

    Deviations are those from the mean of the window, or from ``middle``, that of all parts. Of a
    norm that is known to within e, the square is at least 63/64 of what was found, less 63 e²:
    this, and what sums may be off by, is taken off, so that nothing is told too high. What is the
    same for every pair is in ``weights``, as :func:`_weigh` works it out.
    """
    of_sums, of_means, of_weight = weights
    far, off = rounding
    none = np.float32(0.0)
    most = np.float32(_MOST)
    kept = (most - far - off) / most
    shift = middle + middle
    always = most * middle * middle - far * squared
    for w in range(len(found)):
        own = first[w]
        within = of_sums[w] * (kept * second[w] - shift * own) - of_means[w] * (own * own)
        least = within + of_weight[w] * always + outside[w]
        found[w] = least if least > none else none  # noqa: FURB136, NaN bounds nothing, either
    return _lowest(found)


@compiled(fastmath=_FAST | {"nnan"})
def _lowest(values):
    """Return the least of values, none of which is NaN: only then are they taken side by side."""
    low = values[0]
    for k in range(1, len(values)):
        low = min(low, values[k])
    return low


@compiled(fastmath=_FAST | {"nnan"})
def extremes(rows, lowest, highest):
    """Find the least and the largest value of every row, none of which is NaN."""
    for p in range(len(rows)):
        low = high = rows[p, 0]
        for k in range(1, rows.shape[1]):
            low = min(low, rows[p, k])
            high = max(high, rows[p, k])
        lowest[p] = low
        highest[p] = high


@compiled
def _room_for(windows, n_pairs):
    """Arrays that are used again for every so many pairs, and the places of each in them."""
    n_windows, length = len(windows[2]), windows[1]
    n_places = _LANES * -(-(n_windows + length - 1) // _LANES)  # loops without a rest
    return (
        np.zeros(2 * n_pairs * n_places + length, np.float32),
        np.zeros(2 * n_pairs * n_places + length, np.float32),
        np.zeros(2 * n_pairs * n_places, np.float32),
        np.empty(n_windows, np.float32),
        n_places,
    )


@compiled
def _weigh(seen, windows, about_mean, room):
    """What sums over each window, squares of them and its weight count for in its variance."""
    replicas, length, totals, _ = windows
    values, doubled, sums, _, n_places = room
    _lay_round(seen, replicas, length - 1, 0, values)
    _add_neighbours(length, n_places, values, doubled, sums)
    n_windows = len(totals)
    of_sums, of_means, of_weight = (
        np.zeros(n_windows, np.float32),
        np.zeros(n_windows, np.float32),
        np.zeros(n_windows, np.float32),
    )
    for w in range(n_windows):
        of_sums[w] = _MOST * totals[w]
        if not about_mean:
            of_means[w] = _MOST * totals[w] / max(sums[w], 1e-30)
        of_weight[w] = sums[w] * totals[w]
    return of_sums, of_means, of_weight


@compiled
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
    replicas, length, _, outside = windows
    room = _room_for(windows, 1)
    values, doubled, added, found, n_places = room
    rounding = np.float32(126.0 * errors[0] * errors[0]), np.float32(errors[1])
    weights = _weigh(seen[0], windows, about_mean, room)
    for p in range(len(first)):
        row = min(p, len(seen) - 1)
        if row > 0:
            weights = _weigh(seen[row], windows, about_mean, room)
        mean = 0.0
        total = 1e-30
        for k in range(n_parts):
            mean += first[p, k]
            total += seen[row, k]
        middle = np.float32(mean / total if about_mean else 0.0)
        squared = np.float32(origin[p] * origin[p])
        _lay_round(first[p], replicas, length - 1, 0, values)
        _lay_round(second[p], replicas, length - 1, n_places, values)
        _add_neighbours(length, 2 * n_places, values, doubled, added)
        least[p] = _quietest(
            added, added[n_places:], middle, squared, outside, weights, rounding, found
        )


@compiled(fastmath=_FAST)
def least_within_units(xyz, pairs, owners, lengths, windows, errors, about_mean, least):
    """The same from frames themselves, all of which are laid out; sums never leave the cache.

    Windows of several pairs go through one loop: those of one are too few to be fast.
    """
    n_frames, n_units = xyz.shape[2:]
    replicas, length, _, outside = windows
    n_parts = replicas.sum()
    room = _room_for(windows, _TOGETHER)
    values, doubled, added, found, n_places = room
    rounding = np.float32(126.0 * errors[0] * errors[0]), np.float32(errors[1])
    seen = np.zeros(n_parts, np.float32)
    for u in range(n_units):
        seen[owners[u]] += lengths[u]
    n_seen = lengths.sum()
    weights = _weigh(seen, windows, about_mean, room)
    heads = lengths - xyz.dtype.type(n_frames - 1)  # frames that fill a unit up are taken off
    own, squares = np.empty(n_units, xyz.dtype), np.empty(n_units, xyz.dtype)
    first, second = np.empty(n_parts, np.float32), np.empty(n_parts, np.float32)
    middle, squared = np.zeros(_TOGETHER, np.float32), np.zeros(_TOGETHER, np.float32)
    for start in range(0, len(pairs), _TOGETHER):
        n_here = min(_TOGETHER, len(pairs) - start)
        for k in range(n_here):
            a, b = pairs[start + k, 0], pairs[start + k, 1]
            origin = _sum_units_from_first(xyz, a, b, heads, own, squares)
            squared[k] = origin * origin
            if about_mean:
                middle[k] = own.sum() / n_seen
            below, above = k * n_places, (_TOGETHER + k) * n_places
            if n_units == n_parts:  # each part is one unit
                _lay_round(own, replicas, length - 1, below, values)
                _lay_round(squares, replicas, length - 1, above, values)
            else:
                first[:] = 0.0
                second[:] = 0.0
                for u in range(n_units):
                    first[owners[u]] += own[u]
                    second[owners[u]] += squares[u]
                _lay_round(first, replicas, length - 1, below, values)
                _lay_round(second, replicas, length - 1, above, values)
        _add_neighbours(length, len(added), values, doubled, added)
        for k in range(n_here):
            below, above = added[k * n_places :], added[(_TOGETHER + k) * n_places :]
            least[start + k] = _quietest(
                below, above, middle[k], squared[k], outside, weights, rounding, found
            )


@compiled
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


@compiled(fastmath={"contract"})
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


@compiled
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
