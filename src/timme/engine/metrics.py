"""Metrics other than the Euclidean one: distances by name, or by a function of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr

from timme._arrays import Coordinates, Floats
from timme.ensemble import Ensemble

Metric = Callable[[Coordinates, Coordinates], Coordinates] | str
"""Distances (…) between points (…, dimensions) of two arrays of the same shape; or a name."""

EARTH = 6371.0088  # km, mean radius


def _cosine(one: Floats, other: Floats) -> Floats:
    lengths = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return np.asarray(np.maximum(1.0 - (one * other).sum(axis=-1) / lengths, 0.0))


def _correlation(one: Floats, other: Floats) -> Floats:
    return _cosine(*(points - points.mean(axis=-1, keepdims=True) for points in (one, other)))


def _braycurtis(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.abs(one - other).sum(axis=-1) / np.abs(one + other).sum(axis=-1))


def _jensenshannon(one: Floats, other: Floats) -> Floats:
    p, q = (points / points.sum(axis=-1, keepdims=True) for points in (one, other))
    gains = rel_entr(p, (p + q) / 2) + rel_entr(q, (p + q) / 2)
    return np.asarray(np.sqrt(np.maximum(gains.sum(axis=-1), 0.0) / 2))


def _haversine(one: Floats, other: Floats) -> Floats:
    """Distance in km along the surface of the Earth between latitudes and longitudes in degrees."""
    latitudes = np.radians([one[..., 0], other[..., 0]])
    latitudes[np.abs(latitudes) > np.pi / 2] = np.nan
    along, across = np.moveaxis(np.sin(np.radians(one - other) / 2) ** 2, -1, 0)
    share = along + np.cos(latitudes).prod(axis=0) * across
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.minimum(share, 1.0))))


class Named(NamedTuple):
    """A metric with a name, defined as SciPy defines it."""

    function: Callable[[Floats, Floats], Floats]
    unit: str  # of its distances, {} being that of the coordinates
    undefined: str = "use smaller units"  # which points have no distance


METRICS = {
    "cityblock": Named(lambda a, b: np.abs(a - b).sum(-1), "{}"),
    "chebyshev": Named(lambda a, b: np.abs(a - b).max(-1), "{}"),
    "sqeuclidean": Named(lambda a, b: ((a - b) ** 2).sum(-1), "{}²"),
    "cosine": Named(_cosine, "", "a point at the origin has no direction"),
    "correlation": Named(_correlation, "", "a point of equal coordinates has no direction"),
    "braycurtis": Named(_braycurtis, "", "two points are opposite"),
    "canberra": Named(lambda a, b: np.nansum(np.abs(a - b) / (np.abs(a) + np.abs(b)), -1), ""),
    "hamming": Named(lambda a, b: (a != b).mean(-1), ""),
    "jensenshannon": Named(_jensenshannon, "", "shares need to be 0 or more, not all of them 0"),
    "haversine": Named(_haversine, "km", "latitudes come first, from -90 to 90 degrees"),
}


def known_metric(metric: object, ensemble: Ensemble) -> Metric | None:
    """Return a metric that can measure an ensemble; None for the Euclidean one."""
    if metric is None or metric == "euclidean":
        return None
    if callable(metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(
            f"metric= is one of euclidean, {', '.join(METRICS)}, or a function of two arrays of "
            f"points, got {metric!r}: write other metrics as functions"
        )
    box = ensemble.snapshot(0)[1]
    if box is not None and box.any() and not (ensemble.images and ensemble.images.alone):
        raise ValueError(f"the metric {metric!r} ignores periodic boxes: leave out one of them")
    if metric == "haversine" and ensemble.n_dimensions != 2:
        raise ValueError("metric='haversine' needs 2 dimensions: latitude and longitude")
    return metric


def unit_of_distances(metric: Metric | None, unit: str) -> str:
    """Return the unit of distances; that of the coordinates for a function of the user's own.

    Examples
    --------
    >>> unit_of_distances("haversine", "°"), unit_of_distances("sqeuclidean", "nm")
    ('km', 'nm²')
    """
    if not isinstance(metric, str):
        return unit
    form = METRICS[metric].unit
    return form.format(unit) if unit or form == "km" else ""


def measure_distances(metric: Metric, one: Floats, other: Floats) -> Coordinates:
    """Return distances (…) between points (…, dimensions); NaN where a coordinate is NaN."""
    function = METRICS[metric].function if isinstance(metric, str) else metric
    unseen = np.isnan(one).any(axis=-1) | np.isnan(other).any(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distances = np.asarray(function(one, other))
    if distances.shape != unseen.shape or distances.dtype.kind not in "fiub":
        raise ValueError(
            f"a metric needs to return distances of shape {unseen.shape}, got {distances.dtype} of "
            f"shape {distances.shape}: reduce over the last axis, as np.linalg.norm(a - b, axis=-1)"
        )
    distances = np.where(unseen, np.nan, distances)
    n_bad = np.count_nonzero(~unseen & ~(np.isfinite(distances) & (distances >= 0)))
    if n_bad:
        reason = METRICS[metric].undefined if isinstance(metric, str) else "correct the function"
        raise ValueError(
            f"metric={metric!r} gives {n_bad:,} distances that are negative or not finite: {reason}"
        )
    return distances
