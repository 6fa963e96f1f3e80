"""Point out chaining: clusters that hang together by one site or one pair.

Single linkage joins two bodies as soon as one pair between them is still. A cluster that falls into
two large parts when a single site, or a single pair, is taken away is held by a bridge. At the
cutoff at which it is complete every cluster is held by its last pair; so it is looked at half-way,
in log σ, to where it joins another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import bridges as kernel
from timme._kernels import linkage
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.condensed import MIN_SIZE
from timme.hierarchy.forest import spanning_forest


@dataclass(frozen=True, slots=True)
class Bridge:
    """A site or a pair on which a cluster hangs."""

    sites: tuple[int, ...]  # one site, or the two of a pair
    sizes: tuple[int, int]  # of the largest parts without it, largest first

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        what = "one site" if len(self.sites) == 1 else "one pair"
        return f"hangs on {what}: without it, parts of {self.sizes[0]} and {self.sizes[1]}"


def find_bridges(
    sigma: Fluctuations,
    clusters: Sequence[tuple[int, float]],
    *,
    shown: Ints,
    min_size: int = MIN_SIZE,
    forest: tuple[Ints, Floats] | None = None,
) -> list[Bridge | None]:
    """Find what clusters of shown objects hang on, among all objects that are compared.

    Parameters
    ----------
    sigma : Fluctuations
        σ of the pairs that were linked.
    clusters : sequence of (int, float)
        An object of each cluster, and the cutoff at which it is looked at.
    shown : ndarray of int
        Objects that count.
    min_size : int, optional
        Shown objects that both parts need.
    forest : tuple of ndarray, optional
        Pairs by which all is joined and their σ, ascending, if they are known.

    Returns
    -------
    list of Bridge or None
        As :func:`find_bridge` finds them, for each cluster.
    """
    if not clusters:
        return []
    edges, heights = forest or spanning_forest(sigma.n_objects, sigma.pairs, sigma.sigma)
    low = np.flatnonzero(sigma.sigma <= max(cutoff for _, cutoff in clusters))
    low = low[np.argsort(sigma.sigma[low])]
    pairs, rising = sigma.pairs[low], sigma.sigma[low]
    found = list[Bridge | None]()
    for site, cutoff in clusters:
        n_joined = int(np.searchsorted(heights, cutoff, "right"))
        labels = linkage.joining_edges(sigma.n_objects, edges, np.arange(n_joined))[1]
        own = np.flatnonzero(labels == labels[site])
        here = slice(int(np.searchsorted(rising, cutoff, "right")))
        found.append(
            find_bridge(
                own, pairs[here], rising[here], cutoff=cutoff, min_size=min_size, shown=shown
            )
        )
    return found


def find_bridge(
    sites: Sequence[int] | Ints,
    pairs: Ints,
    heights: Floats,
    *,
    cutoff: float,
    min_size: int = MIN_SIZE,
    shown: Ints | None = None,
) -> Bridge | None:
    """Find what a cluster hangs on: the site or pair whose loss leaves two large parts.

    Parameters
    ----------
    sites : sequence of int
        Of the cluster, which hangs together at the cutoff.
    pairs : ndarray of int, shape (pairs, 2)
        Who was compared with whom.
    heights : ndarray, shape (pairs,)
        Such as σ.
    cutoff : float
        At which the cluster is looked at.
    min_size : int, optional
        Sites that both parts need.
    shown : ndarray of int, optional
        Sites that count; all by default.

    Returns
    -------
    Bridge or None
        Of several, that with the largest smaller part, a pair before a site; None if the cluster
        holds by more than one of either.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]])
    >>> find_bridge(range(6), pairs, np.ones(7), cutoff=1.0, min_size=3)
    Bridge(sites=(2, 3), sizes=(3, 3))
    """
    members = np.asarray(sites, np.int64)
    number = np.full(int(max(members.max(initial=0), pairs.max(initial=0))) + 1, -1)
    number[members] = np.arange(len(members))
    inside = (number[pairs] >= 0).all(axis=1) & (heights <= cutoff)
    counted = np.ones(len(members), np.int64)
    if shown is not None:
        counted = np.isin(members, shown).astype(np.int64)
    parents, by_pair, by_site = kernel.parts_without(number[pairs[inside]], counted)
    smaller = int(max(by_pair.max(initial=0), by_site[:, 1].max(initial=0)))
    if smaller < min_size:
        return None
    held = np.flatnonzero(by_pair == smaller)
    if len(held):
        ends = np.sort(np.column_stack([held, parents[held]]), axis=1)
        one, other = members[ends[np.argmin(ends[:, 0])]].tolist()
        return Bridge((one, other), (int(counted.sum()) - smaller, smaller))
    site = int(np.flatnonzero(by_site[:, 1] == smaller)[0])
    return Bridge((int(members[site]),), (int(by_site[site, 0]), smaller))
