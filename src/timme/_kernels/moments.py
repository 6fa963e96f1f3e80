"""Moments of pair distances over a block of frames, merged into those of the blocks before."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.space import (
    OPEN,
    STRAIGHT,
    TILTED,
    half_width,
    image_between,
    to_shortest_image,
)

# Sums may be reordered for vector units; NaN must keep its meaning (not seen).
_LOOK_UP = 8  # pairs of sites that are brought into a row while one is looked up
_FOLLOWED = 3  # a kind of image that is no kind of box
_FAST = {"reassoc", "contract", "nsz"}


@compiled(error_model="numpy")
def merge_two(weight, mean, m2, other_weight, other_mean, other_m2):
    """Merge two sets of moments (Chan, Golub and LeVeque's formula)."""
    if weight == 0.0:
        return other_weight, other_mean, other_m2
    if other_weight == 0.0:
        return weight, mean, m2
    total = weight + other_weight
    shift = other_mean - mean
    return (
        total,
        mean + shift * (other_weight / total),
        m2 + other_m2 + shift * shift * weight * (other_weight / total),
    )


@compiled(error_model="numpy")
def merge_moments(
    count, weight, mean, m2, reach, other_count, other_weight, other_mean, other_m2, other_reach
):
    """Merge the moments of many pairs into the first set, in place."""
    for p in range(len(weight)):
        count[p] += other_count[p]
        reach[p] = max(reach[p], other_reach[p])
        weight[p], mean[p], m2[p] = merge_two(
            weight[p], mean[p], m2[p], other_weight[p], other_mean[p], other_m2[p]
        )


@compiled(fastmath=_FAST, error_model="numpy")
def moments_of(distances, weights):
    """Count, weight, mean and sum of squared deviations of the distances that are not NaN.

    Distances are shifted by the first one seen, so that no digits are lost to a large mean.
    """
    shift = 0.0
    for frame in range(len(distances)):
        if weights[frame] > 0.0 and distances[frame] == distances[frame]:
            shift = distances[frame]
            break
    count = 0
    total = 0.0
    first = 0.0
    second = 0.0
    for frame in range(len(distances)):
        seen = distances[frame] == distances[frame]
        weight = weights[frame] if seen else 0.0
        deviation = distances[frame] - shift if seen else 0.0
        count += 1 if weight > 0.0 else 0
        total += weight
        first += weight * deviation
        second += weight * deviation * deviation
    if count == 0:
        return count, 0.0, 0.0, 0.0
    return count, total, shift + first / total, max(second - first * first / total, 0.0)


@compiled(error_model="numpy")
def add_distances(distances, weights, count, weight, mean, m2):
    """Merge ready-made distances (pairs, frames) into the moments of their pairs."""
    for p in range(len(distances)):
        seen, total, average, deviations = moments_of(distances[p], weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)


@compiled(fastmath=_FAST, error_model="numpy")
def _distance_in_space(xyz, a, b, frame):
    """Distance of two sites in one frame of open space in 3-D."""
    x = xyz[a, 0, frame] - xyz[b, 0, frame]
    y = xyz[a, 1, frame] - xyz[b, 1, frame]
    z = xyz[a, 2, frame] - xyz[b, 2, frame]
    return np.sqrt(x * x + y * y + z * z)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums_of_two(xyz, site, one, other):
    """Sum the distances of a site from two others, less the first, and their squares, in 3-D.

    Two at a time: coordinates of the site are read once, and square roots need not wait.
    """
    one_shift = _distance_in_space(xyz, site, one, 0)
    other_shift = _distance_in_space(xyz, site, other, 0)
    one_first = one_second = other_first = other_second = one_shift - one_shift  # 0, single or not
    for frame in range(xyz.shape[2]):
        r = _distance_in_space(xyz, site, one, frame) - one_shift
        one_first += r
        one_second += r * r
        r = _distance_in_space(xyz, site, other, frame) - other_shift
        other_first += r
        other_second += r * r
    return (one_shift, one_first, one_second), (other_shift, other_first, other_second)


@compiled(fastmath=_FAST, error_model="numpy")
def _sums(xyz, a, b, square):
    """The same of one pair in any dimension; ``square`` has room for as many numbers as frames."""
    _, n_dimensions, n_frames = xyz.shape
    for frame in range(n_frames):
        x = xyz[a, 0, frame] - xyz[b, 0, frame]
        square[frame] = x * x
    for d in range(1, n_dimensions):
        for frame in range(n_frames):
            x = xyz[a, d, frame] - xyz[b, d, frame]
            square[frame] += x * x
    shift = np.sqrt(square[0])
    first = shift - shift
    second = shift - shift
    for frame in range(n_frames):
        r = np.sqrt(square[frame]) - shift
        first += r
        second += r * r
    return shift, first, second


@compiled(error_model="numpy")
def _moments_of_sums(n_frames, sums):
    """Mean and sum of squared deviations of distances of which sums are known."""
    shift, first, second = sums
    return shift + first / n_frames, max(second - first * first / n_frames, 0.0)


@compiled(error_model="numpy")
def _merge_sums(p, n_frames, sums, count, weight, mean, m2):
    """Merge the sums of one pair over frames of weight 1 into its moments."""
    average, deviations = _moments_of_sums(n_frames, sums)
    count[p] += n_frames
    weight[p], mean[p], m2[p] = merge_two(
        weight[p], mean[p], m2[p], float(n_frames), average, deviations
    )


@compiled(error_model="numpy")
def _add_in_space(xyz, pairs, count, weight, mean, m2):
    """Merge a block in 3-D, two pairs at a time where they have a site in common."""
    n_frames = xyz.shape[2]
    p = 0
    while p < len(pairs):
        q = min(p + 1, len(pairs) - 1)
        site, one, other_site, other = pairs[p, 0], pairs[p, 1], pairs[q, 0], pairs[q, 1]
        if one == other:
            site, one, other_site, other = one, site, other, other_site
        if site != other_site or q == p:
            q, other = p, one  # a pair alone goes twice through the same loop, and counts once
        sums, other_sums = _sums_of_two(xyz, site, one, other)
        _merge_sums(p, n_frames, sums, count, weight, mean, m2)
        if q > p:
            _merge_sums(q, n_frames, other_sums, count, weight, mean, m2)
        p = q + 1


@compiled(error_model="numpy")
def add_all_frames(xyz, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs in open space, all frames seen and of weight 1.

    ``xyz`` is (sites, dimensions, frames), so that the frames of a site are contiguous and the
    loops over them vectors; they take no views of it, whose references would have to be counted.
    Single precision stays single within the block.
    """
    _, n_dimensions, n_frames = xyz.shape
    if n_dimensions == 3:
        _add_in_space(xyz, pairs, count, weight, mean, m2)
        return
    square = np.empty(n_frames, xyz.dtype)
    for p in range(len(pairs)):
        sums = _sums(xyz, pairs[p, 0], pairs[p, 1], square)
        _merge_sums(p, n_frames, sums, count, weight, mean, m2)


@compiled(error_model="numpy")
def _sigma_of_sums(n_frames, sums):
    """σ of distances of which sums are known."""
    return np.sqrt(_moments_of_sums(n_frames, sums)[1] / n_frames)


@compiled(error_model="numpy")
def fill_band(xyz, first, square, pairs, sigma):
    """Fill in σ of some sites with one another and with all later ones, square by square of sites.

    As :func:`add_all_frames` would find it in one block that holds all frames, to the last bit.
    """
    n_sites, n_dimensions, n_frames = xyz.shape
    scratch = np.empty(n_frames, xyz.dtype)
    p = 0
    for corner in range(first, n_sites, square):
        stop = min(corner + square, n_sites)
        for site in range(first, min(first + square, n_sites)):
            one = max(corner, site + 1)
            while one < stop:
                other = min(one + 1, stop - 1)
                if n_dimensions == 3:
                    sums, other_sums = _sums_of_two(xyz, site, one, other)
                else:
                    other, sums = one, _sums(xyz, site, one, scratch)
                    other_sums = sums
                pairs[p, 0], pairs[p, 1] = site, one
                sigma[p] = _sigma_of_sums(n_frames, sums)
                p += 1
                if other > one:
                    pairs[p, 0], pairs[p, 1] = site, other
                    sigma[p] = _sigma_of_sums(n_frames, other_sums)
                    p += 1
                one = other + 1


@compiled(fastmath=_FAST, error_model="numpy")
def add_frames(
    xyz,
    weights,
    boxes,
    inverses,
    box_kind,
    molecules,
    origin,
    origin_box,
    pairs,
    count,
    weight,
    mean,
    m2,
    reach,
):
    """Merge a block into the moments of pairs in any box, with weights and unseen frames (NaN).

    Sites of one of the ``molecules`` (none if all are single) see one another as they are, others
    their nearest images, or, if there is an ``origin``, the images that are nearest there.
    ``reach`` gets how near a pair comes to half the box, where its nearest image changes: 1 is
    there.
    """
    _, n_dimensions, n_frames = xyz.shape
    square = np.empty(n_frames)
    near = np.zeros(n_frames)  # in units of half the box
    vector = np.empty(n_dimensions)
    scratch = np.empty((2, n_dimensions))
    lengths = np.zeros((n_dimensions, n_frames))
    inverse_lengths = np.zeros((n_dimensions, n_frames))
    halves = np.empty(n_frames)
    steps = np.empty(n_dimensions)
    if box_kind == STRAIGHT:
        for frame in range(n_frames):
            for d in range(n_dimensions):
                lengths[d, frame] = boxes[frame, d, d]
                inverse_lengths[d, frame] = inverses[frame, d, d]
    elif box_kind == TILTED:
        for frame in range(n_frames):
            halves[frame] = half_width(inverses[frame])
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a = xyz[i]
        b = xyz[j]
        kind = box_kind
        if len(molecules) > 0 and molecules[i] == molecules[j]:
            kind = OPEN
        elif kind != OPEN and len(origin) > 0:
            image_between(i, j, origin, origin_box, kind, vector, scratch, steps)
            kind = _FOLLOWED
        for frame in range(n_frames):
            square[frame] = 0.0
            near[frame] = 0.0
        if kind == TILTED:
            for frame in range(n_frames):
                for d in range(n_dimensions):
                    vector[d] = a[d, frame] - b[d, frame]
                to_shortest_image(
                    vector, boxes[frame], inverses[frame], kind, halves[frame], scratch
                )
                for d in range(n_dimensions):
                    square[frame] += vector[d] * vector[d]
                near[frame] = np.sqrt(square[frame]) / halves[frame]
        elif kind == STRAIGHT:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    x -= lengths[d, frame] * np.rint(x * inverse_lengths[d, frame])
                    square[frame] += x * x
                    near[frame] = max(near[frame], 2.0 * abs(x) * inverse_lengths[d, frame])
        elif kind == _FOLLOWED:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    for axis in range(n_dimensions):
                        x += steps[axis] * boxes[frame, axis, d]
                    square[frame] += x * x
        else:
            for d in range(n_dimensions):
                for frame in range(n_frames):
                    x = np.float64(a[d, frame]) - b[d, frame]
                    square[frame] += x * x
        for frame in range(n_frames):
            square[frame] = np.sqrt(square[frame])
        seen, total, average, deviations = moments_of(square, weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)
        for frame in range(n_frames):
            if near[frame] > reach[p]:  # never for NaN
                reach[p] = near[frame]


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


@compiled(error_model="numpy")
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
