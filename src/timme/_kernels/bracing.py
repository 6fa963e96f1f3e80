"""Braced heights: a pair counts once enough partners are near to both of its ends."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def braced_heights(pairs, heights, indptr, partners, values, n_shared, braced):
    """The height from which on each pair shares so many partners, and is near itself.

    Rows ``indptr`` hold the ``partners`` of each site, sorted, and the height of each pair; inf
    where there are never so many partners. Two rows are walked together, and the lowest few of
    what they share are kept.
    """
    lowest = np.empty(n_shared)
    for p in range(len(pairs)):
        i, i_end = indptr[pairs[p, 0]], indptr[pairs[p, 0] + 1]
        j, j_end = indptr[pairs[p, 1]], indptr[pairs[p, 1] + 1]
        lowest[:] = np.inf
        while i < i_end and j < j_end:
            if partners[i] < partners[j]:
                i += 1
            elif partners[i] > partners[j]:
                j += 1
            else:
                value = max(values[i], values[j])
                k = n_shared - 1
                if value < lowest[k]:
                    while k > 0 and lowest[k - 1] > value:
                        lowest[k] = lowest[k - 1]
                        k -= 1
                    lowest[k] = value
                i += 1
                j += 1
        braced[p] = max(heights[p], lowest[n_shared - 1])
