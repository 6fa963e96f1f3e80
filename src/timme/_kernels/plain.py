"""Moments of pairs in open space, all frames seen and of weight 1: where most time is spent.

**When single precision is enough.** Coordinates in single precision are summed in it first, which
takes half the time, and the sums themselves tell whether they give σ to 1e-5; where they do not,
the pair goes through a loop that keeps more digits of pairs that hardly move (item 4), and where
its sums are not enough either, through one in double precision. Each step rounds by at most
u = 2⁻²⁴ of its result. Coordinates are exact, being those of the file, however far they lie from
the origin; their differences, the squares with their sum in d dimensions, and the root add u, u d/2
and u of the distance r. Let S be the sum of squared deviations over n frames, σ² = S/n.

1. Distances. √S is a length by itself, so that σ is off by no more than the root mean square of
   their errors, of which none is above (2 + d/2) ur. Where r is below 64 σ in 3-D (``_FARTHEST``),
   that is 1.4e-5 of σ if all roundings of all frames conspire. They do not: of three million pairs
   that jump between no more than two places the worst was off by 0.94e-5, and errors of 64
   different frames average out to 2e-6 at the worst.
2. Sums. Distances are counted from that of the first frame, and S is what is left of the sum of
   their squares when n times the square of their mean is taken off. Each lane of a vector adds few
   of them, so that either sum is off by a few u of itself, and S by as much times the ratio of the
   sum to S, which is below 16 (``_MOST_SHIFTED``): 1e-6 of σ.
3. Small and large numbers. Squares that are not far above the smallest number lose digits
   (``_LEAST``); those that are too large become infinite, which is below nothing.
4. Pairs that hardly move, in 3-D. Let x be the vector between the sites, a that of the first frame,
   y = r - r₀ what is wanted, and D = |x - a|, no smaller than |y|. With s = (x - a)·(x + a), which
   is r² - r₀² and off by 5u D (r + r₀), y = s/(r + r₀) would be off by 5u D. The division is saved:
   y₀ = √(r₀² + s) - r₀ is off by h, less than 8u r₀ while |y| is below r₀/2 (which the sum of
   squares tells, as it is above each of them), and y₀ + (s - y₀ (2r₀ + y₀))/2r₀ is the same but for
   h (y + y₀)/2r₀, below 8u |y|; r₀ itself and the steps add at most 5u |y|. Together with the
   differences of coordinates that makes ur + 18u D (``_STEPS``), where item 1 has 3.5 ur. It is
   held to the same error of σ as there, r and D counting by their root mean squares.

All of this is known of the pair alone: whatever else is measured with it, and whoever measures it,
its bits are the same.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.moments import merge_two

_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units
_SINGLE = 4  # bytes of a number in single precision
_SPACE = 3  # dimensions in which loops know how many there are
_RUN = 96  # pairs whose sums are kept until those of all are known
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
_STEPS = 18.0  # roundings of a deviation, see item 4


@compiled(fastmath=_FAST, error_model="numpy")
def _distance_in_space(xyz, a, b, frame, kind):
    """Distance of two sites in one frame of open space in 3-D, in some precision."""
    x = kind(xyz[a, 0, frame]) - kind(xyz[b, 0, frame])
    y = kind(xyz[a, 1, frame]) - kind(xyz[b, 1, frame])
    z = kind(xyz[a, 2, frame]) - kind(xyz[b, 2, frame])
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums_of_three(xyz, site, one, two, three):
    """Sum the distances of a site from three others, less the first, and their squares, in 3-D.

    Three at a time: coordinates of the site are read once, square roots need not wait, and one
    vector of frames fills the registers, so that few frames are left over.
    """
    kind = xyz.dtype.type
    shift_one = _distance_in_space(xyz, site, one, 0, kind)
    shift_two = _distance_in_space(xyz, site, two, 0, kind)
    shift_three = _distance_in_space(xyz, site, three, 0, kind)
    low_one = low_two = low_three = shift_one - shift_one  # 0, single or not
    high_one = high_two = high_three = low_one
    for frame in range(xyz.shape[2]):
        r = _distance_in_space(xyz, site, one, frame, kind) - shift_one
        low_one += r
        high_one += r * r
        r = _distance_in_space(xyz, site, two, frame, kind) - shift_two
        low_two += r
        high_two += r * r
        r = _distance_in_space(xyz, site, three, frame, kind) - shift_three
        low_three += r
        high_three += r * r
    return (
        (shift_one, low_one, high_one),
        (shift_two, low_two, high_two),
        (shift_three, low_three, high_three),
    )


@compiled(fastmath={"contract", "nsz"}, error_model="numpy")
def _longer_by(x, y, z, own_x, own_y, own_z, square, length):
    """How much longer (x, y, z) is than a vector of some length and its square; and how far apart.

    Each step of item 4 of the argument above: none may be reordered.
    """
    dx, dy, dz = x - own_x, y - own_y, z - own_z
    more = dx * (x + own_x) + dy * (y + own_y) + dz * (z + own_z)
    about = np.sqrt(square + more) - length
    twice = length + length
    return about + (more - about * (twice + about)) / twice, dx * dx + dy * dy + dz * dz


@compiled(fastmath=_FAST, error_model="numpy")
def sums_when_still(xyz, a, b):
    """Sum how much longer than at first a distance in 3-D is, and its squares, to more digits.

    Also returns the sum of squares of how far apart the vectors between the two sites are from the
    first of them.
    """
    own_x = xyz[a, 0, 0] - xyz[b, 0, 0]
    own_y = xyz[a, 1, 0] - xyz[b, 1, 0]
    own_z = xyz[a, 2, 0] - xyz[b, 2, 0]
    square = own_x * own_x + own_y * own_y + own_z * own_z
    shift = np.sqrt(square)
    first = second = moved = shift - shift
    for frame in range(xyz.shape[2]):
        x = xyz[a, 0, frame] - xyz[b, 0, frame]
        y = xyz[a, 1, frame] - xyz[b, 1, frame]
        z = xyz[a, 2, frame] - xyz[b, 2, frame]
        r, apart = _longer_by(x, y, z, own_x, own_y, own_z, square, shift)
        first += r
        second += r * r
        moved += apart
    return shift, first, second, moved


@compiled(fastmath=_FAST, error_model="numpy")
def _sums_in_double(xyz, a, b):
    """Sum the distances of a pair in 3-D, less the first, and their squares, in double."""
    shift = _distance_in_space(xyz, a, b, 0, np.float64)
    first = second = 0.0
    for frame in range(xyz.shape[2]):
        r = _distance_in_space(xyz, a, b, frame, np.float64) - shift
        first += r
        second += r * r
    return shift, first, second


@compiled(fastmath=_FAST, error_model="numpy")
def _sums(xyz, a, b, square):
    """The same in any dimension, in the precision of ``square``, which has a number a frame."""
    _, n_dimensions, n_frames = xyz.shape
    kind = square.dtype.type
    for frame in range(n_frames):
        x = kind(xyz[a, 0, frame]) - kind(xyz[b, 0, frame])
        square[frame] = x * x
    for d in range(1, n_dimensions):
        for frame in range(n_frames):
            x = kind(xyz[a, d, frame]) - kind(xyz[b, d, frame])
            square[frame] += x * x
    shift = np.sqrt(square[0])
    first = shift - shift
    second = shift - shift
    for frame in range(n_frames):
        r = np.sqrt(square[frame]) - shift
        first += r
        second += r * r
    return shift, first, second


@compiled(error_model="numpy")
def _deviations(n_frames, first, second):
    """Sum of squared deviations from the mean, of that about the first distance."""
    return max(second - first * first * (1.0 / n_frames), 0.0)


@compiled(error_model="numpy")
def _are_enough(n_dimensions, n_frames, shift, first, second):
    """Whether sums in single precision give σ to 1e-5; never where they are no numbers."""
    left = _deviations(n_frames, first, second)
    far = shift * ((4.0 + n_dimensions) / (7.0 * _FARTHEST))
    return (
        (far * far * n_frames < left) & (second < _MOST_SHIFTED * left) & (_LEAST * n_frames < left)
    )


@compiled(error_model="numpy")
def _are_enough_when_still(n_frames, shift, first, second, moved):
    """The same of :func:`sums_when_still`."""
    left = _deviations(n_frames, first, second)
    errors = shift * np.sqrt(n_frames) + _STEPS * np.sqrt(moved)
    return (
        (errors < 3.5 * _FARTHEST * np.sqrt(left))
        & (second < _MOST_SHIFTED * left)
        & (second < shift * shift / 4.0)
        & (_LEAST * n_frames < left)
    )


@compiled(error_model="numpy")
def _refine(xyz, n_frames, a, b, exact):
    """Sum a pair once more, as it was in doubt; ``exact`` has room for a number a frame."""
    if xyz.shape[1] != _SPACE:
        return _sums(xyz, a, b, exact)
    shift, first, second, moved = sums_when_still(xyz, a, b)
    found = np.float64(shift), np.float64(first), np.float64(second)
    if _are_enough_when_still(n_frames, found[0], found[1], found[2], np.float64(moved)):
        return found
    return _sums_in_double(xyz, a, b)


@compiled
def _partner(pairs, p, stop, site):
    """The other site of a pair, or -1 if it is beyond the last, or none of this site's."""
    if p < stop and pairs[p, 0] == site:
        return pairs[p, 1]
    return pairs[p, 0] if p < stop and pairs[p, 1] == site else -1


@compiled(error_model="numpy")
def _keep_three(found, k, sums):
    """Put the sums of three pairs where those of a run are kept."""
    one, two, three = found
    sums[0, k], sums[1, k], sums[2, k] = one
    sums[0, k + 1], sums[1, k + 1], sums[2, k + 1] = two
    sums[0, k + 2], sums[1, k + 2], sums[2, k + 2] = three


@compiled(error_model="numpy")
def _sum_list(xyz, pairs, begin, stop, sums):
    """Fill in the sums of a run of pairs in 3-D, up to three at a time that have a site in common.

    Fewer go through the same loop in the place of three, so that the bits are the same; what else
    it gives is overwritten by the next.
    """
    p = begin
    while p < stop:
        site, one = pairs[p, 0], pairs[p, 1]
        if _partner(pairs, p + 1, stop, site) < 0:
            site, one = one, site
        two = _partner(pairs, p + 1, stop, site)
        three = _partner(pairs, p + 2, stop, site) if two >= 0 else -1
        _keep_three(_sums_of_three(xyz, site, one, max(two, 0), max(three, 0)), p - begin, sums)
        p += 1 + (two >= 0) + (three >= 0)


@compiled(error_model="numpy")
def _sum_row(xyz, site, begin, stop, sums):
    """The same of a site and consecutive others."""
    last = xyz.shape[0] - 1
    for one in range(begin, stop, 3):
        two, three = min(one + 1, last), min(one + 2, last)
        _keep_three(_sums_of_three(xyz, site, one, two, three), one - begin, sums)


@compiled(error_model="numpy")
def _settle(xyz, n_frames, pairs, begin, stop, room):
    """Give the sums of a run of pairs in double precision; single is refined where in doubt.

    What is in doubt is known of all before one is refined: tests are vectors then.
    """
    n_dimensions = xyz.shape[1]
    _, exact, raw, sums, doubted = room
    count = stop - begin
    for k in range(count):
        sums[0, k], sums[1, k], sums[2, k] = raw[0, k], raw[1, k], raw[2, k]
    if xyz.itemsize > _SINGLE:
        return
    n_doubted = 0
    for k in range(count):
        enough = _are_enough(n_dimensions, n_frames, sums[0, k], sums[1, k], sums[2, k])
        doubted[k] = not enough
        n_doubted += not enough
    for k in range(count if n_doubted > 0 else 0):
        if doubted[k]:
            found = _refine(xyz, n_frames, pairs[begin + k, 0], pairs[begin + k, 1], exact)
            sums[0, k], sums[1, k], sums[2, k] = found


@compiled(error_model="numpy")
def _sum_run(xyz, n_frames, pairs, begin, stop, room):
    """Sum a run of pairs."""
    scratch, _, raw, _, _ = room
    if xyz.shape[1] == _SPACE:
        _sum_list(xyz, pairs, begin, stop, raw)
    else:
        for p in range(begin, stop):
            k = p - begin
            raw[0, k], raw[1, k], raw[2, k] = _sums(xyz, pairs[p, 0], pairs[p, 1], scratch)
    _settle(xyz, n_frames, pairs, begin, stop, room)


@compiled
def _make_room(xyz, size):
    """Return what a run of pairs needs: numbers of each frame, and sums and doubts of each pair."""
    n_frames = xyz.shape[2]
    return (
        np.empty(n_frames, xyz.dtype),
        np.empty(n_frames),
        np.zeros((3, size + 2), xyz.dtype),
        np.zeros((3, size)),
        np.zeros(size, np.bool_),
    )


@compiled(error_model="numpy")
def add_all_frames(xyz, n_frames, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors; they take no views of it, whose references would have to be counted.
    Frames beyond ``n_frames`` are copies of the first, which fill up the last vector: nothing is
    added by them. Single precision stays single within the block where that is enough.
    """
    inverse = 1.0 / n_frames
    room = _make_room(xyz, _RUN)
    sums = room[3]
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        for p in range(begin, stop):
            shift, first, second = sums[0, p - begin], sums[1, p - begin], sums[2, p - begin]
            average, deviations = shift + first * inverse, _deviations(n_frames, first, second)
            count[p] += n_frames
            weight[p], mean[p], m2[p] = merge_two(
                weight[p], mean[p], m2[p], float(n_frames), average, deviations
            )


@compiled(error_model="numpy")
def fill_list(xyz, n_frames, pairs, sigma):
    """Fill in σ of pairs, as :func:`add_all_frames` finds it in a block that holds all frames."""
    room = _make_room(xyz, _RUN)
    sums = room[3]
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        for p in range(begin, stop):
            deviations = _deviations(n_frames, sums[1, p - begin], sums[2, p - begin])
            sigma[p] = np.sqrt(deviations / n_frames)


@compiled(error_model="numpy")
def _fill_row(xyz, n_frames, site, begin, count, p, pairs, sigma, room):
    """Fill in pairs of a site and consecutive others, and their σ, from the pth pair on."""
    for k in range(count):
        pairs[p + k, 0], pairs[p + k, 1] = site, begin + k
    if xyz.shape[1] == _SPACE:
        _sum_row(xyz, site, begin, begin + count, room[2])
        _settle(xyz, n_frames, pairs, p, p + count, room)
    else:
        _sum_run(xyz, n_frames, pairs, p, p + count, room)
    sums = room[3]
    for k in range(count):
        deviations = _deviations(n_frames, sums[1, k], sums[2, k])
        sigma[p + k] = np.sqrt(deviations / n_frames)


@compiled(error_model="numpy")
def fill_band(xyz, n_frames, first, square, pairs, sigma):
    """Fill in σ of some sites with one another and with all later ones, square by square of sites.

    As :func:`add_all_frames` would find it in one block that holds all frames, to the last bit.
    """
    n_sites = xyz.shape[0]
    room = _make_room(xyz, square)
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            count = max(stop - begin, 0)
            _fill_row(xyz, n_frames, site, begin, count, p, pairs, sigma, room)
            p += count


@compiled(error_model="numpy")
def fill_band_below(xyz, n_frames, first, square, gaps, pairs, sigma):
    """The same of those pairs alone whose σ is below the highest gap between them; count these.

    ``gaps`` are those between neighbours; ``pairs`` has room for all pairs of the band.
    """
    n_sites = xyz.shape[0]
    room = _make_room(xyz, square)
    highest = np.zeros(square)  # gap from each site of the band on
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            count = max(stop - begin, 0)
            _fill_row(xyz, n_frames, site, begin, count, p, pairs, sigma, room)
            top, kept = highest[site - first], p
            for k in range(count):
                top = max(top, gaps[begin + k - 1])
                pairs[kept, 1], sigma[kept] = begin + k, sigma[p + k]
                kept += sigma[kept] < top  # written in any case, which is faster than to guess
            highest[site - first], p = top, kept
    return p
