"""References and invariants of the moments of distances over a block, by any metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import distance

from tests import naive
from tests.strategies import boxed_snapshots, gapped_snapshots, seeds, snapshots
from timme._arrays import Coordinates, Floats, Ints
from timme.engine.moments import (
    METRICS,
    LaidOut,
    Moments,
    known_metric,
    measure_distances,
    unit_of_distances,
)
from timme.ensemble import Ensemble, Images

PROMISED = 1e-5  # relative error of σ in single precision
SINGLE, DOUBLE = np.float32, np.float64


def all_pairs(n_sites: int) -> Ints:
    return np.column_stack(np.triu_indices(n_sites, 1))


def measured(array: Coordinates, pairs: Ints | None = None, **options: Any) -> Moments:
    """Moments over all snapshots, in one block."""
    pairs = all_pairs(array.shape[1]) if pairs is None else pairs
    (found,) = LaidOut(Ensemble.from_array(array, **options).block(0)).measure(pairs)
    return found


def assert_close(found: Moments, array: Floats, weights: Any = None, boxes: Any = None) -> None:
    """Compare with the reference; coordinates of order 10 are exact to 1e-15."""
    for p, (a, b) in enumerate(all_pairs(array.shape[1])):
        distances, seen = naive.pair_distances(array, a, b, boxes)
        own = None if weights is None else [weights[t] for t in seen]
        count, weight, mean, variance = naive.moments(distances, own)
        assert found.common[p] == count
        assert found.weight[p] == pytest.approx(weight, rel=1e-14)
        assert found.mean[p] == pytest.approx(mean, rel=1e-13)
        sigma = np.sqrt(found.variance[p])
        assert sigma == pytest.approx(np.sqrt(variance), rel=1e-12, abs=1e-13, nan_ok=True)


# ---- what is summed ----------------------------------------------------------------------------


@given(array=snapshots())
def test_moments_in_open_space_of_any_dimension(array: Floats) -> None:
    assert_close(measured(array), array)


@given(array=gapped_snapshots(), seed=seeds, weighted=st.booleans())
def test_gaps_and_weights_count_as_the_reference_counts_them(
    array: Floats, seed: int, *, weighted: bool
) -> None:
    weights = None
    if weighted:  # those of weight 0 count as not there
        weights = np.random.default_rng(seed).integers(0, 4, len(array)) / 3.0
        weights[:2] = 1.0
    assert_close(measured(array, gaps=True, weights=weights), array, weights)


@given(system=boxed_snapshots())
def test_distances_in_boxes_are_those_to_the_nearest_images(system: tuple[Floats, Floats]) -> None:
    array, boxes = system
    assert_close(measured(array, boxes=boxes), array, boxes=boxes)


@given(system=boxed_snapshots(), seed=seeds)
def test_sites_of_one_molecule_see_no_images(system: tuple[Floats, Floats], seed: int) -> None:
    array, boxes = system
    molecules = np.random.default_rng(seed).integers(0, 3, size=(array.shape[1],))
    ensemble = replace(Ensemble.from_array(array, boxes=boxes), images=Images(molecules))
    pairs = all_pairs(array.shape[1])
    (found,) = LaidOut(ensemble.block(0)).measure(pairs)
    alone, boxed = measured(array), measured(array, boxes=boxes)
    inside = molecules[pairs[:, 0]] == molecules[pairs[:, 1]]
    np.testing.assert_allclose(found.mean, np.where(inside, alone.mean, boxed.mean), rtol=1e-13)
    assert not found.reach[inside].any()


@given(system=boxed_snapshots())
def test_images_of_an_origin_are_kept_wherever_sites_go(system: tuple[Floats, Floats]) -> None:
    array, boxes = system
    box, origin = boxes[0], array[0]
    alike = np.broadcast_to(box, boxes.shape)
    ensemble = Ensemble.from_array(array, boxes=alike)
    space = ensemble.block(0).boxes
    assert space is not None
    images = Images(np.arange(len(origin)), origin, space[0])
    pairs = all_pairs(len(origin))
    (found,) = LaidOut(replace(ensemble, images=images).block(0)).measure(pairs)
    for p, (a, b) in enumerate(pairs):
        moved = naive.nearest_image(origin[a], origin[b], box) - origin[b]
        r = np.linalg.norm(array[:, b] + moved - array[:, a], axis=1)
        assert found.mean[p] == pytest.approx(r.mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("box", "half"),
    [(np.diag([4.0, 6.0]), [2.0, 3.0]), (np.array([[4.0, 0.0], [1.0, 6.0]]), None)],
)
def test_reach_is_the_largest_distance_over_half_the_box(box: Floats, half: Any) -> None:
    array = np.array([[[0.0, 0.0], [1.0, 1.5]], [[0.0, 0.0], [0.5, 2.7]], [[0.0, 0.0], [0.3, 2.0]]])
    if half is None:  # half the smallest distance between opposite sides, whatever the direction
        half = abs(np.linalg.det(box)) / max(np.linalg.norm(row) for row in box) / 2
        expected = np.linalg.norm(array[:, 1], axis=1).max() / half
    else:
        expected = (array[:, 1] / half).max()
    assert measured(array, boxes=box).reach == pytest.approx(expected, rel=1e-12)
    assert not measured(array).reach.any()


# ---- precision ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SINGLE, DOUBLE])
@pytest.mark.parametrize("n_frames", [3, 30, 98, 200])
def test_sites_that_move_as_one_have_no_fluctuation_at_all(n_frames: int, kind: type) -> None:
    body = np.random.default_rng(0).normal(size=(20, 3))
    array: Coordinates = np.broadcast_to(body, (n_frames, 20, 3)).astype(kind)
    assert not measured(array).m2.any()
    assert not measured(array, gaps=True).m2.any()
    assert not measured(array, boxes=[30.0, 30.0, 30.0]).m2.any()


@pytest.mark.parametrize("n_frames", [64, 98, 256])
@pytest.mark.parametrize("ratio", [1.0, 30.0, 60.0, 70.0, 1e3, 1e5])
def test_single_precision_keeps_five_digits_of_sigma(ratio: float, n_frames: int) -> None:
    rng = np.random.default_rng(int(ratio))
    places = 50 * rng.normal(size=(60, 3))
    moved = 50 / ratio * rng.normal(size=(n_frames, 60, 3))
    assert_promised((places + moved).astype(SINGLE))
    # Jumps between two places leave no errors that average out.
    jumps = 50 / ratio * rng.normal(size=(2, 60, 3))[rng.integers(0, 2, n_frames)]
    assert_promised((places + jumps).astype(SINGLE))


def assert_promised(array: Coordinates, tolerance: float = PROMISED) -> None:
    """Compare σ with that of vectors in double precision."""
    one, other = all_pairs(array.shape[1]).T
    vectors = array[:, one].astype(DOUBLE) - array[:, other]
    expected = np.linalg.norm(vectors, axis=2).std(axis=0)
    np.testing.assert_allclose(np.sqrt(measured(array).variance), expected, rtol=tolerance)


@pytest.mark.filterwarnings("ignore:overflow")  # which is told without compilation
@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1e18])
def test_single_precision_holds_for_small_and_large_units(scale: float) -> None:
    array = scale * np.random.default_rng(0).normal(size=(98, 12, 3))
    assert_promised(array.astype(SINGLE))


def test_an_odd_first_frame_costs_no_digits() -> None:
    array = np.random.default_rng(0).normal(size=(98, 8, 3))
    array[0] *= 1e3
    assert_promised(array.astype(SINGLE))
    assert_promised(array, 1e-12)


def test_fewer_than_64_snapshots_are_summed_in_double_precision() -> None:
    array = (30 + np.random.default_rng(0).normal(size=(63, 12, 3))).astype(SINGLE)
    assert_promised(array, 1e-12)


# ---- metrics -----------------------------------------------------------------------------------

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
                assert found.common[p] == np.count_nonzero(~np.isnan(r))
                assert found.mean[p] == pytest.approx(np.nanmean(r), rel=1e-12)
                assert found.variance[p] == pytest.approx(np.nanvar(r), rel=1e-11)


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


def uphill(one: Coordinates, other: Coordinates) -> Coordinates:
    """Distance that counts twice on the way up."""
    steps = other - one
    return np.asarray(np.where(steps > 0, 2 * steps, -steps).sum(axis=-1))


def test_a_metric_that_is_not_symmetric_is_refused() -> None:
    steep = Ensemble.from_array(np.arange(6.0).reshape(1, 3, 2) ** 2)
    with pytest.raises(ValueError, match="not symmetric: 24 from one point to another, 12 back"):
        known_metric(uphill, steep)


def test_a_metric_is_known_by_name_or_is_a_function() -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 3, 2)), boxes=[1.0, 1.0])
    assert known_metric(None, ensemble) is None
    assert known_metric("euclidean", ensemble) is None
    assert known_metric(uphill, ensemble) is uphill  # all at one place
    with pytest.raises(ValueError, match="euclidean, cityblock"):
        known_metric("taxicab", ensemble)
    with pytest.raises(ValueError, match="box"):
        known_metric("cityblock", ensemble)
    with pytest.raises(ValueError, match="latitude"):
        known_metric("haversine", Ensemble.from_array(np.zeros((2, 3, 3))))


def test_units_follow_the_metric() -> None:
    metrics: list[Any] = [None, max, "cityblock", "sqeuclidean", "cosine", "haversine"]
    found = [unit_of_distances(metric, "nm") for metric in metrics]
    assert found == ["nm", "nm", "nm", "nm²", "", "km"]
    assert unit_of_distances("sqeuclidean", "") == ""
