"""Named metrics are SciPy's, run compiled, and are refused where they mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import distance

import timme
from tests.strategies import seeds
from timme._arrays import Floats
from timme.engine.metrics import NAMED
from timme.fluctuations.parts import measure_parts

OF_SCIPY = [name for name in NAMED if name not in {"haversine", "jensenshannon"}]
EARTH = 6371.0088  # km, mean radius (IUGG)


def points(places: Any, **options: Any) -> timme.objects.Objects:
    return timme.objects.points(timme.Ensemble.from_array(places, **options))


def sigma(places: Floats, metric: Any, **options: Any) -> Floats:
    compared = points(places, **options)
    return timme.measure(compared, timme.pairs.all(compared), metric=metric).sigma


def great_circle(one: Floats, other: Floats) -> float:
    """Angle between two places seen from the centre of the Earth, by their vectors."""
    vectors = []
    for latitude, longitude in np.radians([one, other]):
        across = np.cos(latitude)
        vectors.append([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])
    first, second = np.array(vectors)
    return EARTH * float(np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second))


@pytest.mark.parametrize("name", OF_SCIPY)
@pytest.mark.parametrize("n_dimensions", [2, 3, 5])
@given(seed=seeds)
def test_a_named_metric_is_that_of_scipy(name: Any, n_dimensions: int, seed: int) -> None:
    places = np.random.default_rng(seed).normal(size=(7, 4, n_dimensions)) + 0.5
    expected = np.array([distance.pdist(frame, name) for frame in places]).std(axis=0)
    np.testing.assert_allclose(sigma(places, name), expected, rtol=1e-9, atol=1e-12)


@given(seed=seeds)
def test_shares_that_differ_are_apart_as_scipy_has_it(seed: int) -> None:
    shares = np.random.default_rng(seed).dirichlet([0.5] * 4, size=(7, 5)) * 3.0
    shares[shares < 0.01] = 0.0
    expected = np.array([distance.pdist(frame, "jensenshannon") for frame in shares]).std(axis=0)
    np.testing.assert_allclose(sigma(shares, "jensenshannon"), expected, rtol=1e-6, atol=1e-7)


@given(seed=seeds)
def test_coordinates_that_differ_are_counted_as_scipy_does(seed: int) -> None:
    places = np.random.default_rng(seed).integers(0, 3, size=(7, 5, 4)).astype(float)
    expected = np.array([distance.pdist(frame, "hamming") for frame in places]).std(axis=0)
    np.testing.assert_allclose(sigma(places, "hamming"), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["euclidean", "minkowski", *OF_SCIPY])
def test_a_function_of_scipy_stands_for_its_name(name: Any) -> None:
    places = np.random.default_rng(6).normal(size=(7, 4, 3))
    expected = np.array([distance.pdist(frame, name) for frame in places]).std(axis=0)
    for metric in (name, getattr(distance, name)):
        np.testing.assert_allclose(sigma(places, metric), expected, rtol=1e-9, atol=1e-12)


def test_a_function_of_two_points_is_told_to_take_arrays() -> None:
    with pytest.raises(ValueError, match=r"got one number: reduce over the last axis .*axis=-1"):
        sigma(np.ones((2, 3, 3)), lambda one, other: float(np.linalg.norm(one - other)))


@given(seed=seeds)
def test_the_way_over_the_earth_is_the_angle_of_two_vectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.stack([rng.uniform(-90, 90, (5, 4)), rng.uniform(-180, 180, (5, 4))], axis=2)
    ways = [
        [great_circle(frame[i], frame[j]) for i in range(4) for j in range(i + 1, 4)]
        for frame in places
    ]
    np.testing.assert_allclose(sigma(places, "haversine"), np.std(ways, axis=0), rtol=1e-7)


def test_the_usual_distance_has_a_name_too() -> None:
    places = np.random.default_rng(0).uniform(-1.0, 1.0, size=(9, 5, 3)) % 20.0
    box = [20.0, 20.0, 20.0]  # through whose walls it goes
    np.testing.assert_array_equal(
        sigma(places, "euclidean", boxes=box), sigma(places, None, boxes=box)
    )


@pytest.mark.parametrize("metric", [*OF_SCIPY, "haversine"])
def test_gaps_and_weights_count_as_elsewhere(metric: str) -> None:
    rng = np.random.default_rng(1)
    places = rng.uniform(1.0, 50.0, size=(40, 3, 2))
    weights = rng.uniform(0.5, 2.0, size=40)
    places[rng.random((40, 3)) < 0.2] = np.nan
    seen = np.isfinite(places[:, :2]).all(axis=(1, 2))
    rows = points(places[seen][:, :2], weights=weights[seen])
    expected = timme.measure(rows, timme.pairs.all(rows), metric=metric).sigma[0]
    found = sigma(places, metric, weights=weights, gaps=True)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_blocks_threads_parts_and_one_step_give_the_same() -> None:
    places = np.random.default_rng(2).normal(size=(700, 30, 3)).astype(np.float32)
    compared = points(places)
    pairs = timme.pairs.all(compared)
    one = timme.measure(compared, pairs, metric="cityblock", workers=1)
    two = timme.measure(compared, pairs, metric="cityblock", workers=2, chunk=50)
    assert {*one.sigma.tolist()} == {*two.sigma.tolist()}
    by_part = measure_parts(compared, pairs, [range(300), range(300, 700)], metric="cityblock")
    np.testing.assert_allclose(by_part.merge([0, 1]).sigma, one.sigma, rtol=1e-12)
    tree = timme.cluster(compared, pairs, metric="cityblock")
    np.testing.assert_array_equal(tree.heights, timme.link(one).heights)


@pytest.mark.parametrize(
    ("metric", "unit", "of_length"),
    [
        ("cityblock", "nm", True),
        ("chebyshev", "nm", True),
        ("sqeuclidean", "nm²", False),
        ("cosine", "", False),
        ("haversine", "km", False),
    ],
)
def test_distances_are_in_the_unit_of_their_metric(metric: str, unit: str, of_length: bool) -> None:
    compared = points(np.random.default_rng(3).uniform(1, 9, size=(4, 3, 2)), unit="nm")
    pairs = timme.pairs.all(compared)
    assert timme.measure(compared, pairs, metric=metric).unit == unit
    tree = timme.cluster(compared, pairs, metric=metric)
    assert (tree.unit, tree.quantity.is_length) == (unit, of_length)


@pytest.mark.parametrize(
    ("places", "metric", "said"),
    [
        (np.ones((2, 3, 3)), "taxi", "metric= is one of euclidean, cityblock, chebyshev, .*'taxi'"),
        (np.ones((2, 3, 3)), "dtw", "metrics that need more are written as functions"),
        (np.ones((2, 3, 3)), "mahalanobis", "'mahalanobis' is not taken by its name: it needs a c"),
        (np.ones((2, 3, 3)), "seuclidean", "divide the coordinates by their standard deviations"),
        (np.ones((2, 3, 3)), "jaccard", "it compares truth values, and coordinates are numbers"),
        (np.ones((2, 3, 3)), distance.yule, "'yule' is not taken by its name"),
        (np.zeros((2, 3, 3)), "jensenshannon", "6 of the distances: shares of a whole are 0 or mo"),
        (-np.eye(3)[None].repeat(2, axis=0), "jensenshannon", "shares of a whole are 0 or more"),
        (np.ones((2, 3, 3)), "haversine", "needs 2 dimensions, latitude and longitude in deg"),
        (np.zeros((2, 3, 3)), "cosine", "not defined for 6 of the distances: a point at the orig"),
        (np.ones((2, 3, 3)), "correlation", "a point of equal coordinates has no direction"),
        (np.full((2, 2, 2), 91.0), "haversine", "the latitude comes first, and is from -90 to 90"),
    ],
)
def test_a_metric_that_means_nothing_here_is_refused(
    places: Floats, metric: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        sigma(places, metric)


def test_a_named_metric_is_refused_in_a_box_that_it_does_not_know() -> None:
    places = np.random.default_rng(4).normal(size=(3, 3, 3))
    with pytest.raises(ValueError, match=r"'cityblock' knows no periodic box: leave the box out"):
        sigma(places, "cityblock", boxes=[9.0, 9.0, 9.0])


# ---- near on a sphere ----------------------------------------------------------------------------


@given(seed=seeds)
def test_contacts_on_a_sphere_go_over_poles_and_the_date_line(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.stack([rng.uniform(-90, 90, (3, 25)), rng.uniform(-180, 360, (3, 25))], axis=2)
    places[:, :5, 0] = rng.uniform(85, 90, (3, 5))
    compared = points(places)
    for radius in (300.0, 3000.0):
        expected = [
            (i, j)
            for i in range(25)
            for j in range(i + 1, 25)
            if min(great_circle(frame[i], frame[j]) for frame in places) <= radius
        ]
        found = timme.pairs.within(compared, radius, metric="haversine")
        assert found.index is not None
        assert [tuple(pair) for pair in found.index.tolist()] == expected
        assert found.description.startswith(f"in contact within {radius:g} km")


@pytest.mark.parametrize("by", ["first", "mean"])
def test_the_nearest_on_a_sphere_are_beyond_the_date_line(by: Any) -> None:
    places = np.array([[[10.0, 179.9], [10.0, -179.9], [10.0, 170.0]]] * 2)
    found = timme.pairs.nearest(points(places), 1, by=by, metric="haversine")
    assert found.index is not None
    assert found.index.tolist() == [[0, 1], [0, 2]]


def test_near_is_searched_for_by_no_other_metric() -> None:
    compared = points(np.random.default_rng(5).normal(size=(3, 4, 2)))
    with pytest.raises(ValueError, match="who is near is judged by Euclidean distances or on a"):
        timme.pairs.within(compared, 1.0, metric="cityblock")
    usual = timme.pairs.within(compared, 1.0)
    named = timme.pairs.within(compared, 1.0, metric="euclidean")
    assert np.array_equal(usual.index, named.index)  # type: ignore[arg-type]


def test_centres_of_groups_on_a_sphere_are_refused() -> None:
    ensemble = timme.Ensemble.from_array([[[0.0, 179.0], [0.0, -179.0], [1.0, 0.0]]] * 2)
    groups = timme.objects.groups(ensemble, [[0, 1], [1, 2]], reduction="centre")
    with pytest.raises(ValueError, match="centres of groups on a sphere are no means"):
        timme.measure(groups, timme.pairs.all(groups), metric="haversine")
    with pytest.raises(ValueError, match="centres of groups on a sphere are no means"):
        timme.pairs.within(groups, 100.0, metric="haversine")
    whole = timme.objects.groups(ensemble, [[0, 1], [1, 2]])
    assert timme.measure(whole, timme.pairs.all(whole), metric="haversine").sigma == [0.0]
