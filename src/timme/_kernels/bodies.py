"""Reduction of values of pairs of sites to pairs of objects."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def reduce(firsts, pairs, objects, rows, values, largest, reduced):
    """Reduce values (site pairs, columns) to pairs of objects: their mean, or the largest.

    ``firsts`` is the range of first objects whose pairs are reduced. ``pairs`` are their second
    objects, where the pairs of each first object begin in the list that follows, and this list.
    ``objects`` are offsets and members; ``rows`` where the partners of each site begin, partners,
    and numbers of site pairs. A site that both objects share counts 0. For each site of a first
    object, the values of all its pairs are copied side by side, where its partners find them.
    """
    seconds, pair_begins, pair_places = pairs
    offsets, members = objects
    begins, partners, numbers = rows
    n_columns = values.shape[1]
    beside = np.empty((len(begins) - 1, n_columns), values.dtype)
    for a in range(firsts[0], firsts[1]):
        chosen = pair_places[pair_begins[a] : pair_begins[a + 1]]
        if len(chosen) == 0:
            continue
        for p in chosen:
            reduced[p] = 0.0
        for i in members[offsets[a] : offsets[a + 1]]:
            for k in range(begins[i], begins[i + 1]):
                for column in range(n_columns):
                    beside[partners[k], column] = values[numbers[k], column]
            beside[i] = 0.0
            for p in chosen:
                b = seconds[p]
                for j in members[offsets[b] : offsets[b + 1]]:
                    for column in range(n_columns):
                        value, total = beside[j, column], reduced[p, column]
                        if not largest:
                            reduced[p, column] = total + value
                        elif not (np.isnan(total) or value <= total):  # NaN, an unknown σ, stays
                            reduced[p, column] = value
        if not largest:
            for p in chosen:
                b = seconds[p]
                reduced[p] /= (offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b])
