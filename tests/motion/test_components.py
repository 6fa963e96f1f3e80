"""Principal components: of positions, of a body held still, and of distances."""

from collections.abc import Callable

import numpy as np
import pytest

from timme import Ensemble
from timme.motion import (
    Components,
    block_covariance,
    distance_components,
    halves,
    mode_trajectory,
    overlap_with_bodies,
    principal_components,
    rmsip,
    superpose,
)
from timme.synthetic import moving

MADE = moving((20, 14), 12, spans=[40.0], noise=0.3)


@pytest.mark.parametrize("n_snapshots", [8, 150], ids=["fewer", "more"])
def test_components_are_those_of_the_covariance(n_snapshots: int) -> None:
    rng = np.random.default_rng(0)
    snapshots = 10 * rng.normal(size=(1, 8, 3)) + rng.normal(size=(n_snapshots, 8, 3))
    found = principal_components(Ensemble.from_array(snapshots))
    laid = superpose(Ensemble.from_array(snapshots)).ensemble.coordinates().reshape(n_snapshots, -1)
    values, vectors = np.linalg.eigh(np.cov(laid.T, bias=True))
    count = min(n_snapshots - 1, 18)  # six directions were taken off by the fit
    np.testing.assert_allclose(found.variances[:count], values[::-1][:count], rtol=1e-6)
    for mode in range(3):
        assert abs(found.modes[mode].ravel() @ vectors[:, -1 - mode]) == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(
        found.projections.var(axis=0), found.variances, rtol=1e-9, atol=1e-12
    )
    assert found.cumulated[-1] == pytest.approx(1)


@pytest.mark.parametrize("components", [principal_components, distance_components])
def test_where_nothing_moves_rounding_is_no_variance(
    components: Callable[[Ensemble], Components],
) -> None:
    places = 10 * np.random.default_rng(0).normal(size=(30, 3))
    found = components(Ensemble.from_array(np.tile(places, (5, 1, 1))))
    assert found.total == 0
    assert not found.variances.any()


def test_shares_are_of_all_variance_and_not_of_what_is_kept() -> None:
    few, many = (principal_components(MADE.ensemble, n_components=n) for n in (2, None))
    assert few.cumulated[1] == pytest.approx(many.cumulated[1])
    assert few.cumulated[1] < 1


def test_projections_are_about_the_mean_of_what_was_laid() -> None:
    found = principal_components(MADE.ensemble, on=MADE.labels == 0)
    np.testing.assert_allclose(found.projections.mean(axis=0), 0, atol=1e-9)


def test_distances_need_no_superposition() -> None:
    found = distance_components(MADE.ensemble)
    snapshots = MADE.ensemble.coordinates()
    pairs = np.column_stack(np.triu_indices(34, 1))
    apart = np.linalg.norm(snapshots[:, pairs[:, 0]] - snapshots[:, pairs[:, 1]], axis=2)
    assert found.total == pytest.approx(apart.var(axis=0).sum())
    assert found.cumulated[0] > 0.5
    _, values, right = np.linalg.svd(apart - apart.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.variances, values[:11] ** 2 / 12, rtol=1e-6)
    for mode in range(3):
        assert abs(found.modes[mode] @ right[mode]) == pytest.approx(1, rel=1e-9)
    np.testing.assert_allclose(found.modes @ found.modes.T, np.eye(11), atol=1e-6)


def test_a_mode_is_walked_from_one_end_to_the_other() -> None:
    found = principal_components(MADE.ensemble)
    walk = mode_trajectory(found, 0, n_snapshots=5)
    along = (walk - found.mean).reshape(5, -1) @ found.modes[0].ravel()
    ends = found.projections[:, 0]
    np.testing.assert_allclose(along, np.linspace(ends.min(), ends.max(), 5))


def test_the_mode_of_a_hinge_is_motion_of_its_bodies() -> None:
    made = moving((20, 14), 30, spans=[10.0], noise=0.01)
    share = overlap_with_bodies(principal_components(made.ensemble), made.labels)
    assert share[0].sum() > 0.99
    assert (share.sum(axis=1) <= 1 + 1e-9).all()


def test_the_same_modes_span_the_same_space() -> None:
    found = principal_components(MADE.ensemble)
    assert rmsip(found, found) == pytest.approx(1)
    assert 0 < halves(MADE.ensemble) < 1


def test_covariance_is_in_the_order_of_bodies() -> None:
    labels = np.where(np.arange(34) % 2, 0, 1)
    labels[5] = -1
    found = block_covariance(MADE.ensemble, labels)
    assert labels[found.order].tolist() == [0] * 16 + [1] * 17 + [-1]
    assert found.bounds.tolist() == [0, 16, 33]
    np.testing.assert_allclose(np.diag(found.correlation), 1)
    laid = superpose(MADE.ensemble).ensemble.coordinates()
    away = laid - laid.mean(axis=0)
    one, other = found.order[:2]
    assert found.covariance[0, 1] == pytest.approx(
        (away[:, one] * away[:, other]).sum(axis=1).mean()
    )


def test_bodies_that_move_against_one_another_are_anticorrelated() -> None:
    made = moving((30, 30), 20, spans=[30.0], noise=0.05)
    found = block_covariance(made.ensemble, made.labels)
    across = found.correlation[:30, 30:]
    inside = found.correlation[:30, :30]
    assert across.mean() < inside.mean()


def test_labels_and_modes_of_other_sites_are_refused() -> None:
    ensemble = moving((30, 20), 10).ensemble
    found = principal_components(ensemble)
    with pytest.raises(ValueError, match="bodies need a whole number for each of 50 sites"):
        overlap_with_bodies(found, [0, 1])
    with pytest.raises(ValueError, match="bodies need a whole number for each of 50 sites"):
        block_covariance(ensemble, [0, 1])
    with pytest.raises(ValueError, match="modes of the same sites are compared"):
        rmsip(found, principal_components(ensemble.select(np.arange(20))))
    with pytest.raises(ValueError, match="modes go from 0 to 8, got 9"):
        mode_trajectory(found, 9)
    with pytest.raises(ValueError, match="at least 2 sites, got 1"):
        distance_components(ensemble.select([0]))
