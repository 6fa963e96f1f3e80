"""Keep the lowest edges that hold clusters together, and make one tree of them, ties included."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._kernels import linkage

_FEW = 4  # edges for each site that are joined before the others are looked at
_SAMPLE = 1 << 16  # heights by which it is judged how high these are


def spanning_forest(n_sites: int, edges: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Keep the lowest edges that hold every cluster together, sorted by height.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges : ndarray, shape (edges, 2)
        Pairs of sites.
    heights : ndarray, shape (edges,)
        Height of each; edges of infinite height join nothing.

    Returns
    -------
    edges : ndarray, shape (joins, 2)
        At most ``n_sites - 1`` edges.
    heights : ndarray, shape (joins,)
        Their heights, ascending.
    """
    heights = np.asarray(heights, dtype=np.float64)
    few = _FEW * n_sites
    # To sort all of many would take longest. Those within clusters of lower ones join nothing.
    while len(heights) > 2 * few:
        n_before = len(heights)
        edges, heights = _without_inner(n_sites, edges, heights, few)
        if len(heights) > n_before // 2:  # the lowest are all within one core
            edges, heights = _join_in_rounds(n_sites, edges, heights)
    if len(heights) > 2 * n_sites:  # what is no part of the tree need not be sorted
        edges, heights = _join_in_rounds(n_sites, edges, heights)
    edges, heights, _ = _join(n_sites, edges, heights)
    return edges, heights


def shown_forest(edges: Ints, heights: Floats, n_sites: int, shown: Ints) -> tuple[Ints, Floats]:
    """Keep what holds clusters of some of the sites together, along whatever others.

    Parameters
    ----------
    edges : ndarray, shape (edges, 2)
        Pairs of sites.
    heights : ndarray, shape (edges,)
        Height of each; edges of infinite height join nothing.
    n_sites : int
        Number of sites.
    shown : ndarray of int
        Sites that count, each once, numbered in this order.

    Returns
    -------
    edges : ndarray, shape (joins, 2)
        At most ``len(shown) - 1``, between shown sites.
    heights : ndarray, shape (joins,)
        Their heights, ascending.
    """
    number = np.full(n_sites, -1)
    number[shown] = np.arange(len(shown))
    if len(heights) > 2 * n_sites:
        edges, heights = _join_in_rounds(n_sites, edges, heights)
    joining, ends = linkage.joining_shown(_writeable(edges), _ranked(heights), number, len(shown))
    return ends, heights[joining]


def canonical_tree(n_sites: int, edges: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Build the tree that does not depend on the order of equal edges.

    Merges of equal height that touch become one; merges are sorted by height and then by their
    lowest site.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges, heights : ndarray
        As :func:`spanning_forest` returns them.

    Returns
    -------
    parents : ndarray, shape (nodes,)
        Of sites and merges; -1 for a root.
    heights : ndarray, shape (merges,)
        Height of each merge, ascending.
    """
    parent, lowest, last = linkage.merge_tree(n_sites, edges, heights)
    merges = np.arange(n_sites, len(parent))
    kept = merges[last[merges] == merges]
    kept = kept[np.lexsort((lowest[kept], heights[kept - n_sites]))]
    nodes = np.concatenate([np.arange(n_sites), kept])
    number = np.full(len(parent) + 1, -1)  # the last is what -1, no parent, becomes
    number[nodes] = np.arange(len(nodes))
    above = np.where(parent[nodes] >= 0, last[parent[nodes]], -1)
    return number[above], heights[kept - n_sites]


def _without_inner(n_sites: int, edges: Ints, heights: Floats, few: int) -> tuple[Ints, Floats]:
    """Join about the lowest few edges; keep those that did, and higher ones between clusters."""
    edges, heights = frozen(np.ascontiguousarray(edges)), frozen(np.ascontiguousarray(heights))
    sample = heights[:: -(-len(heights) // _SAMPLE)]
    place = few * len(sample) // len(heights)
    limit = float(np.partition(sample, place)[place])
    chosen = np.empty(len(heights) + 1, np.int64)
    low = chosen[: linkage.edges_up_to(heights, limit, chosen)]
    lower, lower_heights, cluster = _join(n_sites, edges[low], heights[low])
    across = chosen[: linkage.edges_across(edges, heights, limit, cluster, chosen)]
    return (
        np.concatenate([lower, edges[across]]),
        np.concatenate([lower_heights, heights[across]]),
    )


def _join_in_rounds(n_sites: int, edges: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Edges that join clusters, in the order in which they were given, and their heights."""
    edges = np.require(edges, requirements=["C", "W"])
    heights = np.require(heights, requirements=["C", "W"])
    joining = np.sort(linkage.joining_in_rounds(n_sites, edges, heights))
    return edges[joining], heights[joining]


def _join(n_sites: int, edges: Ints, heights: Floats) -> tuple[Ints, Floats, Ints]:
    """Edges that join clusters, sorted by height, their heights, and the cluster of each site."""
    joining, cluster = linkage.joining_edges(n_sites, _writeable(edges), _ranked(heights))
    return edges[joining], heights[joining], cluster


def _ranked(heights: Floats) -> Ints:
    """Edges by height, equal ones in their order, without those that join nothing."""
    ranked = _argsort(heights)
    ends = heights[ranked[:1]], heights[ranked[-1:]]
    return ranked if np.isfinite(ends).all() else ranked[np.isfinite(heights[ranked])]


def _argsort(heights: Floats) -> Ints:
    """Sort heights, equal ones in their order.

    Those of draws are numbers of single precision, whose bits are in the order of the numbers if
    none is negative. With its place in the lower half of a word, each is sorted as a number: trees
    of draws take a quarter less time.
    """
    with np.errstate(over="ignore"):  # what is too large is no number of single precision
        singles = heights.astype(np.float32) + np.float32(0.0)  # which has one zero only
    if not (np.array_equal(singles, heights) and (singles >= 0.0).all()):
        return np.argsort(heights, kind="stable")
    words = singles.view(np.uint32).astype(np.uint64) << np.uint64(32)
    words += np.arange(len(words), dtype=np.uint64)
    words.sort()
    return (words & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _writeable(edges: Ints) -> Ints:
    return edges if edges.flags.writeable else edges.copy()  # what loops are compiled for
