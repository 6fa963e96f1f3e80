"""Merges from sorted edges; these run without compilation as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import PairList, pair_lists, seeds
from timme._arrays import Floats, Ints
from timme._kernels import linkage
from timme.hierarchy.forest import canonical_tree


def tree(n_sites: int, pairs: Ints, sigmas: Floats) -> tuple[Ints, Floats]:
    ranked = np.argsort(sigmas, kind="stable")
    kept, _ = linkage.joining_edges(n_sites, pairs, ranked)
    return canonical_tree(n_sites, pairs[kept], sigmas[kept])


def test_a_hand_made_tree_has_its_canonical_form() -> None:
    #  height 2:    8 = {2, 3, 4, 5} with 5 by itself, 0-1 at height 1, 3-4 at height 1
    pairs = np.array([[4, 3], [1, 0], [5, 2], [2, 4]])
    parents, heights = tree(6, pairs, np.array([1.0, 1.0, 2.0, 2.0]))
    assert heights.tolist() == [1.0, 1.0, 2.0]
    assert parents.tolist() == [6, 6, 8, 7, 7, 8, -1, 8, -1]
    sizes, lowest = linkage.sizes_and_lowest(6, parents)
    assert sizes.tolist() == [1, 1, 1, 1, 1, 1, 2, 2, 4]
    assert lowest.tolist() == [0, 1, 2, 3, 4, 5, 0, 3, 2]
    starts = linkage.leaf_starts(parents, sizes, np.lexsort((lowest, -sizes)))
    assert starts.tolist() == [4, 5, 2, 0, 1, 3, 4, 0, 0]


@pytest.mark.parametrize("n_sites", [1, 3])
def test_no_edges_leave_single_sites(n_sites: int) -> None:
    parents, heights = tree(n_sites, np.empty((0, 2), np.int64), np.empty(0))
    assert parents.tolist() == [-1] * n_sites
    assert heights.shape == (0,)


@given(pair_lists())
def test_joining_edges_span_what_all_edges_span(listed: PairList) -> None:
    order = np.arange(len(listed.pairs))
    kept, clusters = linkage.joining_edges(listed.n_sites, listed.pairs, order)
    everything = naive.clusters(listed.n_sites, listed.pairs, [0.0] * len(listed.pairs), 0.0)
    spanned = naive.clusters(listed.n_sites, listed.pairs[kept], [0.0] * len(kept), 0.0)
    assert spanned == everything
    assert len(kept) == listed.n_sites - len(everything)
    named = {frozenset(np.flatnonzero(clusters == name).tolist()) for name in set(clusters)}
    assert named == set(everything)


@given(pair_lists())
def test_rounds_of_lowest_edges_give_the_tree_of_sorted_ones(listed: PairList) -> None:
    kept = linkage.joining_in_rounds(listed.n_sites, listed.pairs, listed.sigmas)
    seen = np.isfinite(listed.sigmas)
    parents, heights = tree(listed.n_sites, listed.pairs[seen], listed.sigmas[seen])
    ranked = kept[np.argsort(listed.sigmas[kept], kind="stable")]
    found = canonical_tree(listed.n_sites, listed.pairs[ranked], listed.sigmas[ranked])
    assert found[0].tolist() == parents.tolist()
    assert found[1].tolist() == heights.tolist()


@given(pair_lists(), seeds, st.data())
def test_the_tree_never_depends_on_order_or_orientation_of_edges(
    listed: PairList, seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(listed.pairs))
    turned = listed.pairs[shuffled]
    flipped = rng.random(len(turned)) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    turned[flipped] = turned[flipped, ::-1]
    parents, heights = tree(listed.n_sites, listed.pairs, listed.sigmas)
    other_parents, other_heights = tree(listed.n_sites, turned, listed.sigmas[shuffled])
    assert parents.tolist() == other_parents.tolist()
    assert heights.tolist() == other_heights.tolist()


@given(pair_lists())
def test_merges_are_those_of_the_reference(listed: PairList) -> None:
    parents, heights = tree(listed.n_sites, listed.pairs, listed.sigmas)
    below: list[set[int]] = [{site} for site in range(listed.n_sites)]
    below += [set() for _ in heights]
    for node, above in enumerate(parents):
        if above >= 0:
            below[above] |= below[node]
    found = sorted(
        (height, min(sites), frozenset(sites))
        for height, sites in zip(heights.tolist(), below[listed.n_sites :], strict=True)
    )
    expected, before = [], {frozenset([site]) for site in range(listed.n_sites)}
    for level in naive.levels(listed.sigmas, listed.n_sites, listed.pairs):
        after = set(naive.clusters(listed.n_sites, listed.pairs, listed.sigmas, level))
        expected += [(level, min(sites), sites) for sites in after - before]
        before = after
    assert found == sorted(expected)
    listed_as = [(height, min(sites)) for height, _, sites in found]
    assert listed_as == [
        (h, min(s)) for h, s in zip(heights.tolist(), below[listed.n_sites :], strict=True)
    ]
