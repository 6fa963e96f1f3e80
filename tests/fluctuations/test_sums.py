"""σ resampled from sums over parts is that of the snapshots that were drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.fluctuations.test_parts import SETS, wandering
from timme import objects, pairs
from timme._arrays import Floats
from timme.fluctuations.sums import sum_parts
from timme.objects import Objects
from timme.system import ensemble as system
from timme.system.ensemble import Ensemble

PARTS = [range(7), range(7, 19), range(19, 20), range(20, 40)]
TIMES = [[1, 1, 1, 1], [2, 0, 0, 1], [0, 3, 1, 0]]


def drawn(values: Floats, times: list[int]) -> Floats:
    """The snapshots of each part, as often as it counts."""
    chosen = [part for part, count in zip(PARTS, times, strict=True) for _ in range(count)]
    return np.concatenate([values[part.start : part.stop] for part in chosen])


def points(array: Floats, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


# Single precision, of sums counted from the mean: about 6e-8 of σ and of its square.
ROUNDING = 2e-6


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_sigma_of_points_is_that_of_the_snapshots_drawn(seed: int, n_dimensions: int) -> None:
    array = np.random.default_rng(seed).normal(size=(40, 5, n_dimensions))
    chosen = points(array)
    index = next(pairs.all(chosen).chunks(100))
    found = sum_parts(chosen, index, PARTS).sigma(TIMES)
    for draw, times in enumerate(TIMES):
        for place, (a, b) in enumerate(index):
            expected, _ = naive.pair_sigma(drawn(array, times), a, b)
            assert found[place, draw] == pytest.approx(expected, rel=ROUNDING, abs=1e-6)


@pytest.mark.parametrize("kind", ["box", "weights", "metric"])
def test_boxes_weights_and_metrics_count_as_they_do_for_sigma(kind: str) -> None:
    array = wandering(40, 6) % 5.0 if kind == "box" else wandering(40, 6)
    weights = np.linspace(0.5, 2.0, 40)
    options: dict[str, Any] = {"boxes": [5.0] * 3} if kind == "box" else {}
    if kind == "weights":
        options = {"weights": weights}
    chosen = points(array, **options)
    index = next(pairs.all(chosen).chunks(100))
    metric = "cityblock" if kind == "metric" else None
    found = sum_parts(chosen, index, PARTS, metric=metric).sigma(TIMES)
    for draw, times in enumerate(TIMES):
        frames = drawn(np.arange(40.0), times).astype(int)
        for place, (a, b) in enumerate(index):
            if kind == "metric":
                r = np.abs(array[frames, a] - array[frames, b]).sum(axis=1)
            else:
                box = np.diag([5.0] * 3) if kind == "box" else None
                r = np.array([naive.distance(array[t, a], array[t, b], box) for t in frames])
            expected = naive.sigma(r, weights[frames] if kind == "weights" else None)
            assert found[place, draw] == pytest.approx(expected, rel=1e-5)


def test_pairs_that_a_draw_hardly_sees_join_nothing_there() -> None:
    array = wandering(40, 4)
    array[7:, 0] = np.nan  # seen in the first part alone
    chosen = points(array, gaps=True)
    index = next(pairs.all(chosen).chunks(100))
    found = sum_parts(chosen, index, PARTS).sigma(TIMES)
    with_first = (index == 0).any(axis=1)
    assert np.isfinite(found[:, :2]).all()
    assert np.isinf(found[with_first, 2]).all()
    for place in np.flatnonzero(with_first):
        expected, _ = naive.pair_sigma(array[:7], *index[place])
        assert found[place, 0] == pytest.approx(expected, rel=1e-5)
        assert found[place, 1] == pytest.approx(expected, rel=1e-5)


def test_objects_with_gaps_are_resampled_by_what_is_seen_of_them() -> None:
    array = wandering(40)
    array[np.random.default_rng(8).random(array.shape[:2]) < 0.15] = np.nan
    chosen = objects.groups(Ensemble.from_array(array, gaps=True), SETS)
    index = next(pairs.all(chosen).chunks(100))
    found = sum_parts(chosen, index, PARTS).sigma(TIMES)
    for draw, times in enumerate(TIMES):
        for place, (one, other) in enumerate(index):
            expected = naive.resampled_object_sigma(array, SETS[one], SETS[other], PARTS, times)
            assert found[place, draw] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("reduction", ["rms", "max"])
@pytest.mark.parametrize("box", [None, [500.0] * 3])
def test_objects_of_several_sites_are_resampled_about_the_mean_of_all(
    reduction: Any, box: list[float] | None
) -> None:
    array = wandering(40)
    chosen = objects.groups(Ensemble.from_array(array, boxes=box), SETS, reduction=reduction)
    index = next(pairs.all(chosen).chunks(100))
    found = sum_parts(chosen, index, PARTS).sigma(TIMES)
    for draw, times in enumerate(TIMES):
        for place, (one, other) in enumerate(index):
            squares = []
            for i in SETS[one]:
                for j in SETS[other]:
                    r = np.linalg.norm(array[:, i] - array[:, j], axis=1)
                    of_draw = drawn(r, times)
                    about = r.mean() if reduction == "rms" else of_draw.mean()
                    squares.append(float(((of_draw - about) ** 2).mean()))
            square = np.mean(squares) if reduction == "rms" else max(squares)
            assert found[place, draw] == pytest.approx(np.sqrt(square), rel=1e-5)


def test_neither_blocks_nor_pieces_of_the_pairs_change_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ensemble = Ensemble.from_array(wandering(40))
    chosen = objects.groups(ensemble, SETS)
    index = next(pairs.all(chosen).chunks(100))
    whole = sum_parts(chosen, index, PARTS).sigma(TIMES)
    monkeypatch.setattr(system, "_BLOCK_FRAMES", 9)
    monkeypatch.setattr("timme.fluctuations.sums.HELD_BYTES", 40)
    monkeypatch.setattr("timme.fluctuations.units._TILE", 2)
    np.testing.assert_allclose(sum_parts(chosen, index, PARTS).sigma(TIMES), whole, rtol=1e-5)


def test_parts_that_leave_snapshots_out_are_refused() -> None:
    chosen = points(wandering(40))
    with pytest.raises(ValueError, match="follow one another without gaps"):
        sum_parts(chosen, np.array([[0, 1]]), [range(3), range(5, 9)])
