"""Reference tests of the closed forms of the paper: integrals, sums and published values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.optimize import brentq

from timme import theory

lengths = st.floats(0.01, 100)


def test_the_separation_is_the_distance_of_the_far_ends() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 100, 3))
    first, second = (each / np.linalg.norm(each, axis=1)[:, None] for each in (first, second))
    # Seen from the joint, the first link points backwards.
    theta = np.arccos(-np.sum(first * second, axis=1))
    expected = 1.54 * np.linalg.norm(first + second, axis=1)
    np.testing.assert_allclose(theory.separation(theta, link_length=1.54), expected, rtol=1e-9)
    assert theory.separation(1e-9) == pytest.approx(1e-9, rel=1e-12, abs=0)
    assert theory.separation(np.float32(np.pi)) == pytest.approx(2)


@given(lengths)
def test_densities_integrate_to_one_and_vanish_outside(a: float) -> None:
    total_l, _ = quad(lambda x: float(theory.separation_density(x, link_length=a)), 0, 2 * a)
    total_sigma, _ = quad(lambda x: float(theory.sigma_density(x, link_length=a)), 0, a)
    assert total_l == pytest.approx(1, rel=1e-9)
    assert total_sigma == pytest.approx(1, rel=1e-9)
    outside = np.array([-np.inf, -1e-9 * a, 2.001 * a, np.inf])
    assert not theory.separation_density(outside, link_length=a).any()
    assert not theory.sigma_density(outside, link_length=a).any()


@given(lengths, st.just(0.0) | st.floats(1e-12, 1))  # SciPy integrates nothing narrower
def test_the_join_probability_is_the_integral_of_the_density(a: float, fraction: float) -> None:
    cutoff = fraction * a
    integral, _ = quad(lambda x: float(theory.sigma_density(x, link_length=a)), 0, cutoff)
    assert theory.join_probability(cutoff, link_length=a) == pytest.approx(integral, abs=1e-9)
    beyond = theory.join_probability([-1.0, -cutoff, a, 2 * a], link_length=a)
    assert beyond.tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("cutoff", [0.1, 0.471, 0.9])
def test_two_separations_differ_by_twice_the_cutoff_with_the_join_probability(
    cutoff: float,
) -> None:
    def both(second: float, first: float) -> float:
        return float(theory.separation_density([first, second]).prod())

    # The two separations are exchangeable: integrate over second <= first, and double.
    below, _ = dblquad(both, 0, 2, lambda first: max(0, first - 2 * cutoff), lambda first: first)
    assert theory.join_probability(cutoff) == pytest.approx(2 * below, abs=1e-7)


@given(st.floats(0, 0.95), st.integers(1, 200))
def test_size_fractions_sum_to_one_to_the_mean_size_and_to_the_tail(p: float, large: int) -> None:
    r = np.arange(1, 3000)
    fractions = theory.size_fraction(r, p)
    assert fractions.sum() == pytest.approx(1, rel=1e-12)
    assert (r * fractions).sum() == pytest.approx(float(theory.mean_size(p)), rel=1e-12)
    tail = theory.tail_fraction(p, large=large)
    assert tail == pytest.approx(1 - fractions[: large - 1].sum(), abs=1e-12)


def test_all_links_are_alone_or_in_one_endless_cluster_at_the_ends() -> None:
    assert theory.size_fraction([1, 2, 3], 0).tolist() == [1, 0, 0]
    assert theory.size_fraction([1, 2, 100], 1).tolist() == [0, 0, 0]
    assert theory.mean_size([0, 1]).tolist() == [1, math.inf]
    assert theory.tail_fraction([0.0, 1.0], large=10).tolist() == [0, 1]


@pytest.mark.parametrize(("fraction", "published"), [(0.1, 0.328), (0.5, 0.481), (0.9, 0.645)])
def test_the_sigmoid_of_large_clusters_passes_the_published_cutoffs(
    fraction: float, published: float
) -> None:
    def excess(cutoff: float) -> float:
        return float(theory.tail_fraction(theory.join_probability(cutoff), large=10)) - fraction

    assert round(float(brentq(excess, 0, 1, xtol=1e-6)), 3) == published


def test_moments_of_two_snapshots_are_the_integrals_of_the_density() -> None:
    second, fourth = (
        quad(lambda x, power=power: x**power * float(theory.sigma_density(x, link_length=2)), 0, 2)[
            0
        ]
        for power in (2, 4)
    )
    variance = theory.sigma_squared_variance(2, link_length=2)
    assert theory.sigma_second_moment(2, link_length=2) == pytest.approx(second, rel=1e-12)
    assert variance == pytest.approx(fourth - second**2, rel=1e-12)


def test_fluctuations_narrow_to_the_step_with_many_snapshots() -> None:
    n_snapshots = np.array([2, 20, 200, 2000, 10**9])
    second = theory.sigma_second_moment(n_snapshots, link_length=1.3)
    spread = np.sqrt(theory.sigma_squared_variance(n_snapshots, link_length=1.3)) / second
    assert (np.diff(spread) < 0).all()
    assert spread[-1] < 1e-4
    assert theory.step(link_length=1.3) == pytest.approx(math.sqrt(second[-1]), rel=1e-8)
    assert round(theory.step(), 3) == 0.471


@pytest.mark.parametrize(
    ("function", "arguments", "match"),
    [
        (theory.separation, ([1.0, 180],), r"theta \(in radians\) needs numbers from 0 to 3.14159"),
        (theory.mean_size, (1.01,), "p needs numbers from 0 to 1, got 1.01"),
        (theory.size_fraction, (2.5, 0.5), "r needs whole numbers from 1"),
        (theory.size_fraction, (math.nan, 0.5), "r needs whole numbers from 1"),
        (theory.sigma_second_moment, (1,), "n_snapshots needs whole numbers from 2"),
    ],
)
def test_values_out_of_range_are_refused(function: Any, arguments: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        function(*arguments)


@pytest.mark.parametrize("length", [0, -1.0, math.inf])
def test_a_link_without_length_is_refused(length: float) -> None:
    for function in (theory.separation, theory.sigma_density, theory.join_probability):
        with pytest.raises(ValueError, match="link_length needs numbers from"):
            function(0.5, link_length=length)
