"""Reference, parity and invariant tests of hierarchies, partitions and linkages."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from tests import naive
from tests.strategies import (
    Floats,
    PairList,
    pair_lists,
    seeds,
    sigma_matrices,
)
from timme import objects, pairs
from timme.ensemble import Ensemble
from timme.fluctuations import Fluctuations
from timme.hierarchy import Hierarchy, Quantity, grow, link
from timme.hierarchy.partition import rand_index


def grown(listed: PairList) -> Hierarchy:
    return grow(listed.n_sites, listed.pairs, listed.sigmas)


def grown_from(matrix: Floats) -> Hierarchy:
    edges = np.column_stack(np.triu_indices(len(matrix), 1))
    return grow(len(matrix), edges, matrix[edges[:, 0], edges[:, 1]])


def cutoffs_of(hierarchy: Hierarchy) -> list[float]:
    """Below, at and between all levels, and above."""
    levels = hierarchy.levels
    between = (levels[1:] + levels[:-1]) / 2
    return [-math.inf, -1.0, *levels.tolist(), *between.tolist(), math.inf]


def same(first: Hierarchy, second: Hierarchy) -> bool:
    """Whether two hierarchies are equal to the last bit."""
    names = ("parents", "heights", "sizes", "starts", "order", "gaps")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def clusters_of(labels: npt.NDArray[np.integer[Any]]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


# ---- the reference -----------------------------------------------------------------------------


@given(pair_lists())
def test_levels_and_partitions_are_those_of_the_definition(listed: PairList) -> None:
    hierarchy = grown(listed)
    arguments = listed.n_sites, listed.pairs, listed.sigmas
    assert hierarchy.levels.tolist() == naive.levels(*arguments)
    for cutoff in cutoffs_of(hierarchy):
        partition = hierarchy.cut(cutoff)
        expected = naive.labels(*arguments, cutoff)
        assert partition.labels.tolist() == expected
        assert partition.sizes.tolist() == np.bincount(expected).tolist()
        assert [frozenset(members.tolist()) for members in partition] == naive.clusters(
            *arguments, cutoff
        )
        assert partition.members(0).tolist() == np.flatnonzero(np.array(expected) == 0).tolist()


@given(pair_lists())
def test_sites_join_at_the_height_at_which_a_path_of_pairs_does(listed: PairList) -> None:
    hierarchy = grown(listed)
    expected = naive.joining_heights(listed.n_sites, listed.pairs, listed.sigmas)
    first, second = np.indices(expected.shape).reshape(2, -1)
    assert hierarchy.heights_between(first, second).tolist() == expected.ravel().tolist()


@given(pair_lists())
def test_sites_join_the_line_of_the_core_in_the_order_of_its_descent(listed: PairList) -> None:
    expected = np.array(naive.core_heights(listed.n_sites, listed.pairs, listed.sigmas))
    expected[np.isinf(expected)] = np.nan
    np.testing.assert_array_equal(grown(listed).core_heights(), expected)


@given(pair_lists(), seeds)
def test_shown_sites_are_clustered_as_in_the_whole(listed: PairList, seed: int) -> None:
    hierarchy = grown(listed)
    rng = np.random.default_rng(seed)
    shown = rng.permutation(listed.n_sites)[: rng.integers(1, listed.n_sites + 1)]
    heights = naive.joining_heights(listed.n_sites, listed.pairs, listed.sigmas)
    assert same(hierarchy.restrict(shown), grown_from(heights[np.ix_(shown, shown)]))
    assert same(hierarchy.restrict(np.arange(listed.n_sites)), hierarchy)


@given(pair_lists(), seeds)
def test_sums_over_nodes_are_sums_over_their_members(listed: PairList, seed: int) -> None:
    hierarchy = grown(listed)
    values = np.random.default_rng(seed).integers(0, 9, (2, listed.n_sites))
    expected = [
        values[:, hierarchy.members(node)].sum(axis=1) for node in range(len(hierarchy.parents))
    ]
    assert hierarchy.sum_over_nodes(values).T.tolist() == np.array(expected).tolist()


# ---- SciPy -------------------------------------------------------------------------------------


@given(sigma_matrices())
def test_heights_and_partitions_are_those_of_scipy(matrix: Floats) -> None:
    expected = scipy_linkage(squareform(matrix), "single")
    hierarchy = grown_from(matrix)
    found = hierarchy.to_linkage()
    assert is_valid_linkage(found, throw=True)
    assert found[:, 2].tolist() == expected[:, 2].tolist()
    assert cophenet(found).tolist() == cophenet(expected).tolist()
    for cutoff in cutoffs_of(hierarchy):
        labels = hierarchy.cut(cutoff).labels
        assert clusters_of(labels) == clusters_of(fcluster(expected, cutoff, "distance"))


@given(pair_lists(max_sites=8))
def test_trees_of_a_forest_are_joined_at_infinity_for_scipy(listed: PairList) -> None:
    hierarchy = grown(listed)
    found = hierarchy.to_linkage()
    assert found.shape == (listed.n_sites - 1, 4)
    if listed.n_sites == 1:
        return
    assert is_valid_linkage(found, throw=True)
    assert np.isinf(found[:, 2]).sum() == np.count_nonzero(hierarchy.parents < 0) - 1
    assert found[-1, 3] == listed.n_sites
    top = hierarchy.levels.max(initial=0.0)
    assert clusters_of(fcluster(found, top, "distance")) == clusters_of(hierarchy.cut(top).labels)


# ---- Newick ------------------------------------------------------------------------------------


def parsed(text: str) -> list[tuple[frozenset[str], float]]:
    """Names below each branch of one tree, and the length of the branch; quotes are doubled."""
    found, stack, place = [], [set[str]()], 0
    while text[place] != ";":
        letter = text[place]
        place += 1
        if letter == "(":
            stack.append(set())
        elif letter == "'":
            stop = place
            while text[stop] != "'" or text[stop + 1] == "'":
                stop += 2 if text[stop] == "'" else 1
            stack.append({text[place:stop].replace("''", "'")})
            place = stop + 1
        if letter in "')":
            stop = min(text.index(end, place) for end in ",);" if end in text[place:])
            below = stack.pop()
            found.append((frozenset(below), float(text[place + 1 : stop] or "nan")))
            stack[-1] |= below
            place = stop
    return found


@given(pair_lists(max_sites=8), st.sampled_from(["{}", "A/GLY {}/CA", "O'{}'", "'{}"]))
def test_newick_holds_every_cluster_and_its_branch(listed: PairList, pattern: str) -> None:
    hierarchy = grown(listed)
    names = [pattern.format(site + 1) for site in range(listed.n_sites)]
    lines = hierarchy.to_newick(None if pattern == "{}" else names).splitlines()
    births = np.maximum(hierarchy.births, 0.0)
    expected = {
        (
            frozenset(names[site] for site in hierarchy.members(node)),
            float(births[above] - births[node]) if above >= 0 else -1.0,
        )
        for node, above in enumerate(hierarchy.parents.tolist())
    }
    found = [branch for line in lines for branch in parsed(line)]
    assert {(below, -1.0 if math.isnan(length) else length) for below, length in found} == expected
    assert len(found) == len(hierarchy.parents)


# ---- invariants --------------------------------------------------------------------------------


@given(pair_lists(), seeds)
def test_order_and_orientation_of_pairs_change_nothing(listed: PairList, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(listed.pairs))
    turned = listed.pairs[shuffled]
    flipped = rng.random(len(turned)) < 0.5
    turned[flipped] = turned[flipped, ::-1]
    assert same(grown(PairList(listed.n_sites, turned, listed.sigmas[shuffled])), grown(listed))


@given(pair_lists(), seeds)
def test_renaming_sites_renames_clusters(listed: PairList, seed: int) -> None:
    names = np.random.default_rng(seed).permutation(listed.n_sites)
    renamed = grown(PairList(listed.n_sites, names[listed.pairs], listed.sigmas))
    hierarchy = grown(listed)
    assert renamed.heights.tolist() == hierarchy.heights.tolist()
    for cutoff in cutoffs_of(hierarchy):
        expected = hierarchy.cut(cutoff).labels
        assert clusters_of(renamed.cut(cutoff).labels[names]) == clusters_of(expected)


@given(pair_lists())
def test_clusters_only_split_downwards_and_are_contiguous_in_leaf_order(listed: PairList) -> None:
    hierarchy = grown(listed)
    partitions = [hierarchy.cut(cutoff).labels for cutoff in sorted(cutoffs_of(hierarchy))]
    for finer, coarser in itertools.pairwise(partitions):
        assert len(clusters_of(finer * len(finer) + coarser)) == len(clusters_of(finer))
        changes = np.count_nonzero(np.diff(finer[hierarchy.order]))
        assert changes == len(clusters_of(finer)) - 1


@given(pair_lists())
def test_nodes_are_the_clusters_between_their_birth_and_death(listed: PairList) -> None:
    hierarchy = grown(listed)
    assert (hierarchy.births < hierarchy.deaths).all()
    for node in range(len(hierarchy.parents)):
        birth, death = hierarchy.births[node], hierarchy.deaths[node]
        members = frozenset(hierarchy.members(node).tolist())
        assert hierarchy.sizes[node] == len(members)
        for cutoff in cutoffs_of(hierarchy):
            alive = members in clusters_of(hierarchy.cut(cutoff).labels)
            assert alive == (birth <= cutoff < death or cutoff == death == math.inf)


def test_deep_hierarchies_are_written_in_proportional_time() -> None:
    n_sites = 50_000  # squares of which would take minutes
    edges = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    hierarchy = grow(n_sites, edges, np.arange(1.0, n_sites))
    assert hierarchy.to_newick().count(",") == len(hierarchy.to_linkage()) == n_sites - 1


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "heights", "match"),
    [
        ([1, -1], [1.0], "at least 2 parts"),  # a merge of one part
        ([2, 2, 2], [1.0], "later merges"),  # a ring
        ([1, -1], [], "later merges"),  # a site as a parent
        ([2, 2, 7], [1.0], "later merges"),  # no such node
        ([2, 2, -2], [1.0], "or -1"),
        ([3, 3, 4, 4, -1], [2.0, 1.0], "ascending"),
        ([2, 2, -1], [np.nan], "finite"),
        ([], [], "later merges"),
        ([[2, 2, -1]], [1.0], "a parent for each node"),
    ],
)
def test_what_is_no_tree_is_refused(parents: Any, heights: list[float], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Hierarchy(np.array(parents, np.int64), np.array(heights, np.float64))


def test_refusals_say_what_is_needed() -> None:
    hierarchy = grow(3, np.array([[0, 1]]), np.array([1.0]))
    with pytest.raises(ValueError, match="edges need sites from 0 to 2, got 0 to 3"):
        grow(3, np.array([[0, 3]]), np.array([1.0]))
    with pytest.raises(ValueError, match=r"one number as a cutoff, got \[0.1, 0.2\]"):
        hierarchy.cut([0.1, 0.2])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got nan"):
        hierarchy.cut(math.nan)
    with pytest.raises(ValueError, match="at least 1 site"):
        hierarchy.restrict([])
    with pytest.raises(ValueError, match="shown sites"):
        hierarchy.restrict([0, 3])
    with pytest.raises(ValueError, match="each of 3 sites, got 2"):
        hierarchy.to_newick(["a", "b"])
    with pytest.raises(ValueError, match="needs a symbol"):
        Quantity("")
    with pytest.raises(ValueError, match="read-only"):
        hierarchy.heights[0] = 2.0


# ---- partitions and quantities -----------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=10))
def test_the_rand_index_counts_pairs_that_both_partitions_keep(pairs: list[Any]) -> None:
    first, second = np.array(pairs).T
    expected = naive.adjusted_rand(first.tolist(), second.tolist())
    assert rand_index(first, second) == pytest.approx(expected, abs=1e-12)


# ---- other linkages ----------------------------------------------------------------------------


def test_bracing_separates_two_bodies_that_one_pair_holds_together() -> None:
    matrix = np.full((16, 16), 9.0)
    matrix[:8, :8] = matrix[8:, 8:] = 1.0
    matrix[7, 8] = matrix[8, 7] = 0.5
    np.fill_diagonal(matrix, 0.0)
    assert link(matrix).cut(1.0).sizes.tolist() == [16]
    assert link(matrix, linkage="braced").cut(1.0).sizes.tolist() == [8, 8]


@given(sigma_matrices(max_sites=8))
def test_average_linkage_joins_by_the_mean_square_of_all_pairs(matrix: Floats) -> None:
    distinct = matrix + 1e-3 * squareform(np.arange(len(matrix) * (len(matrix) - 1) // 2) + 1.0)
    tree = link(distinct, linkage="average")
    found = {
        (frozenset(tree.members(node).tolist()), round(float(tree.births[node]), 9))
        for node in range(tree.n_sites, len(tree.parents))
    }
    assert found == {(part, round(height, 9)) for part, height in naive.average_merges(distinct)}


# ---- refusals ----------------------------------------------------------------------------------


def test_what_cannot_be_linked_is_refused_with_a_remedy(tmp_path: Any) -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 3, 3)))
    points, matrix = objects.points(ensemble), np.ones((3, 3)) - np.eye(3)
    some = Fluctuations(4, np.array([[0, 1], [1, 2]]), np.ones(2), np.full(2, 2), "Å")
    for wrong in (ensemble, points, pairs.all(points), link(matrix), tmp_path, str(tmp_path)):
        with pytest.raises(ValueError, match=r"measure\(objects, pairs\) or .* must"):
            link(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="single, braced or average, got 'ward'"):
        link(matrix, linkage="ward")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs σ of all 6 pairs"):
        link(some, linkage="average")
