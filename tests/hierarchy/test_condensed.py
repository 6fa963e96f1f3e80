"""The condensed tree keeps the splits that leave something large on both sides, and no other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme import link
from timme._arrays import Floats
from timme.hierarchy import condense, grow


@st.composite
def heights(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[float]]:
    n = draw(st.integers(2, 12))
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=30))
    values = draw(st.lists(st.integers(1, 6), min_size=len(pairs), max_size=len(pairs)))
    return n, pairs, [float(value) for value in values]


@given(heights(), st.integers(2, 4))
def test_clusters_are_the_large_parts_of_what_has_two_of_them_and_the_trees(
    drawn: tuple[int, list[tuple[int, int]], list[float]], min_size: int
) -> None:
    n, pairs, sigmas = drawn
    found = condense(grow(n, np.array(pairs), np.array(sigmas)), min_size=min_size)
    told = {
        (frozenset(found.members(place).tolist()), float(found.deaths[place]))
        for place in range(len(found))
    }
    assert told == naive.condensed(n, pairs, sigmas, min_size)


@given(heights(), st.integers(2, 4))
def test_parents_come_first_and_hold_their_parts(
    drawn: tuple[int, list[tuple[int, int]], list[float]], min_size: int
) -> None:
    n, pairs, sigmas = drawn
    found = condense(grow(n, np.array(pairs), np.array(sigmas)), min_size=min_size)
    masks = found.masks()
    for place, above in enumerate(found.parents):
        assert np.flatnonzero(masks[place]).tolist() == found.members(place).tolist()
        assert above < place
        if above < 0:
            assert np.isnan(found.shares[place])
            continue
        siblings = found.siblings(place)
        sides = masks[[place, *siblings]].any(axis=0)
        assert found.shares[place] == pytest.approx(sides.sum() / masks[above].sum())
        assert len(siblings) >= 1
        assert (found.parents[siblings] == above).all()
        assert not (masks[siblings] & masks[place]).any()
        assert (masks[above] >= masks[place]).all()
        # No cluster lies between a part and what it is a part of.
        between = (masks >= masks[place]).all(axis=1) & (masks <= masks[above]).all(axis=1)
        assert set(np.flatnonzero(between)) <= {place, above}
    assert sum(map(len, found.splits)) == np.count_nonzero(found.parents >= 0)


def chain_of(gaps: list[float]) -> Floats:
    """σ of sites along a line is the highest gap between them."""
    n = len(gaps) + 1
    return np.array(
        [[max(gaps[min(i, j) : max(i, j)], default=0.0) for j in range(n)] for i in range(n)]
    )


def test_ten_sites_are_asked_for_on_both_sides() -> None:
    tree = link(chain_of([1.0] * 9 + [5.0] + [1.0] * 9))
    assert condense(tree).sizes.tolist() == [20, 10, 10]
    tree = link(chain_of([1.0] * 9 + [5.0] + [1.0] * 8))
    assert condense(tree).sizes.tolist() == [19]


def test_stray_sites_belong_to_the_cluster_that_they_joined_first() -> None:
    found = condense(link(chain_of([1.0, 2.0, 5.0, 1.0, 3.0, 6.0])), min_size=2)
    assert [found.members(place).tolist() for place in range(3)] == [
        [0, 1, 2, 3, 4, 5, 6],
        [0, 1, 2],
        [3, 4, 5],
    ]
    assert found.births.tolist() == [6.0, 2.0, 3.0]


def test_a_cluster_of_one_site_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 sites, got 1"):
        condense(link([[0.0, 1.0], [1.0, 0.0]]), min_size=1)
