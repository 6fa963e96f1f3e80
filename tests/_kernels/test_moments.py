"""Sums over blocks of frames; these run without compilation as well."""

import math

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
    assert math.sqrt(m2 / weight) == pytest.approx(expected, rel=1e-11)


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
