"""The freely-jointed chain of the paper: ten thousand links against the closed forms.

Standard errors come from independent chains, since neighbouring links of one chain are correlated.
A mean over CHAINS chains may be STANDARD_ERRORS of them from theory; as the error itself is
estimated from few chains, this is Student's t: |t| > 6 with 7 degrees of freedom has p = 5e-4, and
seeds are fixed.
"""

import functools

import numpy as np
import pytest
from scipy import stats

from timme import objects, pairs, statistics, synthetic, theory
from timme._arrays import Floats
from timme.fluctuations import measure
from timme.hierarchy import Hierarchy, link

N_LINKS = 10_000
CHAINS = 8
STANDARD_ERRORS = 6.0
CUTOFFS = [0.1, 0.2, 0.328, 0.4, 0.481, 0.55, 0.645]


@functools.cache
def simulated(n_snapshots: int, seed: int) -> tuple[Floats, Hierarchy]:
    """σ of neighbouring links, and their hierarchy."""
    rods = objects.links(synthetic.chain(N_LINKS, n_snapshots, seed=1000 * n_snapshots + seed))
    sigma = measure(rods, pairs.sharing(rods))
    return sigma.sigma, link(sigma)


def sizes_seen(hierarchy: Hierarchy, cutoff: float) -> Floats:
    """Size of the cluster of each link."""
    partition = hierarchy.cut(cutoff)
    return partition.sizes[partition.labels].astype(np.float64)


def agrees(per_chain: list[float], expected: float) -> bool:
    """Whether the mean over chains is within its standard error of theory."""
    error = np.std(per_chain, ddof=1) / np.sqrt(len(per_chain))
    return bool(abs(np.mean(per_chain) - expected) <= STANDARD_ERRORS * error)


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_fractions_of_links_in_clusters_of_one_to_five_follow_theory(cutoff: float) -> None:
    p = theory.join_probability(cutoff)
    seen = [sizes_seen(simulated(2, seed)[1], cutoff) for seed in range(CHAINS)]
    for r in range(1, 6):
        expected = float(theory.size_fraction(r, p))
        per_chain = [float(np.mean(sizes == r)) for sizes in seen]
        assert agrees(per_chain, expected), (r, per_chain, expected)
        assert np.std(per_chain) < 0.02  # the error that is allowed is small


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_mean_size_and_the_fraction_in_large_clusters_follow_theory(cutoff: float) -> None:
    p = theory.join_probability(cutoff)
    seen = [sizes_seen(simulated(2, seed)[1], cutoff) for seed in range(CHAINS)]
    assert agrees([float(sizes.mean()) for sizes in seen], float(theory.mean_size(p)))
    large = [float(np.mean(sizes >= 10)) for sizes in seen]
    assert agrees(large, float(theory.tail_fraction(p, large=10)))


@pytest.mark.parametrize(("cutoff", "fraction"), [(0.328, 0.1), (0.481, 0.5), (0.645, 0.9)])
def test_large_clusters_come_at_the_published_cutoffs(cutoff: float, fraction: float) -> None:
    large = [np.mean(sizes_seen(simulated(2, seed)[1], cutoff) >= 10) for seed in range(CHAINS)]
    error = np.std(large, ddof=1) / np.sqrt(CHAINS)
    # cutoffs are published to three digits: half a digit is 0.0005 times a slope of at most 3.2
    assert abs(np.mean(large) - fraction) < STANDARD_ERRORS * error + 0.0016


def test_sigma_of_two_snapshots_has_the_published_distribution() -> None:
    sigma, _ = simulated(2, 0)
    # σ of links 1–2 and 3–4 share no link, and are independent
    # so that p_c of them, each its own cumulative probability, is uniform
    for thinned in (sigma[::2], sigma[1::2]):
        assert stats.kstest(theory.join_probability(thinned), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n_snapshots", [2, 3, 5, 20])
def test_sigma_squared_has_the_published_mean_and_variance(n_snapshots: int) -> None:
    squares = [simulated(n_snapshots, seed)[0] ** 2 for seed in range(CHAINS)]
    expected = float(theory.sigma_second_moment(n_snapshots))
    assert agrees([float(s.mean()) for s in squares], expected)
    assert np.mean(squares) == pytest.approx(expected, rel=0.01)
    spread = float(theory.sigma_squared_variance(n_snapshots))
    assert agrees([float(s.var()) for s in squares], spread)
    assert np.var(squares) == pytest.approx(spread, rel=0.03)


def cutoff_at(hierarchy: Hierarchy, fraction: float) -> float:
    """Lowest cutoff at which so many links are in clusters of at least 10."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        reached = np.mean(sizes_seen(hierarchy, middle) >= 10) >= fraction
        low, high = (low, middle) if reached else (middle, high)
    return high


def test_the_step_sharpens_with_the_number_of_snapshots() -> None:
    widths, halves = [], []
    for n_snapshots in (2, 5, 20, 50, 200):
        _, hierarchy = simulated(n_snapshots, 0)
        widths.append(cutoff_at(hierarchy, 0.9) - cutoff_at(hierarchy, 0.1))
        halves.append(cutoff_at(hierarchy, 0.5))
    assert (np.diff(widths) < 0).all(), widths
    # σ spreads as 1/√N, and the step with it
    assert widths[-2] / widths[-1] == pytest.approx(2, rel=0.15)
    assert halves[-1] == pytest.approx(0.49, abs=0.005)
    assert halves[-1] > theory.step()  # it comes from above
    assert (np.diff(np.abs(np.array(halves[2:]) - theory.step())) < 0).all(), halves


def test_neighbours_in_the_sequence_and_links_at_a_joint_are_the_same() -> None:
    rods = objects.links(synthetic.chain(500, 3, seed=2))
    shared, neighbours = (measure(rods, choose(rods)) for choose in (pairs.sharing, pairs.sequence))
    assert shared.pairs.tolist() == neighbours.pairs.tolist()
    assert shared.sigma.tobytes() == neighbours.sigma.tobytes()


def test_the_length_of_a_link_is_the_unit_of_sigma() -> None:
    short, long = (objects.links(synthetic.chain(300, 4, link_length=a)) for a in (1.0, 1.54))
    first, second = (measure(rods, pairs.sharing(rods)).sigma for rods in (short, long))
    assert second == pytest.approx(1.54 * first, rel=1e-12)


def test_joints_as_points_are_one_cluster_at_every_cutoff() -> None:
    joints = objects.points(synthetic.chain(N_LINKS, 20))
    sigma = measure(joints, pairs.sequence(joints))
    # A link never changes its length, but for rounding: joints are up to 300 from the origin.
    assert sigma.sigma.max() < 300 * 4 * np.finfo(np.float64).eps
    assert link(sigma).cut(1e-9).n_clusters == 1


def test_curves_count_the_same_clusters() -> None:
    _, hierarchy = simulated(2, 0)
    curves = statistics.curves(hierarchy, cutoffs=CUTOFFS)
    seen = [sizes_seen(hierarchy, cutoff) for cutoff in CUTOFFS]
    assert curves.mean_size == pytest.approx(np.array([sizes.mean() for sizes in seen]))
    assert curves.large_fraction == pytest.approx(np.array([np.mean(s >= 10) for s in seen]))
    for r, fractions in zip(range(1, 6), curves.size_fractions, strict=True):
        assert fractions == pytest.approx(np.array([np.mean(sizes == r) for sizes in seen]))
