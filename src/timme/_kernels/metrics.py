"""Moments of distances by named metrics, which are defined as SciPy defines them."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled
from timme._kernels.moments import merge_two, moments_of

CITYBLOCK, CHEBYSHEV, SQEUCLIDEAN, COSINE, CORRELATION, BRAYCURTIS, CANBERRA, HAVERSINE = range(8)

EARTH = 6371.0088  # km, mean radius


@compiled(error_model="numpy")
def _cosine(xyz, i, j, frame, centred):
    """One less the cosine of the angle at the origin, or at the means of coordinates."""
    n_dimensions = xyz.shape[1]
    first = 0.0
    second = 0.0
    if centred:
        for d in range(n_dimensions):
            first += xyz[i, d, frame] / n_dimensions
            second += xyz[j, d, frame] / n_dimensions
    product = 0.0
    one = 0.0
    other = 0.0
    for d in range(n_dimensions):
        u = xyz[i, d, frame] - first
        v = xyz[j, d, frame] - second
        product += u * v
        one += u * u
        other += v * v
    return max(1.0 - product / np.sqrt(one * other), 0.0) if one * other > 0.0 else np.nan


@compiled(error_model="numpy")
def _great_circle(xyz, i, j, frame):
    """Distance in km along the surface of the Earth, of latitudes and longitudes in degrees."""
    one = np.radians(xyz[i, 0, frame])
    other = np.radians(xyz[j, 0, frame])
    if abs(one) > np.pi / 2 or abs(other) > np.pi / 2:
        return np.nan
    up = np.sin((one - other) / 2)
    along = np.sin(np.radians(xyz[i, 1, frame] - xyz[j, 1, frame]) / 2)
    share = up * up + np.cos(one) * np.cos(other) * along * along
    return 2.0 * EARTH * np.arcsin(min(np.sqrt(share), 1.0))


@compiled(error_model="numpy")
def _distance(metric, xyz, i, j, frame):
    """Distance of two sites that are seen; NaN where the metric is not defined."""
    if metric == COSINE:
        return _cosine(xyz, i, j, frame, centred=False)
    if metric == CORRELATION:
        return _cosine(xyz, i, j, frame, centred=True)
    if metric == HAVERSINE:
        return _great_circle(xyz, i, j, frame)
    total = 0.0
    scale = 0.0
    for d in range(xyz.shape[1]):
        u = xyz[i, d, frame]
        v = xyz[j, d, frame]
        apart = abs(u - v)
        if metric == CHEBYSHEV:
            total = max(total, apart)
        elif metric == SQEUCLIDEAN:
            total += apart * apart
        elif metric == CANBERRA:
            total += apart / (abs(u) + abs(v)) if apart > 0.0 else 0.0
        else:
            total += apart
            scale += abs(u + v)
    return total / scale if metric == BRAYCURTIS else total


@compiled(error_model="numpy")
def _is_seen(xyz, site, frame):
    seen = True
    for d in range(xyz.shape[1]):
        seen &= not np.isnan(xyz[site, d, frame])
    return seen


@compiled(error_model="numpy")
def add_named(xyz, weights, metric, pairs, count, weight, mean, m2):
    """Merge a block into the moments of pairs by a metric; return how many are not defined.

    ``xyz`` is (sites, dimensions, frames); a site of which any coordinate is NaN is not seen.
    """
    n_frames = xyz.shape[2]
    distances = np.empty(n_frames)
    n_undefined = 0
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        for frame in range(n_frames):
            distances[frame] = np.nan
            if _is_seen(xyz, i, frame) and _is_seen(xyz, j, frame):
                distances[frame] = _distance(metric, xyz, i, j, frame)
                if not np.isfinite(distances[frame]):
                    n_undefined += 1
        seen, total, average, deviations = moments_of(distances, weights)
        count[p] += seen
        weight[p], mean[p], m2[p] = merge_two(weight[p], mean[p], m2[p], total, average, deviations)
    return n_undefined
