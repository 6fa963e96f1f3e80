"""Reference: rigid fits, mean shapes and superpositions, and verdicts where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.science import motion_naive as naive
from tests.strategies import seeds
from timme.ensemble import Ensemble
from timme.motion import Hinge, bodies, hinge, principal_components, rmsf, superpose
from timme.motion.fits import fit, shape_of
from timme.synthetic import bodies as planted_bodies


def swing(ensemble: Ensemble) -> Hinge:
    return hinge(ensemble, body=np.arange(60, 100), reference=np.arange(60))


@given(seeds, st.integers(4, 12))
def test_the_best_rotation_is_that_of_the_largest_quaternion(seed: int, n_sites: int) -> None:
    rng = np.random.default_rng(seed)
    shape, snapshots = rng.normal(size=(n_sites, 3)), rng.normal(size=(3, n_sites, 3))
    weights = rng.uniform(0.5, 2.0, n_sites)
    found = fit(shape, snapshots, weights)
    for rotation, places in zip(found.rotations, snapshots, strict=True):
        expected = naive.best_rotation(shape, places, weights)
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
    expected = naive.rest_of(snapshots)
    assert found.rest**2 * 6 * n_snapshots == pytest.approx(expected, rel=1e-6)


def test_the_noise_of_a_body_is_what_was_put_in() -> None:
    rng = np.random.default_rng(0)
    shape = 5 * rng.normal(size=(50, 3))
    turns = Rotation.random(40, rng=rng).as_matrix()
    noise = 0.1
    found = shape_of((shape + noise * rng.normal(size=(40, 50, 3))) @ turns)
    # A variance of f independent numbers is known to √(2/f); f = (3·50 − 6)·39.
    assert found.noise == pytest.approx(noise, rel=4 * np.sqrt(0.5 / (144 * 39)))


@pytest.mark.parametrize(
    "places",
    [
        [[1.0, 2, 3]],
        [[1.0, 2, 3]] * 4,
        [[1e9, 0, 0], [1e9 + 1, 0, 0], [1e9, 1, 0]],
        [[0.0, 0, 0], [1, 1, 1]],
        [[0.0, 0, 0], [1, 1, 1], [3, 3, 3]],
    ],
    ids=["one", "point", "far", "two", "line"],
)
def test_points_and_lines_have_no_rotation(places: list[list[float]]) -> None:
    shape = np.array(places)
    turned = shape @ Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix().T
    poses = fit(shape, turned[None])
    assert not poses.unique.any()
    assert np.isnan(poses.rotations).all()
    np.testing.assert_allclose(poses.centres[0], turned.mean(axis=0))
    assert "at one point or on a line" in shape_of(np.stack([shape, turned])).verdict


def test_streaming_gives_what_one_block_does(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = planted_bodies((30, 20), 40, spans=[60.0])
    whole = superpose(planted.ensemble, planted.labels == 0)
    monkeypatch.setattr(Ensemble, "block_length", property(lambda _: 7))
    parts = superpose(planted.ensemble, planted.labels == 0)
    np.testing.assert_allclose(
        parts.ensemble.coordinates(), whole.ensemble.coordinates(), atol=1e-8
    )
    np.testing.assert_allclose(rmsf(parts.ensemble), rmsf(whole.ensemble), rtol=1e-9)


@pytest.mark.parametrize("ask", [bodies, superpose, principal_components, swing])
def test_sites_with_gaps_are_refused(ask: Callable[[Ensemble], object]) -> None:
    snapshots = planted_bodies((60, 40), 6, spans=[60.0]).ensemble.coordinates().copy()
    snapshots[2, 7] = np.nan
    with pytest.raises(ValueError, match="seen in all snapshots, but 1 of"):
        ask(Ensemble.from_array(snapshots, gaps=True))


def test_bad_weights_are_refused() -> None:
    ensemble = planted_bodies((30, 20), 3).ensemble
    with pytest.raises(ValueError, match="one number, not negative, for each of 50 sites"):
        superpose(ensemble, weights=[1.0, 2.0])


def test_a_rod_that_noise_turns_about_itself_has_a_note() -> None:
    rng = np.random.default_rng(5)
    for thick, told in ((0.0, True), (1.0, False)):
        rod = np.column_stack([np.linspace(0, 40, 40), *(thick * rng.normal(size=(2, 40)))])
        snapshots = rod + rng.normal(0, 0.1, (20, 40, 3))
        notes = superpose(Ensemble.from_array(snapshots)).notes
        assert any("nearly a line" in note for note in notes) is told
    # Without noise, the thinnest rod shows how it is turned.
    thin = np.column_stack([np.linspace(0, 40, 40), *(0.1 * rng.normal(size=(2, 40)))])
    assert not superpose(Ensemble.from_array([thin, thin + 1])).notes


def test_snapshots_that_fit_as_mirror_images_are_left_out() -> None:
    rng = np.random.default_rng(6)
    four = 5 * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    notes = superpose(Ensemble.from_array([four, -four, four])).notes
    assert len(notes) == 1
    assert notes[0].startswith("1 snapshots were left out")
    assert notes[0].endswith("its mirror image fits as well")
    nearly = -four + 0.01 * rng.normal(size=(4, 3))
    notes = superpose(Ensemble.from_array([four, nearly])).notes
    assert any("hardly rigid" in note for note in notes)


def test_bodies_cut_by_the_box_are_refused() -> None:
    planted = planted_bodies((30, 20), 4, spans=[30.0])
    snapshots = planted.ensemble.coordinates()
    side = 3 * np.ptp(snapshots)
    whole = Ensemble.from_array(snapshots, boxes=[side] * 3)
    superpose(whole)
    torn = Ensemble.from_array(snapshots % side, boxes=[side] * 3)
    body, rest = np.arange(30, 50), np.arange(30)
    for ask in (
        lambda: bodies(torn),
        lambda: superpose(torn),
        lambda: principal_components(torn),
        lambda: hinge(torn, body=body, reference=rest),
    ):
        with pytest.raises(ValueError, match="whole molecules"):
            ask()


def test_other_dimensions_are_refused() -> None:
    for dimensions in (1, 4):
        with pytest.raises(ValueError, match=f"needs 2 or 3 dimensions, got {dimensions}"):
            superpose(Ensemble.from_array(np.zeros((3, 9, dimensions))))
