"""Moments of pair distances, by any metric, over a block of frames; those of blocks are merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr

from timme._arrays import Coordinates, Floats, Ints, frozen
from timme._kernels import boxes as box_kernel
from timme._kernels import moments as kernel
from timme.ensemble import Block, Boxes, Ensemble
from timme.ensemble.ensemble import SINGLE_FROM

Metric = Callable[[Coordinates, Coordinates], Coordinates] | str
"""Distances (…) between points (…, dimensions) of two arrays of the same shape; or a name."""

EARTH = 6371.0088  # km, mean radius

_LINE = 64  # bytes of a vector, and of a line of the cache
_CACHED = 1 << 15  # distances that are summed at a time: 0.25 MB
_HELD = 1 << 19  # the same of a metric of Python's, which is called as seldom
_TRIED, _ROUNDING = 20, 1e-6  # points between which such a metric is tried both ways


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


class Moments(NamedTuple):
    """Moments of the distance of each pair over the snapshots in which both sites are seen."""

    common: Ints  # (pairs,), snapshots in which both are seen
    weight: Floats  # (pairs,), their weights added up
    mean: Floats  # (pairs,)
    m2: Floats  # (pairs,), weighted sum of squared deviations from the mean
    reach: Floats  # (pairs,), largest distance over half the width of the box; 0 in open space

    @classmethod
    def empty(cls, n_pairs: int) -> Moments:
        """Return the moments over no snapshots."""
        # np.zeros would leave it to the loops to map pages of memory.
        weight, mean, m2, reach = (np.full(n_pairs, 0.0) for _ in range(4))
        return cls(np.full(n_pairs, 0), weight, mean, m2, reach)

    @property
    def variance(self) -> Floats:
        """Population variance σ² of each distance; NaN where no snapshot is in common."""
        with np.errstate(invalid="ignore"):  # 0 / 0
            return self.m2 / self.weight

    def add(self, other: Moments) -> None:
        """Merge the moments of the same pairs over other snapshots into these, in place."""
        kernel.merge(*self, *map(np.ascontiguousarray, other))

    def part(self, tile: slice | tuple[slice, int]) -> Moments:
        """Return a view of some of the pairs."""
        common, weight, mean, m2, reach = self
        return Moments(common[tile], weight[tile], mean[tile], m2[tile], reach[tile])


class LaidOut:
    """A block with the frames of each site next to one another; threads may share it."""

    def __init__(self, block: Block, metric: Metric | None = None) -> None:
        self._n_frames, _, n_dimensions = block.coordinates.shape
        self._metric, self._complete = metric, block.complete
        self._weights = np.array(block.weights)
        boxes = block.boxes if metric is None else None
        self._boxes = Boxes.of(boxes, self._n_frames, n_dimensions, block.images)
        self._box_arrays = _lay_out_boxes(self._boxes)
        is_open = self._boxes.kind == box_kernel.OPEN
        self._plain = metric is None and block.complete and is_open and n_dimensions <= 3
        number = np.dtype("f4" if block.single else "f8")
        if metric is None:
            axes = max(3, n_dimensions) if is_open else n_dimensions
            self._xyz = _lay_out(block.coordinates, number, axes, padded=self._plain)
        else:
            self._points = block.coordinates.astype(np.float64)
            self._xyz = np.empty((0, n_dimensions, 0), number)

    def measure(self, pairs: Ints, parts: Sequence[slice] | None = None) -> list[Moments]:
        """Return the moments of pairs (pairs, 2) over each of some slices of the frames.

        By default that is one slice, of all frames. Less than 64 of more frames are summed in
        double precision.
        """
        pairs = frozen(np.ascontiguousarray(pairs))  # one type, so that kernels are compiled once
        bounds = [part.indices(self._n_frames)[:2] for part in parts or [slice(None)]]
        others = self._measure_others(pairs, [b for b in bounds if not self._is_fast(*b)])
        return [
            self._measure_fast(pairs, *b) if self._is_fast(*b) else next(others) for b in bounds
        ]

    def _is_fast(self, start: int, stop: int) -> bool:
        return self._plain and (stop - start >= SINGLE_FROM or stop - start == self._n_frames)

    def _measure_fast(
        self, pairs: Ints, start: int, stop: int, number: np.dtype[Any] | None = None
    ) -> Moments:
        """Measure in the precision of the coordinates, and what needs more digits in another."""
        n_pairs, n_frames = len(pairs), stop - start
        mean, m2, precise = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs, np.bool_)
        end = self._xyz.shape[2] if n_frames == self._n_frames else stop
        sums = np.empty((3, kernel.RUN + 1), number or self._xyz.dtype)
        kernel.fill_open(self._xyz, (start, end), n_frames, pairs, sums, mean, m2, precise)
        if sums.dtype == np.float32 and not precise.all():
            places = np.flatnonzero(~precise)
            again = self._measure_fast(frozen(pairs[places]), start, stop, np.dtype("f8"))
            mean[places], m2[places] = again.mean, again.m2
        common = np.broadcast_to(np.int64(n_frames), n_pairs)
        weight, reach = np.broadcast_to([[float(n_frames)], [0.0]], (2, n_pairs))
        return Moments(common, weight, mean, m2, reach)

    def _measure_others(self, pairs: Ints, bounds: Sequence[tuple[int, int]]) -> Iterator[Moments]:
        """Sum distances by part, measured so few at a time that they stay in the cache."""
        shape, parts = (len(pairs), len(bounds)), np.array(bounds).reshape(-1, 2)
        found = Moments(np.empty(shape, np.int64), *(np.empty(shape) for _ in range(4)))
        length = max(1, (_CACHED if self._metric is None else _HELD) // self._n_frames)
        for begin in range(0, len(pairs) if bounds else 0, length):
            some = slice(begin, begin + length)
            given = *self.distances(pairs[some]), self._weights, self._complete, parts
            kernel.fill_parts(*given, *found.part(some))
        yield from (found.part((slice(None), part)) for part in range(len(bounds)))

    def distances(self, pairs: Ints) -> tuple[Floats, Floats]:
        """Return distances (pairs, frames), and in a box their shares of half its width."""
        distances, shares = np.empty((len(pairs), self._n_frames)), np.empty((0, 0))
        if self._metric is not None:
            points = (self._points[:, sites] for sites in pairs.T)
            distances[:] = measure_distances(self._metric, *points).T
        elif self._boxes.kind == box_kernel.OPEN:
            kernel.fill_distances(self._xyz, pairs, distances)
        else:
            shares, steps = np.empty_like(distances), np.empty((0, 0))
            if len(self._boxes.origin):  # to images that are seen in all frames
                steps = self._boxes.steps_between(pairs[:, 1], pairs[:, 0])
            around = self._box_arrays, self._boxes.kind, self._boxes.molecules
            kernel.fill_distances_in_boxes(self._xyz, *around, pairs, steps, distances, shares)
        return distances, shares


def known_metric(metric: object, ensemble: Ensemble) -> Metric | None:
    """Return a metric that can measure an ensemble; None for the Euclidean one."""
    if metric is None or metric == "euclidean":
        return None
    if callable(metric):
        _refuse_asymmetric(metric, ensemble.snapshot()[0][:_TRIED].astype(np.float64))
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


def _refuse_asymmetric(metric: Metric, points: Floats) -> None:
    """Try a metric on neighbouring points, both ways."""
    there = measure_distances(metric, points[:-1], points[1:])
    back = measure_distances(metric, points[1:], points[:-1])
    wrong = np.flatnonzero(np.abs(there - back) > _ROUNDING * np.fmax(there, back))
    if len(wrong):
        raise ValueError(
            f"metric={metric!r} is not symmetric: {there[wrong[0]]:g} from one point to another, "
            f"{back[wrong[0]]:g} back; return the mean of both"
        )


def _lay_out(
    coordinates: Coordinates, number: np.dtype[Any], axes: int, *, padded: bool
) -> Coordinates:
    """Copy coordinates (frames, sites, dimensions) to (sites, axes, frames).

    Missing dimensions are 0. The fast loop takes whole vectors, with the first frame again in
    missing frames, by which nothing is added. None of them lies across two lines of the cache.
    """
    n_frames, n_sites, n_dimensions = coordinates.shape
    width = n_frames + -n_frames % (_LINE // number.itemsize) if padded else n_frames
    shape = n_sites, axes, width
    room = np.empty(math.prod(shape) + _LINE, number)
    begin = -room.ctypes.data % _LINE // number.itemsize
    laid_out = room[begin : begin + math.prod(shape)].reshape(shape)
    laid_out[:, n_dimensions:] = 0.0
    laid_out[:, :n_dimensions, :n_frames] = coordinates.transpose(1, 2, 0)
    laid_out[..., n_frames:] = laid_out[..., :1]
    return laid_out


def _lay_out_boxes(boxes: Boxes) -> tuple[Floats, Floats, Floats, Floats]:
    """Matrices, inverses, half widths and shortening vectors, frames last."""
    matrices = np.ascontiguousarray(boxes.matrices.transpose(1, 2, 0))
    inverses = np.ascontiguousarray(boxes.inverses.transpose(1, 2, 0))
    halves, shortening = np.empty(0), np.empty((0, *matrices.shape[1:]))
    if boxes.kind == box_kernel.TILTED:
        halves = np.array([box_kernel.half_width(inverse) for inverse in boxes.inverses])
        shortening = box_kernel.shortening_vectors(boxes.matrices)
    return matrices, inverses, halves, shortening
