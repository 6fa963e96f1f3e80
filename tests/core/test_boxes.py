"""References and invariants of vectors through periodic boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.strategies import seeds
from timme._arrays import Floats
from timme._kernels import boxes as kernel
from timme.ensemble.space import reduce_box

TILTED = np.array([[10.0, 0.0, 0.0], [4.0, 9.0, 0.0], [-3.0, 4.0, 8.0]])


def any_box(rng: np.random.Generator, n_dimensions: int) -> Floats:
    """Reduced box vectors with angles far from right ones."""
    box = np.eye(n_dimensions) + rng.uniform(-0.6, 0.6, size=(n_dimensions, n_dimensions))
    return reduce_box(np.tril(box * rng.uniform(2.0, 6.0)))


def squares_of(vectors: Floats, box: Floats) -> Floats:
    """Squared lengths of shortest images by the vectorised loop; each vector is one frame."""
    n_vectors, n_dimensions = vectors.shape
    boxes = np.broadcast_to(box, (n_vectors, n_dimensions, n_dimensions))
    inverse = np.linalg.inv(box)
    square = np.empty(n_vectors)
    kernel.shortest_squares(
        vectors.T.copy(),
        boxes.transpose(1, 2, 0).copy(),
        np.broadcast_to(inverse, boxes.shape).transpose(1, 2, 0).copy(),
        np.full(n_vectors, kernel.half_width(inverse)),
        kernel.shortening_vectors(boxes),
        np.empty((n_dimensions + 2, n_vectors)),
        square,
    )
    return square


def images_of(vectors: Floats, box: Floats, kind: int) -> Floats:
    """Shortest images by the loop over single vectors."""
    found = vectors[None].copy()
    inverse = np.array([[1 / x if x else 0.0 for x in row] for row in box])
    if kind == kernel.TILTED:
        inverse = np.linalg.inv(box)
    kernel.shortest_images(found, box[None].copy(), inverse[None].copy(), kind)
    images: Floats = found[0]
    return images


@pytest.mark.parametrize("n_dimensions", [2, 3])
@given(seed=seeds)
def test_both_loops_find_the_shortest_image_in_tilted_boxes(seed: int, n_dimensions: int) -> None:
    rng = np.random.default_rng(seed)
    box = any_box(rng, n_dimensions)
    vectors = rng.normal(scale=8.0, size=(20, n_dimensions))
    origin = np.zeros(n_dimensions)
    expected = [naive.distance(origin, vector, box) ** 2 for vector in vectors]
    np.testing.assert_allclose(squares_of(vectors, box), expected, rtol=1e-12)
    images = images_of(vectors, box, kernel.TILTED)
    np.testing.assert_allclose((images**2).sum(axis=1), expected, rtol=1e-12)
    steps = (vectors - images) @ np.linalg.inv(box)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)


@given(seed=seeds)
def test_straight_boxes_shorten_along_closed_directions_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    box = np.diag([*rng.uniform(2.0, 6.0, size=2), 0.0])
    vectors = rng.normal(scale=8.0, size=(20, 3))
    images = images_of(vectors, box, kernel.STRAIGHT)
    expected = [naive.nearest_image(np.zeros(3), vector, box) for vector in vectors]
    np.testing.assert_allclose(images, expected, rtol=1e-12, atol=1e-12)


@given(seed=seeds)
def test_few_lattice_vectors_can_shorten_and_none_in_straight_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert len(kernel.shortening_vectors(np.diag(rng.uniform(1.0, 5.0, size=3))[None])) == 0
    assert len(kernel.shortening_vectors(any_box(rng, 3)[None])) <= 13  # half of the 26 neighbours


def test_half_width_is_half_the_smallest_distance_of_opposite_faces() -> None:
    volume = abs(np.linalg.det(TILTED))
    faces = [np.linalg.norm(np.cross(TILTED[i], TILTED[i - 1])) for i in range(3)]
    expected = min(volume / face for face in faces) / 2
    assert kernel.half_width(np.linalg.inv(TILTED)) == pytest.approx(expected, rel=1e-14)
    assert kernel.half_width(np.zeros((3, 3))) == np.inf


def test_a_vector_that_is_not_known_stays_unknown() -> None:
    vectors = np.array([[np.nan, 1.0, 2.0], [1.0, 2.0, 3.0]])
    assert np.isnan(squares_of(vectors, TILTED)).tolist() == [True, False]
    assert np.isnan(images_of(vectors, TILTED, kernel.TILTED)[0]).any()
