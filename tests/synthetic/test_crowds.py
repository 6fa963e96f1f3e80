import numpy as np
import pytest

from tests.synthetic.test_known_answers import same_clusters
from timme import objects, pairs, synthetic
from timme.hierarchy import Hierarchy, cluster


def met(made: synthetic.Planted) -> Hierarchy:
    """The hierarchy of those who come within 2.5 m, and are seen together for 7.5 s."""
    points = objects.points(made.ensemble)
    return cluster(points, pairs.within(points, 2.5), min_overlap=15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parties_are_found_among_strangers(seed: int) -> None:
    made = synthetic.crowd(seed=seed)
    hierarchy = met(made)
    assert any(same_clusters(hierarchy.cut(c).labels, made.labels[0]) for c in hierarchy.levels)


def test_people_come_and_go_and_are_missed_at_times() -> None:
    made = synthetic.crowd(seed=1, missed=0.05)
    seen = np.isfinite(made.ensemble.block(0).coordinates[..., 0])
    first, last = seen.argmax(axis=0), len(seen) - seen[::-1].argmax(axis=0)
    assert (first > 0).sum() > 40  # of 60 people
    assert (last < len(seen)).sum() > 40
    spans = [
        seen[start:stop, person]
        for person, (start, stop) in enumerate(zip(first, last, strict=True))
    ]
    there, holes = sum(map(len, spans)), sum(int((~span).sum()) for span in spans)
    # the first and last sight of each are never missed
    expected = 0.05 * (there - 2 * 60)
    assert abs(holes - expected) < 4 * np.sqrt(expected)
    assert seen.sum(axis=0).min() >= 15


def test_nobody_is_seen_outside_the_square() -> None:
    made = synthetic.crowd((3, 2), 10, width=20.0, seed=2)
    coordinates = made.ensemble.block(0).coordinates
    assert np.nanmin(coordinates) >= 0
    assert np.nanmax(coordinates) <= 20


def test_people_walk_at_the_speed_of_free_walkers() -> None:
    made = synthetic.crowd((), 100, width=60.0, n_snapshots=150, missed=0.0, seed=3)
    steps = np.diff(made.ensemble.block(0).coordinates, axis=0)
    speeds = np.linalg.norm(np.nanmean(steps, axis=0), axis=1) / 0.5
    # mean 1.34 m/s, standard deviation 0.26 (Weidmann 1993); both a little lower than that, as
    # crossing others takes time, and those slower than 0.8 are raised to it
    error = 0.26 / np.sqrt(100)
    assert abs(speeds.mean() - 1.34) < 4 * error + 0.03
    assert abs(speeds.std() - 0.26) < 4 * error / np.sqrt(2) + 0.02


def test_strangers_step_aside() -> None:
    made = synthetic.crowd((), 60, seed=4, missed=0.0)
    coordinates = made.ensemble.block(0).coordinates
    apart = np.linalg.norm(coordinates[:, :, None] - coordinates[:, None], axis=3)
    apart[:, np.arange(60), np.arange(60)] = np.nan
    near = [np.nansum(apart < distance) for distance in (0.35, 0.7)]
    # who does not step aside is met by chance, within half the distance a quarter as often
    assert near[1] > 20
    assert near[0] < near[1] / 4 / 2


@pytest.mark.parametrize(
    ("parties", "settings"),
    [((0,), {}), ((2,), {"n_snapshots": 0}), ((2,), {"width": 0.0}), ((2,), {"missed": 1.0})],
)
def test_a_crowd_of_nobody_is_refused(parties: tuple[int, ...], settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a crowd needs"):
        synthetic.crowd(parties, 0, **settings)  # type: ignore[arg-type]
