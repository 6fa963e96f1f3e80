"""Reference: principal components, and the variance that rigid bodies account for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.science import motion_naive as naive
from timme.ensemble import Ensemble
from timme.motion import (
    explained_variance,
    overlap_with_bodies,
    principal_components,
    rmsip,
    superpose,
)
from timme.motion.variance import rigid_motions
from timme.synthetic import PlantedBodies
from timme.synthetic import bodies as planted_bodies


def plant(n_snapshots: int = 12, span: float = 40.0, jitter: float = 0.3) -> PlantedBodies:
    return planted_bodies((20, 14), n_snapshots, spans=[span], jitter=jitter)


@pytest.mark.parametrize("n_snapshots", [8, 150], ids=["fewer", "more"])
def test_components_are_those_of_the_covariance(n_snapshots: int) -> None:
    rng = np.random.default_rng(0)
    snapshots = 10 * rng.normal(size=(1, 8, 3)) + rng.normal(size=(n_snapshots, 8, 3))
    found = principal_components(Ensemble.from_array(snapshots))
    laid = superpose(Ensemble.from_array(snapshots)).ensemble.coordinates().reshape(n_snapshots, -1)
    values, vectors = np.linalg.eigh(np.cov(laid.T, bias=True))
    count = min(n_snapshots - 1, 18)  # the fit takes six directions
    np.testing.assert_allclose(found.variances[:count], values[::-1][:count], rtol=1e-6)
    for mode in range(3):
        assert abs(found.modes[mode].ravel() @ vectors[:, -1 - mode]) == pytest.approx(1, rel=1e-6)
    assert found.cumulated[-1] == pytest.approx(1)


def test_the_mode_of_a_hinge_is_motion_of_its_bodies() -> None:
    made = plant(30, 10.0, 0.01)
    found = principal_components(made.ensemble)
    share = overlap_with_bodies(found, made.labels)
    assert share[0].sum() > 0.99
    assert (share.sum(axis=1) <= 1 + 1e-9).all()
    assert rmsip(found, found) == pytest.approx(1)


def test_other_sites_are_refused() -> None:
    ensemble = plant().ensemble
    found = principal_components(ensemble)
    with pytest.raises(ValueError, match="a whole number for each of 34 sites"):
        overlap_with_bodies(found, [0, 1])
    with pytest.raises(ValueError, match="a whole number for each of 34 sites"):
        explained_variance(ensemble, [[0, 1, 2]])
    with pytest.raises(ValueError, match="those of the same sites"):
        rmsip(found, principal_components(ensemble.select(np.arange(20))))


def test_shares_are_those_of_fits() -> None:
    made = plant(8, 30.0)
    snapshots = made.ensemble.coordinates()
    found = explained_variance(made.ensemble, [made.labels])
    rest = sum(naive.rest_of(snapshots[:, made.labels == body]) for body in (0, 1))
    assert found.finite[0] == pytest.approx(1 - rest / naive.rest_of(snapshots), rel=1e-6)


def test_rigid_bodies_explain_all_and_one_body_nothing() -> None:
    made = plant(20, 60.0, 0.0)
    found = explained_variance(made.ensemble, [np.zeros(34, int), made.labels, np.full(34, -1)])
    np.testing.assert_allclose(found.finite, [0, 1, 1], atol=1e-9)
    np.testing.assert_allclose(found.held_out[1:], 1, atol=1e-9)
    assert found.freedom.tolist() == [0, 6, 34 * 3 - 6]


def test_what_is_held_out_is_of_other_snapshots() -> None:
    """Bodies swing while they are learned; in between, every site trembles by itself."""
    made = plant(40, 60.0, 0.05)
    assert explained_variance(made.ensemble, [made.labels]).held_out[0] > 0.95
    places = made.ensemble.coordinates().copy()
    rest = np.arange(40) // 4 % 2 == 1
    places[rest] = places[0] + np.random.default_rng(0).normal(0.0, 2.0, places[rest].shape)
    found = explained_variance(Ensemble.from_array(places), [made.labels])
    assert found.held_out[0] < 0.5


def test_few_bodies_beat_as_many_components_where_motion_is_theirs() -> None:
    made = planted_bodies((90, 40, 30), 40, spans=(60.0, 60.0), kind="ball")
    found = explained_variance(made.ensemble, [made.labels])
    assert found.held_out[0] > 0.99
    assert found.held_out[0] > found.components_held_out[0]


@pytest.mark.parametrize(
    ("n_sites", "dimensions", "rank"),
    [(1, 2, 2), (2, 2, 3), (8, 2, 3), (1, 3, 3), (2, 3, 5), (3, 3, 6), (8, 3, 6)],
)
def test_points_lines_and_planes_have_fewer_motions(
    n_sites: int, dimensions: int, rank: int
) -> None:
    places = np.random.default_rng(n_sites).normal(size=(10, dimensions))
    basis = rigid_motions(places, np.arange(n_sites))
    assert basis.shape == (dimensions * n_sites, rank)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-12)
