"""Nearest rotations and unions of bodies, loop by loop."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from timme._kernels import rotations as kernel


def test_a_rotation_is_its_own_nearest() -> None:
    turns = Rotation.random(10, rng=np.random.default_rng(0)).as_matrix().reshape(10, 9)
    found, known = np.empty((10, 9)), np.empty(10, np.bool_)
    kernel.to_rotations(3.0 * turns, found, known)
    assert known.all()
    np.testing.assert_allclose(found, turns, atol=1e-12)


@pytest.mark.parametrize(
    "matrix", [np.zeros(9), np.diag([1.0, 1, -1]).ravel(), np.diag([1.0, 1, 0]).ravel()],
    ids=["nothing", "mirror", "flat"],
)  # fmt: skip
def test_what_has_no_positive_determinant_is_left_to_others(matrix: np.ndarray) -> None:
    assert not kernel.to_rotation(matrix, np.empty(9))


def test_bodies_that_move_as_one_cost_nothing_to_join() -> None:
    rng = np.random.default_rng(1)
    turns = Rotation.random(5, rng=rng).as_matrix()
    places = [rng.normal(size=(6, 3)) for _ in range(2)]
    places = [each - each.mean(axis=0) for each in places]
    offset = np.array([4.0, 0, 0])
    centres = np.stack([np.zeros((5, 3)), turns @ offset])
    moments = np.array([(each.T @ each).ravel() for each in places])
    both = np.stack([turns.reshape(5, 9)] * 2)
    grown, union = np.empty(1), np.empty((1, 5, 9))
    kernel.unite(np.array([6.0, 6.0]), moments, both, centres, np.array([[0, 1]]), 20, grown, union)
    assert grown[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(union[0], turns.reshape(5, 9), atol=1e-9)
