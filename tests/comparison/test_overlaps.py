"""Reference tests of the overlap of two partitions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from tests.golden import HERE, load_arrays
from timme.comparison import agree, overlap


@pytest.mark.parametrize("name", ["overlap", "overlap by chance"])
def test_golden_overlaps_agree(name: str) -> None:
    kept = load_arrays(HERE / "science" / "comparison.npz")
    facts = kept["facts"]
    labels = [kept[f"{name}.{side}.labels"] for side in ("first", "second")]
    found = agree(labels[0], labels[1], min_size=3)
    assert found.rand == pytest.approx(facts[f"{name}.rand"], abs=1e-12)
    assert found.variation == pytest.approx(facts[f"{name}.variation"], abs=1e-12)
    assert found.clusters.partners.tolist() == facts[f"{name}.partners"]


def test_clusters_are_matched_by_shared_sites_once_each() -> None:
    first = np.array([0] * 12 + [1] * 11 + [2] * 3)
    second = np.array([0] * 12 + [1] * 2 + [0] * 9 + [2] * 3)
    found = overlap(first, second, min_size=3)
    # 21 sites of the second's first cluster hold 12 of the first's and 9 of its second
    assert_array_equal(found.partners, [0, 2, -1])
    wanted = adjusted_rand_score(first, second)
    assert agree(first, second).best_rand == pytest.approx(wanted, abs=1e-12)


def test_equal_partitions_agree_whatever_their_labels() -> None:
    found = agree([3, 3, -1, -1, -1], [0, 0, 7, 7, 7], min_size=1)
    assert (found.best_rand, found.variation[found.best]) == (1.0, 0.0)
    assert found.clusters.jaccard.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0, 1], [0, 1, 1], "2 sites, the same in both, got 2 and 3"),
        ([0.5, 1.0], [0, 1], "whole number for each site"),
        ([], [], "whole number for each site"),
    ],
)
def test_no_partitions_are_refused(first: list[int], second: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        overlap(first, second)
