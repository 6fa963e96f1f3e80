"""Vectors do what the functions without compilation say, whatever is left over."""

from typing import Any

import numpy as np
import pytest

from timme._arrays import Floats
from timme._kernels import compiled, lanes

KINDS = [np.float32, np.float64]


@compiled
def combine(numbers: Any, at: Any, count: Any, out: Any) -> None:
    """Go through all that vectors can do; what is added or taken off is a whole number."""
    flat, into = lanes.numbers_of(numbers), lanes.numbers_of(out)
    own = lanes.load(flat, at, count)
    every = lanes.load(flat, 0, lanes.lanes_of(flat))
    first = lanes.spread(every)
    rest = lanes.keep(every - first, count)
    ones = own, every, first, rest
    others = own * every, rest + own, every / first, np.sqrt(every * every)
    lanes.store_sums(into, (0, 4), ones, others)
    lanes.store_first(into, 8, (every, rest))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 3, 8])
def test_vectors_are_what_arrays_would_be(kind: Any, count: int) -> None:
    numbers = np.arange(1, 41, dtype=kind)
    out = np.zeros(10, kind)
    combine(numbers, 5, count, out)
    n_lanes = 64 // numbers.itemsize
    own, every = np.zeros(n_lanes), np.arange(1.0, n_lanes + 1)
    own[:count] = np.arange(6, 6 + count)
    rest = np.where(np.arange(n_lanes) < count, every - 1, 0.0)
    sums = [own, every, np.ones(n_lanes), rest, own * every, rest + own, every, every]
    assert out.tolist() == [*(float(each.sum()) for each in sums), 1.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_added_up_half_by_half(kind: Any) -> None:
    """In any other order, bits of sums of so different numbers would be others."""
    n_lanes = 64 // np.dtype(kind).itemsize
    numbers = (10.0 ** np.random.default_rng(0).uniform(-6, 6, n_lanes)).astype(kind)
    out = np.zeros(10, kind)
    combine(numbers, 0, n_lanes, out)
    assert out[1] == added_by_halves(numbers)


def added_by_halves(numbers: Floats) -> float:
    """Add the upper half to the lower one, until there is one number."""
    half = len(numbers) // 2
    return float(numbers[0]) if not half else added_by_halves(numbers[:half] + numbers[half:])


def test_nothing_is_read_beyond_what_is_wanted() -> None:
    """Not a number would show in every sum."""
    numbers = np.full(40, np.nan, np.float32)
    numbers[:16], numbers[20:22] = 1.0, 2.0
    out = np.zeros(10, np.float32)
    combine(numbers, 20, 2, out)
    assert out.tolist() == [4.0, 16.0, 16.0, 0.0, 4.0, 4.0, 16.0, 16.0, 1.0, 0.0]


@compiled
def fill(array: Any, value: Any) -> None:
    lent = lanes.borrow(array)
    for row in range(lent.shape[0]):
        for column in range(lent.shape[1]):
            lent[row, column] = value


def test_what_is_lent_is_the_array_itself() -> None:
    array = np.zeros((3, 2))
    fill(array, 2.0)
    assert array.tolist() == [[2.0, 2.0]] * 3
