import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import boxed_snapshots, gapped_snapshots, seeds, snapshots
from timme._arrays import Floats, Ints
from timme.engine import moments as module
from timme.engine.moments import Metric, Moments
from timme.engine.reduction import moments
from timme.engine.run import Run
from timme.system.ensemble import Ensemble

EPS = np.finfo(np.float64).eps


def all_pairs(n_sites: int) -> Ints:
    return np.column_stack(np.triu_indices(n_sites, 1))


def sigmas(ensemble: Ensemble, *, workers: int | None = None) -> Floats:
    return np.sqrt(
        moments(ensemble, all_pairs(ensemble.n_sites), run=Run.of(workers=workers)).variance
    )


def expected(
    array: Floats, *, weights: Floats | None = None, boxes: Floats | None = None
) -> list[float]:
    return [
        naive.pair_sigma(array, int(i), int(j), weights=weights, boxes=boxes)[0]
        for i, j in all_pairs(array.shape[1])
    ]


def agree(found: Floats, reference: list[float], scale: float = 10.0) -> bool:
    """Equal to rounding: that of distances of this scale, far above which σ may be."""
    allowed = pytest.approx(reference, rel=1e-12, abs=20 * EPS * scale, nan_ok=True)
    return bool(found.tolist() == allowed)


# Parity with the reference


@given(snapshots())
def test_open_space_agrees_with_the_reference(array: Floats) -> None:
    assert agree(sigmas(Ensemble.from_array(array)), expected(array))


@given(st.integers(2, 9), st.sampled_from([1, 2, 3]), st.sampled_from([7, 300]), seeds)
def test_a_pair_has_the_same_bits_in_any_list(
    n_sites: int, n_dimensions: int, n_frames: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=(n_frames, n_sites, n_dimensions)).astype(np.float32)
    ensemble, pairs = Ensemble.from_array(array), all_pairs(n_sites)
    together = moments(ensemble, pairs)
    chosen = rng.permutation(len(pairs))[: rng.integers(1, len(pairs) + 1)]
    turned = np.where(rng.random(len(chosen))[:, None] < 0.5, pairs[chosen], pairs[chosen, ::-1])
    again = moments(ensemble, turned)
    for found, expected in zip(again.arrays, together.arrays, strict=True):
        assert found.tolist() == expected[chosen].tolist()


@given(snapshots(), seeds)
def test_weights_agree_with_the_reference(array: Floats, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 5, len(array))
    found = sigmas(Ensemble.from_array(array, weights=weights))
    assert agree(found, expected(array, weights=weights))


@given(gapped_snapshots())
def test_gaps_agree_with_the_reference(array: Floats) -> None:
    pairs = all_pairs(array.shape[1])
    result = moments(Ensemble.from_array(array, gaps=True), pairs)
    assert agree(np.sqrt(result.variance), expected(array))
    assert result.count.tolist() == [naive.pair_sigma(array, int(i), int(j))[1] for i, j in pairs]


@given(boxed_snapshots())
def test_boxes_that_vary_agree_with_the_reference(boxed: tuple[Floats, Floats]) -> None:
    array, boxes = boxed
    found = sigmas(Ensemble.from_array(array, boxes=boxes))
    assert agree(found, expected(array, boxes=boxes), scale=100)


@pytest.mark.parametrize("n_dimensions", [4, 5])
def test_tilted_boxes_of_many_dimensions_agree_with_the_reference(n_dimensions: int) -> None:
    rng = np.random.default_rng(n_dimensions)
    array = rng.normal(scale=3, size=(2, 3, n_dimensions))
    box = 4 * np.eye(n_dimensions) + np.tril(rng.uniform(-3, 3, (n_dimensions, n_dimensions)), -1)
    boxes = np.broadcast_to(box, (2, n_dimensions, n_dimensions)).copy()
    found = sigmas(Ensemble.from_array(array, boxes=boxes))
    assert agree(found, expected(array, boxes=boxes), scale=100)


def test_a_box_with_an_open_direction_wraps_the_others_only() -> None:
    array = np.random.default_rng(5).normal(scale=4, size=(4, 5, 3))
    found = sigmas(Ensemble.from_array(array, boxes=[3.0, 0.0, 2.5]))
    nearly_open = np.tile(np.diag([3.0, 1e6, 2.5]), (4, 1, 1))
    assert agree(found, expected(array, boxes=nearly_open))


# Blocks, threads, merging


@pytest.mark.parametrize("n_snapshots", [2, 255, 256, 257, 513, 1000])
def test_block_boundaries_leave_no_trace(n_snapshots: int) -> None:
    array = np.random.default_rng(n_snapshots).normal(size=(n_snapshots, 3, 2))
    array += np.linspace(0, 30, n_snapshots)[:, None, None] * np.arange(3)[:, None]  # a drift
    ensemble = Ensemble.from_array(array)
    assert ensemble.block_length == 256
    assert agree(sigmas(ensemble), expected(array))


@given(seeds, st.sampled_from([1e-200, 1e-30, 1e30, 1e200]))
def test_a_common_factor_of_all_weights_changes_nothing(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    array, weights = rng.normal(size=(300, 2, 2)), rng.uniform(0.1, 1, 300)
    array[150:, 0] += 100  # blocks differ
    found = sigmas(Ensemble.from_array(array, weights=factor * weights))
    assert found == pytest.approx(sigmas(Ensemble.from_array(array, weights=weights)), rel=1e-12)


def test_whole_weights_are_repetitions() -> None:
    rng = np.random.default_rng(3)
    array, times = rng.normal(size=(200, 4, 3)), rng.integers(1, 5, 200)
    weighted = Ensemble.from_array(array, weights=times)
    repeated = Ensemble.from_array(np.repeat(array, times, axis=0))
    assert sigmas(weighted) == pytest.approx(sigmas(repeated), rel=1e-13)


@pytest.mark.parametrize("metric", [None, lambda a, b: np.abs(a - b).sum(axis=-1)])
def test_any_number_of_threads_gives_the_same_bits(
    metric: Metric | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TILE", 7)
    array = np.random.default_rng(2).normal(size=(300, 12, 3)).astype(np.float32)
    ensemble, pairs = Ensemble.from_array(array), all_pairs(12)
    one, *others = (
        moments(ensemble, pairs, metric=metric, run=Run.of(workers=w)) for w in (1, 2, 3, 8)
    )
    for other in others:
        for name in ("count", "weight", "mean", "m2", "reach"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_the_size_of_tiles_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = Ensemble.from_array(np.random.default_rng(2).normal(size=(200, 9, 3)))
    whole = sigmas(ensemble)
    monkeypatch.setattr(module, "_TILE", 1)
    assert sigmas(ensemble).tobytes() == whole.tobytes()


@given(seeds, st.integers(1, 299))
def test_split_and_merge_equals_the_whole(seed: int, split: int) -> None:
    array, pairs = np.random.default_rng(seed).normal(size=(300, 4, 2)), all_pairs(4)
    array[np.random.default_rng(seed).random((300, 4)) < 0.3] = np.nan
    first = moments(Ensemble.from_array(array[:split], gaps=True), pairs)
    second = moments(Ensemble.from_array(array[split:], gaps=True), pairs)
    before = first.m2.copy()
    whole = moments(Ensemble.from_array(array, gaps=True), pairs)
    for merged in (first.merge(second), second.merge(first)):
        assert merged.count.tolist() == whole.count.tolist()
        assert merged.variance == pytest.approx(whole.variance, rel=1e-12)
        assert merged.mean == pytest.approx(whole.mean, rel=1e-12)
    assert first.m2.tobytes() == before.tobytes()


def test_merging_with_nothing_changes_nothing() -> None:
    result = moments(
        Ensemble.from_array(np.random.default_rng(0).normal(size=(5, 3, 2))), all_pairs(3)
    )
    for merged in (result.merge(Moments.empty(3)), Moments.empty(3).merge(result)):
        assert merged.m2.tobytes() == result.m2.tobytes()
    assert np.isnan(Moments.empty(2).variance).all()


def test_progress_ends_with_all_snapshots() -> None:
    calls: list[tuple[int, int]] = []
    ensemble = Ensemble.from_array(np.random.default_rng(0).normal(size=(600, 3, 2)))
    run = Run.of(progress=lambda done, whole: calls.append((done, whole)))
    moments(ensemble, all_pairs(3), run=run)
    assert calls == [(256, 600), (512, 600), (600, 600)]


# Precision


def tight_pair(n_snapshots: int) -> Floats:
    """Two points 50 apart whose distance fluctuates by 0.05."""
    rng = np.random.default_rng(n_snapshots)
    along = rng.normal(size=(n_snapshots, 3))
    along /= np.linalg.norm(along, axis=1)[:, None]
    first = rng.normal(size=(n_snapshots, 3))
    second = first + along * rng.normal(50, 0.05, n_snapshots)[:, None]
    return np.stack([first, second], axis=1)


@pytest.mark.parametrize("n_snapshots", [63, 64, 127, 128, 129, 1000, 100_000])
def test_single_precision_coordinates_lose_nothing_in_the_sums(n_snapshots: int) -> None:
    array = tight_pair(n_snapshots).astype(np.float32)
    found = sigmas(Ensemble.from_array(array))
    exact = np.linalg.norm(np.diff(array.astype(np.longdouble), axis=1)[:, 0], axis=1).std()
    # from 64 snapshots on, sums within a block may be in single precision too
    assert found[0] == pytest.approx(float(exact), rel=1e-9 if n_snapshots < 64 else 1e-5)
    assert found[0] == pytest.approx(0.05, rel=4 / math.sqrt(2 * n_snapshots))


@given(
    seeds,
    st.sampled_from([64, 65, 98, 256, 300]),
    st.sampled_from([2, 3, 8, 1000]),
    st.sampled_from([1, 2, 3, 7]),
    st.floats(0, 7),
    st.sampled_from([0.0, 30.0, 1e4, 1e7]),
    st.sampled_from([1e-25, 1e-20, 1.0, 1e25]),
)
@example(0, 64, 2, 3, 3.0, 0.0, 1.0)
@example(0, 64, 2, 3, 5.0, 0.0, 1.0)
@example(0, 64, 2, 1, 5.0, 0.0, 1.0)
@settings(deadline=None)
def test_sums_in_single_precision_give_sigma_to_1e_5(
    seed: int,
    n_frames: int,
    n_places: int,
    n_dimensions: int,
    stiff: float,
    far: float,
    unit: float,
) -> None:
    """However still a pair, however few places it takes, however far its first one lies.

    Coordinates as they are stored are what is measured: against double precision, nothing is
    allowed for the rounding that they had before.
    """
    rng = np.random.default_rng(seed)
    places = rng.uniform(-10, 10, (1, 9, n_dimensions)) + far
    places = places + 10.0**-stiff * rng.normal(size=(n_places, 9, n_dimensions))
    array = places[rng.integers(0, n_places, n_frames)]
    array[0] += rng.choice([0.0, 30 * 10.0**-stiff]) * rng.normal(size=array[0].shape)
    array = (unit * array).astype(np.float32)
    exact = sigmas(Ensemble.from_array(array.astype(np.float64)))
    # Of sites that move by less than a number is known, σ is the rounding of double precision.
    assert sigmas(Ensemble.from_array(array)) == pytest.approx(exact, rel=1e-5, abs=1e-13 * unit)


@pytest.mark.parametrize("n_snapshots", [127, 128, 129, 1000])
def test_an_offset_of_a_million_costs_nothing_but_the_rounding_of_coordinates(
    n_snapshots: int,
) -> None:
    array = tight_pair(n_snapshots)
    reference = sigmas(Ensemble.from_array(array))
    moved = sigmas(Ensemble.from_array(array + 1e6))
    # 1e6 is stored to 1.2e-10, against σ = 0.05
    assert moved == pytest.approx(reference, rel=1e-8)


# Metrics


def test_a_metric_takes_the_place_of_the_distance() -> None:
    array = np.random.default_rng(1).normal(size=(140, 4, 3))
    array[2, 1] = np.nan
    ensemble, pairs = Ensemble.from_array(array, gaps=True), all_pairs(4)
    euclid = moments(ensemble, pairs, metric=lambda a, b: np.linalg.norm(a - b, axis=-1))
    assert agree(np.sqrt(euclid.variance), expected(array))
    assert euclid.count.tolist() == [139, 140, 140, 139, 139, 140]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda a, b: a - b, r"one distance for each of \(5, 6\) points, got shape \(5, 6, 3\)"),
        (lambda a, b: 1.0 + 0 * (a - b).sum(), "got one number: reduce over the last axis"),
        (lambda a, b: (a - b)[..., 0], "not negative"),
        (lambda a, b: np.full((a - b).shape[:-1], np.nan), "finite"),
        (lambda a, b: np.full((a - b).shape[:-1], np.inf), "finite"),
    ],
)
def test_metrics_that_are_none_are_refused(metric: Metric, message: str) -> None:
    ensemble = Ensemble.from_array(np.random.default_rng(1).normal(size=(5, 4, 3)))
    with pytest.raises(ValueError, match=message):
        moments(ensemble, all_pairs(4), metric=metric)
