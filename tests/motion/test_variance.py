"""Explained variance: linear, finite, held out, beside principal components."""

import numpy as np
import pytest

from tests.motion import reference
from timme import Ensemble
from timme.motion import explained_variance, shape_of
from timme.motion.variance import body_basis
from timme.synthetic import moving, planted


def test_the_linear_share_is_that_of_least_squares() -> None:
    made = moving((20, 14), 8, spans=[20.0], noise=0.3)
    snapshots = made.ensemble.coordinates()
    whole = shape_of(snapshots)
    away = whole.poses.into(snapshots) - whole.places
    clusters = [list(range(20)), list(range(20, 34))]
    found = explained_variance(made.ensemble, [made.labels])
    assert found.linear[0] == pytest.approx(
        reference.linear_share(whole.places, away, clusters), rel=1e-6
    )


def test_the_finite_share_is_what_fits_leave() -> None:
    made = moving((20, 14), 8, spans=[60.0], noise=0.3)
    snapshots = made.ensemble.coordinates()
    rests = [reference.rest_of(snapshots[:, made.labels == body]) for body in (0, 1)]
    rest = sum(rests)
    found = explained_variance(made.ensemble, [made.labels])
    assert found.finite[0] == pytest.approx(1 - rest / reference.rest_of(snapshots), rel=1e-6)


def test_rigid_bodies_explain_all_and_one_body_nothing() -> None:
    made = moving((20, 14), 20, spans=[60.0], noise=0.0)
    found = explained_variance(made.ensemble, [np.zeros(34, int), made.labels, np.full(34, -1)])
    np.testing.assert_allclose(found.finite, [0, 1, 1], atol=1e-9)
    np.testing.assert_allclose(found.held_out[1:], 1, atol=1e-9)
    assert found.freedom.tolist() == [0, 6, 34 * 3 - 6]


def test_what_was_held_out_is_never_explained_better_than_what_was_learned() -> None:
    made = planted((4, 3, 8), 60, seed=2)
    found = explained_variance(made.ensemble, [made.labels[0], made.labels[1]])
    assert (found.components_held_out <= found.components).all()
    assert (found.held_out <= found.finite + 0.05).all()


def test_what_is_held_out_is_told_of_snapshots_that_nothing_was_learned_from() -> None:
    """Bodies swing while they are learned; afterwards every site trembles for itself."""
    made = moving((20, 14), 20, spans=(60.0,), noise=0.05)
    places = made.ensemble.coordinates()
    shaken = places[0] + np.random.default_rng(0).normal(0.0, 2.0, places.shape)
    both = Ensemble.from_array(np.concatenate([places, shaken]))
    found = explained_variance(both, [made.labels], learned=np.arange(40) < 20)
    assert found.held_out[0] < 0.5
    swung = explained_variance(made.ensemble, [made.labels], learned=np.arange(20) % 2 == 0)
    assert swung.held_out[0] > 0.95


def test_few_bodies_beat_as_many_components_where_motion_is_theirs() -> None:
    made = moving((90, 40, 30), 40, spans=(60.0, 60.0), kind="ball")
    found = explained_variance(made.ensemble, [made.labels], learned=np.arange(40) < 20)
    assert found.held_out[0] > 0.99
    assert found.held_out[0] > found.components_held_out[0]


def test_nothing_that_moves_has_no_shares() -> None:
    places = np.random.default_rng(0).normal(size=(12, 3))
    found = explained_variance(Ensemble.from_array(np.array([places] * 4)), [np.zeros(12, int)])
    assert np.isnan(found.finite).all()
    assert found.variance == 0


@pytest.mark.parametrize(("n_sites", "rank"), [(1, 2), (2, 3), (8, 3)])
def test_in_a_plane_bodies_have_three_motions(n_sites: int, rank: int) -> None:
    places = np.random.default_rng(n_sites).normal(size=(10, 2))
    basis = body_basis(places, np.arange(n_sites))
    assert basis.shape == (2 * n_sites, rank)
    about = places[:n_sites] - places[:n_sites].mean(axis=0)
    turned = np.column_stack([-about[:, 1], about[:, 0]]).ravel()
    np.testing.assert_allclose(basis @ (basis.T @ turned), turned, atol=1e-12)


@pytest.mark.parametrize(("n_sites", "rank"), [(1, 3), (2, 5), (3, 6), (8, 6)])
def test_points_and_lines_have_fewer_motions(n_sites: int, rank: int) -> None:
    places = np.random.default_rng(n_sites).normal(size=(10, 3))
    basis = body_basis(places, np.arange(n_sites))
    assert basis.shape == (3 * n_sites, rank)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-12)


def test_links_are_bodies_of_two_sites() -> None:
    rng = np.random.default_rng(0)
    snapshots = 5 * rng.normal(size=(1, 6, 3)) + rng.normal(size=(10, 6, 3))
    found = explained_variance(Ensemble.from_array(snapshots), [np.repeat([0, 1, 2], 2)])
    assert 0 < found.finite[0] < 1


def test_labels_of_other_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="a whole number for each of 34 sites"):
        explained_variance(moving((20, 14), 5).ensemble, [[0, 1, 2]])


def test_as_many_truth_values_as_snapshots_say_what_is_learned_from() -> None:
    with pytest.raises(ValueError, match="truth value for each of 5 snapshots, got shape \\(3,\\)"):
        explained_variance(
            moving((60, 40), 5).ensemble, [np.zeros(100, int)], learned=np.ones(3, bool)
        )
