"""Linkages: hierarchies from σ of pairs, or from any other matrix.

Single linkage, that of the paper, joins two bodies as soon as one pair of sites between them is
still, as pairs near a hinge are. Braced linkage needs such a pair to share partners; average
linkage needs all pairs between two clusters to be still on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.cluster import hierarchy as scipy_hierarchy

from timme._arrays import Floats, Ints
from timme._kernels import linkage as kernel
from timme.fluctuations import Fluctuations, from_matrix
from timme.hierarchy.tree import SIGMA, Hierarchy, Quantity, as_quantity, from_forest, grow

if TYPE_CHECKING:
    from scipy import sparse

Linkage = Literal["single", "braced", "average"]

SHARED = 4  # partners that the two sites of a braced pair have in common
_LARGEST = 20_000  # objects of which all pairs are averaged: 1.6 GB


def link(
    sigma: Fluctuations | npt.ArrayLike | sparse.sparray,
    *,
    linkage: Linkage = "single",
    unit: str = "",
    quantity: str | Quantity = SIGMA,
) -> Hierarchy:
    """Join pairs in increasing σ into a hierarchy of clusters.

    Equal σ join in one step, so the result does not depend on the order of pairs.

    Parameters
    ----------
    sigma : Fluctuations, array_like or sparse array
        Measured σ of pairs, or a matrix of the same meaning: square, symmetric and not negative, or
        the upper triangle of one as given by :func:`scipy.spatial.distance.pdist`. Entries that are
        masked, not finite, or missing in a sparse array are pairs that are not compared.
    linkage : {"single", "braced", "average"}, optional
        Single linkage joins two clusters at their lowest pair. Braced linkage does so among pairs
        raised to the height at which the two share 4 partners as well. Average linkage joins two
        clusters at the root of the mean σ² over all pairs between them.
    unit : str, optional
        Unit of a matrix; Fluctuations bring their own.
    quantity : str or Quantity, optional
        What the heights are, for axes, tables and pages, or its symbol.

    Returns
    -------
    Hierarchy
        One tree for each connected piece of the pairs.

    Examples
    --------
    >>> hierarchy = link([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]])
    >>> hierarchy.levels
    array([0.1, 0.4])
    >>> hierarchy.cut(0.2).labels
    array([0, 0, 1])
    """
    if linkage not in get_args(Linkage):
        raise ValueError(f"linkage must be single, braced or average, got {linkage!r}")
    found = sigma if isinstance(sigma, Fluctuations) else from_matrix(sigma, unit=unit)
    chosen = as_quantity(quantity, found.unit)
    n_sites, heights = found.n_objects, found.sigma
    if linkage == "average":
        return from_forest(n_sites, *_average(n_sites, found.pairs, heights), quantity=chosen)
    if linkage == "braced":
        heights = brace(n_sites, found.pairs, heights)
    return grow(n_sites, found.pairs, heights, quantity=chosen)


def brace(n_sites: int, pairs: Ints, heights: Floats) -> Floats:
    """Heights (pairs,) at which pairs share enough partners, at least their own; inf if never."""
    own = np.where(np.isfinite(heights), heights, np.inf)
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ranked = np.lexsort((ends[:, 1], ends[:, 0]))
    starts = np.append(0, np.cumsum(np.bincount(ends[:, 0], minlength=n_sites)))
    partners, values = ends[ranked, 1], np.tile(own, 2)[ranked]
    braced, lowest = np.empty(len(pairs)), np.empty(SHARED)
    kernel.braced_heights(ends[: len(pairs)], own, starts, partners, values, lowest, braced)
    return braced


def _average(n_sites: int, pairs: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Edges between a site of each of two clusters that join, at the root of their mean square."""
    n_pairs = n_sites * (n_sites - 1) // 2
    if len(pairs) != n_pairs or not np.isfinite(heights).all() or n_sites > _LARGEST:
        raise ValueError(
            f"average linkage needs σ of all {n_pairs:,} pairs, and at most {_LARGEST:,} objects, "
            f"got {np.count_nonzero(np.isfinite(heights)):,} pairs: compare all, however few bonds "
            "apart, choose fewer objects, or use braced linkage"
        )
    if n_sites < 2:
        return np.empty((0, 2), np.int64), np.empty(0)
    low, high = np.sort(pairs, axis=1).T
    squares = np.empty(n_pairs)
    squares[n_sites * low - low * (low + 1) // 2 + high - low - 1] = heights**2
    merges = scipy_hierarchy.average(squares)
    parts = merges[:, :2].astype(np.int64)
    sites = np.arange(2 * n_sites - 1)  # one site of each cluster
    for merge, (part, _) in enumerate(parts):
        sites[n_sites + merge] = sites[part]
    # Rounding may put a mean a last digit below the one before.
    return sites[parts], np.maximum.accumulate(np.sqrt(merges[:, 2]))
