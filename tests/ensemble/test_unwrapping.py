"""Reference: molecules go on across the faces of a box, or are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.ensemble.builders import BOXES, Floats, walkers, wrapped
from tests.strategies import seeds
from timme.ensemble import Ensemble, Frames, Images
from timme.ensemble.frames import ArraySource
from timme.ensemble.space import box_matrices
from timme.ensemble.unwrapping import fixed_images, unwrap

CUBE = 10.0 * np.eye(3)


def frames_of(places: Floats, box: npt.ArrayLike, times: Floats | None = None) -> Frames:
    n_snapshots, _, n_dimensions = places.shape
    matrices = box_matrices(box, n_snapshots, n_dimensions)
    times = np.full(n_snapshots, np.nan) if times is None else times
    return Frames.of(ArraySource(places, matrices, times))


def unwrapped(frames: Frames, **options: object) -> Floats:
    """Coordinates of sites that are molecules by themselves."""
    step = unwrap(frames, np.arange(frames.shape[1]), **options)  # type: ignore[arg-type]
    return np.asarray(frames.then(step).read(0, frames.shape[0])[0], np.float64)


def assert_fixed_images(found: npt.NDArray[Any], true: Floats, box: npt.ArrayLike) -> None:
    """Whatever image each particle is in, it is the same in all snapshots."""
    moved = found - true
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    np.testing.assert_allclose(wrapped(moved + 1e-6, box), 1e-6, atol=1e-8)


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_walkers_go_on_across_the_faces(box: list[list[float]]) -> None:
    true, cut = walkers(np.array(box))
    found = unwrapped(frames_of(cut, np.tile(box, (80, 1, 1))))
    assert_fixed_images(found, true, box)
    np.testing.assert_array_equal(found[0], cut[0])


@given(seeds, st.booleans(), st.integers(1, 30))
def test_any_walk_in_a_box_that_changes_agrees_with_the_reference(
    seed: int, slab: bool, n_snapshots: int
) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(4, 6, (n_snapshots, 3))
    if slab:
        lengths[:, 2] = 0.0
    boxes = lengths[:, :, None] * np.eye(3)
    places = np.cumsum(rng.normal(scale=0.2, size=(n_snapshots, 1, 3)), axis=0)
    places[..., :2] %= lengths[:, None, :2]
    found = unwrapped(frames_of(places, boxes), strict=False)
    np.testing.assert_allclose(found[:, 0], naive.unwrapped(places[:, 0], boxes), atol=1e-9)


def test_snapshots_are_the_same_however_they_are_read() -> None:
    _, cut = walkers(CUBE, n_snapshots=150)
    frames = frames_of(cut, CUBE)
    whole = frames.then(unwrap(frames, np.arange(10)))
    expected, boxes = whole.read(0, 150)
    assert boxes is not None
    for start, stop in ((0, 1), (63, 66), (149, 150)):
        np.testing.assert_array_equal(whole.read(start, stop)[0], expected[start:stop])
    some = whole.keep([3, 16, 64, 99]).select(np.array([7, 2])).keep(range(1, 4))
    np.testing.assert_array_equal(some.read(0, 3)[0], expected[[16, 64, 99]][:, [7, 2]])


def test_a_molecule_moves_as_a_whole() -> None:
    true, _ = walkers(CUBE, n_sites=4)
    shifts = np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    images = np.random.default_rng(0).integers(-1, 2, (80, 4, 1, 3)) @ CUBE
    sites = (true[:, :, None] + images + shifts).reshape(80, 12, 3)
    frames, molecules = frames_of(sites, CUBE), np.repeat([5, 9, 2, 7], 3)
    found, _ = frames.then(unwrap(frames, molecules)).read(0, 80)
    assert_fixed_images(found, (true[:, :, None] + shifts).reshape(80, 12, 3), CUBE)


@pytest.mark.parametrize("tilts", [np.abs(np.linspace(-9, 9, 61)), np.linspace(0, 55, 61)])
def test_shear_of_any_size_is_unwrapped(tilts: Floats) -> None:
    """Boxes are reduced, so that their vectors change places on the way."""
    rng = np.random.default_rng(7)
    vectors = np.tile(np.diag([30.0, 20.0, 10.0]), (61, 1, 1))
    vectors[:, 1, 0] = tilts
    steps = rng.normal(scale=0.02, size=(61, 8, 3))
    fractions = rng.uniform(0, 1, (8, 3)) + np.cumsum(steps, axis=0)
    found = unwrapped(frames_of((fractions % 1.0) @ vectors, vectors))
    images = (found - fractions @ vectors) @ np.linalg.inv(vectors)
    np.testing.assert_allclose(images, np.broadcast_to(np.rint(images[0]), images.shape), atol=1e-9)


# ---- what is refused -----------------------------------------------------------------------------


def test_steps_after_which_the_image_is_uncertain_are_refused() -> None:
    """Of 12,000 Gaussian steps of 0.1 and 0.2 boxes, 0 and 300 exceed 0.45."""
    short, long = (walkers(CUBE, n_snapshots=400, step=step)[1] for step in (1.0, 2.0))
    unwrapped(frames_of(short, CUBE))
    with pytest.raises(ValueError, match=r"from one snapshot to the next.*closer in time"):
        unwrapped(frames_of(long, CUBE))
    assert np.isfinite(unwrapped(frames_of(long, CUBE), strict=False)).all()


def test_few_long_steps_are_refused_by_their_mean_square() -> None:
    """Steps of 0.3 of the box: the other way around, 0.7, is only exp(2.2) times less likely."""
    cut = np.cumsum(np.full((10, 1, 3), 3.0), axis=0) % 10.0
    with pytest.raises(ValueError, match=r"1 of 1 molecules or particles .* by up to 0\.3"):
        unwrapped(frames_of(cut, CUBE))


def test_a_short_gap_is_bridged_and_a_long_one_is_refused() -> None:
    true, cut = walkers(CUBE, n_sites=3, step=0.3)
    longest = np.abs(np.diff(true, axis=0)).max() / 10
    bridged = int(0.5 / longest)
    assert bridged > 1
    cut[20 : 19 + bridged, 1] = np.nan
    seen = np.flatnonzero(np.isfinite(cut[:, 1, 0]))
    assert_fixed_images(unwrapped(frames_of(cut, CUBE))[seen], true[seen], CUBE)
    cut[20 : 21 + bridged, 1] = np.nan
    with pytest.raises(ValueError, match=r"1 of 3 .* not seen for up to"):
        unwrapped(frames_of(cut, CUBE))
    found = unwrapped(frames_of(cut, CUBE), strict=False)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(cut))


def test_missing_snapshots_count_by_their_times() -> None:
    true, cut = walkers(CUBE, step=0.3)
    kept = np.r_[0:40, 41:80]
    assert_fixed_images(unwrapped(frames_of(cut[kept], CUBE, 2.0 * kept)), true[kept], CUBE)
    kept = np.r_[0:40, 60:80]
    with pytest.raises(ValueError, match=r"10 of 10 .* not seen for up to 21;"):
        unwrapped(frames_of(cut[kept], CUBE, 2.0 * kept))


def test_boxes_that_are_missing_or_change_too_much_are_refused() -> None:
    places = np.ones((3, 2, 3))
    open_space = Frames.of(ArraySource(places, None, np.zeros(3)))
    with pytest.raises(ValueError, match="needs a periodic box in every snapshot"):
        unwrap(open_space, np.arange(2))
    with pytest.raises(ValueError, match="the box changes too much"):
        unwrapped(frames_of(places, [CUBE, 2.5 * CUBE, CUBE]))
    places[0, 1] = np.nan
    with pytest.raises(ValueError, match="needs all sites in snapshot 1, the first"):
        unwrapped(frames_of(places, CUBE))


# ---- runs, ensembles, flags ----------------------------------------------------------------------


def test_later_runs_begin_at_the_image_nearest_to_the_first_or_are_refused() -> None:
    true, cut = walkers(CUBE, step=0.3)
    again = np.concatenate([cut, cut[:1] + 0.01, cut[1:]]) % 10.0
    found = unwrapped(frames_of(again, CUBE), starts=[80])
    np.testing.assert_allclose(found[81:], found[1:80], atol=1e-9)
    np.testing.assert_allclose(found[80], found[0] + 0.01, atol=1e-9)
    with pytest.raises(ValueError, match=r"to snapshot 81, where another run starts"):
        unwrapped(frames_of(np.concatenate([cut, (cut + 4) % 10]), CUBE), starts=[80])
    loose = unwrapped(frames_of(again, CUBE), starts=[80], strict=False)
    np.testing.assert_array_equal(loose[80], again[80])
    assert_fixed_images(loose[81:], true[1:], CUBE)


def test_an_unwrapped_ensemble_has_no_jumps_and_the_same_distances() -> None:
    _, cut = walkers(CUBE)
    cut[10:14, 2] = np.nan
    cut[:5, 3] = np.nan
    ensemble = Ensemble.from_array(cut, boxes=CUBE, gaps=True)
    ensemble = replace(ensemble, runs=np.repeat([0, 1], 40))
    found = np.asarray(ensemble.unwrapped().coordinates(), np.float64)
    np.testing.assert_allclose(wrapped(found, CUBE), cut, atol=1e-9)
    for run in (found[:40], found[40:]):
        for site in range(10):
            seen = run[~np.isnan(run[:, site, 0]), site]
            assert max(np.abs(b - a).max() for a, b in pairwise(seen)) < 5
    np.testing.assert_array_equal(found[[0, 40]], cut[[0, 40]])
    open_space = Ensemble.from_array(cut, gaps=True)
    assert open_space.unwrapped() is open_space


def test_fixed_images_are_those_of_the_first_snapshot() -> None:
    places = np.zeros((2, 3, 3))
    places[:, :, 0] = [[1, 2, 9], [1, 2, 5]]
    ensemble = Ensemble.from_array(places, boxes=CUBE)
    images = fixed_images(replace(ensemble, images=Images(np.array([0, 0, 4]))))
    assert images.origin is not None
    np.testing.assert_allclose(images.origin[:, 0], [1.5, 1.5, 9.0])
    with pytest.raises(ValueError, match="needs a periodic box"):
        fixed_images(Ensemble.from_array(places))
