"""When sites join: the height at which any two come into one cluster, and each into the core."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints, highest_between
from timme.hierarchy.tree import Hierarchy


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
    levels, rank = np.unique(tree.gaps, return_inverse=True)
    place = np.argsort(tree.order)
    low, high = np.sort(place[pairs], axis=1).T
    apart = low < high
    found = np.full(len(pairs), -np.inf)
    if apart.any():
        found[apart] = levels[highest_between(rank.astype(np.int64), low[apart], high[apart])]
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
