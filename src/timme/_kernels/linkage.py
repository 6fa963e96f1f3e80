"""Merges from sorted edges: clusters, their tree and its leaf order, braced heights, overlaps."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def find(leaders, site):
    """Leader of the cluster of a site; the path to it is halved on the way."""
    while leaders[site] != site:
        leaders[site] = leaders[leaders[site]]
        site = leaders[site]
    return site


@compiled
def join(edges, leaders, joining):
    """List the edges, taken in their order, that join two clusters; return their number.

    ``leaders`` holds the cluster of each site, known by its lowest site, and is kept up to date.
    ``joining`` has room for as many edges as there are clusters to be joined.
    """
    count = 0
    for edge in range(len(edges)):
        if count == len(joining):
            break
        first = find(leaders, edges[edge, 0])
        second = find(leaders, edges[edge, 1])
        if first != second:
            leaders[max(first, second)] = min(first, second)
            joining[count] = edge
            count += 1
    for site in range(len(leaders)):
        leaders[site] = find(leaders, site)
    return count


@compiled
def edges_between(edges, heights, low, high, leaders):
    """List the edges above a height, up to another, whose ends are in different clusters."""
    chosen, count = np.empty(len(heights) + 1, np.int64), 0
    for edge in range(len(heights)):
        chosen[count] = edge  # without a branch, which would often be predicted wrongly
        apart = leaders[edges[edge, 0]] != leaders[edges[edge, 1]]
        count += apart & (heights[edge] > low) & (heights[edge] <= high)
    return chosen[:count]


@compiled
def merge_tree(n_sites, edges, heights):
    """Parents of the nodes of a forest, two parts to a merge; a root has parent -1.

    Sites are nodes 0 … n_sites - 1; merges follow in the order of the edges, which are sorted by
    height. Also returns the lowest site of each node and, for each node in a chain of merges of
    equal height, the last of them.
    """
    n_nodes = n_sites + len(edges)
    leaders = np.arange(n_sites)
    nodes = np.arange(n_sites)  # node that the cluster of each leader has become
    parents = np.full(n_nodes, -1)
    lowest = np.arange(n_nodes)
    for edge in range(len(edges)):
        first = find(leaders, edges[edge, 0])
        second = find(leaders, edges[edge, 1])
        merge = n_sites + edge
        parents[nodes[first]] = merge
        parents[nodes[second]] = merge
        leader = min(first, second)
        leaders[max(first, second)] = leader
        lowest[merge] = leader
        nodes[leader] = merge
    last = np.arange(n_nodes)
    for merge in range(n_nodes - 1, n_sites - 1, -1):
        above = parents[merge]
        if above >= 0 and heights[above - n_sites] == heights[merge - n_sites]:
            last[merge] = last[above]
    return parents, lowest, last


@compiled
def sizes_and_lowest(n_sites, parents):
    """Number of sites below each node, and the lowest of them; parents follow their parts."""
    sizes = np.zeros(len(parents), np.int64)
    lowest = np.full(len(parents), n_sites)
    for node in range(len(parents)):
        if node < n_sites:
            sizes[node] = 1
            lowest[node] = node
        above = parents[node]
        if above >= 0:
            sizes[above] += sizes[node]
            lowest[above] = min(lowest[above], lowest[node])
    return sizes, lowest


@compiled
def leaf_starts(parents, sizes, ranked):
    """Place in leaf order of the first site of each node.

    ``ranked`` lists all nodes so that parts of one node, and roots, stand in the order they take.
    """
    placed = np.zeros(len(parents) + 1, np.int64)  # sites placed below each node; last: all roots
    starts = np.empty(len(parents), np.int64)
    for node in ranked:
        above = parents[node]  # -1 is the last entry
        starts[node] = placed[above]
        placed[above] += sizes[node]
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            starts[node] += starts[parents[node]]
    return starts


@compiled
def braced_heights(pairs, heights, starts, partners, values, lowest, braced):
    """Height from which on each pair is near itself and shares enough partners that are near.

    Row k of ``partners``, from ``starts[k]`` on, holds the partners of site k in ascending order,
    and ``values`` the heights of these pairs. As many partners are shared as ``lowest`` has room
    for; inf where a pair never shares so many.
    """
    for pair in range(len(pairs)):
        one, one_end = starts[pairs[pair, 0]], starts[pairs[pair, 0] + 1]
        other, other_end = starts[pairs[pair, 1]], starts[pairs[pair, 1] + 1]
        lowest[:] = np.inf  # ascending
        while one < one_end and other < other_end:
            if partners[one] < partners[other]:
                one += 1
            elif partners[one] > partners[other]:
                other += 1
            else:
                value = max(values[one], values[other])
                place = len(lowest) - 1
                if value < lowest[place]:
                    while place > 0 and lowest[place - 1] > value:
                        lowest[place] = lowest[place - 1]
                        place -= 1
                    lowest[place] = value
                one += 1
                other += 1
        braced[pair] = max(heights[pair], lowest[-1])


@compiled
def joint_sums(first, second, terms, pairs, logs):
    """Sum n (n - 1) / 2 and n ln n over the shared sites of clusters, for all pairs of partitions.

    Sites are in the leaf order of the second hierarchy, where its clusters are runs.

    Parameters
    ----------
    first, second : int64 (rows, sites), (columns, sites)
        Labels of the clusters, from 0 to below the number of sites.
    terms : float64 (sites + 1,)
        n ln n.
    pairs, logs : float64 (rows, columns)
        Filled.
    """
    n_sites = first.shape[1]
    counts = np.zeros(n_sites, np.int64)
    for row in range(len(first)):
        labels = first[row]
        for column in range(len(second)):
            runs = second[column]
            total, entropy, start = 0, 0.0, 0
            for site in range(n_sites):
                counts[labels[site]] += 1
                if site + 1 == n_sites or runs[site + 1] != runs[site]:
                    for member in range(start, site + 1):
                        count = counts[labels[member]]
                        counts[labels[member]] = 0
                        total += count * (count - 1) // 2
                        entropy += terms[count]
                    start = site + 1
            pairs[row, column] = total
            logs[row, column] = entropy
