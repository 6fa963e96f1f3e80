"""Tests on hand-made trees of differences at equal cutoffs."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from timme.comparison import difference
from timme.hierarchy.tree import Hierarchy, Quantity, grow

ENERGY = Quantity("E", "kcal/mol")


def line(*heights: float) -> Hierarchy:
    """Sites in a row, each joined to the next at a height."""
    edges = np.column_stack([np.arange(len(heights)), np.arange(1, len(heights) + 1)])
    return grow(len(heights) + 1, edges, np.array(heights), quantity=ENERGY)


def test_delta_is_the_difference_of_core_heights() -> None:
    found = difference(
        line(-3.0, -2.0, -1.0),
        line(-3.0, -2.5, -0.5),
        spreads=(np.full(4, 0.3), np.full(4, 0.4)),
        bonds=({"a", "b"}, {"b", "c"}),
    )
    assert found is not None
    assert found.error is not None
    assert_allclose(found.delta, [0.0, 0.0, -0.5, 0.5])
    assert_allclose(found.error, 0.5)
    assert (found.gained, found.lost) == (("c",), ("a",))
    assert found.largest[:, found.cutoffs == -2.0].tolist() == [[3], [3]]


def test_different_quantities_have_no_difference() -> None:
    sigma = grow(2, np.array([[0, 1]]), np.array([0.1]))
    assert difference(sigma, line(-1.0)) is None
