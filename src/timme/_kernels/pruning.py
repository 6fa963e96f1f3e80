"""Pairs that may change a hierarchy: others are pruned once their σ is certain to be too large.

**Why the answer is that of all pairs, bit for bit.** A graph of candidates was measured and linked
before. In its leaf order two sites are joined at the highest gap between them: candidates lead from
one to the other, none of them above that gap. A pair whose σ is not below it closes a ring of which
it is a highest edge, so no cluster at any cutoff needs it. With S, the weighted sum of squared
deviations of its distance, and W, the weight of all snapshots (σ² = S/W), a pair can be pruned as
soon as S is certain to be above W gap². All other pairs are measured in the ordinary way. So what
is computed here decides which pairs are measured, never what is measured: it need not be exact,
only a lower bound.

**Why some frames are enough.** S adds squares, so a part of the frames adds up to no more than all
of them, about whatever number deviations are taken. The mean over all frames is not known, but
about the mean of the part the sum is least. Frames that are left out only make it smaller.

**Why means over stretches are enough in open space.** Cut the snapshots into stretches. Let m be
the mean distance of a pair in one of them, and w its weight: S is the sum of w (m - mean)² over all
stretches and of the squared deviations within them, which are not negative. Now m is unknown, but
the mean places of the two sites are known, and R, how far these are apart:

- m ≥ R, because a mean of vectors is no longer than their mean length.
- m ≤ √(mean r²) = √(R² + V) ≤ R + V/2R, where V is the mean square of how far the vector between
  the sites is from its mean. With s² of each site, the mean square of how far it is from its mean
  place, V ≤ 2 (s₁² + s₂²).

So m lies between R and R + 2h, where h = (s₁²/2 + s₂²/2)/R, the largest s² of all stretches and the
least R. What is added to all distances alike does not count, so R + h may stand for m, which it
misses by h at most: an error of the distance, like that of rounding. Call s²/2 of a site its swing.
Any rotation and shift of a whole frame leaves distances as they are, so that superposing frames
makes swings small. Where places are single frames, as in a periodic box, swings are 0.

**What errors of distances can add.** √S is a length by itself, that of the vector √w r less its
part along √w. It changes by no more than √W e if no distance changes by more than e. So with Q, the
sum that is computed, a pair is pruned if √Q > root + √W (e + h), where root is that of W gap².

**What rounding can add.** In single precision a step rounds by at most u = 2⁻²⁴ of its result. Let
a and b be the lengths of the coordinates of two sites as they are laid out, in d dimensions.

1. Coordinates are off by u of themselves; their differences, the squares with their sum, and the
   root add u, u d/2 and u of the distance: (3 + d/2) u (a + b) together. In a straight box the
   difference that is rounded is the one before its image is taken, and the length of the box is
   rounded as well: (5 + d/2); a pair at half the box may take its other image, as long but for
   rounding: (9 + d/2). The ordinary way in single precision adds (2 + d/2). The caller's ``errors``
   of two sites add up to (9 + d) u (a + b), and to the root of the smallest number, since squares
   below that number are lost. They leave room for rotations in double precision.
2. With n distances, f = Σ w (q - q₀) and s = Σ w (q - q₀)², Q = s - f²/W. In whatever order terms
   are added, s is off by (n + 3) us, f by (n + 1) u √(Ws), W by n u: in all (5n + 25) us, which is
   3.0e-4 s for 1000 frames. ``_ROUNDING`` takes off 4e-4 s, so there are never more frames.
3. The ordinary way, too, rounds its sums, and its σ may be a little below that of its distances.
   For this the caller raises W gap² by 2e-3. In double precision 1e-10 would be enough. In single
   precision a block of n ≤ 256 frames is summed about its first distance: S is off by (3n + 25) u =
   5e-5 of that sum, which is below 16 S, or else the pair is summed again in double precision
   (`moments`): 8e-4 of S in all. Blocks are merged in double precision, but their means are off by
   4 (n + 1) u of √(S/n), which changes S by less than 2e-4 of it.

**Why the first stage needs no roots.** Of two distances R and R' no longer than M, the squares
differ by (R + R') |R - R'| ≤ 2M |R - R'|. S is half the mean over W of w w' (R - R')² over all
pairs of places, so it is no less than the like sum of squared distances, divided by 4M². The test
is multiplied by the least R, so that nothing is divided. Lengths are in a unit in which coordinates
are about 1; numbers so small that their products would lose digits prune nothing (``_LEAST``), nor
does anything that is not a number.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

# Sums may be reordered for vector units; every test leaves room for their rounding.
_FAST = {"reassoc", "contract", "nsz"}

LANES = 128  # sites of a tile, side by side
PLACES = 8  # of each site that are compared in the first stage
AT_ONCE = 64  # frames that are compared in the second stage before a pair may be pruned
MOST_FRAMES = 1000  # that are summed in single precision, as _ROUNDING covers
_FEW = 4  # places after which most sites need no more
_SINGLE = np.float32
_NONE = np.float32(0.0)
_LEAST = np.float32(1e-30)
_ROUNDING = np.float32(1.0 - 4e-4)
_NUMBER = np.uint64  # an index that is never counted from the end, so that loops become vectors


@compiled(fastmath=_FAST)
def lay_out(sites, coordinates, scale, axes, frames, held, sums, squares, largest):
    """Lay out a run of sites over some frames, and add up where they are in each stretch.

    ``sites`` lists the point at each place, and the first place and the end of the run.
    ``coordinates`` (frames, points, dimensions) are scaled after ``axes`` were applied: shifts and
    sides of the box (dimensions, frames), 0 where it is open; then come rotations (dimensions,
    dimensions, frames). ``frames`` are weights, the bounds of stretches, those that
    are ``held`` (sites, dimensions, held), and their places there. ``sums`` (sites, dimensions,
    PLACES) get rotated coordinates, ``squares`` (sites, PLACES) their squares, of which ``largest``
    (sites,) has the largest.
    """
    order, begin, end = sites
    shifts, sides, turns = axes
    weights, bounds, chosen, places = frames
    n_frames, _, n_dimensions = coordinates.shape
    x, square = np.empty((n_dimensions, n_frames)), np.empty(n_frames)
    for s in range(begin, end):
        point = order[s]
        square[:] = 0.0
        for d in range(n_dimensions):
            for frame in range(_NUMBER(n_frames)):
                place = coordinates[frame, point, d] - shifts[d, frame]
                side = sides[d, frame]
                if side > 0.0:
                    place -= side * np.floor(place / side)
                x[d, frame] = place * scale
                square[frame] += x[d, frame] * x[d, frame]
            for k in range(len(chosen)):
                held[s, d, places[k]] = x[d, chosen[k]]
        for frame in range(_NUMBER(n_frames)):
            largest[s] = max(largest[s], square[frame])
        for stretch in range(PLACES):
            first, last = _NUMBER(bounds[stretch]), _NUMBER(bounds[stretch + 1])
            for frame in range(first, last):
                squares[s, stretch] += weights[frame] * square[frame]
            for axis in range(n_dimensions):
                for d in range(n_dimensions):
                    for frame in range(first, last):
                        turned = x[d, frame] * turns[d, axis, frame]
                        sums[s, axis, stretch] += weights[frame] * turned


@compiled(fastmath=_FAST)
def _fill_squares(tiles, sides, place, band, own, tile, square):
    """Fill in squared distances of a site to all of a tile, in one place."""
    for d in range(tiles.shape[2]):
        at, side = tiles[band, place, d, own], sides[place, d]
        inverse = _SINGLE(1.0) / side if side > _NONE else _NONE
        for k in range(LANES):
            x = tiles[tile, place, d, k] - at
            if side > _NONE:
                x -= side * np.rint(x * inverse)
            square[k] = x * x if d == 0 else square[k] + x * x


@compiled(fastmath=_FAST)
def _add_places(squares, weights, first, sums):
    """Add squared distances in a few places to their sums.

    These are the first square, sums of deviations from it and of their squares, and the largest and
    the least square.
    """
    if first == 0:
        for k in range(LANES):
            sums[0, k] = sums[3, k] = sums[4, k] = squares[0, k]
            sums[1, k] = sums[2, k] = _NONE
    for k in range(LANES):
        shift, one, two, largest, least = sums[0, k], sums[1, k], sums[2, k], sums[3, k], sums[4, k]
        for place in range(_FEW):
            deviation = squares[place, k] - shift
            one += weights[first + place] * deviation
            two += weights[first + place] * deviation * deviation
            largest = max(largest, squares[place, k])
            least = min(least, squares[place, k])
        sums[1, k], sums[2, k], sums[3, k], sums[4, k] = one, two, largest, least


@compiled(fastmath=_FAST)
def _count_left(sums, total, own_error, errors, own_swing, swings, roots, left):
    """Mark the sites of a tile that may still matter to one site; return how many.

    What is joined at 0, and what stands for no pair, has a root of 0 that nothing is below.
    """
    inverse, root_total, count = _SINGLE(1.0) / total, np.sqrt(total), 0
    for k in range(LANES):
        error, swing = own_error + errors[k], own_swing + swings[k]
        low = sums[2, k] * _ROUNDING - sums[1, k] * (sums[1, k] * inverse)
        nearest = np.sqrt(sums[4, k]) - error
        limit = roots[k] * nearest + root_total * (error * nearest + swing)
        low *= nearest * nearest
        above = low > _SINGLE(4.0) * sums[3, k] * (limit * limit)
        left[k] = (roots[k] > _NONE) & ~(above & (low > _LEAST) & (nearest > _NONE))
        count += left[k]
    return count


@compiled(fastmath=_FAST)
def _may_matter(held, sides, weights, a, b, error, root, square):
    """Whether a pair may still matter after all frames that are held."""
    shift = first = second = total = _NONE
    for begin in range(_NUMBER(0), _NUMBER(held.shape[2]), _NUMBER(AT_ONCE)):
        square[:] = _NONE
        for d in range(held.shape[1]):
            wraps = sides[d, begin] > _NONE
            for k in range(_NUMBER(AT_ONCE)):
                x = held[a, d, begin + k] - held[b, d, begin + k]
                if wraps:
                    x -= sides[d, begin + k] * np.rint(x / sides[d, begin + k])
                square[k] += x * x
        if begin == 0:
            shift = np.sqrt(square[0])
        for k in range(_NUMBER(AT_ONCE)):
            deviation = np.sqrt(square[k]) - shift
            weighted = weights[begin + k] * deviation
            total += weights[begin + k]
            first += weighted
            second += weighted * deviation
        limit = root + np.sqrt(total) * error
        if second * _ROUNDING - first * (first / total) > limit * limit:
            return False
    return True


@compiled
def _raise_gaps(roots, start, n_columns, after, highest):
    """Fill in the highest root of gaps on the way to each site of a tile, from a site on."""
    top = _NONE
    for k in range(LANES):
        if k < n_columns and start + k > after:
            top = max(top, roots[start + k - 1])
        highest[k] = top


@compiled
def survivors(places, frames, roots, band, begin, running, found):
    """Fill ``found`` with pairs of one band of sites, in leaf order, that cannot be pruned.

    The partners of the band are taken tile by tile, from ``begin`` on, for as long as ``found`` has
    room for all pairs of a tile.

    ``places`` are those of the first stage: tiles (tiles, PLACES, dimensions, LANES), the sides of
    the box in each (PLACES, dimensions), 0 where it is open, their weights, and the swings and
    errors of sites (tiles, LANES). ``frames`` are those of the second stage (sites, dimensions,
    frames), a whole number of times AT_ONCE of them, with sides (dimensions, frames), weights and
    the errors of sites. ``roots`` are those of W gap², for each gap between neighbours. ``running``
    has the highest root so far for each site of the band; it is 0 at first and goes from call to
    call. Returns the number of pairs, and where to go on.
    """
    tiles, tile_sides, tile_weights, swings, tile_errors = places
    held, sides, weights, errors = frames
    n_tiles, n_sites, base, count = len(tiles), len(held), band * LANES, 0
    squares, sums = np.empty((_FEW, LANES), _SINGLE), np.empty((5, LANES), _SINGLE)
    highest, bounds = np.empty(LANES, _SINGLE), np.empty(LANES, _SINGLE)
    left = np.empty(LANES, np.bool_)
    for tile in range(begin, n_tiles):
        if count + LANES * LANES > len(found):
            return count, tile
        start = tile * LANES
        n_columns = min(LANES, n_sites - start)
        for own in range(min(LANES, n_sites - base)):
            a, total, n_left = base + own, _NONE, 0
            if tile == band or own == 0:
                _raise_gaps(roots, start, n_columns, a if tile == band else 0, highest)
            for k in range(LANES):
                bounds[k] = max(highest[k], running[own])
            running[own] = bounds[n_columns - 1]
            for first in range(0, PLACES, _FEW):
                for k in range(_FEW):
                    _fill_squares(tiles, tile_sides, first + k, band, own, tile, squares[k])
                    total += tile_weights[first + k]
                _add_places(squares, tile_weights, first, sums)
                shares = tile_errors[band, own], tile_errors[tile], swings[band, own]
                n_left = _count_left(sums, total, *shares, swings[tile], bounds, left)
                if n_left == 0:
                    break
            if n_left == 0:
                continue
            for k in range(n_columns):
                b = start + k
                if left[k] and _may_matter(
                    held, sides, weights, a, b, errors[a] + errors[b], bounds[k], squares[0]
                ):
                    found[count, 0], found[count, 1] = a, b
                    count += 1
    return count, n_tiles
