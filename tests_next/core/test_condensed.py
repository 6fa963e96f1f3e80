"""Reference, invariant and golden tests of condensed trees, and lineages of planted groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests_next import naive
from tests_next.strategies import Floats, PairList, pair_lists
from timme_next.hierarchy import Hierarchy, condense, grow
from timme_next.hierarchy.condensed import PLATEAU, lineages


def on_a_line(*gaps: float) -> Hierarchy:
    """Sites along a line, joined to the next at these heights."""
    edges = np.column_stack([np.arange(len(gaps)), np.arange(1, len(gaps) + 1)])
    return grow(len(gaps) + 1, edges, np.array(gaps))


@given(pair_lists(), st.integers(2, 4))
def test_clusters_are_roots_and_parts_of_splits_into_large_ones(
    listed: PairList, min_size: int
) -> None:
    found = condense(grow(listed.n_sites, listed.pairs, listed.sigmas), min_size=min_size)
    clusters = {
        (frozenset(found.members(cluster).tolist()), float(found.deaths[cluster]))
        for cluster in range(len(found))
    }
    arguments = listed.n_sites, listed.pairs, listed.sigmas
    assert clusters == naive.condensed(*arguments, min_size)


@given(pair_lists(), st.integers(2, 4))
def test_parents_come_first_and_are_the_smallest_clusters_around_their_parts(
    listed: PairList, min_size: int
) -> None:
    found = condense(grow(listed.n_sites, listed.pairs, listed.sigmas), min_size=min_size)
    masks = found.masks()
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
    assert sum(map(len, found.splits)) == np.count_nonzero(found.parents >= 0)
    for node, owner in enumerate(found.owners):
        sites = found.hierarchy.members(node)
        holding = [cluster for cluster in range(len(found)) if masks[cluster, sites].all()]
        assert owner == min(holding, key=lambda cluster: found.sizes[cluster], default=-1)


def test_ten_sites_are_needed_on_both_sides() -> None:
    assert condense(on_a_line(*[1.0] * 9, 5.0, *[1.0] * 9)).sizes.tolist() == [20, 10, 10]
    assert condense(on_a_line(*[1.0] * 9, 5.0, *[1.0] * 8)).sizes.tolist() == [19]
    with pytest.raises(ValueError, match="at least 2 sites, got 1"):
        condense(on_a_line(1.0), min_size=1)


# ---- lineages ----------------------------------------------------------------------------------


@given(pair_lists(), st.integers(2, 3))
def test_representatives_are_the_widest_plateaus_that_leave_enough_outside(
    listed: PairList, min_size: int
) -> None:
    arguments = listed.n_sites, listed.pairs, listed.sigmas + 0.5
    tree = grow(*arguments)
    condensed = condense(tree, min_size=min_size)
    masks = condensed.masks()
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


def planted_group(seed: int, *, n_snapshots: int = 60) -> Hierarchy:
    """A group of 20 among 100 walkers: its members take the same steps but for a tenth."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(n_snapshots, 100, 3))
    steps[:, :20] = steps[:, :1] + 0.1 * rng.normal(size=(n_snapshots, 20, 3))
    tracks = rng.uniform(0, 20, (100, 3)) + np.cumsum(steps, axis=0)
    edges = np.column_stack(np.triu_indices(100, 1))
    between = tracks[:, edges[:, 0]] - tracks[:, edges[:, 1]]
    return grow(100, edges, np.linalg.norm(between, axis=2).std(axis=0))


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_group_is_the_one_lineage_with_a_plateau(seed: int) -> None:
    found = [line for line in lineages(planted_group(seed)) if line.width >= PLATEAU]
    assert [line.sites.tolist() for line in found] == [list(range(20))]


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
