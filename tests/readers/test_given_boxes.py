"""Boxes that users give: what is understood, and what is told of the rest."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import timme
from tests import naive
from timme._arrays import Floats
from timme.objects import points
from timme.readers import read
from timme.system.boxes import box_matrices

PLACES = np.random.default_rng(0).uniform(0, 20, (6, 9, 3))


def volume(box: Floats) -> float:
    return abs(float(np.linalg.det(box)))


@pytest.mark.parametrize(
    "last",
    [
        (0.2, 0.1, 0.1),  # tilts, by which reducing the box took for ever
        (0, 0, 0),
        (1.57, 1.57, 1.57),  # radians
        (1, 1, 1),
        (5, 5, 5),
        (90, 90, 170),
        (-90, 90, 90),
        (90, 90, 19.9),
    ],
)
def test_what_are_no_angles_in_degrees_is_refused(last: tuple[float, ...]) -> None:
    for box in ([30, 30, 30, *last], [[30, 30, 30, *last]] * 6):
        with pytest.raises(ValueError, match=r"^box= cannot .*degrees.*tilts xy, xz, yz.*radians"):
            read(PLACES, box=box)


def test_tilts_are_told_as_the_lengths_and_angles_that_they_mean() -> None:
    with pytest.raises(ValueError, match="tilts") as refused:
        read(PLACES, box="30,40,50,0.2,-0.1,0.3")
    said = re.findall(r"pass ([-0-9., e]+);", str(refused.value))[0]
    found = box_matrices([float(word) for word in said.split(",")], 1, 3)[0]
    true = np.array([[30, 0, 0], [0.2 * 40, 40, 0], [-0.1 * 50, 0.3 * 50, 50]])
    # Each spans the lattice of the other: whole multiples, and as many as vectors.
    times = found @ np.linalg.inv(true)
    np.testing.assert_allclose(times, np.round(times), atol=1e-6)
    assert volume(found) == pytest.approx(30 * 40 * 50, rel=1e-6)


@pytest.mark.parametrize("last", [(33, 33, 33), (60, 60, 60), (90, 90, 150), (70.5, 109.5, 70.5)])
def test_angles_of_cells_are_taken(last: tuple[float, ...]) -> None:
    cosines = np.cos(np.radians(last))
    expected = 30**3 * np.sqrt(1 - (cosines**2).sum() + 2 * cosines.prod())
    assert volume(box_matrices([30, 30, 30, *last], 1, 3)[0]) == pytest.approx(expected)


def test_angles_with_an_open_direction_do_not_count() -> None:
    found = box_matrices([30, 40, 0, 0, 0, 90], 1, 3)[0]
    np.testing.assert_array_equal(found, np.diag([30.0, 40.0, 0.0]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("thin", [1.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_any_box_is_reduced_or_refused(seed: int, thin: float) -> None:
    """Vectors that are nearly parallel are shortened by many times others at once."""
    rng = np.random.default_rng(seed)
    matrix: Any = np.ones((3, 1)) * rng.normal(size=3) + thin * rng.normal(size=(3, 3))
    try:
        found = box_matrices(matrix, 1, 3)[0]
    except ValueError as error:
        assert "flat" in str(error)  # noqa: PT017, either will do
        assert thin < 1e-3
        return
    assert volume(found) == pytest.approx(volume(matrix), rel=1e-3)
    assert np.linalg.norm(found, axis=1).max() <= np.linalg.norm(matrix, axis=1).max() * (1 + 1e-9)


@pytest.mark.parametrize("row", [(0.0, 0.0, 0.0), (20.0, 20.0, 0.0)])
def test_a_snapshot_without_the_box_of_the_others_is_refused(row: tuple[float, ...]) -> None:
    boxes = np.full((6, 3), 20.0)
    boxes[4] = row
    with pytest.raises(ValueError, match=r"^box= cannot be used: frame 5 .*other frames"):
        read(PLACES, box=boxes)
    assert read(PLACES, box=boxes, stop=4).n_snapshots == 4
    assert read(PLACES, box=np.zeros((6, 3))).n_snapshots == 6  # all in open space


def test_boxes_go_with_the_kept_or_with_all_snapshots() -> None:
    lengths = np.linspace(30.0, 40.0, 8)[:, None] * np.ones(3)
    places = np.concatenate([PLACES, PLACES[:2]])
    cells = np.hstack([lengths, np.full((8, 3), 90.0)])
    kept = slice(0, None, 2)
    for given in (lengths, lengths[:, :, None] * np.eye(3), cells, lengths[kept]):
        found = read(places, box=given, step=2).frames.read(0, 4)[1]
        assert found is not None
        np.testing.assert_allclose(found, lengths[kept, :, None] * np.eye(3), atol=1e-12)


def test_boxes_of_all_snapshots_are_those_through_which_sites_are_followed() -> None:
    lengths = np.linspace(30.0, 37.0, 8)[:, None] * np.ones(3)
    steps = np.random.default_rng(1).normal(scale=1.5, size=(8, 9, 3))
    places = np.cumsum(steps, axis=0) % lengths[:, None]
    found = read(places, box=lengths, start=1, step=3, unwrap=True).coordinates()
    expected = read(places[1:], box=lengths[1:], step=3, unwrap=True).coordinates()
    np.testing.assert_array_equal(found, expected)


def test_a_box_of_as_many_rows_as_snapshots_may_be_a_matrix() -> None:
    with pytest.raises(ValueError, match="lengths of each or one matrix"):
        read(PLACES[:3], box=[[30, 1, 0], [30, 30, 30], [30, 30, 30]], start=1)
    assert read(PLACES[:3], box=np.diag([30.0, 31, 32]), start=1).n_snapshots == 2


OPEN_BOXES = {
    "one": [[5.0, 0.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 0.0]],
    "turned": [[5.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 5.0]],
    "two": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 5.0]],
}


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("far", [1.0, 1e5, 1e9])
@pytest.mark.parametrize("kind", OPEN_BOXES)
def test_open_directions_of_tilted_boxes_have_no_end(kind: str, far: float) -> None:
    box = np.array(OPEN_BOXES[kind])
    rng = np.random.default_rng(1)
    across = np.linalg.svd(box)[2][np.count_nonzero(box.any(axis=1)) :]
    places = rng.uniform(0, 5, (4, 8, 3)) @ box / 5
    places += far * rng.normal(size=(4, 8, len(across))) @ across
    ensemble = read(places, box=box)
    measured = timme.measure(points(ensemble), timme.pairs.all(points(ensemble)))
    pairs = np.array(np.triu_indices(8, 1)).T
    for (a, b), found in zip(pairs, measured.matrix()[tuple(pairs.T)], strict=True):
        apart = [_apart(place[a], place[b], box) for place in places]
        assert found == pytest.approx(np.std(apart), rel=1e-6)


def test_nearest_are_found_in_a_tilted_box_that_is_open() -> None:
    box = np.array(OPEN_BOXES["one"])
    places = np.random.default_rng(2).uniform(0, 5, (2, 60, 3))
    objects = points(read(places, box=box))
    found = timme.pairs.nearest(objects, 4)
    expected = set[tuple[int, int]]()
    for a, place in enumerate(places[0]):
        others = sorted((_apart(place, other, box), b) for b, other in enumerate(places[0]))
        expected |= {(min(a, b), max(a, b)) for _, b in others[1:5]}
    assert found.index is not None
    assert {(a, b) for a, b in found.index.tolist()} == expected


def _apart(a: Floats, b: Floats, box: Floats) -> float:
    return math.dist(a, naive.nearest_image(a, b, box))
