"""Other ways to join pairs than the paper's, for those who ask: braced and average linkage.

Single linkage joins two bodies as soon as one pair of sites between them is still, as pairs near a
hinge are. Braced linkage asks that such a pair share partners, average linkage that all pairs
between two clusters be still on average. Neither is the paper's, and both say so in notes.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.cluster import hierarchy as scipy_hierarchy

from timme._arrays import Floats, Ints
from timme._kernels import bracing as kernel
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, from_forest, grow

Linkage = Literal["single", "braced", "average"]

SHARED = 4  # partners that a braced pair has in common
_LARGEST = 20_000  # objects of which all pairs are averaged; 1.6 GB


def grow_by(
    linkage: Linkage,
    n_sites: int,
    pairs: Ints,
    heights: Floats,
    *,
    unit: str = "",
    quantity: str | Quantity = SIGMA,
) -> Hierarchy:
    """Grow a hierarchy from pairs by one of the linkages.

    Parameters
    ----------
    linkage : {"single", "braced", "average"}
        The paper's, which joins clusters by their lowest pair; or one in which two sites count as a
        pair from the height on at which they share at least 4 partners within it; or one that joins
        the two clusters with the lowest mean of squared heights over all pairs between them.
    n_sites : int
        Number of sites.
    pairs : ndarray of int, shape (pairs, 2)
        Who with whom; for averages, everyone with everyone.
    heights : ndarray, shape (pairs,)
        Such as σ.
    unit : str, optional
        Of the heights; that of the quantity by default.
    quantity : str or Quantity, optional
        What the heights are.

    Returns
    -------
    Hierarchy
        Of averages, heights are roots of mean squares.

    Examples
    --------
    >>> pairs, heights = np.array([[0, 1], [0, 2], [1, 2]]), np.array([1.0, 3.0, 5.0])
    >>> grow_by("average", 3, pairs, heights).heights ** 2
    array([ 1., 17.])
    """
    refuse_other_linkage(linkage)
    if linkage == "average":
        forest = _average(n_sites, pairs, heights)
        return from_forest(n_sites, *forest, unit=unit, quantity=quantity)
    if linkage == "braced":
        heights = brace(n_sites, pairs, heights)
    return grow(n_sites, pairs, heights, unit=unit, quantity=quantity)


def brace(n_sites: int, pairs: Ints, heights: Floats, *, n_shared: int = SHARED) -> Floats:
    """Raise pairs to the height at which they share enough partners.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    pairs : ndarray of int, shape (pairs, 2)
        Who with whom.
    heights : ndarray, shape (pairs,)
        Such as σ.
    n_shared : int, optional
        Partners that both must have within the height.

    Returns
    -------
    ndarray, shape (pairs,)
        None below its own height; inf where a pair never shares so many.
    """
    finite = np.isfinite(heights)
    ends = np.concatenate([pairs[finite], pairs[finite][:, ::-1]])
    # A stored 0 is a height, too: entries are those that were given, whatever they hold.
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    rows = np.bincount(ends[:, 0], minlength=n_sites)
    indptr = np.concatenate([[0], np.cumsum(rows)])
    values = np.tile(np.asarray(heights, np.float64)[finite], 2)[order]
    braced = np.full(len(pairs), np.inf)
    found = np.empty(int(finite.sum()))
    kernel.braced_heights(
        np.array(pairs[finite]),
        np.array(heights[finite], np.float64),
        indptr,
        ends[order, 1].copy(),
        values,
        n_shared,
        found,
    )
    braced[finite] = found
    return braced


def refuse_other_linkage(given: str) -> None:
    """Refuse what is no linkage.

    Parameters
    ----------
    given : str
        Its name.
    """
    if given not in get_args(Linkage):
        raise ValueError(f"linkage must be single, braced or average, got {given!r}")


def _average(n_sites: int, pairs: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Edges that join one site of each of two clusters, at the root of their mean square."""
    n_pairs = n_sites * (n_sites - 1) // 2
    if len(pairs) != n_pairs or not np.isfinite(heights).all():
        raise ValueError(
            f"average linkage needs σ of all {n_pairs:,} pairs, got "
            f"{np.count_nonzero(np.isfinite(heights)):,}: compare all, however near along bonds "
            "(pairs='all', min_bonds=0)"
        )
    if n_sites > _LARGEST:
        raise ValueError(
            f"average linkage holds all pairs, of at most {_LARGEST:,} objects, got {n_sites:,}: "
            "choose fewer, or braced linkage"
        )
    if n_sites < 2:
        return np.empty((0, 2), np.int64), np.empty(0)
    low, high = np.sort(pairs, axis=1).T
    place = n_sites * low - low * (low + 1) // 2 + high - low - 1
    squares = np.empty(n_pairs)
    squares[place] = np.asarray(heights, np.float64) ** 2
    joined = scipy_hierarchy.average(squares)
    member = np.arange(2 * n_sites - 1)  # a site of each cluster
    for row, (one, _) in enumerate(joined[:, :2].astype(np.int64)):
        member[n_sites + row] = member[one]
    edges = member[joined[:, :2].astype(np.int64)]
    # Rounding may put a mean a last digit below one before it.
    return edges, np.maximum.accumulate(np.sqrt(joined[:, 2]))
