"""Grow the hierarchies of resampled trajectories from the few pairs that can matter in any of them.

Take the spanning tree of each pair's largest σ over all draws. In every draw, two sites are joined
along it no higher than by its highest edge between them; a pair whose smallest σ exceeds that edge
closes a loop that is already closed, and is in no draw's tree. What is left is a few thousand of a
million pairs, and every hierarchy is exactly that of all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timme._arrays import Floats, Ints
from timme.fluctuations.sums import PartSums
from timme.hierarchy.joining import heights_between
from timme.hierarchy.linkages import Linkage, grow_by
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, grow

_AT_A_TIME = 20_000_000  # σ of all pairs and draws that are held
_ROUNDING = 1e-5  # products of matrices in single precision, of other shapes, differ by less


def resampled_hierarchies(
    sums: PartSums,
    times: Ints,
    *,
    shown: Ints | None = None,
    rows: Ints | None = None,
    quantity: Quantity = SIGMA,
    linkage: Linkage = "single",
) -> list[Hierarchy]:
    """Grow the hierarchy of every draw.

    Parameters
    ----------
    sums : PartSums
        Of pairs of objects over parts of the snapshots.
    times : ndarray of int, shape (draws, parts)
        How often each part counts.
    shown : ndarray of int, optional
        Objects by which clusters are counted; all by default.
    rows : ndarray of int, optional
        Which of the pairs are linked; all by default.
    quantity : Quantity, optional
        What the heights are.
    linkage : {"single", "braced", "average"}, optional
        How pairs are joined. Only for single linkage are there few pairs that can matter.

    Returns
    -------
    list of Hierarchy
        As the shown objects see it, for each draw.
    """
    matter = rows if linkage != "single" else pairs_that_matter(sums, times, rows=rows)
    edges = sums.pairs if matter is None else sums.pairs[matter]
    drawn = (
        heights
        for some in np.array_split(times, -(-len(times) * len(edges) // _AT_A_TIME) or 1)
        for heights in sums.sigma(some, rows=matter).astype(np.float64).T
    )
    grown = (
        grow_by(linkage, sums.n_objects, edges, heights, unit=sums.unit, quantity=quantity)
        for heights in drawn
    )
    return [tree if shown is None else tree.restrict(shown) for tree in grown]


def pairs_that_matter(
    sums: PartSums, times: Ints | Sequence[Sequence[int]], *, rows: Ints | None = None
) -> Ints:
    """Find the pairs that can be in the spanning tree of some draw.

    Parameters
    ----------
    sums, times, rows
        As for :func:`resampled_hierarchies`.

    Returns
    -------
    ndarray of int
        Their places in the list of pairs, ascending.
    """
    chosen = np.arange(len(sums.pairs)) if rows is None else np.asarray(rows)
    lowest, highest = np.empty(len(chosen)), np.empty(len(chosen))
    for tile, squares in sums.resample(times, rows=rows):
        lowest[tile], highest[tile] = squares.min(axis=1), squares.max(axis=1)
    bounds = joining_heights(sums.n_objects, sums.pairs[chosen], highest)
    return chosen[lowest <= bounds * (1 + _ROUNDING)]


def joining_heights(n_objects: int, pairs: Ints, heights: Floats) -> Floats:
    """Return the height at which each pair is joined, along whatever path.

    Parameters
    ----------
    n_objects : int
        Number of objects.
    pairs : ndarray of int, shape (pairs, 2)
        Who with whom.
    heights : ndarray, shape (pairs,)
        Of each; one that is infinite joins nothing.

    Returns
    -------
    ndarray, shape (pairs,)
        At most its own height; inf where no path joins a pair.
    """
    return heights_between(grow(n_objects, pairs, heights), pairs)
