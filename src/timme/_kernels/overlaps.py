"""Overlaps of clusters with the nodes of a tree: shared sites over those of either."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled(error_model="numpy")
def best_overlaps(masks, starts, sizes, overlaps, nodes):
    """Find the node that overlaps each cluster best, the first of equals.

    ``masks`` are (clusters, sites) in leaf order, in which the sites of a node are one run. No
    overlap exceeds the smaller size over the larger: most nodes need not be looked at.
    """
    n_clusters, n_sites = masks.shape
    counted = np.zeros(n_sites + 1, np.int64)
    for cluster in range(n_clusters):
        for site in range(n_sites):
            counted[site + 1] = counted[site] + masks[cluster, site]
        size = counted[n_sites]
        best, found = -1.0, 0
        for node in range(len(starts)):
            smaller, larger = min(size, sizes[node]), max(size, sizes[node])
            if smaller <= best * larger:
                continue
            shared = counted[starts[node] + sizes[node]] - counted[starts[node]]
            overlap = shared / (size + sizes[node] - shared)
            if overlap > best:
                best, found = overlap, node
        overlaps[cluster] = best
        nodes[cluster] = found
