"""Contacts over many snapshots at once are those of one snapshot after another."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.strategies import boxes, rigid_motions, searching, seeds
from timme._arrays import Floats
from timme.pairs.paths import Meeting, Window, cut_windows
from timme.system.blocks import Block
from timme.system.boxes import box_matrices
from timme.system.ensemble import Ensemble
from timme.system.held_frames import ArrayFrames
from timme.system.images import Images
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes

Pair = tuple[int, int]


def found_in(ensemble: Ensemble, radius: float, **options: Any) -> list[Pair]:
    index = timme.pairs.within(timme.objects.points(ensemble), radius, **options).index
    assert index is not None
    return [(int(i), int(j)) for i, j in index]


def one_by_one(ensemble: Ensemble, radius: float, at_least: int = 1) -> list[Pair]:
    """Look for contacts in each snapshot by itself, through a grid of cells."""
    counts = Counter[Pair]()
    for block in ensemble.blocks():
        n_frames, _, n_dimensions = block.coordinates.shape
        around = Boxes.of(block.boxes, n_frames, n_dimensions, block.images)
        for frame, points in enumerate(block.coordinates):
            counts.update(map(tuple, pairs_within(points, radius, around, frame).tolist()))
    return sorted(pair for pair, count in counts.items() if count >= at_least)


def walkers(
    seed: int, n_frames: int, n_points: int, n_dimensions: int, *, step: float, span: float = 6.0
) -> Floats:
    """Points that start anywhere and walk at random."""
    rng = np.random.default_rng(seed)
    starts = rng.uniform(0, span, (1, n_points, n_dimensions))
    steps = step * rng.normal(size=(n_frames, n_points, n_dimensions))
    walked: Floats = starts + np.cumsum(steps, axis=0)
    return walked


steps = st.sampled_from([0.0, 0.01, 0.2, 2.0])
kinds = st.sampled_from([np.float32, np.float64])


@searching(60)
@given(seeds, steps, kinds, st.integers(1, 12), st.sampled_from([1, 2, 3, 5, 50]), st.data())
def test_walkers_in_open_space(
    seed: int, step: float, kind: Any, n_frames: int, n_dimensions: int, data: st.DataObject
) -> None:
    array = walkers(seed, n_frames, 90, n_dimensions, step=step).astype(kind)
    ensemble = Ensemble.from_array(array)
    radius = data.draw(st.sampled_from([0.3, 1.0, 2.5])) * np.sqrt(n_dimensions)
    at_least = data.draw(st.integers(1, n_frames))
    assert found_in(ensemble, radius, at_least=at_least) == one_by_one(ensemble, radius, at_least)


@searching(20)
@given(seeds, kinds, st.sampled_from([31, 32, 33, 98]), st.sampled_from([0.0, 0.3, 0.95]))
def test_points_that_stay_near_where_they_are_for_long(
    seed: int, kind: Any, n_frames: int, unseen: float
) -> None:
    array = walkers(seed, n_frames, 70, 3, step=0.005).astype(kind)
    array[np.random.default_rng(seed + 1).random((n_frames, 70)) < unseen] = np.nan
    ensemble = Ensemble.from_array(array, gaps=unseen > 0)
    for at_least in (1, 2):
        assert found_in(ensemble, 1.5, at_least=at_least) == one_by_one(ensemble, 1.5, at_least)


@searching(60)
@given(st.data(), seeds, steps, kinds, st.integers(1, 3), st.booleans())
def test_walkers_in_boxes_that_vary_and_molecules_that_are_whole(
    data: st.DataObject, seed: int, step: float, kind: Any, n_dimensions: int, whole: bool
) -> None:
    n_frames = data.draw(st.integers(1, 6))
    around = 2 * data.draw(boxes(n_frames, n_dimensions))
    array = walkers(seed, n_frames, 60, n_dimensions, step=step, span=20.0).astype(kind)
    ensemble = Ensemble.from_array(array, boxes=box_matrices(around, n_frames, n_dimensions))
    if whole:
        ensemble = replace(ensemble, images=Images(np.arange(60) // 3))
    at_least = data.draw(st.integers(1, n_frames))
    radius = data.draw(st.sampled_from([0.5, 2.0, 7.0]))
    assert found_in(ensemble, radius, at_least=at_least) == one_by_one(ensemble, radius, at_least)


@searching(40)
@given(seeds, steps, st.sampled_from([0.05, 0.5, 0.95]), st.integers(1, 3))
def test_walkers_that_are_not_always_seen(
    seed: int, step: float, unseen: float, at_least: int
) -> None:
    array = walkers(seed, 8, 70, 3, step=step)
    rng = np.random.default_rng(seed + 1)
    array[rng.random((8, 70)) < unseen] = np.nan
    array[3, 5, 1] = np.nan  # in one coordinate alone
    array[:, 7] = np.nan
    ensemble = Ensemble.from_array(array, gaps=True)
    assert found_in(ensemble, 1.5, at_least=at_least) == one_by_one(ensemble, 1.5, at_least)


@searching(40)
@given(st.data(), seeds, st.integers(1, 3))
def test_a_body_that_tumbles(data: st.DataObject, seed: int, n_dimensions: int) -> None:
    body = walkers(seed, 12, 60, n_dimensions, step=0.05)
    moved = data.draw(rigid_motions(12, n_dimensions)).move(body)
    ensemble = Ensemble.from_array(moved)
    assert found_in(ensemble, 1.0) == one_by_one(ensemble, 1.0)
    assert found_in(ensemble, 1.0, at_least=7) == naive.contacts(moved, 1.0, at_least=7)


def test_a_body_that_tumbles_is_searched_at_once() -> None:
    rng = np.random.default_rng(0)
    body = rng.uniform(0, 30, (1, 200, 3)) + 0.1 * rng.normal(size=(64, 200, 3))
    turns, _ = np.linalg.qr(rng.normal(size=(64, 3, 3)))
    for array in (body, body @ turns + rng.normal(scale=50, size=(64, 1, 3))):
        (window,) = cut_windows(Meeting(4.0, 1), Ensemble.from_array(array).block(0))
        assert window.stop == 64


@pytest.mark.parametrize("n_snapshots", [8, 20, 70])
def test_many_points_in_memory_are_searched_in_long_blocks(
    monkeypatch: pytest.MonkeyPatch, n_snapshots: int
) -> None:
    array = walkers(0, n_snapshots, 60, 3, step=0.005).astype(np.float32)
    ensemble = Ensemble.from_array(array)
    expected = one_by_one(ensemble, 1.0)
    searched = list[int]()

    def watch(meeting: Meeting, block: Block) -> Iterator[Window]:
        searched.append(len(block.coordinates))
        yield from cut_windows(meeting, block)

    monkeypatch.setattr("timme.system.ensemble._BLOCK_BYTES", 0)  # as if there were very many
    monkeypatch.setattr("timme.pairs.meetings.cut_windows", watch)
    assert found_in(ensemble, 1.0) == expected
    assert searched == [min(32, n_snapshots - start) for start in range(0, n_snapshots, 32)]
    assert ensemble.block_length == 8  # that of what is added up

    searched.clear()
    monkeypatch.setattr(ArrayFrames, "in_memory", False)  # as if it were a file
    assert found_in(ensemble, 1.0) == expected
    assert max(searched) == 8


def test_snapshots_that_have_nothing_in_common_are_searched_one_by_one() -> None:
    array = np.random.default_rng(0).uniform(0, 300, (16, 500, 3))
    ensemble = Ensemble.from_array(array)
    windows = list(cut_windows(Meeting(4.0, 1), ensemble.block(0)))
    assert [window.stop for window in windows] == list(range(1, 17))
    assert found_in(ensemble, 4.0) == one_by_one(ensemble, 4.0)


def test_what_goes_through_a_wall_does_not_go_far() -> None:
    array = walkers(3, 40, 300, 3, step=0.05, span=12.0)
    assert np.ptp(array % 12.0, axis=0).max() > 11.9
    ensemble = Ensemble.from_array(array % 12.0, boxes=[12.0, 12.0, 12.0])
    (window,) = cut_windows(Meeting(3.0, 1), ensemble.block(0))
    assert window.stop == 40
    assert found_in(ensemble, 3.0) == one_by_one(ensemble, 3.0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_distances_that_equal_the_radius_are_contacts_in_any_precision(
    kind: Any, shift: float
) -> None:
    """In a grid, also one far from the origin, where single precision keeps two binary digits."""
    grid = np.stack(np.meshgrid(*3 * [np.arange(5.0)]), -1).reshape(1, -1, 3) + shift
    ensemble = Ensemble.from_array(np.repeat(grid, 3, axis=0).astype(kind))
    for square, n_expected in ((1, 300), (2, 300 + 480), (3, 300 + 480 + 256)):
        above = float(np.nextafter(np.sqrt(square), 2.0))
        assert len(found_in(ensemble, above, at_least=3)) == n_expected
        assert found_in(ensemble, np.sqrt(square)) == one_by_one(ensemble, np.sqrt(square))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_hairs_around_the_radius_count_as_in_double_precision(kind: Any) -> None:
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(1, 400, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    array = (10.0 * directions * (1 + 1e-7 * rng.normal(size=(6, 400, 1)))).astype(kind)
    array[:, 0] = 0.0
    ensemble = Ensemble.from_array(array)
    for at_least in (1, 3, 6):
        found = found_in(ensemble, 10.0, at_least=at_least)
        assert found == one_by_one(ensemble, 10.0, at_least)
    assert 0 < sum(i == 0 for i, _ in found) < 399


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_very_small_and_very_large_coordinates(scale: float, kind: Any) -> None:
    array = (scale * walkers(0, 3, 50, 3, step=0.1)).astype(kind)
    ensemble = Ensemble.from_array(array)
    assert found_in(ensemble, scale) == one_by_one(ensemble, scale)


def test_a_crowd_finds_room() -> None:
    crowd = np.random.default_rng(0).normal(size=(2, 1_500, 3))
    points = timme.objects.points(Ensemble.from_array(crowd))
    assert len(timme.pairs.within(points, 100.0)) == 1_500 * 1_499 // 2


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_points_are_enough(count: int) -> None:
    ensemble = Ensemble.from_array(np.zeros((2, count, 2)))
    assert len(found_in(ensemble, 1.0)) == count * (count - 1) // 2


def test_any_number_of_workers_finds_the_same() -> None:
    ensemble = Ensemble.from_array(walkers(0, 300, 400, 3, step=0.3, span=15.0))
    expected = found_in(ensemble, 2.0, at_least=5, workers=1)
    assert expected == one_by_one(ensemble, 2.0, 5)
    for workers in (2, 7):
        assert found_in(ensemble, 2.0, at_least=5, workers=workers) == expected
