"""Short gaps of tracks are filled by how neighbours moved; long ones are left."""

import re
from typing import Literal

import numpy as np
import pytest

import timme
from tests.motion.test_domains import jaccard
from timme import Ensemble
from timme.analysis import Moved
from timme.motion import describe_motion, fill_gaps
from timme.synthetic import moving

NOISE = 0.1


def planted(
    n_dimensions: Literal[2, 3], share: float, seed: int
) -> tuple[Ensemble, np.ndarray, np.ndarray]:
    """Two bodies on a hinge, some of whose places are missed; all places, and the bodies."""
    made = moving((60, 40), 30, spans=[40.0], noise=NOISE, seed=seed)
    places = np.array(made.ensemble.coordinates(), np.float64)
    if n_dimensions == 2:
        places = in_a_plane(seed)
    missed = np.random.default_rng(seed).random(places.shape[:2]) < share
    seen = np.where(missed[:, :, None], np.nan, places)
    labels = np.repeat([0, 1], [60, 40])
    return Ensemble.from_array(seen, gaps=True), places, labels


def in_a_plane(seed: int) -> np.ndarray:
    """Two discs, the smaller of which turns by 40 degrees about a point between both."""
    rng = np.random.default_rng(seed)
    big, small = rng.uniform(-8, 8, (60, 2)), rng.uniform((10, -6), (22, 6), (40, 2))
    snapshots = np.empty((30, 100, 2))
    for snapshot, angle in enumerate(np.radians(rng.permutation(np.linspace(-20, 20, 30)))):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        snapshots[snapshot] = np.concatenate([big, (small - (9, 0)) @ turn.T + (9, 0)])
    return snapshots + rng.normal(0, NOISE, snapshots.shape)


@pytest.mark.parametrize("n_dimensions", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_bodies_of_gapped_tracks_are_those_of_whole_ones(
    n_dimensions: Literal[2, 3], seed: int
) -> None:
    gapped, places, labels = planted(n_dimensions, 0.05, seed)
    whole = describe_motion(Ensemble.from_array(places))
    with pytest.warns(UserWarning, match="filled in"):
        found = describe_motion(gapped)
    assert found.bodies.n_bodies == 2
    assert jaccard(found.bodies.labels, labels) > 0.95
    assert found.hinges[0].kind == whole.hinges[0].kind
    assert found.hinges[0].range == pytest.approx(whole.hinges[0].range, rel=0.02)


@pytest.mark.parametrize("n_dimensions", [2, 3])
def test_places_are_filled_to_within_what_sites_tremble(n_dimensions: Literal[2, 3]) -> None:
    gapped, places, _ = planted(n_dimensions, 0.05, 3)
    with pytest.warns(UserWarning, match="filled in"):
        filled = fill_gaps(gapped).coordinates()
    missed = np.isnan(gapped.coordinates()).any(axis=2)
    np.testing.assert_array_equal(filled[~missed], gapped.coordinates()[~missed])
    assert np.isfinite(filled).all()
    error = np.linalg.norm(filled - places, axis=2)[missed]
    # The place then and now tremble, and so does what it is laid on: beside the hinge, more.
    assert np.sqrt(np.mean(np.sort(error)[: int(0.9 * len(error))] ** 2)) < 3 * NOISE


def test_a_gap_is_filled_from_when_neighbours_stood_alike() -> None:
    """Half of what is around a site shifts with it every other snapshot."""
    rng = np.random.default_rng(8)
    places = np.tile(rng.uniform(-5, 5, (13, 3)), (20, 1, 1))
    places[1::2, :7] += (3, 0, 0)
    places += rng.normal(0, 0.01, places.shape)
    seen = places.copy()
    seen[10, 0] = np.nan
    with pytest.warns(UserWarning, match="1 of 260 places"):
        filled = fill_gaps(Ensemble.from_array(seen, gaps=True)).coordinates()
    np.testing.assert_allclose(filled[10, 0], places[10, 0], atol=0.1)


def test_what_is_seldom_seen_stays_away() -> None:
    gapped, _, _ = planted(3, 0.05, 4)
    places = np.array(gapped.coordinates())
    places[:12, 7] = np.nan
    with pytest.warns(UserWarning, match="filled in"):
        filled = fill_gaps(Ensemble.from_array(places, gaps=True)).coordinates()
    assert np.isnan(filled[:12, 7]).all()


def test_a_snapshot_of_nothing_stays_empty() -> None:
    _, places, _ = planted(3, 0.0, 5)
    places[4] = np.nan
    ensemble = Ensemble.from_array(places, gaps=True)
    assert fill_gaps(ensemble) is ensemble


def test_whole_tracks_stay_as_they_are() -> None:
    _, places, _ = planted(3, 0.0, 6)
    ensemble = Ensemble.from_array(places, gaps=True)
    assert fill_gaps(ensemble) is ensemble


def test_in_a_plane_the_centre_of_rotation_is_told() -> None:
    """The snapshots of this plane do not tumble, so that the point is where it was planted."""
    found = timme.move(in_a_plane(7))
    part = found.part(Moved)
    assert part is not None
    (told,) = re.findall(r"about the point \((\S+), (\S+)\) ±", str(part.facts()))
    assert [float(number) for number in told] == pytest.approx([9, 0], abs=0.1)
