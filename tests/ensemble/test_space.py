"""Reference: boxes span the same lattice, and images and near pairs are those of brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.ensemble.builders import BOXES, Floats
from tests.strategies import boxed_snapshots, seeds
from timme.ensemble import Boxes, Images
from timme.ensemble.space import box_matrices, pairs_within, reduce_box

MOLECULES = np.array([0, 0, 1, 1, 1, 2, 3])


def one_box(box: npt.ArrayLike, images: Images | None = None) -> Boxes:
    matrices = box_matrices(np.asarray(box)[None], 1, len(np.asarray(box)))
    return Boxes.of(matrices, 1, matrices.shape[1], images)


def seen_distance(a: int, b: int, points: Floats, box: Floats, images: Images | None) -> float:
    """Distance of two points as they see one another."""
    if images is None:
        return naive.distance(points[a], points[b], box)
    if images.origin is not None:
        image = naive.nearest_image(images.origin[a], images.origin[b], box)
        return float(np.linalg.norm(image - images.origin[b] + points[b] - points[a]))
    plain = images.molecules[a] == images.molecules[b]
    return naive.distance(points[a], points[b], None if plain else box)


# ---- boxes ---------------------------------------------------------------------------------------


@given(boxed_snapshots())
def test_reduced_vectors_span_the_lattice_and_no_sum_of_them_is_shorter(
    given_boxes: tuple[Floats, Floats],
) -> None:
    for box in given_boxes[1]:
        reduced = reduce_box(box)
        change = box @ np.linalg.inv(reduced)
        np.testing.assert_allclose(change, np.rint(change), atol=1e-9)
        assert abs(np.linalg.det(change)) == pytest.approx(1)
        for row, steps in product(range(len(box)), product((-1, 0, 1), repeat=len(box))):
            if steps[row]:
                longer = np.linalg.norm(np.array(steps) @ reduced)
                assert longer >= np.linalg.norm(reduced[row]) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("given_box", "expected"),
    [
        (4.0, [[4, 0], [0, 4]]),
        ([4.0, 5.0], [[4, 0], [0, 5]]),
        ([[4.0, 0.0], [0.0, -5.0]], [[4, 0], [0, 5]]),
        ([[4.0, 0.0], [9.0, 5.0]], [[4, 0], [1, 5]]),
        ([[4.0, 0.0], [0.0, 0.0]], [[4, 0], [0, 0]]),
    ],
)
def test_every_way_to_give_a_box_makes_vectors_of_every_snapshot(
    given_box: npt.ArrayLike, expected: npt.ArrayLike
) -> None:
    found = box_matrices(given_box, 3, 2)
    np.testing.assert_array_equal(found, np.broadcast_to(np.array(expected), (3, 2, 2)))


def test_each_snapshot_has_its_box() -> None:
    lengths = np.array([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    np.testing.assert_array_equal(box_matrices(lengths, 2, 3)[1], np.diag([7.0, 8.0, 9.0]))
    angles = np.full((2, 3), 90.0)
    cells = box_matrices(np.hstack([lengths, angles]), 2, 3)
    np.testing.assert_array_equal(cells, box_matrices(lengths, 2, 3))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([4.0, -5.0, 6.0], "not negative"),
        ([4.0, np.nan, 6.0], "finite"),
        ([4.0, 5.0], "3 lengths or a 3 × 3 matrix.*got shape"),
        ([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]], "flat"),
        ([4.0, 5.0, 6.0, 1.5, 1.5, 1.5], "in degrees.*row vectors"),
        ([4.0, 5.0, 6.0, 30.0, 30.0, 150.0], "span space"),
        ("ten", "real numbers"),
    ],
)
def test_what_is_no_box_is_refused(bad: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        box_matrices(bad, 7, 3)
    with pytest.raises(ValueError, match=r"pass shape \(3, 3, 3\)"):
        box_matrices(np.arange(9.0).reshape(3, 3), 3, 3)


# ---- images --------------------------------------------------------------------------------------


@given(boxed_snapshots())
def test_shortened_vectors_are_those_to_the_nearest_images(
    given_boxes: tuple[Floats, Floats],
) -> None:
    points, boxes = given_boxes
    around = Boxes.of(box_matrices(boxes, len(boxes), boxes.shape[1]), *points.shape[::2])
    found = np.linalg.norm(around.shorten(points), axis=2)
    expected = [
        [naive.distance(np.zeros_like(point), point, box) for point in frame]
        for frame, box in zip(points, boxes, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seen", ["nearest", "molecules", "origin"])
@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@given(seeds)
def test_vectors_and_near_pairs_are_of_the_images_that_are_seen(
    seen: str, box: list[list[float]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points, matrix = rng.normal(scale=6, size=(7, 3)), np.array(box)
    images = None if seen == "nearest" else Images(MOLECULES)
    around = one_box(box, images)
    if seen == "origin":
        images = Images(MOLECULES, rng.normal(scale=4, size=(4, 3))[MOLECULES], around.matrices[0])
        around = one_box(box, images)
    pairs = np.column_stack(np.triu_indices(7, 1))
    found = np.linalg.norm(around.between(points[None], *pairs.T)[0], axis=1)
    expected = np.array([seen_distance(a, b, points, matrix, images) for a, b in pairs.tolist()])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for radius in (2.0, 7.0, 25.0):
        near = pairs[expected <= radius]
        np.testing.assert_array_equal(pairs_within(points, radius, around), near)


@given(seeds, st.integers(1, 4))
def test_near_pairs_of_any_dimension_leave_out_hidden_points(seed: int, n: int) -> None:
    points = np.random.default_rng(seed).uniform(0, 4, (12, n))
    points[3, 0] = np.nan
    box = box_matrices(np.arange(2.0, 2.0 + n), 1, n)
    for boxes, matrix in ((Boxes.of(None, 1, n), None), (Boxes.of(box, 1, n), box[0])):
        expected = sorted(
            (a, b)
            for a in range(12)
            for b in range(a + 1, 12)
            if 3 not in {a, b} and naive.distance(points[a], points[b], matrix) <= 1.5
        )
        assert list(map(tuple, pairs_within(points, 1.5, boxes).tolist())) == expected
