"""σ over parts of the snapshots merges to σ over their union."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.killing import KilledError, kill_at
from tests.strategies import part_lists, seeds
from timme import objects, pairs
from timme._arrays import Floats
from timme.engine.checkpoint import Checkpoint
from timme.engine.run import Run
from timme.fluctuations import measure
from timme.fluctuations.parts import PartFluctuations, measure_parts
from timme.objects import Objects
from timme.system.ensemble import Ensemble

SETS = [[0, 1, 2], [2, 3], [4, 5, 6, 7]]
PARTS = [range(100), range(100, 413), range(413, 600)]


def wandering(n_snapshots: int = 600, n_sites: int = 8, *, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    drift = np.linspace(0, 3, n_snapshots)[:, None, None] * np.arange(n_sites)[:, None]
    return rng.normal(size=(n_snapshots, n_sites, 3)) + drift


def compared(kind: str, **options: Any) -> Objects:
    array = wandering()
    if options.get("gaps"):
        array[np.random.default_rng(1).random(array.shape[:2]) < 0.2] = np.nan
    ensemble = Ensemble.from_array(array, **options)
    if kind == "points":
        return objects.points(ensemble)
    if kind == "links":
        return objects.links(ensemble, [[0, 1], [1, 2], [3, 4], [5, 6]])
    return objects.groups(ensemble, SETS, reduction="max" if kind == "max" else "rms")


def bits(found: PartFluctuations) -> list[bytes]:
    arrays = (found.pairs, found.common, found.weight, found.variance, found.origin, found.shift)
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


@pytest.mark.parametrize(
    "options",
    [{}, {"gaps": True}, {"weights": np.linspace(0.0, 1.0, 600)}],
    ids=["plain", "gaps", "weights"],
)
@pytest.mark.parametrize("kind", ["points", "groups", "max", "links"])
def test_one_part_of_all_has_the_bits_of_measure(kind: str, options: dict[str, Any]) -> None:
    chosen = compared(kind, **options)
    partners = pairs.all(chosen)
    whole = measure(chosen, partners, min_overlap=2)
    for unions in (None, [[0]]):
        found = measure_parts(chosen, partners, [range(600)], unions=unions)
        assert np.sqrt(found.variance[0]).tobytes() == whole.sigma.tobytes()
        assert found.common[0].tolist() == whole.common.tolist()


@pytest.mark.parametrize(
    "options",
    [{}, {"gaps": True}, {"weights": np.linspace(0.0, 1.0, 600)}],
    ids=["plain", "gaps", "weights"],
)
def test_parts_of_points_merge_to_the_whole(options: dict[str, Any]) -> None:
    chosen = compared("points", **options)
    partners = pairs.all(chosen)
    whole = measure(chosen, partners, min_overlap=2)
    merged = measure_parts(chosen, partners, PARTS).merge([2, 0, 1])
    assert merged.sigma == pytest.approx(whole.sigma, rel=1e-12)
    assert merged.common.tolist() == whole.common.tolist()
    assert merged.pairs.tolist() == whole.pairs.tolist()


@pytest.mark.parametrize("kind", ["points", "groups", "max", "links"])
@pytest.mark.parametrize("chunk", [None, 2])
def test_unions_that_are_named_are_exact_for_all_objects(kind: str, chunk: int | None) -> None:
    chosen = compared(kind)
    partners = pairs.all(chosen)
    found = measure_parts(chosen, partners, PARTS, unions=[[0, 1, 2], [1]], chunk=chunk)
    assert np.sqrt(found.variance[0]) == pytest.approx(measure(chosen, partners).sigma, rel=1e-12)
    alone = measure_parts(chosen, partners, PARTS)
    assert found.variance[1].tobytes() == alone.variance[1].tobytes()


@pytest.mark.parametrize("kind", ["groups", "max", "links"])
def test_parts_of_objects_of_several_sites_are_not_merged(kind: str) -> None:
    chosen = compared(kind)
    found = measure_parts(chosen, pairs.all(chosen), PARTS)
    assert found.merge([1]).sigma.tobytes() == np.sqrt(found.variance[1]).tobytes()
    with pytest.raises(ValueError, match="got 2 rows to merge: name them as unions="):
        found.merge([0, 1])


def test_parts_of_what_is_compared_by_one_point_merge_to_the_whole() -> None:
    ensemble = compared("points").ensemble
    for chosen in (
        objects.groups(ensemble, SETS, reduction="centre"),
        objects.groups(ensemble, [[0], [3], [5]], reduction="max"),
    ):
        partners = pairs.all(chosen)
        merged = measure_parts(chosen, partners, PARTS).merge([0, 1, 2])
        assert merged.sigma == pytest.approx(measure(chosen, partners).sigma, rel=1e-12)


@pytest.mark.parametrize("rows", [[], [3], [-1], [0, 3]])
def test_rows_that_are_not_there_are_refused(rows: list[int]) -> None:
    chosen = compared("points")
    found = measure_parts(chosen, pairs.all(chosen), PARTS)
    with pytest.raises(ValueError, match="rows to merge are numbers from 0 to 2, at least one"):
        found.merge(rows)


@settings(max_examples=20)
@given(st.data(), seeds, st.sampled_from(["rms", "max"]))
def test_parts_of_groups_agree_with_the_reference(
    data: st.DataObject, seed: int, reduction: Any
) -> None:
    array = wandering(12, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.1, 1.0, 12)
    ensemble = Ensemble.from_array(array, weights=weights)
    chosen = objects.groups(ensemble, SETS, reduction=reduction)
    parts = data.draw(part_lists(12))
    found = measure_parts(chosen, pairs.all(chosen), parts)
    for row, part in enumerate(parts):
        kept = slice(part.start, part.stop)
        for place, (a, b) in enumerate(found.pairs.tolist()):
            expected = naive.object_sigma(
                array[kept], SETS[a], SETS[b], reduction=reduction, weights=weights[kept]
            )
            # σ² of less than the rounding of distances of about 30 may be lost
            close = pytest.approx(expected**2, rel=1e-9, abs=1e-24)
            assert found.variance[row, place] == close


def test_a_part_that_is_named_twice_counts_twice() -> None:
    array = wandering(20)
    points = objects.points(Ensemble.from_array(array))
    partners = pairs.all(points)
    twice = measure_parts(points, partners, [range(5), range(5, 20)]).merge([0, 1, 0])
    repeated = objects.points(Ensemble.from_array(np.concatenate([array, array[:5]])))
    assert twice.sigma == pytest.approx(measure(repeated, partners).sigma, rel=1e-12)


@pytest.mark.parametrize("kind", ["points", "groups"])
def test_single_precision_is_enough_far_from_the_origin(kind: str) -> None:
    chosen = compared(kind)
    partners = pairs.all(chosen)
    rows = [0, 1, 2, 1]
    unions = None if kind == "points" else [rows]
    double = measure_parts(chosen, partners, PARTS, unions=unions)
    single = measure_parts(chosen, partners, PARTS, unions=unions, single=True)
    assert single.variance.dtype == single.shift.dtype == np.float32
    # deviations are a hundredth of distances: means less an origin keep them to 1e-7
    merged = rows if unions is None else [0]
    assert single.merge(merged).sigma == pytest.approx(double.merge(merged).sigma, rel=1e-6)


@pytest.mark.parametrize("kind", ["points", "groups"])
@pytest.mark.parametrize("options", [{}, {"unions": [[0, 2], [1]]}, {"chunk": 2}])
def test_an_interruption_changes_no_bit(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    chosen = compared(kind)
    partners = pairs.all(chosen)
    path = tmp_path / "a.checkpoint"
    calls = list[int]()
    run = Run.of(workers=1, progress=lambda done, _: calls.append(done))
    whole = bits(measure_parts(chosen, partners, PARTS, run=run, **options))
    assert bits(measure_parts(chosen, partners, PARTS, run=Run.of(workers=3), **options)) == whole
    n_calls = len(calls)
    for last in range(1, n_calls + 1, 3):
        checkpoint = Checkpoint(path, interval=0.0)
        run = Run.of(progress=kill_at(last), checkpoint=checkpoint)
        with pytest.raises(KilledError):
            measure_parts(chosen, partners, PARTS, run=run, **options)
        before = len(calls)
        with Checkpoint(path, resume=True) as checkpoint:
            run = Run.of(progress=lambda done, _: calls.append(done), checkpoint=checkpoint)
            assert bits(measure_parts(chosen, partners, PARTS, run=run, **options)) == whole
        assert calls[before:] == calls[last:n_calls]


def test_what_is_no_part_of_the_snapshots_is_refused() -> None:
    chosen = compared("points")
    with pytest.raises(ValueError, match="at least 1 part of the snapshots is needed, got none"):
        measure_parts(chosen, pairs.all(chosen), [])
    with pytest.raises(ValueError, match=r"a part is a run of .*got range\(-5, 5\)"):
        measure_parts(chosen, pairs.all(chosen), [range(-5, 5)])


@pytest.mark.parametrize(
    ("unions", "message"),
    [
        ([], "at least 1 union of parts is needed, got none: leave out unions="),
        ([[0], []], r"parts of a union are numbers from 0 to 2, at least one, got \[\]"),
        ([[3]], r"parts of a union are numbers from 0 to 2, at least one, got \[3\]"),
        ([[0, -1]], r"parts of a union are numbers from 0 to 2, at least one, got \[0, -1\]"),
    ],
    ids=["none", "an empty one", "a part that is not there", "from the end"],
)
def test_unions_of_what_is_not_there_are_refused(unions: list[list[int]], message: str) -> None:
    chosen = compared("points")
    with pytest.raises(ValueError, match=message):
        measure_parts(chosen, pairs.all(chosen), PARTS, unions=unions)


def peak_of(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "unions",
    [
        pytest.param(None, marks=pytest.mark.long),
        pytest.param([[0, 1], [2, 39]], marks=pytest.mark.long),
    ],
    ids=["windows", "unions"],
)
def test_sums_of_overlapping_parts_are_held_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch, unions: list[list[int]] | None
) -> None:
    """The sums of 40 windows of all 80,000 pairs of sites would take 128 MB."""
    ensemble = Ensemble.from_array(wandering(80, 400))
    chosen = objects.groups(ensemble, [list(range(k, k + 5)) for k in range(0, 400, 5)])
    windows = [range(k, k + 40) for k in range(40)]
    everything = pairs.all(chosen)
    at_once = measure_parts(chosen, everything, windows, unions=unions, chunk=len(everything))
    monkeypatch.setattr("timme.fluctuations.parts._HELD_BYTES", 8_000_000)
    found = list[PartFluctuations]()
    peak = peak_of(lambda: found.append(measure_parts(chosen, everything, windows, unions=unions)))
    assert bits(found[0]) == bits(at_once)
    assert peak < 16_000_000  # with the result, of 2 MB, and what the crossing of sites takes
