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
from timme.fluctuations.floors import floors, least_shares
from timme.fluctuations.sums import sum_parts
from timme.objects import Objects
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
    found = floors(compared, index, draws.parts, draws.times)
    for place, (a, b) in enumerate(index):
        for times in draws.times:
            snapshots = naive.drawn_snapshots(np.asarray(array, np.float64), draws.parts, times)
            squares = [
                naive.pair_sigma(snapshots, i, j)[0] ** 2 for i in members[a] for j in members[b]
            ]
            whole = max(squares) if reduction == "max" else np.mean(squares)
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
    found = floors(compared, index, draws.parts, draws.times, metric=metric)
    sums = sum_parts(compared, index, draws.parts, metric=metric)
    least = (sums.sigma(draws.times).astype(np.float64) ** 2).min(axis=1)
    assert (found <= least * (1 + 1e-4)).all()
    assert (found > 0).any()


def test_the_floor_of_steady_motion_is_near_to_what_it_bounds() -> None:
    # White noise: of a draw, 8 of 32 snapshots of each unit are looked at, less the ladder's steps.
    array = np.random.default_rng(0).normal(size=(2048, 4, 3))
    compared = objects.points(Ensemble.from_array(array))
    index = next(pairs.all(compared).chunks(100))
    draws = draw(2048, 2048.0)
    found = floors(compared, index, draws.parts, draws.times)
    squares = np.array([naive.pair_sigma(array, a, b)[0] ** 2 for a, b in index])
    assert (found > squares / 16).all()


def test_the_most_neglected_snapshots_bound_the_share_of_any() -> None:
    ensemble = Ensemble.from_array(np.random.default_rng(0).normal(size=(4, 2, 3)))
    parts = [range(2), range(2, 3), range(3, 4)]
    entry, shares = least_shares(ensemble, parts, np.array([[0, 2, 2], [2, 0, 0]]))
    # Of 4 snapshots, the first draw leaves out two and has the others twice, the second has the
    # two of the first part twice: of any 3, each draw has a half at least.
    assert entry * (len(shares) - 1) == 4.0
    assert np.interp([0.0, 2.0, 3.0, 4.0], entry * np.arange(len(shares)), shares).tolist() == [
        0.0,
        0.0,
        0.5,
        1.0,
    ]
