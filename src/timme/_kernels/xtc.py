"""The coordinates of a compressed XTC frame, unpacked where its bits can be true.

Coordinates are whole numbers of steps. Three of them are one number in mixed radices, the sizes of
their ranges, whose bytes come lowest first and whose last byte may have fewer bits. An atom stands
by itself, within the range of all, and is followed by a mark of one bit: whether the number of
atoms changes that are given by small differences from the one before. If so, five more bits tell
how many, and whether small differences grow or shrink by one size after these. Of those given by
differences, the first changes places with the atom before it, which packs water better.

Nothing is read beyond the bytes of a frame, nor written beyond its atoms, whatever the bits say.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

FIRST, LAST = 9, 72  # sizes of small differences that the format knows, as bits of three of them
# Values that a difference of each size has: the third root of a power of 2, but for three of them.
_VALUES = np.floor(2.0 ** (np.arange(LAST + 1) / 3) + 1e-6).astype(np.uint64)
_VALUES[[37, 57, 69]] = 5060, 524287, 8388607
_ONE = np.uint64(1)
_BYTE, _WORD = np.uint64(8), np.uint64(64)


@compiled
def _look(words, place):
    """The 64 bits from a place on, the first of them as the highest."""
    word, shift = place >> np.uint64(6), place & np.uint64(63)
    rest = (words[word + _ONE] >> _ONE) >> (np.uint64(63) - shift)
    return (words[word] << shift) | rest


@compiled
def _turn_bytes(number):
    """The same with its bytes in the other order."""
    low, high = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
    number = ((number >> _BYTE) & low) | ((number & low) << _BYTE)
    number = ((number >> np.uint64(16)) & high) | ((number & high) << np.uint64(16))
    return (number >> np.uint64(32)) | (number << np.uint64(32))


@compiled
def _take_one(words, place, bits):
    """Read a number of at most 32 bits, highest bit first."""
    return _look(words, place) >> (_WORD - np.uint64(bits))


@compiled
def _take_three(words, place, bits, second, third):
    """Read three numbers packed into one of so many bits, the last two below the given sizes."""
    there = _look(words, place)
    whole = np.uint64((bits - 1) // 8 * 8)  # bits of those bytes that have eight
    left = np.uint64(bits) - whole
    if bits <= 64:
        last = (there >> (_WORD - np.uint64(bits))) & ((_ONE << left) - _ONE)
        packed = (_turn_bytes(there) & ((_ONE << whole) - _ONE)) | (last << whole)
        rest = packed // third
        top = rest // second
        return top, rest - top * second, packed - rest * third
    packed = _turn_bytes(there)
    last = _look(words, place + _WORD) >> (_WORD - left)
    middle, low, in_third = _divide(last, packed, third)
    _, top, in_second = _divide(middle, low, second)
    return top, in_second, in_third


@compiled
def _divide(high, low, size):
    """Divide a number of two words by at most 24 bits: the two words of it, and what is left."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    first = high // size
    now = ((high - first * size) << half) | (low >> half)
    second = now // size
    now = ((now - second * size) << half) | (low & mask)
    third = now // size
    return first, (second << half) | third, now - third * size


@compiled
def _take_atom(words, place, bits, second, third):
    """Read an atom that stands by itself, in one number or, with bits for each axis, in three."""
    if bits[0] > 0:
        return _take_three(words, place, bits[0], second, third)
    at_y = place + np.uint64(bits[1])
    at_z = at_y + np.uint64(bits[2])
    x, y = _take_one(words, place, bits[1]), _take_one(words, at_y, bits[2])
    return x, y, _take_one(words, at_z, bits[3])


@compiled
def unpack_frame(words, n_bits, least, sizes, bits, small, scales, places):
    """Put the coordinates of a frame into ``places``; return the bits they took, -1 if damaged.

    ``words`` hold the bits, the first as the highest of the first word, and two words of zeros.
    ``least`` is the lowest coordinate on each axis, ``sizes`` how many values there are, ``bits``
    those of an atom that stands by itself, together (0 if by axis) and by axis, ``small`` the bits
    of three small differences at the beginning; coordinates are multiplied by the two ``scales``,
    one after the other. Also returns the lowest and highest coordinates found.
    """
    lowest, highest = np.full(3, 2**40), np.full(3, -(2**40))
    here, before = np.empty(3, np.int64), np.empty(3, np.int64)
    size_y, size_z = np.uint64(sizes[1]), np.uint64(sizes[2])
    large = bits[0] if bits[0] > 0 else bits[1] + bits[2] + bits[3]
    end, place, atom, run = np.uint64(n_bits), np.uint64(0), 0, 0
    while atom < len(places):
        if small < FIRST or small > LAST or place + np.uint64(large + 1) > end:
            return -1, lowest, highest
        _step(here, least, _take_atom(words, place, bits, size_y, size_z), 0)
        place += np.uint64(large)
        mark = _take_one(words, place, 6)
        place += _ONE
        change = 0
        if mark & np.uint64(32):
            place += np.uint64(5)
            changes = np.int64(mark & np.uint64(31))
            run, change = changes // 3, changes % 3 - 1
        if atom + 1 + run > len(places) or place + np.uint64(run * small) > end:
            return -1, lowest, highest
        size = _VALUES[small]
        _put(places, atom + (run > 0), here, scales, lowest, highest)
        for k in range(run):  # the first difference comes before the atom
            for d in range(3):
                before[d] = here[d]
            steps = _take_three(words, place, small, size, size)
            _step(here, before, steps, np.int64(size // np.uint64(2)))
            place += np.uint64(small)
            _put(places, atom if k == 0 else atom + 1 + k, here, scales, lowest, highest)
        atom += 1 + run
        small += change
    return np.int64(place), lowest, highest


@compiled
def _step(here, start, steps, half):
    """Fill in the whole numbers that lie some steps, less a half range, from a start."""
    here[0] = start[0] + np.int64(steps[0]) - half
    here[1] = start[1] + np.int64(steps[1]) - half
    here[2] = start[2] + np.int64(steps[2]) - half


@compiled
def _put(places, atom, here, scales, lowest, highest):
    for d in range(3):
        places[atom, d] = np.float32(here[d]) * scales[0] * scales[1]
        lowest[d], highest[d] = min(lowest[d], here[d]), max(highest[d], here[d])
