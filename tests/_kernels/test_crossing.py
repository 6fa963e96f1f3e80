"""Pairs of objects and the pairs of their sites; these run without compilation as well."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import seeds
from timme._kernels import crossing as kernel


def reduced(variance: list[float], *, largest: bool) -> float:
    """Objects {0, 1} and {1, 2}: cross pairs (0, 1), (0, 2), (1, 1), (1, 2)."""
    values = kernel.reduce_pairs(
        np.array([[0, 1]]),
        np.array([0, 2, 4]),
        np.array([0, 1, 1, 2]),
        np.array([0, 2, 3, 3]),
        np.array([[0, 1], [0, 2], [1, 2]]),
        np.array(variance),
        largest,
    )
    return float(values[0])


def test_a_shared_site_counts_zero_in_the_mean() -> None:
    assert reduced([1.0, 2.0, 5.0], largest=False) == 2.0
    assert reduced([1.0, 2.0, 5.0], largest=True) == 5.0


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_undefined_cross_pair_makes_the_whole_undefined(place: int, largest: bool) -> None:
    variance = [1.0, 2.0, 5.0]
    variance[place] = math.nan
    assert math.isnan(reduced(variance, largest=largest))


@given(seeds, st.booleans())
def test_cross_pairs_and_their_reduction_are_those_of_all_members(seed: int, largest: bool) -> None:
    """Also where few pairs of an object follow one another, and are looked up one by one."""
    rng = np.random.default_rng(seed)
    n_sites, n_objects = int(rng.integers(2, 60)), int(rng.integers(2, 12))
    sets = [rng.permutation(n_sites)[: rng.integers(1, 5)] for _ in range(n_objects)]
    chosen = [pair for pair in combinations(range(n_objects), 2) if rng.random() < 0.5] or [(0, 1)]
    pairs = rng.permutation(np.array(chosen))
    members, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    begins, site_pairs = kernel.cross_pairs(pairs, offsets, members, n_sites)
    crossing = {
        (int(min(i, j)), int(max(i, j)))
        for a, b in pairs
        for i in sets[a]
        for j in sets[b]
        if i != j
    }
    assert list(map(tuple, site_pairs.tolist())) == sorted(crossing)
    assert [int(i) for i in np.repeat(np.arange(n_sites), np.diff(begins))] == [
        i for i, _ in sorted(crossing)
    ]
    value = dict(zip(sorted(crossing), rng.random(len(crossing)).tolist(), strict=True))
    variance = np.array([value[pair] for pair in sorted(crossing)])
    found = kernel.reduce_pairs(pairs, offsets, members, begins, site_pairs, variance, largest)
    for (a, b), reduced_one in zip(pairs, found, strict=True):
        values = [
            0.0 if i == j else value[int(min(i, j)), int(max(i, j))]
            for i in sets[a]
            for j in sets[b]
        ]
        expected = max(values) if largest else sum(values) / len(values)
        assert reduced_one == expected  # added up in the same order
