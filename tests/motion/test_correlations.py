"""Two-point correlation: loops, walkers that know nothing of one another, and a fluid."""

from dataclasses import replace

import numpy as np
import pytest

from tests.motion import reference
from timme import Ensemble
from timme.motion import two_point
from timme.motion.lagged import displacements, standard_error
from timme.synthetic import suspension


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("edge", [None, 4.0], ids=["open", "periodic"])
@pytest.mark.parametrize("lag", [1, 3])
@pytest.mark.parametrize("joins", [[], [4], [2, 3]], ids=["one run", "two runs", "three runs"])
def test_correlations_are_those_of_loops(
    dimensions: int, edge: float | None, lag: int, joins: list[int]
) -> None:
    rng = np.random.default_rng(lag)
    walks = rng.uniform(0, 4, (1, 8, dimensions)) + 0.3 * rng.normal(
        size=(9, 8, dimensions)
    ).cumsum(0)
    walks = walks if edge is None else walks % edge
    walks[rng.random((9, 8)) < 0.15] = np.nan
    boxes = None if edge is None else [edge] * dimensions
    ensemble = Ensemble.from_array(walks, boxes=boxes, gaps=True)
    runs = np.searchsorted(joins, np.arange(9), side="right") if joins else None
    found = two_point(replace(ensemble, runs=runs), [0.5, 1.9], lags=(lag,))
    parts = np.split(walks, joins)
    along, across, count, square = reference.two_point(parts, 0.5, 1.9, lag, edge)
    assert found.counts[0, 0] == count
    assert found.along[0, 0] == pytest.approx(along)
    assert found.across[0, 0] == pytest.approx(across)
    assert found.msd[0] == pytest.approx(square)


def test_displacements_count_as_the_snapshots_weigh_in_which_they_begin() -> None:
    rng = np.random.default_rng(5)
    walks = rng.uniform(0, 3, (1, 8, 3)) + 0.3 * rng.normal(size=(9, 8, 3)).cumsum(0)
    weights = np.array([1.0, 3, 0.5, 2, 0, 1, 1, 4, 1])
    found = two_point(Ensemble.from_array(walks, weights=weights), [0.5, 1.9], lags=(2,))
    begins = [t for t in range(7) if weights[t] and weights[t + 2]]
    told = [reference.two_point([walks[t : t + 3]], 0.5, 1.9, 2, None) for t in begins]
    share = np.array([weights[t] * count for t, (_, _, count, _) in zip(begins, told, strict=True)])
    assert found.counts[0, 0] == sum(count for _, _, count, _ in told)
    for name, place in (("along", 0), ("across", 1)):
        values = np.array([np.nan_to_num(each[place]) for each in told])
        assert getattr(found, name)[0, 0] == pytest.approx(share @ values / share.sum())
    squares = np.average([each[3] for each in told], weights=weights[begins])
    assert found.msd[0] == pytest.approx(squares)


def test_weights_that_are_alike_change_nothing() -> None:
    plain = walkers(1, 12)
    heavy = replace(plain, weights=np.full(200, 0.01))
    one, other = (two_point(each, [0.0, 4.0, 8.0], lags=(1, 3)) for each in (plain, heavy))
    np.testing.assert_allclose(one.along, other.along)
    np.testing.assert_allclose(one.along_error, other.along_error)
    np.testing.assert_allclose(one.msd_error, other.msd_error)


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


def test_nothing_moves_from_one_replica_to_another() -> None:
    apart = np.concatenate([walkers(0).coordinates(), walkers(1).coordinates() + 50])
    ensemble = replace(Ensemble.from_array(apart), runs=np.repeat([0, 1], 200))
    found = two_point(ensemble, [0.0, 30.0], lags=(1, 5))
    assert found.msd == pytest.approx([0.03, 0.15], rel=0.1)
    assert (np.abs(found.msd - [0.03, 0.15]) < 4.3 * found.msd_error).all()
    assert (found.msd_error < 0.1 * found.msd).all()


def test_runs_that_are_long_enough_are_cut_into_blocks() -> None:
    six = [np.arange(40) + 40 * run for run in range(6)]
    assert [displacements(six, lag).n_blocks for lag in (1, 13, 14, 39)] == [12, 12, 6, 6]
    assert displacements([np.arange(200)], 1).n_blocks == 10


def test_runs_need_not_stand_one_after_the_other() -> None:
    one, other = walkers(0).coordinates(), walkers(1).coordinates()
    behind = replace(Ensemble.from_array(np.concatenate([one, other])), runs=np.repeat([0, 1], 200))
    mixed = np.stack([one, other], axis=1).reshape(400, 30, 3)
    beside = replace(Ensemble.from_array(mixed), runs=np.tile([0, 1], 200))
    first, second = (two_point(each, [0.0, 30.0], lags=(3,)) for each in (behind, beside))
    assert first.along == pytest.approx(second.along)
    assert first.msd_error == pytest.approx(second.msd_error)


@pytest.mark.parametrize(
    ("snapshots", "n_runs", "lag"),
    [
        (8, 8, 7),
        *(
            pytest.param(*each, marks=pytest.mark.thorough)
            for each in ((60, 1, 1), (60, 1, 5), (60, 1, 8), (20, 4, 3))
        ),
    ],
)
def test_errors_are_as_large_as_what_they_tell_of(snapshots: int, n_runs: int, lag: int) -> None:
    square, told = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        steps = rng.normal(size=(n_runs, snapshots, 8, 2))
        walks = steps.cumsum(axis=1).reshape(-1, 8, 2)
        runs = np.repeat(np.arange(n_runs), snapshots)
        found = two_point(replace(Ensemble.from_array(walks), runs=runs), [0, 1], lags=(lag,))
        square.append(found.msd[0] - 2 * lag)
        told.append(found.msd_error[0])
    # The mean of 150 squares of a normal number is 1 ± 0.12; 0.35 are three standard errors.
    assert np.mean(np.square(square)) / np.mean(np.square(told)) == pytest.approx(1, abs=0.35)
    # 0.90 of Student's t of six blocks are below 2, less three standard errors of a share of 150.
    assert np.mean(np.abs(np.divide(square, told)) < 2) > 0.82


def test_lags_without_enough_blocks_have_no_error_and_a_note() -> None:
    found = two_point(walkers(3), [0.0, 30.0], lags=(1, 28, 29, 190))
    assert np.isfinite(found.msd).all()
    expected = [True, True, False, False]  # 200 − 28 is six times 28
    assert np.isfinite(found.msd_error).tolist() == expected
    assert np.isfinite(found.along_error[:, 0]).tolist() == expected
    assert np.isfinite(found.across_error[:, 0]).tolist() == expected
    assert len(found.notes) == 1
    assert found.notes[0].startswith("no errors at lag 29, 190: ")


def test_distances_that_are_seen_for_a_moment_have_no_error_and_a_note() -> None:
    rng = np.random.default_rng(0)
    walks = np.array([[0.0, 0, 0], [9, 0, 0], [9.5, 0, 0]]) + 0.01 * rng.normal(size=(100, 3, 3))
    walks[20:25, 0] += [7.5, 0, 0]
    found = two_point(Ensemble.from_array(walks), [0.0, 1.0, 3.0])
    assert np.isfinite(found.along[0]).all()
    assert np.isfinite(found.along_error[0]).tolist() == [True, False]
    assert found.notes[0].startswith("no errors at 1 of 2 distances: ")


@pytest.mark.parametrize("lag", [1, 3, 5])
def test_blocks_share_the_steps_of_loops(lag: int) -> None:
    runs = [np.arange(31), np.arange(31, 40), np.arange(40, 43)]
    found = displacements(runs, lag)
    joins = [0, 31, 40, 43]
    run = np.searchsorted(joins, found.begins, side="right")
    assert (run == np.searchsorted(joins, found.ends, side="right")).all()
    assert (found.ends - found.begins == lag).all()
    lengths: list[list[int]] = [[], [], []]
    for block in range(found.n_blocks):
        (own,) = set(run[found.blocks == block].tolist())
        lengths[own - 1].append(int((found.blocks == block).sum()))
    assert all(min(own) >= lag for own in lengths if len(own) > 1)
    assert found.shared == pytest.approx(reference.shared_steps(lengths, lag))


def test_errors_make_up_for_the_steps_that_blocks_share() -> None:
    lengths = [[8, 9, 8, 9], [8, 8], [5]]
    shared = reference.shared_steps(lengths, 8)
    sums = np.linalg.cholesky(shared) @ np.random.default_rng(0).normal(size=(7, 20_000))
    counts = np.repeat(np.concatenate(lengths)[:, None].astype(float), 20_000, axis=1)
    told = standard_error(sums, counts, shared)
    expected = (sums.sum(axis=0) / counts.sum(axis=0)).std()
    assert np.sqrt(np.mean(told**2)) == pytest.approx(expected, rel=0.02)


def test_the_error_of_independent_blocks_is_that_of_their_mean() -> None:
    values = np.random.default_rng(0).normal(size=(12, 1))
    found = standard_error(values, np.ones((12, 1)), np.eye(12))
    assert found[0] == pytest.approx(values.std(ddof=1) / np.sqrt(12))


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
    two_runs = replace(walkers(2), runs=np.repeat([0, 1], [80, 120]))
    with pytest.raises(ValueError, match="lags go from 1 to 119 snapshots within the longest run"):
        two_point(two_runs, [0.0, 1.0], lags=(120,))
