"""Shortest periodic images; these run without compilation as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import seeds, straight_boxes, tilted_boxes
from timme._arrays import Floats
from timme._kernels import space
from timme.system.boxes import box_matrices
from timme.system.space import Boxes


@given(st.data(), st.integers(1, 3), seeds)
def test_straight_boxes_give_the_nearest_of_all_images(
    data: st.DataObject, n_dimensions: int, seed: int
) -> None:
    box = data.draw(straight_boxes(1, n_dimensions))
    vector = np.random.default_rng(seed).normal(scale=10, size=n_dimensions)
    shortest, scratch = vector.copy(), np.empty((2, n_dimensions))
    inverse = np.linalg.inv(box[0])
    half = space.half_width(inverse)
    space.to_shortest_image(shortest, box[0], inverse, space.STRAIGHT, half, scratch)
    expected = naive.distance(np.zeros(n_dimensions), vector, box[0])
    assert np.linalg.norm(shortest) == pytest.approx(expected, rel=1e-12)


@given(st.data(), st.integers(2, 3), seeds)
def test_tilted_boxes_give_the_nearest_of_all_images(
    data: st.DataObject, n_dimensions: int, seed: int
) -> None:
    box = data.draw(tilted_boxes(1, n_dimensions))
    vectors = np.random.default_rng(seed).normal(scale=10, size=(1, 4, n_dimensions))
    prepared = Boxes.of(box_matrices(box, 1, n_dimensions), 1, n_dimensions)
    shortened = prepared.shorten(vectors)
    for vector, shortest in zip(vectors[0], shortened[0], strict=True):
        expected = naive.distance(np.zeros(n_dimensions), vector, box[0])
        assert np.linalg.norm(shortest) == pytest.approx(expected, rel=1e-9)
        cells = (vector - shortest) @ np.linalg.inv(box[0])
        assert cells == pytest.approx(np.rint(cells), abs=1e-9)  # an image, not just as long


@given(st.data(), st.integers(2, 3), seeds)
def test_one_vector_a_frame_is_as_long_as_the_nearest_of_all_images(
    data: st.DataObject, n_dimensions: int, seed: int
) -> None:
    """In boxes that differ from frame to frame, the first of which is open."""
    matrices = np.zeros((6, n_dimensions, n_dimensions))
    matrices[1:] = data.draw(tilted_boxes(5, n_dimensions))
    vectors = np.random.default_rng(seed).normal(scale=10, size=(6, n_dimensions))
    squares = squares_in(
        Boxes.of(box_matrices(matrices, 6, n_dimensions), 6, n_dimensions), vectors
    )
    assert squares[0] == pytest.approx(vectors[0] @ vectors[0], rel=1e-14)
    for vector, box, square in zip(vectors[1:], matrices[1:], squares[1:], strict=True):
        assert np.sqrt(square) == pytest.approx(naive.distance(0 * vector, vector, box), rel=1e-9)


def squares_in(boxes: Boxes, vectors: Floats) -> Floats:
    """Squares of the shortest images of vectors, one a frame."""
    n_frames, n_dimensions = vectors.shape
    squares = np.empty(n_frames)
    space.shortest_squares(
        np.ascontiguousarray(vectors.T),
        np.ascontiguousarray(boxes.matrices.transpose(1, 2, 0)),
        np.ascontiguousarray(boxes.inverses.transpose(1, 2, 0)),
        np.array([space.half_width(inverse) for inverse in boxes.inverses]),
        space.shortening_vectors(boxes.matrices),
        np.empty((n_dimensions + 2, n_frames)),
        squares,
    )
    return squares


def test_a_vector_that_is_not_seen_stays_so_and_harms_no_other_frame() -> None:
    """In a rhombus of 60°, near half of either side, another corner is 1 away: 0.6² + 0.8²."""
    boxes = Boxes.of(np.array([[[2.0, 0.0], [1.0, np.sqrt(3)]]] * 2), 2, 2)
    squares = squares_in(boxes, np.array([[np.nan, 0.0], [1.4, 0.8]]))
    assert np.isnan(squares[0])
    assert squares[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("box", "n_vectors"),
    [
        ([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 5.0]], 0),  # rounding is enough
        ([[2.0, 0.0], [1.0, np.sqrt(3)]], 2),  # both sides: Σ |v·e| of a diagonal v is |v|²
    ],
)
def test_no_more_images_are_tried_than_the_box_needs(
    box: list[list[float]], n_vectors: int
) -> None:
    assert len(space.shortening_vectors(np.array([box]))) == n_vectors


def test_an_open_direction_is_never_wrapped() -> None:
    boxes = Boxes.of(np.diag([2.0, 0.0])[None], 1, 2)
    assert boxes.kind == space.STRAIGHT
    shortened = boxes.shorten(np.array([[[1.5, 70.0]]]))
    assert shortened.ravel().tolist() == pytest.approx([-0.5, 70.0])


def test_frames_may_be_tilted_straight_and_open_in_turn() -> None:
    tilted, slab, none = [[5.0, 0], [1.0, 5.0]], np.diag([5.0, 0.0]), np.zeros((2, 2))
    boxes = Boxes.of(np.array([tilted, slab, none]), 3, 2)
    shortened = boxes.shorten(np.full((3, 1, 2), 4.0))
    assert shortened[:, 0].ravel().tolist() == pytest.approx([-2.0, -1.0, -1.0, 4.0, 4.0, 4.0])


def test_no_box_leaves_vectors_as_they_are_and_never_changes_the_argument() -> None:
    vectors = np.array([[[7.0, -9.0]]])
    assert Boxes.of(None, 1, 2).shorten(vectors).tolist() == vectors.tolist()
    Boxes.of(np.eye(2)[None], 1, 2).shorten(vectors)
    assert vectors.tolist() == [[[7.0, -9.0]]]


def test_all_vectors_of_all_frames_are_shortened_in_the_box_of_their_frame() -> None:
    boxes = Boxes.of(np.array([[[2.0]], [[3.0]]]), 2, 1)
    shortened = boxes.shorten(np.array([[[1.4], [0.3]], [[1.4], [2.0]]]))
    assert shortened.ravel().tolist() == pytest.approx([-0.6, 0.3, 1.4, -1.0])
