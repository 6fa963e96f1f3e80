"""Labels: which cluster each site is in, numbered from the largest on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints


def checked_labels(given: npt.ArrayLike, n_sites: int, needing: str) -> Ints:
    """Take labels that a user gives, a whole number for each site.

    Parameters
    ----------
    given : array_like of int, shape (sites,)
        Cluster of each site.
    n_sites : int
        How many there are.
    needing : str
        What needs them, for the message: "seeds need".

    Returns
    -------
    ndarray of int, shape (sites,)
        The same.
    """
    labels = np.asarray(given)
    if labels.shape != (n_sites,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"{needing} a whole number for each of {n_sites} sites, got {labels.dtype} of shape "
            f"{labels.shape}"
        )
    return labels.astype(np.int64)


def rank_labels(labels: Ints) -> Ints:
    """Number clusters by size, the largest first.

    Parameters
    ----------
    labels : ndarray of int, shape (sites,)
        Cluster of each site by any number from 0 on, below 0 for a site that is in none.

    Returns
    -------
    ndarray of int, shape (sites,)
        The same clusters, numbered from 0; of equal sizes, the one with the lowest site comes
        first. Sites in none have -1.

    Examples
    --------
    >>> rank_labels(np.array([7, 2, 2, -1, 0]))
    array([ 1,  0,  0, -1,  2])
    """
    sites = np.flatnonzero(labels >= 0)
    numbers = labels[sites]
    sizes = np.bincount(numbers)
    lowest = np.full(len(sizes), len(labels))
    np.minimum.at(lowest, numbers, sites)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((lowest, -sizes))] = np.arange(len(sizes))
    ranked = np.full(len(labels), -1)
    ranked[sites] = rank[numbers]
    return ranked
