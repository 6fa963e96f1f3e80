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
_PLAIN = 0xFFFFFF  # a range of coordinates beyond which each axis has bits of its own
# Values that a difference of each size has: the third root of a power of 2, but for three of them.
_VALUES = np.floor(2.0 ** (np.arange(LAST + 1) / 3) + 1e-6).astype(np.uint64)
_VALUES[[37, 57, 69]] = 5060, 524287, 8388607
_ONE = np.uint64(1)
_BYTE, _WORD = np.uint64(8), np.uint64(64)


@compiled
def _bits_of_size(size):
    bits = 0
    while size > 0 and bits < 32:
        bits += 1
        size >>= 1
    return bits


@compiled
def _bits_of_sizes(sizes):
    """Return how many bits the product of three sizes takes, which may not fit into an integer."""
    digits = np.zeros(16, np.int64)
    digits[0] = 1
    used = 1
    for size in sizes:
        carry = np.int64(0)
        for k in range(used):
            carry += digits[k] * size
            digits[k] = carry & 0xFF
            carry >>= 8
        while carry > 0:
            digits[used] = carry & 0xFF
            used += 1
            carry >>= 8
    bits = 0
    number = 1
    while digits[used - 1] >= number:
        bits += 1
        number *= 2
    return bits + (used - 1) * 8


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
def unpack_frame(words, n_bits, least, sizes, small, scales, places):
    """Put the coordinates of a frame into ``places``; return the bits they took, -1 if damaged.

    ``words`` hold the bits, the first as the highest of the first word, and two words of zeros.
    ``least`` is the lowest coordinate on each axis, ``sizes`` how many values there are, ``small``
    the bits of three small differences at the beginning; coordinates are multiplied by the two
    ``scales``, one after the other. Also returns the lowest and highest coordinates found.
    """
    lowest, highest = np.full(3, 2**40), np.full(3, -(2**40))
    wide = False
    large = 0
    for axis in range(3):
        if sizes[axis] < 1:
            return -1, lowest, highest
        wide |= sizes[axis] > _PLAIN
        large += _bits_of_size(sizes[axis])
    if not wide:
        large = _bits_of_sizes(sizes)
    if small < FIRST or small > LAST:
        return -1, lowest, highest
    bits_x, bits_y = _bits_of_size(sizes[0]), _bits_of_size(sizes[1])
    bits_z = _bits_of_size(sizes[2])
    size_y, size_z = np.uint64(sizes[1]), np.uint64(sizes[2])
    n_atoms = len(places)
    end, place = np.uint64(n_bits), np.uint64(0)
    atom = run = 0
    while atom < n_atoms:
        if place + np.uint64(large + 1) > end:
            return -1, lowest, highest
        if wide:
            a = _take_one(words, place, bits_x)
            b = _take_one(words, place + np.uint64(bits_x), bits_y)
            c = _take_one(words, place + np.uint64(bits_x + bits_y), bits_z)
        else:
            a, b, c = _take_three(words, place, large, size_y, size_z)
        x, y, z = np.int64(a) + least[0], np.int64(b) + least[1], np.int64(c) + least[2]
        place += np.uint64(large)
        mark = _take_one(words, place, 6)
        place += _ONE
        change = 0
        if mark & np.uint64(32):
            place += np.uint64(5)
            run = np.int64(mark & np.uint64(31))
            change = run % 3 - 1
            run = run // 3
        if atom + 1 + run > n_atoms or place + np.uint64(run * small) > end:
            return -1, lowest, highest
        mine = atom + 1 if run > 0 else atom  # the first difference comes before it
        x0, y0, z0 = x, y, z
        size = _VALUES[small]
        half = np.int64(size // np.uint64(2))
        for k in range(run):
            a, b, c = _take_three(words, place, small, size, size)
            place += np.uint64(small)
            x += np.int64(a) - half
            y += np.int64(b) - half
            z += np.int64(c) - half
            there = atom if k == 0 else atom + 1 + k
            _put(places, there, x, y, z, scales)
            _widen(lowest, highest, x, y, z)
        _put(places, mine, x0, y0, z0, scales)
        _widen(lowest, highest, x0, y0, z0)
        atom += 1 + run
        small += change
        if small < FIRST or small > LAST:
            return -1, lowest, highest
    return np.int64(place), lowest, highest


@compiled
def _put(places, atom, x, y, z, scales):
    places[atom, 0] = np.float32(x) * scales[0] * scales[1]
    places[atom, 1] = np.float32(y) * scales[0] * scales[1]
    places[atom, 2] = np.float32(z) * scales[0] * scales[1]


@compiled
def _widen(lowest, highest, x, y, z):
    lowest[0], highest[0] = min(lowest[0], x), max(highest[0], x)
    lowest[1], highest[1] = min(lowest[1], y), max(highest[1], y)
    lowest[2], highest[2] = min(lowest[2], z), max(highest[2], z)
