"""Pairs that may change a hierarchy: others are given up as soon as their sums are too large.

**Why the answer is that of all pairs, bit for bit.** A graph of candidates was measured and linked
before. In its leaf order two sites are joined at the highest gap between them: candidates lead from
one to the other, none of them above that gap. A pair whose σ is not below it closes a ring of which
it is a highest edge, and no cluster at any cutoff needs it. So with S, the weighted sum of squared
deviations of its distance, and W, the weight of all frames (σ² = S/W), a pair can be given up as
soon as S is certain to be above W gap². All other pairs, the survivors, are measured in the
ordinary way, as every pair would be: what is computed here decides which pairs are measured, never
what is measured. It need not be exact, only on the safe side.

**Why some frames are enough.** S adds squares, so that a part of the frames never adds up to more
than all of them, about whatever number deviations are taken. The mean over all frames is not known
yet, but need not be: about the mean of the part itself, its sum is least. A frame that is left out,
or whose weight is too faint to count, can only make the sum smaller.

**What rounding can add.** In single precision, each step rounds by at most u = 2⁻²⁴ of its result.
Let r be the distances as the ordinary way computes them, q as they are computed here, n the number
of frames, d that of dimensions, and R = √d (A + B), where A and B are the largest coordinates of
the two sites as they are laid out. No distance is above R; and R is small, since ``lay_out`` brings
coordinates into the box, or around their mean, before they are rounded.

1. Distances. Coordinates are off by u of themselves, which moves a distance by uR at most; their
   differences, the squares with their sum, and the root add u, u d/2 and u of the distance:
   together (3 + d/2) uR. In a straight box the difference that is rounded is the one before its
   image is taken, and the length of the box is rounded as well: (5 + d/2) uR; a pair at half the
   box may take its other image, as long but for rounding: (9 + d/2) uR. Where the ordinary way,
   too, computes in single precision (coordinates in it, of 64 snapshots or more in open space),
   its r is off by (2 + d/2) ur, and the two are at most (5 + d) uR apart. The caller's ``slacks``
   of two sites add up to e = (9 + d) uR, which covers all of these, and to the root of the smallest
   number, since squares below that number are lost.
2. From distances to S. √S is a length by itself, that of the vector √w r less its part along √w: it
   changes by no more than e √W if no distance changes by more than e. So if Q is S of q, that of r
   is no less than Q - 2e √(WQ) - We². ``_at_least`` takes that off, with the larger ``second`` in
   the place of Q under the root.
3. Sums. With f = Σ w (q - q₀), ``first``, and s = Σ w (q - q₀)², ``second``, where q₀ is the
   distance in the first frame, Q = s - f²/W. In whatever order terms are added, the error of s is
   below (n + 3) us; that of f, which is itself never above √(Ws), below (n + 1) u √(Ws); W is off
   by n u, and what step 2 takes off by (n + 9) u. In units of us that makes n for s, 3n for f²/W, n
   for step 2, and less than 25 for the steps whose number does not grow with n: 3.0e-4 s for 1000
   frames. ``ROUNDING`` takes off 4e-4 s, and for its sake there are never more than
   ``MOST_FRAMES``.
4. Groups. The mean of the sums of k × l pairs of sites takes k + l - 2 additions and less than four
   other steps; 2u (k + l) are taken off. The largest of them takes none.
5. Bounds. The ordinary way, too, rounds its sums, and a σ that it finds may be a little below that
   of its distances. For this the caller raises all bounds by 2e-3. In double precision 1e-10 would
   be enough. In single, a block of n ≤ 256 frames is summed about its first distance: by step 3,
   its S is off by less than (3n + 25) u = 5e-5 of that sum, which is below 16 S, or else the pair
   is summed once more (``sums.py`` opens with that argument): 8e-4 of S in all. Pairs that
   hardly move are summed by another formula, by which σ is off by no more than 1.4e-5. Means of
   blocks are off by 4 (n + 1) u of √(S/n), by which the sum of squares between blocks changes
   by less than 2e-4 S; they are merged in double precision.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

# Sums may be reordered for vector units; every test leaves room for their rounding.
_FAST = {"reassoc", "contract", "nsz"}

LANES = 128  # sites of a tile, whose frames lie side by side
_FIRST_STAGE = 8  # frames, at least, that are looked at before a pair can be given up
_FEW = 12  # pairs of a tile that are followed one by one
_SINGLE = np.float32
_INFINITE = np.float32(np.inf)
MOST_FRAMES = 1000  # that are summed in single precision, as ROUNDING covers
ROUNDING = np.float32(1.0 - 4e-4)  # what is left of a sum, see step 3 above
_UNIT = np.float32(1.2e-7)  # two units of rounding, see step 4


@compiled
def lay_out(points, sites, lengths, place, tiles, largest):
    """Put one frame into its place in all tiles; note the largest coordinate of each lane.

    ``sites`` fill the lanes of the tiles. Small numbers save digits: coordinates are brought into
    the box in directions that have a length, and lessened by their mean in open ones.
    """
    n_points, n_dimensions = points.shape
    for d in range(n_dimensions):
        length, centre = lengths[d], 0.0
        if length == 0.0:
            for site in range(n_points):
                centre += points[site, d]
            centre /= n_points
        for tile in range(tiles.shape[0]):
            for lane in range(LANES):
                coordinate = points[sites[tile * LANES + lane], d] - centre
                if length > 0.0:
                    coordinate -= length * np.floor(coordinate / length)
                largest[tile, lane] = max(largest[tile, lane], abs(coordinate))
                tiles[tile, place, d, lane] = coordinate


@compiled(fastmath=_FAST)
def _add_frames_in_space(tiles, tile, row, weights, frames, shift, first, second):
    """Add some frames to the sums of one site with all sites of a tile, in open space of 3-D."""
    for frame in range(frames[0], frames[1]):
        own_x, own_y, own_z = row[frame, 0], row[frame, 1], row[frame, 2]
        weight = weights[frame]
        for k in range(LANES):
            x = tiles[tile, frame, 0, k] - own_x
            y = tiles[tile, frame, 1, k] - own_y
            z = tiles[tile, frame, 2, k] - own_z
            r = np.sqrt(x * x + y * y + z * z)
            if frame == 0:
                shift[k] = r
            deviation = r - shift[k]
            first[k] += weight * deviation
            second[k] += weight * deviation * deviation


@compiled(fastmath=_FAST)
def _add_frames(tiles, tile, row, lengths, weights, frames, shift, first, second):
    """The same in any dimension and straight box."""
    square = np.empty(LANES, _SINGLE)
    for frame in range(frames[0], frames[1]):
        for k in range(LANES):
            square[k] = _SINGLE(0.0)
        for d in range(tiles.shape[2]):
            own, length = row[frame, d], lengths[frame, d]
            inverse = _SINGLE(1.0) / length if length > 0.0 else _SINGLE(0.0)
            for k in range(LANES):
                x = tiles[tile, frame, d, k] - own
                x -= length * np.rint(x * inverse)
                square[k] += x * x
        weight = weights[frame]
        for k in range(LANES):
            r = np.sqrt(square[k])
            if frame == 0:
                shift[k] = r
            deviation = r - shift[k]
            first[k] += weight * deviation
            second[k] += weight * deviation * deviation


@compiled(fastmath={"contract", "nsz"})
def _at_least(total, slack, first, second):
    """Return what a sum of squared deviations is at least.

    ``slack`` is the largest error of a distance: what it and the rounding of sums may have added
    is taken off, in steps 2 and 3 of the argument above. No two factors that may both be small are
    multiplied before a third: the square of small weights would vanish.
    """
    inverse, root = _SINGLE(1.0) / total, np.sqrt(total)  # the same for all lanes
    rounding = slack * (_SINGLE(2.0) * root * np.sqrt(second) + total * slack)
    return second * ROUNDING - first * (first * inverse) - rounding


@compiled(fastmath=_FAST)
def _lower_bounds(total, own_slack, slacks, first, second, low):
    """Fill in what the sums of squared deviations of all lanes are at least."""
    for k in range(LANES):
        low[k] = _at_least(total, own_slack + slacks[k], first[k], second[k])


@compiled
def _count_low(low, bound):
    """Count the lanes whose sum of squared deviations may still end below its bound.

    A sum that is no number, too large for single precision, says nothing. What is joined at 0, and
    lanes that stand for no pair, have bounds that nothing is below.
    """
    count = 0
    for k in range(LANES):
        count += bound[k] > 0.0 and not low[k] > bound[k]
    return count


@compiled(fastmath=_FAST)
def _stays_low(tiles, tile, lane, row, lengths, weights, totals, slack, done, sums, bound):
    """Whether a pair that may be low after some frames may still be so after all of them."""
    shift, first, second = sums
    n_frames = len(weights)
    while done < n_frames:
        stop = min(2 * done, n_frames)
        for frame in range(done, stop):
            square = _SINGLE(0.0)
            for d in range(tiles.shape[2]):
                x = tiles[tile, frame, d, lane] - row[frame, d]
                length = lengths[frame, d]
                if length > 0.0:
                    x -= length * np.rint(x / length)
                square += x * x
            deviation = np.sqrt(square) - shift
            first += weights[frame] * deviation
            second += weights[frame] * deviation * deviation
        done = stop
        if _at_least(totals[done - 1], slack, first, second) > bound:
            return False
    return True


@compiled
def _is_open(lengths):
    """Whether no direction of any frame is periodic."""
    for frame in range(lengths.shape[0]):
        for d in range(lengths.shape[1]):
            if lengths[frame, d] > 0.0:
                return False
    return True


@compiled
def survivors(
    tiles, lengths, weights, totals, bounds, slacks, n_sites, band, begin, running, found
):
    """Fill ``found`` with the pairs of one band of sites that cannot be given up.

    Open space of three dimensions has a quicker way, in `stretches`.

    The band's partners are taken tile by tile, from ``begin`` on, for as long as ``found`` has room
    for all pairs of a tile: nothing is looked at twice, however many are found.

    ``tiles`` is (tiles, frames, dimensions, LANES), sites in leaf order; ``bounds`` holds, for each
    gap between neighbours in that order, the sum of squared deviations above which a pair across
    it cannot matter; ``totals`` are the weights of the frames so far, and ``slacks`` (tiles, LANES)
    the share of each site in the largest error of a distance. ``running``, of each site of the band
    its bound so far, is 0 at first and goes from call to call. Returns the number of pairs, and
    where to go on.
    """
    n_tiles, n_frames, n_dimensions, _ = tiles.shape
    rows = np.empty((LANES, n_frames, n_dimensions), _SINGLE)
    for lane in range(LANES):
        for frame in range(n_frames):
            for d in range(n_dimensions):
                rows[lane, frame, d] = tiles[band, frame, d, lane]
    highest = np.empty(LANES, _SINGLE)  # gap from the beginning of a tile to each of its sites
    bound = np.empty(LANES, _SINGLE)
    shift = np.empty(LANES, _SINGLE)
    first = np.empty(LANES, _SINGLE)
    second = np.empty(LANES, _SINGLE)
    low = np.empty(LANES, _SINGLE)
    first_stage = min(max(_FIRST_STAGE, n_frames // 16), n_frames)
    total = 0
    base = band * LANES
    for tile in range(begin, n_tiles):
        if total + LANES * LANES > len(found):
            return total, tile
        start = tile * LANES
        n_columns = min(LANES, n_sites - start)
        for k in range(n_columns):
            highest[k] = bounds[start + k - 1] if start + k > 0 else _SINGLE(0.0)
            if k > 0:
                highest[k] = max(highest[k], highest[k - 1])
        for own in range(min(LANES, n_sites - base)):
            row, own_slack = rows[own], slacks[band, own]
            # The bound of each column is the highest gap on the way to it from this site.
            for k in range(LANES):
                bound[k] = max(running[own], highest[k]) if k < n_columns else -_INFINITE
            if tile == band:
                for k in range(own + 1):
                    bound[k] = -_INFINITE
                top = _SINGLE(0.0)
                for k in range(own + 1, n_columns):
                    top = max(top, bounds[start + k - 1])
                    bound[k] = top
                running[own] = top
            else:
                running[own] = bound[n_columns - 1]
            for k in range(LANES):
                first[k] = _SINGLE(0.0)
                second[k] = _SINGLE(0.0)
            done, stop = 0, first_stage
            while done < stop:
                _add_frames(tiles, tile, row, lengths, weights, (done, stop), shift, first, second)
                done = stop
                _lower_bounds(totals[done - 1], own_slack, slacks[tile], first, second, low)
                n_low = _count_low(low, bound)
                if n_low > _FEW:
                    stop = min(2 * done, n_frames)
            if n_low == 0:
                continue
            for k in range(LANES):
                if (
                    bound[k] > 0.0
                    and not low[k] > bound[k]
                    and _stays_low(
                        tiles,
                        tile,
                        k,
                        row,
                        lengths,
                        weights,
                        totals,
                        own_slack + slacks[tile, k],
                        done,
                        (shift[k], first[k], second[k]),
                        bound[k],
                    )
                ):
                    found[total, 0] = base + own
                    found[total, 1] = start + k
                    total += 1
    return total, n_tiles


@compiled
def _site_sums(tiles, lengths, weights, total, slacks, own_tiles, other_tiles, sums):
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
                if plain:
                    _add_frames_in_space(tiles, tile, row, weights, span, shift, first, second)
                else:
                    _add_frames(tiles, tile, row, lengths, weights, span, shift, first, second)
                own_slack = slacks[own_tile, lane]
                _lower_bounds(total, own_slack, slacks[tile], first, second, low)
                base = (tile - other_tiles[0]) * LANES
                for k in range(LANES):
                    sums[own, base + k] = max(low[k], _SINGLE(0.0))


@compiled
def group_survivors(
    tiles, starts, begin, lengths, weights, bounds, slacks, offsets, members, largest, band, found
):
    """Fill ``found`` with the pairs of groups of one band that cannot be given up.

    A band is a run of groups from ``starts[band]`` on. ``tiles`` hold their sites, those of a band
    in tiles ``begin[band]`` to ``begin[band + 1]``; the members of each group (``offsets``,
    ``members``) are numbered within these. Sums of their sites are reduced to their mean, or to the
    ``largest``.
    """
    n_bands = len(begin) - 1
    total = _SINGLE(0.0)
    for frame in range(len(weights)):
        total += weights[frame]
    widest = 0
    for other in range(n_bands):
        widest = max(widest, (begin[other + 1] - begin[other]) * LANES)
    sums = np.empty(((begin[band + 1] - begin[band]) * LANES, widest), _SINGLE)
    joint = np.empty(widest, _SINGLE)
    base = starts[band]
    running = np.zeros(starts[band + 1] - base, _SINGLE)
    count = 0
    for other in range(band, n_bands):
        start = starts[other]
        width = (begin[other + 1] - begin[other]) * LANES
        own_tiles = (begin[band], begin[band + 1])
        other_tiles = (begin[other], begin[other + 1])
        _site_sums(tiles, lengths, weights, total, slacks, own_tiles, other_tiles, sums)
        for own in range(len(running)):
            mine = members[offsets[base + own] : offsets[base + own + 1]]
            for k in range(width):
                joint[k] = _SINGLE(0.0)
            for site in mine:
                for k in range(width):
                    value = sums[site, k]
                    joint[k] = max(joint[k], value) if largest else joint[k] + value
            low_lane = own + 1 if other == band else 0
            top = running[own]
            for k in range(low_lane, starts[other + 1] - start):
                if start + k > 0:
                    top = max(top, bounds[start + k - 1])
                theirs = members[offsets[start + k] : offsets[start + k + 1]]
                value = _SINGLE(0.0)
                for site in theirs:
                    value = max(value, joint[site]) if largest else value + joint[site]
                if not largest:
                    value *= _SINGLE(1.0) - _UNIT * _SINGLE(len(mine) + len(theirs))
                    value /= _SINGLE(len(mine) * len(theirs))
                if top > 0.0 and not value > top:
                    if count < len(found):
                        found[count, 0] = base + own
                        found[count, 1] = start + k
                    count += 1
            running[own] = top
    return count
