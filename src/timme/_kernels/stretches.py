"""Pairs that may change a hierarchy, in open space: most are given up by means over stretches.

`pruning` tells why a pair can be given up whose sum S of squared deviations is certain to be above
its bound, and what rounding can do. A few frames out of many have a small part of S. But S is also
no less than what a few *means* make of it, each of them counting for all frames of a stretch of the
run; and where motions are slow, that is nearly all.

**Why means over stretches are enough.** Cut the frames into stretches. Let m be the mean of a
pair's distance in one of them, and w its weight: S is the sum of w (m - mean)² over all stretches,
and of the squared deviations within them, which are never negative. Now m is not known without a
look at every frame. But the mean places of the two sites are, and R, how far these are apart:

1. m is no less than R, since a mean of vectors is no longer than their mean length.
2. m is no more than √(mean r²) = √(R² + V) ≤ R + V/2R, where V is the mean square of how far the
   vector between the sites is from its mean. With s² of each site, the mean square of how far it is
   from its own mean place, V ≤ 2 (s₁² + s₂²).

So m lies between R and R + 2h, with h = (s₁²/2 + s₂²/2)/R, s² being the largest of all stretches
and R the least. What is added to all distances alike does not count, so that R + h may stand for m,
which it misses by h at most. That is an error of a distance like that of rounding, e in `pruning`:
with Q, the sum that is made of R, √S is no less than √Q - √W (e + h). A pair is given up if this is
above the root of its bound, that is if Q > (root + √W (e + h))². R itself is computed with an error
of e at most, which is taken off before it divides; where nothing is left, the pair is not given up.

**What makes s² small.** Distances are the same after any rotation and shift of a whole frame.
So the caller may superpose frames as it likes, and s² is what is left. In double precision this
rounds by less than 1e-14 of a coordinate, for which e has room: it has four units of 2⁻²⁴ more than
open space needs.

**Why no roots are needed at first.** Of two distances R and R' no longer than M, R² and R'² differ
by (R + R') |R - R'|, at most 2M |R - R'|. S is half the mean over W of w w' (R - R')², of all pairs
of stretches, so that it is no less than the like sum of R², divided by 4M². R is then the exact
root of the computed square, which is off by less than one that was rounded. The test is multiplied
by R, the least of them, so that nothing is divided. Lengths are in a unit in which coordinates are
about 1; numbers so small that their products would lose digits give nothing up (``_LEAST``).

Some of the long stretches, far from one another, are looked at first: by themselves they are
stretches of a shorter run. Pairs that are left by all of them are looked at in single frames,
spread over the run, many at a time; where there are more of these than that, in twice as many short
stretches before. Weights of frames that are not held only make sums smaller. For a stretch without
weight that of another may stand, as it adds nothing.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.lanes import (
    bits_above,
    borrow,
    first_lane,
    higher,
    load,
    lower,
    numbers_of,
    splat,
    spread,
    total,
)
from timme._kernels.pruning import LANES, ROUNDING

LONG = 8  # stretches that are looked at first, in a vector of the sites of a tile at a time
_FEW = 4  # of them, after which most vectors need no more
VECTOR = 16  # sites of a vector
WIDTH = 2 * LONG  # short stretches, and frames that are looked at together: a vector of them
_AT_ONCE = 8  # parts of the frames that are looked at before a pair is given up
_SPACE = 3  # dimensions
_SINGLE = np.float32
_NONE = np.float32(0.0)
_LEAST = np.float32(1e-30)  # above numbers whose squares, or whose products, lose digits
_CAUTION = np.float32(1.001)  # above the rounding of a root


@compiled
def lay_out(
    xyz, order, centres, rotations, weights, places, ends, sums, largest, squares, means, some
):
    """Lay out a block of consecutive frames, and the means over the stretches that end in it.

    ``xyz`` is (sites, 3, frames), and ``order`` names the sites in the order in which they are laid
    out. Each frame is shifted by its centre (3, frames) and rotated (3, 3, frames). ``places`` is
    its place among those that are held, and ``ends`` (2, frames) the long and the short stretch
    that end with it; -1 for none. All else is filled: ``sums`` (2, sites, 5) of the stretches under
    way, ``largest`` (sites,) coordinates, ``squares`` (2, sites) about mean places, and ``means``,
    the mean places in long stretches (sites, 3, LONG), and ``looks`` as for `survivors`. This is
    done for ``some`` of the sites, from the first of two numbers up to the second.
    """
    long, looks = means
    turned = np.empty((5, len(weights)))
    for site in range(some[0], some[1]):
        _turn(xyz, order[site], centres, rotations, turned)
        most = largest[site]
        for frame in range(len(weights)):
            most = max(most, turned[4, frame])
            place = places[frame]
            if place >= 0:
                for d in range(_SPACE):
                    looks[site, 1 + place // WIDTH, d, place % WIDTH] = turned[d, frame]
        largest[site] = most
        _average(turned, weights, ends, site, sums, squares, long, looks)


@compiled
def _turn(xyz, site, centres, rotations, turned):
    """Shift and rotate the places of a site in all frames; add squared lengths and sizes."""
    for frame in range(turned.shape[1]):
        x = xyz[site, 0, frame] - centres[0, frame]
        y = xyz[site, 1, frame] - centres[1, frame]
        z = xyz[site, 2, frame] - centres[2, frame]
        a = x * rotations[0, 0, frame] + y * rotations[1, 0, frame] + z * rotations[2, 0, frame]
        b = x * rotations[0, 1, frame] + y * rotations[1, 1, frame] + z * rotations[2, 1, frame]
        c = x * rotations[0, 2, frame] + y * rotations[1, 2, frame] + z * rotations[2, 2, frame]
        turned[0, frame], turned[1, frame], turned[2, frame] = a, b, c
        turned[3, frame] = a * a + b * b + c * c
        turned[4, frame] = max(abs(a), abs(b), abs(c))


@compiled
def _average(turned, weights, ends, site, sums, squares, long, looks):
    """Fill in mean places of a site in the stretches that end; note the largest square about one.

    A long stretch ends with a short one, and has the sums of those in it. One without weight has no
    mean: the caller puts that of another in its place.
    """
    x, y, z = sums[1, site, 0], sums[1, site, 1], sums[1, site, 2]
    square, weight = sums[1, site, 3], sums[1, site, 4]
    for frame in range(len(weights)):
        x += weights[frame] * turned[0, frame]
        y += weights[frame] * turned[1, frame]
        z += weights[frame] * turned[2, frame]
        square += weights[frame] * turned[3, frame]
        weight += weights[frame]
        end = ends[1, frame]
        if end < 0:
            continue
        for kind, value in enumerate((x, y, z, square, weight)):
            sums[0, site, kind] += value
        if weight > 0.0:
            x, y, z = x / weight, y / weight, z / weight
            looks[site, 0, 0, end], looks[site, 0, 1, end], looks[site, 0, 2, end] = x, y, z
            squares[1, site] = max(squares[1, site], square / weight - (x * x + y * y + z * z))
        end = ends[0, frame]
        weight = sums[0, site, 4]
        if end >= 0:
            if weight > 0.0:
                x, y = sums[0, site, 0] / weight, sums[0, site, 1] / weight
                z = sums[0, site, 2] / weight
                long[site, 0, end], long[site, 1, end], long[site, 2, end] = x, y, z
                square = sums[0, site, 3] / weight
                squares[0, site] = max(squares[0, site], square - (x * x + y * y + z * z))
            for kind in range(5):
                sums[0, site, kind] = 0.0
        x = y = z = square = weight = 0.0
    sums[1, site, 0], sums[1, site, 1], sums[1, site, 2] = x, y, z
    sums[1, site, 3], sums[1, site, 4] = square, weight


@compiled(forceinline=True)
def _add_stretches(tiles, weights, band, own, tile, begin, some, sums):
    """Add some long stretches to the sums of one site with a vector of others in a tile.

    These are squared distances in the first stretch, sums of deviations from them and of their
    squares, and the largest and the least of all squared distances.
    """
    numbers = numbers_of(tiles)
    shift, first, second, most, least = sums
    for stretch in range(some[0], some[1]):
        at = (tile * LONG + stretch) * _SPACE * LANES + begin
        x = load(numbers, at, VECTOR) - splat(tiles[band, stretch, 0, own])
        y = load(numbers, at + LANES, VECTOR) - splat(tiles[band, stretch, 1, own])
        z = load(numbers, at + 2 * LANES, VECTOR) - splat(tiles[band, stretch, 2, own])
        square = x * x + y * y + z * z
        if stretch == 0:
            shift = most = least = square
            continue
        most, least = higher(most, square), lower(least, square)
        deviation = square - shift
        weighted = deviation * splat(weights[stretch])
        first, second = first + weighted, second + weighted * deviation
    return shift, first, second, most, least


@compiled(forceinline=True)
def _left(weight, error, swing, root, sums):
    """Tell which of a vector of sites may still matter to one site, as bits.

    What is joined at 0, and what stands for no pair, has a root of 0 that nothing is below. Nothing
    is given up by a sum that is no number.
    """
    _, first, second, most, least = sums
    low = second * splat(ROUNDING) - first * first * splat(_SINGLE(1.0) / weight)
    nearest = np.sqrt(least) - error
    limit = root * nearest + splat(np.sqrt(weight)) * (error * nearest + swing)
    limit, low, nothing = limit + limit, low * nearest * nearest, splat(_NONE)
    above = bits_above(low, most * limit * limit) & bits_above(low, splat(_LEAST))
    return bits_above(root, nothing) & ~(above & bits_above(nearest, nothing))


@compiled(forceinline=True)
def _glance(tiles, weights, totals, swings, errors, band, own, tile, begin, root):
    """The same after few stretches, or after all where some are left by these."""
    own_error, own_swing = splat(errors[band, own]), splat(swings[band, own])
    error = own_error + load(numbers_of(errors), tile * LANES + begin, VECTOR)
    swing = own_swing + load(numbers_of(swings), tile * LANES + begin, VECTOR)
    none = splat(_NONE)
    sums = none, none, none, none, none
    sums = _add_stretches(tiles, weights, band, own, tile, begin, (0, _FEW), sums)
    left = _left(totals[0], error, swing, root, sums)
    if left != 0:
        sums = _add_stretches(tiles, weights, band, own, tile, begin, (_FEW, LONG), sums)
        left = _left(totals[1], error, swing, root, sums)
    return left


@compiled(forceinline=True)
def _distances(looks, a, b, part):
    """Distances in the short stretches, or in some frames."""
    numbers, step = numbers_of(looks), _SPACE * WIDTH
    one, other = (a * looks.shape[1] + part) * step, (b * looks.shape[1] + part) * step
    x = load(numbers, one, WIDTH) - load(numbers, other, WIDTH)
    y = load(numbers, one + WIDTH, WIDTH) - load(numbers, other + WIDTH, WIDTH)
    z = load(numbers, one + 2 * WIDTH, WIDTH) - load(numbers, other + 2 * WIDTH, WIDTH)
    return np.sqrt(x * x + y * y + z * z)


@compiled(forceinline=True)
def _add(weights, part, deviation, first, second):
    """Add deviations, and their squares, to the sums of all lanes."""
    weighted = deviation * load(numbers_of(weights), part * WIDTH, WIDTH)
    return first + weighted, second + weighted * deviation


@compiled(fastmath={"contract", "nsz"})
def _is_above(weight, first, second, error, root):
    """Whether the sum of squared deviations is certain to be above its bound."""
    most = root + np.sqrt(weight) * error
    return second * ROUNDING - first * (first / weight) > most * most


@compiled(forceinline=True)
def _is_given_up_by_short(looks, weights, totals, lightest, swings, errors, a, b, root):
    """Whether a pair cannot matter, after the short stretches."""
    error, none = errors[a] + errors[b], splat(_NONE)
    distances = _distances(looks, a, b, 0)
    first, second = _add(weights, 0, distances - spread(distances), none, none)
    squares = total(second)
    # No deviation from the first distance is above the root of what all of them add up to.
    nearest = first_lane(distances) - np.sqrt(squares / lightest) * _CAUTION - error
    swing = (swings[a] + swings[b]) / nearest
    return nearest > _NONE and _is_above(totals[0], total(first), squares, error + swing, root)


@compiled(forceinline=True)
def _stays_low(looks, weights, totals, lightest, swings, errors, a, b, root):
    """Whether a pair may still matter after the short stretches and all frames that are held.

    Frames are looked at many at a time, as to look is quicker than to judge.
    """
    n_parts = looks.shape[1]
    if n_parts > 1 + _AT_ONCE and _is_given_up_by_short(
        looks, weights, totals, lightest, swings, errors, a, b, root
    ):
        return False
    distances, none = _distances(looks, a, b, 1), splat(_NONE)
    shift = spread(distances)
    first, second = _add(weights, 1, distances - shift, none, none)
    done, stop = 2, min(1 + _AT_ONCE, n_parts)
    while True:
        for part in range(done, stop):
            deviation = _distances(looks, a, b, part) - shift
            first, second = _add(weights, part, deviation, first, second)
        if _is_above(totals[stop - 1], total(first), total(second), errors[a] + errors[b], root):
            return False
        if stop == n_parts:
            return True
        done, stop = stop, min(stop + _AT_ONCE, n_parts)


@compiled
def survivors(
    tiles,
    tile_weights,
    tile_swings,
    tile_errors,
    looks,
    weights,
    totals,
    lightest,
    swings,
    errors,
    roots,
    band,
    begin,
    running,
    found,
):
    """Fill ``found`` with the pairs of one band of sites that cannot be given up.

    As `pruning.survivors` does, in open space. ``tiles`` (tiles, LONG, 3, LANES) are mean places in
    long stretches, with swings (s²/2 of each site) and errors of their lanes; ``looks`` (sites,
    parts, 3, WIDTH) are those in short stretches, and then frames. ``totals`` are their weights so
    far, the first that of all stretches, and ``lightest`` the least of a short one that has any.
    ``roots`` are those of bounds, of each gap between neighbours. Of weights, swings and errors,
    those that are not of tiles are of ``looks``.
    """
    highest = np.zeros(LANES, _SINGLE)  # gap from the beginning of a tile to each of its sites
    tile_totals = np.zeros(2, _SINGLE)
    for stretch in range(LONG):
        tile_totals[1] += tile_weights[stretch]
        if stretch < _FEW:
            tile_totals[0] += tile_weights[stretch]
    of_tiles = tiles, tile_weights, tile_totals, tile_swings, tile_errors
    of_looks = looks, weights, totals, lightest, swings, errors
    room = highest, np.empty(LANES + 1, np.int64)
    return _survivors(of_tiles, of_looks, roots, band, begin, running, room, found)


@compiled
def _survivors(of_tiles, of_looks, roots, band, begin, running, room, found):
    """Find them in what is lent."""
    tiles, tile_weights, tile_totals, tile_swings, tile_errors = of_tiles
    looks, weights, totals, lightest, swings, errors = of_looks
    tiles, tile_weights, tile_totals = borrow(tiles), borrow(tile_weights), borrow(tile_totals)
    tile_swings, tile_errors = borrow(tile_swings), borrow(tile_errors)
    looks, weights, totals = borrow(looks), borrow(weights), borrow(totals)
    swings, errors, roots = borrow(swings), borrow(errors), borrow(roots)
    running, highest, listed = borrow(running), borrow(room[0]), borrow(room[1])
    found = borrow(found)
    n_tiles, n_sites = tiles.shape[0], looks.shape[0]
    count = 0
    base = band * LANES
    for tile in range(begin, n_tiles):
        if count + LANES * LANES > len(found):
            return count, tile
        start = tile * LANES
        n_columns = min(LANES, n_sites - start)
        top = _NONE
        for k in range(LANES):
            if start + k > 0 and k < n_columns:
                top = max(top, roots[start + k - 1])
            highest[k] = top
        for own in range(min(LANES, n_sites - base)):
            if tile == band:  # only later sites are partners, and gaps begin with this site
                top = _NONE
                for k in range(n_columns):
                    if k > own:
                        top = max(top, roots[start + k - 1])
                    highest[k] = top
            least, n_left = running[own], 0
            for column in range(0, n_columns, VECTOR):
                root = higher(load(numbers_of(highest), column, VECTOR), splat(least))
                left = _glance(
                    tiles,
                    tile_weights,
                    tile_totals,
                    tile_swings,
                    tile_errors,
                    band,
                    own,
                    tile,
                    column,
                    root,
                )
                if left != 0:
                    for k in range(VECTOR):
                        listed[n_left] = column + k  # in any case, which is faster than to guess
                        n_left += (left >> k) & 1
            for place in range(n_left):
                k = listed[place]
                if k < n_columns and _stays_low(
                    looks,
                    weights,
                    totals,
                    lightest,
                    swings,
                    errors,
                    base + own,
                    start + k,
                    max(least, highest[k]),
                ):
                    found[count, 0] = base + own
                    found[count, 1] = start + k
                    count += 1
            running[own] = max(least, highest[n_columns - 1])
    return count, n_tiles
