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
