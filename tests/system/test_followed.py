"""Molecules are followed through walls: nothing jumps, and neighbours stay neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import seeds
from timme._arrays import Floats
from timme.system.boxes import box_matrices
from timme.system.followed import FollowedFrames, follow
from timme.system.held_frames import ArrayFrames

BOXES = {
    "straight": [10.0, 11.0, 12.0],
    "tilted": [10.0, 11.0, 12.0, 70.0, 80.0, 100.0],
    "octahedron": [10.0, 10.0, 10.0, 70.52878, 109.4712, 70.52878],
}


def walkers(
    box: list[float], n_snapshots: int = 60, n_sites: int = 12, *, breathing: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Walkers in a box that may change: where they truly are, wrapped, and the boxes."""
    rng = np.random.default_rng(5)
    scale = 1 + breathing * np.cumsum(rng.normal(size=(n_snapshots, 1, 1)), axis=0)
    vectors = box_matrices(box, 1, 3) * scale
    steps = rng.normal(scale=0.05, size=(n_snapshots, n_sites, 3))
    fractions = rng.uniform(0, 1, (n_sites, 3)) + np.cumsum(steps, axis=0)
    return fractions @ vectors, (fractions % 1.0) @ vectors, vectors


def following(wrapped: Floats, vectors: Floats) -> FollowedFrames:
    n_snapshots, n_sites, _ = wrapped.shape
    frames = ArrayFrames(wrapped, box_matrices(vectors, n_snapshots, 3))
    return follow(frames, np.arange(n_sites))


@pytest.mark.parametrize("breathing", [0.0, 0.003])
@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_walkers_go_on_through_the_walls(box: list[float], breathing: float) -> None:
    true, wrapped, vectors = walkers(box, breathing=breathing)
    found, boxes = following(wrapped, vectors).read(0, len(true))
    assert boxes is not None
    # Each is some image of the true one, always the same.
    images = (found - true) @ np.linalg.inv(vectors)
    np.testing.assert_allclose(images, np.broadcast_to(np.rint(images[0]), images.shape), atol=1e-9)


@given(seeds, st.booleans(), st.integers(1, 40))
def test_any_walk_agrees_with_the_reference(seed: int, film: bool, n_snapshots: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(4, 6, (n_snapshots, 3))
    if film:
        lengths[:, 2] = 0.0
    boxes = lengths[:, :, None] * np.eye(3)
    places = np.cumsum(rng.normal(scale=0.2, size=(n_snapshots, 1, 3)), axis=0)
    places[..., :2] %= lengths[:, None, :2]
    found, _ = following(places, boxes).read(0, n_snapshots)
    np.testing.assert_allclose(found[:, 0], naive.followed(places[:, 0], boxes), atol=1e-9)


def test_snapshots_are_the_same_however_they_are_read() -> None:
    _, wrapped, vectors = walkers(BOXES["tilted"])
    frames = following(wrapped, vectors)
    whole, boxes = frames.read(0, 60)
    assert boxes is not None
    for start, stop in ((0, 1), (15, 17), (16, 16), (33, 60), (59, 60)):
        part, around = frames.read(start, stop)
        assert around is not None
        np.testing.assert_allclose(part, whole[start:stop], atol=1e-12)
        np.testing.assert_allclose(around, boxes[start:stop], atol=1e-12)
    some = frames.keep([3, 16, 17, 58]).select(np.array([7, 2]))
    part, _ = some.keep(range(1, 4)).read(0, 3)
    np.testing.assert_allclose(part, whole[[16, 17, 58]][:, [7, 2]], atol=1e-12)


def test_a_molecule_moves_as_a_whole() -> None:
    true, _, vectors = walkers(BOXES["straight"], n_sites=4)
    # Two sites beside each walker, whole but anywhere: the image changes at random.
    images = np.random.default_rng(0).integers(-1, 2, (60, 4, 3)) @ vectors
    shifts = np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    sites = ((true + images)[:, :, None] + shifts).reshape(60, 12, 3)
    molecules = np.repeat(np.arange(4), 3)
    frames = ArrayFrames(sites, box_matrices(vectors, 60, 3))
    found, _ = follow(frames, molecules).read(0, 60)
    expected = (true[:, :, None] + shifts).reshape(60, 12, 3)
    moved = found - expected
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    part, _ = follow(frames, molecules).select(np.array([4, 11])).read(0, 60)
    np.testing.assert_allclose(part, found[:, [4, 11]], atol=1e-9)


def test_steps_of_half_a_box_are_refused() -> None:
    rng = np.random.default_rng(1)
    places = rng.uniform(0, 10, (20, 30, 3))
    vectors = box_matrices([10.0, 10.0, 10.0], 20, 3)
    with pytest.raises(ValueError, match=r"nobody can tell through which wall.*closer in time"):
        following(places, vectors)


def test_snapshots_without_a_box_are_refused() -> None:
    places = np.zeros((3, 2, 3))
    with pytest.raises(ValueError, match="needs a periodic box in every snapshot"):
        follow(ArrayFrames(places), np.arange(2))


def test_a_particle_that_is_not_seen_goes_on_from_where_it_was_seen_last() -> None:
    true, wrapped, vectors = walkers(BOXES["straight"], n_sites=3)
    wrapped[20:22, 1] = np.nan
    found, _ = following(wrapped, vectors).read(0, 60)
    assert np.isnan(found[20:22, 1]).all()
    seen = ~np.isnan(found)
    images = ((found - true) @ np.linalg.inv(vectors))[seen]
    np.testing.assert_allclose(images, np.rint(images), atol=1e-9)
    assert np.abs(found[22, 1] - found[19, 1]).max() < 5


def test_progress_is_told() -> None:
    _, wrapped, vectors = walkers(BOXES["straight"])
    told = list[tuple[int, int]]()
    frames = ArrayFrames(wrapped, box_matrices(vectors, 60, 3))
    follow(frames, np.arange(12), progress=lambda *done: told.append(done))
    assert told[-1] == (60, 60)
    assert told == sorted(told)
