"""Golden, statistical and invariant tests of the number of independent snapshots."""

from __future__ import annotations

import numpy as np
import pytest

from tests.families import relaxing
from tests.science.golden_cases import CHOICES, judged
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence.bootstrap import Compared, Sampling, count_independent, distances
from timme.ensemble import Ensemble
from timme.fluctuations import measure


@pytest.mark.parametrize("name", CHOICES)
def test_samples_of_golden_systems_are_as_many(name: str) -> None:
    case = judged(name)
    found = count_independent(case.compared)
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
    return count_independent(Compared(made, measure(made, pairs.all(made))))


def swinging(n_snapshots: int, time: float, seed: int = 0) -> Floats:
    """Two balls of sites that tremble, and swing against one another with a correlation time."""
    rng = np.random.default_rng(seed)
    swing = relaxing((n_snapshots,), time, rng)
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


def test_distances_are_those_of_each_snapshot() -> None:
    array = swinging(5, 1.0) % 7.0
    array[2, 3] = np.nan
    made = Ensemble.from_array(array, boxes=7.0, gaps=True)
    found = distances(made, np.array([[3, 9], [0, 3], [0, 9]]))
    apart = array[:, [9, 3, 9]] - array[:, [3, 0, 0]]
    expected = np.linalg.norm(apart - 7 * np.rint(apart / 7), axis=2).T
    np.testing.assert_allclose(found, expected, rtol=1e-12)
