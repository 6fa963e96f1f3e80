"""Pairs within a cutoff; these run without compilation as well."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import boxes, seeds
from timme._arrays import Floats
from timme._kernels import neighbours
from timme.system.boxes import box_matrices
from timme.system.neighbours import have_partners, pairs_within
from timme.system.space import Boxes


def within(points: Floats, radius: float, box: Floats | None = None) -> list[tuple[int, int]]:
    """Pairs found, sorted."""
    n_points, n_dimensions = points.shape
    matrices = None if box is None else box_matrices(box, 1, n_dimensions)
    found = pairs_within(points, radius, Boxes.of(matrices, 1, n_dimensions))
    assert len(found) <= n_points * (n_points - 1) // 2, "a pair is found twice"
    return sorted((int(i), int(j)) for i, j in found)


@given(seeds, st.integers(1, 5), st.integers(1, 14), st.sampled_from([0.05, 0.3, 1.0, 4.0]))
def test_open_space_agrees_with_the_reference(
    seed: int, n_dimensions: int, n_points: int, radius: float
) -> None:
    points = np.random.default_rng(seed).normal(size=(n_points, n_dimensions))
    assert within(points, radius) == naive.contacts(points[None], radius)


@given(st.data(), seeds, st.integers(1, 3), st.sampled_from([0.2, 0.7, 1.5, 5.0]))
def test_boxes_agree_with_the_reference(
    data: st.DataObject, seed: int, n_dimensions: int, radius: float
) -> None:
    box = data.draw(boxes(1, n_dimensions))
    points = np.random.default_rng(seed).normal(scale=4, size=(9, n_dimensions))
    assert within(points, radius, box[0]) == naive.contacts(points[None], radius, boxes=box)


@given(st.data(), seeds, st.integers(1, 3), st.sampled_from([0.2, 0.7, 1.5, 5.0]))
def test_those_with_a_partner_agree_with_the_reference(
    data: st.DataObject, seed: int, n_dimensions: int, radius: float
) -> None:
    box = data.draw(boxes(1, n_dimensions)) if data.draw(st.booleans()) else None
    points = np.random.default_rng(seed).normal(scale=4, size=(9, n_dimensions))
    points[np.random.default_rng(seed).random(9) < 0.2] = np.nan
    matrices = None if box is None else box_matrices(box, 1, n_dimensions)
    found = have_partners(points, radius, Boxes.of(matrices, 1, n_dimensions))
    pairs = naive.contacts(points[None], radius, boxes=box)
    assert set(np.flatnonzero(found).tolist()) == {point for pair in pairs for point in pair}


def test_a_crowd_in_one_place_is_soon_known() -> None:
    crowd = np.zeros((100_000, 3))  # of which there are five thousand million pairs
    crowd[-1] = 5.0
    found = have_partners(crowd, 0.5, Boxes.of(None, 1, 3))
    assert found[:-1].all()
    assert not found[-1]


@pytest.mark.parametrize("cells", [0.9, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])
def test_boxes_of_few_cells_count_every_pair_once(cells: float) -> None:
    points = np.random.default_rng(1).uniform(0, cells, (12, 2))
    box = np.diag([cells, cells])
    assert within(points, 1.0, box) == naive.contacts(points[None], 1.0, boxes=box[None])


@given(seeds, st.sampled_from([1e3, 1e9, 1e300]))
def test_a_far_outlier_hides_nothing(seed: int, far: float) -> None:
    points = np.random.default_rng(seed).normal(size=(10, 2))
    points[3, 0] = far
    assert within(points, 1.0) == naive.contacts(points[None], 1.0)


def test_points_in_one_place_touch_at_no_distance() -> None:
    assert within(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]), 0.0) == [(0, 1)]


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 4])
def test_points_all_in_one_place_are_all_in_contact(n_dimensions: int) -> None:
    assert len(within(np.full((7, n_dimensions), 2.5), 1e-9)) == 21


def test_no_points_have_no_contacts() -> None:
    assert within(np.empty((0, 3)), 1.0) == []


@given(seeds)
def test_points_in_far_clumps_agree_with_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(16, 2)) + 10.0 ** rng.integers(0, 12, (16, 1))
    assert within(points, 1.5) == naive.contacts(points[None], 1.5)


def test_a_distance_equal_to_the_radius_is_a_contact() -> None:
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1).reshape(-1, 2)
    assert len(within(grid, 1.0)) == 24
    assert len(within(grid, 1.0, np.diag([4.0, 4.0]))) == 32


def test_too_little_room_is_told_by_the_number_that_is_needed() -> None:
    points, open_space = np.zeros((5, 2)), Boxes.of(None, 1, 2)
    one = np.ones(3, np.int64)
    found = np.empty(3, np.int64)
    total = neighbours.pairs_within(
        points,
        np.zeros((5, 3), np.int64),
        one,
        np.zeros(3, np.bool_),
        1.0,
        open_space.matrices[0],
        open_space.inverses[0],
        open_space.kind,
        open_space.molecules,
        found,
    )
    assert total == 10
    assert found.tolist() == [1, 2, 3]  # 0 with 1, 2 and 3


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_keys_are_counted_as_one_would(before: list[int], more: list[int]) -> None:
    first, expected = Counter(before), Counter(before + more)
    keys, counts = np.zeros((2, len(expected)), np.int64)
    keys[: len(first)] = sorted(first)
    counts[: len(first)] = [first[key] for key in sorted(first)]
    found = np.array(sorted(set(more)), np.int64)
    found_counts = np.array([more.count(key) for key in sorted(set(more))], np.int64)
    n_first = len(first)
    assert n_first + neighbours.count_new(keys[:n_first], found) == len(expected)
    neighbours.merge_counts(keys[:n_first], counts[:n_first], found, found_counts, keys, counts)
    assert keys.tolist() == sorted(expected)
    assert counts.tolist() == [expected[key] for key in sorted(expected)]
