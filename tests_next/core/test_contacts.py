"""Reference and invariant tests of points in contact."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests_next import naive
from tests_next.strategies import boxed_snapshots, gapped_snapshots, moved_snapshots, snapshots
from timme_next.contacts import find_contacts
from timme_next.engine.checkpoint import Run
from timme_next.engine.workers import Threads
from timme_next.ensemble import Ensemble, Images

Floats = naive.Floats


def contacts(
    array: Floats, radius: float, *, at_least: int = 1, **options: Any
) -> list[tuple[int, int]]:
    ensemble = Ensemble.from_array(array, **options)
    found = find_contacts(ensemble, radius, at_least=at_least)
    return [(i, j) for i, j in found.tolist()]


def half_width(boxes: Floats) -> float:
    """Half the least distance between opposite sides of any of the boxes."""
    inverses = np.linalg.inv(boxes)
    return float(0.5 / np.linalg.norm(inverses, axis=1).max())


@given(snapshots(max_sites=30), st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0]), st.integers(1, 2))
def test_contacts_agree_with_the_reference(array: Floats, radius: float, at_least: int) -> None:
    assert contacts(array, radius, at_least=at_least) == naive.contacts(
        array, radius, at_least=at_least
    )


@given(boxed_snapshots(max_sites=20), st.floats(0.05, 0.99), st.integers(1, 2))
def test_contacts_in_boxes_agree_with_the_reference(
    boxed: tuple[Floats, Floats], share: float, at_least: int
) -> None:
    array, boxes = boxed
    ensemble = Ensemble.from_array(array, boxes=boxes)
    reduced = np.array([ensemble.snapshot(k)[1] for k in range(len(array))])
    radius = share * half_width(reduced)
    expected = naive.contacts(array, radius, at_least=at_least, boxes=boxes)
    assert contacts(array, radius, at_least=at_least, boxes=boxes) == expected


@given(gapped_snapshots(max_sites=20), st.sampled_from([0.5, 2.0, 5.0]), st.integers(1, 2))
def test_contacts_of_gapped_tracks_agree_with_the_reference(
    array: Floats, radius: float, at_least: int
) -> None:
    found = contacts(array, radius, at_least=at_least, gaps=True)
    assert found == naive.contacts(array, radius, at_least=at_least)


@given(moved_snapshots(), st.sampled_from([0.5, 2.0]))
def test_moving_a_whole_snapshot_changes_nothing(
    moved: tuple[Floats, Floats], radius: float
) -> None:
    before, after = moved
    apart = np.linalg.norm(before[:, :, None] - before[:, None], axis=3)
    if np.abs(apart - radius).min() > 1e-9:  # what rounding may bring to the other side
        assert contacts(before, radius) == contacts(after, radius)


def test_contacts_of_several_blocks_and_windows_are_counted_together() -> None:
    rng = np.random.default_rng(1)
    array = np.cumsum(rng.normal(size=(300, 5, 2)), axis=0)
    array -= array.mean(axis=1, keepdims=True)
    for at_least in (1, 5, 20, 100):
        found = contacts(array, 3.0, at_least=at_least)
        assert found == naive.contacts(array, 3.0, at_least=at_least)


@pytest.mark.parametrize("boxes", [None, 9.0, [[9.0, 0, 0], [4.0, 9.0, 0], [-3.0, 2.0, 9.0]]])
def test_trees_of_many_levels_miss_nothing(boxes: Any) -> None:
    """600 points make 75 leaves in three levels; all distances are compared in NumPy."""
    rng = np.random.default_rng(0)
    array = rng.uniform(0, 9, (1, 600, 3)) + 0.3 * rng.normal(size=(4, 600, 3))
    array[:, 7] = np.nan  # never seen
    array[2, 50:90] = np.nan
    between = array[:, :, None] - array[:, None]
    if boxes is not None:
        matrix = np.ones(3) * boxes * np.eye(3) if np.ndim(boxes) == 0 else np.array(boxes)
        between -= np.rint(between @ np.linalg.inv(matrix)) @ matrix
    near = (np.linalg.norm(between, axis=3) <= 1.5).any(axis=0)
    expected = [(i, j) for i, j in np.argwhere(np.triu(near, 1)).tolist()]
    assert contacts(array, 1.5, boxes=boxes, gaps=True) == expected


def test_contacts_in_a_slab_go_through_its_sides_only() -> None:
    array = np.random.default_rng(3).uniform(-4, 4, (3, 12, 3))
    nearly_open = np.tile(np.diag([3.0, 1e6, 2.5]), (3, 1, 1))
    found = contacts(array, 1.0, boxes=[3.0, 0.0, 2.5])
    assert found == naive.contacts(array, 1.0, boxes=nearly_open)


def test_points_of_one_molecule_see_no_images_of_one_another() -> None:
    line = np.array([[[0.5], [3.0], [9.5]]])
    ensemble = Ensemble.from_array(line, boxes=10.0)
    assert find_contacts(ensemble, 1.5).tolist() == [[0, 2]]
    whole = replace(ensemble, images=Images(np.array([0, 1, 0])))
    assert find_contacts(whole, 1.5).tolist() == []


@pytest.mark.parametrize("box", [[2.4, 9.0], [[2.5, 0.0], [0.7, 2.4]]])  # 2.4 wide
def test_a_radius_above_half_the_box_is_refused(box: Any) -> None:
    ensemble = Ensemble.from_array(np.zeros((3, 3, 2)), boxes=box)
    with pytest.raises(ValueError, match=r"at most half the width of the box, 1\.2, got 1\.21"):
        find_contacts(ensemble, 1.21)
    assert len(find_contacts(ensemble, 1.19)) == 3


def test_more_contacts_than_memory_has_room_for_are_refused() -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 5, 2)))
    assert len(find_contacts(ensemble, 1.0, most=10)) == 10
    with pytest.raises(ValueError, match="more than 9 pairs are in contact"):
        find_contacts(ensemble, 1.0, most=9)


def test_a_thousand_points_on_one_place_are_all_in_contact() -> None:
    assert len(contacts(np.ones((2, 1000, 3)), 1e-9)) == 1000 * 999 / 2


def test_any_number_of_threads_finds_the_same() -> None:
    array = np.random.default_rng(5).normal(size=(20, 200, 3))
    ensemble = Ensemble.from_array(array)
    one, four = (find_contacts(ensemble, 1.0, run=Run(Threads(n))) for n in (1, 4))
    assert one.tolist() == four.tolist()


def test_time_grows_in_proportion_even_with_points_far_away() -> None:
    rng = np.random.default_rng(0)
    cloud = rng.uniform(0, 39, (1, 60_000, 3))  # one point per unit of volume
    find_contacts(Ensemble.from_array(cloud[:, :10]), 1.0)  # compiles
    for far in (1.0, 1e6):
        cloud[0, 0] = far
        start = time.process_time()
        found = find_contacts(Ensemble.from_array(cloud), 1.0)
        assert time.process_time() - start < 2  # all 1.8e9 pairs would take more
        # Within a radius of 1 are 4π/3 points; the border of the cloud has fewer.
        assert len(found) == pytest.approx(60_000 * 2 * np.pi / 3, rel=0.1)
