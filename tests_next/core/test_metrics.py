"""References of metrics other than the Euclidean one: SciPy, and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import distance

from tests_next.strategies import seeds
from timme_next._arrays import Coordinates
from timme_next.engine.metrics import METRICS, known_metric, measure_distances, unit_of_distances
from timme_next.engine.moments import LaidOut
from timme_next.ensemble import Ensemble

EARTH = 6371.0088  # km, mean radius (IUGG 1980)
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


@pytest.mark.parametrize("name", [name for name in METRICS if name != "haversine"])
@given(seed=seeds)
def test_named_metrics_are_those_of_scipy(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, size=(2, 6, 3)) + 0.5 * rng.integers(0, 2, size=(2, 6, 1))
    one[:, 0], other[:, 1] = 0.0, one[:, 1]  # zeros, and coordinates that are equal
    keep = (one.std(axis=1) > 0) & (other.std(axis=1) > 0)  # others have no direction
    one, other = one[keep], other[keep]
    function = getattr(distance, name)
    expected = [function(a, b) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(measure_distances(name, one, other), expected, atol=1e-7)


def test_haversine_is_an_arc_of_the_earth() -> None:
    places = np.array([[0.0, 0.0], [0.0, 90.0], [90.0, 17.0], [-0.5, 180.0]])
    expected = np.array([90.0, 90.0, 179.5]) * np.pi / 180 * EARTH
    found = measure_distances("haversine", np.repeat(places[:1], 3, axis=0), places[1:])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_moments_of_a_metric_are_those_of_its_distances() -> None:
    snapshots = np.random.default_rng(0).normal(size=(30, 3, 2))
    snapshots[4, 1] = np.nan
    block = Ensemble.from_array(snapshots, gaps=True).block(0)
    for metric in ("cityblock", lambda a, b: np.abs(a - b).sum(axis=-1)):
        parts = [slice(0, 10), slice(10, 30)]
        for part, found in zip(parts, LaidOut(block, metric).measure(PAIRS, parts), strict=True):
            for p, (a, b) in enumerate(PAIRS):
                r = np.abs(snapshots[part, a] - snapshots[part, b]).sum(axis=1)
                assert found.count[p] == np.count_nonzero(~np.isnan(r))
                assert found.mean[p] == pytest.approx(np.nanmean(r), rel=1e-12)
                assert found.variance[p] == pytest.approx(np.nanvar(r), rel=1e-11)


def test_many_pairs_are_given_to_a_metric_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Ensemble.from_array(np.random.default_rng(0).normal(size=(5, 3, 2))).block(0)
    shapes = list[tuple[int, ...]]()

    def metric(a: Coordinates, b: Coordinates) -> Coordinates:
        shapes.append(a.shape)
        return np.asarray(np.linalg.norm(a - b, axis=-1))

    monkeypatch.setattr("timme_next.engine.moments._HELD", 20)
    (found,) = LaidOut(block, metric).measure(PAIRS)
    (expected,) = LaidOut(block).measure(PAIRS)
    assert shapes == [(5, 2, 2), (5, 1, 2)]
    np.testing.assert_allclose(found.m2, expected.m2, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (lambda *_: 1.0, "shape"),
        (lambda a, b: a - b, "shape"),
        (lambda a, _: np.full(a.shape[:-1], "far"), "<U3"),
        (lambda a, _: -np.ones(a.shape[:-1]), "negative"),
        (lambda a, _: np.full(a.shape[:-1], np.nan), "not finite"),
        ("cosine", "origin"),
    ],
)
def test_distances_that_are_none_are_refused(metric: Any, said: str) -> None:
    block = Ensemble.from_array(np.zeros((2, 3, 2))).block(0)
    with pytest.raises(ValueError, match=said):
        LaidOut(block, metric).measure(PAIRS)


def test_a_metric_is_known_by_name_or_is_a_function() -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 3, 2)), boxes=[1.0, 1.0])
    assert known_metric(None, ensemble) is None
    assert known_metric("euclidean", ensemble) is None
    assert known_metric(np.hypot, ensemble) is np.hypot
    with pytest.raises(ValueError, match="euclidean, cityblock"):
        known_metric("taxicab", ensemble)
    with pytest.raises(ValueError, match="box"):
        known_metric("cityblock", ensemble)
    with pytest.raises(ValueError, match="latitude"):
        known_metric("haversine", Ensemble.from_array(np.zeros((2, 3, 3))))


@pytest.mark.parametrize(
    ("metric", "unit", "expected"),
    [
        (None, "nm", "nm"),
        (max, "nm", "nm"),
        ("cityblock", "nm", "nm"),
        ("sqeuclidean", "nm", "nm²"),
        ("sqeuclidean", "", ""),
        ("cosine", "nm", ""),
        ("haversine", "°", "km"),
        ("haversine", "", "km"),
    ],
)
def test_units_follow_the_metric(metric: Any, unit: str, expected: str) -> None:
    assert unit_of_distances(metric, unit) == expected
