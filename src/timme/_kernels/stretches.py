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

Pairs that are left by some long stretches are looked at in twice as many short ones, and then in
single frames, spread over the run, a few at a time. Weights of frames that are not held only make
sums smaller. For a stretch without weight that of another may stand, as it adds nothing.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.pruning import LANES, ROUNDING

# Sums may be reordered for vector units; every test leaves room for their rounding.
_FAST = {"reassoc", "contract", "nsz"}

LONG = 8  # stretches that are looked at first, in all sites of a tile at a time
WIDTH = 2 * LONG  # short stretches, and frames that are looked at together: a vector of them
_SPACE = 3  # dimensions
_SINGLE = np.float32
_NONE = np.float32(0.0)
_CAUTION = np.float32(1.001)  # above the rounding of a root


@compiled
def lay_out(xyz, order, centres, rotations, weights, places, ends, sums, largest, squares, means):
    """Lay out a block of consecutive frames, and the means over the stretches that end in it.

    ``xyz`` is (sites, 3, frames), and ``order`` names the sites in the order in which they are laid
    out. Each frame is shifted by its centre (3, frames) and rotated (3, 3, frames). ``places`` is
    its place among those that are held, and ``ends`` (2, frames) the long and the short stretch
    that end with it; -1 for none. All else is filled: ``sums`` (2, sites, 5) of the stretches under
    way, ``largest`` (sites,) coordinates, ``squares`` (2, sites) about mean places, and ``means``,
    the mean places in long stretches (sites, 1, 3, LONG), and ``looks`` as for `survivors`.
    """
    long, looks = means
    turned = np.empty((5, len(weights)))
    for site in range(len(order)):
        _turn(xyz, order[site], centres, rotations, turned)
        most = largest[site]
        for frame in range(len(weights)):
            most = max(most, turned[4, frame])
            place = places[frame]
            if place >= 0:
                for d in range(_SPACE):
                    looks[site, 1 + place // WIDTH, d, place % WIDTH] = turned[d, frame]
        largest[site] = most
        _average(turned, weights, ends, 0, site, sums, squares, long)
        _average(turned, weights, ends, 1, site, sums, squares, looks)


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
def _average(turned, weights, ends, kind, site, sums, squares, means):
    """Fill in mean places of a site in the stretches that end; note the largest square about one.

    A stretch without weight has none: the caller puts that of another in its place.
    """
    x, y, z = sums[kind, site, 0], sums[kind, site, 1], sums[kind, site, 2]
    square, total = sums[kind, site, 3], sums[kind, site, 4]
    for frame in range(len(weights)):
        x += weights[frame] * turned[0, frame]
        y += weights[frame] * turned[1, frame]
        z += weights[frame] * turned[2, frame]
        square += weights[frame] * turned[3, frame]
        total += weights[frame]
        end = ends[kind, frame]
        if end >= 0:
            if total > 0.0:
                x, y, z = x / total, y / total, z / total
                means[site, 0, 0, end], means[site, 0, 1, end], means[site, 0, 2, end] = x, y, z
                about = square / total - (x * x + y * y + z * z)
                squares[kind, site] = max(squares[kind, site], about)
            x = y = z = square = total = 0.0
    sums[kind, site, 0], sums[kind, site, 1], sums[kind, site, 2] = x, y, z
    sums[kind, site, 3], sums[kind, site, 4] = square, total


@compiled(fastmath=_FAST)
def _apart(tiles, stretch, band, own, tile, lane):
    """How far the mean places of two sites in a long stretch are apart."""
    x = tiles[tile, stretch, 0, lane] - tiles[band, stretch, 0, own]
    y = tiles[tile, stretch, 1, lane] - tiles[band, stretch, 1, own]
    z = tiles[tile, stretch, 2, lane] - tiles[band, stretch, 2, own]
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST)
def _glance(tiles, weights, total, swings, errors, band, own, tile, least, roots, left):
    """Tell which sites of a tile may still matter to one site after all long stretches.

    What is joined at 0, and what stands for no pair, has a root of 0 that nothing is below. Nothing
    is given up by a sum that is no number.
    """
    inverse, root_total = _SINGLE(1.0) / total, np.sqrt(total)
    own_error, own_swing = errors[band, own], swings[band, own]
    for k in range(LANES):
        shift = _apart(tiles, 0, band, own, tile, k)
        nearest = shift
        first = second = _NONE
        for stretch in range(1, LONG):
            r = _apart(tiles, stretch, band, own, tile, k)
            nearest = min(nearest, r)
            r -= shift
            first += weights[stretch] * r
            second += weights[stretch] * r * r
        error = own_error + errors[tile, k]
        nearest -= error
        root = max(roots[k], least)
        most = root + root_total * (error + (own_swing + swings[tile, k]) / nearest)
        low = second * ROUNDING - first * (first * inverse)
        left[k] = (root > _NONE) & (not ((low > most * most) & (nearest > _NONE)))


@compiled(fastmath=_FAST)
def _distance(looks, a, b, part):
    """Distance in the first of the short stretches, or of some frames."""
    x = looks[a, part, 0, 0] - looks[b, part, 0, 0]
    y = looks[a, part, 1, 0] - looks[b, part, 1, 0]
    z = looks[a, part, 2, 0] - looks[b, part, 2, 0]
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST)
def _sums(looks, a, b, part, weights, shift):
    """Sum deviations and their squares over the short stretches, or over some frames."""
    first = second = _NONE
    for k in range(WIDTH):
        x = looks[a, part, 0, k] - looks[b, part, 0, k]
        y = looks[a, part, 1, k] - looks[b, part, 1, k]
        z = looks[a, part, 2, k] - looks[b, part, 2, k]
        r = np.sqrt(x * x + y * y + z * z) - shift
        first += weights[part, k] * r
        second += weights[part, k] * r * r
    return first, second


@compiled(fastmath={"contract", "nsz"})
def _is_above(total, first, second, error, root):
    """Whether the sum of squared deviations is certain to be above its bound."""
    most = root + np.sqrt(total) * error
    return second * ROUNDING - first * (first / total) > most * most


@compiled(forceinline=True)
def _stays_low(looks, weights, totals, lightest, swings, errors, a, b, root):
    """Whether a pair may still matter after the short stretches and all frames that are held."""
    error = errors[a] + errors[b]
    shift = _distance(looks, a, b, 0)
    first, second = _sums(looks, a, b, 0, weights, shift)
    # No deviation from the first distance is above the root of what all of them add up to.
    nearest = shift - np.sqrt(second / lightest) * _CAUTION - error
    if nearest > _NONE:
        swing = (swings[a] + swings[b]) / nearest
        if _is_above(totals[0], first, second, error + swing, root):
            return False
    shift = _distance(looks, a, b, 1)
    first = second = _NONE
    for part in range(1, looks.shape[1]):
        more_first, more_second = _sums(looks, a, b, part, weights, shift)
        first += more_first
        second += more_second
        if _is_above(totals[part], first, second, error, root):
            return False
    return True


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
    n_tiles, n_sites = tiles.shape[0], looks.shape[0]
    highest = np.empty(LANES, _SINGLE)  # gap from the beginning of a tile to each of its sites
    left = np.empty(LANES, np.bool_)
    listed = np.empty(LANES + 1, np.int64)
    tile_total = _NONE
    for weight in tile_weights:
        tile_total += weight
    total = 0
    base = band * LANES
    for tile in range(begin, n_tiles):
        if total + LANES * LANES > len(found):
            return total, tile
        start = tile * LANES
        n_columns = min(LANES, n_sites - start)
        top = _NONE
        for k in range(n_columns):
            if start + k > 0:
                top = max(top, roots[start + k - 1])
            highest[k] = top
        for own in range(min(LANES, n_sites - base)):
            if tile == band:  # only later sites are partners, and gaps begin with this site
                top = _NONE
                for k in range(n_columns):
                    if k > own:
                        top = max(top, roots[start + k - 1])
                    highest[k] = top
            least = running[own]
            _glance(
                tiles,
                tile_weights,
                tile_total,
                tile_swings,
                tile_errors,
                band,
                own,
                tile,
                least,
                highest,
                left,
            )
            count = 0
            for k in range(n_columns):
                listed[count] = k  # written in any case, which is faster than to guess
                count += left[k]
            for place in range(count):
                k = listed[place]
                root = max(least, highest[k])
                if _stays_low(
                    looks, weights, totals, lightest, swings, errors, base + own, start + k, root
                ):
                    found[total, 0] = base + own
                    found[total, 1] = start + k
                    total += 1
            running[own] = max(least, highest[n_columns - 1])
    return total, n_tiles
