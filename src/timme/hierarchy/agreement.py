"""Say how far two partitions of the same sites agree, by the pairs that both keep together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints


def rand_index(first: Ints, second: Ints) -> float:
    """Return the adjusted Rand index of two partitions.

    Parameters
    ----------
    first, second : ndarray of int, shape (sites,)
        Any whole number for each site; equal numbers are one cluster.

    Returns
    -------
    float
        1 for equal partitions, about 0 for unrelated ones.

    Examples
    --------
    >>> rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    """
    one, other = (np.unique(each, return_inverse=True)[1] for each in (first, second))
    cells = np.unique(one * (other.max() + 1) + other, return_counts=True)[1]
    tables = np.bincount(one), np.bincount(other), cells
    return float(adjusted_rand(*(count_pairs(each).sum() for each in tables), n_sites=len(one)))


def count_pairs(sizes: Ints) -> Ints:
    """Count the pairs of sites within clusters.

    Parameters
    ----------
    sizes : ndarray of int
        Sites of each cluster.

    Returns
    -------
    ndarray of int
        Pairs of each.
    """
    return sizes * (sizes - 1) // 2


def adjusted_rand(
    first: npt.ArrayLike, second: npt.ArrayLike, joint: npt.ArrayLike, *, n_sites: int
) -> Floats:
    """Return the adjusted Rand index from counts of pairs.

    Parameters
    ----------
    first, second : array_like
        Pairs of sites together in each partition.
    joint : array_like
        Pairs of sites together in both.
    n_sites : int
        Number of sites.

    Returns
    -------
    ndarray
        1 also where both are single sites, or both one cluster: they are equal.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    expected = one * other / max(1, n_sites * (n_sites - 1) // 2)
    most = (one + other) / 2 - expected
    excess = np.asarray(joint, dtype=np.float64) - expected
    return np.divide(excess, most, out=np.ones_like(excess), where=most > 0)
