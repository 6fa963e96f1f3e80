"""Point out chaining: clusters that hang together by one site or one pair.

Single linkage joins two bodies as soon as one pair between them is still. A cluster that falls into
two large parts when a single site, or a single pair, is taken away is held by a bridge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme._arrays import Floats, Ints
from timme.hierarchy.condensed import MIN_SIZE


@dataclass(frozen=True, slots=True)
class Bridge:
    """A site or a pair on which a cluster hangs."""

    sites: tuple[int, ...]  # one site, or the two of a pair
    sizes: tuple[int, int]  # of the largest parts without it, largest first

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        what = "one site" if len(self.sites) == 1 else "one pair"
        return f"hangs on {what}: without it, parts of {self.sizes[0]} and {self.sizes[1]}"


def find_bridge(
    sites: Sequence[int] | Ints,
    pairs: Ints,
    heights: Floats,
    *,
    cutoff: float,
    min_size: int = MIN_SIZE,
) -> Bridge | None:
    """Find what a cluster hangs on: the site or pair whose loss leaves two large parts.

    Parameters
    ----------
    sites : sequence of int
        Of the cluster.
    pairs : ndarray of int, shape (pairs, 2)
        Who was compared with whom.
    heights : ndarray, shape (pairs,)
        Such as σ.
    cutoff : float
        At which the cluster is looked at.
    min_size : int, optional
        Sites that both parts need.

    Returns
    -------
    Bridge or None
        Of several, that with the largest smaller part, a pair before a site; None if the cluster
        holds by more than one of either.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]])
    >>> find_bridge(range(6), pairs, np.ones(7), cutoff=1.0, min_size=3)
    Bridge(sites=(2, 3), sizes=(3, 3))
    """
    members = np.asarray(sites, np.int64)
    number = np.full(int(max(members.max(initial=0), pairs.max(initial=0))) + 1, -1)
    number[members] = np.arange(len(members))
    inside = (number[pairs] >= 0).all(axis=1) & (heights <= cutoff)
    edges = number[pairs[inside]]
    found = list[tuple[int, int, Bridge]]()
    single_edges, single_sites = _weak_points(len(members), edges)
    for ends in single_edges:
        kept = edges[(np.sort(edges, axis=1) != ends).any(axis=1)]
        sizes = _two_largest(len(members), kept)
        one, other = members[list(ends)].tolist()
        found.append((sizes[1], 1, Bridge((one, other), sizes)))
    for site in single_sites:
        sizes = _two_largest(len(members), edges[(edges != site).all(axis=1)])
        found.append((sizes[1], 0, Bridge((int(members[site]),), sizes)))
    held = [each for each in found if each[0] >= min_size]
    return max(held, key=lambda each: each[:2])[2] if held else None


def _weak_points(n_sites: int, edges: Ints) -> tuple[list[tuple[int, int]], list[int]]:
    """Edges and sites whose loss parts what they hold together (Hopcroft and Tarjan)."""
    low, order, parents = _walk(n_sites, edges)
    children = np.bincount([above for above in parents if above >= 0], minlength=n_sites)
    single_edges, single_sites = list[tuple[int, int]](), set[int]()
    for site, above in enumerate(parents):
        if above < 0:
            continue
        if low[site] > order[above]:
            single_edges.append((min(site, above), max(site, above)))
        if low[site] >= order[above] and (parents[above] >= 0 or children[above] > 1):
            single_sites.add(above)
    return single_edges, sorted(single_sites)


def _walk(n_sites: int, edges: Ints) -> tuple[list[int], list[int], list[int]]:
    """Walk in depth: when each site is found, the earliest that its subtree reaches, its parent."""
    neighbours: list[list[int]] = [[] for _ in range(n_sites)]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    order, low, parents = [-1] * n_sites, [0] * n_sites, [-1] * n_sites
    count = 0
    for root in range(n_sites):
        if order[root] >= 0:
            continue
        waiting = [(root, iter(neighbours[root]))]
        order[root] = low[root] = count
        count += 1
        while waiting:
            site, others = waiting[-1]
            for other in others:
                if order[other] < 0:
                    parents[other] = site
                    order[other] = low[other] = count
                    count += 1
                    waiting.append((other, iter(neighbours[other])))
                    break
                if other != parents[site]:
                    low[site] = min(low[site], order[other])
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    low[above] = min(low[above], low[site])
    return low, order, parents


def _two_largest(n_sites: int, edges: Ints) -> tuple[int, int]:
    ones = np.ones(len(edges), bool)
    graph = sparse.csr_array((ones, edges.T), shape=(n_sites, n_sites))
    labels = csgraph.connected_components(graph, directed=False)[1]
    sizes = np.sort(np.bincount(labels))[::-1].tolist()
    return int(sizes[0]), int(sizes[1]) if len(sizes) > 1 else 0
