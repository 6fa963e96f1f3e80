"""No draw has a σ below the floor that is told of a pair, however snapshots move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence.draws import draw
from timme.fluctuations.floors import floors, least_cover
from timme.fluctuations.sums import sum_parts
from timme.fluctuations.units import Layout, thin
from timme.objects import Objects
from timme.series import Runs
from timme.system.ensemble import Ensemble


def moving(seed: int, n_snapshots: int = 40, n_dimensions: int = 3) -> Floats:
    """Sites that tremble, jump in a few snapshots, and drift."""
    rng = np.random.default_rng(seed)
    still = rng.uniform(0, 10, (6, n_dimensions))
    jumps = (rng.random((n_snapshots, 6, 1)) < 0.1) * rng.normal(size=(n_snapshots, 6, 1))
    drift = np.cumsum(rng.normal(size=(n_snapshots, 6, n_dimensions)), axis=0) * rng.uniform(0, 0.3)
    return still + rng.normal(size=(n_snapshots, 6, n_dimensions)) * 0.1 + 3 * jumps + drift


@given(st.integers(0, 2**31), st.integers(1, 4), st.sampled_from(["points", "rms", "max"]))
def test_no_draw_is_below_the_floor(seed: int, n_dimensions: int, reduction: Any) -> None:
    array = moving(seed, n_dimensions=n_dimensions).astype(np.float32 if seed % 2 else np.float64)
    ensemble = Ensemble.from_array(array)
    compared: Objects = objects.points(ensemble)
    members = [[k] for k in range(6)]
    if reduction != "points":
        members = [[0, 1], [2, 3], [4, 5]]
        compared = objects.groups(ensemble, members, reduction=reduction)
    index = next(pairs.all(compared).chunks(100))[:3]
    draws = draw(40, 1.0 + seed % 50, n_draws=3, seed=seed % 1000)
    found = floors(compared, index, draws.parts, draws.runs)
    every = np.asarray(array, np.float64)
    for place, (a, b) in enumerate(index):
        for times in draws.times:
            snapshots = naive.drawn_snapshots(every, draws.parts, times)
            squares = [
                naive.pair_sigma(snapshots, i, j)[0] ** 2 for i in members[a] for j in members[b]
            ]
            whole = max(squares) if reduction == "max" else np.mean(squares)
            if reduction == "rms":  # resampled about the mean over all snapshots
                means = [
                    [np.mean(naive.pair_distances(some, i, j)[0]) for some in (snapshots, every)]
                    for i in members[a]
                    for j in members[b]
                ]
                whole += np.mean(np.diff(means, axis=1) ** 2)
            assert found[place] <= whole * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["gaps", "weights", "box", "metric"])
def test_floors_hold_wherever_sigma_does(kind: str) -> None:
    array = moving(3, 200)
    if kind == "gaps":
        array[np.random.default_rng(0).random((200, 6)) < 0.03] = np.nan
    ensemble = Ensemble.from_array(
        array % 12.0 if kind == "box" else array,
        gaps=kind == "gaps",
        weights=np.linspace(0.5, 2.0, 200) if kind == "weights" else None,
        boxes=[12.0] * 3 if kind == "box" else None,
    )
    compared = objects.points(ensemble)
    index = next(pairs.all(compared).chunks(100))
    metric = "cityblock" if kind == "metric" else None
    draws = draw(200, 200.0, n_draws=50)
    found = floors(compared, index, draws.parts, draws.runs, metric=metric)
    sums = sum_parts(compared, index, draws.parts, metric=metric)
    least = (sums.sigma(draws.times).astype(np.float64) ** 2).min(axis=1)
    assert (found <= least * (1 + 1e-4)).all()
    assert (found > 0).any()


@given(
    st.integers(0, 2**31),
    st.integers(1, 9),
    st.sampled_from([None, [330, 70]]),
    st.sampled_from(["points", "rms", "max"]),
    st.booleans(),
)
def test_a_glance_at_few_snapshots_tells_a_lower_floor(
    seed: int, n_frames: int, replicas: list[int] | None, reduction: Any, held: bool
) -> None:
    ensemble = Ensemble.from_array(moving(seed, 400).astype(np.float32))
    compared: Objects = objects.points(ensemble)
    if reduction != "points":
        compared = objects.groups(ensemble, [[0, 1], [2, 3], [4, 5]], reduction=reduction)
    index = next(pairs.all(compared).chunks(100))
    draws = draw(400, 2.0 + seed % 60, replicas=replicas, n_draws=10)
    whole = floors(compared, index, draws.parts, draws.runs)
    with pytest.MonkeyPatch.context() as patch:
        if not held:
            patch.setattr("timme.fluctuations.units.MOST_HELD", 0)
        few = floors(compared, index, draws.parts, draws.runs, most_frames=n_frames)
    # Sums in single precision differ by less than is taken off for it, 1e-4 of them.
    sums = sum_parts(compared, index, draws.parts)
    least = (sums.sigma(draws.times).astype(np.float64) ** 2).min(axis=1)
    assert (few <= least * (1 + 1e-5)).all()
    assert (few <= whole * (1 + 1e-3) + 1e-4 * least).all()
    if n_frames >= 2 and reduction == "points":
        assert (few > 0).any()


def test_frames_at_a_glance_are_spread_over_each_part() -> None:
    array = np.arange(20.0)[:, None, None] * np.ones((1, 2, 3))
    layout = Layout(Ensemble.from_array(array), [range(12), range(12, 14), range(14, 20)], None)
    few = thin(layout, 3)
    assert [len(part) for part in few.parts] == [3, 2, 3]
    assert few.ensemble.coordinates()[:, 0, 0].tolist() == [2, 6, 10, 12, 13, 15, 17, 19]
    assert thin(layout, 12) is layout


def test_the_floor_of_steady_motion_is_near_to_what_it_bounds() -> None:
    # White noise: of 32 snapshots, the variance is within 1 ± 5 √(2 / 31) of that of all.
    array = np.random.default_rng(0).normal(size=(2048, 4, 3))
    compared = objects.points(Ensemble.from_array(array))
    index = next(pairs.all(compared).chunks(100))
    draws = draw(2048, 2048.0)
    found = floors(compared, index, draws.parts, draws.runs)
    squares = np.array([naive.pair_sigma(array, a, b)[0] ** 2 for a, b in index])
    assert (found > squares * 0.2).all()
    assert (found < squares).all()


@pytest.mark.parametrize("replicas", [None, [150, 50], [20, 180]])
@pytest.mark.parametrize("kind", ["points", "rms"])
def test_frames_that_are_not_held_have_the_same_floors(
    monkeypatch: pytest.MonkeyPatch, kind: str, replicas: list[int] | None
) -> None:
    ensemble = Ensemble.from_array(moving(5, 200).astype(np.float32))
    compared: Objects = objects.points(ensemble)
    if kind == "rms":
        compared = objects.groups(ensemble, [[0, 1], [2, 3], [4, 5]], reduction="rms")
    index = next(pairs.all(compared).chunks(100))
    draws = draw(200, 20.0, replicas=replicas, n_draws=20)
    held = floors(compared, index, draws.parts, draws.runs)
    monkeypatch.setattr("timme.fluctuations.units.MOST_HELD", 0)
    anew = floors(compared, index, draws.parts, draws.runs)
    assert anew == pytest.approx(held, rel=1e-3)
    few = floors(compared, index, draws.parts, draws.runs, most=2)
    np.testing.assert_array_equal(few, anew)  # however few pairs are summed at a time
    sums = sum_parts(compared, index, draws.parts)
    least = (sums.sigma(draws.times).astype(np.float64) ** 2).min(axis=1)
    assert (held <= least).all()
    assert (held > 0).all()


def test_windows_cover_what_runs_have_in_full() -> None:
    # Runs of 2 of 5 parts, so that the last of a draw is cut short; after part 2 comes part 0.
    drawn = np.array([[2, 0, 4, 3, 1], [0, 1, 2, 0, 3]])
    runs = Runs([3, 2], 2, drawn)
    assert runs.window == 2
    # 2-0 and 4-3 are whole, 1 is not: 7 of 8. 0-1-2-0 are two, 3 is not: 4 of 6.
    assert least_cover(runs, np.array([1.0, 1.0, 1.0, 2.0, 4.0])) == 4 / 6
    assert least_cover(Runs([3, 2], 2, drawn[:1]), np.array([1.0, 1.0, 1.0, 1.0, 4.0])) == 7 / 8
    assert Runs([3, 2], 9, drawn).window == 2  # no longer than the shortest replica


def test_a_quiet_stretch_is_all_that_can_be_told() -> None:
    # A pair that moves in one half only: a draw may be made of the other.
    array = np.zeros((64, 2, 3))
    array[:, 1, 0] = 5.0
    array[:32, 1, 0] += np.tile([-1.0, 1.0], 16)
    compared = objects.points(Ensemble.from_array(array))
    draws = draw(64, 6.0, n_draws=50)
    assert floors(compared, np.array([[0, 1]]), draws.parts, draws.runs)[0] == 0.0
