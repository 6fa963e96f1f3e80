"""Reference, golden and parity tests of the curves, and of the cutoffs that they point to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests_next import naive
from tests_next.strategies import PairList, pair_lists
from timme_next.hierarchy import Hierarchy, grow
from timme_next.hierarchy.curves import bandwidth, count_clusters, inflection, suggest


def grown(listed: PairList) -> Hierarchy:
    return grow(listed.n_sites, listed.pairs, listed.sigmas)


def on_a_line(*gaps: float) -> Hierarchy:
    """Sites along a line, joined to the next at these heights."""
    edges = np.column_stack([np.arange(len(gaps)), np.arange(1, len(gaps) + 1)])
    return grow(len(gaps) + 1, edges, np.array(gaps))


@given(pair_lists(), st.integers(1, 6), st.lists(st.floats(-2, 10), max_size=4))
def test_every_curve_counts_the_clusters_of_the_definition(
    listed: PairList, large: int, cutoffs: list[float]
) -> None:
    hierarchy = grown(listed)
    at_levels = count_clusters(hierarchy, large=large)
    assert at_levels.cutoffs.tolist() == [-np.inf, *hierarchy.levels]
    for counted in (at_levels, count_clusters(hierarchy, large=large, cutoffs=cutoffs)):
        for k, cutoff in enumerate(counted.cutoffs):
            labels = naive.labels(listed.n_sites, listed.pairs, listed.sigmas, float(cutoff))
            expected = naive.statistics(labels, large)
            assert counted.n_clusters[k] == expected["n_clusters"]
            assert counted.largest[k] == expected["largest"]
            assert counted.mean_size[k] == pytest.approx(expected["mean_size"], rel=1e-14)
            assert counted.size_fractions[:, k] == pytest.approx(expected["size_fractions"])
            assert counted.large_fraction[k] == pytest.approx(expected["large_fraction"])
            assert counted.largest_fraction[k] == expected["largest"] / listed.n_sites


# ---- the steepest rise -------------------------------------------------------------------------


def test_the_steepest_rise_is_the_mode_of_scipys_density_with_silvermans_width() -> None:
    # Pairs of sites that join at normally distributed heights: each is a step of the same height.
    heights = np.sort(np.random.default_rng(1).normal(5.0, 1.0, 200))
    tree = grow(400, np.arange(400).reshape(200, 2), heights)
    width = bandwidth(heights, np.ones(200))
    quartiles = np.ptp(heights[[49, 149]])  # where a quarter and three quarters are reached
    assert width == pytest.approx(0.9 * min(heights.std(), quartiles / 1.34) * 200**-0.2)
    density = stats.gaussian_kde(heights, bw_method=width / heights.std(ddof=1))
    grid = np.linspace(heights[0], heights[-1], 20_001)
    expected = grid[density(grid).argmax()]
    # Steps are binned to an eighth of the width.
    assert inflection(count_clusters(tree, large=2)) == pytest.approx(expected, abs=width / 4)


@pytest.mark.parametrize(
    ("places", "weights", "spread", "count"),
    [
        # The interquartile range is 4, from 2 to 6: one place is far away from all others.
        ([0, 1, 2, 3, 4, 5, 6, 7, 80], [1] * 9, 4 / 1.34, 9),
        # The standard deviation is less than 2 / 1.34.
        ([-1, -1, 1, 1], [1] * 4, 1.0, 4),
        # Of unequal steps, (Σ h)² / Σ h² matter.
        ([0, 3], [2, 1], 2**0.5, 9 / 5),
    ],
    ids=["quartiles", "deviation", "weights"],
)
def test_steps_are_blurred_by_the_published_rule(
    places: list[float], weights: list[float], spread: float, count: float
) -> None:
    """Silverman 1986, Eq. (3.31): 0.9 A n^(-1/5) with the smaller of both measures of spread."""
    found = bandwidth(np.array(places, dtype=float), np.array(weights, dtype=float))
    assert found == pytest.approx(0.9 * spread / count**0.2, rel=1e-14)


def test_few_steps_have_their_inflection_at_the_highest() -> None:
    assert inflection(count_clusters(on_a_line(0.5, 0.5), large=3)) == 0.5
    two_steps = on_a_line(1.0, 9.0, 5.0, 5.0, 5.0, 5.0)
    assert inflection(count_clusters(two_steps, large=2)) == pytest.approx(5, abs=0.3)
    rounded = grow(6, np.arange(6).reshape(3, 2), np.array([0.25, *[np.nextafter(0.25, 1)] * 2]))
    assert inflection(count_clusters(rounded, large=2)) == pytest.approx(0.25, rel=1e-15)
    assert inflection(count_clusters(on_a_line(1.0), large=3)) is None


# ---- suggestions and refusals ------------------------------------------------------------------


def test_the_middle_of_the_widest_plateau_is_suggested() -> None:
    tree = on_a_line(*[1.0] * 3, 9.0, *[4.0] * 3)
    rise, plateau = suggest(tree, large=8, min_size=4)
    assert rise[0] == 9.0
    assert plateau[0] == pytest.approx(3.0)
    assert plateau[1] == "widest plateau: the same 4 sites from 1 to 9"


@given(pair_lists())
def test_suggestions_lie_within_the_levels(listed: PairList) -> None:
    hierarchy = grown(listed)
    for cutoff, _ in suggest(hierarchy, large=3, min_size=2):
        assert hierarchy.levels[0] <= cutoff <= hierarchy.levels[-1]


def test_energies_below_zero_have_a_steepest_rise_too() -> None:
    ((_, reason),) = suggest(on_a_line(-3.0, -2.0, -2.0, -1.0), large=4, min_size=2)
    assert reason == "steepest rise of the fraction in clusters of 4 or more"


@pytest.mark.parametrize(("large", "sizes"), [(0, (1,)), (10, (0, 1))])
def test_sizes_start_at_one(large: int, sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="start at 1"):
        count_clusters(on_a_line(1.0), large=large, sizes=sizes)
    with pytest.raises(ValueError, match="list of numbers, got"):
        count_clusters(on_a_line(1.0), cutoffs=[0.1, np.nan])
