"""Golden and reference tests of sliding windows and of σ over times."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests_next.core.test_golden import ensemble_of
from tests_next.golden import load_science, systems
from timme_next import objects, pairs
from timme_next._arrays import Floats
from timme_next.confidence.sampling import Compared
from timme_next.confidence.windows import cut_windows, sigma_by_time, slide
from timme_next.ensemble import Ensemble
from timme_next.fluctuations import measure


@cache
def clusters() -> Compared:
    made = objects.points(ensemble_of(systems.clusters()))
    return Compared(made, measure(made, pairs.all(made)))


@pytest.mark.parametrize(
    ("name", "n_windows", "replicas"), [("windows", 5, None), ("replicas", 6, [150, 150])]
)
def test_tracks_of_golden_systems_are_the_same(
    name: str, n_windows: int, replicas: list[int] | None
) -> None:
    golden = load_science("confidence-series")
    cutoff = golden[f"open.{name}.cutoff"]
    found = slide(clusters(), n_windows, cutoff=cutoff, replicas=replicas)
    assert found.tracks.tolist() == golden[f"open.{name}.tracks"].tolist()
    for place, window in enumerate(found.windows):
        told = [golden[f"open.{name}.windows.{place}.{end}"] for end in ("start", "stop")]
        assert [window.start, window.stop] == told


def test_who_changes_the_cluster_changes_the_track() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(90, 3, 3)).cumsum(axis=0)
    owner = np.repeat([0, 1, 2], [6, 5, 4])
    array = centres[:, owner] + 0.01 * rng.normal(size=(90, 15, 3))
    array[45:, 0] = centres[45:, 1]  # from the first cluster to the second
    made = objects.points(Ensemble.from_array(array))
    compared = Compared(made, measure(made, pairs.all(made)))
    tracks = slide(compared, 3, cutoff=0.2, min_size=3).tracks
    assert tracks[0].tolist() == owner.tolist()
    assert tracks[-1].tolist() == [1, *owner[1:]]


def test_sigma_over_a_time_is_the_mean_within_windows() -> None:
    array = np.random.default_rng(1).normal(size=(53, 4, 3)).cumsum(axis=0)
    array[10:14, 2] = np.nan
    made = objects.points(Ensemble.from_array(array, gaps=True))
    compared = Compared(made, measure(made, pairs.all(made)))
    index = np.array([[0, 1], [0, 2], [1, 3]])
    found = sigma_by_time(compared, index, [5, 20], replicas=[30, 23])
    for row, time in enumerate([5, 20]):
        for place, (one, other) in enumerate(index):
            r: Floats = np.linalg.norm(array[:, one] - array[:, other], axis=1)
            total, count = 0.0, 0
            for begin, end in ((0, 30), (30, 53)):
                for start in range(begin, end - time + 1, time):
                    inside = r[start : start + time]
                    inside = inside[np.isfinite(inside)]
                    total += float(((inside - inside.mean()) ** 2).sum())
                    count += len(inside)
            # Sums are in single precision.
            assert found[row, place] == pytest.approx(np.sqrt(total / count), rel=1e-5)


def test_sigma_over_all_snapshots_is_sigma() -> None:
    sigma = clusters().sigma
    found = sigma_by_time(clusters(), sigma.pairs[:50], [300])
    np.testing.assert_allclose(found[0], sigma.sigma[:50], rtol=1e-5)


def test_windows_that_do_not_fit_into_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="windows= needs at least 3, and one for each run, got 2"):
        cut_windows(2, [10, 10, 10])
    with pytest.raises(ValueError, match="windows=8 needs at least 12 snapshots in run 1, got 8"):
        cut_windows(8, [8, 6])


@pytest.mark.parametrize("times", [[1, 5], [31]])
def test_times_longer_than_all_runs_are_refused(times: list[int]) -> None:
    with pytest.raises(ValueError, match="lags= need 2 to 30 snapshots"):
        sigma_by_time(clusters(), np.array([[0, 1]]), times, replicas=[30] * 10)
