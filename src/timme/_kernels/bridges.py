"""Single sites and pairs on which a graph hangs: one walk in depth (Hopcroft and Tarjan)."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.crossing import _grouped


@compiled
def _walk(begins, partners, counted):
    """Walk in depth over all sites of a graph.

    Returns the earliest that what is below each site reaches, when it is found, its parent (-1 of
    where a walk begins), and how many count of it and what is below it.
    """
    n_sites = len(counted)
    order, parents = np.full(n_sites, -1), np.full(n_sites, -1)
    low, below = np.zeros(n_sites, np.int64), counted.copy()
    following, waiting = begins[:-1].copy(), np.empty(n_sites, np.int64)
    count = 0
    for root in range(n_sites):
        if order[root] >= 0:
            continue
        waiting[0], depth = root, 1
        order[root] = low[root] = count
        count += 1
        while depth > 0:
            site = waiting[depth - 1]
            if following[site] < begins[site + 1]:
                other = partners[following[site]]
                following[site] += 1
                if order[other] < 0:
                    parents[other] = site
                    order[other] = low[other] = count
                    count += 1
                    waiting[depth] = other
                    depth += 1
                elif other != parents[site]:
                    low[site] = min(low[site], order[other])
            else:
                depth -= 1
                above = parents[site]
                if above >= 0:
                    low[above] = min(low[above], low[site])
                    below[above] += below[site]
    return low, order, parents, below


@compiled
def parts_without(edges, counted):
    """Count what is left of a graph in one piece without each of its pairs and sites.

    Parameters
    ----------
    edges : ndarray of int, shape (edges, 2)
        Pairs of sites.
    counted : ndarray of int, shape (sites,)
        How much each site counts.

    Returns
    -------
    parents : ndarray of int, shape (sites,)
        With each site but those where a walk begins, the other end of a pair.
    by_pair : ndarray of int, shape (sites,)
        What the smaller part counts without that pair, 0 if it holds nothing alone.
    by_site : ndarray of int, shape (sites, 2)
        What the two largest parts count without each site, the larger first.
    """
    n_sites = len(counted)
    ends = np.concatenate((edges[:, 0], edges[:, 1]))
    others = np.concatenate((edges[:, 1], edges[:, 0]))
    begins, partners = _grouped(ends, others, n_sites)
    low, order, parents, below = _walk(begins, partners, counted)
    total = counted.sum()
    by_pair, held = np.zeros(n_sites, np.int64), np.zeros(n_sites, np.int64)
    by_site = np.zeros((n_sites, 2), np.int64)
    for site in range(n_sites):
        above = parents[site]
        if above < 0 or low[site] < order[above]:
            continue
        if low[site] > order[above]:
            by_pair[site] = min(below[site], total - below[site])
        held[above] += below[site]
        _insert(by_site[above], below[site])
    for site in range(n_sites):
        _insert(by_site[site], total - counted[site] - held[site])
    return parents, by_pair, by_site


@compiled
def _insert(largest, value):
    """Keep a value if it is among the two largest."""
    if value > largest[0]:
        largest[1] = largest[0]
        largest[0] = value
    elif value > largest[1]:
        largest[1] = value
