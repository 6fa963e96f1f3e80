"""Partitions: sites in clusters, their labels, and how well two partitions agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints
from timme._text import Described


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition(Described):
    """Sites of an ensemble, each in exactly one cluster.

    Examples
    --------
    >>> partition = Partition(np.array([1, 0, 0]), cutoff=0.5)
    >>> [cluster.tolist() for cluster in partition]
    [[1, 2], [0]]
    """

    labels: Ints  # (sites,), 0 is the largest cluster; ties: the one with the lowest site
    cutoff: float  # in the unit of the heights

    @property
    def sizes(self) -> Ints:
        """Number of sites in each cluster, largest first."""
        return np.bincount(self.labels)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, single sites included."""
        return int(self.labels.max()) + 1

    def __len__(self) -> int:
        """Count the clusters, single sites included."""
        return self.n_clusters

    def __iter__(self) -> Iterator[Ints]:
        """Yield the sites of each cluster in ascending order, the largest cluster first."""
        ranked = np.argsort(self.labels, kind="stable")
        yield from np.split(ranked, np.cumsum(self.sizes)[:-1])

    def members(self, cluster: int) -> Ints:
        """Return the sites of one cluster.

        Parameters
        ----------
        cluster : int
            Label of the cluster.

        Returns
        -------
        ndarray of int
            Its sites in ascending order.
        """
        return np.flatnonzero(self.labels == cluster)

    def facts(self) -> dict[str, object]:
        """Return the main properties, by name."""
        cutoff = f"{self.cutoff:.6g}"
        return {"cutoff": cutoff, "sites": len(self.labels), "clusters": self.n_clusters}


def rank_labels(labels: Ints) -> Ints:
    """Clusters numbered by size, then by lowest site; sites with a label below 0 keep -1."""
    sites = np.flatnonzero(labels >= 0)
    _, lowest, numbers, sizes = np.unique(
        labels[sites], return_index=True, return_inverse=True, return_counts=True
    )
    ranks = np.argsort(np.lexsort((lowest, -sizes)))
    ranked = np.full(len(labels), -1)
    ranked[sites] = ranks[numbers]
    return ranked


def rand_index(first: Ints, second: Ints) -> float:
    """Return the adjusted Rand index of two partitions of the same sites.

    Parameters
    ----------
    first, second : ndarray of int, shape (sites,)
        Cluster of each site, by any whole numbers.

    Returns
    -------
    float
        1 for equal partitions, about 0 for unrelated ones.

    Examples
    --------
    >>> rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    """
    one, other = (np.unique(labels, return_inverse=True)[1] for labels in (first, second))
    cells = np.unique(one * (other.max() + 1) + other, return_counts=True)[1]
    pairs = [count_pairs(sizes).sum() for sizes in (np.bincount(one), np.bincount(other), cells)]
    return float(adjusted_rand(*pairs, n_sites=len(one)))


def count_pairs(sizes: Ints) -> Ints:
    """Number of pairs of sites within clusters of these sizes."""
    return sizes * (sizes - 1) // 2


def adjusted_rand(
    first: npt.ArrayLike, second: npt.ArrayLike, joint: npt.ArrayLike, *, n_sites: int
) -> Floats:
    """Adjusted Rand index from the numbers of pairs together in each partition, and in both.

    It is 1 also where both partitions are single sites, or both one cluster.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    expected = one * other / max(1, n_sites * (n_sites - 1) // 2)
    most = (one + other) / 2 - expected
    excess = np.asarray(joint, dtype=np.float64) - expected
    return np.divide(excess, most, out=np.ones_like(excess), where=most > 0)
