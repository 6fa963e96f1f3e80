"""References of the pairs of sites that make up pairs of objects, and of their reduction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from timme_next import objects
from timme_next._kernels.site_motion import fit_sites
from timme_next.ensemble import Ensemble
from timme_next.site_pairs import SitePairs

# Objects {0, 1} and {1, 2} have the cross pairs (0, 1), (0, 2), (1, 1) and (1, 2).
SHARING = objects.groups(Ensemble.from_array(np.zeros((2, 3, 1))), [[0, 1], [1, 2]])
PAIR = SitePairs.of(SHARING, np.array([[0, 1]]))


def test_a_shared_site_counts_zero() -> None:
    assert PAIR.site_pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    values = np.array([1.0, 2.0, 5.0])
    assert PAIR.reduce(values).tolist() == [2.0]
    assert PAIR.reduce(values, largest=True).tolist() == [5.0]


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_unknown_cross_pair_makes_the_result_unknown(place: int, *, largest: bool) -> None:
    values = np.array([1.0, 2.0, 5.0])
    values[place] = math.nan
    assert np.isnan(PAIR.reduce(values, largest=largest)).all()


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 3))
def test_reduction_is_over_all_cross_pairs_each_measured_once(
    seed: int, largest: bool, n_columns: int
) -> None:
    rng = np.random.default_rng(seed)
    n_sites, n_objects = int(rng.integers(2, 60)), int(rng.integers(2, 90))
    sets = [rng.permutation(n_sites)[: rng.integers(1, 5)] for _ in range(n_objects)]
    made = objects.groups(Ensemble.from_array(np.zeros((2, n_sites, 1))), sets)
    chosen = [pair for pair in itertools.combinations(range(n_objects), 2) if rng.random() < 0.3]
    index = rng.permutation(np.array(chosen or [(0, 1)]))
    found = SitePairs.of(made, index)
    crossing = sorted(
        {
            (int(min(i, j)), int(max(i, j)))
            for a, b in index
            for i, j in itertools.product(sets[a], sets[b])
            if i != j
        }
    )
    assert list(map(tuple, found.site_pairs.tolist())) == crossing
    values = rng.random((len(crossing), n_columns))
    value = dict(zip(crossing, values, strict=True))
    none = np.zeros(n_columns)
    reduced = found.reduce(values, largest=largest, threads=2)
    for (a, b), row in zip(index, reduced, strict=True):
        rows = [
            none if i == j else value[int(min(i, j)), int(max(i, j))]
            for i, j in itertools.product(sets[a], sets[b])
        ]
        expected = np.max(rows, axis=0) if largest else sum(rows, none) / len(rows)
        assert row.tolist() == expected.tolist()  # added up in the same order


def test_motion_of_sites_is_the_least_squares_fit_of_sums_of_two() -> None:
    rng = np.random.default_rng(2)
    pairs = np.array([*itertools.combinations(range(7), 2)])[rng.permutation(21)[:16]]
    squares = rng.random((3, 16))
    design = np.zeros((16, 8))  # site 7 has no pair
    design[np.arange(16)[:, None], pairs] = 1.0
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[order, 0], np.arange(9))
    found = fit_sites(begins, ends[order, 1], order % 16, squares, np.zeros(8), 10_000)
    for fitted, wanted in zip(found, squares, strict=True):
        expected, _ = nnls(design, wanted)
        assert fitted == pytest.approx(expected, abs=1e-6)
