"""Reference tests of pruning: no pair that may change a hierarchy is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests_next.naive import Floats
from tests_next.strategies import seeds
from timme_next._kernels import pruning as kernel
from timme_next.ensemble import Ensemble
from timme_next.hierarchy import clustering


def moving(seed: int, shape: tuple[int, int, int]) -> Floats:
    """Points that swing together, the more so the nearer they are, with some noise."""
    rng = np.random.default_rng(seed)
    n_frames, n_sites, n_dimensions = shape
    home = rng.uniform(-5, 5, (n_sites, n_dimensions))
    modes = np.sin(home @ rng.normal(0, 0.3, (n_dimensions, 3 * n_dimensions)))
    swing = rng.normal(size=(n_frames, 1, 3 * n_dimensions)) * modes
    swing = swing.reshape(n_frames, n_sites, n_dimensions, 3).sum(axis=3)
    return np.asarray(home + swing + rng.normal(0, 0.05, shape))


def slow(seed: int, shape: tuple[int, int, int]) -> Floats:
    """Points that drift from one place to another, with some noise."""
    array = moving(seed, shape)
    way = np.linspace(0, 1, shape[0])[:, None, None]
    return np.asarray(array[0] + way * (array[-1] - array[0]) + (array - array[0]) * 0.02)


def tumbling(array: Floats, seed: int) -> Floats:
    """The same, every snapshot turned and shifted at random."""
    rng, n_dimensions = np.random.default_rng(seed), array.shape[2]
    turns = np.linalg.qr(rng.normal(size=(len(array), n_dimensions, n_dimensions)))[0]
    return np.asarray(array @ turns + rng.normal(0, 20, (len(array), 1, n_dimensions)))


def survivors(ensemble: Ensemble, order: Any, gaps: Any) -> list[tuple[int, int]]:
    """Pairs of places in leaf order that are not pruned."""
    tree: Any = SimpleNamespace(order=np.array(order), gaps=np.array(gaps))
    search = clustering._lay_out(ensemble, tree)
    n_bands = len(search.places[0])
    found = [clustering._find_survivors(search, band) for band in range(n_bands)]
    return [(a, b) for a, b in np.concatenate(found).tolist()]


@given(
    seeds,
    st.integers(2, 40) | st.just(140),
    st.integers(1, 4),
    st.sampled_from([moving, slow]),
    st.sampled_from(["still", "tumbling", "box", "slab"]),
    st.booleans(),
    st.floats(0.0, 1.0),
    st.sampled_from([1.0, 1e-10, 1e12]),
)
@settings(max_examples=25)
def test_no_pair_below_its_gap_is_pruned(
    seed: int,
    n_frames: int,
    n_dimensions: int,
    made: Any,
    space: str,
    weighted: bool,
    share: float,
    unit: float,
) -> None:
    """Whatever the gaps: here one stands between all, another between some."""
    n_sites, rng = 135, np.random.default_rng(seed)
    array = made(seed, (n_frames, n_sites, n_dimensions)) * unit
    lengths = None
    if space == "tumbling":
        array = tumbling(array, seed)
    elif space in {"box", "slab"}:
        lengths = np.full((n_frames, n_dimensions), 8.0 * unit)
        lengths *= rng.uniform(0.95, 1.05, (n_frames, 1))
        if space == "slab":
            lengths[:, 0] = 0.0
    weights = rng.integers(0, 3, n_frames) * 1.0 + (np.arange(n_frames) < 2)
    w = weights / weights.sum() if weighted else np.full(n_frames, 1 / n_frames)
    between = array[:, :, None] - array[:, None]
    if lengths is not None:
        sides = lengths[:, None, None]
        between -= sides * np.rint(between / np.where(sides > 0, sides, np.inf))
    r = np.linalg.norm(between, axis=3)
    sigma = np.sqrt(np.einsum("f,fij->ij", w, (r - np.einsum("f,fij->ij", w, r)) ** 2))
    gaps = np.full(n_sites - 1, np.quantile(sigma[np.triu_indices(n_sites, 1)], share))
    gaps[::7] *= 1.5
    boxes = None if lengths is None else lengths[..., None] * np.eye(n_dimensions)
    weights_given = weights if weighted else None
    ensemble = Ensemble.from_array(array, weights=weights_given, boxes=boxes)
    order = rng.permutation(n_sites)
    found = survivors(ensemble, order, gaps)
    below = {
        (a, b)
        for a in range(n_sites)
        for b in range(a + 1, n_sites)
        if sigma[order[a], order[b]] < gaps[a:b].max()
    }
    assert below <= set(found)
    assert len(set(found)) == len(found)


def test_two_sites_that_swing_together_are_not_pruned() -> None:
    """In every other stretch they turn to and fro: mean places come nearer, not they."""
    angles = np.where(np.arange(160) // 20 % 2, np.tile(np.linspace(-0.55, 0.55, 10), 16), 0.0)
    array = np.tile(np.random.default_rng(0).uniform(-9, 9, (150, 3)), (160, 1, 1))
    array[:, 1] = array[:, 0] + 2 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    ensemble = Ensemble.from_array(array)
    assert (0, 1) in survivors(ensemble, np.arange(150), np.full(149, 0.01))


@pytest.mark.parametrize("tumbles", [False, True])
def test_slow_motion_is_pruned_by_means_over_stretches(
    monkeypatch: pytest.MonkeyPatch, *, tumbles: bool
) -> None:
    monkeypatch.setattr(kernel, "MOST_FRAMES", 1)  # by which nothing can be pruned
    array = slow(17, (64, 600, 3))
    ensemble = Ensemble.from_array(tumbling(array, 0) if tumbles else array)
    found = survivors(ensemble, np.arange(600), np.full(599, 0.05))
    assert len(found) < 0.2 * 600 * 599 / 2


@pytest.mark.parametrize("boxes", [None, 64.0])
@pytest.mark.parametrize("shift", ["none", "one site", "all"])
def test_places_far_away_cost_no_digits(boxes: float | None, shift: str) -> None:
    array = moving(7, (100, 600, 3))
    if shift == "one site":
        array[:, 17] += 64.0 * 2**14
    elif shift == "all":
        array += 64.0 * 2**20
    found = survivors(Ensemble.from_array(array, boxes=boxes), np.arange(600), np.full(599, 0.1))
    assert len(found) < 0.2 * 600 * 599 / 2


@pytest.mark.parametrize("faint", [1e-12, 1e-20, 1e-25, 1e-60])
def test_weights_of_any_size_hide_nothing(faint: float) -> None:
    """Two rigid halves, but for snapshots of little weight: σ is 0 within each but for these."""
    rng = np.random.default_rng(1)
    array = np.repeat(rng.uniform(-5, 5, (1, 300, 3)), 64, axis=0)
    array[1:, 150:, 0] += rng.normal(size=(63, 1))
    array[0] = rng.uniform(-5, 5, (300, 3))
    weights = np.ones(64)
    weights[[1, 8, 19, 30, 42, 53, 63]] = faint
    weights[0] = 0.0
    ensemble = Ensemble.from_array(array, weights=weights)
    found = set(survivors(ensemble, np.arange(300), np.full(299, 1e-3)))
    assert found >= {(a, b) for a in range(150) for b in range(a + 1, 150)}
    assert len(found) < 300 * 299 / 2


def test_what_is_joined_at_zero_is_pruned_at_once() -> None:
    ensemble = Ensemble.from_array(moving(13, (30, 300, 3)))
    assert survivors(ensemble, np.arange(300), np.zeros(299)) == []


def test_gaps_between_trees_prune_nothing() -> None:
    gaps = np.zeros(299)
    gaps[99] = np.inf
    ensemble = Ensemble.from_array(moving(13, (30, 300, 3)))
    expected = {(a, b) for a in range(100) for b in range(100, 300)}
    assert set(survivors(ensemble, np.arange(300), gaps)) == expected
