"""The closed forms of the freely-jointed chain against integrals, sums and simulated chains.

Simulations have a fixed seed; `STANDARD_ERRORS` says how far from the closed form they may be.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.optimize import brentq

from tests import naive
from timme import theory

Floats = npt.NDArray[np.float64]

STANDARD_ERRORS = 4
SEED = 20070401

lengths = st.floats(0.01, 100)
probabilities = st.floats(0, 1)
sizes = st.integers(1, 200)


def link_directions(n_links: int, n_snapshots: int) -> Floats:
    """Independent directions, uniform on the sphere: (snapshots, links, 3)."""
    normal = np.random.default_rng(SEED).normal(size=(n_snapshots, n_links, 3))
    return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))


def neighbour_separations(n_pairs: int, n_snapshots: int) -> Floats:
    """Distances of the far ends of neighbouring links of length 1: (snapshots, pairs)."""
    links = link_directions(n_pairs + 1, n_snapshots)
    return np.asarray(np.linalg.norm(links[:, 1:] + links[:, :-1], axis=-1))


def cluster_sizes(sigmas: Floats, cutoff: float) -> Floats:
    """For every link of a chain, the size of its cluster."""
    n_links = len(sigmas) + 1
    neighbours = [(i, i + 1) for i in range(n_links - 1)]
    labels = naive.labels(n_links, neighbours, sigmas, cutoff)
    return np.array(np.bincount(labels)[labels], dtype=np.float64)


def tail_cutoff(fraction: float, sigmas: Floats | None = None) -> float:
    """Cutoff at which that fraction of links is in clusters of 10 or more, in link lengths."""

    def excess(cutoff: float) -> float:
        if sigmas is None:
            return float(theory.tail_fraction(theory.join_probability(cutoff))) - fraction
        return float((cluster_sizes(sigmas, cutoff) >= 10).mean()) - fraction

    return float(brentq(excess, 0, 1, xtol=1e-5))


# Two neighbouring links


def test_separation_is_the_distance_of_the_far_ends() -> None:
    first, second = link_directions(2, 100).swapaxes(0, 1)
    # At the joint the first link points backwards.
    theta = np.arccos(-np.sum(first * second, axis=-1))
    expected = 1.54 * np.linalg.norm(first + second, axis=-1)
    np.testing.assert_allclose(theory.separation(theta, link_length=1.54), expected, rtol=1e-9)


def test_separation_keeps_its_digits_at_small_angles() -> None:
    assert theory.separation(1e-9) == pytest.approx(1e-9, rel=1e-12, abs=0)


def test_a_straight_angle_in_single_precision_is_accepted() -> None:
    assert theory.separation(np.float32(np.pi)) == pytest.approx(2)


@given(lengths)
def test_densities_integrate_to_one(a: float) -> None:
    total_l, _ = quad(lambda x: float(theory.separation_density(x, link_length=a)), 0, 2 * a)
    total_sigma, _ = quad(lambda x: float(theory.sigma_density(x, link_length=a)), 0, a)
    assert total_l == pytest.approx(1, rel=1e-9)
    assert total_sigma == pytest.approx(1, rel=1e-9)


@given(lengths)
def test_densities_are_zero_outside_their_support(a: float) -> None:
    beyond = np.array([-np.inf, -1e200, -1e-9 * a, 2.001 * a, 1e200, np.inf])
    assert not theory.separation_density(beyond, link_length=a).any()
    assert not theory.sigma_density(beyond, link_length=a).any()
    assert theory.sigma_density(1.001 * a, link_length=a) == 0


def test_separation_density_is_that_of_free_joints() -> None:
    n_pairs = 100_000
    edges = np.linspace(0, 2, 21)
    counts, _ = np.histogram(neighbour_separations(n_pairs, 1), edges)
    for count, low, high in zip(counts, edges, edges[1:], strict=False):
        expected, _ = quad(lambda x: float(theory.separation_density(x)), low, high)
        standard_error = math.sqrt(expected * (1 - expected) / n_pairs)
        assert abs(count / n_pairs - expected) < STANDARD_ERRORS * standard_error


@given(lengths, st.just(0.0) | st.floats(1e-12, 1))  # SciPy integrates nothing narrower
def test_join_probability_is_the_integral_of_the_density(a: float, fraction: float) -> None:
    cutoff = fraction * a
    integral, _ = quad(lambda x: float(theory.sigma_density(x, link_length=a)), 0, cutoff)
    assert theory.join_probability(cutoff, link_length=a) == pytest.approx(integral, abs=1e-9)


@pytest.mark.parametrize("cutoff", [0.1, 0.471, 0.9])
def test_join_probability_is_that_of_half_the_difference_of_two_separations(cutoff: float) -> None:
    def both(second: float, first: float) -> float:
        density = theory.separation_density([first, second])
        return float(density.prod())

    # The two separations are exchangeable: integrate over second <= first and double.
    below, _ = dblquad(both, 0, 2, lambda first: max(0, first - 2 * cutoff), lambda first: first)
    assert theory.join_probability(cutoff) == pytest.approx(2 * below, abs=1e-7)


@given(lengths, st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_join_probability_grows_from_zero_to_one(a: float, one: float, other: float) -> None:
    low, high = sorted([one, other])
    p_low, p_high = theory.join_probability([low, high], link_length=a)
    # A cubic in floating point may step back by a rounding error.
    assert 0 <= p_low <= p_high + 1e-15
    assert p_high <= 1 + 1e-15
    if high <= 0:
        assert p_high == 0
    if low >= a:
        assert p_low == 1


@given(lengths, st.floats(-0.5, 2.5))
def test_only_the_ratio_to_the_link_length_matters(a: float, x: float) -> None:
    assert theory.join_probability(a * x, link_length=a) == pytest.approx(
        float(theory.join_probability(x)), abs=1e-12
    )
    # Kept off the edges of the supports, where rounding decides the side.
    if min(abs(x), abs(x - 1), abs(x - 2)) > 1e-9:
        assert a * theory.sigma_density(a * x, link_length=a) == pytest.approx(
            float(theory.sigma_density(x))
        )
        assert a * theory.separation_density(a * x, link_length=a) == pytest.approx(
            float(theory.separation_density(x))
        )


# Clusters of links


@given(st.floats(0, 0.95))
def test_size_fractions_sum_to_one_and_average_to_the_mean_size(p: float) -> None:
    r = np.arange(1, 3000)
    fractions = theory.size_fraction(r, p)
    assert fractions.sum() == pytest.approx(1, rel=1e-12)
    assert (r * fractions).sum() == pytest.approx(float(theory.mean_size(p)), rel=1e-12)


@given(probabilities, sizes)
def test_tail_fraction_is_what_the_smaller_sizes_leave(p: float, large: int) -> None:
    smaller = theory.size_fraction(np.arange(1, large), p).sum()
    assert theory.tail_fraction(p, large=large) == pytest.approx(1 - smaller, abs=1e-12)


def test_large_clusters_are_those_of_ten_links_unless_said_otherwise() -> None:
    assert theory.tail_fraction(0.7) == theory.tail_fraction(0.7, large=10)
    assert theory.tail_fraction(0.7) != theory.tail_fraction(0.7, large=9)


def test_every_link_is_alone_when_none_are_joined() -> None:
    np.testing.assert_array_equal(theory.size_fraction([1, 2, 3], 0), [1, 0, 0])
    assert theory.mean_size(0) == 1
    np.testing.assert_array_equal(theory.tail_fraction(0, large=[1, 2, 10]), [1, 0, 0])


def test_one_endless_cluster_when_all_are_joined() -> None:
    np.testing.assert_array_equal(theory.size_fraction([1, 2, 100], 1), [0, 0, 0])
    assert theory.mean_size(1) == np.inf
    np.testing.assert_array_equal(theory.tail_fraction(1, large=[1, 2, 10]), [1, 1, 1])


@pytest.mark.parametrize(("fraction", "published"), [(0.1, 0.328), (0.5, 0.481), (0.9, 0.645)])
def test_sigmoid_of_large_clusters_passes_the_published_cutoffs(
    fraction: float, published: float
) -> None:
    assert round(tail_cutoff(fraction), 3) == published


@pytest.mark.parametrize("cutoff", [0.1, 0.3, 0.5])
def test_simulated_chain_has_the_predicted_clusters(cutoff: float) -> None:
    # Sites of one cluster are not independent: the error is that of the means of long blocks.
    n_blocks, block = 50, 1000
    sigmas = neighbour_separations(n_blocks * block - 1, 2).std(axis=0)
    seen = cluster_sizes(sigmas, cutoff)
    p = theory.join_probability(cutoff)
    observed_and_expected = [
        *((seen == r, theory.size_fraction(r, p)) for r in range(1, 6)),
        (seen >= 10, theory.tail_fraction(p)),
        (seen, theory.mean_size(p)),
    ]
    for observed, expected in observed_and_expected:
        means = observed.reshape(n_blocks, block).mean(axis=1)
        standard_error = means.std(ddof=1) / math.sqrt(n_blocks)
        # Where so few clusters are large that none is seen, the error says nothing by itself.
        assert abs(means.mean() - expected) <= STANDARD_ERRORS * standard_error + 1e-4


# More than two snapshots


def test_moments_of_two_snapshots_are_the_integrals_of_the_density() -> None:
    second, _ = quad(lambda x: x**2 * float(theory.sigma_density(x, link_length=2)), 0, 2)
    fourth, _ = quad(lambda x: x**4 * float(theory.sigma_density(x, link_length=2)), 0, 2)
    assert theory.sigma_second_moment(2, link_length=2) == pytest.approx(second, rel=1e-12)
    assert theory.sigma_squared_variance(2, link_length=2) == pytest.approx(
        fourth - second**2, rel=1e-12
    )


@pytest.mark.parametrize("n_snapshots", [2, 3, 5, 10])
def test_freely_jointed_chain_has_the_published_moments(n_snapshots: int) -> None:
    n_pairs = 100_000
    squared = neighbour_separations(n_pairs, n_snapshots).var(axis=0)
    mean, variance = squared.mean(), squared.var()
    error_of_mean = math.sqrt(variance / n_pairs)
    error_of_variance = math.sqrt((((squared - mean) ** 4).mean() - variance**2) / n_pairs)
    assert abs(mean - theory.sigma_second_moment(n_snapshots)) < STANDARD_ERRORS * error_of_mean
    assert (
        abs(variance - theory.sigma_squared_variance(n_snapshots))
        < STANDARD_ERRORS * error_of_variance
    )


@given(lengths, st.integers(2, 10**6))
def test_moments_scale_with_the_link_length(a: float, n_snapshots: int) -> None:
    assert theory.sigma_second_moment(n_snapshots, link_length=a) == pytest.approx(
        a**2 * float(theory.sigma_second_moment(n_snapshots))
    )
    assert theory.sigma_squared_variance(n_snapshots, link_length=a) == pytest.approx(
        a**4 * float(theory.sigma_squared_variance(n_snapshots))
    )


def test_fluctuations_narrow_to_the_step_with_many_snapshots() -> None:
    n_snapshots = np.array([2, 20, 200, 2000, 10**9])
    second = theory.sigma_second_moment(n_snapshots, link_length=1.3)
    spread = np.sqrt(theory.sigma_squared_variance(n_snapshots, link_length=1.3)) / second
    assert (np.diff(spread) < 0).all()
    assert spread[-1] < 1e-4
    assert theory.step(link_length=1.3) == pytest.approx(math.sqrt(second[-1]), rel=1e-8)
    assert round(theory.step(), 3) == 0.471


@pytest.mark.long
def test_simulated_sigmoid_sharpens_to_the_step() -> None:
    widths = []
    for n_snapshots in (2, 20, 200):
        sigmas = neighbour_separations(10_000, n_snapshots).std(axis=0)
        low, middle, high = (tail_cutoff(fraction, sigmas) for fraction in (0.1, 0.5, 0.9))
        widths.append(high - low)
    # By the variance of sigma squared, ten times the snapshots make it about three times sharper.
    assert widths[0] > 2 * widths[1] > 4 * widths[2]
    # It closes in from above: a tenth of the links in large clusters takes most pairs joined.
    assert theory.step() < low < high < theory.step() + 0.04
    # Chains of 10,000 links scatter by 0.0005 about 0.489.
    assert round(middle, 2) == 0.49


# What cannot be answered


@pytest.mark.parametrize("link_length", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    "function",
    [
        theory.separation,
        theory.separation_density,
        theory.sigma_density,
        theory.join_probability,
        theory.sigma_second_moment,
        theory.sigma_squared_variance,
    ],
)
def test_a_link_without_length_is_refused(
    function: Callable[..., Floats], link_length: float
) -> None:
    with pytest.raises(ValueError, match=f"positive and finite, got {link_length}: give the"):
        function(2, link_length=link_length)
    with pytest.raises(ValueError, match="positive and finite"):
        theory.step(link_length=link_length)


@pytest.mark.parametrize("theta", [-0.1, 109.5, [1.0, 180]])
def test_an_angle_in_degrees_is_refused(theta: npt.ArrayLike) -> None:
    with pytest.raises(
        ValueError, match=r"theta needs to be between 0 and 3\.14159, got .*radians"
    ):
        theory.separation(theta)


@pytest.mark.parametrize("p", [-0.01, 1.01, [0.5, 2]])
def test_what_is_no_probability_is_refused(p: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match=r"p needs to be between 0 and 1, got .*join_probability"):
        theory.mean_size(p)
    with pytest.raises(ValueError, match="p needs to be between 0 and 1"):
        theory.size_fraction(1, p)
    with pytest.raises(ValueError, match="p needs to be between 0 and 1"):
        theory.tail_fraction(p)


@pytest.mark.parametrize("size", [0, -3, 2.5, [1, 0], math.nan, math.inf])
def test_what_is_no_cluster_size_is_refused(size: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match="r needs to be a whole number from 1, got"):
        theory.size_fraction(size, 0.5)
    with pytest.raises(ValueError, match="large needs to be a whole number from 1, got"):
        theory.tail_fraction(0.5, large=size)


@pytest.mark.parametrize("n_snapshots", [1, 0, 2.5, [5, 1]])
def test_fewer_than_two_snapshots_are_refused(n_snapshots: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match="n_snapshots needs to be a whole number from 2, got"):
        theory.sigma_second_moment(n_snapshots)
    with pytest.raises(ValueError, match="take more"):
        theory.sigma_squared_variance(n_snapshots)


# Arrays


def test_unknown_values_stay_unknown() -> None:
    for function in (
        theory.separation,
        theory.separation_density,
        theory.sigma_density,
        theory.join_probability,
        theory.mean_size,
        theory.tail_fraction,
    ):
        np.testing.assert_array_equal(np.isnan(function([0.5, np.nan])), [False, True])


def test_numbers_and_arrays_give_arrays_of_their_shape() -> None:
    for shape in [(), (3,), (2, 3)]:
        halves = np.full(shape, 0.5)
        twos = np.full(shape, 2)
        results = [
            theory.separation(halves),
            theory.separation_density(halves),
            theory.sigma_density(halves),
            theory.join_probability(halves),
            theory.size_fraction(twos, 0.5),
            theory.mean_size(halves),
            theory.tail_fraction(halves),
            theory.sigma_second_moment(twos),
            theory.sigma_squared_variance(twos),
        ]
        assert all(isinstance(result, np.ndarray) for result in results)
        assert {result.shape for result in results} == {shape}
