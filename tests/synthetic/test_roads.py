import numpy as np
import pytest

from tests.synthetic.test_known_answers import same_clusters
from timme import objects, pairs, synthetic
from timme._arrays import Floats
from timme.hierarchy import cluster


def along(made: synthetic.Planted) -> tuple[Floats, float]:
    """Places of cars in each snapshot, and the length of the road."""
    _, box = made.ensemble.snapshot(0)
    assert box is not None
    return made.ensemble.block(0).coordinates[..., 0].astype(float), float(box[0, 0])


def are_found(made: synthetic.Planted) -> bool:
    """Whether some cutoff shows the platoons, of cars that come within 400 m of one another."""
    points = objects.points(made.ensemble)
    hierarchy = cluster(points, pairs.within(points, 400.0))
    return any(same_clusters(hierarchy.cut(c).labels, made.labels[0]) for c in hierarchy.levels)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_platoons_are_found(seed: int) -> None:
    assert are_found(synthetic.ring_road(seed=seed))


@pytest.mark.parametrize("platoons", [(4, 4), (12, 2, 2)])
def test_platoons_of_other_sizes_are_found(platoons: tuple[int, ...]) -> None:
    made = synthetic.ring_road(platoons, 2, seed=5)
    assert np.bincount(made.labels[0]).tolist() == [*platoons, 1, 1]
    assert are_found(made)


def test_nobody_overtakes_and_cars_keep_their_distance() -> None:
    places, length = along(synthetic.ring_road(seed=6))
    order = np.argsort(places[0])
    gaps = np.diff(places[:, np.append(order, order[0])], axis=1) % length
    # 2 m and what is driven in 1.5 s behind a car of 4.5 m; at least 15 m/s, three standard
    # deviations below the mean of those in front
    assert gaps.min() > 4.5 + 2.0 + 1.5 * 15.0
    assert gaps.sum(axis=1) == pytest.approx(length)  # once around, in the same order


def test_cars_drive_all_around_the_road() -> None:
    places, length = along(synthetic.ring_road((3,), 1, n_snapshots=200, seed=7))
    steps = np.diff(places, axis=0)
    rounds = (steps < 0).sum(axis=0)
    driven = (steps % length).sum(axis=0)
    assert (np.abs(rounds - driven / length) <= 1).all()
    # 20 m/s; moods of 1 m/s that last 10 s leave √(2 · 10 / 200) = 0.32 m/s in the mean of 200 s
    assert driven / 199 == pytest.approx(20.0, abs=4 * 0.32)


@pytest.mark.parametrize("sizes", [((), 0, 5), ((3, 0), 1, 5), ((3,), 1, 0)])
def test_a_road_without_cars_is_refused(sizes: tuple[tuple[int, ...], int, int]) -> None:
    platoons, n_alone, n_snapshots = sizes
    with pytest.raises(ValueError, match="a ring road needs"):
        synthetic.ring_road(platoons, n_alone, n_snapshots=n_snapshots)
