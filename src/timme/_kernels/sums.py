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

FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units
_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0, 16.0, 1e-30  # see the argument above
_STEPS = 17.0  # roundings of a deviation, see item 4


@compiled(fastmath=FAST)
def distance_in_space(xyz, a, b, frame, kind):
    """Distance of two sites in one frame of open space in 3-D, in some precision."""
    x = kind(xyz[a, 0, frame]) - kind(xyz[b, 0, frame])
    y = kind(xyz[a, 1, frame]) - kind(xyz[b, 1, frame])
    z = kind(xyz[a, 2, frame]) - kind(xyz[b, 2, frame])
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=FAST)
def sum_three(xyz, site, others, raw, k):
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
        r = distance_in_space(xyz, site, one, frame, kind) - shift_one
        low_one += r
        high_one += r * r
        r = distance_in_space(xyz, site, two, frame, kind) - shift_two
        low_two += r
        high_two += r * r
        r = distance_in_space(xyz, site, three, frame, kind) - shift_three
        low_three += r
        high_three += r * r
    raw[1, k], raw[1, k + 1], raw[1, k + 2] = low_one, low_two, low_three
    raw[2, k], raw[2, k + 1], raw[2, k + 2] = high_one, high_two, high_three


@compiled(fastmath=FAST)
def _first_vector(xyz, a, b):
    """Vector between two sites in the first frame, its square, length, and half over its length."""
    x = xyz[a, 0, 0] - xyz[b, 0, 0]
    y = xyz[a, 1, 0] - xyz[b, 1, 0]
    z = xyz[a, 2, 0] - xyz[b, 2, 0]
    square = x * x + y * y + z * z
    length = np.sqrt(square)
    return x, y, z, square, length, xyz.dtype.type(0.5) / length


@compiled(fastmath={"contract", "nsz"})
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


@compiled(fastmath=FAST)
def sum_three_when_still(xyz, site, one, two, three):
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


@compiled(fastmath=FAST)
def sum_in_double(xyz, a, b):
    """Sum the distances of a pair in 3-D, less the first, and their squares, in double."""
    shift = distance_in_space(xyz, a, b, 0, np.float64)
    first = second = 0.0
    for frame in range(xyz.shape[2]):
        r = distance_in_space(xyz, a, b, frame, np.float64) - shift
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
    """The same of :func:`sum_three_when_still`."""
    left = deviations(n_frames, first, second)
    errors = shift * np.sqrt(n_frames) + _STEPS * np.sqrt(moved)
    return (
        (errors < 3.5 * _FARTHEST * np.sqrt(left))
        & (second < _MOST_SHIFTED * left)
        & (second < shift * shift * (9.0 / 16.0))
        & (_LEAST * n_frames < left)
    )
