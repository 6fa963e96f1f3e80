"""Sums over blocks of frames; these run without compilation as well."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import seeds
from timme._arrays import Floats
from timme._kernels import moments
from timme.system.space import Boxes

PAIR = np.array([[0, 1]])


def folded(snapshots: Floats, weights: Floats | None = None) -> tuple[int, float, float, float]:
    """Count, weight, mean and m2 of the first two sites over one block."""
    count, weight, mean, m2, _ = folded_in(None, snapshots, weights)
    return count, weight, mean, m2


def folded_in(
    box: Floats | None, snapshots: Floats, weights: Floats | None = None
) -> tuple[int, float, float, float, float]:
    """The same in a box, and how near the two come to half of it."""
    n_frames, _, n_dimensions = snapshots.shape
    matrices = None if box is None else np.repeat(box[None], n_frames, axis=0)
    boxes = Boxes.of(matrices, n_frames, n_dimensions)
    count, sums = np.zeros(1, np.int64), np.zeros((4, 1))
    moments.add_frames(
        np.ascontiguousarray(snapshots.transpose(1, 2, 0)),
        np.ones(n_frames) if weights is None else weights,
        boxes.matrices,
        boxes.inverses,
        boxes.kind,
        boxes.molecules,
        boxes.origin,
        boxes.origin_box,
        PAIR,
        count,
        *sums,
    )
    return int(count[0]), *sums[:, 0].tolist()


@given(st.integers(1, 40), seeds)
def test_merging_equals_measuring_together(n_first: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    snapshots, weights = rng.normal(size=(50, 2, 3)), rng.uniform(0.1, 3, 50)
    _, *first = folded(snapshots[:n_first], weights[:n_first])
    _, *second = folded(snapshots[n_first:], weights[n_first:])
    _, *whole = folded(snapshots, weights)
    assert moments.merge_two(*first, *second) == pytest.approx(tuple(whole), rel=1e-12)


def test_merging_with_nothing_changes_nothing() -> None:
    assert moments.merge_two(2.0, 1.5, 0.5, 0.0, 0.0, 0.0) == (2.0, 1.5, 0.5)
    assert moments.merge_two(0.0, 0.0, 0.0, 2.0, 1.5, 0.5) == (2.0, 1.5, 0.5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_merging_needs_no_ordinary_weights(scale: float) -> None:
    total, mean, m2 = moments.merge_two(scale, 0.0, 0.0, 3 * scale, 4.0, 0.0)
    assert total == pytest.approx(4 * scale)
    assert mean == pytest.approx(3.0)
    assert m2 / total == pytest.approx(3.0)  # (0, 4, 4, 4)


def test_frames_of_no_weight_and_unseen_frames_do_not_count() -> None:
    distances = np.array([[9.0, 1.0, np.nan, 3.0, 100.0]])
    weights = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    count, sums = np.zeros(1, np.int64), np.zeros((3, 1))
    moments.add_distances(distances, weights, count, *sums)
    assert count.tolist() == [2]
    assert sums.ravel().tolist() == [2.0, 2.0, 2.0]


def test_nothing_seen_leaves_moments_empty() -> None:
    assert folded(np.full((3, 2, 2), np.nan)) == (0, 0.0, 0.0, 0.0)
    assert folded(np.ones((3, 2, 2)), np.zeros(3)) == (0, 0.0, 0.0, 0.0)


@given(seeds, st.sampled_from([0.0, 1e3, 1e6]))
def test_a_large_mean_takes_no_digits(seed: int, mean: float) -> None:
    x = np.zeros((60, 2, 1))
    x[:, 1, 0] = mean + np.random.default_rng(seed).normal(5.0, 0.05, 60)
    n, weight, _, m2 = folded(x)
    expected = naive.pair_sigma(x, 0, 1)[0]
    # σ is known to the rounding of the coordinates and no worse
    assert math.sqrt(m2 / weight) == pytest.approx(expected, abs=4e-16 * (mean + 5), rel=1e-13)
    assert n == 60


def test_a_first_frame_far_from_all_others_takes_no_digits() -> None:
    x = np.zeros((50, 2, 1))
    x[:, 1, 0] = 5 + 1e-3 * np.random.default_rng(0).normal(size=50)
    x[0, 1, 0] = 500.0
    weights = np.ones(50)
    weights[0] = 1e-9
    _, weight, _, m2 = folded(x, weights)
    expected = naive.pair_sigma(x, 0, 1, weights=weights)[0]
    assert math.sqrt(m2 / weight) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_distances_go_through_the_walls_of_a_box(tilt: float) -> None:
    """In a box of 10, straight or tilted along x, 0.5 and 9.5 (or their images) are 1 apart."""
    box = np.diag([10.0, 10.0, 10.0])
    box[1, 0] = tilt
    x = np.zeros((2, 2, 3))
    x[:, 0] = 0.5
    x[:, 1] = [[9.5, 0.5, 0.5], [0.5 + tilt, 8.5, 0.5]]
    # The widths of a tilted box are the distances of its walls: 10 · 10 / |b| across the slanted.
    half = 50 / math.hypot(10, tilt)
    count, _, mean, m2, reach = folded_in(box, x)
    assert count == 2
    assert mean == pytest.approx(1.5)
    assert m2 == pytest.approx(0.5)  # 1 and 2
    assert reach == pytest.approx(2 / half)


def reduced(variance: list[float], *, largest: bool) -> float:
    """Objects {0, 1} and {1, 2}: cross pairs (0, 1), (0, 2), (1, 1), (1, 2)."""
    values = moments.reduce_pairs(
        np.array([[0, 1]]),
        np.array([0, 2, 4]),
        np.array([0, 1, 1, 2]),
        np.array([0, 2, 3, 3]),
        np.array([[0, 1], [0, 2], [1, 2]]),
        np.array(variance),
        largest,
    )
    return float(values[0])


def test_a_shared_site_counts_zero_in_the_mean() -> None:
    assert reduced([1.0, 2.0, 5.0], largest=False) == 2.0
    assert reduced([1.0, 2.0, 5.0], largest=True) == 5.0


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_undefined_cross_pair_makes_the_whole_undefined(place: int, largest: bool) -> None:
    variance = [1.0, 2.0, 5.0]
    variance[place] = math.nan
    assert math.isnan(reduced(variance, largest=largest))


@given(seeds, st.booleans())
def test_cross_pairs_and_their_reduction_are_those_of_all_members(seed: int, largest: bool) -> None:
    """Also where few pairs of an object follow one another, and are looked up one by one."""
    rng = np.random.default_rng(seed)
    n_sites, n_objects = int(rng.integers(2, 60)), int(rng.integers(2, 12))
    sets = [rng.permutation(n_sites)[: rng.integers(1, 5)] for _ in range(n_objects)]
    chosen = [pair for pair in combinations(range(n_objects), 2) if rng.random() < 0.5] or [(0, 1)]
    pairs = rng.permutation(np.array(chosen))
    members, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    begins, site_pairs = moments.cross_pairs(pairs, offsets, members, n_sites)
    crossing = {
        (int(min(i, j)), int(max(i, j)))
        for a, b in pairs
        for i in sets[a]
        for j in sets[b]
        if i != j
    }
    assert list(map(tuple, site_pairs.tolist())) == sorted(crossing)
    assert [int(i) for i in np.repeat(np.arange(n_sites), np.diff(begins))] == [
        i for i, _ in sorted(crossing)
    ]
    value = dict(zip(sorted(crossing), rng.random(len(crossing)).tolist(), strict=True))
    variance = np.array([value[pair] for pair in sorted(crossing)])
    found = moments.reduce_pairs(pairs, offsets, members, begins, site_pairs, variance, largest)
    for (a, b), reduced_one in zip(pairs, found, strict=True):
        values = [
            0.0 if i == j else value[int(min(i, j)), int(max(i, j))]
            for i in sets[a]
            for j in sets[b]
        ]
        expected = max(values) if largest else sum(values) / len(values)
        assert reduced_one == expected  # added up in the same order
