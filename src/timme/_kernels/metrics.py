"""Moments of distances by named metrics, which are defined as SciPy defines them."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.moments import merge_two, moments_of

CITYBLOCK, CHEBYSHEV, SQEUCLIDEAN, COSINE, CORRELATION, BRAYCURTIS, CANBERRA, HAVERSINE = range(8)
HAMMING, JENSENSHANNON = 8, 9

EARTH = 6371.0088  # km, mean radius


@compiled
def _fill_angles(xyz, i, j, centred, room, distances):
    """One less the cosine of the angle at the origin, or at the means of coordinates."""
    _, n_dimensions, n_frames = xyz.shape
    product, one, other, first, second = room
    room[:] = 0.0
    if centred:
        for d in range(n_dimensions):
            for frame in range(n_frames):
                first[frame] += xyz[i, d, frame] / n_dimensions
                second[frame] += xyz[j, d, frame] / n_dimensions
    for d in range(n_dimensions):
        for frame in range(n_frames):
            u = xyz[i, d, frame] - first[frame]
            v = xyz[j, d, frame] - second[frame]
            product[frame] += u * v
            one[frame] += u * u
            other[frame] += v * v
    for frame in range(n_frames):
        angle = 1.0 - product[frame] / np.sqrt(one[frame] * other[frame])
        distances[frame] = max(angle, 0.0)  # NaN stays, where there is no direction


@compiled
def _fill_great_circles(xyz, i, j, distances):
    """Distance in km along the surface of the Earth, of latitudes and longitudes in degrees."""
    for frame in range(xyz.shape[2]):
        one = np.radians(xyz[i, 0, frame])
        other = np.radians(xyz[j, 0, frame])
        up = np.sin((one - other) / 2)
        along = np.sin(np.radians(xyz[i, 1, frame] - xyz[j, 1, frame]) / 2)
        share = up * up + np.cos(one) * np.cos(other) * along * along
        distances[frame] = 2.0 * EARTH * np.arcsin(np.sqrt(min(share, 1.0)))
        if abs(one) > np.pi / 2 or abs(other) > np.pi / 2:
            distances[frame] = np.nan


@compiled
def _fill_divergences(xyz, i, j, room, distances):
    """Root of half of what each of two distributions tells beyond the mean of both, in nats."""
    _, n_dimensions, n_frames = xyz.shape
    one, other = room[0], room[1]
    room[:2] = 0.0
    distances[:] = 0.0
    for d in range(n_dimensions):
        for frame in range(n_frames):
            one[frame] += xyz[i, d, frame]
            other[frame] += xyz[j, d, frame]
            if xyz[i, d, frame] < 0.0 or xyz[j, d, frame] < 0.0:
                one[frame] = np.nan  # which stays, as no share is negative
    for d in range(n_dimensions):
        for frame in range(n_frames):
            if not (one[frame] > 0.0 and other[frame] > 0.0):
                distances[frame] = np.nan
                continue
            p = xyz[i, d, frame] / one[frame]
            q = xyz[j, d, frame] / other[frame]
            both = (p + q) / 2
            if p > 0.0:
                distances[frame] += p * np.log(p / both)
            if q > 0.0:
                distances[frame] += q * np.log(q / both)
    for frame in range(n_frames):
        distances[frame] = np.sqrt(max(distances[frame], 0.0) / 2)


@compiled
def _fill_sums(metric, xyz, i, j, room, distances):
    """Distances that are sums over coordinates, or the largest of them."""
    _, n_dimensions, n_frames = xyz.shape
    scale = room[0]
    distances[:] = 0.0
    scale[:] = 0.0
    for d in range(n_dimensions):
        if metric == CHEBYSHEV:
            for frame in range(n_frames):
                apart = abs(xyz[i, d, frame] - xyz[j, d, frame])
                if apart > distances[frame] or np.isnan(apart):  # NaN, once there, stays
                    distances[frame] = apart
        elif metric == SQEUCLIDEAN:
            for frame in range(n_frames):
                apart = xyz[i, d, frame] - xyz[j, d, frame]
                distances[frame] += apart * apart
        elif metric == CANBERRA:
            for frame in range(n_frames):
                apart = abs(xyz[i, d, frame] - xyz[j, d, frame])
                both = abs(xyz[i, d, frame]) + abs(xyz[j, d, frame])
                distances[frame] += apart / both if apart != 0.0 else 0.0
        elif metric == HAMMING:
            for frame in range(n_frames):
                apart = xyz[i, d, frame] - xyz[j, d, frame]
                differs = 1.0 if apart != 0.0 else 0.0
                distances[frame] += differs / n_dimensions + 0.0 * apart  # NaN, once there, stays
        else:
            for frame in range(n_frames):
                distances[frame] += abs(xyz[i, d, frame] - xyz[j, d, frame])
    if metric == BRAYCURTIS:
        for d in range(n_dimensions):
            for frame in range(n_frames):
                scale[frame] += abs(xyz[i, d, frame] + xyz[j, d, frame])
        for frame in range(n_frames):
            distances[frame] /= scale[frame]


@compiled
def _is_seen(xyz, site, frame):
    seen = True
    for d in range(xyz.shape[1]):
        seen &= not np.isnan(xyz[site, d, frame])
    return seen


@compiled
def add_named(xyz, weights, metric, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs by a metric; return how many are not defined.

    ``xyz`` is (sites, dimensions, frames); a site of which any coordinate is NaN is not seen, and
    its distances come out as NaN. Any other that is not finite is not defined.
    """
    n_frames = xyz.shape[2]
    distances = np.empty(n_frames)
    room = np.empty((5, n_frames))
    n_undefined = 0
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        if metric == HAVERSINE:
            _fill_great_circles(xyz, i, j, distances)
        elif metric == COSINE or metric == CORRELATION:  # noqa: PLR1714, SIM109, as numba takes it
            _fill_angles(xyz, i, j, metric == CORRELATION, room, distances)
        elif metric == JENSENSHANNON:
            _fill_divergences(xyz, i, j, room, distances)
        else:
            _fill_sums(metric, xyz, i, j, room, distances)
        for frame in range(n_frames):
            if not np.isfinite(distances[frame]):
                n_undefined += _is_seen(xyz, i, frame) and _is_seen(xyz, j, frame)
        seen, total, average, deviations = moments_of(distances, weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)
    return n_undefined
