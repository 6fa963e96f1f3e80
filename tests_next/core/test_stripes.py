"""Reference, invariant and golden tests of stripes, families and colours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests_next import naive
from tests_next.strategies import PairList, pair_lists, seeds
from timme_next.hierarchy import Hierarchy, grow
from timme_next.hierarchy.stripes import colours, families, families_at, lay_out_stripes


def grown(listed: PairList) -> Hierarchy:
    return grow(listed.n_sites, listed.pairs, listed.sigmas)


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
        dark = colours(families_at(hierarchy, cutoff), 3)[labels] == 0
        assert dark.tolist() == line.tolist()


def test_colours_repeat_in_turn_and_never_that_of_the_core() -> None:
    assert colours(np.arange(8), 3).tolist() == [0, 1, 2, 3, 1, 2, 3, 1]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3]])
def test_an_order_names_every_site_once(order: list[int]) -> None:
    with pytest.raises(ValueError, match="each of the 3 sites once"):
        lay_out_stripes(grow(3, np.array([[0, 1], [1, 2]]), np.ones(2)), order=order)


@pytest.mark.parametrize("shape", ["chain", "caterpillar"])
def test_stripes_grow_in_proportion_to_the_sites_in_any_order(shape: str) -> None:
    n_sites = 5_000
    rng = np.random.default_rng(0)
    ends = np.arange(n_sites - 1) if shape == "chain" else np.zeros(n_sites - 1, np.int64)
    edges = np.column_stack([ends, np.arange(1, n_sites)])
    hierarchy = grow(n_sites, edges, rng.random(n_sites - 1))
    assert families(hierarchy).max() == n_sites - 1
    shuffled = lay_out_stripes(hierarchy, order=rng.permutation(n_sites))
    assert len(shuffled.start) < 15 * n_sites
