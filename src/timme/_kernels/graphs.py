"""Blocks of a graph: sets of edges of which any two lie on a common cycle."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def blocks(starts, partners, numbers, block):
    """Fill in the block of each edge, and return the number of blocks.

    Row k of ``partners`` and ``numbers``, from ``starts[k]`` on, holds the other ends and the
    numbers of the edges of node k. Parallel edges share a block, a loop is on no cycle with others.
    (Walk in depth of Hopcroft and Tarjan, with a stack in place of recursion.)
    """
    n_nodes = len(starts) - 1
    depth = np.full(n_nodes, -1)
    low = np.empty(n_nodes, np.int64)  # least depth reached from a node and those below it
    following = starts[:-1].copy()
    parents, entered_by = np.full(n_nodes, -1), np.full(n_nodes, -1)
    stack = np.empty(len(block), np.int64)  # edges passed that are in no block yet
    n_stacked, n_blocks = 0, 0
    for root in range(n_nodes):
        if depth[root] >= 0:
            continue
        depth[root] = low[root] = 0
        node = root
        while node >= 0:
            if following[node] < starts[node + 1]:
                other, edge = partners[following[node]], numbers[following[node]]
                following[node] += 1
                if edge == entered_by[node] or depth[other] > depth[node]:
                    continue
                stack[n_stacked] = edge
                n_stacked += 1
                if depth[other] >= 0:
                    low[node] = min(low[node], depth[other])
                else:
                    depth[other] = low[other] = depth[node] + 1
                    entered_by[other], parents[other] = edge, node
                    node = other
                continue
            parent = parents[node]
            if parent >= 0:
                low[parent] = min(low[parent], low[node])
                if low[node] >= depth[parent]:
                    edge = -1
                    while edge != entered_by[node]:
                        n_stacked -= 1
                        edge = stack[n_stacked]
                        block[edge] = n_blocks
                    n_blocks += 1
            node = parent
    return n_blocks
