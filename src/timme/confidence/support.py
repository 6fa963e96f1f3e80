"""Find each cluster again in resampled hierarchies: how much of it, and at which cutoffs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, frozen
from timme._kernels import overlaps as kernel
from timme.hierarchy.tree import Hierarchy

_FOUND_AGAIN = 0.5  # overlap from which on a cluster is the same, so that its cutoffs count
_QUANTILE = 1.645  # of the normal distribution, between which and its negative 90 % lie


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The cluster of every draw that overlaps each cluster best."""

    overlaps: Floats  # (draws, clusters), Jaccard
    births: Floats  # (draws, clusters), where the best one is complete
    deaths: Floats  # (draws, clusters), where it joins another; inf where it never does

    @property
    def support(self) -> Floats:
        """Mean overlap of each cluster over all draws."""
        mean: Floats = self.overlaps.mean(axis=0)
        return mean


def match(masks: Bools, hierarchies: Iterable[Hierarchy]) -> Matches:
    """Find clusters again in each of some hierarchies.

    Parameters
    ----------
    masks : ndarray of bool, shape (clusters, sites)
        Sites of each cluster.
    hierarchies : iterable of Hierarchy
        Of the same sites; none is held.

    Returns
    -------
    Matches
        Of every cluster in every hierarchy; of equal overlaps, that of the lowest node.
    """
    found = [_best(masks, tree) for tree in hierarchies]
    return Matches(*(frozen(np.stack(arrays)) for arrays in zip(*found, strict=True)))


def interval(
    estimate: float, resampled: Floats, *, reach: float = _QUANTILE
) -> tuple[float, float] | None:
    """Tell between which values a cutoff lies, 9 times of 10.

    A normal interval of log σ about the estimate, with the bias of resampled values taken off.
    Those of a percentile interval are told too often: it takes that bias twice. The bias of draws
    is not that of the data: where each site has many partners, the lowest of many σ, it is half of
    it. So what was taken off may be wrong by as much, which adds to the width as errors do.

    Parameters
    ----------
    estimate : float
        As found in all snapshots.
    resampled : ndarray, shape (draws,)
        As found in each draw; NaN or inf where it was not.
    reach : float, optional
        Standard deviations of draws on either side.

    Returns
    -------
    tuple of float or None
        Lowest and highest value; None where too few draws have one.
    """
    held = resampled[np.isfinite(resampled) & (resampled > 0)]
    if not (np.isfinite(estimate) and estimate > 0) or len(held) < max(3, len(resampled) // 2):
        return None
    bias = np.log(held).mean() - np.log(estimate)
    centre = np.log(estimate) - bias
    width = np.hypot(reach * np.log(held).std(ddof=1), bias)
    return float(np.exp(centre - width)), float(np.exp(centre + width))


def intervals(
    estimates: Floats, resampled: Floats, overlaps: Floats, *, reach: float = _QUANTILE
) -> list[tuple[float, float] | None]:
    """Tell the interval of every cluster, from the draws in which it was found again.

    Parameters
    ----------
    estimates : ndarray, shape (clusters,)
        As found in all snapshots.
    resampled, overlaps : ndarray, shape (draws, clusters)
        Of the best cluster of each draw, and how much of it is the same.
    reach : float, optional
        Standard deviations of draws on either side.

    Returns
    -------
    list of tuple of float or None
        As :func:`interval` gives it.
    """
    again = np.where(overlaps >= _FOUND_AGAIN, resampled, np.nan)
    return [
        interval(float(estimate), values, reach=reach)
        for estimate, values in zip(estimates, again.T, strict=True)
    ]


def _best(masks: Bools, tree: Hierarchy) -> tuple[Floats, Floats, Floats]:
    """Overlap, birth and death of the node that overlaps each cluster best."""
    overlaps, best = kernel.best_nodes(masks, tree.order, tree.starts, tree.sizes)
    return overlaps, tree.births[best], tree.deaths[best]
