"""Braced and average linkage are what they say, and single linkage stays the default."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from timme.hierarchy.linkages import brace, grow_by


def drawn_pairs(seed: int, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    index = np.column_stack(np.triu_indices(n, 1))
    index = index[rng.random(len(index)) < share]
    return index, rng.integers(0, 8, len(index)).astype(float)


@given(st.integers(0, 2**31), st.floats(0.5, 1.0), st.integers(1, 4))
def test_braced_pairs_share_enough_partners_within_their_height(
    seed: int, share: float, n_shared: int
) -> None:
    pairs, sigmas = drawn_pairs(seed, 9, share)
    found = brace(9, pairs, sigmas, n_shared=n_shared)
    assert found.tolist() == naive.braced(9, pairs, sigmas, n_shared)


def test_four_partners_are_asked_for() -> None:
    pairs = np.column_stack(np.triu_indices(6, 1))
    ones = np.ones(len(pairs))
    assert grow_by("braced", 6, pairs, ones).heights.tolist() == [1.0]
    # Of five sites, each two share three others.
    few = pairs[(pairs < 5).all(axis=1)]
    assert len(grow_by("braced", 5, few, np.ones(10)).heights) == 0


def test_bracing_cuts_two_bodies_that_one_pair_holds_together() -> None:
    matrix = np.full((16, 16), 9.0)
    matrix[:8, :8] = matrix[8:, 8:] = 1.0
    matrix[7, 8] = matrix[8, 7] = 0.5
    np.fill_diagonal(matrix, 0.0)
    assert timme.link(matrix).cut(1.0).sizes.tolist() == [16]
    assert timme.link(matrix, linkage="braced").cut(1.0).sizes.tolist() == [8, 8]


@given(st.integers(0, 2**31), st.integers(2, 8))
def test_average_linkage_joins_by_the_mean_square_of_all_pairs(seed: int, n: int) -> None:
    half = np.triu(np.random.default_rng(seed).uniform(0.1, 2.0, (n, n)), 1)
    matrix = half + half.T
    tree = timme.link(matrix, linkage="average")
    found = {
        (frozenset(tree.order[start : start + size].tolist()), round(float(height), 9))
        for start, size, height in zip(tree.starts[n:], tree.sizes[n:], tree.heights, strict=True)
    }
    assert found == {(part, round(height, 9)) for part, height in naive.average_merges(matrix)}


def test_average_linkage_needs_all_pairs() -> None:
    with pytest.raises(ValueError, match=r"needs σ of all 6 pairs, got 2: compare all, however"):
        grow_by("average", 4, np.array([[0, 1], [1, 2]]), np.ones(2))
    with pytest.raises(ValueError, match="single, braced or average, got 'ward'"):
        timme.link(np.zeros((2, 2)), linkage="ward")  # type: ignore[arg-type]


def test_single_linkage_is_the_default() -> None:
    pairs, sigmas = drawn_pairs(3, 9, 0.7)
    single = grow_by("single", 9, pairs, sigmas)
    matrix = np.full((9, 9), np.nan)
    matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = sigmas
    assert timme.link(matrix).parents.tolist() == single.parents.tolist()
