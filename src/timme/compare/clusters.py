"""Compare two partitions of the same sites: as a whole, and cluster by cluster.

**Adjusted Rand index.** Of all pairs of sites, those together in both partitions, less what chance
would give, divided by the most there could be: 1 for equal partitions, about 0 for unrelated ones.
Two partitions into single sites are equal, and so are two of one cluster: 1.

**Variation of information.** What one partition says and the other does not, plus the reverse, in
nats: 0 for equal partitions, at most ln N, and a metric. Divided by the joint entropy it is at most
1, and a metric still.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from timme._arrays import Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.agreement import adjusted_rand, count_pairs
from timme.hierarchy.labels import rank_labels
from timme.hierarchy.tree import Partition
from timme.settings.values import MIN_SIZE

# What belongs to other steps, some of which come after this one, by the names of their types.
_REMEDIES = {
    "Hierarchy": "cut it, hierarchy.cut(cutoff), or compare all cutoffs by timme.compare.compare",
    "Analysis": (
        "cut what it shows, analysis.shown_hierarchy.cut(cutoff), or compare two results at all "
        "cutoffs by timme.compare(first, second)"
    ),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlap(Described):
    """Two partitions of the same sites, cluster against cluster."""

    first: Partition
    second: Partition
    pairs: Ints  # (pairs, 2), a cluster of the first and one of the second that share sites
    shared: Ints  # (pairs,), number of sites they share
    jaccard: Floats  # (pairs,), shared sites divided by those in either
    first_best: Ints  # (clusters of the first,), of each the pair with the highest Jaccard
    second_best: Ints  # (clusters of the second,)
    partners: Ints  # (clusters of the second,), cluster of the first matched one to one, or -1
    min_size: int  # sites a cluster needs to be matched one to one
    rand: float  # adjusted Rand index
    variation: float  # variation of information, in nats

    @property
    def normalised_variation(self) -> float:
        """Variation of information divided by the joint entropy: 0 if equal, 1 if unrelated."""
        if len(self.pairs) == 1:
            return 0.0
        n_sites = len(self.first.labels)
        joint = np.log(n_sites) - n_log_n(self.shared).sum() / n_sites
        return min(1.0, self.variation / float(joint))


def overlap(
    first: Partition | npt.ArrayLike, second: Partition | npt.ArrayLike, *, min_size: int = MIN_SIZE
) -> Overlap:
    """Compare two partitions of the same sites cluster by cluster.

    Clusters are matched one to one from the pair that shares most sites on (ties: the higher
    Jaccard, then the lower label in the first, then in the second), so that a matched cluster can
    take the colour of its partner.

    Parameters
    ----------
    first, second : Partition or array_like of int
        A cluster for every site.
    min_size : int, optional
        Smaller clusters are not matched one to one.

    Returns
    -------
    Overlap
        All pairs of clusters that share sites, and how far the whole agrees. Of each cluster the
        best pair has the highest Jaccard (ties: more shared sites, then the lower label).

    Examples
    --------
    >>> found = overlap([0, 0, 0, 1, 1, 1], [5, 5, 5, 5, 7, 7], min_size=2)
    >>> found.pairs.tolist()
    [[0, 0], [1, 0], [1, 1]]
    >>> found.jaccard
    array([0.75 , 0.167, 0.667])
    >>> found.partners
    array([0, 1])
    """
    refuse_no_size(min_size)
    one, other = as_partition(first), as_partition(second)
    n_sites = len(one.labels)
    refuse_other_sites(n_sites, len(other.labels))
    cells, shared = np.unique(one.labels * other.n_clusters + other.labels, return_counts=True)
    rows, columns = np.divmod(cells, other.n_clusters)
    sizes = one.sizes[rows], other.sizes[columns]
    jaccard = shared / (sizes[0] + sizes[1] - shared)
    ranked = np.lexsort((columns, rows, -jaccard, -shared))
    ranked = ranked[np.minimum(*sizes)[ranked] >= min_size]
    tables = one.sizes, other.sizes, shared
    rand = adjusted_rand(*(count_pairs(sizes).sum() for sizes in tables), n_sites=n_sites)
    variation = variation_of_information(
        *(n_log_n(sizes).sum() for sizes in tables), n_sites=n_sites
    )
    return Overlap(
        first=one,
        second=other,
        pairs=frozen(np.column_stack([rows, columns])),
        shared=frozen(shared),
        jaccard=frozen(jaccard),
        first_best=frozen(_best_of(rows, jaccard, shared)),
        second_best=frozen(_best_of(columns, jaccard, shared)),
        partners=frozen(match_one_to_one(rows[ranked], columns[ranked], other.n_clusters)),
        min_size=min_size,
        rand=float(rand),
        variation=0.0 if rand == 1 else float(variation),
    )


def refuse_no_size(min_size: int) -> None:
    """Refuse a size that no cluster can have.

    Parameters
    ----------
    min_size : int
        Sites a cluster needs.

    Raises
    ------
    ValueError
        If it is below 1.
    """
    if not min_size >= 1:
        raise ValueError(f"min_size must be at least 1, got {min_size}: a cluster has a site")


def as_partition(given: Partition | npt.ArrayLike) -> Partition:
    """Number clusters as a cut does: the largest first, ties to the one with the lowest site.

    Parameters
    ----------
    given : Partition or array_like of int
        Any whole number for each site; equal numbers are one cluster.

    Returns
    -------
    Partition
        The same clusters, at the cutoff 0 if there was none.
    """
    got = type(given).__name__
    if got in _REMEDIES:
        raise TypeError(f"a comparison needs clusters, got {got}: {_REMEDIES[got]}")
    labels = given.labels if isinstance(given, Partition) else np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        raise ValueError(
            "a partition needs a whole number for each site, the label of its cluster, "
            f"got {labels.dtype} of shape {labels.shape}"
        )
    numbers = np.unique(labels, return_inverse=True)[1]  # of any labels, those below 0 included
    ranked = frozen(rank_labels(numbers))
    return Partition(ranked, given.cutoff if isinstance(given, Partition) else 0.0)


def refuse_other_sites(first: int, second: int) -> None:
    """Refuse to compare partitions of different sites.

    Parameters
    ----------
    first, second : int
        Number of sites in each.
    """
    if first != second:
        raise ValueError(
            f"a comparison needs the same sites in both, got {first} and {second}: restrict both "
            "to the sites they share, which timme.compare.common_sites finds"
        )


def n_log_n(sizes: Ints) -> Floats:
    """Return n ln n, of which entropies are made.

    Parameters
    ----------
    sizes : ndarray of int
        Sites of each cluster.

    Returns
    -------
    ndarray
        0 for single sites.
    """
    return np.asarray(special.xlogy(sizes, sizes), dtype=np.float64)


def variation_of_information(
    first: npt.ArrayLike, second: npt.ArrayLike, joint: npt.ArrayLike, *, n_sites: int
) -> Floats:
    """Return the variation of information from sums of n ln n.

    Parameters
    ----------
    first, second : array_like
        Sums over the clusters of each partition.
    joint : array_like
        Sums over the sites that a cluster of the first and one of the second share.
    n_sites : int
        Number of sites.

    Returns
    -------
    ndarray
        In nats.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    total: Floats = one + other - 2 * np.asarray(joint, dtype=np.float64)
    return np.maximum(total / n_sites, 0.0)


def _best_of(clusters: Ints, jaccard: Floats, shared: Ints) -> Ints:
    """Return, of the pairs of each cluster, the one with the highest Jaccard."""
    ranked = np.lexsort((-shared, -jaccard, clusters))
    return ranked[np.unique(clusters[ranked], return_index=True)[1]]


def match_one_to_one(rows: Ints, columns: Ints, n_columns: int) -> Ints:
    """Match pairs in the order given, each cluster once.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (pairs,)
        A cluster of the first and one of the second, the best pair first.
    n_columns : int
        Clusters of the second.

    Returns
    -------
    ndarray of int, shape (clusters of the second,)
        The cluster of the first that each is matched with, or -1.
    """
    partners = np.full(n_columns, -1)
    taken: set[int] = set()
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if partners[column] < 0 and row not in taken:
            partners[column] = row
            taken.add(row)
    return partners
