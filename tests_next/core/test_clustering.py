"""Parity tests: measuring and linking in one step gives the bits of measuring and linking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests_next.core.test_pruning import moving
from tests_next.strategies import seeds
from timme_next import objects, pairs, synthetic
from timme_next._arrays import Ints
from timme_next._kernels import pruning as kernel
from timme_next.engine.checkpoint import Checkpoint, Run
from timme_next.engine.workers import Threads
from timme_next.ensemble import Atoms, Ensemble
from timme_next.fluctuations import measure
from timme_next.hierarchy import clustering
from timme_next.hierarchy.clustering import cluster, find_forest
from timme_next.hierarchy.linking import link
from timme_next.hierarchy.tree import Hierarchy
from timme_next.objects import Objects
from timme_next.pairs import Pairs

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


@pytest.fixture
def survived(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Prune however few sites there are and however little it pays; count pairs that survive."""
    for name, value in {"_FEWEST": 3, "_MOST_FRAMES": 1.0}.items():
        monkeypatch.setattr(clustering, name, value)
    counts, find = list[int](), clustering._find_survivors

    def count(search: Any, band: int) -> Any:
        found = find(search, band)
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
        for name, value in {"_FEWEST": 3, "_MOST_FRAMES": 1.0}.items():
            patch.setattr(clustering, name, value)
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


def test_few_sites_are_measured_without_a_warning() -> None:
    array = moving(9, (20, 60, 2))
    array[3, 5] = np.nan
    check(points_of(array, gaps=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uncorrelated_points_are_not_pruned(
    survived: list[int], monkeypatch: pytest.MonkeyPatch, dtype: type
) -> None:
    monkeypatch.setattr(clustering, "_MOST_FRAMES", 0.5)
    noise: Any = np.random.default_rng(0).normal(size=(100, 640, 3)).astype(dtype)
    check(points_of(noise))
    assert not survived
    check(points_of(moving(7, (100, 640, 3)).astype(dtype)))
    assert survived


def test_no_more_pairs_are_measured_at_a_time_than_a_chunk(
    survived: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "MOST_FRAMES", 2)  # whose sums prune little
    sizes, add = list[int](), clustering.Forest.add

    def note(forest: Any, index: Ints, run: Run) -> Any:
        sizes.append(len(index))
        return add(forest, index, run)

    monkeypatch.setattr(clustering.Forest, "add", note)
    check(points_of(moving(14, (40, 600, 3))), chunk=5000)
    assert survived
    assert len(sizes) > 3
    assert max(sizes[1:]) <= 5000 + kernel.LANES * 600  # a chunk, and what one band adds


@pytest.mark.parametrize("made", [objects.bodies, objects.molecules, objects.links])
@pytest.mark.parametrize("reduction", ["rms", "max", "centre"])
def test_bodies_and_groups_give_the_same(survived: list[int], made: Any, reduction: str) -> None:
    bonds = [(k, k + 1) for k in range(299) if k % 7]
    atoms = Atoms.unnamed(300, bonds=bonds)
    ensemble = Ensemble.from_array(moving(3, (12, 300, 3)), atoms=atoms)
    check(made(ensemble, reduction=reduction), chunk=999)
    assert bool(survived) == (reduction == "centre")


def test_pairs_in_a_list_give_the_same() -> None:
    made = points_of(moving(4, (10, 200, 3)))
    check(made, pairs.within(made, 2.0))


@pytest.mark.parametrize("prunes", [False, True])
def test_the_forest_tells_what_joins_and_how_many_were_compared(
    request: pytest.FixtureRequest, *, prunes: bool
) -> None:
    if prunes:
        request.getfixturevalue("survived")
    made = points_of(moving(5, (10, 90, 3)))
    forest = find_forest(made, pairs.all(made))
    sigma = measure(made, pairs.all(made)).matrix()
    assert forest.n_compared == 90 * 89 / 2
    assert forest.edges.shape == (89, 2)
    assert (forest.edges[:, 0] < forest.edges[:, 1]).all()
    assert (sigma[tuple(forest.edges.T)] == forest.heights).all()


@LOOSE
def test_pairs_near_half_the_box_are_told_once(survived: list[int]) -> None:
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
