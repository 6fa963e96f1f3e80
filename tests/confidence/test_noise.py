"""The error of positions is taken off σ and r without taking off too much."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from timme.confidence.noise import (
    correct_for_errors,
    mean_length,
    noise_variance,
    position_errors,
    true_distances,
)
from timme.system.ensemble import Ensemble


@pytest.mark.parametrize("n_dimensions", [1, 2, 3])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 2.0, 10.0, 100.0])
def test_mean_and_variance_of_a_length_with_error_are_those_of_draws(
    n_dimensions: int, ratio: float
) -> None:
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(200_000, n_dimensions))
    errors[:, 0] += ratio
    lengths = np.linalg.norm(errors, axis=1)
    r, s = np.array([ratio]), np.array([1.0])
    # Standard errors of the mean and variance of 200,000 draws, times 4.
    assert mean_length(r, s, n_dimensions)[0] == pytest.approx(lengths.mean(), abs=4 / 447)
    assert noise_variance(r, s, n_dimensions)[0] == pytest.approx(lengths.var(), abs=4 * 1.42 / 447)


@pytest.mark.parametrize("n_dimensions", [2, 3])
def test_distances_lose_their_bias(n_dimensions: int) -> None:
    true = np.array([0.3, 1.0, 5.0, 50.0])
    s = np.full(4, 0.4)
    again = true_distances(mean_length(true, s, n_dimensions), s, n_dimensions)
    assert again.tolist() == pytest.approx(true.tolist(), abs=1e-6)


def test_sigma_without_the_error_is_that_of_the_motion() -> None:
    rng = np.random.default_rng(1)
    n, s, motion = 20_000, 0.3, 0.4
    places = np.zeros((n, 3, 2))
    places[:, 1, 0] = 6.0 + motion * rng.normal(size=n)
    places[:, 2, 0] = 12.0  # does not move at all against the first
    found = places + s * rng.normal(size=places.shape)
    points = timme.objects.points(Ensemble.from_array(found))
    sigma = timme.measure(points, timme.pairs.all(points))
    r = np.linalg.norm(found[:, sigma.pairs[:, 0]] - found[:, sigma.pairs[:, 1]], axis=2)
    corrected = correct_for_errors(sigma, r.mean(axis=0), s, n_dimensions=2)
    # σ of 20,000 values is known to 0.5 %, and what is left of σ² = 0 to 1 % of 2 s².
    assert corrected.sigma[0] == pytest.approx(motion, rel=0.03)
    assert corrected.sigma[1] < np.sqrt(3 * 0.01 * 2 * s**2)
    assert corrected.distances.tolist() == pytest.approx([6.0, 12.0, 6.0], abs=0.01)
    assert "pairs fluctuate by no more than it" in corrected.words


def test_errors_are_estimated_from_the_intercept_of_displacements() -> None:
    rng = np.random.default_rng(2)
    walks = (
        np.cumsum(0.1 * rng.normal(size=(4000, 5, 2)), axis=0)
        + 0.01 * np.arange(4000)[:, None, None]
    )
    errors = position_errors(Ensemble.from_array(walks + 0.2 * rng.normal(size=walks.shape)))
    assert errors.shape == (5, 2)
    # The intercept is a difference of two mean squares of 4,000 steps, each known to about 2 %.
    assert errors.mean() == pytest.approx(0.2, rel=0.05)
    with pytest.raises(ValueError, match="at least 3 snapshots, got 2"):
        position_errors(Ensemble.from_array(walks[:2]))


def test_what_fluctuates_less_than_the_error_is_clipped_and_counted() -> None:
    sigma = timme.fluctuations.from_matrix([[0, 0.1, 2.0], [0.1, 0, 2.0], [2.0, 2.0, 0]])
    corrected = correct_for_errors(sigma, [5.0, 5.0, 5.0], 0.5, n_dimensions=2)
    assert corrected.n_clipped == 1
    assert corrected.sigma[0] == 0.0
    assert corrected.sigma[1] == pytest.approx(np.sqrt(4 - 0.5), rel=0.01)
