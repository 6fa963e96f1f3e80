"""Moments of pairs in open space, all frames seen and of weight 1: where most time is spent.

Pairs are summed in runs, four at a time, in the precision of their coordinates; those of a run that
need more digits (`sums` tells which, and why) are summed once more.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.lanes import borrow, numbers_of
from timme._kernels.sums import (
    are_enough,
    are_enough_when_still,
    deviations,
    sum_four,
    sum_in_any_space,
    sum_in_double,
    sum_when_still,
)

_SINGLE = 4  # bytes of a number in single precision
_SPACE = 3  # dimensions in which loops know how many there are
_RUN = 96  # pairs whose sums are kept until those of all are known


@compiled(forceinline=True)
def _sum_list(xyz, pairs, begin, stop, raw):
    """Fill in first distances and sums of a run of pairs in 3-D, four at a time.

    The last stands for others that are none: it goes through the same loop, to the same bits, and
    what is made of it has no meaning. Where four share a site, its coordinates are read once.
    """
    flat, sums, size = numbers_of(xyz), numbers_of(raw), raw.shape[1]
    width, last = xyz.shape[2], stop - 1
    step = 3 * width
    for one in range(begin, stop, 4):
        two, three, four = min(one + 1, last), min(one + 2, last), min(one + 3, last)
        a, b, c, d = pairs[one, 0], pairs[two, 0], pairs[three, 0], pairs[four, 0]
        e, f, g, h = pairs[one, 1], pairs[two, 1], pairs[three, 1], pairs[four, 1]
        others = e * step, f * step, g * step, h * step
        if a == b and b == c and c == d:
            site = a * step
            sum_four(flat, width, (site, site, site, site), others, sums, size, one - begin)
        else:
            sites = a * step, b * step, c * step, d * step
            sum_four(flat, width, sites, others, sums, size, one - begin)


@compiled(forceinline=True)
def _sum_row(xyz, site, begin, stop, raw):
    """The same of a site and consecutive others."""
    flat, sums, size = numbers_of(xyz), numbers_of(raw), raw.shape[1]
    width = xyz.shape[2]
    step = 3 * width
    own, last = site * step, stop - 1
    sites = own, own, own, own
    for one in range(begin, stop, 4):
        two, three, four = min(one + 1, last), min(one + 2, last), min(one + 3, last)
        others = one * step, two * step, three * step, four * step
        sum_four(flat, width, sites, others, sums, size, one - begin)


@compiled(forceinline=True)
def _settle(xyz, n_frames, pairs, begin, stop, room):
    """Give means and deviations of a run of pairs; single precision is refined where in doubt.

    What is in doubt is known of all before one is refined: tests are vectors then.
    """
    _, _, raw, found, doubted = room
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


@compiled(forceinline=True)
def _refine(xyz, n_frames, pairs, begin, stop, room):
    """Sum pairs once more that were in doubt."""
    _, exact, raw, found, doubted = room
    for k in range(stop - begin):
        if not doubted[k]:
            continue
        a, b = pairs[begin + k, 0], pairs[begin + k, 1]
        if xyz.shape[1] != _SPACE:
            _keep(n_frames, sum_in_any_space(xyz, a, b, exact), found, k)
        else:
            _refine_in_space(xyz, n_frames, a, b, raw, found, k)


@compiled(forceinline=True)
def _refine_in_space(xyz, n_frames, a, b, raw, found, k):
    """Sum a pair as one that hardly moves, or in double if that is not enough."""
    width = xyz.shape[2]
    step = 3 * width
    sum_when_still(numbers_of(xyz), width, a * step, b * step, numbers_of(raw))
    shift, first = np.float64(raw[0, 0]), np.float64(raw[0, 1])
    second, moved = np.float64(raw[0, 2]), np.float64(raw[0, 3])
    if are_enough_when_still(n_frames, shift, first, second, moved):
        _keep(n_frames, (shift, first, second), found, k)
    else:
        _keep(n_frames, sum_in_double(xyz, a, b), found, k)


@compiled(forceinline=True)
def _keep(n_frames, sums, found, k):
    """Put the mean and the deviations of a pair in its place."""
    shift, first, second = sums
    found[0, k] = shift + first * (1.0 / n_frames)
    found[1, k] = deviations(n_frames, first, second)


@compiled(forceinline=True)
def _sum_run(xyz, n_frames, pairs, begin, stop, room):
    """Sum a run of pairs."""
    scratch, _, raw, _, _ = room
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
    each pair.
    """
    n_frames = xyz.shape[2]
    return (
        np.empty(n_frames, xyz.dtype),
        np.empty(n_frames),
        np.zeros((3, size + 3), xyz.dtype),
        np.zeros((2, size)),
        np.zeros(size, np.bool_),
    )


@compiled(forceinline=True)
def _borrow_room(room):
    scratch, exact, raw, found, doubted = room
    return borrow(scratch), borrow(exact), borrow(raw), borrow(found), borrow(doubted)


@compiled
def add_all_frames(xyz, n_frames, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors. Frames beyond ``n_frames`` are copies of the first, which fill up the
    last vector: nothing is added by them. Single precision stays single within the block where that
    is enough.
    """
    _add_runs(xyz, n_frames, pairs, weight, mean, m2, _make_room(xyz, _RUN))
    for p in range(len(pairs)):
        count[p] += n_frames


@compiled
def _add_runs(xyz, n_frames, pairs, weight, mean, m2, room):
    """Merge one run of pairs after another."""
    xyz, pairs, room = borrow(xyz), borrow(pairs), _borrow_room(room)
    weight, mean, m2 = borrow(weight), borrow(mean), borrow(m2)
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        _merge_run(float(n_frames), room[3], begin, stop, weight, mean, m2)
        for p in range(begin, stop):
            weight[p] += n_frames


@compiled(forceinline=True)
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
    _fill_runs(xyz, n_frames, pairs, sigma, _make_room(xyz, _RUN))


@compiled
def _fill_runs(xyz, n_frames, pairs, sigma, room):
    """Fill in one run of pairs after another."""
    xyz, pairs, sigma, room = borrow(xyz), borrow(pairs), borrow(sigma), _borrow_room(room)
    for begin in range(0, len(pairs), _RUN):
        stop = min(begin + _RUN, len(pairs))
        _sum_run(xyz, n_frames, pairs, begin, stop, room)
        for p in range(begin, stop):
            sigma[p] = np.sqrt(room[3][1, p - begin] / n_frames)


@compiled(forceinline=True)
def _fill_row(xyz, n_frames, site, begin, count, p, pairs, sigma, room):
    """Fill in pairs of a site and consecutive others, and their σ, from the pth pair on."""
    for k in range(count):
        pairs[p + k, 0], pairs[p + k, 1] = site, begin + k
    if xyz.shape[1] == _SPACE:
        _sum_row(xyz, site, begin, begin + count, room[2])
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
    _fill_squares(xyz, n_frames, first, square, pairs, sigma, _make_room(xyz, square))


@compiled
def _fill_squares(xyz, n_frames, first, square, pairs, sigma, room):
    """Fill in one square after another."""
    xyz, pairs, sigma, room = borrow(xyz), borrow(pairs), borrow(sigma), _borrow_room(room)
    n_sites, p = len(xyz), 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        for site in range(first, min(first + square, n_sites)):
            begin = max(corner, site + 1)
            count = max(stop - begin, 0)
            _fill_row(xyz, n_frames, site, begin, count, p, pairs, sigma, room)
            p += count


@compiled
def fill_band_below(xyz, n_frames, first, square, gaps, pairs, sigma):
    """The same of those pairs alone whose σ is below the highest gap between them; count these.

    ``gaps`` are those between neighbours; ``pairs`` has room for all pairs of the band.
    """
    highest = np.zeros(square)  # gap from each site of the band on
    room = _make_room(xyz, square)
    return _fill_below(xyz, n_frames, first, square, gaps, highest, pairs, sigma, room)


@compiled
def _fill_below(xyz, n_frames, first, square, gaps, highest, pairs, sigma, room):
    """Fill in one square after another, and keep what is low."""
    xyz, pairs, sigma, room = borrow(xyz), borrow(pairs), borrow(sigma), _borrow_room(room)
    gaps, highest = borrow(gaps), borrow(highest)
    n_sites, p = len(xyz), 0
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
