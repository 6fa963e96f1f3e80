"""Reference and parity tests of curves, suggested cutoffs, stripes and condensed trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests import naive
from tests.strategies import Floats, PairList, pair_lists, seeds
from timme.hierarchy import Hierarchy, condense, grow
from timme.hierarchy.condensed import PLATEAU, lineages
from timme.hierarchy.curves import bandwidth, count_clusters, inflection, suggest
from timme.hierarchy.stripes import families_at, lay_out_stripes


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


# ---- suggestions and refusals ------------------------------------------------------------------


def test_the_middle_of_the_widest_plateau_is_suggested() -> None:
    tree = on_a_line(*[1.0] * 3, 9.0, *[4.0] * 3)
    rise, plateau = suggest(tree, large=8, min_size=4)
    assert rise[0] == 9.0
    assert plateau[0] == pytest.approx(3.0)
    assert plateau[1] == "widest plateau: the same 4 sites from 1 to 9"


# ---- stripes -----------------------------------------------------------------------------------


@given(pair_lists(max_sites=9))
def test_families_are_those_of_the_definition(listed: PairList) -> None:
    hierarchy = grown(listed)
    for cutoff, expected in naive.families(listed.n_sites, listed.pairs, listed.sigmas):
        assert families_at(hierarchy, cutoff).tolist() == expected


@given(pair_lists(max_sites=9), seeds, st.booleans(), st.integers(1, 4))
def test_stripes_are_those_of_the_definition(
    listed: PairList, seed: int, by_leaf: bool, min_size: int
) -> None:
    hierarchy = grown(listed)
    shuffled = np.random.default_rng(seed).permutation(listed.n_sites)
    found = lay_out_stripes(hierarchy, order=None if by_leaf else shuffled, min_size=min_size)
    axis = (hierarchy.order if by_leaf else shuffled).tolist()
    columns = (found.start, found.stop, found.low, found.high, found.family)
    drawn = sorted(zip(*(column.tolist() for column in columns), strict=True))
    assert found.order.tolist() == axis
    assert drawn == naive.stripes(listed.n_sites, listed.pairs, listed.sigmas, axis, min_size)


@given(pair_lists())
def test_dark_blue_is_the_line_of_the_core_at_the_top_and_no_other(listed: PairList) -> None:
    hierarchy = grown(listed)
    line = hierarchy.cut(np.inf).labels == 0
    for cutoff in [*reversed(hierarchy.levels.tolist()), -np.inf]:
        labels = hierarchy.cut(cutoff).labels
        parts = [labels == label for label in np.unique(labels[line])]
        line = max(parts, key=lambda part: (part.sum(), -part.argmax()))
        dark = families_at(hierarchy, cutoff)[labels] == 0
        assert dark.tolist() == line.tolist()


# ---- condensed trees ---------------------------------------------------------------------------


@given(pair_lists(), st.integers(2, 4))
def test_parents_come_first_and_are_the_smallest_clusters_around_their_parts(
    listed: PairList, min_size: int
) -> None:
    found = condense(grow(listed.n_sites, listed.pairs, listed.sigmas), min_size=min_size)
    masks = naive.masks(found)
    for cluster, above in enumerate(found.parents):
        assert np.flatnonzero(masks[cluster]).tolist() == found.members(cluster).tolist()
        assert found.births[cluster] < found.deaths[cluster]
        around = [
            other
            for other in range(len(found))
            if other != cluster and (masks[other] >= masks[cluster]).all()
        ]
        assert above == min(around, key=lambda other: found.sizes[other], default=-1)
        siblings = found.siblings(cluster)
        assert (found.parents[siblings] == above).all()
        assert bool(len(siblings)) == (above >= 0)
        assert not (masks[siblings] & masks[cluster]).any()
    for node, owner in enumerate(found.owners):
        sites = found.hierarchy.members(node)
        holding = [cluster for cluster in range(len(found)) if masks[cluster, sites].all()]
        assert owner == min(holding, key=lambda cluster: found.sizes[cluster], default=-1)


# ---- lineages ----------------------------------------------------------------------------------


@given(pair_lists(), st.integers(2, 3))
def test_representatives_are_the_widest_plateaus_that_leave_enough_outside(
    listed: PairList, min_size: int
) -> None:
    arguments = listed.n_sites, listed.pairs, listed.sigmas + 0.5
    tree = grow(*arguments)
    condensed = condense(tree, min_size=min_size)
    masks = naive.masks(condensed)
    lives = naive.lives(*arguments)
    found = lineages(tree, min_size=min_size)
    assert [line.top for line in found] == condensed.nodes.tolist()
    for cluster, line in enumerate(found):
        parts = masks[condensed.parents == cluster]
        candidates = {
            sites: math.log(high / low)
            for sites, (low, high) in lives.items()
            if min_size <= len(sites) <= listed.n_sites - min_size
            and masks[cluster, list(sites)].all()
            and not parts[:, list(sites)].all(axis=1).any()
            and math.isfinite(high)
        }
        widest = max(candidates.values(), default=0.0)
        sites = frozenset(line.sites.tolist())
        assert (line.low, line.high) == lives[sites]
        if widest < PLATEAU:
            assert line.node == line.top
            assert line.width == pytest.approx(candidates.get(sites, 0.0))
        else:
            assert line.width == pytest.approx(widest) == pytest.approx(candidates[sites])


def test_growth_within_the_tolerance_does_not_end_a_plateau() -> None:
    # Ten sites from 1 on, of which one more joins at 2 and at 4; the other twelve join at 8.
    tree = on_a_line(*[1.0] * 9, 2.0, 4.0, 8.0, *[1.0] * 11)
    for tolerance, plateau in ((0.0, (1.0, 2.0, 10)), (0.2, (1.0, 8.0, 10))):
        found = {
            (line.low, line.high, len(line.sites)) for line in lineages(tree, tolerance=tolerance)
        }
        assert found == {(8.0, math.inf, 24), plateau, (1.0, 8.0, 12)}


def test_separate_trees_have_a_plateau_where_their_end_is_known() -> None:
    tree = on_a_line(*[1.0] * 9, math.inf, *[0.0] * 9)
    assert [line.width for line in lineages(tree)] == [0.0, 0.0]
    ends: Floats = np.array([3.0, 2.0])  # the larger tree, or that of site 0, comes first
    found = lineages(tree, ends=ends)
    assert {(line.low, line.high, line.width) for line in found} == {
        (1.0, 3.0, math.log(3.0)),
        (0.0, 2.0, math.inf),  # rigid inside: any ratio
    }


def test_heights_below_zero_have_no_ratios() -> None:
    with pytest.raises(ValueError, match="heights from 0 on, got -2"):
        lineages(on_a_line(-2.0, -1.0), min_size=2)
