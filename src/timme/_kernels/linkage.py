"""Sorted edges → merges → sizes and order of a tree. The only union–find is here."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def find(leader, site):
    """Follow leaders to the root, halving the path on the way."""
    while leader[site] != site:
        leader[site] = leader[leader[site]]
        site = leader[site]
    return site


@compiled
def joining_edges(n_sites, edges, order):
    """Take edges in some order: which of them join two clusters, and the clusters of sites."""
    leader = np.arange(n_sites)
    joining = np.empty(max(n_sites - 1, 0), np.int64)
    count = 0
    for index in order:
        first = find(leader, edges[index, 0])
        second = find(leader, edges[index, 1])
        if first != second:
            leader[max(first, second)] = min(first, second)
            joining[count] = index
            count += 1
            if count == n_sites - 1:
                break
    for site in range(n_sites):
        leader[site] = find(leader, site)
    return joining[:count], leader


@compiled
def joining_in_rounds(n_sites, edges, heights):
    """Which edges join clusters: in each round, the lowest of every cluster (Borůvka's way).

    Of equal edges the first counts as the lowest everywhere, so that no ring is closed. Edges of
    infinite height join nothing.
    """
    leader, cluster = np.arange(n_sites), np.arange(n_sites)
    best, lowest = np.empty(n_sites, np.int64), np.empty(n_sites)
    joining = np.empty(max(n_sites - 1, 0), np.int64)
    left, n_left, count = np.arange(len(heights)), len(heights), 0
    while n_left > 0:
        best[:] = -1
        lowest[:] = np.inf
        n_across = 0
        for k in range(n_left):
            edge, height = left[k], heights[left[k]]
            one, other = cluster[edges[edge, 0]], cluster[edges[edge, 1]]
            if one == other or not height < np.inf:
                continue
            left[n_across] = edge
            n_across += 1
            for end in (one, other):
                if height < lowest[end]:
                    best[end], lowest[end] = edge, height
        n_left = n_across
        for edge in best:
            if edge < 0:
                continue
            first, second = find(leader, edges[edge, 0]), find(leader, edges[edge, 1])
            if first != second:
                leader[max(first, second)] = min(first, second)
                joining[count] = edge
                count += 1
        for site in range(n_sites):
            cluster[site] = find(leader, site)
    return joining[:count]


@compiled
def joining_shown(edges, order, number, n_shown):
    """Take edges in some order: which of them join clusters of shown sites.

    ``number`` is the place of every site among those that are shown, or -1. Also returns a shown
    site of either cluster, by its number.
    """
    leader = np.arange(len(number))
    shown = number.copy()  # of each leader, a shown site of its cluster, or -1
    joining = np.empty(max(n_shown - 1, 0), np.int64)
    ends = np.empty((len(joining), 2), np.int64)
    count = 0
    for index in order:
        if count == len(joining):
            break
        first = find(leader, edges[index, 0])
        second = find(leader, edges[index, 1])
        if first == second:
            continue
        if shown[first] >= 0 and shown[second] >= 0:
            joining[count] = index
            ends[count, 0] = shown[first]
            ends[count, 1] = shown[second]
            count += 1
        low = min(first, second)
        leader[max(first, second)] = low
        shown[low] = max(shown[first], shown[second])
    return joining[:count], ends[:count]


@compiled
def edges_up_to(heights, limit, chosen):
    """List edges no higher than a limit in ``chosen``, which has room for all; return how many."""
    count = 0
    for edge in range(len(heights)):
        chosen[count] = edge  # written in any case, which is faster than to guess
        count += heights[edge] <= limit
    return count


@compiled
def edges_across(edges, heights, limit, cluster, chosen):
    """List edges above a limit that lead from one cluster to another; return how many."""
    count = 0
    for edge in range(len(heights)):
        chosen[count] = edge
        apart = cluster[edges[edge, 0]] != cluster[edges[edge, 1]]
        count += apart and heights[edge] > limit
    return count


@compiled
def merge_tree(n_sites, edges, heights):
    """Turn the sorted edges of a forest into the parents of its nodes, two parts to a merge.

    Sites are nodes 0 … n_sites - 1, merges follow in the order of the edges; a root has parent -1.
    Also returns the lowest site of each node and, of a chain of merges of equal height, the last.
    """
    n_merges = len(edges)
    leader = np.arange(n_sites)
    node = np.arange(n_sites)  # of each leader, the node that its cluster has become
    parent = np.full(n_sites + n_merges, -1)
    lowest = np.arange(n_sites + n_merges)
    for merge in range(n_merges):
        first = find(leader, edges[merge, 0])
        second = find(leader, edges[merge, 1])
        merged = n_sites + merge
        parent[node[first]] = merged
        parent[node[second]] = merged
        low = min(first, second)
        leader[max(first, second)] = low
        lowest[merged] = low  # a leader is the lowest site of its cluster
        node[low] = merged
    last = np.arange(n_sites + n_merges)
    for merged in range(n_sites + n_merges - 1, n_sites - 1, -1):
        above = parent[merged]
        if above >= 0 and heights[above - n_sites] == heights[merged - n_sites]:
            last[merged] = last[above]
    return parent, lowest, last


@compiled
def leaf_line(n_sites, edges, heights):
    """Put the sites of a forest in a line, clusters in one run; return it and the gaps in it.

    Edges are sorted by height, so that two sites are joined at the highest gap between them, which
    is infinite between trees.
    """
    leader = np.arange(n_sites)
    first, last = np.arange(n_sites), np.arange(n_sites)  # of each leader's run
    after, gap = np.full(n_sites, -1), np.full(n_sites, np.inf)
    for edge in range(len(edges)):
        one, other = find(leader, edges[edge, 0]), find(leader, edges[edge, 1])
        after[last[one]] = first[other]
        gap[last[one]] = heights[edge]
        low = min(one, other)
        leader[max(one, other)] = low
        first[low], last[low] = first[one], last[other]
    order, gaps = np.empty(n_sites, np.int64), np.empty(n_sites)
    count = 0
    for site in range(n_sites):
        if leader[site] == site:
            place = first[site]
            while place >= 0:
                order[count], gaps[count] = place, gap[place]
                count += 1
                place = after[place]
    return order, gaps[: n_sites - 1].copy()


@compiled
def sizes_and_lowest(n_sites, parents):
    """Count the sites below every node, and find the lowest of them."""
    sizes = np.zeros(len(parents), np.int64)
    lowest = np.full(len(parents), n_sites)
    for site in range(n_sites):
        sizes[site] = 1
        lowest[site] = site
    for node in range(len(parents)):
        above = parents[node]
        if above >= 0:
            sizes[above] += sizes[node]
            lowest[above] = min(lowest[above], lowest[node])
    return sizes, lowest


@compiled
def leaf_starts(parents, sizes, ranked):
    """Place every node's sites in one run: the start of each run in leaf order.

    ``ranked`` lists all nodes so that siblings (and roots) stand in the order they are to take.
    """
    placed = np.zeros(
        len(parents) + 1, np.int64
    )  # sites placed so far below each node; last: roots
    offset = np.empty(len(parents), np.int64)
    for node in ranked:
        above = parents[node]  # -1, a root, counts in the last entry
        offset[node] = placed[above]
        placed[above] += sizes[node]
    starts = offset
    for node in range(len(parents) - 1, -1, -1):  # parents come after their children
        if parents[node] >= 0:
            starts[node] += starts[parents[node]]
    return starts


@compiled
def highest_between(values, ends, found):
    """Find the highest of values between the two places of each pair, that of the later excluded.

    Maxima over spans of 1, 2, 4, … values are made once: two spans cover whatever is between.
    """
    n_values = len(values)
    n_powers = 1
    while 1 << n_powers <= n_values:
        n_powers += 1
    maxima = np.empty((n_powers, n_values))
    for k in range(n_values):
        maxima[0, k] = values[k]
    for power in range(1, n_powers):
        half = 1 << (power - 1)
        for k in range(n_values - 2 * half + 1):
            maxima[power, k] = max(maxima[power - 1, k], maxima[power - 1, k + half])
    powers = np.zeros(n_values + 1, np.int64)  # the largest span within so many values
    for k in range(2, n_values + 1):
        powers[k] = powers[k // 2] + 1
    for p in range(len(ends)):
        low = min(ends[p, 0], ends[p, 1])
        high = max(ends[p, 0], ends[p, 1])
        if low == high:
            found[p] = -np.inf
            continue
        power = powers[high - low]
        found[p] = max(maxima[power, low], maxima[power, high - (1 << power)])
