"""Reference and golden tests of agreement at all pairs of cutoffs, and of its chance level."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest
from sklearn.metrics import adjusted_rand_score, mutual_info_score

import timme
from tests.golden import HERE, load_arrays
from timme.comparison import agree, overlap
from timme.hierarchy.tree import SIGMA, grow

KEPT = load_arrays(HERE / "science" / "comparison.npz") if HERE.is_dir() else {}


def tree_of(points: np.ndarray) -> timme.Hierarchy:
    """Single linkage of points, by their distances."""
    return timme.link(np.linalg.norm(points[:, None] - points[None], axis=2))


def chain(n_sites: int, seed: int, noise: float = 0.0) -> timme.Hierarchy:
    """Single linkage of a random walk in space, whose neighbours are near one another."""
    walk = np.cumsum(np.random.default_rng(seed).normal(size=(n_sites, 3)), axis=0)
    return tree_of(walk + noise * np.random.default_rng(seed + 1).normal(size=walk.shape))


@pytest.mark.parametrize("pair", ["adk, 4ake-1ake", "barnase", "open, weighted"])
def test_indices_of_golden_pairs_agree(pair: str) -> None:
    trees = [
        timme.Hierarchy(KEPT[f"{pair}.{side}.parents"], KEPT[f"{pair}.{side}.heights"], SIGMA)
        for side in ("first", "second")
    ]
    found = agree(*trees)
    known = [KEPT[f"{pair}.{side}_cutoffs"] for side in ("first", "second")]
    places = [np.searchsorted(mine, kept) for mine, kept in zip(found.cutoffs, known, strict=True)]
    for mine, kept, place in zip(found.cutoffs, known, places, strict=True):
        assert np.array_equal(mine[place], kept)
    assert_allclose(found.rand[np.ix_(*places)], KEPT[f"{pair}.rand"], atol=1e-12)
    assert_allclose(found.variation[np.ix_(*places)], KEPT[f"{pair}.variation"], atol=1e-12)


def test_indices_are_those_of_scikit_learn() -> None:
    first, second = chain(60, 1), chain(60, 7)
    found = agree(first, second)
    for row, one in list(enumerate(found.cutoffs[0]))[::9]:
        for column, other in list(enumerate(found.cutoffs[1]))[::11]:
            labels = first.cut(one).labels, second.cut(other).labels
            assert found.rand[row, column] == pytest.approx(adjusted_rand_score(*labels), abs=1e-12)
            entropies = [mutual_info_score(each, each) for each in labels]
            variation = sum(entropies) - 2 * mutual_info_score(*labels)
            assert found.variation[row, column] == pytest.approx(variation, abs=1e-9)


def test_a_noisy_copy_agrees_with_the_least_p() -> None:
    found = agree(chain(120, 3), chain(120, 3, noise=0.1))
    assert found.chance is not None
    assert found.chance.p == 1 / (1 + len(found.chance.rand))
    assert found.best_rand > found.chance.high


def test_p_of_unrelated_sites_is_no_smaller_than_uniform() -> None:
    def scattered(seed: int) -> timme.Hierarchy:
        return tree_of(np.random.default_rng(seed).normal(size=(60, 3)))

    found = [agree(scattered(seed), scattered(100 + seed)).chance for seed in range(40)]
    p = [chance.p for chance in found if chance is not None]
    # shifts of independent sites can be exchanged
    assert kstest(p, "uniform", alternative="greater").pvalue > 1e-3


def test_the_best_pair_is_that_of_the_cores_and_not_of_a_helix_in_them() -> None:
    def cores(first: int, last: int) -> timme.Hierarchy:
        links = np.column_stack([np.arange(99), np.arange(1, 100)])
        helix, core = (
            (links >= low).all(axis=1) & (links < high).all(axis=1)
            for low, high in ((20, 31), (first, last))
        )
        return grow(100, links, np.select([helix, core], [1.0, 2.0], np.inf))

    found = agree(cores(5, 80), cores(15, 85))
    assert found.rand[1, 1] == 1.0  # the helix, which both have
    assert found.best_cutoffs == (2.0, 2.0)


def test_the_best_pair_of_planted_groups_is_their_partition() -> None:
    rng = np.random.default_rng(0)
    centres = 20.0 * rng.normal(size=(4, 3))
    groups = np.repeat(np.arange(4), 20)
    first, second = (tree_of(centres[groups] + rng.normal(size=(80, 3))) for _ in range(2))
    found = agree(first, second, along_chain=False)
    assert found.best_rand == 1.0
    assert overlap(found.clusters.first, groups).jaccard.tolist() == [1.0] * 4
    low, high = found.ranges[0]
    assert low <= found.best_cutoffs[0] < high


def test_a_partition_has_one_cutoff() -> None:
    found = agree(chain(50, 1), np.repeat([0, 1], 25), cutoffs=(2.0, 0.0))
    assert found.rand.shape[1] == 1
    assert found.clusters.first.cutoff == 2.0


def test_few_sites_have_no_chance_level() -> None:
    assert agree(chain(39, 1), chain(39, 1)).chance is None


def test_different_numbers_of_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="same in both, got 50 and 51"):
        agree(chain(50, 1), chain(51, 1))
