"""The condensed tree: splits of a hierarchy that leave something large on both sides.

Most merges add a stray site to a cluster. Without these, clusters remain that live side by side
until they join. Such a cluster grows along a lineage of nodes, from the first that is large enough
to the last before it joins another. A plateau is a range of cutoffs in which it stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, numbers, whole
from timme._text import Described
from timme.hierarchy.tree import Hierarchy

MIN_SIZE = 10  # sites; with 5, a body that bends smoothly is split in most long trajectories
PLATEAU = 0.5  # least width, in log σ; by chance it stays below 0.25 in 50 snapshots or more


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CondensedTree(Described):
    """Roots, and parts of splits into two or more large clusters.

    Clusters are sorted: parents before their parts, of these the larger first.
    """

    hierarchy: Hierarchy
    min_size: int
    nodes: Ints  # (clusters,), node of the hierarchy
    parents: Ints  # (clusters,), cluster that was split, by its place in this list; -1 for roots
    owners: Ints  # (nodes,), smallest cluster that holds each node of the hierarchy; -1 if none

    def __len__(self) -> int:
        """Count the clusters."""
        return len(self.nodes)

    @property
    def births(self) -> Floats:
        """Height at which each cluster is complete."""
        return self.hierarchy.births[self.nodes]

    @property
    def deaths(self) -> Floats:
        """Height at which each cluster joins its siblings; inf for roots."""
        return self.hierarchy.deaths[self.nodes]

    @property
    def sizes(self) -> Ints:
        """Number of sites in each cluster."""
        return self.hierarchy.sizes[self.nodes]

    def siblings(self, cluster: int) -> Ints:
        """Return the other parts of the split that a cluster is a part of.

        Parameters
        ----------
        cluster : int
            Its place in the list.

        Returns
        -------
        ndarray of int
            Their places; none for a root.
        """
        above = self.parents[cluster]
        return np.setdiff1d(np.flatnonzero((self.parents == above) & (above >= 0)), [cluster])

    def members(self, cluster: int) -> Ints:
        """Return the sites of a cluster.

        Parameters
        ----------
        cluster : int
            Its place in the list.

        Returns
        -------
        ndarray of int
            Its sites in ascending order.
        """
        return self.hierarchy.members(self.nodes[cluster])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lineage(Described):
    """The representative of a growing cluster: its widest plateau, or its last node."""

    sites: Ints  # of the representative, ascending
    low: float  # cutoff from which these sites are together
    high: float  # cutoff at which others join them
    width: float  # log(high / low), inf if low is 0; 0 if too few sites are outside
    node: int  # of the hierarchy: the representative
    top: int  # of the hierarchy: the last node of the lineage, a cluster of the condensed tree


def condense(hierarchy: Hierarchy, *, min_size: int = MIN_SIZE) -> CondensedTree:
    """Keep the splits of a hierarchy that have at least so many sites on both sides.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters; restrict it first to count some of the sites only.
    min_size : int, optional
        Sites that each side needs.

    Returns
    -------
    CondensedTree
        Its roots are the trees of at least as many sites.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> steps = np.array([1.0, 5.0, 2.0, 3.0])  # between neighbours along a line
    >>> hierarchy = grow(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), steps)
    >>> condensed = condense(hierarchy, min_size=2)
    >>> [condensed.members(cluster).tolist() for cluster in range(len(condensed))]
    [[0, 1, 2, 3, 4], [2, 3, 4], [0, 1]]
    >>> condensed.deaths.tolist()
    [inf, 5.0, 5.0]
    """
    whole(min_size, 2, "min_size=")
    above = hierarchy.parents
    large = hierarchy.sizes >= min_size
    n_large_parts = np.bincount(above[large & (above >= 0)], minlength=len(above))
    chosen = np.flatnonzero(large & ((above < 0) | (n_large_parts[above] > 1)))
    ranks = (hierarchy.lowest[chosen], -hierarchy.sizes[chosen], -hierarchy.deaths[chosen])
    chosen = chosen[np.lexsort(ranks)]
    owners = np.full(len(above) + 1, -1)  # the last entry is that of -1, no parent
    owners[chosen] = np.arange(len(chosen))
    for node in range(len(above) - 1, -1, -1):
        if owners[node] < 0:
            owners[node] = owners[above[node]]
    parents, owners = frozen(owners[above[chosen]]), frozen(owners[:-1])
    return CondensedTree(hierarchy, min_size, frozen(chosen), parents, owners)


def lineages(
    hierarchy: Hierarchy,
    *,
    min_size: int = MIN_SIZE,
    tolerance: float = 0.0,
    ends: npt.ArrayLike | None = None,
    strays: bool = False,
) -> tuple[Lineage, ...]:
    """Return the representative of each cluster of the condensed tree, in the same order.

    It is the node with the widest range of log σc over which its sites stay together and no others
    join, among the nodes that leave at least `min_size` sites outside; the last node of the
    lineage if no range is wider than 0.5.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters, of heights that are not negative.
    min_size : int, optional
        Sites that a cluster needs.
    tolerance : float, optional
        Growth by this share of its size does not end a range.
    ends : array_like, shape (trees,), optional
        Height at which each separate tree ends, in the order of ``hierarchy.cut(inf)``, such as
        the median σ to all other sites. By default, the range of a whole tree is not known.
    strays : bool, optional
        Whether a node that leaves fewer sites outside represents a lineage in which no other range
        is wider than 0.5. By chance a few sites join last, so such a range alone shows nothing.

    Returns
    -------
    tuple of Lineage
        One for each cluster.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> steps = np.array([1.0, 9.0, 1.0, 2.0])  # between neighbours along a line
    >>> hierarchy = grow(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), steps)
    >>> [(line.sites.tolist(), line.low, line.high) for line in lineages(hierarchy, min_size=2)]
    [([0, 1, 2, 3, 4], 9.0, inf), ([2, 3, 4], 2.0, 9.0), ([0, 1], 1.0, 9.0)]
    """
    if len(hierarchy.heights) and hierarchy.heights[0] < 0:
        raise ValueError(f"lineages need heights from 0 on, got {hierarchy.heights[0]:g}")
    condensed = condense(hierarchy, min_size=min_size)
    births, closes = hierarchy.births, hierarchy.deaths
    roots = np.flatnonzero(hierarchy.parents < 0)
    closes[roots] = births[roots]
    if ends is not None:
        trees = hierarchy.cut(np.inf).labels[hierarchy.lowest[roots]]
        closes[roots] = numbers(ends, "ends")[trees]
    large = np.flatnonzero(hierarchy.sizes >= min_size)
    large = large[np.argsort(condensed.owners[large], kind="stable")]
    bounds = np.searchsorted(condensed.owners[large], np.arange(1, len(condensed)))
    found = list[Lineage]()
    for line in np.split(large, bounds) if len(condensed) else []:
        lows, sizes = births[line], hierarchy.sizes[line]  # both ascend along the line
        last = np.searchsorted(sizes, (1 + tolerance) * sizes, side="right") - 1
        for n_outside in (min_size, 1) if strays else (min_size,):
            n_free = int(np.searchsorted(sizes, hierarchy.n_sites - n_outside, side="right"))
            highs = closes[line[np.minimum(last, max(n_free - 1, 0))]]
            with np.errstate(divide="ignore", invalid="ignore"):
                widths = np.log(np.maximum(highs, lows)) - np.log(lows)
            widths[n_free:] = 0.0
            widths[np.isnan(widths)] = 0.0  # from 0 to 0
            if widths.max() >= PLATEAU:
                break
        best = int(widths.argmax()) if widths.max() >= PLATEAU else len(line) - 1
        node, width = int(line[best]), float(widths[best])
        death = np.inf if hierarchy.parents[node] < 0 else closes[node]
        high = highs[best] if width > 0 else death
        sites = frozen(hierarchy.members(node))
        found.append(Lineage(sites, float(lows[best]), float(high), width, node, int(line[-1])))
    return tuple(found)
