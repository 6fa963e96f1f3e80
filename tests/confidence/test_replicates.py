"""Hierarchies of draws are those of all pairs, though few pairs are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.confidence import reference
from timme.confidence.draws import cut_into_parts, draw
from timme.confidence.replicates import pairs_that_matter, resampled_hierarchies
from timme.confidence.support import interval, match
from timme.fluctuations.resampling import PartSums
from timme.fluctuations.sums import sum_parts
from timme.hierarchy import grow
from timme.system.ensemble import Ensemble


def wandering_sums(seed: int, n_sites: int = 12) -> PartSums:
    rng = np.random.default_rng(seed)
    slow = np.cumsum(rng.normal(size=(30, n_sites, 3)), axis=0) * 0.2
    array = rng.uniform(0, 10, (n_sites, 3)) + slow + rng.normal(size=(30, n_sites, 3)) * 0.3
    points = timme.objects.points(Ensemble.from_array(array))
    index = next(timme.pairs.all(points).chunks(10_000))
    return sum_parts(points, index, cut_into_parts(30, n_parts=10)[0])


@given(st.integers(0, 2**31))
def test_pruned_hierarchies_are_those_of_all_pairs(seed: int) -> None:
    sums = wandering_sums(seed)
    times = draw(30, 10.0, n_draws=8, seed=seed % 1000).times[:, :10]
    pruned = resampled_hierarchies(sums, times)
    sigma = sums.sigma(times).astype(np.float64)
    for tree, heights in zip(pruned, sigma.T, strict=True):
        whole = grow(12, sums.pairs, heights)
        assert tree.parents.tolist() == whole.parents.tolist()
        np.testing.assert_allclose(tree.heights, whole.heights, rtol=1e-5)


def test_few_pairs_matter() -> None:
    points = timme.objects.points(timme.synthetic.hinged(3, 30, 500).ensemble)
    index = next(timme.pairs.all(points).chunks(10_000))
    draws = draw(500, 500.0)
    sums = sum_parts(points, index, draws.parts)
    assert len(pairs_that_matter(sums, draws.times)) < len(index) / 2


@given(st.integers(0, 2**31))
def test_support_is_the_mean_of_the_best_overlaps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(8) for j in range(i + 1, 8)])
    sigmas = [rng.integers(1, 9, len(pairs)).astype(float) for _ in range(3)]
    masks = rng.random((4, 8)) < 0.5
    masks[:, 0] = True
    found = match(masks, [grow(8, pairs, heights) for heights in sigmas])
    for place, mask in enumerate(masks):
        cluster = frozenset(np.flatnonzero(mask).tolist())
        expected = [
            reference.overlap(cluster, reference.every_cluster(8, pairs, heights))
            for heights in sigmas
        ]
        assert found.overlaps[:, place].tolist() == pytest.approx(expected)
        assert found.support[place] == pytest.approx(np.mean(expected))


def test_births_and_deaths_are_those_of_the_best_cluster() -> None:
    pairs, heights = np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), np.array([1.0, 5.0, 2.0, 3.0])
    found = match(np.array([[False, False, True, True, True]]), [grow(5, pairs, heights)])
    assert (found.overlaps[0, 0], found.births[0, 0], found.deaths[0, 0]) == (1.0, 3.0, 5.0)
    assert frozenset({2, 3, 4}) in naive.clusters(5, pairs, heights, 3.0)


def test_intervals_take_the_bias_off_and_hold_nine_of_ten() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        estimate = np.exp(rng.normal(0.0, 0.1))  # of a truth of 1
        resampled = estimate * np.exp(0.05 + rng.normal(0.0, 0.1, 200))
        low, high = interval(estimate * np.exp(0.05), resampled * np.exp(0.05)) or (0.0, 0.0)
        covered += low <= 1.0 <= high
    # 400 times 0.9, within three standard errors of the count.
    assert covered / 400 == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / 400) + 0.02)


def test_a_cutoff_that_is_seldom_found_has_no_interval() -> None:
    assert interval(1.0, np.array([1.0, np.nan, np.nan, np.nan, np.nan, np.nan])) is None
    assert interval(np.inf, np.ones(10)) is None


def test_parts_are_of_about_equal_length_and_never_shared() -> None:
    parts, counts = cut_into_parts(1000, replicas=[100, 900])
    assert sum(counts) == len(parts) == 64
    assert counts == (6, 58)
    assert [part.start for part in parts][6] == 100
    assert {len(part) for part in parts} <= {15, 16, 17}
    assert [len(part) for part in cut_into_parts(5)[0]] == [1] * 5
    with pytest.raises(ValueError, match="10 snapshots together"):
        cut_into_parts(10, replicas=[3, 3])


@pytest.mark.parametrize(
    ("n_effective", "length"), [(640.0, 1), (32.0, 4), (10.0, 13), (3.0, 21), (1.0, 21)]
)
def test_runs_cover_twice_the_distance_of_independent_snapshots(
    n_effective: float, length: int
) -> None:
    # Of 64 parts, 2 / n_effective; never more than a third of all.
    assert draw(6400, n_effective).length == length


def test_intervals_of_few_long_runs_reach_further() -> None:
    # Student's quantile of 63 degrees of freedom is 1.669; independent snapshots lose nothing.
    assert draw(6400, 1e9).reach(1e9) == pytest.approx(1.669, abs=1e-3)
    # About 2.92, that of 2 degrees of freedom, for 64 / 21 runs; they lose half, at most.
    assert draw(6400, 3.0).reach(3.0) == pytest.approx(2.92 / np.sqrt(0.5), rel=0.02)
