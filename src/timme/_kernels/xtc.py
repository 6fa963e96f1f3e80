"""The bits of a compressed XTC frame, counted without unpacking the coordinates."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

FIRST, LAST = 9, 72  # sizes of small differences that the format knows, as bits of three of them
_PLAIN = 0xFFFFFF  # a range of coordinates beyond which each axis has bits of its own


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
def _take_bits(data, place, count):
    """Read up to 8 bits as a number."""
    number = 0
    for k in range(place, place + count):
        number = number * 2 + ((data[k >> 3] >> (7 - (k & 7))) & 1)
    return number


@compiled
def bits_of_frame(data, n_atoms, sizes, small):
    """Return how many bits of the bytes in ``data`` a frame takes, -1 where it cannot be true.

    ``sizes`` are the numbers of values of the coordinates on each axis. An atom takes as many bits
    as all values do; a mark says whether the number of atoms after it changes that are given by
    small differences, of ``small`` bits each, and whether these get larger or smaller.
    """
    total = 8 * len(data)
    if small < FIRST or small > LAST:
        return -1
    wide = False
    large = 0
    for axis in range(3):
        if sizes[axis] < 1:
            return -1
        wide |= sizes[axis] > _PLAIN
        large += _bits_of_size(sizes[axis])
    if not wide:
        large = _bits_of_sizes(sizes)
    place = np.int64(0)
    atom = 0
    run = 0
    while atom < n_atoms:
        place += large
        atom += 1
        if place + 1 > total:
            return -1
        changes = _take_bits(data, place, 1)
        place += 1
        change = 0
        if changes:
            if place + 5 > total:
                return -1
            run = _take_bits(data, place, 5)
            place += 5
            change = run % 3 - 1
            run = run // 3
        place += run * small
        atom += run
        small += change
        if small < FIRST or small > LAST:
            return -1
    if atom > n_atoms or place > total:
        return -1
    return place
