"""No pair that may change a hierarchy is pruned, and clustering gives the bits of all pairs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import Floats
from tests.strategies import seeds
from timme import objects, pairs, synthetic
from timme.engine.checkpoint import Checkpoint, Run
from timme.engine.reduction import apart
from timme.engine.workers import Threads
from timme.ensemble import Atoms, Ensemble
from timme.fluctuations import measure
from timme.hierarchy import clustering
from timme.hierarchy.clustering import cluster, find_forest
from timme.hierarchy.linking import link
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.pairs import Pairs


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
    search = clustering._lay_out(*apart(ensemble), tree, Threads(2))
    found = clustering._find_survivors(search, np.arange(len(search.places[0])))
    return [(a, b) for a, b in found.tolist()]


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


def test_gaps_between_trees_prune_nothing() -> None:
    gaps = np.zeros(299)
    gaps[99] = np.inf
    ensemble = Ensemble.from_array(moving(13, (30, 300, 3)))
    expected = {(a, b) for a in range(100) for b in range(100, 300)}
    assert set(survivors(ensemble, np.arange(300), gaps)) == expected


# ---- measuring and linking in one step ---------------------------------------------------------

LOOSE = pytest.mark.filterwarnings("ignore:.* half the periodic box")


def points_of(array: Any, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


def same(first: Hierarchy, second: Hierarchy) -> bool:
    """To the last bit."""
    return first.parents.tobytes() == second.parents.tobytes() and (
        first.heights.tobytes() == second.heights.tobytes()
    )


def check(made: Objects, chosen: Pairs | None = None, **options: Any) -> None:
    chosen = pairs.all(made) if chosen is None else chosen
    assert same(cluster(made, chosen, **options), link(measure(made, chosen)))


def prune_always(patch: pytest.MonkeyPatch) -> None:
    """Prune however few sites there are and however little it pays."""
    patch.setattr(clustering, "_FEWEST", 3)
    patch.setattr(clustering, "_MOST_FRAMES", 1.0)


@pytest.fixture
def survived(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Prune always; count pairs that survive."""
    prune_always(monkeypatch)
    counts, find = list[int](), clustering._find_survivors

    def count(search: Any, bands: Any) -> Any:
        found = find(search, bands)
        counts.append(len(found))
        return found

    monkeypatch.setattr(clustering, "_find_survivors", count)
    return counts


@given(
    seeds,
    st.integers(2, 40),
    st.integers(3, 300),
    st.integers(1, 4),
    st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=25)
def test_the_hierarchy_is_that_of_all_pairs(
    seed: int, n_frames: int, n_sites: int, n_dimensions: int, dtype: type
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        prune_always(patch)
        check(points_of(moving(seed, (n_frames, n_sites, n_dimensions)).astype(dtype)))


@LOOSE
@pytest.mark.parametrize(
    "make",
    [
        lambda: synthetic.planted((6, 5, 20)).ensemble,
        lambda: synthetic.chain(500, 30),
        lambda: Ensemble.from_array(np.round(moving(1, (20, 400, 2)))),
        lambda: Ensemble.from_array(moving(2, (300, 260, 3)), weights=np.linspace(0, 1, 300)),
        lambda: Ensemble.from_array(moving(3, (30, 500, 3)) + 1e6),
        lambda: Ensemble.from_array(moving(4, (12, 400, 3)), boxes=[8.0, 9.0, 0.0]),
        lambda: Ensemble.from_array(moving(5, (12, 400, 3)).astype(np.float32), boxes=30.0),
        lambda: Ensemble.from_array(moving(6, (20, 300, 3)) * 1e22),
        lambda: Ensemble.from_array(moving(6, (20, 300, 3)) * 1e-22),
    ],
    ids="planted chain ties weights far slab box large small".split(),
)
def test_every_kind_of_ensemble_gives_the_same(survived: list[int], make: Any) -> None:
    check(objects.points(make()))
    assert survived


def test_rigid_pieces_stay_rigid(survived: list[int]) -> None:
    array = np.repeat(moving(8, (1, 200, 3)), 9, axis=0)
    array[:, 100:, 0] += np.arange(9.0)[:, None]
    made = points_of(array)
    check(made)
    assert cluster(made, pairs.all(made)).cut(1e-6).sizes.tolist() == [100, 100]
    assert survived


def test_most_pairs_of_slow_motion_are_pruned(survived: list[int]) -> None:
    check(points_of(moving(7, (100, 1000, 3))))
    assert 0 < sum(survived) < 0.2 * 1000 * 999 / 2


def test_pairs_that_are_left_out_stay_out(survived: list[int]) -> None:
    bonds = [(k, k + 1) for k in range(299)]
    array = np.cumsum(moving(10, (20, 300, 3)) * 0.2, axis=1)
    made = points_of(array, atoms=Atoms.unnamed(300, bonds=bonds))
    check(made, pairs.all(made, min_bonds=4))
    assert survived


@LOOSE
@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("the box is tilted", {"boxes": [[90, 0, 0], [20, 80, 0], [10, 20, 90]]}),
        (
            "the box is open in some snapshots",
            {"boxes": np.diag([20.0, 20.0, 20.0]) * np.repeat([1, 0], 10)[:, None, None]},
        ),
        ("some sites are not seen in every snapshot", {"gaps": True}),
        ("the distance is not Euclidean", {"metric": "cityblock"}),
    ],
)
def test_what_cannot_be_pruned_is_measured_with_a_warning(
    survived: list[int], reason: str, options: dict[str, Any]
) -> None:
    array, metric = moving(9, (20, 60, 3)), options.pop("metric", None)
    if "gaps" in options:
        array[3, 5] = np.nan
    made = points_of(array, **options)
    with pytest.warns(UserWarning, match=f"all 1,770 pairs are measured, .* since {reason}"):
        found = cluster(made, pairs.all(made), metric=metric)
    assert same(found, link(measure(made, pairs.all(made), metric=metric)))
    assert not survived


@pytest.mark.parametrize("made", [objects.bodies, objects.molecules, objects.links])
@pytest.mark.parametrize("reduction", ["rms", "max", "centre"])
def test_bodies_and_groups_give_the_same(survived: list[int], made: Any, reduction: str) -> None:
    bonds = [(k, k + 1) for k in range(299) if k % 7]
    atoms = Atoms.unnamed(300, bonds=bonds)
    ensemble = Ensemble.from_array(moving(3, (12, 300, 3)), atoms=atoms)
    check(made(ensemble, reduction=reduction), chunk=999)
    assert bool(survived) == (reduction == "centre")


@LOOSE
def test_pairs_near_half_the_box_give_one_warning(survived: list[int]) -> None:
    made = points_of(moving(4, (12, 400, 3)), boxes=[8.0, 9.0, 0.0])
    with pytest.warns(UserWarning, match="half the periodic box") as told:
        cluster(made, pairs.all(made))
    assert len(told) == 1
    assert survived


@pytest.mark.parametrize("prunes", [False, True])
def test_a_run_goes_on_wherever_it_was_interrupted(
    request: pytest.FixtureRequest, tmp_path: Path, *, prunes: bool
) -> None:
    if prunes:
        request.getfixturevalue("survived")
    made = points_of(moving(6, (30, 400, 3)))
    every, path = pairs.all(made), tmp_path / "checkpoint"
    expected, told = cluster(made, every, chunk=20_000), list[int]()

    def stop(done: int, total: int) -> None:
        told.append(done)
        assert done <= total
        if len(told) % 2:
            raise RuntimeError("stop")

    for _ in range(100):
        try:
            with Checkpoint(path, resume=True, interval=0.0) as checkpoint:
                found = cluster(made, every, chunk=20_000, progress=stop, checkpoint=checkpoint)
            break
        except RuntimeError:
            continue
    assert same(found, expected)
    assert len(told) > 3
    assert max(np.diff(told)) < 400 * 399 / 2  # it did not start anew each time


def test_any_number_of_threads_gives_the_same(survived: list[int]) -> None:
    made = points_of(moving(2, (20, 600, 3)).astype(np.float32))
    one, four = (find_forest(made, pairs.all(made), run=Run(Threads(n))) for n in (1, 4))
    assert same(one.hierarchy(), four.hierarchy())
    assert survived


def test_a_cluster_of_workers_gives_the_same(survived: list[int]) -> None:
    distributed = pytest.importorskip("distributed", reason="needs pip install 'pytimme[cluster]'")
    made = points_of(moving(2, (20, 300, 3)))
    options: Any = {"processes": False, "dashboard_address": "127.0.0.1:0", "set_as_default": False}
    with distributed.Client(n_workers=1, threads_per_worker=1, **options) as client:
        near = pairs.within(made, 2.0, client=client)
        found = cluster(made, pairs.all(made), client=client)
    assert near.index is not None
    assert near.index.tobytes() == pairs.within(made, 2.0).index.tobytes()  # type: ignore[union-attr]
    assert same(found, cluster(made, pairs.all(made)))
    assert survived
