"""References and invariants of the one reduction: any parts, tiles and workers, same bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.processes import python
from tests.strategies import seeds, straight_boxes
from timme._arrays import Coordinates, Floats, Ints
from timme.engine.checkpoint import Run
from timme.engine.moments import Moments
from timme.engine.reduction import fingerprint, reduce_moments
from timme.ensemble import Ensemble

EPS = np.finfo(np.float64).eps
PARTS = [range(300), range(100, 500), range(550, 600), range(20, 30)]


def all_pairs(n_sites: int) -> Ints:
    return np.column_stack(np.triu_indices(n_sites, 1))


def wandering(n_snapshots: int, n_sites: int = 5, kind: type = np.float64) -> Coordinates:
    rng = np.random.default_rng(n_snapshots)
    drift = np.linspace(0, 5, n_snapshots)[:, None, None] * np.arange(n_sites)[:, None]
    moved: Coordinates = (rng.normal(size=(n_snapshots, n_sites, 3)) + drift).astype(kind)
    return moved


def collect(
    ensemble: Ensemble, pairs: Ints, parts: list[range] | None = None, **options: Any
) -> list[Moments]:
    """Moments of each part."""
    found = [Moments.empty(len(pairs)) for _ in parts or [range(1)]]

    def keep(part: int, tile: slice, moments: Moments) -> None:
        found[part].part(tile).add(moments)

    reduce_moments(ensemble, pairs, keep, parts, **options)
    return found


def bits(found: list[Moments]) -> list[bytes]:
    return [array.tobytes() for arrays in found for array in arrays]


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 100 snapshots."""
    monkeypatch.setattr("timme.ensemble.ensemble._MOST_FRAMES", 100)


@st.composite
def ensembles(draw: st.DrawFn) -> tuple[Floats, Ensemble, list[range]]:
    """Snapshots with or without gaps, weights and boxes, in one block or two, and parts of them."""
    rng = np.random.default_rng(draw(seeds))
    n_snapshots, gaps = draw(st.sampled_from([5, 30, 270])), draw(st.booleans())
    array = rng.normal(size=(n_snapshots, 3, 3))
    if gaps:
        array[rng.random(array.shape[:2]) < 0.3] = np.nan
    weights = rng.uniform(0.1, 1, n_snapshots) if draw(st.booleans()) else None
    boxes = draw(straight_boxes(n_snapshots, 3)) if draw(st.booleans()) else None
    ends = st.tuples(st.integers(0, n_snapshots - 1), st.integers(1, n_snapshots))
    parts = [
        range(min(pair), max(pair) + (min(pair) == max(pair)))
        for pair in draw(st.lists(ends, min_size=1, max_size=4))
    ]
    ensemble = Ensemble.from_array(array, weights=weights, boxes=boxes, gaps=gaps)
    return array, ensemble, [part for part in parts if part.stop <= n_snapshots] or [range(1)]


@given(ensembles())
def test_any_parts_agree_with_the_reference(drawn: tuple[Floats, Ensemble, list[range]]) -> None:
    array, ensemble, parts = drawn
    boxes = ensemble.frames.read(0, len(array))[1]
    for part, found in zip(parts, collect(ensemble, all_pairs(3), parts), strict=True):
        for place, (a, b) in enumerate(all_pairs(3).tolist()):
            inside = array[part.start : part.stop]
            box = None if boxes is None else boxes[part.start : part.stop]
            distances, seen = naive.pair_distances(inside, a, b, box)
            weights = ensemble.weights
            counting = None if weights is None else [weights[part.start + t] for t in seen]
            count, weight, mean, variance = naive.moments(distances, counting)
            assert found.common[place] == count
            assert found.weight[place] == pytest.approx(weight, rel=1e-12)
            assert found.mean[place] == pytest.approx(mean, rel=1e-12)
            # squares of distances up to 10, less that of their mean: 20 roundings of 100
            near = pytest.approx(variance, rel=1e-12, abs=2000 * EPS, nan_ok=True)
            assert found.variance[place] == near


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("parts", [None, PARTS])
@pytest.mark.parametrize("options", [{}, {"boxes": [9.0, 8.0, 7.0]}, {"gaps": True}])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(
    kind: type, options: dict[str, Any], parts: list[range] | None
) -> None:
    array, pairs = wandering(600, 60, kind), all_pairs(60)
    if options.get("gaps"):
        array[::7, 3] = np.nan
    ensemble = Ensemble.from_array(array, **options)
    one, two, three = (
        bits(collect(ensemble, pairs, parts, run=Run.of(workers=count))) for count in (1, 2, 3)
    )
    assert one == two == three


@pytest.mark.parametrize(
    "parts", [[], [range(3, 3)], [range(5), range(11)], [range(-1, 4)], [range(0, 8, 2)]]
)
def test_parts_that_are_no_runs_of_snapshots_are_refused(parts: list[range]) -> None:
    with pytest.raises(ValueError, match="parts= needs ranges within 0 to 10, got"):
        collect(Ensemble.from_array(wandering(10)), all_pairs(5), parts)


# ---- fingerprints --------------------------------------------------------------------------------


def power(exponent: float) -> Callable[[float], float]:
    return lambda base: sum(base**exponent for _ in range(1))


def test_a_fingerprint_tells_contents_apart() -> None:
    array, ensemble = np.arange(6.0), Ensemble.from_array(wandering(10))
    different: list[Any] = [
        array,
        array.astype(np.float32),
        array.reshape(2, 3),
        array[::-1],
        array.tolist(),
        [array, array],
        {"a": 1},
        {"a": 2},
        ensemble,
        replace(ensemble, weights=np.ones(10)),
        ensemble.select([0, 1]),
        power(2.0),
        power(3.0),
        None,
    ]
    assert len({fingerprint(one) for one in different}) == len(different)


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    script = (
        "from tests.core.test_reduction import *\n"
        "print(fingerprint(Ensemble.from_array(wandering(10)), power(2.0), PARTS, 'text'))"
    )
    here = fingerprint(Ensemble.from_array(wandering(10)), power(2.0), PARTS, "text")
    assert python("-c", script).stdout.strip() == here
