"""Clusters are numbered from the largest on."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from timme.hierarchy.labels import rank_labels


@given(st.lists(st.integers(-2, 6), max_size=20))
def test_the_largest_comes_first_and_of_equals_the_one_with_the_lowest_site(
    labels: list[int],
) -> None:
    clusters = {label for label in labels if label >= 0}
    ranking = sorted(clusters, key=lambda label: (-labels.count(label), labels.index(label)))
    expected = [ranking.index(label) if label >= 0 else -1 for label in labels]
    assert rank_labels(np.array(labels, dtype=np.int64)).tolist() == expected
