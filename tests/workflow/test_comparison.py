"""What is told of a comparison in a few rows."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from timme.settings import CompareSettings
from timme.workflow.comparison import compare_results, rows


@pytest.mark.parametrize(
    ("higher", "told"),
    [
        (0.3, "from 0.101 to 0.3"),
        (0.10104, "from 0.101 to 0.10104"),
        (0.101002, "from 0.101 to 0.101002"),
    ],
)
def test_ends_of_a_span_have_digits_enough_to_differ(higher: float, told: str) -> None:
    """Two fours that form at 0.101 and join a little higher."""
    same = np.arange(8) // 4
    sigma = np.where(same[:, None] == same, 0.101, higher) * (1 - np.eye(8))
    made = timme.analyse(sigma)
    found = rows(compare_results(made, made, CompareSettings()))
    (span,) = [text for _, text in found if text.startswith("the same clusters")]
    assert span == f"the same clusters {told} and {told}"


def test_it_is_said_why_a_better_pair_was_not_the_best() -> None:
    """Forty sites join at 1 into two halves, at 2 into all but one, at 3 into one."""
    parts = np.repeat([0, 1, 2], [20, 19, 1])
    levels = np.array([[1.0, 2, 3], [2, 1, 3], [3, 3, 1]])
    made = timme.analyse(levels[parts][:, parts] * (1 - np.eye(40)))
    asked = CompareSettings(cutoffs=(2.5, 2.5))
    told = [text for _, text in rows(compare_results(made, made, asked, names=("a", "b")))]
    assert told[-1] == (
        "not looked at for the best pair: "
        "39 of 40 sites of a are one cluster and 39 of 40 sites of b are one cluster"
    )
    inside = CompareSettings(cutoffs=(1.5, 0.5))
    told = [text for _, text in rows(compare_results(made, made, inside, names=("a", "b")))]
    assert told[-1].endswith("best pair: 0 of 40 sites of b are in clusters")
    inside = CompareSettings(cutoffs=(1.5, 1.5))
    told = [text for _, text in rows(compare_results(made, made, inside))]
    assert told[-1].startswith("adjusted Rand index 1.000")
    assert any(
        "more than 25% of the sites are in clusters and more than 5% outside the largest" in text
        for text in told
    )
