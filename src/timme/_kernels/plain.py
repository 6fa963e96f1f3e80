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
   y₀ = √(r₀² + s) - r₀ is off by h, less than 6u r₀ while |y| is below ¾ r₀ (which the sum of
   squares tells, as it is above each of them), and (s - y₀²)/2r₀, which is y were y₀ exact, by
   h y/r₀, below 6u |y|; r₀ itself and the steps add at most 6u |y|. Together with the
   differences of coordinates that makes ur + 17u D (``_STEPS``), where item 1 has 3.5 ur. It is
   held to the same error of σ as there, r and D counting by their root mean squares.

All of this is known of the pair alone: whatever else is measured with it, and whoever measures it,
its bits are the same.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units
_SINGLE = 4  # bytes of a number in single precision
_SPACE = 3  # dimensions in which loops know how many there are
_RUN = 96  # pairs whose sums are kept until those of all are known
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
_STEPS = 17.0  # roundings of a deviation, see item 4


@compiled(fastmath=_FAST, error_model="numpy")
def _distance_in_space(xyz, a, b, frame, kind):
    """Distance of two sites in one frame of open space in 3-D, in some precision."""
    x = kind(xyz[a, 0, frame]) - kind(xyz[b, 0, frame])
    y = kind(xyz[a, 1, frame]) - kind(xyz[b, 1, frame])
    z = kind(xyz[a, 2, frame]) - kind(xyz[b, 2, frame])
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums_of_three(xyz, site, others, raw, k):
    """Sum the distances of a site from three others, less the first, and their squares, in 3-D.

    Three at a time: coordinates of the site are read once, square roots need not wait, and one
    vector of frames fills the registers, so that few frames are left over.
    """
    kind = xyz.dtype.type
    one, two, three = others
    shift_one, shift_two, shift_three = raw[0, k], raw[0, k + 1], raw[0, k + 2]
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
    raw[1, k], raw[1, k + 1], raw[1, k + 2] = low_one, low_two, low_three
    raw[2, k], raw[2, k + 1], raw[2, k + 2] = high_one, high_two, high_three


@compiled(fastmath=_FAST, error_model="numpy")
def _first_vector(xyz, a, b):
    """Vector between two sites in the first frame, its square, length, and half over its length."""
    x = xyz[a, 0, 0] - xyz[b, 0, 0]
    y = xyz[a, 1, 0] - xyz[b, 1, 0]
    z = xyz[a, 2, 0] - xyz[b, 2, 0]
    square = x * x + y * y + z * z
    length = np.sqrt(square)
    return x, y, z, square, length, xyz.dtype.type(0.5) / length


@compiled(fastmath={"contract", "nsz"}, error_model="numpy")
def _longer_by(xyz, a, b, frame, own):
    """How much longer than at first the vector of two sites is; and the square of how far from it.

    Each step of item 4 of the argument above: none may be reordered.
    """
    own_x, own_y, own_z, square, length, half = own
    x = xyz[a, 0, frame] - xyz[b, 0, frame]
    y = xyz[a, 1, frame] - xyz[b, 1, frame]
    z = xyz[a, 2, frame] - xyz[b, 2, frame]
    dx, dy, dz = x - own_x, y - own_y, z - own_z
    more = dx * (x + own_x) + dy * (y + own_y) + dz * (z + own_z)
    about = np.sqrt(square + more) - length
    return (more - about * about) * half, dx * dx + dy * dy + dz * dz


@compiled(fastmath=_FAST, error_model="numpy")
def sums_when_still(xyz, site, one, two, three):
    """Sum how much longer than at first three distances are, and the squares, to more digits.

    Returns of each, in 3-D, the first distance, both sums, and that of the squares of how far the
    vector between the two sites is from the first of them.
    """
    own_one, own_two = _first_vector(xyz, site, one), _first_vector(xyz, site, two)
    own_three = _first_vector(xyz, site, three)
    low_one = low_two = low_three = own_one[0] - own_one[0]
    high_one = high_two = high_three = low_one
    moved_one = moved_two = moved_three = low_one
    for frame in range(xyz.shape[2]):
        r, apart = _longer_by(xyz, site, one, frame, own_one)
        low_one += r
        high_one += r * r
        moved_one += apart
        r, apart = _longer_by(xyz, site, two, frame, own_two)
        low_two += r
        high_two += r * r
        moved_two += apart
        r, apart = _longer_by(xyz, site, three, frame, own_three)
        low_three += r
        high_three += r * r
        moved_three += apart
    return (
        (own_one[4], low_one, high_one, moved_one),
        (own_two[4], low_two, high_two, moved_two),
        (own_three[4], low_three, high_three, moved_three),
    )


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
        & (second < shift * shift * (9.0 / 16.0))
        & (_LEAST * n_frames < left)
    )


@compiled
def _partner(pairs, p, stop, site):
    """The other site of a pair, or -1 if it is beyond the last, or none of this site's."""
    if p < stop and pairs[p, 0] == site:
        return pairs[p, 1]
    return pairs[p, 0] if p < stop and pairs[p, 1] == site else -1


@compiled
def _next_three(pairs, p, stop):
    """Return a site, three partners of it, and how many of them are those of the next pairs.

    The first stands for others that are none: it goes through the same loop, to the same bits.
    """
    site, one = pairs[p, 0], pairs[p, 1]
    if _partner(pairs, p + 1, stop, site) < 0:
        site, one = one, site
    two = _partner(pairs, p + 1, stop, site)
    three = _partner(pairs, p + 2, stop, site) if two >= 0 else -1
    others = one, two if two >= 0 else one, three if three >= 0 else one
    return site, others, 1 + (two >= 0) + (three >= 0)


@compiled(fastmath=_FAST, error_model="numpy")
def _sum_list(xyz, pairs, begin, stop, raw):
    """Fill in first distances and sums of a run of pairs in 3-D, three at a time if they share one.

    What else a loop gives in the place of three is overwritten by the next.
    """
    kind = xyz.dtype.type
    p = begin
    while p < stop:
        site, others, count = _next_three(pairs, p, stop)
        k = p - begin
        raw[0, k] = _distance_in_space(xyz, site, others[0], 0, kind)
        raw[0, k + 1] = _distance_in_space(xyz, site, others[1], 0, kind)
        raw[0, k + 2] = _distance_in_space(xyz, site, others[2], 0, kind)
        _sums_of_three(xyz, site, others, raw, k)
        p += count


@compiled(fastmath=_FAST, error_model="numpy")
def _sum_row(xyz, site, begin, stop, firsts, corner, raw):
    """The same of a site and consecutive others; ``firsts`` are their places in the first frame."""
    own_x, own_y, own_z = xyz[site, 0, 0], xyz[site, 1, 0], xyz[site, 2, 0]
    for k in range(stop - begin):
        other = begin - corner + k
        x, y, z = own_x - firsts[0, other], own_y - firsts[1, other], own_z - firsts[2, other]
        raw[0, k] = np.sqrt(x * x + y * y + z * z)
    last = xyz.shape[0] - 1
    for one in range(begin, stop, 3):
        others = one, min(one + 1, last), min(one + 2, last)
        _sums_of_three(xyz, site, others, raw, one - begin)


@compiled(error_model="numpy")
def _settle(xyz, n_frames, pairs, begin, stop, room):
    """Give means and deviations of a run of pairs; single precision is refined where in doubt.

    What is in doubt is known of all before one is refined: tests are vectors then.
    """
    _, _, raw, found, doubted, _ = room
    n_dimensions, inverse, n_doubted = xyz.shape[1], 1.0 / n_frames, 0
    for k in range(stop - begin):
        shift, first, second = np.float64(raw[0, k]), np.float64(raw[1, k]), np.float64(raw[2, k])
        found[0, k] = shift + first * inverse
        found[1, k] = _deviations(n_frames, first, second)
        enough = _are_enough(n_dimensions, n_frames, shift, first, second)
        doubted[k] = not enough
        n_doubted += not enough
    if n_doubted > 0 and xyz.itemsize <= _SINGLE:
        _refine(xyz, n_frames, pairs, begin, stop, room)


@compiled(error_model="numpy")
def _refine(xyz, n_frames, pairs, begin, stop, room):
    """Sum pairs once more that were in doubt."""
    _, exact, _, found, doubted, again = room
    count = 0
    for k in range(stop - begin):
        if doubted[k]:
            again[count, 0], again[count, 1] = pairs[begin + k, 0], pairs[begin + k, 1]
            again[count, 2] = k
            count += 1
    p = 0
    while p < count:
        if xyz.shape[1] != _SPACE:
            sums = _sums(xyz, again[p, 0], again[p, 1], exact)
            _keep(n_frames, sums, found, again[p, 2])
            p += 1
            continue
        site, others, n_next = _next_three(again, p, count)
        one, two, three = sums_when_still(xyz, site, others[0], others[1], others[2])
        _keep_still(xyz, n_frames, again[p], one, found)
        if n_next > 1:
            _keep_still(xyz, n_frames, again[p + 1], two, found)
        if n_next > 2:
            _keep_still(xyz, n_frames, again[p + 2], three, found)
        p += n_next


@compiled(error_model="numpy")
def _keep_still(xyz, n_frames, pair, sums, found):
    """Keep what :func:`sums_when_still` gave of a pair, or sums in double if it is not enough."""
    shift, first, second = np.float64(sums[0]), np.float64(sums[1]), np.float64(sums[2])
    if _are_enough_when_still(n_frames, shift, first, second, np.float64(sums[3])):
        _keep(n_frames, (shift, first, second), found, pair[2])
    else:
        _keep(n_frames, _sums_in_double(xyz, pair[0], pair[1]), found, pair[2])


@compiled(error_model="numpy")
def _keep(n_frames, sums, found, k):
    """Put the mean and the deviations of a pair in its place."""
    shift, first, second = sums
    found[0, k] = shift + first * (1.0 / n_frames)
    found[1, k] = _deviations(n_frames, first, second)


@compiled(error_model="numpy")
def _sum_run(xyz, n_frames, pairs, begin, stop, room):
    """Sum a run of pairs."""
    scratch, _, raw, _, _, _ = room
    if xyz.shape[1] == _SPACE:
        _sum_list(xyz, pairs, begin, stop, raw)
    else:
        for p in range(begin, stop):
            k = p - begin
            raw[0, k], raw[1, k], raw[2, k] = _sums(xyz, pairs[p, 0], pairs[p, 1], scratch)
    _settle(xyz, n_frames, pairs, begin, stop, room)


@compiled
def _make_room(xyz, size):
    """Return what a run of pairs needs.

    These are numbers of each frame; first distances and sums, means and deviations, and doubts of
    each pair; and pairs in doubt with their places.
    """
    n_frames = xyz.shape[2]
    return (
        np.empty(n_frames, xyz.dtype),
        np.empty(n_frames),
        np.zeros((3, size + 2), xyz.dtype),
        np.zeros((2, size)),
        np.zeros(size, np.bool_),
        np.zeros((size, 3), np.int64),
    )


@compiled(error_model="numpy")
def add_all_frames(xyz, n_frames, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors; they take no views of it, whose references would have to be counted.
    Frames beyond ``n_frames`` are copies of the first, which fill up the last vector: nothing is
    added by them. Single precision stays single within the block where that is enough.
    """
    room = _make_room(xyz, _RUN)
    found = room[3]
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        _merge_run(float(n_frames), found, begin, stop, weight, mean, m2)
        for p in range(begin, stop):
            count[p] += n_frames
            weight[p] += n_frames


@compiled(error_model="numpy")
def _merge_run(n_frames, found, begin, stop, weight, mean, m2):
    """Merge a run of pairs as :func:`timme._kernels.moments.merge_two` would, in vectors.

    Moments without weight are all 0, to which what is added becomes itself.
    """
    for p in range(begin, stop):
        share = n_frames / (weight[p] + n_frames)
        shift = found[0, p - begin] - mean[p]
        mean[p] += shift * share
        m2[p] = m2[p] + found[1, p - begin] + shift * shift * weight[p] * share


@compiled(error_model="numpy")
def fill_list(xyz, n_frames, pairs, sigma):
    """Fill in σ of pairs, as :func:`add_all_frames` finds it in a block that holds all frames."""
    room = _make_room(xyz, _RUN)
    found = room[3]
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        for p in range(begin, stop):
            sigma[p] = np.sqrt(found[1, p - begin] / n_frames)


@compiled(error_model="numpy")
def _first_places(xyz, corner, stop, firsts):
    """Lay out where consecutive sites are in the first frame, one coordinate after the other."""
    for d in range(xyz.shape[1]):
        for other in range(corner, stop):
            firsts[d, other - corner] = xyz[other, d, 0]


@compiled(error_model="numpy")
def _fill_row(xyz, n_frames, site, begin, count, firsts, corner, p, pairs, sigma, room):
    """Fill in pairs of a site and consecutive others, and their σ, from the pth pair on."""
    for k in range(count):
        pairs[p + k, 0], pairs[p + k, 1] = site, begin + k
    if xyz.shape[1] == _SPACE:
        _sum_row(xyz, site, begin, begin + count, firsts, corner, room[2])
        _settle(xyz, n_frames, pairs, p, p + count, room)
    else:
        _sum_run(xyz, n_frames, pairs, p, p + count, room)
    found = room[3]
    for k in range(count):
        sigma[p + k] = np.sqrt(found[1, k] / n_frames)


@compiled(error_model="numpy")
def fill_band(xyz, n_frames, first, square, pairs, sigma):
    """Fill in σ of some sites with one another and with all later ones, square by square of sites.

    As :func:`add_all_frames` would find it in one block that holds all frames, to the last bit.
    """
    n_sites, n_dimensions, _ = xyz.shape
    room = _make_room(xyz, square)
    firsts = np.empty((n_dimensions, square), xyz.dtype)
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        _first_places(xyz, corner, stop, firsts)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            count = max(stop - begin, 0)
            _fill_row(xyz, n_frames, site, begin, count, firsts, corner, p, pairs, sigma, room)
            p += count


@compiled(error_model="numpy")
def fill_band_below(xyz, n_frames, first, square, gaps, pairs, sigma):
    """The same of those pairs alone whose σ is below the highest gap between them; count these.

    ``gaps`` are those between neighbours; ``pairs`` has room for all pairs of the band.
    """
    n_sites, n_dimensions, _ = xyz.shape
    room = _make_room(xyz, square)
    firsts = np.empty((n_dimensions, square), xyz.dtype)
    highest = np.zeros(square)  # gap from each site of the band on
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        _first_places(xyz, corner, stop, firsts)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            count = max(stop - begin, 0)
            _fill_row(xyz, n_frames, site, begin, count, firsts, corner, p, pairs, sigma, room)
            top, kept = highest[site - first], p
            for k in range(count):
                top = max(top, gaps[begin + k - 1])
                pairs[kept, 1], sigma[kept] = begin + k, sigma[p + k]
                kept += sigma[kept] < top  # written in any case, which is faster than to guess
            highest[site - first], p = top, kept
    return p
