"""Rigid fits: the best rotation, mean shapes, and a verdict where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.motion import reference
from tests.strategies import seeds
from timme.motion.crowd import _inverse
from timme.motion.fits import degeneracy, fit, mean_shape, shape_of


@given(seeds, st.integers(4, 12))
def test_the_best_rotation_is_that_of_the_largest_quaternion(seed: int, n_sites: int) -> None:
    rng = np.random.default_rng(seed)
    shape, snapshots = rng.normal(size=(n_sites, 3)), rng.normal(size=(3, n_sites, 3))
    weights = rng.uniform(0.5, 2.0, n_sites)
    found = fit(shape, snapshots, weights)
    for rotation, places in zip(found.rotations, snapshots, strict=True):
        expected = reference.best_rotation(shape, places, weights)
        if np.isfinite(rotation).all():
            # As good as the other to rounding: the fit itself, not the matrix, is what is best.
            about = [x - np.average(x, axis=0, weights=weights) for x in (shape, places)]
            sums = [
                np.sum(weights * ((about[0] @ r.T) * about[1]).sum(axis=1))
                for r in (rotation, expected)
            ]
            assert sums[0] == pytest.approx(sums[1], rel=1e-9)


@given(seeds)
def test_a_rigid_motion_is_found_to_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(6, 3))
    turns, shifts = Rotation.random(4, rng=rng).as_matrix(), rng.normal(size=(4, 1, 3))
    poses = fit(shape, shape @ turns.swapaxes(1, 2) + shifts)
    np.testing.assert_allclose(poses.rotations, turns, atol=1e-9)
    np.testing.assert_allclose(
        poses.into(shape @ turns.swapaxes(1, 2) + shifts), [shape] * 4, atol=1e-9
    )


@given(seeds, st.integers(3, 6))
def test_the_rest_is_that_of_fits_one_by_one(seed: int, n_snapshots: int) -> None:
    rng = np.random.default_rng(seed)
    shape = 3 * rng.normal(size=(6, 3))
    turns = Rotation.random(n_snapshots, rng=rng).as_matrix()
    snapshots = (shape + 0.2 * rng.normal(size=(n_snapshots, 6, 3))) @ turns
    found = shape_of(snapshots)
    expected = reference.rest_of(snapshots)
    assert found.rest**2 * 6 * n_snapshots == pytest.approx(expected, rel=1e-6)


@given(seeds, st.integers(2, 3))
def test_a_mean_shape_is_the_same_block_by_block(seed: int, dimensions: int) -> None:
    rng = np.random.default_rng(seed)
    shape = 3 * rng.normal(size=(7, dimensions))
    turns = np.linalg.qr(rng.normal(size=(9, dimensions, dimensions)))[0]
    turns[:, :, 0] *= np.linalg.det(turns)[:, None]
    snapshots = (shape + 0.2 * rng.normal(size=(9, 7, dimensions))) @ turns + 10 * rng.normal(
        size=(9, 1, dimensions)
    )
    snapshots[4] = snapshots[4, :1]  # all at one point: it has no orientation
    sites, counts = rng.uniform(0.5, 2.0, 7), rng.uniform(0.0, 2.0, 9)
    whole = mean_shape(lambda: [(snapshots, counts)], sites)
    cut = [(snapshots[:4], counts[:4]), (snapshots[4:], counts[4:])]
    parts = mean_shape(lambda: cut, sites)
    assert whole.n_fitted == parts.n_fitted == 8
    # Both end where a step is below 1e-10 of the size; what is left of it is a few steps more.
    np.testing.assert_allclose(whole.places, parts.places, atol=1e-8)
    np.testing.assert_allclose(whole.squares, parts.squares, atol=1e-8)


@given(seeds)
def test_what_is_all_rounding_has_no_rotation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(8, 3))
    far = 1e4 + 1e-9 * shape[None] @ Rotation.random(rng=rng).as_matrix()
    assert np.isnan(fit(shape, far).rotations).all()


@pytest.mark.parametrize("place", [np.zeros((2, 3)), np.diag([1.0, 0, 0])], ids=["point", "line"])
def test_inverses_of_moments_are_those_of_what_can_be_inverted(place: np.ndarray) -> None:
    def inertia(places: np.ndarray) -> np.ndarray:
        moments = places.T @ places
        return np.asarray(np.trace(moments) * np.eye(3) - moments)

    clear = inertia(np.random.default_rng(0).normal(size=(5, 3)))
    np.testing.assert_allclose(_inverse(clear[None])[0] @ clear, np.eye(3), atol=1e-12)
    both = _inverse(np.stack([clear, inertia(place)]))
    np.testing.assert_allclose(both[0] @ clear, np.eye(3), atol=1e-12)
    flat = inertia(place)
    np.testing.assert_allclose(flat @ both[1] @ flat, flat, atol=1e-12)  # Penrose's first
    np.testing.assert_allclose(both[1] @ flat @ both[1], both[1], atol=1e-12)  # and second


def test_the_noise_of_a_body_is_what_was_put_in() -> None:
    rng = np.random.default_rng(0)
    shape = 5 * rng.normal(size=(50, 3))
    turns = Rotation.random(40, rng=rng).as_matrix()
    noise = 0.1
    found = shape_of((shape + noise * rng.normal(size=(40, 50, 3))) @ turns)
    # A variance of f independent numbers is known to √(2/f); f = (3·50 − 6)·39.
    assert found.noise == pytest.approx(noise, rel=4 * np.sqrt(0.5 / (144 * 39)))


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([[1.0, 2, 3]], "single site"),
        ([[1.0, 2, 3]] * 4, "are at one point"),
        ([[1e9, 0, 0], [1e9 + 1, 0, 0], [1e9, 1, 0]], "from the origin"),
        ([[0.0, 0, 0], [1, 1, 1]], "on a line"),
        ([[0.0, 0, 0], [1, 1, 1], [3, 3, 3]], "on a line"),
    ],
    ids=["one", "point", "far", "two", "line"],
)
def test_points_and_lines_have_no_rotation(places: list[list[float]], words: str) -> None:
    shape = np.array(places)
    turned = shape @ Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix().T
    poses = fit(shape, turned[None])
    assert not poses.unique.any()
    assert np.isnan(poses.rotations).all()
    np.testing.assert_allclose(poses.centres[0], turned.mean(axis=0))
    assert words in degeneracy(shape)
    assert words in shape_of(np.stack([shape, turned])).verdict


def test_a_mirror_image_that_fits_two_ways_is_a_tie() -> None:
    shape = np.concatenate([np.eye(3), -np.eye(3)]) * [[3.0, 1, 1]]
    # Reflected along the long axis: turned by half a turn about y or z it is as near.
    poses = fit(shape, (shape * [-1, 1, 1])[None])
    assert poses.ties.all()
    assert np.isnan(poses.rotations).all()


def test_a_plane_has_a_rotation() -> None:
    rng = np.random.default_rng(3)
    shape = np.column_stack([rng.normal(size=(6, 2)), np.zeros(6)])
    turn = Rotation.from_rotvec([0.4, -0.2, 1.0]).as_matrix()
    np.testing.assert_allclose(fit(shape, (shape @ turn.T)[None]).rotations[0], turn, atol=1e-9)


@given(seeds, st.floats(-3.1, 3.1))
def test_a_turn_in_the_plane_is_found(seed: int, angle: float) -> None:
    shape = np.random.default_rng(seed).normal(size=(5, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    poses = fit(shape, (shape @ turn.T + 4)[None])
    np.testing.assert_allclose(poses.rotations[0], turn, atol=1e-9)


def test_unseen_sites_are_left_out_of_their_snapshot() -> None:
    rng = np.random.default_rng(5)
    shape = rng.normal(size=(8, 3))
    turns = Rotation.random(6, rng=rng).as_matrix()
    snapshots = shape @ turns.swapaxes(1, 2) + rng.normal(size=(6, 1, 3))
    snapshots[0, :2] = snapshots[3, 5:] = np.nan
    found = shape_of(snapshots)
    assert found.rest == pytest.approx(0, abs=1e-9)
    assert found.n_fitted == 6
    between = np.linalg.norm(found.places[0] - found.places[7])
    assert between == pytest.approx(np.linalg.norm(shape[0] - shape[7]))
