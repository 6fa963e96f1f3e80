"""The condensed tree: only the splits of a hierarchy that leave something large on both sides.

Most merges add a stray site to a cluster. What is left without these are the clusters that lived
side by side, and when each of them joined its sibling: those are worth a name, a verdict, a hinge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.tree import Hierarchy, require_hierarchy

MIN_SIZE = 10  # sites; with 5, a body that bends smoothly is cut in most long trajectories


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CondensedTree(Described):
    """Clusters that are parts of a split into two or more large ones, and the roots.

    Clusters are sorted: parents before their parts, of these the larger first.
    """

    hierarchy: Hierarchy
    min_size: int
    nodes: Ints  # (clusters,), of the hierarchy
    parents: Ints  # (clusters,), place in this list of the cluster that was split; -1 for roots

    def __len__(self) -> int:
        """Count the clusters."""
        return len(self.nodes)

    @property
    def births(self) -> Floats:
        """Height at which each cluster is complete, as its node forms."""
        return self.hierarchy.births[self.nodes]

    @property
    def deaths(self) -> Floats:
        """Height at which each cluster joins its sibling; inf for roots."""
        return self.hierarchy.deaths[self.nodes]

    @property
    def sizes(self) -> Ints:
        """Sites of each cluster."""
        return self.hierarchy.sizes[self.nodes]

    @property
    def shares(self) -> Floats:
        """Share of what was split that is on its sides, not stray sites; NaN for roots."""
        inner = self.parents >= 0
        above = self.parents[inner]
        held = np.bincount(above, weights=self.sizes[inner], minlength=len(self))
        found = np.full(len(self), np.nan)
        found[inner] = held[above] / self.sizes[above]
        return found

    @property
    def splits(self) -> list[Ints]:
        """Places of the parts of each split, largest first; the highest split comes first."""
        found = [np.flatnonzero(self.parents == above) for above in np.unique(self.parents)]
        apart = [parts for parts in found if self.parents[parts[0]] >= 0]
        return sorted(apart, key=lambda parts: -float(self.deaths[parts[0]]))

    def members(self, cluster: int) -> Ints:
        """Return the sites of a cluster.

        Parameters
        ----------
        cluster : int
            Its place in the list.

        Returns
        -------
        ndarray of int
            Ascending.
        """
        tree, node = self.hierarchy, self.nodes[cluster]
        return np.sort(tree.order[tree.starts[node] : tree.starts[node] + tree.sizes[node]])

    def masks(self) -> Bools:
        """Tell which sites belong to which cluster.

        Returns
        -------
        ndarray of bool, shape (clusters, sites)
            True where a site is in a cluster.
        """
        place = np.argsort(self.hierarchy.order)
        start = self.hierarchy.starts[self.nodes][:, None]
        return (place >= start) & (place < start + self.sizes[:, None])

    @property
    def owners(self) -> Ints:
        """The cluster that each node of the hierarchy is, but for stray sites; -1 for small ones.

        At any height a cluster is one node of enough sites: with two of them it would be split.
        """
        above = self.hierarchy.parents
        own = np.full(len(above), -1)
        own[self.nodes] = np.arange(len(self.nodes))
        for node in range(len(above) - 1, -1, -1):
            if own[node] < 0 and above[node] >= 0 and self.hierarchy.sizes[node] >= self.min_size:
                own[node] = own[above[node]]
        return own

    def siblings(self, cluster: int) -> Ints:
        """Return the other parts of the split that a cluster is part of.

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
        return np.setdiff1d(np.flatnonzero(self.parents == above) if above >= 0 else [], [cluster])

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("clusters", len(self)),
            ("splits", len(self.splits)),
            ("sites at least", self.min_size),
        )


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
        Its roots are the trees of as many sites; none if there are none.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> steps = np.array([1.0, 5.0, 2.0, 3.0])  # between neighbours along a line
    >>> hierarchy = grow(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), steps)
    >>> found = condense(hierarchy, min_size=2)
    >>> [found.members(cluster).tolist() for cluster in range(len(found))]
    [[0, 1, 2, 3, 4], [2, 3, 4], [0, 1]]
    >>> found.deaths.tolist()
    [inf, 5.0, 5.0]
    """
    require_hierarchy(hierarchy, "condense")
    if min_size < 2:
        raise ValueError(f"clusters of a condensed tree have at least 2 sites, got {min_size}")
    large = hierarchy.sizes >= min_size
    above = hierarchy.parents
    inner = large & (above >= 0)
    n_large_parts = np.bincount(above[inner], minlength=len(above))
    roots = large & (above < 0)
    parts = np.zeros(len(above), dtype=bool)
    parts[inner] = n_large_parts[above[inner]] >= 2
    chosen = np.flatnonzero(roots | parts)
    # Parents are higher than their parts; of equally high ones, the larger comes first.
    chosen = chosen[np.lexsort((hierarchy.lowest[chosen], -hierarchy.sizes[chosen]))]
    chosen = chosen[np.argsort(-hierarchy.deaths[chosen], kind="stable")]
    place = np.full(len(above) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    own = place[:-1].copy()  # of each node, the cluster that it belongs to
    for node in range(len(above) - 1, -1, -1):
        if own[node] < 0 and above[node] >= 0:
            own[node] = own[above[node]]
    parents = np.where(above[chosen] >= 0, own[above[chosen]], -1)
    return CondensedTree(hierarchy, min_size, frozen(chosen), frozen(parents))
