"""Two partitions of the same sites, cluster against cluster.

The adjusted Rand index counts pairs of sites that are together in both partitions, less what
chance would give: 1 for equal partitions, about 0 for unrelated ones. The variation of information
is what one partition says and the other does not, plus the reverse, in nats: from 0 to ln N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.partition import Partition, rand_index, rank_labels


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlap(Described):
    """Two partitions of the same sites, cluster against cluster."""

    first: Partition
    second: Partition
    pairs: Ints  # (pairs, 2), a cluster of the first and one of the second that share sites
    shared: Ints  # (pairs,), number of sites they share
    jaccard: Floats  # (pairs,), shared sites divided by those in either
    partners: Ints  # (clusters of the second,), cluster of the first matched one to one, or -1
    rand: float  # adjusted Rand index
    variation: float  # variation of information, in nats


def overlap(
    first: Partition | npt.ArrayLike, second: Partition | npt.ArrayLike, *, min_size: int = 10
) -> Overlap:
    """Compare two partitions of the same sites.

    Clusters are matched one to one, the pair that shares most sites first (ties: the higher Jaccard
    index, then the lower labels), so that matched clusters can have the same colour.

    Parameters
    ----------
    first, second : Partition or array_like of int, shape (sites,)
        Cluster of each site.
    min_size : int, optional
        Smaller clusters are not matched one to one.

    Returns
    -------
    Overlap
        All pairs of clusters that share sites.

    Examples
    --------
    >>> found = overlap([0, 0, 0, 1, 1, 1], [5, 5, 5, 5, 7, 7], min_size=2)
    >>> found.pairs.tolist(), found.partners.tolist()
    ([[0, 0], [1, 0], [1, 1]], [0, 1])
    """
    if not min_size >= 1:
        raise ValueError(f"min_size must be at least 1, got {min_size}")
    one, other = as_partition(first), as_partition(second)
    n_sites = len(one.labels)
    if n_sites != len(other.labels):
        raise ValueError(
            f"a comparison needs the same sites in both, got {n_sites} and {len(other.labels)}: "
            "restrict both to the sites that comparison.common_sites finds"
        )
    cells, shared = np.unique(one.labels * other.n_clusters + other.labels, return_counts=True)
    rows, columns = np.divmod(cells, other.n_clusters)
    sizes = one.sizes[rows], other.sizes[columns]
    jaccard = shared / (sizes[0] + sizes[1] - shared)
    ranked = np.lexsort((columns, rows, -jaccard, -shared))
    ranked = ranked[np.minimum(*sizes)[ranked] >= min_size]
    rand = rand_index(one.labels, other.labels)
    logs = [xlogy(table, table).sum() for table in (one.sizes, other.sizes, shared)]
    return Overlap(
        first=one,
        second=other,
        pairs=frozen(np.column_stack([rows, columns])),
        shared=frozen(shared),
        jaccard=frozen(jaccard),
        partners=frozen(_match(rows[ranked], columns[ranked], other.n_clusters)),
        rand=rand,
        variation=0.0 if rand == 1 else max(0.0, (logs[0] + logs[1] - 2 * logs[2]) / n_sites),
    )


def as_partition(given: Partition | npt.ArrayLike) -> Partition:
    """Partition with labels by size; lists of labels get the cutoff 0."""
    labels = np.asarray(given.labels if isinstance(given, Partition) else given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        raise ValueError(
            "a partition needs a whole number for each site, the label of its cluster, got "
            f"{labels.dtype} of shape {labels.shape}: cut a hierarchy with hierarchy.cut(cutoff)"
        )
    numbers = np.unique(labels, return_inverse=True)[1]
    cutoff = given.cutoff if isinstance(given, Partition) else 0.0
    return Partition(frozen(rank_labels(numbers)), cutoff)


def _match(rows: Ints, columns: Ints, n_columns: int) -> Ints:
    """Match pairs in the order given, each cluster once; -1 for clusters without a partner."""
    partners = np.full(n_columns, -1)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if partners[column] < 0 and row not in partners:
            partners[column] = row
    return partners
