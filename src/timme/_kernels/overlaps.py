"""Sums over the sites that clusters of two hierarchies share, at all pairs of cutoffs."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def joint_sums(first, second, terms, pairs, logs):
    """Sum n (n - 1) / 2 and n ln n over the shared sites of clusters, for all pairs of partitions.

    Sites are in the leaf order of the second hierarchy, where its clusters are runs.

    Parameters
    ----------
    first, second : int64 (rows, sites), (columns, sites)
        Labels of the clusters, from 0 to below the number of sites.
    terms : float64 (sites + 1,)
        n ln n.
    pairs, logs : float64 (rows, columns)
        Filled.
    """
    n_sites = first.shape[1]
    counts = np.zeros(n_sites, np.int64)
    for row in range(len(first)):
        labels = first[row]
        for column in range(len(second)):
            runs = second[column]
            total, entropy, start = 0, 0.0, 0
            for site in range(n_sites):
                counts[labels[site]] += 1
                if site + 1 == n_sites or runs[site + 1] != runs[site]:
                    for member in range(start, site + 1):
                        count = counts[labels[member]]
                        counts[labels[member]] = 0
                        total += count * (count - 1) // 2
                        entropy += terms[count]
                    start = site + 1
            pairs[row, column] = total
            logs[row, column] = entropy
