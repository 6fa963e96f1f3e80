"""Motions of the two sides of every split."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from timme import link
from timme.motion import bodies, describe_motion, fit, split_motions, superpose
from timme.synthetic import moving


def test_the_highest_split_is_the_hinge_that_was_planted() -> None:
    planted = moving((60, 40), 20, spans=[40.0])
    first = split_motions(planted.ensemble, bodies(planted.ensemble).hierarchy)[0]
    assert first.motion.kind == "hinge"
    assert first.motion.range == pytest.approx(40, rel=0.03)
    assert set(planted.labels[first.body].tolist()) == {1}
    assert set(planted.labels[first.reference].tolist()) == {0}


def test_a_known_axis_is_found_in_a_trajectory_that_lies_elsewhere() -> None:
    planted = moving((60, 40), 20, spans=[40.0], memory=4.0, seed=5)
    axis, point = planted.axes[1], planted.points[1]
    ends = np.array([planted.places, planted.places])
    for end, angle in zip(ends, np.radians([-20, 20]), strict=True):
        end[60:] = Rotation.from_rotvec(angle * axis).apply(end[60:] - point) + point
    transition = ends @ Rotation.from_rotvec([0.4, -0.9, 0.2]).as_matrix() + [5.0, 6.0, 7.0]
    transition[:, 17] = np.nan  # not in the structures
    found = describe_motion(planted.ensemble, transition=transition)
    (known,), (motion,) = found.known, found.hinges
    assert known.angle == pytest.approx(40, abs=0.1)
    # The planted axis is that of the frame at angle 0, and noise turns the first snapshot a little.
    first = superpose(planted.ensemble, planted.labels == 0).ensemble.snapshot()[0]
    here = fit(planted.places[:60], first[None, :60])
    assert abs(known.axis @ here.rotations[0] @ axis) > np.cos(np.radians(1))
    np.testing.assert_allclose(motion.axis, known.axis)
    assert np.isnan(motion.axis_error)
    assert motion.rms == pytest.approx(np.degrees(planted.angles[:, 1].std()), rel=0.03)


def test_a_transition_that_turns_nothing_is_refused() -> None:
    planted = moving((60, 40), 20, spans=[40.0])
    still = np.array([planted.places, planted.places])
    with pytest.raises(ValueError, match="body 2 turns about no axis"):
        describe_motion(planted.ensemble, transition=still)


def test_a_hierarchy_of_other_sites_is_refused() -> None:
    ensemble = moving((60, 40), 3).ensemble
    with pytest.raises(ValueError, match="the same 100 sites, got one of 2"):
        split_motions(ensemble, link(np.array([[0.0, 1.0], [1.0, 0.0]])))
