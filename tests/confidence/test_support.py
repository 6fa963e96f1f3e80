"""Clusters are found again by their overlap, and cutoffs lie between bounds."""

from __future__ import annotations

import numpy as np
import pytest

from timme.confidence.support import interval, intervals, match
from timme.hierarchy.tree import grow


def test_bounds_lie_about_the_estimate_with_the_bias_of_draws_taken_off() -> None:
    """Draws are too high by 0.2 on average, so that the estimate itself is by as much."""
    found = interval(1.0, np.exp([0.1, 0.2, 0.3]))
    assert found == pytest.approx((np.exp(-0.2 - 0.1645), np.exp(-0.2 + 0.1645)))


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
