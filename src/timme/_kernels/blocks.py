"""Blocks of a graph: edges that lie on a common cycle."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def blocks(n_nodes, ends, bonds, block):
    """Fill in the block of each edge: edges that lie on a common cycle are in one block.

    ``bonds`` are the first entry of each node, then other ends and numbers of edges. Returns the
    number of blocks. (Hopcroft and Tarjan's walk, with a stack in place of recursion.)
    """
    begin, others, numbers = bonds
    depth = np.full(n_nodes, -1)
    low = np.empty(n_nodes, np.int64)
    entry = begin[:-1].copy()
    by = np.full(n_nodes, -1)  # edge by which a node was entered
    above = np.full(n_nodes, -1)
    waiting = np.empty(len(ends), np.int64)  # edges walked and not yet in a block
    n_waiting, n_blocks = 0, 0
    for root in range(n_nodes):
        if depth[root] >= 0:
            continue
        depth[root] = low[root] = 0
        node = root
        while node >= 0:
            if entry[node] < begin[node + 1]:
                other, edge = others[entry[node]], numbers[entry[node]]
                entry[node] += 1
                if edge == by[node] or (depth[other] >= 0 and depth[other] > depth[node]):
                    continue
                waiting[n_waiting] = edge
                n_waiting += 1
                if depth[other] >= 0:
                    low[node] = min(low[node], depth[other])
                else:
                    depth[other] = low[other] = depth[node] + 1
                    by[other], above[other] = edge, node
                    node = other
                continue
            parent = above[node]
            if parent >= 0:
                low[parent] = min(low[parent], low[node])
                if low[node] >= depth[parent]:
                    while True:
                        n_waiting -= 1
                        block[waiting[n_waiting]] = n_blocks
                        if waiting[n_waiting] == by[node]:
                            break
                    n_blocks += 1
            node = parent
    return n_blocks
