"""Reductions of values of pairs: to objects, to draws of parts, and to motions of single sites."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

_STILL = 1e-9  # of the largest s², below which sweeps change nothing any more


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
                count = (offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b])
                for column in range(n_columns):
                    reduced[p, column] /= count


@compiled(fastmath={"contract"})
def multiply(rows, counts):
    """Return (rows, parts) times (parts, draws), adding up in one order wherever it is done.

    Libraries add in an order that depends on the number of rows and threads.
    """
    n_parts, n_draws = counts.shape
    products = np.empty((len(rows), n_draws), rows.dtype)
    whole = n_parts - n_parts % 4
    for p in range(len(rows)):
        for d in range(n_draws):
            products[p, d] = 0.0
        for k in range(0, whole, 4):  # four at a time: each time, products are read and written
            one, two, three, four = rows[p, k], rows[p, k + 1], rows[p, k + 2], rows[p, k + 3]
            for d in range(n_draws):
                products[p, d] += (one * counts[k, d] + two * counts[k + 1, d]) + (
                    three * counts[k + 2, d] + four * counts[k + 3, d]
                )
        for k in range(whole, n_parts):
            for d in range(n_draws):
                products[p, d] += rows[p, k] * counts[k, d]
    return products


@compiled
def fit_sites(begins, partners, rows, squares, start, n_sweeps):
    """Fit s² of all sites, none below 0, to σ² of pairs for each draw, by least squares.

    The pairs of site ``i``, each listed for both of its sites, are at ``begins[i]:begins[i + 1]``:
    their other sites are ``partners``, and ``rows`` are their columns in ``squares`` (draws,
    pairs). From ``start``, each site in turn takes what its pairs leave for it on average, up to
    ``n_sweeps`` times. Returned is s² (draws, sites).
    """
    found = np.empty((len(squares), len(start)))
    for draw in range(len(squares)):
        sites = found[draw]
        for site in range(len(sites)):
            sites[site] = start[site]
        for _ in range(n_sweeps):
            moved = largest = 0.0
            for site in range(len(sites)):
                begin, end = begins[site], begins[site + 1]
                total = 0.0
                for k in range(begin, end):
                    total += squares[draw, rows[k]] - sites[partners[k]]
                if end > begin:
                    best = max(total / (end - begin), 0.0)
                    moved = max(moved, abs(best - sites[site]))
                    sites[site] = best
                largest = max(largest, sites[site])
            if moved <= _STILL * largest:
                break
    return found
