"""Pairs that may change a hierarchy: others are given up as soon as their sums are too large."""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered for vector units; every test leaves room for their rounding.
_FAST = {"reassoc", "contract", "nsz"}

LANES = 128  # sites of a tile, whose frames lie side by side
_FIRST_STAGE = 8  # frames, at least, that are looked at before a pair can be given up
_SINGLE = np.float32
_ROUNDING = np.float32(1.0 - 1e-5)  # of sums over a few hundred frames in single precision


@njit(nogil=True, cache=True, fastmath=_FAST)
def _add_frames_to_all(columns, row, weights, frames, shift, first, second):
    """Add some frames to the sums of one site with all sites of a tile, in open space of 3-D."""
    for frame in range(frames[0], frames[1]):
        own_x, own_y, own_z = row[frame, 0], row[frame, 1], row[frame, 2]
        column_x, column_y, column_z = columns[frame, 0], columns[frame, 1], columns[frame, 2]
        weight = weights[frame]
        if frame == 0:
            for k in range(LANES):
                x, y, z = column_x[k] - own_x, column_y[k] - own_y, column_z[k] - own_z
                shift[k] = np.sqrt(x * x + y * y + z * z)
        else:
            for k in range(LANES):
                x, y, z = column_x[k] - own_x, column_y[k] - own_y, column_z[k] - own_z
                deviation = np.sqrt(x * x + y * y + z * z) - shift[k]
                first[k] += weight * deviation
                second[k] += weight * deviation * deviation


@njit(nogil=True, cache=True, fastmath=_FAST)
def _add_frames(columns, row, lengths, weights, frames, lanes, n_lanes, shift, first, second):
    """The same for those sites of a tile that ``lanes`` lists, in any dimension and box."""
    n_dimensions = columns.shape[1]
    square = np.empty(LANES, _SINGLE)
    coordinate = np.empty(LANES, _SINGLE)
    for frame in range(frames[0], frames[1]):
        for k in range(n_lanes):
            square[k] = _SINGLE(0.0)
        for d in range(n_dimensions):
            column = columns[frame, d]
            own = row[frame, d]
            for k in range(n_lanes):
                coordinate[k] = column[lanes[k]] - own
            length = lengths[frame, d]
            if length > _SINGLE(0.0):
                inverse = _SINGLE(1.0) / length
                for k in range(n_lanes):
                    coordinate[k] -= length * np.rint(coordinate[k] * inverse)
            for k in range(n_lanes):
                square[k] += coordinate[k] * coordinate[k]
        if frame == 0:
            for k in range(n_lanes):
                shift[k] = np.sqrt(square[k])
        else:
            weight = weights[frame]
            for k in range(n_lanes):
                deviation = np.sqrt(square[k]) - shift[k]
                first[k] += weight * deviation
                second[k] += weight * deviation * deviation


@njit(nogil=True, cache=True, fastmath=_FAST)
def _lower_bounds(n_lanes, total, slack, first, second, low):
    """Fill in what sums of squared deviations are at least.

    ``slack`` is the largest error of a distance: what it and the rounding of sums may have added
    is taken off.
    """
    inverse = _SINGLE(1.0) / total
    two = _SINGLE(2.0)
    for k in range(n_lanes):
        rounding = two * slack * np.sqrt(total * second[k]) + total * slack * slack
        low[k] = second[k] * _ROUNDING - first[k] * first[k] * inverse - rounding


@njit(nogil=True, cache=True)
def _keep_low(n_lanes, low, bound, lanes, shift, first, second):
    """Keep the lanes whose sum of squared deviations may still end below its bound."""
    any_low = False
    for k in range(n_lanes):
        any_low |= not low[k] > bound[k]
    if not any_low:
        return 0
    kept = 0
    for k in range(n_lanes):
        if not low[k] > bound[k]:
            lanes[kept] = lanes[k]
            bound[kept] = bound[k]
            shift[kept] = shift[k]
            first[kept] = first[k]
            second[kept] = second[k]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def _is_open(lengths):
    """Whether no direction of any frame is periodic."""
    for frame in range(lengths.shape[0]):
        for d in range(lengths.shape[1]):
            if lengths[frame, d] > 0.0:
                return False
    return True


@njit(nogil=True, cache=True)
def survivors(tiles, lengths, weights, totals, bounds, slack, n_sites, band, found):
    """Fill ``found`` with the pairs of one band of sites that cannot be given up.

    ``tiles`` is (tiles, frames, dimensions, LANES), sites in leaf order; ``bounds`` holds, for each
    gap between neighbours in that order, the sum of squared deviations above which a pair across
    it cannot matter; ``totals`` are the weights of the frames so far. Returns the number of pairs;
    if that is more than ``found`` can hold, the caller comes again with more room.
    """
    n_tiles, n_frames, n_dimensions, _ = tiles.shape
    rows = np.empty((LANES, n_frames, n_dimensions), _SINGLE)
    for lane in range(LANES):
        for frame in range(n_frames):
            for d in range(n_dimensions):
                rows[lane, frame, d] = tiles[band, frame, d, lane]
    running = np.zeros(LANES, _SINGLE)  # of each site of the band, its bound so far
    within = np.empty(LANES, _SINGLE)
    lanes = np.empty(LANES, np.int64)
    bound = np.empty(LANES, _SINGLE)
    shift = np.empty(LANES, _SINGLE)
    first = np.empty(LANES, _SINGLE)
    second = np.empty(LANES, _SINGLE)
    low = np.empty(LANES, _SINGLE)
    plain = n_dimensions == 3 and _is_open(lengths)
    first_stage = max(_FIRST_STAGE, n_frames // 16)
    total = 0
    base = band * LANES
    for tile in range(band, n_tiles):
        start = tile * LANES
        n_columns = min(LANES, n_sites - start)
        for own in range(min(LANES, n_sites - base)):
            # Bounds of the columns: the highest gap on the way from this site.
            low_lane = own + 1 if tile == band else 0
            top = running[own]
            for k in range(low_lane, n_columns):
                if start + k > 0:
                    top = max(top, bounds[start + k - 1])
                within[k] = top
            running[own] = top
            n_lanes = 0
            if low_lane == 0 and n_columns == LANES:
                for k in range(LANES):
                    lanes[k] = k
                    bound[k] = within[k]
                n_lanes = LANES
            else:
                for k in range(low_lane, n_columns):
                    lanes[n_lanes] = k
                    bound[n_lanes] = within[k]
                    n_lanes += 1
            for k in range(LANES):
                first[k] = _SINGLE(0.0)
                second[k] = _SINGLE(0.0)
            done = 0
            stage = first_stage
            while done < n_frames and n_lanes > 0:
                stop = min(done + stage, n_frames)
                span = (done, stop)
                columns, row = tiles[tile], rows[own]
                if plain and n_lanes == LANES:
                    _add_frames_to_all(columns, row, weights, span, shift, first, second)
                else:
                    _add_frames(
                        columns, row, lengths, weights, span, lanes, n_lanes, shift, first, second
                    )
                done = stop
                _lower_bounds(n_lanes, totals[done - 1], slack, first, second, low)
                n_lanes = _keep_low(n_lanes, low, bound, lanes, shift, first, second)
                stage = done
            for k in range(n_lanes):
                if total < len(found):
                    found[total, 0] = base + own
                    found[total, 1] = start + lanes[k]
                total += 1
    return total


@njit(nogil=True, cache=True)
def _site_sums(tiles, lengths, weights, total, slack, own_tiles, other_tiles, lanes, sums):
    """Fill in lower bounds on the squared deviations of the sites of two runs of tiles."""
    n_frames = tiles.shape[1]
    n_dimensions = tiles.shape[2]
    row = np.empty((n_frames, n_dimensions), _SINGLE)
    shift = np.empty(LANES, _SINGLE)
    first = np.empty(LANES, _SINGLE)
    second = np.empty(LANES, _SINGLE)
    low = np.empty(LANES, _SINGLE)
    plain = n_dimensions == 3 and _is_open(lengths)
    span = (0, n_frames)
    for own_tile in range(own_tiles[0], own_tiles[1]):
        for lane in range(LANES):
            for frame in range(n_frames):
                for d in range(n_dimensions):
                    row[frame, d] = tiles[own_tile, frame, d, lane]
            own = (own_tile - own_tiles[0]) * LANES + lane
            for tile in range(other_tiles[0], other_tiles[1]):
                for k in range(LANES):
                    first[k] = _SINGLE(0.0)
                    second[k] = _SINGLE(0.0)
                columns = tiles[tile]
                if plain:
                    _add_frames_to_all(columns, row, weights, span, shift, first, second)
                else:
                    _add_frames(
                        columns, row, lengths, weights, span, lanes, LANES, shift, first, second
                    )
                _lower_bounds(LANES, total, slack, first, second, low)
                base = (tile - other_tiles[0]) * LANES
                for k in range(LANES):
                    sums[own, base + k] = max(low[k], _SINGLE(0.0))


@njit(nogil=True, cache=True)
def group_survivors(
    tiles, begin, lengths, weights, bounds, slack, offsets, members, largest, band, found
):
    """Fill ``found`` with the pairs of groups of one band that cannot be given up.

    ``tiles`` hold the sites of the groups, those of ``LANES`` groups in tiles ``begin[band]`` to
    ``begin[band + 1]``; the members of each group (``offsets``, ``members``) are numbered within
    these. Sums of their sites are reduced to their mean, or to the ``largest``.
    """
    n_groups = len(offsets) - 1
    n_bands = len(begin) - 1
    total = _SINGLE(0.0)
    for frame in range(len(weights)):
        total += weights[frame]
    lanes = np.arange(LANES)
    widest = 0
    for other in range(n_bands):
        widest = max(widest, (begin[other + 1] - begin[other]) * LANES)
    sums = np.empty(((begin[band + 1] - begin[band]) * LANES, widest), _SINGLE)
    joint = np.empty(widest, _SINGLE)
    running = np.zeros(LANES, _SINGLE)
    count = 0
    base = band * LANES
    for other in range(band, n_bands):
        start = other * LANES
        width = (begin[other + 1] - begin[other]) * LANES
        own_tiles = (begin[band], begin[band + 1])
        other_tiles = (begin[other], begin[other + 1])
        _site_sums(tiles, lengths, weights, total, slack, own_tiles, other_tiles, lanes, sums)
        for own in range(min(LANES, n_groups - base)):
            mine = members[offsets[base + own] : offsets[base + own + 1]]
            for k in range(width):
                joint[k] = _SINGLE(0.0)
            for site in mine:
                for k in range(width):
                    value = sums[site, k]
                    joint[k] = max(joint[k], value) if largest else joint[k] + value
            low_lane = own + 1 if other == band else 0
            top = running[own]
            for k in range(low_lane, min(LANES, n_groups - start)):
                if start + k > 0:
                    top = max(top, bounds[start + k - 1])
                theirs = members[offsets[start + k] : offsets[start + k + 1]]
                value = _SINGLE(0.0)
                for site in theirs:
                    value = max(value, joint[site]) if largest else value + joint[site]
                if not largest:
                    value /= _SINGLE(len(mine) * len(theirs))
                if not value > top:
                    if count < len(found):
                        found[count, 0] = base + own
                        found[count, 1] = start + k
                    count += 1
            running[own] = top
    return count
