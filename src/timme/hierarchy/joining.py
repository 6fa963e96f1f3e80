"""When sites join: the height at which any two come into one cluster, and each into the core."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import linkage
from timme.hierarchy.forest import shown_forest
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, from_forest


def heights_between(tree: Hierarchy, pairs: Ints) -> Floats:
    """Return the height at which the two of each pair come into one cluster.

    Parameters
    ----------
    tree : Hierarchy
        Clusters within clusters.
    pairs : ndarray of int, shape (pairs, 2)
        Sites.

    Returns
    -------
    ndarray, shape (pairs,)
        inf where they never do, -inf for a site with itself.

    Examples
    --------
    >>> from timme import link
    >>> tree = link([[0, 1, 9], [1, 0, 5], [9, 5, 0]])
    >>> heights_between(tree, np.array([[0, 1], [0, 2]]))
    array([1., 5.])
    """
    place = np.argsort(tree.order)
    found = np.empty(len(pairs))
    linkage.highest_between(tree.gaps, np.ascontiguousarray(place[pairs]), found)
    return found


def heights_to_core(tree: Hierarchy) -> Floats:
    """Return the height at which each site joins the core: its mobility.

    The core is the line of descent of the largest cluster at the top, down to a single site; that
    one joins its first partner.

    Parameters
    ----------
    tree : Hierarchy
        Clusters within clusters.

    Returns
    -------
    ndarray, shape (sites,)
        inf for sites of other trees.

    Examples
    --------
    >>> from timme import link
    >>> heights_to_core(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    array([1., 1., 5.])
    """
    highest = np.maximum.accumulate(tree.gaps)
    found = np.empty(tree.n_sites)
    found[tree.order] = np.concatenate([highest[:1], highest]) if len(highest) else np.inf
    return found


def grow_shown(
    n_sites: int,
    edges: Ints,
    heights: Floats,
    shown: Ints,
    *,
    quantity: str | Quantity = SIGMA,
) -> Hierarchy:
    """Grow a hierarchy as some of the sites see it, and of nothing else.

    Parameters
    ----------
    n_sites, edges, heights
        As for :func:`timme.hierarchy.tree.grow`.
    shown : ndarray of int
        Sites that count, each once, numbered in this order.
    quantity : str or Quantity, optional
        What the heights are, or its symbol.

    Returns
    -------
    Hierarchy
        The same as ``grow(…).restrict(shown)``.

    Examples
    --------
    >>> edges = np.array([[0, 1], [1, 2], [2, 3]])
    >>> grow_shown(4, edges, np.array([1.0, 3.0, 2.0]), np.array([0, 3])).heights.tolist()
    [3.0]
    """
    forest = shown_forest(edges, heights, n_sites, shown)
    return from_forest(len(shown), *forest, quantity=quantity)
