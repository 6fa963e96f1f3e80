"""Reference tests of the loops that join edges and of the blocks of a graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import PairList, pair_lists, seeds
from timme._kernels import linkage
from timme.hierarchy.tree import from_forest, grow, spanning_forest


def test_a_tree_worked_out_by_hand_has_its_canonical_form() -> None:
    # 0-1 and 3-4 join at height 1; at height 2, 5 and {3, 4} both join 2 in one step.
    edges = np.array([[4, 3], [1, 0], [5, 2], [2, 4]])
    tree = from_forest(6, edges, np.array([1.0, 1.0, 2.0, 2.0]))
    assert tree.heights.tolist() == [1.0, 1.0, 2.0]
    assert tree.parents.tolist() == [6, 6, 8, 7, 7, 8, -1, 8, -1]
    assert tree.sizes.tolist() == [1, 1, 1, 1, 1, 1, 2, 2, 4]
    assert tree.lowest.tolist() == [0, 1, 2, 3, 4, 5, 0, 3, 2]
    assert tree.starts.tolist() == [4, 5, 2, 0, 1, 3, 4, 0, 0]
    assert tree.order.tolist() == [3, 4, 2, 5, 0, 1]


@given(pair_lists())
def test_a_spanning_forest_is_the_lowest_and_in_order(listed: PairList) -> None:
    edges, heights = spanning_forest(listed.n_sites, listed.pairs, listed.sigmas)
    assert (np.diff(heights) >= 0).all()
    for cutoff in range(6):
        joined = naive.clusters(listed.n_sites, edges, heights, cutoff)
        assert joined == naive.clusters(listed.n_sites, listed.pairs, listed.sigmas, cutoff)
        # A forest has exactly one edge for each join.
        assert np.count_nonzero(heights <= cutoff) == listed.n_sites - len(joined)


@given(seeds, st.sampled_from(["ties", "distinct", "dense core", "two halves"]))
def test_edges_too_many_to_be_sorted_at_once_give_the_same_tree(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n_sites = 40
    edges = rng.permutation(np.column_stack(np.triu_indices(n_sites, 1)))
    heights = rng.random(len(edges))
    if kind == "ties":
        heights = rng.integers(0, 6, len(edges)).astype(np.float64)
    if kind == "dense core":  # which has all of the lowest edges
        heights += 10.0 * (edges >= 30).any(axis=1)
    if kind == "two halves":
        heights[(edges[:, 0] < 20) != (edges[:, 1] < 20)] = np.inf
    heights[rng.random(len(edges)) < 0.1] = np.inf
    heights[rng.random(len(edges)) < 0.1] = np.nan
    tree = grow(n_sites, edges, heights)
    for cutoff in (*rng.choice(heights[np.isfinite(heights)], 4), 20.0):
        expected = naive.labels(n_sites, edges, heights, float(cutoff))
        assert tree.cut(float(cutoff)).labels.tolist() == expected


@given(seeds, st.floats(0.5, 1.0), st.integers(1, 4))
def test_braced_pairs_share_enough_partners_within_their_height(
    seed: int, share: float, n_shared: int
) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(9, 1))
    pairs = pairs[rng.random(len(pairs)) < share]
    sigmas = rng.integers(0, 8, len(pairs)).astype(np.float64)
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ranked = np.lexsort((ends[:, 1], ends[:, 0]))
    starts = np.searchsorted(ends[ranked, 0], np.arange(10))
    found = np.empty(len(pairs))
    values = np.tile(sigmas, 2)[ranked]
    linkage.braced_heights(
        pairs, sigmas, starts, ends[ranked, 1], values, np.empty(n_shared), found
    )
    assert found.tolist() == naive.braced(9, pairs, sigmas, n_shared)
