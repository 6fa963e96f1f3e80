"""Clusters are found again by their overlap, and cutoffs lie between bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme.confidence.support import interval, intervals, match
from timme.hierarchy.tree import grow


def test_bounds_lie_about_the_estimate_with_the_bias_of_draws_taken_off() -> None:
    """Draws are too high by 0.2 on average, so that the estimate itself is by as much, or twice."""
    found = interval(1.0, np.exp([0.1, 0.2, 0.3]))
    width = np.sqrt(0.1645**2 + 0.2**2)
    assert found == pytest.approx((np.exp(-0.2 - width), np.exp(-0.2 + width)))


def test_bounds_reach_as_far_as_is_asked() -> None:
    found = interval(2.0, 2.0 * np.exp([-0.1, 0.0, 0.1]), reach=3.0)
    assert found == pytest.approx((2.0 * np.exp(-0.3), 2.0 * np.exp(0.3)))


@pytest.mark.parametrize(
    ("estimate", "resampled"),
    [
        (np.inf, [1.0, 1.1, 1.2]),
        (0.0, [1.0, 1.1, 1.2]),
        (1.0, [1.0, 1.1, np.inf]),
        (1.0, [1.0, 1.1, 1.2, *[np.nan] * 5]),
    ],
    ids=["never joined", "nothing moves", "two draws", "most draws have none"],
)
def test_where_too_little_is_known_there_are_no_bounds(
    estimate: float, resampled: list[float]
) -> None:
    assert interval(estimate, np.array(resampled)) is None


def test_only_draws_that_find_a_cluster_again_count() -> None:
    resampled = np.exp([[0.0], [0.1], [0.2], [9.0]])
    overlaps = np.array([[1.0], [0.5], [0.8], [0.49]])
    (found,) = intervals(np.ones(1), resampled, overlaps)
    assert found == interval(1.0, np.exp([0.0, 0.1, 0.2, np.nan]))


def test_the_best_cluster_of_a_draw_is_that_of_the_largest_overlap() -> None:
    """Sites 0-3 are wanted: {0, 1, 2} shares 3 of 4, the whole 4 of 6."""
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    tree = grow(6, edges, np.array([1.0, 1.0, 5.0, 2.0, 2.0]))
    wanted = np.array([[True] * 4 + [False] * 2])
    found = match(wanted, [tree])
    assert found.overlaps.tolist() == [[0.75]]
    assert found.births.tolist() == [[1.0]]
    assert found.deaths.tolist() == [[5.0]]
    assert found.support.tolist() == [0.75]


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_the_best_overlap_is_that_of_sets_compared_one_by_one(n_sites: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.array([[site, rng.integers(site)] for site in range(1, n_sites)])
    heights = rng.integers(1, 6, len(edges)).astype(np.float64)  # many are equal
    kept = rng.random(len(edges)) < 0.9  # or else several trees
    tree = grow(n_sites, edges[kept], heights[kept])
    masks = rng.random((4, n_sites)) < rng.random((4, 1))
    masks[:, 0] = True  # none is empty
    found = match(masks, [tree])
    births = {frozenset([site]): -np.inf for site in range(n_sites)}
    for cutoff in sorted(set(heights[kept].tolist())):
        for members in naive.clusters(n_sites, edges[kept], heights[kept], cutoff):
            births.setdefault(members, cutoff)
    for mask, overlap, birth in zip(masks, found.overlaps[0], found.births[0], strict=True):
        wanted = set(np.flatnonzero(mask).tolist())
        shares = {members: len(wanted & members) / len(wanted | members) for members in births}
        best = max(shares.values())
        assert overlap == best
        assert birth in {births[members] for members, share in shares.items() if share == best}
