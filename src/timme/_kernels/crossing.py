"""Pairs of sites of which pairs of objects consist, and how σ² of these is made of theirs."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

_LOOK_UP = 8  # pairs of sites that are brought into a row while one is looked up


@compiled
def _grouped(keys, values, n_keys):
    """Group values by their keys: where each key begins, and the values in that order."""
    begin = np.zeros(n_keys + 1, np.int64)
    for k in range(len(keys)):
        begin[keys[k] + 1] += 1
    for key in range(n_keys):
        begin[key + 1] += begin[key]
    filled = begin[:-1].copy()
    grouped = np.empty(len(keys), np.int64)
    for k in range(len(keys)):
        grouped[filled[keys[k]]] = values[k]
        filled[keys[k]] += 1
    return begin, grouped


@compiled
def cross_pairs(pairs, offsets, members, n_sites):
    """Return the pairs of sites of which pairs of objects consist, each once, lower first, sorted.

    Before them comes where those of each lower site begin. For each site, the partners of all
    objects that it belongs to are gone through; marks tell which were met before.
    """
    n_objects = len(offsets) - 1
    ends = np.concatenate((pairs[:, 0], pairs[:, 1]))
    others = np.concatenate((pairs[:, 1], pairs[:, 0]))
    partner_begin, partners = _grouped(ends, others, n_objects)
    owners = np.empty(len(members), np.int64)
    for a in range(n_objects):
        owners[offsets[a] : offsets[a + 1]] = a
    owner_begin, owners = _grouped(members, owners, n_sites)
    begin = np.zeros(n_sites + 1, np.int64)
    higher = np.empty(0, np.int64)
    for fills in (False, True):  # they are counted first
        met_objects, met_sites = np.full(n_objects, -1), np.full(n_sites, -1)
        count = 0
        for i in range(n_sites):
            begin[i] = count
            for a in owners[owner_begin[i] : owner_begin[i + 1]]:
                for k in range(partner_begin[a], partner_begin[a + 1]):
                    b = partners[k]
                    if met_objects[b] == i:
                        continue
                    met_objects[b] = i
                    for other in range(offsets[b], offsets[b + 1]):
                        j = members[other]
                        if j > i and met_sites[j] != i:
                            met_sites[j] = i
                            if fills:
                                higher[count] = j
                            count += 1
        begin[n_sites] = count
        if not fills:
            higher = np.empty(count, np.int64)
    return begin, _sorted_upper(begin, higher)


@compiled
def _sorted_upper(indptr, columns):
    """Return the entries of a sparse matrix, all above its diagonal, rows and columns sorted.

    Entries are put into their columns, row by row, and then back into their rows, column by column:
    both are in order after that.
    """
    n_rows = len(indptr) - 1
    rows = np.empty(len(columns), np.int64)
    for row in range(n_rows):
        rows[indptr[row] : indptr[row + 1]] = row
    begin, rows = _grouped(columns, rows, n_rows)
    pairs = np.empty((len(rows), 2), np.int64)
    filled = indptr[:-1].copy()
    for column in range(n_rows):
        for k in range(begin[column], begin[column + 1]):
            place = filled[rows[k]]
            filled[rows[k]] += 1
            pairs[place, 0] = rows[k]
            pairs[place, 1] = column
    return pairs


@compiled
def _place(indptr, site_pairs, low, high):
    """Find a pair of sites by halving those of the lower one."""
    first, last = indptr[low], indptr[low + 1]
    while first < last:
        middle = (first + last) // 2
        if site_pairs[middle, 1] < high:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def reduce_pairs(pairs, offsets, members, indptr, site_pairs, variance, largest):
    """Reduce σ² of site pairs to σ² of object pairs: their mean, or the largest of them.

    ``site_pairs`` are sorted, lower site first, and begin at ``indptr`` of it; a site that both
    objects share counts 0. Pairs of one object that follow one another are reduced together: for
    each of its sites, σ² with all others is brought into one row, from which partners take theirs.
    Where these are too few for that to pay, each is looked up.
    """
    n_sites = len(indptr) - 1
    usual = max(1, len(members) // (len(offsets) - 1))  # sites of an object
    begin, places = _grouped(site_pairs[:, 1], np.arange(len(site_pairs)), n_sites)
    row = np.empty(n_sites)
    reduced = np.zeros(len(pairs))
    start = 0
    while start < len(pairs):
        a, stop = pairs[start, 0], start + 1
        while stop < len(pairs) and pairs[stop, 0] == a:
            stop += 1
        for own in range(offsets[a], offsets[a + 1]):
            i = members[own]
            length = indptr[i + 1] - indptr[i] + begin[i + 1] - begin[i]
            in_row = length < _LOOK_UP * usual * (stop - start)
            if in_row:
                for k in range(indptr[i], indptr[i + 1]):
                    row[site_pairs[k, 1]] = variance[k]
                for k in range(begin[i], begin[i + 1]):
                    row[site_pairs[places[k], 0]] = variance[places[k]]
            for p in range(start, stop):
                b = pairs[p, 1]
                total = reduced[p]
                for other in range(offsets[b], offsets[b + 1]):
                    j = members[other]
                    if i == j:
                        continue
                    if in_row:
                        value = row[j]
                    else:
                        value = variance[_place(indptr, site_pairs, min(i, j), max(i, j))]
                    if not largest:
                        total += value
                    elif not (np.isnan(total) or value <= total):  # NaN, an undefined σ, stays
                        total = value
                reduced[p] = total
        if not largest:
            for p in range(start, stop):
                b = pairs[p, 1]
                reduced[p] /= (offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b])
        start = stop
    return reduced
