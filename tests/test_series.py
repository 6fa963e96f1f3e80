"""Series hold as many values as their correlation leaves, and blocks are drawn fairly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme._arrays import Floats
from timme.series import (
    _sum_longer,
    autocorrelation,
    correlation_time,
    count_drawn,
    draw_runs,
    effective_size,
)


def relaxing(n_series: int, n_snapshots: int, time: float, seed: int = 0) -> Floats:
    """Ornstein–Uhlenbeck: ρ(k) = exp(−k / time)."""
    rng = np.random.default_rng(seed)
    kept = np.exp(-1 / time)
    values = np.empty((n_series, n_snapshots))
    values[:, 0] = rng.normal(size=n_series)
    for t in range(1, n_snapshots):
        values[:, t] = kept * values[:, t - 1] + np.sqrt(1 - kept**2) * rng.normal(size=n_series)
    return values


@st.composite
def runs(draw: st.DrawFn) -> tuple[Floats, list[int]]:
    replicas = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    shape = draw(st.integers(1, 4)), sum(replicas)
    seed = draw(st.integers(0, 2**31))
    return np.random.default_rng(seed).normal(size=shape) + 5.0, replicas


@given(runs())
def test_autocorrelation_and_its_time_are_those_of_the_definition(
    drawn: tuple[Floats, list[int]],
) -> None:
    series, replicas = drawn
    if series.shape[1] < 2:  # nothing changes
        assert autocorrelation(series).tolist() == [1.0]
        return
    np.testing.assert_allclose(
        autocorrelation(series, replicas=replicas),
        naive.autocorrelation(series, replicas),
        atol=1e-9,
    )
    for corrected in (False, True):
        assert correlation_time(series, replicas=replicas, corrected=corrected) == pytest.approx(
            naive.correlation_time(series, replicas, corrected=corrected), abs=1e-7
        )


@given(runs())
def test_errors_are_taken_off_as_the_definition_says(drawn: tuple[Floats, list[int]]) -> None:
    series, replicas = drawn
    if series.shape[1] < 2:
        return
    errors = series.var(axis=1) * np.linspace(0.1, 0.3, len(series))
    np.testing.assert_allclose(
        autocorrelation(series, replicas=replicas, errors=errors),
        naive.autocorrelation(series, replicas, errors.tolist()),
        atol=1e-9,
    )
    for corrected in (False, True):
        found = correlation_time(series, replicas=replicas, errors=errors, corrected=corrected)
        expected = naive.correlation_time(
            series, replicas, errors=errors.tolist(), corrected=corrected
        )
        assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("error", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("time", "truth"), [(5.0, 100), (50.0, 10)])
def test_errors_do_not_make_slow_values_look_quick(time: float, truth: float, error: float) -> None:
    values = relaxing(200, 1000, time)
    values += error * np.random.default_rng(1).normal(size=values.shape)
    found = effective_size(values, errors=np.full(200, error**2), corrected=True)
    assert truth / 2 < found < 2 * truth
    # τ = (τ of the motion + error²) / (1 + error²), as the variance of errors is that at lag 0.
    mixed = 1000 * (1 + error**2) / (1000 / truth + error**2)
    assert effective_size(values, corrected=True) == pytest.approx(mixed, rel=0.5)
    assert effective_size(values, corrected=True) > found


def test_where_nothing_but_errors_is_seen_snapshots_are_independent() -> None:
    values = np.random.default_rng(0).normal(size=(100, 400))
    assert effective_size(values, errors=np.ones(100), corrected=True) == 400
    assert autocorrelation(values, errors=np.full(100, 2.0)).tolist() == [1.0] + [0.0] * 399


def test_errors_of_values_seen_now_and_then_are_taken_off_alike() -> None:
    always = relaxing(300, 400, 20.0)
    always += np.random.default_rng(2).normal(size=always.shape)
    seen = np.random.default_rng(1).random(always.shape) < 0.5
    errors = np.ones(300)
    found = effective_size(np.where(seen, always, np.nan), errors=errors, corrected=True)
    # As without errors, half of the values tell of the same motion.
    expected = effective_size(always, errors=errors, corrected=True)
    assert found == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(
    ("n_snapshots", "time", "truth"),
    [(1000, 0.05, 1000), (1000, 5, 100), (1000, 10, 50), (1000, 50, 10), (200, 10, 10)],
)
def test_effective_size_of_relaxing_values_is_right_within_a_factor_of_two(
    n_snapshots: int, time: float, truth: float
) -> None:
    # n / (1 + 2 Σ exp(−k / time)) = n tanh(1 / 2 time)
    assert n_snapshots * np.tanh(0.5 / time) == pytest.approx(truth, rel=0.01)
    found = effective_size(relaxing(200, n_snapshots, time))
    assert truth / 2 < found < truth * 2


@pytest.mark.parametrize("seed", range(5))
def test_two_independent_values_are_told_as_fewer_than_eight(seed: int) -> None:
    assert effective_size(relaxing(200, 1000, 250.0, seed)) < 8


@pytest.mark.parametrize(("time", "truth"), [(100.0, 5), (50.0, 10), (25.0, 20)])
def test_what_the_mean_takes_along_is_given_back(time: float, truth: float) -> None:
    """Each series is judged by itself, so that nothing is known but what it shows."""
    values = relaxing(300, 1000, time)
    found = np.median([effective_size(row, corrected=True) for row in values])
    plain = np.median([effective_size(row) for row in values])
    # Medians of 300, whose logarithms scatter by 0.5, are sure to within 0.04.
    assert found < plain * 0.95
    assert abs(np.log(found / truth)) < abs(np.log(plain / truth)) + 0.04


@pytest.mark.parametrize("n_snapshots", [20, 100, 1000])
def test_what_is_given_back_makes_two_independent_values_clearly_fewer_than_eight(
    n_snapshots: int,
) -> None:
    for seed in range(20):
        values = relaxing(30, n_snapshots, n_snapshots / 4, seed)
        assert effective_size(values, corrected=True) < 7


@pytest.mark.parametrize("n_snapshots", [20, 100, 1000])
def test_one_series_alone_tells_two_from_eight(n_snapshots: int) -> None:
    """Where the sum ends by chance, 2 is told as 8 or more in a fifth of all, else in a tenth."""
    values = relaxing(300, n_snapshots, n_snapshots / 4)
    found = [effective_size(row, corrected=True) for row in values]
    assert np.mean(np.array(found) >= 8) < 0.1 + 2 * np.sqrt(0.1 * 0.9 / 300)


@pytest.mark.parametrize(("n_snapshots", "truth"), [(100, 10), (1000, 10), (1000, 100)])
def test_one_series_alone_is_mostly_told_within_a_factor_of_two(
    n_snapshots: int, truth: int
) -> None:
    values = relaxing(300, n_snapshots, n_snapshots / (2 * truth))
    found = np.array([effective_size(row, corrected=True) for row in values])
    # The rate of an exponential is known to 1 / √10 of itself at best, of ten independent values:
    # a factor of two is 2.2 standard errors, beyond which lie 3 %; sums of correlations know less.
    assert np.mean((found > truth / 2) & (found < 2 * truth)) > 0.85


@given(st.floats(0.01, 0.95), st.integers(40, 200))
def test_an_exponential_is_summed_as_it_goes_on(kept: float, n_lags: int) -> None:
    """Of ρ(k) = aᵏ, cut off at its half by noise, 1 + 2 Σ ρ is (1 + a) / (1 − a) all the same."""
    correlation = np.power(kept, np.arange(n_lags), dtype=np.float64)
    correlation[np.argmax(correlation <= 0.5) + 1 :] = -0.5
    assert _sum_longer(correlation) == pytest.approx((1 + kept) / (1 - kept))


@pytest.mark.parametrize("replicas", [[50] * 40, [10, 200, 90], [400]])
def test_runs_that_never_change_hold_one_value_each(replicas: list[int]) -> None:
    """The mean of runs of lengths l has the variance Σ l² / n² of one value."""
    values = np.random.default_rng(0).normal(size=(200, len(replicas))).repeat(replicas, axis=1)
    exact = sum(replicas) ** 2 / np.square(replicas).sum()
    assert effective_size(values, replicas=replicas, corrected=True) >= exact * (1 - 1e-9)
    if len(replicas) == 40:
        assert effective_size(values, replicas=replicas, corrected=True) == pytest.approx(exact)


def test_what_is_given_back_is_the_same_of_values_seen_now_and_then() -> None:
    always = relaxing(300, 400, 20.0)
    seen = np.random.default_rng(1).random(always.shape) < 0.5
    found = effective_size(np.where(seen, always, np.nan), corrected=True)
    assert found == pytest.approx(effective_size(always, corrected=True), rel=0.15)
    assert (
        effective_size(np.full((5, 30), 2.5), corrected=True) == 30
    )  # and nothing, where it rests


def test_frozen_replicas_hold_one_value_each() -> None:
    values = np.random.default_rng(0).normal(size=(300, 40)).repeat(50, axis=1)
    found = effective_size(values, replicas=[50] * 40)
    # The mean is taken from the same 40 values: each is off by a fortieth of them.
    assert found == pytest.approx(40, rel=2 / 40)


def test_values_that_were_not_seen_do_not_make_others_dependent() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(200, 400))
    values[rng.random(values.shape) < 0.5] = np.nan
    # Half of them are there; 5 standard errors of 200 means of binomial counts.
    assert effective_size(values) == pytest.approx(200, abs=5 * 10 / np.sqrt(200))


def test_slow_values_seen_now_and_then_hold_as_many_as_when_always_seen() -> None:
    always = relaxing(300, 1000, 20.0)
    seen = np.random.default_rng(1).random(always.shape) < 0.3
    # Of 40 snapshots that hold one value, 12 are seen.
    found = effective_size(np.where(seen, always, np.nan))
    assert found == pytest.approx(effective_size(always), rel=0.15)


def test_weights_count_as_fewer_snapshots() -> None:
    values = relaxing(100, 400, 0.05)
    weights = np.repeat([1.0, 0.0], 200)
    assert effective_size(values, weights=weights) == pytest.approx(200)


def test_what_never_moves_is_left_out() -> None:
    values = relaxing(50, 100, 5.0)
    still = np.full((50, 100), 0.1)
    together = effective_size(np.concatenate([values, still]))
    assert together == pytest.approx(effective_size(values))
    assert autocorrelation(still).tolist() == [1.0] + [0.0] * 99
    assert effective_size(still) == 100


def test_many_series_are_transformed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = relaxing(30, 50, 5.0)
    at_once = autocorrelation(values)
    monkeypatch.setattr("timme.series._AT_A_TIME", 170)
    np.testing.assert_allclose(autocorrelation(values), at_once, rtol=1e-12)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 2**31)
)
def test_runs_follow_in_time_and_stay_in_their_replica(
    replicas: list[int], length: int, seed: int
) -> None:
    n_blocks = sum(replicas)
    replica = np.repeat(np.arange(len(replicas)), replicas)
    first = np.cumsum(replicas) - replicas
    for drawn in draw_runs(replicas, length, n_draws=3, seed=seed):
        assert len(drawn) == n_blocks
        place = 0
        while place < n_blocks:
            own = replica[drawn[place]]
            run = drawn[place : place + min(length, replicas[own])]
            assert (replica[run] == own).all()
            assert (np.diff(run - first[own]) % replicas[own] == (1 % replicas[own])).all()
            place += len(run)


def test_all_blocks_of_a_draw_are_counted() -> None:
    drawn = np.array([[0, 0, 2], [3, 1, 3]])
    assert count_drawn(drawn, 5).tolist() == [[2, 0, 1, 0, 0], [0, 1, 0, 2, 0]]


def test_every_block_is_as_likely_as_any_other() -> None:
    counts = count_drawn(draw_runs([6, 10], 4, n_draws=4000), 16)
    assert (counts.sum(axis=1) == 16).all()
    # Blocks of a run come together, so that counts vary up to 4 times as much as when drawn alone.
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 * np.sqrt(4 / 4000)


def test_the_same_seed_draws_the_same() -> None:
    one, same, other = (draw_runs(20, 4, n_draws=5, seed=seed) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"5 snapshots together, at least 1 each, got \[3, 3\]"):
        autocorrelation(np.arange(5.0), replicas=[3, 3])
    with pytest.raises(ValueError, match="a row of values each"):
        effective_size(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="runs of at least 1"):
        draw_runs([3, 0], 2, n_draws=1)


def test_runs_that_do_not_wrap_hold_neighbours_only() -> None:
    drawn = draw_runs([6, 5], 3, n_draws=50, seed=1, wrap=False)
    assert drawn.shape == (50, 11)
    for row in drawn:
        for run in (row[:3], row[3:6], row[6:9]):
            assert (np.diff(run) == 1).all()
            assert len({int(block >= 6) for block in run}) == 1
    assert set(drawn.ravel().tolist()) == set(range(11))
