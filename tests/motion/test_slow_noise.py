"""Errors of slopes under slow noise: parity with dense matrices, and planted noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag, toeplitz

from tests.strategies import seeds
from timme._kernels import slow_noise as kernel
from timme.motion.slow_noise import slope_errors


def slow(rng: np.random.Generator, shape: tuple[int, int], time: float) -> np.ndarray:
    """Noise of variance 1 that forgets itself within so many snapshots."""
    kept = np.exp(-1 / time)
    found = rng.normal(size=shape)
    for now in range(1, shape[0]):
        found[now] = kept * found[now - 1] + np.sqrt(1 - kept**2) * found[now]
    return found


def ratio(angles: np.ndarray, noises: list[np.ndarray]) -> float:
    """Actual over told errors of slopes, root mean squares."""
    weights = np.full(len(angles), 1 / len(angles))
    lever = angles / (angles @ angles)
    actual = [((lever @ noise) ** 2).sum() for noise in noises]
    told = [slope_errors(angles, each, weights=weights, runs=[len(angles)])[0] for each in noises]
    return float(np.sqrt(np.mean(actual) / np.mean(np.square(told))))


@given(seeds, st.floats(0, 0.999), st.floats(0, 1))
def test_series_made_white_have_the_products_of_dense_matrices(
    seed: int, kept: float, white: float
) -> None:
    rng = np.random.default_rng(seed)
    runs, series, lever = [4, 7], rng.normal(size=(11, 3)), rng.normal(size=11)
    white = max(white, 1e-3)  # below, the dense matrix is too near to a singular one to compare
    covariance = block_diag(*((1 - white) * toeplitz(kept ** np.arange(run)) for run in runs))
    covariance += white * np.eye(11)
    begins = np.isin(np.arange(11), [0, 4])
    products, logarithms, tilts = np.empty((1, 3, 3)), np.empty(1), np.empty(1)
    guess = np.array([kept]), np.array([white])
    kernel.whiten(series, lever, begins, *guess, products, logarithms, tilts)
    expected = series.T @ np.linalg.solve(covariance, series)
    np.testing.assert_allclose(products[0], expected, rtol=1e-7, atol=1e-7)
    assert logarithms[0] == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-8)
    assert tilts[0] == pytest.approx(lever @ covariance @ lever, rel=1e-9)


@pytest.mark.parametrize("time", [3.0, 10.0, 30.0])
@pytest.mark.parametrize("path", ["once", "often"])
def test_errors_are_about_as_told_however_slow_the_noise(path: str, time: float) -> None:
    rng = np.random.default_rng(7)
    angles = np.linspace(-1, 1, 100)
    if path == "often":
        angles = np.sin(3 * np.pi * angles)
    noises = [slow(rng, (100, 2), time) for _ in range(60)]
    # Sixty slopes of two series each are known to 1/√120 = 9 %, and how slow noise is only roughly.
    assert 0.65 < ratio(angles, noises) < 1.4


def test_white_noise_beside_slow_noise_does_not_hide_it() -> None:
    rng = np.random.default_rng(8)
    noises = [slow(rng, (100, 2), 30.0) + rng.normal(size=(100, 2)) for _ in range(60)]
    assert 0.5 < ratio(np.linspace(-1, 1, 100), noises) < 1.4


def test_white_noise_is_told_as_such() -> None:
    rng = np.random.default_rng(9)
    angles, noises = np.linspace(-1, 1, 40), [rng.normal(size=(40, 2)) for _ in range(100)]
    # A hundred slopes of two series are known to 7 %; a few are taken for slow, and told too large.
    assert 0.75 < ratio(angles, noises) < 1.2


def test_halves_that_contradict_each_other_are_told() -> None:
    rng = np.random.default_rng(10)
    angles = np.linspace(-1, 1, 100)
    bent = np.abs(angles)[:, None] * [1.0, 0] + 0.03 * slow(rng, (100, 2), 5.0)
    error, cone, contradicts = slope_errors(angles, bent, weights=np.full(100, 0.01), runs=[100])
    # One half has the slope −1 and the other 1, each known to about a tenth.
    assert error == pytest.approx(1.0, abs=0.15)
    assert cone > 1.5 * error
    assert contradicts
    straight = 0.5 * angles[:, None] * [1.0, 0] + 0.03 * slow(rng, (100, 2), 5.0)
    assert not slope_errors(angles, straight, weights=np.full(100, 0.01), runs=[100])[2]


def test_runs_that_are_independent_tell_more_than_one() -> None:
    rng = np.random.default_rng(11)
    angles = np.tile(np.linspace(-1, 1, 25), 8)
    noise = np.concatenate([slow(rng, (25, 2), 30.0) for _ in range(8)])
    weights = np.full(200, 1 / 200)
    apart, one = (slope_errors(angles, noise, weights=weights, runs=runs)[0]
                  for runs in ([25] * 8, [200]))  # fmt: skip
    assert apart > 0
    assert apart != one


@pytest.mark.parametrize("across", [np.zeros((20, 2)), np.ones((5, 2))], ids=["still", "few"])
def test_what_cannot_be_told_adds_nothing(across: np.ndarray) -> None:
    angles, weights = np.linspace(-1, 1, len(across)), np.full(len(across), 1.0)
    assert slope_errors(angles, across, weights=weights, runs=[len(across)]) == (0.0, 0.0, False)
