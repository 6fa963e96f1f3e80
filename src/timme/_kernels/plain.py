"""Moments of pairs in open space, all frames seen and of weight 1: where most time is spent.

Pairs are summed in runs, three that share a site at a time, in the precision of their coordinates;
those of a run that need more digits (`sums` tells which, and why) are summed once more together.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.sums import (
    FAST,
    are_enough,
    are_enough_when_still,
    deviations,
    distance_in_space,
    sum_in_any_space,
    sum_in_double,
    sum_three,
    sum_three_when_still,
)

_SINGLE = 4  # bytes of a number in single precision
_SPACE = 3  # dimensions in which loops know how many there are
_RUN = 96  # pairs whose sums are kept until those of all are known


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


@compiled(fastmath=FAST)
def _sum_list(xyz, pairs, begin, stop, raw):
    """Fill in first distances and sums of a run of pairs in 3-D, three at a time if they share one.

    What else a loop gives in the place of three is overwritten by the next.
    """
    kind = xyz.dtype.type
    p = begin
    while p < stop:
        site, others, count = _next_three(pairs, p, stop)
        k = p - begin
        raw[0, k] = distance_in_space(xyz, site, others[0], 0, kind)
        raw[0, k + 1] = distance_in_space(xyz, site, others[1], 0, kind)
        raw[0, k + 2] = distance_in_space(xyz, site, others[2], 0, kind)
        sum_three(xyz, site, others, raw, k)
        p += count


@compiled(fastmath=FAST)
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
        sum_three(xyz, site, others, raw, one - begin)


@compiled
def _settle(xyz, n_frames, pairs, begin, stop, room):
    """Give means and deviations of a run of pairs; single precision is refined where in doubt.

    What is in doubt is known of all before one is refined: tests are vectors then.
    """
    _, _, raw, found, doubted, _ = room
    n_dimensions, inverse, n_doubted = xyz.shape[1], 1.0 / n_frames, 0
    for k in range(stop - begin):
        shift, first, second = np.float64(raw[0, k]), np.float64(raw[1, k]), np.float64(raw[2, k])
        found[0, k] = shift + first * inverse
        found[1, k] = deviations(n_frames, first, second)
        enough = are_enough(n_dimensions, n_frames, shift, first, second)
        doubted[k] = not enough
        n_doubted += not enough
    if n_doubted > 0 and xyz.itemsize <= _SINGLE:
        _refine(xyz, n_frames, pairs, begin, stop, room)


@compiled
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
            sums = sum_in_any_space(xyz, again[p, 0], again[p, 1], exact)
            _keep(n_frames, sums, found, again[p, 2])
            p += 1
            continue
        site, others, n_next = _next_three(again, p, count)
        one, two, three = sum_three_when_still(xyz, site, others[0], others[1], others[2])
        _keep_still(xyz, n_frames, again[p], one, found)
        if n_next > 1:
            _keep_still(xyz, n_frames, again[p + 1], two, found)
        if n_next > 2:
            _keep_still(xyz, n_frames, again[p + 2], three, found)
        p += n_next


@compiled
def _keep_still(xyz, n_frames, pair, sums, found):
    """Keep the sums of a pair that hardly moves, or those in double if they are not enough."""
    shift, first, second = np.float64(sums[0]), np.float64(sums[1]), np.float64(sums[2])
    if are_enough_when_still(n_frames, shift, first, second, np.float64(sums[3])):
        _keep(n_frames, (shift, first, second), found, pair[2])
    else:
        _keep(n_frames, sum_in_double(xyz, pair[0], pair[1]), found, pair[2])


@compiled
def _keep(n_frames, sums, found, k):
    """Put the mean and the deviations of a pair in its place."""
    shift, first, second = sums
    found[0, k] = shift + first * (1.0 / n_frames)
    found[1, k] = deviations(n_frames, first, second)


@compiled
def _sum_run(xyz, n_frames, pairs, begin, stop, room):
    """Sum a run of pairs."""
    scratch, _, raw, _, _, _ = room
    if xyz.shape[1] == _SPACE:
        _sum_list(xyz, pairs, begin, stop, raw)
    else:
        for p in range(begin, stop):
            k = p - begin
            raw[0, k], raw[1, k], raw[2, k] = sum_in_any_space(
                xyz, pairs[p, 0], pairs[p, 1], scratch
            )
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


@compiled
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


@compiled
def _merge_run(n_frames, found, begin, stop, weight, mean, m2):
    """Merge a run of pairs as :func:`timme._kernels.moments.merge_two` would, in vectors.

    Moments without weight are all 0, to which what is added becomes itself.
    """
    for p in range(begin, stop):
        share = n_frames / (weight[p] + n_frames)
        shift = found[0, p - begin] - mean[p]
        mean[p] += shift * share
        m2[p] = m2[p] + found[1, p - begin] + shift * shift * weight[p] * share


@compiled
def fill_list(xyz, n_frames, pairs, sigma):
    """Fill in σ of pairs, as :func:`add_all_frames` finds it in a block that holds all frames."""
    room = _make_room(xyz, _RUN)
    found = room[3]
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        for p in range(begin, stop):
            sigma[p] = np.sqrt(found[1, p - begin] / n_frames)


@compiled
def _first_places(xyz, corner, stop, firsts):
    """Lay out where consecutive sites are in the first frame, one coordinate after the other."""
    for d in range(xyz.shape[1]):
        for other in range(corner, stop):
            firsts[d, other - corner] = xyz[other, d, 0]


@compiled
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


@compiled
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


@compiled
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
