"""Sums over parts of the snapshots: any parts, in one pass, to the same bits for anyone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.killing import KilledError, kill_at
from tests.strategies import boxes, part_lists, searching, seeds
from timme._arrays import Floats, Ints
from timme.engine.checkpoint import Checkpoint
from timme.engine.moments import Moments
from timme.engine.reduction import moments, moments_by_part
from timme.engine.run import Run
from timme.system.ensemble import Ensemble

EPS = np.finfo(np.float64).eps


def all_pairs(n_sites: int) -> Ints:
    return np.column_stack(np.triu_indices(n_sites, 1))


def wandering(n_snapshots: int, n_sites: int = 5, *, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    drift = np.linspace(0, 5, n_snapshots)[:, None, None] * np.arange(n_sites)[:, None]
    return rng.normal(size=(n_snapshots, n_sites, 3)) + drift


def same(found: list[Moments], expected: list[Moments]) -> bool:
    return all(
        one.tobytes() == other.tobytes()
        for left, right in zip(found, expected, strict=True)
        for one, other in zip(left.arrays, right.arrays, strict=True)
    )


def by_part(ensemble: Ensemble, parts: list[range], run: Run | None = None) -> list[Moments]:
    pairs = all_pairs(ensemble.n_sites)
    return [Moments(*kept) for kept in moments_by_part(ensemble, pairs, parts, run=run or Run())]


@st.composite
def ensembles(draw: st.DrawFn) -> tuple[Floats, Ensemble, list[range]]:
    """Snapshots with or without gaps, weights and boxes, of more than one block, and parts."""
    rng = np.random.default_rng(draw(seeds))
    array = rng.normal(size=(draw(st.sampled_from([5, 30, 270])), 3, 3))
    gaps = draw(st.booleans())
    if gaps:
        array[rng.random(array.shape[:2]) < 0.3] = np.nan
    weights = rng.uniform(0, 1, len(array)) * (rng.random(len(array)) < 0.8) + 1e-9
    box = draw(boxes(len(array), 3)) if draw(st.booleans()) else None
    made = Ensemble.from_array(
        array, weights=weights if draw(st.booleans()) else None, boxes=box, gaps=gaps
    )
    return array, made, draw(part_lists(len(array)))


@searching(50)
@given(ensembles())
def test_any_parts_agree_with_the_reference(given: tuple[Floats, Ensemble, list[range]]) -> None:
    array, ensemble, parts = given
    _, boxes = ensemble.frames.read(0, len(array))
    for part, found in zip(parts, by_part(ensemble, parts), strict=True):
        for place, (a, b) in enumerate(all_pairs(3).tolist()):
            count, weight, mean, variance = naive.part_moments(
                array, a, b, part, weights=ensemble.weights, boxes=boxes
            )
            assert found.count[place] == count
            assert found.weight[place] == pytest.approx(weight, rel=1e-12)
            assert found.mean[place] == pytest.approx(mean, rel=1e-12)
            # squares of distances up to 10, less their mean's: 20 roundings of 100
            expected = pytest.approx(variance, rel=1e-12, abs=2000 * EPS, nan_ok=True)
            assert found.variance[place] == expected


@settings(max_examples=20)
@given(ensembles())
def test_any_number_of_threads_gives_the_same_bits(
    given: tuple[Floats, Ensemble, list[range]],
) -> None:
    _, ensemble, parts = given
    one, three = (by_part(ensemble, parts, Run.of(workers=workers)) for workers in (1, 3))
    assert same(one, three)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_snapshots", [2, 255, 600])
def test_one_part_of_all_has_the_bits_of_the_whole(n_snapshots: int, kind: type) -> None:
    ensemble = Ensemble.from_array(wandering(n_snapshots).astype(kind))
    whole = moments(ensemble, all_pairs(5))
    assert same(by_part(ensemble, [range(n_snapshots)]), [whole])


def test_parts_of_whole_blocks_fold_to_the_bits_of_the_whole() -> None:
    ensemble = Ensemble.from_array(wandering(700))
    first, second, third = by_part(ensemble, [range(256), range(256, 512), range(512, 700)])
    assert same([first.merge(second).merge(third)], [moments(ensemble, all_pairs(5))])


def test_a_short_part_of_single_coordinates_is_summed_in_double() -> None:
    array = (50 + 0.01 * wandering(600)).astype(np.float32)
    part = range(300, 320)
    (found,) = by_part(Ensemble.from_array(array), [part])
    (exact,) = by_part(Ensemble.from_array(array.astype(np.float64)), [part])
    assert found.variance == pytest.approx(exact.variance, rel=1e-9)


def test_what_is_in_no_part_is_not_read() -> None:
    array = wandering(1000)
    array[:400], array[900:] = np.nan, np.nan  # of which the second block begins before 400
    kept = Ensemble.from_array(array, gaps=True)
    read = list[int]()

    class Watched(type(kept.frames)):  # type: ignore[misc]
        def read(self, start: int, stop: int) -> tuple[Floats, Floats | None]:
            read.append(start)
            found: tuple[Floats, Floats | None] = super().read(start, stop)
            return found

    watched = replace(kept, frames=Watched(array))
    (found,) = by_part(watched, [range(520, 600)])
    assert read == [512]
    assert (found.count == 80).all()


def test_finished_parts_are_reduced_while_others_are_summed() -> None:
    ensemble = Ensemble.from_array(wandering(600))
    parts = [range(300), range(100, 500), range(550, 600), range(20, 30)]
    finished = list[int]()

    def reduce(number: int, found: Moments) -> tuple[Floats]:
        finished.append(number)
        return (found.mean,)

    kept = moments_by_part(ensemble, all_pairs(5), parts, reduce)
    assert finished == [3, 0, 1, 2]
    expected = [part.mean.tobytes() for part in by_part(ensemble, parts)]
    assert [mean.tobytes() for (mean,) in kept] == expected


def test_an_interruption_at_any_piece_changes_no_bit(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    ensemble = Ensemble.from_array(wandering(600))
    parts = [range(300), range(100, 500), range(550, 600), range(20, 30)]
    calls = list[int]()
    whole = by_part(ensemble, parts, Run.of(progress=lambda done, _: calls.append(done)))
    assert calls[-1] == 600
    n_calls = len(calls)
    for last in range(1, n_calls + 1):
        with pytest.raises(KilledError), Checkpoint(path, interval=0.0) as checkpoint:
            by_part(ensemble, parts, Run.of(progress=kill_at(last), checkpoint=checkpoint))
        before = len(calls)
        with Checkpoint(path, resume=True) as checkpoint:
            run = Run.of(progress=lambda done, _: calls.append(done), checkpoint=checkpoint)
            assert same(by_part(ensemble, parts, run), whole)
        assert calls[before:] == calls[last:n_calls]


def test_sums_over_other_parts_are_not_taken_up(tmp_path: Path) -> None:
    ensemble = Ensemble.from_array(wandering(600))

    def stop(*_: int) -> None:
        raise KilledError

    path = tmp_path / "a.checkpoint"
    with pytest.raises(KilledError), Checkpoint(path, interval=0.0) as checkpoint:
        by_part(ensemble, [range(400)], Run.of(progress=stop, checkpoint=checkpoint))
    with Checkpoint(path, resume=True) as checkpoint:
        found = by_part(ensemble, [range(500)], Run.of(checkpoint=checkpoint))
    assert same(found, by_part(ensemble, [range(500)]))


@pytest.mark.parametrize("part", [range(3, 3), range(11), range(-1, 4), range(0, 8, 2)])
def test_parts_that_are_no_runs_of_snapshots_are_refused(part: range) -> None:
    ensemble = Ensemble.from_array(wandering(10))
    with pytest.raises(ValueError, match="a part is a run of the snapshots 0 to 10"):
        by_part(ensemble, [range(5), part])
    with pytest.raises(ValueError, match="at least 1 part"):
        by_part(ensemble, [])


def test_memory_of_finished_parts_is_used_again() -> None:
    ensemble = Ensemble.from_array(wandering(300))
    windows = [range(k, k + 30) for k in range(0, 270, 10)]
    held = dict[int, Moments]()

    def reduce(_: int, found: Moments) -> tuple[Floats]:
        held[id(found)] = found
        return (found.mean.copy(),)

    kept = moments_by_part(ensemble, all_pairs(5), windows, reduce)
    expected = [part.mean.tobytes() for part in by_part(ensemble, windows)]
    assert [mean.tobytes() for (mean,) in kept] == expected
    assert len(held) == 3  # as many as overlap
