"""Where a chain bends between bodies."""

import numpy as np
from scipy.spatial.transform import Rotation

from timme import Ensemble
from timme.motion import bending_residues, restless_sites


def bent_chain(linker: int, angle: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A chain of 60 residues whose second half is turned, evenly over a linker in its middle."""
    rng = np.random.default_rng(seed)
    turn = np.arange(60) * 1.7
    before = np.column_stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * np.arange(60)])
    before = before + 0.4 * rng.normal(size=before.shape)
    share = np.clip((np.arange(60) - 30 + linker / 2) / max(linker, 1), 0, 1)
    joint = np.array([0.0, 0, 45])
    after = np.array(
        [
            Rotation.from_rotvec([angle * s, 0, 0]).apply(place - joint) + joint
            for s, place in zip(share, before, strict=True)
        ]
    )
    return before, after + 0.05 * rng.normal(size=after.shape)


def test_residues_on_both_sides_of_a_boundary_bend_and_those_far_from_it_do_not() -> None:
    before, after = bent_chain(6, np.radians(50))
    labels = (np.arange(60) >= 30).astype(np.int64)
    found = bending_residues(before, after, np.arange(60), labels)
    assert {29, 30} <= set(found.tolist())
    assert found.min() >= 20
    assert found.max() <= 40


def test_one_body_bends_nowhere() -> None:
    before, after = bent_chain(6, np.radians(50))
    assert not len(bending_residues(before, after, np.arange(60), np.zeros(60, np.int64)))


def test_a_linker_is_still_in_no_body() -> None:
    rng = np.random.default_rng(1)
    snapshots = np.array([bent_chain(10, angle, 2)[1] for angle in np.linspace(-0.8, 0.8, 15)])
    snapshots[:, 58] += 3 * rng.normal(size=(15, 3))
    labels = (np.arange(60) >= 30).astype(np.int64)
    labels[26:34] = -1
    labels[58] = -1
    found = restless_sites(Ensemble.from_array(snapshots), labels)
    assert 58 in found
    assert not set(found.tolist()) & set(range(20))
