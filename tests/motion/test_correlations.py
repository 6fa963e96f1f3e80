"""Two-point correlation: loops, walkers that know nothing of one another, and a fluid."""

import numpy as np
import pytest

from tests.motion import reference
from timme import Ensemble
from timme.motion import two_point
from timme.synthetic import suspension


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("edge", [None, 4.0], ids=["open", "periodic"])
@pytest.mark.parametrize("lag", [1, 3])
def test_correlations_are_those_of_loops(dimensions: int, edge: float | None, lag: int) -> None:
    rng = np.random.default_rng(lag)
    walks = rng.uniform(0, 4, (1, 8, dimensions)) + 0.3 * rng.normal(
        size=(9, 8, dimensions)
    ).cumsum(0)
    walks = walks if edge is None else walks % edge
    walks[rng.random((9, 8)) < 0.15] = np.nan
    boxes = None if edge is None else [edge] * dimensions
    ensemble = Ensemble.from_array(walks, boxes=boxes, gaps=True)
    found = two_point(ensemble, [0.5, 1.9], lags=(lag,))
    along, across, count, square = reference.two_point(walks, 0.5, 1.9, lag, edge)
    assert found.counts[0, 0] == count
    assert found.along[0, 0] == pytest.approx(along)
    assert found.across[0, 0] == pytest.approx(across)
    assert found.msd[0] == pytest.approx(square)


def walkers(seed: int, n_walkers: int = 30) -> Ensemble:
    rng = np.random.default_rng(seed)
    steps = 0.1 * rng.normal(size=(200, n_walkers, 3))
    return Ensemble.from_array(rng.uniform(0, 8, (1, n_walkers, 3)) + steps.cumsum(axis=0))


def test_independent_walkers_are_not_correlated() -> None:
    found = two_point(walkers(0), [0.0, 3.0, 6.0, 9.0])
    # t of 10 blocks: 4.3 standard errors leave 1 in 500, and there are 6 of them.
    assert (np.abs(found.along) < 4.3 * found.along_error).all()
    assert (np.abs(found.across) < 4.3 * found.across_error).all()
    assert found.msd[0] == pytest.approx(0.03, rel=0.05)


def test_taking_off_the_drift_makes_walkers_part_and_is_told() -> None:
    found = two_point(walkers(1, 12), [0.0, 30.0], drift=True)
    expected = -0.01 / 12  # mean square in one direction, divided by their number
    assert found.along[0, 0] == pytest.approx(expected, abs=4.3 * found.along_error[0, 0])
    assert found.along[0, 0] < 0
    assert "mean displacement" in found.notes[0]


def test_particles_in_a_fluid_move_one_another_as_theory_says() -> None:
    strength, radius = 0.01, 0.2
    found = two_point(suspension(40, 250, seed=3), [1.0, 3, 5, 8, 12], lags=(1, 2))
    theory = strength * found.lags[:, None] / found.distances
    theory = theory * (1 - 2 / 3 * (radius / found.distances) ** 2)  # of spheres with a size
    assert (np.abs(found.along - theory) < 4.3 * found.along_error).all()
    assert (np.abs(found.across - theory / 2) < 4.3 * found.across_error).all()
    assert (found.along > 2 * found.along_error).any()


def test_the_two_point_displacement_is_that_of_a_particle() -> None:
    found = two_point(suspension(40, 250, seed=4), [1.0, 3, 5], lags=(1,))
    told = found.two_point_msd(0.2)[0]
    error = 2 * found.distances / 0.2 * found.along_error[0]
    assert (np.abs(told - found.msd[0]) < 4.3 * error).all()


def test_films_have_no_two_point_displacement() -> None:
    flat = Ensemble.from_array(np.random.default_rng(0).normal(size=(5, 6, 2)))
    with pytest.raises(ValueError, match="needs 3 dimensions, got 2"):
        two_point(flat, [0.0, 5.0]).two_point_msd(0.1)


def test_bad_bins_and_lags_are_refused() -> None:
    with pytest.raises(ValueError, match="2 or more distances that ascend"):
        two_point(walkers(2), [3.0, 1.0])
    with pytest.raises(ValueError, match="lags go from 1 to 199"):
        two_point(walkers(2), [0.0, 1.0], lags=(200,))
