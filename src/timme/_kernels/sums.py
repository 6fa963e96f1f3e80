"""Sums over the frames of pairs in open space, and whether they tell enough digits.

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
from timme._kernels.lanes import keep, lanes_of, load, spread, store_first, store_sums

FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
_STEPS = 17.0  # roundings of a deviation, see item 4


@compiled(forceinline=True)
def _vectors(flat, width, a, b, frame, count):
    """Vectors between two sites in some frames, as far as there are so many."""
    return (
        load(flat, a + frame, count) - load(flat, b + frame, count),
        load(flat, a + width + frame, count) - load(flat, b + width + frame, count),
        load(flat, a + 2 * width + frame, count) - load(flat, b + 2 * width + frame, count),
    )


@compiled(forceinline=True)
def _distances(flat, width, a, b, frame, count):
    """Lengths of these."""
    x, y, z = _vectors(flat, width, a, b, frame, count)
    return np.sqrt(x * x + y * y + z * z)


@compiled(forceinline=True)
def _add_four(flat, width, a, b, frame, count, shifts, first, second):
    """Add some frames of four pairs to sums of distances, less the first, and of their squares."""
    one = keep(_distances(flat, width, a[0], b[0], frame, count) - shifts[0], count)
    two = keep(_distances(flat, width, a[1], b[1], frame, count) - shifts[1], count)
    three = keep(_distances(flat, width, a[2], b[2], frame, count) - shifts[2], count)
    four = keep(_distances(flat, width, a[3], b[3], frame, count) - shifts[3], count)
    return (
        (first[0] + one, first[1] + two, first[2] + three, first[3] + four),
        (
            second[0] + one * one,
            second[1] + two * two,
            second[2] + three * three,
            second[3] + four * four,
        ),
    )


@compiled(forceinline=True)
def sum_four(flat, width, a, b, raw, size, k):
    """Sum the distances of four pairs in 3-D, less the first, and their squares.

    Four at a time, so that square roots need not wait, and eight sums are added up at once.
    ``flat`` holds coordinates (sites, 3, width), and ``a`` and ``b`` are where those of the sites
    begin. From ``k`` on, ``raw`` (3, size), flat as well, gets first distances and both sums.
    """
    lanes = lanes_of(flat)
    count = min(lanes, width)
    one = _distances(flat, width, a[0], b[0], 0, count)
    two = _distances(flat, width, a[1], b[1], 0, count)
    three = _distances(flat, width, a[2], b[2], 0, count)
    four = _distances(flat, width, a[3], b[3], 0, count)
    store_first(raw, k, (one, two, three, four))
    shifts = spread(one), spread(two), spread(three), spread(four)
    one, two = keep(one - shifts[0], count), keep(two - shifts[1], count)
    three, four = keep(three - shifts[2], count), keep(four - shifts[3], count)
    first = one, two, three, four
    second = one * one, two * two, three * three, four * four
    rest = width % lanes
    for frame in range(lanes, width - rest, lanes):
        first, second = _add_four(flat, width, a, b, frame, lanes, shifts, first, second)
    if rest > 0 and width > lanes:
        frame = width - rest
        first, second = _add_four(flat, width, a, b, frame, rest, shifts, first, second)
    store_sums(raw, (size + k, 2 * size + k), first, second)


@compiled(forceinline=True)
def _longer_by(flat, width, a, b, frame, count, own):
    """How much longer than at first the vector of two sites is; and the square of how far from it.

    Each step of item 4 of the argument above.
    """
    own_x, own_y, own_z, square, length, half = own
    x, y, z = _vectors(flat, width, a, b, frame, count)
    dx, dy, dz = x - own_x, y - own_y, z - own_z
    more = dx * (x + own_x) + dy * (y + own_y) + dz * (z + own_z)
    about = np.sqrt(square + more) - length
    return keep((more - about * about) * half, count), keep(dx * dx + dy * dy + dz * dz, count)


@compiled(forceinline=True)
def sum_when_still(flat, width, a, b, raw):
    """Sum how much longer than at first a distance is, and the squares, to more digits.

    ``flat``, ``a`` and ``b`` are as for `sum_four`. Of the eight numbers that ``raw`` has room for,
    those from 0 to 3 become the first distance, both sums, and that of the squares of how far the
    vector between the two sites is from the first of them.
    """
    lanes = lanes_of(flat)
    count = min(lanes, width)
    x, y, z = _vectors(flat, width, a, b, 0, count)
    own_x, own_y, own_z = spread(x), spread(y), spread(z)
    square = own_x * own_x + own_y * own_y + own_z * own_z
    length = np.sqrt(square)
    own = own_x, own_y, own_z, square, length, length / (square + square)
    first, moved = _longer_by(flat, width, a, b, 0, count, own)
    second = first * first
    rest = width % lanes
    for frame in range(lanes, width - rest, lanes):
        longer, apart = _longer_by(flat, width, a, b, frame, lanes, own)
        first, second, moved = first + longer, second + longer * longer, moved + apart
    if rest > 0 and width > lanes:
        longer, apart = _longer_by(flat, width, a, b, width - rest, rest, own)
        first, second, moved = first + longer, second + longer * longer, moved + apart
    sums = first, first, second, moved
    store_sums(raw, (0, 4), sums, sums)
    store_first(raw, 0, (length,))


@compiled(fastmath=FAST)
def _distance_in_double(xyz, a, b, frame):
    """Distance of two sites in one frame in 3-D, in double precision."""
    x = np.float64(xyz[a, 0, frame]) - np.float64(xyz[b, 0, frame])
    y = np.float64(xyz[a, 1, frame]) - np.float64(xyz[b, 1, frame])
    z = np.float64(xyz[a, 2, frame]) - np.float64(xyz[b, 2, frame])
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=FAST)
def sum_in_double(xyz, a, b):
    """Sum the distances of a pair in 3-D, less the first, and their squares, in double."""
    shift = _distance_in_double(xyz, a, b, 0)
    first = second = 0.0
    for frame in range(xyz.shape[2]):
        r = _distance_in_double(xyz, a, b, frame) - shift
        first += r
        second += r * r
    return shift, first, second


@compiled(fastmath=FAST)
def sum_in_any_space(xyz, a, b, square):
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


@compiled
def deviations(n_frames, first, second):
    """Sum of squared deviations from the mean, of that about the first distance."""
    return max(second - first * first * (1.0 / n_frames), 0.0)


@compiled
def are_enough(n_dimensions, n_frames, shift, first, second):
    """Whether sums in single precision give σ to 1e-5; never where they are no numbers."""
    left = deviations(n_frames, first, second)
    far = shift * ((4.0 + n_dimensions) / (7.0 * _FARTHEST))
    return (
        (far * far * n_frames < left) & (second < _MOST_SHIFTED * left) & (_LEAST * n_frames < left)
    )


@compiled
def are_enough_when_still(n_frames, shift, first, second, moved):
    """The same of :func:`sum_when_still`."""
    left = deviations(n_frames, first, second)
    errors = shift * np.sqrt(n_frames) + _STEPS * np.sqrt(moved)
    return (
        (errors < 3.5 * _FARTHEST * np.sqrt(left))
        & (second < _MOST_SHIFTED * left)
        & (second < shift * shift * (9.0 / 16.0))
        & (_LEAST * n_frames < left)
    )
