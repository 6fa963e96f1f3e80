"""Reference and statistical tests of series in time, and invariants of draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import families, naive
from tests.strategies import Floats, seeds
from timme.series import (
    autocorrelation,
    correlation_time,
    count_drawn,
    draw_runs,
    effective_size,
)


def relaxing(n_series: int, n_snapshots: int, time: float) -> Floats:
    rng = np.random.default_rng(0)
    return families.relaxing((n_snapshots, n_series), time, rng).T


# ---- definitions -------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), seeds, st.booleans())
def test_autocorrelation_and_its_time_are_those_of_the_definition(
    replicas: list[int], seed: int, noisy: bool
) -> None:
    if sum(replicas) < 2:
        return
    series = np.random.default_rng(seed).normal(size=(3, sum(replicas))) + 5.0
    errors = series.var(axis=1) * [0.1, 0.2, 0.3] if noisy else None
    found, _, _ = autocorrelation(series, replicas=replicas, errors=errors)
    np.testing.assert_allclose(found, naive.autocorrelation(series, replicas, errors), atol=1e-9)
    for corrected in (False, True):
        time = correlation_time(series, replicas=replicas, errors=errors, corrected=corrected)
        expected = naive.correlation_time(series, replicas, errors=errors, corrected=corrected)
        assert time == pytest.approx(expected, abs=1e-7)


def test_constant_series_do_not_count() -> None:
    values, constant = relaxing(50, 100, 5.0), np.full((50, 100), 0.1)
    together = effective_size(np.concatenate([values, constant]))
    assert together == pytest.approx(effective_size(values))
    assert autocorrelation(constant)[0].tolist() == [1.0] + [0.0] * 99
    assert effective_size(constant, corrected=True) == 100


def test_weights_count_as_fewer_snapshots() -> None:
    values = relaxing(100, 400, 0.05)
    assert effective_size(values, weights=np.repeat([1.0, 0.0], 200)) == pytest.approx(200)


# ---- truth -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_snapshots", "time", "truth"),
    [(1000, 0.05, 1000), (1000, 5, 100), (1000, 50, 10), (200, 10, 10)],
)
def test_the_effective_size_of_relaxing_values_is_right_within_a_factor_of_two(
    n_snapshots: int, time: float, truth: float
) -> None:
    # n / (1 + 2 Σ exp(−k / time)) = n tanh(1 / 2 time)
    assert n_snapshots * np.tanh(0.5 / time) == pytest.approx(truth, rel=0.01)
    assert truth / 2 < effective_size(relaxing(200, n_snapshots, time)) < truth * 2


def test_the_correction_takes_the_bias_off_single_series() -> None:
    found = [effective_size(row, corrected=True) for row in relaxing(300, 1000, 50.0)]
    plain = [effective_size(row) for row in relaxing(300, 1000, 50.0)]
    assert abs(np.log(np.median(found) / 10)) < abs(np.log(np.median(plain) / 10))
    # The rate of an exponential is known to 1/√10 of itself at best from ten independent values:
    # a factor of two is 2.2 standard errors, beyond which lie 3 %; these sums know less.
    assert np.mean((np.array(found) > 5) & (np.array(found) < 20)) > 0.85


@pytest.mark.parametrize("n_snapshots", [20, 100, 1000])
def test_two_independent_values_are_rarely_taken_for_eight(n_snapshots: int) -> None:
    values = relaxing(1000, n_snapshots, n_snapshots / 4)
    found = np.array([effective_size(row, corrected=True) for row in values])
    plain = np.array([effective_size(row) for row in values])
    # At most 12 % of such series, and 3 standard errors of 1000.
    assert np.mean(found >= 8) < 0.12 + 3 * np.sqrt(0.12 * 0.88 / 1000)
    assert np.mean(plain >= 8) > 0.25


@pytest.mark.parametrize(("time", "truth"), [(5.0, 100), (50.0, 10)])
def test_errors_do_not_make_slow_values_look_independent(time: float, truth: float) -> None:
    values = relaxing(200, 1000, time)
    values += np.random.default_rng(1).normal(size=values.shape)
    found = effective_size(values, errors=np.ones(200), corrected=True)
    assert truth / 2 < found < 2 * truth
    assert effective_size(values, corrected=True) > found
    noise = np.random.default_rng(0).normal(size=(100, 400))
    assert effective_size(noise, errors=np.ones(100), corrected=True) == 400


@pytest.mark.parametrize("replicas", [[50] * 40, [10, 200, 90], [400]])
def test_runs_that_never_change_hold_one_value_each(replicas: list[int]) -> None:
    values = np.random.default_rng(0).normal(size=(200, len(replicas))).repeat(replicas, axis=1)
    # The mean of runs of lengths l has the variance Σ l² / n² of one value.
    exact = sum(replicas) ** 2 / np.square(replicas).sum()
    found = effective_size(values, replicas=replicas, corrected=True)
    assert found >= exact * (1 - 1e-9)
    if len(replicas) == 40:  # from fewer, the mean takes too much along to be known
        assert found == pytest.approx(exact)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_slow_values_seen_now_and_then_hold_as_many_as_when_always_seen(share: float) -> None:
    always = relaxing(300, 1000, 20.0)
    seen = np.random.default_rng(1).random(always.shape) < share
    for corrected in (False, True):
        found = effective_size(np.where(seen, always, np.nan), corrected=corrected)
        assert found == pytest.approx(effective_size(always, corrected=corrected), rel=0.15)


# ---- draws -------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 9), seeds)
def test_runs_follow_in_time_and_stay_in_their_replica(
    replicas: list[int], length: int, seed: int
) -> None:
    replica = np.repeat(np.arange(len(replicas)), replicas)
    for wrap in (True, False):
        for drawn in draw_runs(replicas, length, n_draws=3, seed=seed, wrap=wrap):
            assert len(drawn) == sum(replicas)
            place = 0
            while place < len(drawn):
                size = replicas[replica[drawn[place]]]
                run = drawn[place : place + min(length, size)]
                assert (replica[run] == replica[run[0]]).all()
                steps = np.diff(run) % size if wrap else np.diff(run)
                assert (steps == 1 % size).all()
                place += len(run)


def test_every_block_is_as_likely_as_any_other() -> None:
    counts = count_drawn(draw_runs([6, 10], 4, n_draws=4000), 16)
    assert (counts.sum(axis=1) == 16).all()
    # Blocks of a run come together, so counts vary by up to 4 times that of single blocks.
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 * np.sqrt(4 / 4000)
    assert count_drawn(np.array([[0, 0, 2], [3, 1, 3]]), 5).tolist() == [
        [2, 0, 1, 0, 0],
        [0, 1, 0, 2, 0],
    ]
