"""Superposed ensembles: the body held still, streaming, gaps, and refusals."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.motion import reference
from timme import Ensemble
from timme.motion import distance_components, hinge, principal_components, rmsf, superpose
from timme.synthetic import moving


def test_the_first_snapshot_stays_where_it_is_if_the_body_is_rigid() -> None:
    planted = moving((30, 20), 6, spans=[60.0], noise=0.0)
    laid = superpose(planted.ensemble, planted.labels == 0).ensemble
    np.testing.assert_allclose(laid.coordinates()[0], planted.ensemble.coordinates()[0], atol=1e-8)
    assert rmsf(laid)[:30].max() < 1e-7


def test_streaming_gives_what_one_block_does(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = moving((30, 20), 40, spans=[60.0])
    whole = superpose(planted.ensemble, planted.labels == 0)
    monkeypatch.setattr(Ensemble, "block_length", property(lambda _: 7))
    parts = superpose(planted.ensemble, planted.labels == 0)
    np.testing.assert_allclose(
        parts.ensemble.coordinates(), whole.ensemble.coordinates(), atol=1e-8
    )
    np.testing.assert_allclose(rmsf(parts.ensemble), rmsf(whole.ensemble), rtol=1e-9)


def test_rmsf_is_that_of_loops_where_sites_are_seen() -> None:
    rng = np.random.default_rng(1)
    snapshots = rng.normal(size=(9, 5, 3))
    snapshots[rng.random((9, 5)) < 0.3] = np.nan
    found = rmsf(Ensemble.from_array(snapshots, gaps=True))
    np.testing.assert_allclose(found, reference.rmsf(snapshots), rtol=1e-12)


def test_a_heavy_site_is_held_stiller() -> None:
    rng = np.random.default_rng(2)
    snapshots = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]]) + 0.3 * rng.normal(
        size=(50, 4, 3)
    )
    ensemble = Ensemble.from_array(snapshots)
    plain = rmsf(superpose(ensemble).ensemble)
    heavy = rmsf(superpose(ensemble, weights=[50.0, 1, 1, 1]).ensemble)
    assert heavy[0] < 0.3 * plain[0]


def test_snapshots_are_laid_onto_given_positions() -> None:
    planted = moving((30, 20), 5, spans=[40.0], noise=0.0)
    turn = Rotation.from_rotvec([0.1, 0.9, 0.4]).as_matrix()
    onto = planted.places[:30] @ turn.T + 7
    laid = superpose(planted.ensemble, np.arange(30), onto=onto).ensemble.coordinates()
    np.testing.assert_allclose(laid[:, :30], [onto] * 5, atol=1e-7)


def test_in_the_plane_too() -> None:
    rng = np.random.default_rng(4)
    shape, angles = rng.normal(size=(6, 2)), rng.uniform(-3, 3, 5)
    turns = np.moveaxis(
        np.array([[np.cos(angles), np.sin(angles)], [-np.sin(angles), np.cos(angles)]]), -1, 0
    )
    laid = superpose(Ensemble.from_array(shape @ turns + 3)).ensemble
    assert rmsf(laid).max() < 1e-9


def test_snapshots_without_the_body_are_left_out_and_counted() -> None:
    snapshots = moving((30, 20), 6, spans=[60.0]).ensemble.coordinates().copy()
    snapshots[2, :28] = np.nan
    found = superpose(Ensemble.from_array(snapshots, gaps=True), np.arange(30))
    assert found.ensemble.n_snapshots == 5
    assert "1 snapshots were left out" in found.notes[0]


@pytest.mark.parametrize(
    ("sites", "words"), [([3], "single site"), ([3, 9], "on a line")], ids=["one", "two"]
)
def test_a_body_without_orientation_is_refused(sites: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        superpose(moving((30, 20), 3).ensemble, sites)


def test_bad_weights_are_refused() -> None:
    ensemble = moving((30, 20), 3).ensemble
    with pytest.raises(ValueError, match="one number, not negative, for each of 50 sites"):
        superpose(ensemble, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match='"mass" or one number'):
        superpose(ensemble, weights="charge")


def test_a_rod_that_noise_alone_turns_about_itself_is_told() -> None:
    rng = np.random.default_rng(5)
    for thick, told in ((0.0, True), (1.0, False)):
        rod = np.column_stack([np.linspace(0, 40, 40), *(thick * rng.normal(size=(2, 40)))])
        snapshots = rod + rng.normal(0, 0.1, (20, 40, 3))
        notes = superpose(Ensemble.from_array(snapshots)).notes
        assert any("nearly a line" in note for note in notes) is told
    # Without noise, the thinnest rod shows how it is turned.
    thin = np.column_stack([np.linspace(0, 40, 40), *(0.1 * rng.normal(size=(2, 40)))])
    assert not superpose(Ensemble.from_array([thin, thin + 1])).notes


def test_mirror_images_are_told_as_such() -> None:
    rng = np.random.default_rng(6)
    four = 5 * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    notes = superpose(Ensemble.from_array([four, -four, four])).notes
    assert notes == ("1 snapshots were left out: the mirror image of the body fits them as well",)
    nearly = -four + 0.01 * rng.normal(size=(4, 3))
    notes = superpose(Ensemble.from_array([four, nearly])).notes
    assert any("hardly rigid" in note for note in notes)


def test_positions_without_orientation_are_nothing_to_lay_onto() -> None:
    line = np.linspace(0, 1, 30)[:, None] * [1.0, 0, 0]
    with pytest.raises(ValueError, match="on a line"):
        superpose(moving((30, 20), 3).ensemble, np.arange(30), onto=line)


def test_bodies_that_walls_cut_are_refused() -> None:
    planted = moving((30, 20), 4, spans=[30.0])
    snapshots = planted.ensemble.coordinates()
    side = 3 * np.ptp(snapshots)
    whole = Ensemble.from_array(snapshots, boxes=[side] * 3)
    superpose(whole)
    torn = Ensemble.from_array(snapshots % side, boxes=[side] * 3)
    body, rest = np.arange(30, 50), np.arange(30)
    for ask in (
        lambda: superpose(torn),
        lambda: principal_components(torn),
        lambda: distance_components(torn),
        lambda: hinge(torn, body=body, reference=rest),
    ):
        with pytest.raises(ValueError, match="whole molecules"):
            ask()
