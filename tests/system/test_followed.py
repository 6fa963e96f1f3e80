"""Molecules are followed through walls: nothing jumps, and neighbours stay neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import seeds
from timme._arrays import Coordinates, Floats
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
    n_snapshots, n_sites, n_dimensions = wrapped.shape
    frames = ArrayFrames(wrapped, box_matrices(vectors, n_snapshots, n_dimensions))
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


@pytest.mark.parametrize("unseen", [40, 200])
def test_a_particle_that_is_not_seen_for_long_is_refused(unseen: int) -> None:
    """It may have gone round the box meanwhile, wherever it turns up."""
    rng = np.random.default_rng(2)
    true = rng.uniform(0, 10, (1, 20, 2)) + np.cumsum(rng.normal(size=(400, 20, 2)) * 0.5, axis=0)
    wrapped = true % 10.0
    wrapped[100 : 100 + unseen, 0] = np.nan
    with pytest.raises(
        ValueError,
        match=rf"1 of 20 .* not seen for up to {unseen} snapshots, .*start=.*leave out unwrap",
    ):
        following(wrapped, box_matrices([10.0, 10.0], 400, 2))


def test_a_particle_that_moves_little_may_be_unseen_for_long() -> None:
    """One in a cage comes back to where it was, however long that is."""
    rng = np.random.default_rng(4)
    true = rng.uniform(0, 10, (1, 20, 3)) + rng.normal(scale=0.3, size=(400, 20, 3))
    wrapped = true % 10.0
    wrapped[100:300, 0] = np.nan
    found, _ = following(wrapped, box_matrices([10.0, 10.0, 10.0], 400, 3)).read(0, 400)
    moved = (found - true)[:, 0][~np.isnan(found[:, 0, 0])]
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)


def test_a_particle_that_goes_straight_on_is_judged_by_its_own_speed() -> None:
    """Its steps are small and all in one direction: in 40 snapshots it is half round the box."""
    rng = np.random.default_rng(6)
    true = 5 + rng.normal(scale=0.01, size=(400, 30, 3))
    true[:, 3, 0] += 0.1 * np.arange(400)
    wrapped = true % 10.0
    wrapped[100:140, 3] = np.nan
    with pytest.raises(ValueError, match=r"1 of 30 .* not seen for up to 40 snapshots"):
        following(wrapped, box_matrices([10.0, 10.0, 10.0], 400, 3))


def test_progress_is_told() -> None:
    _, wrapped, vectors = walkers(BOXES["straight"])
    told = list[tuple[int, int]]()
    frames = ArrayFrames(wrapped, box_matrices(vectors, 60, 3))
    follow(frames, np.arange(12), progress=lambda *done: told.append(done))
    assert told[-1] == (60, 60)
    assert told == sorted(told)


def images_of(found: Coordinates, true: Floats, vectors: Floats) -> Floats:
    """How many box vectors lie between places that were found and true ones."""
    images: Floats = (found - true) @ np.linalg.inv(vectors)
    return images


SHEARS = {
    "comes and goes": np.abs(np.linspace(-9, 9, 61)),
    "flows": np.linspace(0, 55, 61),
    "goes back to none": np.concatenate([np.linspace(9, 0, 31), np.zeros(30)]),
}


@pytest.mark.parametrize("tilts", SHEARS.values(), ids=SHEARS)
@pytest.mark.parametrize("lengths", [(20.0, 20.0, 20.0), (30.0, 20.0, 10.0)])
def test_shear_of_any_size_is_followed(tilts: Floats, lengths: tuple[float, ...]) -> None:
    """Boxes are reduced, as readers do it, so that their vectors change places on the way."""
    rng = np.random.default_rng(7)
    vectors = np.tile(np.diag(lengths), (len(tilts), 1, 1))
    vectors[:, 1, 0] = tilts
    steps = rng.normal(scale=0.02, size=(len(tilts), 8, 3))
    fractions = rng.uniform(0, 1, (8, 3)) + np.cumsum(steps, axis=0)
    wrapped = (fractions % 1.0) @ vectors
    found, boxes = following(wrapped, vectors).read(0, len(tilts))
    assert boxes is not None
    images = images_of(found, fractions @ vectors, vectors)
    np.testing.assert_allclose(images, np.broadcast_to(np.rint(images[0]), images.shape), atol=1e-9)
    # The vectors are those of the first box, deformed as it was.
    change = boxes @ np.linalg.inv(vectors)
    np.testing.assert_allclose(change, np.broadcast_to(change[0], change.shape), atol=1e-9)


@pytest.mark.parametrize("scale", [0.45, 1.6])
def test_a_box_may_shrink_or_grow_by_much_in_one_step(scale: float) -> None:
    fractions = np.array([0.1, 0.15, 0.05])[:, None, None] + np.zeros((3, 1, 3))
    vectors = box_matrices(BOXES["tilted"], 3, 3) * np.array([1.0, scale, 1.0])[:, None, None]
    true = fractions @ vectors
    found, _ = following((fractions % 1.0) @ vectors, vectors).read(0, 3)
    np.testing.assert_allclose(found, true, atol=1e-9)


@pytest.mark.parametrize("tilts", [(0.0, 0.005, 2.0, 0.0, 1.0), (2.4, 2.4, 0.0, 0.0, 0.0)])
def test_a_sheet_is_followed_through_its_tilted_box(tilts: tuple[float, ...]) -> None:
    vectors = np.zeros((5, 3, 3))
    vectors[:, 0, 0], vectors[:, 1, 1], vectors[:, 1, 0] = 10.0, 8.0, tilts
    fractions = np.array([0.9, 0.95, 1.05, 1.1, 1.2])[:, None, None] * np.array([[1.0, 0.3, 0.0]])
    true = fractions @ vectors
    wrapped = (fractions % 1.0) @ vectors
    found, _ = following(wrapped, vectors).read(0, 5)
    np.testing.assert_allclose(found, true, atol=1e-9)


def test_a_selection_goes_where_its_molecule_goes() -> None:
    """Of a long molecule that turns, a single site moves by more than the whole."""
    angles = np.linspace(0, 20, 400)
    ends = 9.0 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    middle = np.linspace(0, 40, 400)[:, None] * np.array([1.0, 0.5, 0.25])
    true = np.stack([middle - ends, middle, middle + ends], axis=1)
    vectors = box_matrices([20.0, 20.0, 20.0], 400, 3)
    images = np.random.default_rng(3).integers(-2, 3, (400, 1, 3)) @ vectors
    frames = follow(ArrayFrames(true + images, vectors), np.zeros(3, np.int64))
    whole, _ = frames.read(0, 400)
    for sites in ([0], [2, 0]):
        part, _ = frames.select(np.array(sites)).read(0, 400)
        np.testing.assert_array_equal(part, whole[:, sites])
    np.testing.assert_allclose(np.diff(whole, axis=0), np.diff(true, axis=0), atol=1e-9)


def test_one_step_of_about_half_the_box_is_refused_among_thousands() -> None:
    places = np.zeros((50, 1000, 3)) + 5.0
    places[30:, 17, 1] += 4.6
    with pytest.raises(ValueError, match=r"1 of 1,000 .* up to 0.46 of the box .* nobody can tell"):
        following(places, box_matrices([10.0, 10.0, 10.0], 50, 3))


@pytest.mark.parametrize(("scale", "doubtful"), [(0.5, False), (1.0, False), (1.2, True)])
def test_steps_are_doubtful_as_soon_as_another_wall_is_not_unlikely(
    scale: float, doubtful: bool
) -> None:
    """One fast particle among many: its own steps count, not those of all."""
    rng = np.random.default_rng(11)
    true = 5 + np.cumsum(rng.normal(scale=0.1, size=(300, 500, 3)), axis=0)
    true[:, 7] = 5 + np.cumsum(rng.normal(scale=scale, size=(300, 3)), axis=0)
    vectors = box_matrices([10.0, 10.0, 10.0], 300, 3)
    assert np.abs(np.diff(true, axis=0)).max() < 4.5  # none is nearly half the box
    if doubtful:
        with pytest.raises(ValueError, match="1 of 500 molecules"):
            following(true % 10.0, vectors)
    else:
        found, _ = following(true % 10.0, vectors).read(0, 300)
        np.testing.assert_allclose(np.diff(found, axis=0), np.diff(true, axis=0), atol=1e-9)


def test_a_molecule_of_which_some_is_not_seen_goes_on() -> None:
    true, wrapped, vectors = walkers(BOXES["straight"], n_sites=1)
    sites = np.concatenate([wrapped, wrapped + 0.5], axis=1)
    sites[10:13, 0] = np.nan
    frames = follow(ArrayFrames(sites, box_matrices(vectors, 60, 3)), np.zeros(2, np.int64))
    found, _ = frames.read(0, 60)
    seen = np.isfinite(found[:, 0, 0])
    assert seen.sum() == 57
    moved = found[:, 1] - true[:, 0] - 0.5
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    np.testing.assert_allclose(found[seen, 0], found[seen, 1] - 0.5, atol=1e-9)


def test_little_is_held_however_long_the_trajectory(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()

    class Watched(ArrayFrames):
        def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
            read.append(stop - start)
            return super().read(start, stop)

    monkeypatch.setattr("timme.system.followed._READ_BYTES", 8 * 3 * 12 * 7)
    _, wrapped, vectors = walkers(BOXES["straight"])
    follow(Watched(wrapped, box_matrices(vectors, 60, 3)), np.arange(12))
    assert max(read) == 7
    assert sum(read) == 60
