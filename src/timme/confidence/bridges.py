"""Point out chaining: clusters that hang together by one site or one pair.

Single linkage joins two bodies as soon as one pair between them is still. A cluster that falls into
two large parts when a single site, or a single pair, is taken away is held by a bridge. At the
cutoff at which it is complete every cluster is held by its last pair; so it is looked at half-way,
in log σ, to where it joins another.

Of the pairs of a cluster only two forests matter: one that a search in breadth finds, and one that
it finds among the others. Whatever single site or pair holds the cluster holds these, too
(Cheriyan, Kao and Thurimella, 1993), and they have less than two pairs a site to be walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme._arrays import Floats, Ints
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.condensed import MIN_SIZE
from timme.hierarchy.forest import spanning_forest


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


def find_bridges(
    sigma: Fluctuations,
    clusters: Sequence[tuple[int, float]],
    *,
    shown: Ints,
    min_size: int = MIN_SIZE,
) -> list[Bridge | None]:
    """Find what clusters of shown objects hang on, among all objects that are compared.

    Parameters
    ----------
    sigma : Fluctuations
        σ of the pairs that were linked.
    clusters : sequence of (int, float)
        An object of each cluster, and the cutoff at which it is looked at.
    shown : ndarray of int
        Objects that count.
    min_size : int, optional
        Shown objects that both parts need.

    Returns
    -------
    list of Bridge or None
        As :func:`find_bridge` finds them, for each cluster.
    """
    if not clusters:
        return []
    edges, heights = spanning_forest(sigma.n_objects, sigma.pairs, sigma.sigma)
    low = np.flatnonzero(sigma.sigma <= max(cutoff for _, cutoff in clusters))
    low = low[np.argsort(sigma.sigma[low])]
    pairs, rising = sigma.pairs[low], sigma.sigma[low]
    found = list[Bridge | None]()
    for site, cutoff in clusters:
        labels = _components(sigma.n_objects, edges[heights <= cutoff])
        own = np.flatnonzero(labels == labels[site])
        here = slice(int(np.searchsorted(rising, cutoff, "right")))
        found.append(
            find_bridge(
                own, pairs[here], rising[here], cutoff=cutoff, min_size=min_size, shown=shown
            )
        )
    return found


def find_bridge(
    sites: Sequence[int] | Ints,
    pairs: Ints,
    heights: Floats,
    *,
    cutoff: float,
    min_size: int = MIN_SIZE,
    shown: Ints | None = None,
) -> Bridge | None:
    """Find what a cluster hangs on: the site or pair whose loss leaves two large parts.

    Parameters
    ----------
    sites : sequence of int
        Of the cluster, which hangs together at the cutoff.
    pairs : ndarray of int, shape (pairs, 2)
        Who was compared with whom.
    heights : ndarray, shape (pairs,)
        Such as σ.
    cutoff : float
        At which the cluster is looked at.
    min_size : int, optional
        Sites that both parts need.
    shown : ndarray of int, optional
        Sites that count; all by default.

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
    counted = np.ones(len(members), np.int64)
    if shown is not None:
        counted = np.isin(members, shown).astype(np.int64)
    edges = _two_forests(len(members), number[pairs[inside]])
    found = list(_weak_points(counted.tolist(), edges, min_size))
    if not found:
        return None
    best = max(found, key=lambda weak: (weak.sizes[1], len(weak.sites), -min(weak.sites)))
    return Bridge(tuple(int(members[site]) for site in best.sites), best.sizes)


def _weak_points(counted: list[int], edges: Ints, min_size: int) -> Iterator[Bridge]:
    """Edges and sites whose loss parts what they hold together (Hopcroft and Tarjan)."""
    low, order, parents, below = _walk(counted, edges)
    total = sum(counted)
    apart: dict[int, list[int]] = {}  # what each site alone holds
    for site, above in enumerate(parents):
        if above < 0:
            continue
        one, other = below[site], total - below[site]
        if low[site] > order[above] and min(one, other) >= min_size:
            ends = (min(site, above), max(site, above))
            yield Bridge(ends, (max(one, other), min(one, other)))
        if low[site] >= order[above]:
            apart.setdefault(above, []).append(below[site])
    for site, held in apart.items():
        rest = total - counted[site] - sum(held)
        one, other = sorted((*held, rest), reverse=True)[:2]
        if other >= min_size:
            yield Bridge((site,), (one, other))


def _walk(counted: list[int], edges: Ints) -> tuple[list[int], list[int], list[int], list[int]]:
    """Walk in depth over all sites.

    The earliest that what is below each site reaches, when it is found, its parent, and how many
    count of it and what is below it.
    """
    n_sites = len(counted)
    neighbours: list[list[int]] = [[] for _ in range(n_sites)]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    order, low, parents = [-1] * n_sites, [0] * n_sites, [-1] * n_sites
    below, count = list(counted), 0
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
                    below[above] += below[site]
    return low, order, parents, below


def _two_forests(n_sites: int, edges: Ints) -> Ints:
    """Edges of a forest found in breadth, and of another found among all others."""
    first = _breadth_first(n_sites, edges)
    keys = np.sort(edges, axis=1) @ [n_sites, 1]
    others = edges[~np.isin(keys, np.sort(first, axis=1) @ [n_sites, 1])]
    return np.concatenate([first, _breadth_first(n_sites, others)])


def _breadth_first(n_sites: int, edges: Ints) -> Ints:
    """Edges of a search in breadth that begins at once in every piece."""
    pieces = _components(n_sites, edges)
    roots = np.unique(pieces, return_index=True)[1]
    from_all = np.column_stack([np.full(len(roots), n_sites), roots])
    graph = _graph(n_sites + 1, np.concatenate([edges, from_all]))
    _, before = csgraph.breadth_first_order(graph, n_sites, directed=False)
    before = before[:n_sites]
    found = np.flatnonzero((before >= 0) & (before < n_sites))
    return np.column_stack([found, before[found]]).astype(np.int64)


def _components(n_sites: int, edges: Ints) -> Ints:
    labels = csgraph.connected_components(_graph(n_sites, edges), directed=False)[1]
    return labels.astype(np.int64)


def _graph(n_sites: int, edges: Ints) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(edges)), edges.T), shape=(n_sites, n_sites))
