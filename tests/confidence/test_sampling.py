"""How often the slowest motion was seen is told within a factor of two, and in words."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from tests import naive
from timme._arrays import Floats
from timme.confidence import Sampling, count_independent
from timme.confidence.noise import PositionErrors, take_off
from timme.confidence.sampling import distances, slowest_pairs
from timme.fluctuations import Fluctuations
from timme.synthetic.relaxing import relaxing
from timme.system.ensemble import Ensemble


def line(n_snapshots: int, time: float, seed: int) -> Floats:
    """Sites far apart on a line: their distances relax as they do."""
    moves = relaxing((30, 1), time, np.random.default_rng(seed), n_snapshots=n_snapshots)
    return 100.0 * np.arange(30)[:, None] + moves


def counted(array: Floats, **options: object) -> Sampling:
    points = timme.objects.points(Ensemble.from_array(array))
    sigma = timme.measure(points, timme.pairs.all(points))
    return count_independent(points, sigma, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("time", "truth"), [(5.0, 100.0), (10.0, 50.0), (25.0, 20.0), (50.0, 10.0)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_independent_snapshots_are_counted_within_a_factor_of_two(
    time: float, truth: float, seed: int
) -> None:
    assert truth / 2 < counted(line(1000, time, seed)).n_effective < 2 * truth


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("time", "truth"), [(10.0, 50.0), (50.0, 10.0)])
def test_errors_of_positions_do_not_make_motions_look_quick(
    time: float, truth: float, seed: int
) -> None:
    found = line(1000, time, seed)
    found += np.random.default_rng(seed + 9).normal(size=found.shape)  # as large as the motion
    points = timme.objects.points(Ensemble.from_array(found))
    raw = timme.measure(points, timme.pairs.all(points))
    errors = PositionErrors(points.ensemble, np.ones((30, 1)))
    sigma, _ = take_off(raw, errors.variance)
    told = count_independent(points, sigma, noise=errors.variance).n_effective
    assert truth / 2 < told < 2 * truth
    assert told < 0.8 * count_independent(points, raw).n_effective


@pytest.mark.parametrize("seed", range(3))
def test_two_are_told_as_fewer_than_eight(seed: int) -> None:
    found = counted(line(1000, 250.0, seed))
    assert found.n_effective < 8
    assert found.colour == "red"
    assert "holds for this trajectory" in found.words


@pytest.mark.parametrize(
    ("n_effective", "colour"),
    [(7.9, "red"), (8.1, "amber"), (29.9, "amber"), (30.1, "green"), (np.nan, "grey")],
)
def test_colours_change_at_eight_and_thirty(n_effective: float, colour: str) -> None:
    assert Sampling(1000, n_effective, (1000,), independent=False).colour == colour


def test_words_count_as_people_do() -> None:
    words = [Sampling(99, n, (99,), independent=False).words for n in (1.2, 2.3, 3.4)]
    assert [text.split("about ")[1].split(":")[0] for text in words] == ["once", "twice", "3 times"]
    assert "in 2 replicas" in Sampling(99, 9.0, (50, 49), independent=False).words


def test_the_slowest_tenth_is_looked_at() -> None:
    pairs = np.column_stack([np.zeros(99, np.int64), np.arange(1, 100)])
    sigma = Fluctuations(100, pairs, np.arange(99.0), np.zeros(99, np.int64))
    assert sorted(slowest_pairs(sigma, n_snapshots=10)[:, 1]) == list(range(90, 100))


@pytest.mark.parametrize("box", [None, [7.0, 7.0, 7.0]])
def test_distances_are_those_of_the_nearest_images(box: list[float] | None) -> None:
    array = np.random.default_rng(0).uniform(0, 7, (5, 6, 3))
    pairs = np.array([[0, 3], [5, 1]])
    found = distances(Ensemble.from_array(array, boxes=box), pairs)
    cell = None if box is None else np.diag(box)
    for place, (a, b) in enumerate(pairs):
        expected = [naive.distance(frame[a], frame[b], cell) for frame in array]
        assert found[place].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("shaken", [0.0, 1.0])
def test_where_nothing_moves_no_confidence_is_given(shaken: float) -> None:
    rng = np.random.default_rng(3)
    body = rng.uniform(0.0, 20.0, (12, 3)) + shaken * rng.normal(size=(30, 1, 3))
    found = counted(body)
    assert np.isnan(found.n_effective)
    assert found.words.startswith("nothing moves in 30 snapshots")
    assert found.colour == "grey"


def test_motion_that_is_all_error_was_not_seen() -> None:
    points = timme.objects.points(Ensemble.from_array(line(100, 5.0, 0)))
    errors = PositionErrors(points.ensemble, np.full((30, 1), 50.0))
    sigma, _ = take_off(timme.measure(points, timme.pairs.all(points)), errors.variance)
    found = count_independent(points, sigma, noise=errors.variance)
    assert "no confidence can be given" in found.words


@pytest.mark.parametrize("n_copies", [5, 40])
def test_copies_of_snapshots_tell_nothing_new(n_copies: int) -> None:
    two = np.random.default_rng(1).normal(size=(2, 12, 3))
    jump = np.concatenate([np.repeat(two[:1], n_copies, axis=0), two[1:]])
    assert counted(jump).n_effective <= 2.0


def test_two_snapshots_that_count_are_two_snapshots() -> None:
    weights = np.r_[1.0, 1.0, np.zeros(48)]
    ensemble = Ensemble.from_array(line(50, 5.0, 0), weights=weights)
    points = timme.objects.points(ensemble)
    found = count_independent(points, timme.measure(points, timme.pairs.all(points)))
    assert found.words.startswith("2 snapshots tell what differs")
