"""Statistical tests of the freely-jointed chain: ten thousand links against the closed forms.

Neighbouring links of one chain are correlated, so standard errors come from independent chains. The
mean of `CHAINS` chains may be `STANDARD_ERRORS` from theory: as the error is estimated from few
chains, this is Student's t, and |t| > 6 with 7 degrees of freedom has p = 5e-4. Seeds are fixed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from timme import objects, pairs, synthetic, theory
from timme.fluctuations import measure
from timme.hierarchy import Hierarchy, link
from timme.hierarchy.curves import count_clusters, inflection

N_LINKS = 10_000
CHAINS = 8
STANDARD_ERRORS = 6.0
CUTOFFS = [0.1, 0.2, 0.328, 0.4, 0.481, 0.55, 0.645]


@cache
def simulated(n_snapshots: int, seed: int) -> tuple[Any, Hierarchy]:
    """σ of neighbouring links, and their hierarchy."""
    links = objects.links(synthetic.chain(N_LINKS, n_snapshots, seed=1000 * n_snapshots + seed))
    sigma = measure(links, pairs.sharing(links))
    return sigma.sigma, link(sigma)


def agrees(per_chain: Any, expected: Any) -> bool:
    """Whether means over chains (chains, …) are within their standard errors of theory."""
    values = np.asarray(per_chain)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return bool((np.abs(values.mean(axis=0) - expected) <= STANDARD_ERRORS * error).all())


def test_clusters_of_two_snapshots_follow_theory_at_every_cutoff() -> None:
    counted = [count_clusters(simulated(2, seed)[1], cutoffs=CUTOFFS) for seed in range(CHAINS)]
    p = theory.join_probability(CUTOFFS)
    fractions = theory.size_fraction(np.arange(1, 6)[:, None], p)
    assert agrees([each.size_fractions for each in counted], fractions)
    assert agrees([each.mean_size for each in counted], theory.mean_size(p))
    assert agrees([each.large_fraction for each in counted], theory.tail_fraction(p))


def test_sigma_of_two_snapshots_has_the_published_distribution() -> None:
    sigma, _ = simulated(2, 0)
    # Every second pair shares no link with the next, so they are independent.
    for independent in (sigma[::2], sigma[1::2]):
        assert stats.kstest(theory.join_probability(independent), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n_snapshots", [2, 3, 5, 20])
def test_sigma_squared_has_the_published_mean_and_variance(n_snapshots: int) -> None:
    squares = [simulated(n_snapshots, seed)[0] ** 2 for seed in range(CHAINS)]
    expected = float(theory.sigma_second_moment(n_snapshots))
    assert agrees([values.mean() for values in squares], expected)
    assert np.mean(squares) == pytest.approx(expected, rel=0.01)
    variance = float(theory.sigma_squared_variance(n_snapshots))
    assert agrees([values.var() for values in squares], variance)
    assert np.var(squares) == pytest.approx(variance, rel=0.03)


def test_the_sigmoid_sharpens_to_the_step_with_the_number_of_snapshots() -> None:
    def cutoffs_at(n_snapshots: int, *fractions: float) -> Any:
        counted = count_clusters(simulated(n_snapshots, 0)[1])
        return counted.cutoffs[np.searchsorted(counted.large_fraction, fractions)]

    found = np.array([cutoffs_at(n, 0.1, 0.5, 0.9) for n in (2, 5, 20, 50, 200)])
    widths, halves = found[:, 2] - found[:, 0], found[:, 1]
    assert (np.diff(widths) < 0).all()
    # σ spreads as 1/√N, and the sigmoid with it.
    assert widths[-2] / widths[-1] == pytest.approx(2, rel=0.15)
    # It comes from above: a tenth of the links in large clusters takes most pairs joined.
    assert halves[-1] == pytest.approx(0.49, abs=0.005)
    assert halves[-1] > theory.step()
    assert (np.diff(halves[2:]) < 0).all()


def test_the_steepest_rise_is_where_theory_has_it() -> None:
    grid = np.linspace(0.2, 0.9, 7001)
    slope = np.gradient(theory.tail_fraction(theory.join_probability(grid)), grid)
    found = [inflection(count_clusters(simulated(2, seed)[1])) for seed in range(CHAINS)]
    # The slope is flat at its top: 0.05 away it is 5 % less, below the noise of one chain.
    assert found == pytest.approx([grid[slope.argmax()]] * CHAINS, abs=0.05)


def test_joints_as_points_are_one_cluster_at_every_cutoff() -> None:
    joints = objects.points(synthetic.chain(N_LINKS, 20))
    sigma = measure(joints, pairs.sequence(joints))
    # A link never changes its length but for rounding, at up to 300 from the origin.
    assert sigma.sigma.max() < 300 * 4 * np.finfo(np.float64).eps
    assert link(sigma).cut(1e-9).n_clusters == 1


def test_the_length_of_a_link_is_the_unit_of_sigma() -> None:
    short, long = (objects.links(synthetic.chain(300, 4, link_length=a)) for a in (1.0, 1.54))
    first, second = (measure(links, pairs.sharing(links)).sigma for links in (short, long))
    assert second == pytest.approx(1.54 * first, rel=1e-12)
