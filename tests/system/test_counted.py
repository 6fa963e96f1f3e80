"""Walls that a file counts: believed whatever moves, unless the counts begin again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from timme._arrays import Floats
from timme.system.boxes import box_matrices
from timme.system.counted import follow_counted
from timme.system.held_frames import ArrayFrames
from timme.system.pace import Pace

SIDE = 10.0


def walk(
    scale: float, n_snapshots: int = 40, n_sites: int = 12, *, seed: int = 0, kind: str = "even"
) -> Floats:
    """Places in boxes: all alike, one in ten mobile, rare hops, straight on, or one sudden push."""
    rng = np.random.default_rng(seed)
    shape = n_snapshots, n_sites, 3
    steps = rng.normal(scale=scale, size=shape)
    if kind == "mixed":
        steps *= np.where(np.arange(n_sites) % 10, 0.03, 1.0)[:, None]
    elif kind == "hops":
        steps = steps * (rng.uniform(size=shape[:2]) < 0.02)[..., None]
        steps += rng.normal(scale=0.02, size=shape)
    elif kind == "straight":
        steps = 0.02 * rng.normal(size=shape) + rng.normal(scale=scale, size=shape[1:])
    elif kind == "push":
        steps = rng.normal(scale=0.01, size=shape)
        steps[n_snapshots // 2] += rng.normal(scale=scale, size=shape[1:])
    places: Floats = rng.uniform(size=shape[1:]) + np.cumsum(steps, axis=0) - steps[0]
    return places


def follow(places: Floats, **options: Any) -> tuple[Floats, tuple[str, ...]]:
    frames = ArrayFrames(SIDE * places, box_matrices([SIDE] * 3, len(places), 3))
    found, notes = follow_counted(frames, np.arange(places.shape[1]), **options)
    return np.asarray(found.read(0, len(places))[0], np.float64) / SIDE, notes


def with_breaks(places: Floats, breaks: list[int]) -> Floats:
    """Count walls from 0 on, from each of these snapshots on."""
    images = np.floor(places)
    counts = images.copy()
    for snapshot in breaks:
        counts[snapshot:] -= counts[snapshot].copy()
    found: Floats = places - images + counts
    return found


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["even", "mixed", "hops", "straight", "push"])
@pytest.mark.parametrize("n_sites", [1, 3, 40])
def test_honest_counts_are_believed_however_far_things_move(
    kind: str, scale: float, n_sites: int
) -> None:
    for seed, n_snapshots in enumerate((2, 5, 40)):
        places = walk(scale, n_snapshots, n_sites, seed=seed, kind=kind)
        found, notes = follow(places)
        np.testing.assert_allclose(found, places, atol=1e-9)
        assert notes == ()


@pytest.mark.parametrize("scale", [0.01, 0.03, 0.05])
@pytest.mark.parametrize("breaks", [[20], [10, 20, 30]])
@pytest.mark.parametrize("n_sites", [12, 100])
def test_counts_that_begin_again_are_gone_on_from(
    scale: float, breaks: list[int], n_sites: int
) -> None:
    places = walk(scale, n_sites=n_sites, seed=1) - 0.2
    given = with_breaks(places, breaks)
    assert np.abs(given - places).max() > 0.9
    found, notes = follow(given)
    np.testing.assert_allclose(found, places, atol=1e-9)
    assert len(notes) == 1
    assert "counted from elsewhere from snapshot" in notes[0]


@pytest.mark.parametrize("few", [True, False])
def test_counts_may_go_on_from_anything_where_a_file_begins(few: bool) -> None:
    rng = np.random.default_rng(3)
    places = walk(0.05)
    given = places.copy()
    given[20:] += rng.integers(-2, 3, size=places.shape[1:]) * (rng.uniform(size=3) > 0)
    if few:
        given[20:, 2:] = places[20:, 2:]
    found, notes = follow(given, files=[20])
    np.testing.assert_allclose(found, places, atol=1e-9)
    assert "from snapshot 21 on" in notes[0]
    if not few:  # nobody moves so, all at once
        np.testing.assert_allclose(follow(given)[0], places, atol=1e-9)


@pytest.mark.parametrize("snapshot", [3, 20])
def test_counts_that_begin_again_between_long_steps_are_refused(snapshot: int) -> None:
    told = rf"from snapshot {snapshot + 1} on, and .* before and after it by itself \(start="
    with pytest.raises(ValueError, match=told):
        follow(with_breaks(walk(0.4, n_sites=60), [snapshot]))


def test_every_run_is_put_where_the_first_began() -> None:
    rng = np.random.default_rng(5)
    first, other = walk(0.03, seed=1), walk(0.03, seed=2)
    other = other - other[0] + first[0] + 0.02 * rng.normal(size=first.shape[1:])
    both = np.concatenate([first, other])
    given = both.copy()
    given[40:] += rng.integers(-2, 3, size=first.shape[1:])
    frames = ArrayFrames(SIDE * both, box_matrices([SIDE] * 3, 80, 3))
    pace = Pace.of(frames, [40])
    found, notes = follow(given, pace=pace)
    np.testing.assert_allclose(found, both, atol=1e-9)
    assert "from snapshot 41 on" in notes[0]
    assert follow(both, pace=pace)[1] == ()
    with pytest.raises(ValueError, match="does not begin as the first one did"):
        follow(np.concatenate([first, rng.uniform(size=other.shape)]), pace=pace)
    alone = np.concatenate([first, other + 0.5])[:, :1]  # for whom it does not matter
    np.testing.assert_allclose(follow(alone, pace=pace)[0], alone, atol=1e-9)


@pytest.mark.parametrize("broken", [False, True])
def test_a_box_that_is_sheared_and_flipped_breaks_no_count(broken: bool) -> None:
    places = walk(0.02, 60, 20, seed=6) - 0.1
    tilts = 0.05 * np.arange(60)
    boxes = np.array([[[1.0, 0, 0], [tilt - np.rint(tilt), 1, 0], [0, 0, 1]] for tilt in tilts])
    followed = np.array([[[1.0, 0, 0], [tilt, 1, 0], [0, 0, 1]] for tilt in tilts])
    true = np.einsum("fmd,fde->fme", places, followed)
    given = np.einsum("fmd,fde->fme", with_breaks(places, [25] if broken else []), followed)
    frames = ArrayFrames(SIDE * given, box_matrices(SIDE * boxes, 60, 3))
    found, notes = follow_counted(frames, np.arange(20))
    np.testing.assert_allclose(found.read(0, 60)[0], SIDE * true, atol=1e-8)
    assert len(notes) == broken


def test_trusted_counts_are_believed_where_they_seem_to_begin_again() -> None:
    places = walk(0.08, n_sites=100)
    places[20:] += np.where(np.arange(100) % 2, 0.8, -0.8)[:, None]  # a pulse between snapshots
    with pytest.raises(ValueError, match=r"counted from elsewhere .*believe .*trust_images"):
        follow(places)
    found, notes = follow(places, trusted=True)
    np.testing.assert_allclose(found, places, atol=1e-12)
    assert not notes
