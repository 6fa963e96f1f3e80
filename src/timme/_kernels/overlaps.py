"""Find in a tree the node that overlaps a set of sites best, without looking at most nodes twice.

The sites of a node are a run in leaf order, so that how many of them are wanted is the difference
of two counts along that order. The overlap of two sets is at most the smaller over the larger of
their sizes: a node that could not be better by its size alone is passed over.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def best_nodes(masks, order, starts, sizes):
    """Overlap (Jaccard) and number of the best node for each mask; of equal ones, the lowest.

    ``masks`` is (sets, sites); the sites of a node are ``sizes`` of it along ``order``, from
    ``starts`` of it on.
    """
    overlaps, nodes = np.empty(len(masks)), np.empty(len(masks), np.int64)
    counted = np.zeros(len(order) + 1, np.int64)
    for row in range(len(masks)):
        for place in range(len(order)):
            counted[place + 1] = counted[place] + masks[row, order[place]]
        wanted = counted[len(order)]
        best, found = -1.0, -1
        for node in range(len(starts)):
            size = sizes[node]
            if min(size, wanted) <= best * max(size, wanted):
                continue
            shared = counted[starts[node] + size] - counted[starts[node]]
            overlap = shared / (wanted + size - shared)
            if overlap > best:
                best, found = overlap, node
        overlaps[row], nodes[row] = best, found
    return overlaps, nodes
