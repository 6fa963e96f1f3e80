"""Reference: screws between two snapshots, and verdicts where there is none."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.science import motion_naive as naive
from tests.strategies import seeds
from timme.motion import bending_residues, screw
from timme.motion.screws import from_rotation
from timme.synthetic import bodies as planted_bodies

A, B = np.arange(20), np.arange(20, 36)


def two_bodies(
    rng: np.random.Generator,
    vector: list[float] | np.ndarray,
    shift: np.ndarray,
    noise: float = 0.0,
) -> np.ndarray:
    """Two snapshots; the second body is turned about the origin and shifted, then all is moved."""
    before = 5 * rng.normal(size=(36, 3))
    before[20:] += 12
    after = before.copy()
    after[20:] = Rotation.from_rotvec(vector).apply(before[20:]) + shift
    after += noise * rng.normal(size=after.shape)
    turn = Rotation.random(rng=rng).as_matrix()
    return np.array([before, after @ turn.T + rng.normal(size=3)])


@given(seeds, st.floats(0.05, 3.0))
def test_the_screw_is_that_of_fixed_places(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    shift = rng.normal(size=3)
    pair = two_bodies(rng, angle * axis, shift)
    found = screw(*pair, body=B, reference=A)
    rotation = Rotation.from_rotvec(angle * axis).as_matrix()
    middle = pair[0][B].mean(axis=0)
    expected = naive.screw_of(rotation, rotation @ middle + shift - middle, middle)
    assert np.radians(found.angle) == pytest.approx(expected[0], rel=1e-6)
    np.testing.assert_allclose(found.axis, expected[1], atol=1e-6)
    assert found.shift == pytest.approx(expected[2], abs=1e-6)
    np.testing.assert_allclose(np.cross(found.point - expected[3], found.axis), 0, atol=1e-4)


@pytest.mark.parametrize(
    ("shift", "kind"), [(0.0, "hinge"), (0.9, "hinge"), (1.1, "screw"), (-1.1, "screw")]
)
def test_a_screw_goes_along_its_axis_by_more_than_a_tenth_of_its_way(
    shift: float, kind: str
) -> None:
    """A turn by 60° at a distance of 10 is a way of 10 across the axis."""
    turn, start = Rotation.from_rotvec([0.0, 0.0, np.pi / 3]), np.array([10.0, 0.0, 0.0])
    move = turn.apply(start) - start + [0.0, 0.0, shift]
    nothing = np.zeros((3, 3))
    found = from_rotation(turn.as_matrix(), start, move, np.zeros(3), (nothing, 0.0))
    assert found.kind == kind
    assert found.shift == pytest.approx(shift)
    np.testing.assert_allclose(found.point, 0.0, atol=1e-12)


@given(seeds)
def test_moving_both_snapshots_as_wholes_moves_the_axis_along(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = two_bodies(rng, [0.3, 0.5, -0.2], np.array([1.0, 0, 2]))
    turn, shift = Rotation.random(rng=rng), rng.normal(size=3)
    moved = np.array([turn.apply(pair[0]) + shift, Rotation.random(rng=rng).apply(pair[1])])
    one, other = (screw(*each, body=B, reference=A) for each in (pair, moved))
    assert other.angle == pytest.approx(one.angle, rel=1e-6)
    np.testing.assert_allclose(other.axis, turn.apply(np.array(one.axis)), atol=1e-6)
    np.testing.assert_allclose(other.point, turn.apply(np.array(one.point)) + shift, atol=1e-4)


def test_half_a_turn_has_two_axes() -> None:
    found = screw(
        *two_bodies(np.random.default_rng(0), [0, 0, np.pi], np.zeros(3)), body=B, reference=A
    )
    assert found.angle == pytest.approx(180)
    assert "equally right" in found.verdict


def test_a_shift_is_a_translation_and_has_no_axis_of_turning() -> None:
    rng = np.random.default_rng(1)
    found = screw(*two_bodies(rng, [0, 0, 0], np.array([3.0, 0, 0]), 0.1), body=B, reference=A)
    assert found.kind == "translation"
    assert found.shift == pytest.approx(3, abs=0.3)
    assert np.isnan(found.point).all()


def test_a_turn_across_the_line_of_middles_closes_and_one_along_it_twists() -> None:
    rng = np.random.default_rng(5)
    before = rng.normal(size=(36, 3))
    before[:20] -= before[:20].mean(axis=0)
    before[20:] += [10, 0, 0] - before[20:].mean(axis=0)
    for vector, expected in (([0.4, 0, 0], 0.0), ([0, 0.4, 0], 100.0)):
        after = before.copy()
        after[20:] = Rotation.from_rotvec(vector).apply(before[20:])
        found = screw(before, after, body=B, reference=A)
        assert found.closure == pytest.approx(expected, abs=1e-6)


def test_snapshots_of_other_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="must have the same shape"):
        screw(np.zeros((4, 3)), np.zeros((5, 3)), body=B, reference=A)


@pytest.mark.slow
def test_pairs_that_differ_by_noise_alone_are_rigid_on_95_of_100_seeds() -> None:
    chosen: Any = {"body": np.arange(60, 100), "reference": np.arange(60)}
    plant = partial(planted_bodies, (60, 40), 2, kind="rigid", spans=[0.0])
    pairs = (plant(seed=seed).ensemble.coordinates() for seed in range(100))
    kinds = [screw(*pair, **chosen).kind for pair in pairs]
    assert kinds.count("rigid") >= 95


def test_residues_bend_on_both_sides_of_a_boundary_and_not_far_from_it() -> None:
    rng, steps, turn = np.random.default_rng(0), np.arange(60), np.arange(60) * 1.7
    before = np.column_stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * steps])
    before += 0.4 * rng.normal(size=before.shape)
    share, joint = np.clip((steps - 27) / 6, 0, 1), np.array([0.0, 0, 45])
    turns = Rotation.from_rotvec(np.radians(50) * share[:, None] * [1.0, 0, 0])
    after = turns.apply(before - joint) + joint + 0.05 * rng.normal(size=before.shape)
    found = bending_residues(before, after, steps, (steps >= 30).astype(np.int64))
    assert {29, 30} <= set(found.tolist())
    assert found.min() >= 20
    assert found.max() <= 40
    assert not len(bending_residues(before, after, steps, np.zeros(60, np.int64)))
