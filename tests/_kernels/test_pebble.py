"""The pebble game and the blocks of a graph; these run without compilation as well."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import searching
from timme._arrays import Ints
from timme._kernels import pebble
from timme._kernels.blocks import blocks

Edge = tuple[int, int]


def entries(n_nodes: int, edges: list[Edge]) -> tuple[Ints, Ints, Ints]:
    """First entry of each node, then other ends and numbers of edges."""
    around = [
        [(a + b - node, number) for number, (a, b) in enumerate(edges) if node in (a, b)]
        for node in range(n_nodes)
    ]
    begin = np.cumsum([0, *map(len, around)])
    flat = np.array([pair for pairs in around for pair in pairs], np.int64).reshape(-1, 2)
    return begin, flat[:, 0].copy(), flat[:, 1].copy()


def played(
    n_bodies: int, edges: list[Edge], bars: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """Independent bars of each bond, the cluster of each body, and its degrees of freedom."""
    independent, stress = np.empty((2, len(edges)), np.int64)
    clusters, freedoms = np.empty((2, n_bodies), np.int64)
    pebble.play(
        np.array(edges, np.int64).reshape(-1, 2),
        np.array(bars, np.int64),
        entries(n_bodies, edges),
        len(edges),
        np.zeros(n_bodies, np.bool_),
        independent,
        stress,
        clusters,
        freedoms,
        np.empty((n_bodies, 3), np.int64),
    )
    return independent.tolist(), clusters.tolist(), freedoms.tolist()


@pytest.mark.parametrize("n_bodies", [3, 5, 6, 7, 9])
def test_a_ring_keeps_what_its_bodies_have_more_than_six(n_bodies: int) -> None:
    ring = [(k, (k + 1) % n_bodies) for k in range(n_bodies)]
    independent, clusters, _ = played(n_bodies, ring, [5] * n_bodies)
    assert sum(independent) == min(5 * n_bodies, 6 * n_bodies - 6)
    assert len(set(clusters)) == (1 if n_bodies <= 6 else n_bodies)


def test_no_more_than_six_bars_between_two_bodies_count() -> None:
    independent, clusters, _ = played(3, [(0, 1), (0, 1), (1, 2)], [4, 4, 3])
    assert independent == [4, 2, 3]
    assert clusters[0] == clusters[1] != clusters[2]


def test_a_point_has_3_freedoms_an_end_of_a_chain_5_and_others_6() -> None:
    """As published (Jacobs, Rader, Kuhn and Thorpe 2001): what turns unseen is no freedom."""
    assert played(4, [(0, 1), (1, 2)], [5, 5])[2] == [5, 6, 5, 3]
    assert played(2, [(0, 1)], [6])[2] == [6, 6]  # held by a bond that cannot turn
    assert played(2, [(0, 1), (0, 1)], [3, 2])[2] == [5, 5]  # two bonds, but one neighbour


@pytest.mark.parametrize("n_bodies", [2, 3, 4, 8])
def test_a_chain_of_hinges_has_all_its_bars_independent(n_bodies: int) -> None:
    chain = [(k, k + 1) for k in range(n_bodies - 1)]
    independent, clusters, freedoms = played(n_bodies, chain, [5] * (n_bodies - 1))
    whole = 5 if n_bodies == 2 else 6  # two points are a line, which turns about itself unseen
    assert sum(freedoms) - sum(independent) == whole + max(0, n_bodies - 3)
    assert len(set(clusters)) == max(1, n_bodies - 2)


def cycles(n_nodes: int, edges: list[Edge]) -> list[frozenset[int]]:
    """Every simple cycle as the set of its edges."""
    found = []
    for size in range(2, len(edges) + 1):
        for chosen in itertools.combinations(range(len(edges)), size):
            ends = [edges[k] for k in chosen]
            degree = np.bincount(np.ravel(ends), minlength=n_nodes)
            nodes = {node for edge in ends for node in edge}
            if set(degree[list(nodes)]) == {2} and len(nodes) == size and _connected(ends):
                found.append(frozenset(chosen))
    return found


def _connected(edges: list[Edge]) -> bool:
    reached = {edges[0][0]}
    for _ in edges:
        reached |= {node for edge in edges if reached & set(edge) for node in edge}
    return reached == {node for edge in edges for node in edge}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    n_nodes = draw(st.integers(2, 7))
    pair = st.tuples(st.integers(0, n_nodes - 1), st.integers(0, n_nodes - 1))
    return n_nodes, draw(st.lists(pair.filter(lambda ends: ends[0] != ends[1]), max_size=9))


@given(graphs())
@searching(150)
def test_edges_are_in_one_block_if_a_cycle_holds_both(graph: tuple[int, list[Edge]]) -> None:
    n_nodes, edges = graph
    block = np.full(len(edges), -1)
    n_blocks = blocks(
        n_nodes, np.array(edges, np.int64).reshape(-1, 2), entries(n_nodes, edges), block
    )
    assert set(block.tolist()) == set(range(n_blocks))
    every = cycles(n_nodes, edges)
    for cycle in every:
        assert len({int(block[k]) for k in cycle}) == 1
    for a, b in itertools.combinations(range(len(edges)), 2):
        if block[a] == block[b]:
            assert any({a, b} <= cycle for cycle in every)
