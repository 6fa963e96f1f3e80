"""Boxes around the paths of points; these run without compilation as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import seeds
from timme._kernels import paths


@given(seeds, st.integers(1, 70))
def test_a_group_has_the_boxes_of_its_members_and_the_box_around_them(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    centres, halves = rng.normal(size=(count, 3)), rng.uniform(0, 2, (count, 3))
    halves[rng.random(count) < 0.2] = -np.inf  # never seen
    order = rng.permutation(count)
    low, high = np.empty((2, count, 3))
    paths.box_paths(centres, halves, order, low, high)
    n_groups = -(-count // paths.GROUP)
    boxes = np.empty((n_groups, 2, 3, paths.GROUP))
    paths.group_boxes(low, high, count, boxes)
    for group in range(n_groups):
        members = order[group * paths.GROUP : (group + 1) * paths.GROUP]
        seen = [k for k, member in enumerate(members) if halves[member, 0] >= 0]
        own = [members[k] for k in seen]
        unseen = sorted(set(range(paths.GROUP)) - set(seen))
        assert (boxes[group, 1][:, unseen] == -np.inf).all()
        found = boxes[group][:, :, seen].transpose(0, 2, 1)
        assert found[0] == pytest.approx(centres[own], abs=1e-11)
        assert found[1] == pytest.approx(halves[own], abs=1e-11)
        lowest = [min(centres[own, d] - halves[own, d], default=np.inf) for d in range(3)]
        highest = [max(centres[own, d] + halves[own, d], default=-np.inf) for d in range(3)]
        assert low[group].tolist() == lowest
        assert high[group].tolist() == highest


@pytest.mark.parametrize("period", [np.inf, 3.0])
@given(seeds, st.integers(1, 150), st.integers(1, 4))
def test_extents_reach_all_places_of_a_point(
    period: float, seed: int, n_points: int, n_dimensions: int
) -> None:
    """Each place, or an image of it, is within; and the ends are places themselves."""
    rng = np.random.default_rng(seed)
    n_axes = min(n_dimensions, paths.AXES)
    coordinates = rng.normal(size=(5, n_points, n_dimensions))
    coordinates[rng.random((5, n_points)) < 0.2] = np.nan
    offsets, turns = rng.normal(size=(5, n_dimensions)), rng.normal(size=(5, n_dimensions, n_axes))
    low, high = np.empty((2, n_points, n_axes))
    paths.extents(coordinates, offsets, turns, np.full(n_axes, period), low, high)
    places = np.einsum("fpd,fda->fpa", coordinates - offsets[:, None], turns)
    for p in range(n_points):
        seen = places[~np.isnan(places[:, p, 0]), p]
        for axis in range(n_axes):
            begin, end = low[p, axis], high[p, axis]
            if not len(seen):
                assert begin > end
                continue
            steps = np.zeros((len(seen), 1))
            if period < np.inf:
                steps = period * np.arange(-99.0, 100.0)[None]
            images = seen[:, axis, None] + steps
            within = (images >= begin - 1e-9) & (images <= end + 1e-9)
            assert within.any(axis=1).all()
            assert np.abs(images - begin).min() < 1e-9
            assert np.abs(images - end).min() < 1e-9


@pytest.mark.parametrize("n_frames", [32, 33, 64, 70])
def test_a_meeting_in_any_one_frame_is_seen(n_frames: int) -> None:
    """Two points are 5 apart; 1 apart, or 1.5, in one frame in turn; limits are 1 and 2.

    A point that is not seen in other frames meets all the same.
    """
    for frame in range(n_frames):
        for apart, surely, perhaps in ((1.0, True, True), (1.5, False, True), (5.0, False, False)):
            xyz = np.zeros((2, 3, n_frames), np.float32)
            xyz[1, 2] = 5.0
            xyz[1, 2, frame] = apart
            xyz[1, 0, frame - 1] = np.nan
            limits = np.float32(1.0), np.float32(4.0)
            assert paths.meet_in_space(xyz, 0, 1, *limits) == (surely, perhaps)
