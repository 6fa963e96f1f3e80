"""Reference tests of the blocks of a graph."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given

from tests_next.strategies import Ints, bond_graphs
from timme_next._kernels import graphs


def found_blocks(n_nodes: int, edges: list[tuple[int, int]]) -> list[int]:
    """Block of each edge."""
    array: Ints = np.array(edges, np.int64).reshape(-1, 2)
    ends = np.concatenate([array[:, 0], array[:, 1]])
    ranked = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[ranked], np.arange(n_nodes + 1))
    partners = np.concatenate([array[:, 1], array[:, 0]])[ranked]
    block = np.full(len(edges), -1)
    n_blocks = graphs.blocks(starts, partners, np.tile(np.arange(len(edges)), 2)[ranked], block)
    assert sorted(set(block.tolist())) == list(range(n_blocks))
    return list(block.tolist())


def connected(n_nodes: int, edges: list[tuple[int, int]], one: int, other: int) -> bool:
    reached = {one}
    for _ in range(n_nodes):
        reached |= {end for edge in edges if reached & set(edge) for end in edge}
    return other in reached


def on_a_common_cycle(n_nodes: int, edges: list[tuple[int, int]], one: int, other: int) -> bool:
    """Two edges lie on a cycle if no third node separates them (Menger), nor one of the edges."""
    if any(
        not connected(n_nodes, [edge for k, edge in enumerate(edges) if k != out], *edges[out])
        for out in (one, other)
    ):
        return False
    for node in range(n_nodes):
        rest = [edge for edge in edges if node not in edge]
        ends = [next(end for end in edges[k] if end != node) for k in (one, other)]
        if not connected(n_nodes, rest, *ends):
            return False
    return True


@given(bond_graphs(max_sites=7))
def test_two_edges_are_in_one_block_if_they_lie_on_a_common_cycle(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n_nodes, edges = graph
    block = found_blocks(n_nodes, edges)
    for one, other in itertools.combinations(range(len(edges)), 2):
        expected = on_a_common_cycle(n_nodes, edges, one, other)
        assert (block[one] == block[other]) == expected


def test_parallel_edges_share_a_block() -> None:
    assert found_blocks(3, [(0, 1), (0, 1), (1, 2)]) in ([0, 0, 1], [1, 1, 0])
