"""Golden, statistical and invariant tests of the number of independent snapshots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.science.golden_cases import CHOICES, judged
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence.bootstrap import Sampling, count_independent, distances, slowest_pairs
from timme.ensemble import Ensemble
from timme.fluctuations import measure


@pytest.mark.parametrize("name", CHOICES)
def test_samples_of_golden_systems_are_as_many(name: str) -> None:
    case = judged(name)
    found = count_independent(
        case.objects,
        case.sigma,
        metric=case.options["metric"],
        noise=case.options["noise"],
    )
    # All pairs are listed in another order than they were: other 300 of the slow ones are taken,
    # whose mean correlation time has a standard error of some 1 %.
    tolerance = 1e-9 if CHOICES[name].near or len(case.sigma.pairs) < 3_000 else 0.03
    expected = case.golden["sampling.n_effective"]
    assert found.n_effective == pytest.approx(expected, rel=tolerance)
    assert found.n_snapshots == case.objects.ensemble.n_counting
    assert list(found.replicas) == case.golden["sampling.replicas"]
    assert found.independent == case.golden["sampling.independent"]


def sampled(array: Floats) -> Sampling:
    made = objects.points(Ensemble.from_array(array))
    return count_independent(made, measure(made, pairs.all(made)))


def swinging(n_snapshots: int, time: float, seed: int = 0) -> Floats:
    """Two balls of sites that tremble, and swing against one another with a correlation time."""
    rng = np.random.default_rng(seed)
    decay, swing = np.exp(-1 / time), np.empty(n_snapshots)
    swing[0] = rng.normal()
    for t in range(1, n_snapshots):
        swing[t] = decay * swing[t - 1] + np.sqrt(1 - decay**2) * rng.normal()
    array = 3 * rng.normal(size=(12, 3)) + 0.05 * rng.normal(size=(n_snapshots, 12, 3))
    array[:, 6:] += [12.0, 0, 0]
    array[:, 6:, 0] += swing[:, None]
    return array


@pytest.mark.parametrize("time", [1.0, 10.0])
def test_samples_are_the_snapshots_over_twice_the_correlation_time(time: float) -> None:
    found = np.median([sampled(swinging(2000, time, seed)).n_effective for seed in range(9)])
    # τ = coth(1 / 2t); its error is about τ √(4 M / n) with M ≈ 5 τ lags, over √9 runs.
    tau = 1 / np.tanh(0.5 / time)
    assert found == pytest.approx(2000 / tau, rel=0.35)


def test_copies_of_snapshots_add_no_samples() -> None:
    array = swinging(40, 1.0)
    once, again = (sampled(each).n_effective for each in (array, np.repeat(array, 10, axis=0)))
    assert again <= 40
    assert again == pytest.approx(once, rel=0.35)


def test_models_are_independent() -> None:
    made = objects.points(replace(Ensemble.from_array(swinging(30, 50.0)), independent=True))
    assert count_independent(made, measure(made, pairs.all(made))).n_effective == 30


@pytest.mark.parametrize("array", [swinging(2, 1.0), np.tile(swinging(1, 1.0), (9, 1, 1))])
def test_two_snapshots_or_none_that_move_have_no_number(array: Floats) -> None:
    assert np.isnan(sampled(array).n_effective)


def test_distances_are_those_of_each_snapshot() -> None:
    array = swinging(5, 1.0) % 7.0
    array[2, 3] = np.nan
    made = Ensemble.from_array(array, boxes=7.0, gaps=True)
    found = distances(made, np.array([[3, 9], [0, 3], [0, 9]]))
    apart = array[:, [9, 3, 9]] - array[:, [3, 0, 0]]
    expected = np.linalg.norm(apart - 7 * np.rint(apart / 7), axis=2).T
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_slowest_pairs_are_of_the_tenth_with_the_largest_sigma() -> None:
    made = objects.points(Ensemble.from_array(swinging(50, 5.0)))
    sigma = measure(made, pairs.all(made))
    limit = np.sort(sigma.sigma)[-7]  # of 66 pairs
    rows = {tuple(pair) for pair in sigma.pairs[sigma.sigma >= limit].tolist()}
    assert {tuple(pair) for pair in slowest_pairs(sigma, n_snapshots=50).tolist()} == rows
