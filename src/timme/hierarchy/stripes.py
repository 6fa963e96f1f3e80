"""Dilution plots: each cluster as a stripe along an axis of sites, in the colour of its family.

At every splitting the larger part inherits the family of its parent, and each other part founds
its own. The larger part is the first in leaf order, so all clusters of one family start at the same
place in leaf order: n sites have n families, one for each place. Families are numbered by the size
of their largest cluster (ties: by place). Family 0 is that of the largest tree: the line of descent
of the core at the top. Further down, another cluster may be larger than the heir of that line, and
keeps its own colour: painting the largest cluster of each level alike would make clusters of nearly
equal size swap colours in thin stripes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.tree import Hierarchy, grow, highest_between


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stripes(Described):
    """Rectangles that show every cluster along an axis of sites, from its birth to its death."""

    start: Ints  # (stripes,), first place on the axis
    stop: Ints  # (stripes,), place after the last
    low: Floats  # (stripes,), cutoff from which it holds; -inf for single sites
    high: Floats  # (stripes,), cutoff at which it no longer holds; inf for roots
    family: Ints  # (stripes,), 0 is the line of the core at the top
    order: Ints  # (sites,), the site at each place of the axis


def lay_out_stripes(
    hierarchy: Hierarchy, *, order: npt.ArrayLike | None = None, min_size: int = 1
) -> Stripes:
    """Lay out the clusters of all cutoffs along an axis.

    In leaf order every cluster is one stripe. In any other order a cluster may lie in several runs;
    a run that stays the same from one level to the next is one stripe.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    order : array_like, shape (sites,), optional
        The site at each place of the axis; leaf order by default.
    min_size : int, optional
        Clusters of fewer sites are left out.

    Returns
    -------
    Stripes
        At any cutoff, each cluster of at least `min_size` sites covers its places once.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 5.0]))
    >>> shown = lay_out_stripes(hierarchy, min_size=2)
    >>> np.column_stack([shown.start, shown.stop, shown.low, shown.high, shown.family])
    array([[ 0.,  2.,  1.,  5.,  0.],
           [ 0.,  3.,  5., inf,  0.]])
    """
    n_sites = hierarchy.n_sites
    axis = hierarchy.order if order is None else np.array(order, dtype=np.int64)
    # Neighbours on the axis are in one cluster from the highest gap between them on, so the runs
    # are the clusters of a chain with these heights.
    places = np.sort([hierarchy.starts[axis[:-1]], hierarchy.starts[axis[1:]]], axis=0)
    chain = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    runs = grow(n_sites, chain, highest_between(hierarchy.gaps, *places))
    place = hierarchy.starts[axis[runs.lowest]]  # in leaf order, of the first site of each run
    low = np.maximum(runs.births, _heights_of_size(hierarchy, min_size)[place])
    found = _split_by_family(hierarchy, place, low, runs.deaths)
    run, family = found[:, 0].astype(np.int64), found[:, 3].astype(np.int64)
    ranked = np.lexsort((runs.lowest[run], found[:, 1]))
    run = run[ranked]
    return Stripes(
        start=frozen(runs.lowest[run]),
        stop=frozen(runs.lowest[run] + runs.sizes[run]),
        low=frozen(found[ranked, 1]),
        high=frozen(found[ranked, 2]),
        family=frozen(families(hierarchy)[family[ranked]]),
        order=frozen(axis),
    )


def families(hierarchy: Hierarchy) -> Ints:
    """Return the family of the clusters that start at each place in leaf order, at any cutoff.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.

    Returns
    -------
    ndarray of int, shape (sites,)
        Number of each family, 0 for the line of the core at the top.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 5.0]))
    >>> families(hierarchy)
    array([0, 1, 2])
    """
    return frozen(np.argsort(np.argsort(-hierarchy.sizes[_tops(hierarchy)], kind="stable")))


def families_at(hierarchy: Hierarchy, cutoff: float) -> Ints:
    """Return the family of every cluster at a cutoff.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    cutoff : float
        In the unit of the heights.

    Returns
    -------
    ndarray of int, shape (clusters,)
        Family of each label of ``hierarchy.cut(cutoff)``.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 5.0]))
    >>> families_at(hierarchy, 2)
    array([0, 2])
    """
    labels = hierarchy.cut(cutoff).labels
    start = np.full(labels.max() + 1, hierarchy.n_sites)
    np.minimum.at(start, labels, hierarchy.starts[: hierarchy.n_sites])
    return frozen(families(hierarchy)[start])


def _tops(hierarchy: Hierarchy) -> Ints:
    """Largest cluster of the family at each place in leaf order."""
    tops = np.empty(hierarchy.n_sites, dtype=np.int64)
    tops[hierarchy.starts] = np.arange(len(hierarchy.parents))  # parents come after their parts
    return tops


def _heights_of_size(hierarchy: Hierarchy, min_size: int) -> Floats:
    """Height from which the cluster of the site at each place in leaf order is large enough."""
    nodes = np.arange(len(hierarchy.parents))
    up = np.append(np.where(hierarchy.sizes >= min_size, nodes, hierarchy.parents), -1)
    while (up[up] != up).any():
        up = up[up]
    return np.asarray(np.append(hierarchy.births, np.inf)[up[hierarchy.order]])


def _split_by_family(hierarchy: Hierarchy, place: Ints, low: Floats, high: Floats) -> Floats:
    """Rows (run, low, high, family) of runs, cut where their cluster joins another family.

    A family is known by its place in leaf order. Whoever changes family joins a cluster at least
    twice as large, so this takes few rounds whatever the number of levels.
    """
    tops = _tops(hierarchy)
    end = hierarchy.deaths[tops]  # of each family
    heir = np.append(hierarchy.starts, -1)[hierarchy.parents[tops]]  # the family it then joins
    run, family, low = np.arange(len(place)), place, low.copy()
    found = [np.empty((0, 4))]
    while len(run):
        until = np.minimum(end[family], high[run])
        lives = until > low[run]
        found.append(np.column_stack([run, low[run], until, family])[lives])
        low[run] = np.maximum(low[run], until)
        goes_on = end[family] < high[run]
        run, family = run[goes_on], heir[family[goes_on]]
    return np.concatenate(found)
