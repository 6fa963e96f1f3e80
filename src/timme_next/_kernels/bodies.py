"""Pairs of sites that make up pairs of objects, and the reduction of their values."""

from __future__ import annotations

import numpy as np

from timme_next._kernels import compiled


@compiled
def group(keys, n_keys):
    """Places of each key, ascending: key ``k`` is at ``places[begins[k]:begins[k + 1]]``."""
    begins = np.zeros(n_keys + 1, np.int64)
    for key in keys:
        begins[key + 1] += 1
    for key in range(n_keys):
        begins[key + 1] += begins[key]
    filled = begins[:-1].copy()
    places = np.empty(len(keys), np.int64)
    for k in range(len(keys)):
        places[filled[keys[k]]] = k
        filled[keys[k]] += 1
    return begins, places


@compiled
def cross_pairs(pairs, offsets, members, n_sites):
    """Pairs of sites that pairs of objects consist of: each once, lower first, sorted.

    Returned with them: where the pairs of each lower site begin, and the pairs of each higher site
    as in :func:`group`.
    """
    n_objects = len(offsets) - 1
    ends = np.concatenate((pairs[:, 0], pairs[:, 1]))
    others = np.concatenate((pairs[:, 1], pairs[:, 0]))
    partner_begins, partner_places = group(ends, n_objects)
    owner_begins, owner_places = group(members, n_sites)
    owners = np.repeat(np.arange(n_objects), np.diff(offsets))
    begins = np.zeros(n_sites + 1, np.int64)
    highers = np.empty(0, np.int64)
    for fills in (False, True):  # the first pass only counts, so that memory is taken once
        met_objects, met_sites = np.full(n_objects, -1), np.full(n_sites, -1)
        count = 0
        for i in range(n_sites):
            for own in owner_places[owner_begins[i] : owner_begins[i + 1]]:
                a = owners[own]
                for k in partner_places[partner_begins[a] : partner_begins[a + 1]]:
                    b = others[k]
                    if met_objects[b] == i:
                        continue
                    met_objects[b] = i
                    for j in members[offsets[b] : offsets[b + 1]]:
                        if j > i and met_sites[j] != i:
                            met_sites[j] = i
                            if fills:
                                highers[count] = j
                            count += 1
            begins[i + 1] = count
        if not fills:
            highers = np.empty(count, np.int64)
    # Grouping by the higher site and filling the rows in that order sorts every row.
    lowers = np.repeat(np.arange(n_sites), np.diff(begins))
    higher_begins, places = group(highers, n_sites)
    site_pairs, filled = np.empty((len(highers), 2), np.int64), begins[:-1].copy()
    for k in range(len(places)):
        i = lowers[places[k]]
        site_pairs[filled[i], 0] = i
        site_pairs[filled[i], 1] = highers[places[k]]
        places[k] = filled[i]
        filled[i] += 1
    return site_pairs, begins, higher_begins, places


@compiled
def reduce(firsts, pairs, objects, rows, values, largest, reduced):
    """Reduce values (site pairs, columns) to pairs of objects: their mean, or the largest.

    ``firsts`` is the range of first objects whose pairs are reduced, ``pairs`` their second objects
    and :func:`group` of the first ones, ``objects`` are offsets and members, and ``rows`` is what
    :func:`cross_pairs` returns. A site that both objects share counts 0. For each site of a first
    object, the values of all its pairs are copied side by side, where its partners find them.
    """
    seconds, pair_begins, pair_places = pairs
    offsets, members = objects
    site_pairs, begins, higher_begins, places = rows
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
                    beside[site_pairs[k, 1], column] = values[k, column]
            for k in places[higher_begins[i] : higher_begins[i + 1]]:
                for column in range(n_columns):
                    beside[site_pairs[k, 0], column] = values[k, column]
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
