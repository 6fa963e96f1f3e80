"""Reference: two-point correlation against loops and independent walkers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.science import motion_naive as naive
from timme.ensemble import Ensemble
from timme.motion import two_point


def walkers(seed: int, n_walkers: int = 30) -> Ensemble:
    rng = np.random.default_rng(seed)
    steps = 0.1 * rng.normal(size=(200, n_walkers, 3))
    return Ensemble.from_array(rng.uniform(0, 8, (1, n_walkers, 3)) + steps.cumsum(axis=0))


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("edge", [None, 4.0], ids=["open", "periodic"])
@pytest.mark.parametrize("lag", [1, 3])
@pytest.mark.parametrize("joins", [[], [2, 3]], ids=["one run", "three runs"])
def test_correlations_are_those_of_loops(
    dimensions: int, edge: float | None, lag: int, joins: list[int]
) -> None:
    rng = np.random.default_rng(lag)
    steps = 0.3 * rng.normal(size=(9, 8, dimensions))
    walks = rng.uniform(0, 4, (1, 8, dimensions)) + steps.cumsum(0)
    walks = walks if edge is None else walks % edge
    walks[rng.random((9, 8)) < 0.15] = np.nan
    boxes = None if edge is None else [edge] * dimensions
    ensemble = Ensemble.from_array(walks, boxes=boxes, gaps=True)
    runs = np.searchsorted(joins, np.arange(9), side="right") if joins else None
    found = two_point(replace(ensemble, runs=runs), [0.5, 1.9], lags=(lag,))
    parts = np.split(walks, joins)
    along, across, count, square = naive.two_point(parts, 0.5, 1.9, lag, edge)
    assert found.counts[0, 0] == count
    assert found.along[0, 0] == pytest.approx(along)
    assert found.across[0, 0] == pytest.approx(across)
    assert found.msd[0] == pytest.approx(square)


def test_displacements_weigh_as_the_snapshots_in_which_they_begin() -> None:
    rng = np.random.default_rng(5)
    walks = rng.uniform(0, 3, (1, 8, 3)) + 0.3 * rng.normal(size=(9, 8, 3)).cumsum(0)
    weights = np.array([1.0, 3, 0.5, 2, 0, 1, 1, 4, 1])
    found = two_point(Ensemble.from_array(walks, weights=weights), [0.5, 1.9], lags=(2,))
    begins = [t for t in range(7) if weights[t] and weights[t + 2]]
    parts = [naive.two_point([walks[t : t + 3]], 0.5, 1.9, 2, None) for t in begins]
    share = np.array([weights[t] * part[2] for t, part in zip(begins, parts, strict=True)])
    assert found.counts[0, 0] == sum(part[2] for part in parts)
    for name, place in (("along", 0), ("across", 1)):
        values = np.array([np.nan_to_num(part[place]) for part in parts])
        assert getattr(found, name)[0, 0] == pytest.approx(share @ values / share.sum())
    squares = np.average([part[3] for part in parts], weights=weights[begins])
    assert found.msd[0] == pytest.approx(squares)


def test_independent_walkers_are_not_correlated() -> None:
    found = two_point(walkers(0), [0.0, 3.0, 6.0, 9.0])
    # t of 10 blocks: 4.3 standard errors leave 1 in 500, and there are 6 of them.
    assert (np.abs(found.along) < 4.3 * found.along_error).all()
    assert (np.abs(found.across) < 4.3 * found.across_error).all()
    assert found.msd[0] == pytest.approx(0.03, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("snapshots", "n_runs", "lag"), [(8, 8, 7), (60, 1, 1), (80, 1, 5), (20, 6, 3)]
)
def test_errors_are_as_stated(snapshots: int, n_runs: int, lag: int) -> None:
    square, stated = [], []
    for seed in range(150):
        steps = np.random.default_rng(seed).normal(size=(n_runs, snapshots, 8, 2))
        walks = steps.cumsum(axis=1).reshape(-1, 8, 2)
        runs = np.repeat(np.arange(n_runs), snapshots)
        found = two_point(replace(Ensemble.from_array(walks), runs=runs), [0, 1], lags=(lag,))
        square.append(found.msd[0] - 2 * lag)
        stated.append(found.msd_error[0])
    # The mean of 150 squares of a normal number is 1 ± 0.12; 0.35 are three standard errors.
    assert np.mean(np.square(square)) / np.mean(np.square(stated)) == pytest.approx(1, abs=0.35)


def test_lags_and_distances_without_enough_blocks_have_no_error() -> None:
    found = two_point(walkers(3), [0.0, 30.0], lags=(1, 15, 16, 190))
    assert np.isfinite(found.msd).all()
    expected = [True, True, False, False]  # 200 − 15 is six times 30
    assert np.isfinite(found.msd_error).tolist() == expected
    assert np.isfinite(found.along_error[:, 0]).tolist() == expected
    rng = np.random.default_rng(0)
    walks = np.array([[0.0, 0, 0], [9, 0, 0], [9.5, 0, 0]]) + 0.01 * rng.normal(size=(100, 3, 3))
    walks[20:25, 0] += [7.5, 0, 0]  # near another for a moment
    found = two_point(Ensemble.from_array(walks), [0.0, 1.0, 3.0])
    assert np.isfinite(found.along_error[0]).tolist() == [True, False]


def test_subtracting_the_drift_makes_walkers_part() -> None:
    found = two_point(walkers(1, 12), [0.0, 30.0], drift=True)
    expected = -0.01 / 12  # mean square in one direction, divided by their number
    assert found.along[0, 0] == pytest.approx(expected, abs=4.3 * found.along_error[0, 0])


def test_bad_bins_and_lags_are_refused() -> None:
    with pytest.raises(ValueError, match="2 or more ascending distances"):
        two_point(walkers(2), [3.0, 1.0])
    with pytest.raises(ValueError, match="the longest run, which has 200"):
        two_point(walkers(2), [0.0, 1.0], lags=(200,))
    two_runs = replace(walkers(2), runs=np.repeat([0, 1], [80, 120]))
    with pytest.raises(ValueError, match="the longest run, which has 120"):
        two_point(two_runs, [0.0, 1.0], lags=(120,))
