"""References of pairs of sites, and of σ resampled from sums over parts of the snapshots."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from tests import naive
from timme import objects
from timme._arrays import Bools, Floats, Ints
from timme._kernels.reductions import fit_sites
from timme.ensemble import Ensemble
from timme.objects import Objects
from timme.parts import PartSums, sum_parts
from timme.site_pairs import SitePairs

PARTS = [range(7), range(7, 19), range(19, 20), range(20, 40)]
TIMES = [[1, 1, 1, 1], [2, 0, 0, 1], [0, 3, 1, 0]]
SETS = [[0, 1], [1, 2, 3], [4], [5, 0]]
# Sums in single precision are counted from the mean of all snapshots. They lose digits where that
# of a draw is some σ away: (shift / σ)² times 6e-8.
ROUNDING = 1e-5


def wandering(seed: int, n_sites: int = 6, dimensions: int = 3) -> Floats:
    steps = np.random.default_rng(seed).normal(size=(40, n_sites, dimensions))
    return steps.cumsum(axis=0)


def drawn(values: Any, times: list[int]) -> Any:
    """The snapshots of each part, as often as it counts."""
    chosen = [part for part, count in zip(PARTS, times, strict=True) for _ in range(count)]
    return np.concatenate([values[part.start : part.stop] for part in chosen])


def every_pair(made: Objects) -> Ints:
    return np.array([*itertools.combinations(range(len(made)), 2)])


def resampled(made: Objects, **options: Any) -> Floats:
    """σ (draws, pairs) of all pairs."""
    sums = sum_parts(made, every_pair(made), PARTS, **options)
    return np.sqrt(sums.resample(TIMES).astype(np.float64)).T


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_sigma_of_points_is_that_of_the_snapshots_drawn(seed: int, n_dimensions: int) -> None:
    array = wandering(seed, dimensions=n_dimensions)
    made = objects.points(Ensemble.from_array(array))
    for times, found in zip(TIMES, resampled(made), strict=True):
        chosen = drawn(array, times)
        expected = [naive.pair_sigma(chosen, a, b)[0] for a, b in every_pair(made)]
        assert found.tolist() == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("kind", ["box", "weights", "metric"])
def test_boxes_weights_and_metrics_count_as_they_do_for_sigma(kind: str) -> None:
    array, weights, box = wandering(1), np.linspace(0.5, 2.0, 40), None
    options: dict[str, Any] = {}
    if kind == "box":
        array, box = array % 5.0, np.diag([5.0] * 3)
        options = {"boxes": [5.0] * 3}
    elif kind == "weights":
        options = {"weights": weights}
    made = objects.points(Ensemble.from_array(array, **options))
    all_found = resampled(made, metric="cityblock" if kind == "metric" else None)
    for times, found in zip(TIMES, all_found, strict=True):
        frames = drawn(np.arange(40), times)
        for (a, b), sigma in zip(every_pair(made), found, strict=True):
            if kind == "metric":
                r = np.abs(array[frames, a] - array[frames, b]).sum(axis=1)
            else:
                r = np.array([naive.distance(array[t, a], array[t, b], box) for t in frames])
            expected = naive.sigma(r, weights[frames] if kind == "weights" else None)
            assert sigma == pytest.approx(expected, rel=ROUNDING)


def test_pairs_that_a_draw_hardly_sees_are_infinite_there() -> None:
    array = wandering(2, 4)
    array[7:, 0] = np.nan  # seen in the first part alone
    made = objects.points(Ensemble.from_array(array, gaps=True))
    found, with_first = resampled(made), (every_pair(made) == 0).any(axis=1)
    assert np.isfinite(found[:2]).all()
    assert np.isinf(found[2]).tolist() == with_first.tolist()
    expected = [naive.pair_sigma(array[:7], 0, other)[0] for other in (1, 2, 3)]
    for draw in (0, 1):
        assert found[draw, with_first].tolist() == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("reduction", ["rms", "max"])
@pytest.mark.parametrize("box", [None, [500.0] * 3])
def test_objects_are_resampled_about_the_mean_of_all_or_of_the_draw(
    reduction: Any, box: list[float] | None
) -> None:
    array = wandering(3)
    made = objects.groups(Ensemble.from_array(array, boxes=box), SETS, reduction=reduction)
    for times, found in zip(TIMES, resampled(made), strict=True):
        for (one, other), sigma in zip(every_pair(made), found, strict=True):
            squares = []
            for i, j in itertools.product(SETS[one], SETS[other]):
                r = np.linalg.norm(array[:, i] - array[:, j], axis=1)
                of_draw = drawn(r, times)
                about = r.mean() if reduction == "rms" else of_draw.mean()
                squares.append(float(((of_draw - about) ** 2).mean()))
            square = np.mean(squares) if reduction == "rms" else max(squares)
            assert sigma == pytest.approx(np.sqrt(square), rel=ROUNDING)


def test_objects_with_gaps_are_resampled_by_what_is_seen_of_them() -> None:
    array = wandering(4)
    array[np.random.default_rng(8).random(array.shape[:2]) < 0.15] = np.nan
    made = objects.groups(Ensemble.from_array(array, gaps=True), SETS)
    for times, found in zip(TIMES, resampled(made), strict=True):
        expected = [
            naive.resampled_object_sigma(array, SETS[one], SETS[other], PARTS, times)
            for one, other in every_pair(made)
        ]
        assert found.tolist() == pytest.approx(expected, rel=ROUNDING)


def test_rigid_links_count_nothing() -> None:
    array = wandering(5)
    rods = objects.links(Ensemble.from_array(array), [(0, 1), (1, 2)])
    for times, found in zip(TIMES, resampled(rods), strict=True):
        expected, _ = naive.pair_sigma(drawn(array, times), 0, 2)
        assert found.tolist() == [pytest.approx(expected, rel=ROUNDING)]


@pytest.mark.parametrize("reduction", ["rms", "max"])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_pieces_tiles_and_pairs_that_are_not_kept_change_no_bit(
    monkeypatch: pytest.MonkeyPatch, reduction: Any, size: int, *, gaps: bool
) -> None:
    array = wandering(6, 40)
    array[:5, 0] = np.nan if gaps else 0.0
    sets = [[(k + step) % 40 for step in range(size)] for k in range(40)]
    made = objects.groups(Ensemble.from_array(array, gaps=gaps), sets, reduction=reduction)
    index = every_pair(made)
    whole = sum_parts(made, index, PARTS)
    squares = whole.resample(TIMES)
    bound = np.median(squares[:, 0])

    def keep(sums: PartSums) -> Bools:
        return np.asarray(sums.resample(TIMES)[:, 0] <= bound)

    monkeypatch.setattr("timme.parts._PIECE_BYTES", 20_000)
    monkeypatch.setattr("timme.parts._TILE", 32)
    few = sum_parts(made, index, PARTS, keep=keep)
    kept = squares[:, 0] <= bound
    assert few.pairs.tolist() == index[kept].tolist()
    assert few.resample(TIMES).tobytes() == squares[kept].tobytes()
    assert whole.take(np.array([7, 3])).resample(TIMES).tobytes() == squares[[7, 3]].tobytes()


# ---- pairs of sites ----------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 3))
def test_reduction_is_over_all_cross_pairs_each_measured_once(
    seed: int, largest: bool, n_columns: int
) -> None:
    rng = np.random.default_rng(seed)
    n_sites, n_objects = int(rng.integers(2, 60)), int(rng.integers(2, 90))
    sets = [rng.permutation(n_sites)[: rng.integers(1, 5)] for _ in range(n_objects)]
    made = objects.groups(Ensemble.from_array(np.zeros((2, n_sites, 1))), sets)
    chosen = [pair for pair in itertools.combinations(range(n_objects), 2) if rng.random() < 0.3]
    index = rng.permutation(np.array(chosen or [(0, 1)]))
    found = SitePairs.of(made, index)
    crossing = sorted(
        {
            (int(min(i, j)), int(max(i, j)))
            for a, b in index
            for i, j in itertools.product(sets[a], sets[b])
            if i != j
        }
    )
    assert list(map(tuple, found.site_pairs.tolist())) == crossing
    values = rng.random((len(crossing), n_columns))
    value = dict(zip(crossing, values, strict=True))
    none = np.zeros(n_columns)
    reduced = found.reduce(values, largest=largest, threads=2)
    for (a, b), row in zip(index, reduced, strict=True):
        rows = [
            none if i == j else value[int(min(i, j)), int(max(i, j))]
            for i, j in itertools.product(sets[a], sets[b])
        ]
        expected = np.max(rows, axis=0) if largest else sum(rows, none) / len(rows)
        assert row.tolist() == expected.tolist()  # added up in the same order


def test_motion_of_sites_is_the_least_squares_fit_of_sums_of_two() -> None:
    rng = np.random.default_rng(2)
    pairs = np.array([*itertools.combinations(range(7), 2)])[rng.permutation(21)[:16]]
    squares = rng.random((3, 16))
    design = np.zeros((16, 8))  # site 7 has no pair
    design[np.arange(16)[:, None], pairs] = 1.0
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[order, 0], np.arange(9))
    found = fit_sites(begins, ends[order, 1], order % 16, squares, np.zeros(8), 10_000)
    for fitted, wanted in zip(found, squares, strict=True):
        expected, _ = nnls(design, wanted)
        assert fitted == pytest.approx(expected, abs=1e-6)
