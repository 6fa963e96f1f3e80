"""Pairs that are given up early never change the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import searching, seeds
from timme import synthetic
from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import linkage
from timme._kernels import pruning as kernel
from timme.fluctuations import measure
from timme.hierarchy import Hierarchy, cluster, clustering, link, pruning
from timme.hierarchy.forest import spanning_forest
from timme.objects import Objects, bodies, groups, links, molecules, points
from timme.pairs import Pairs
from timme.pairs import all as all_pairs
from timme.settings.values import Reduction
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


def same(first: Hierarchy, second: Hierarchy) -> bool:
    """To the last bit."""
    return first.parents.tobytes() == second.parents.tobytes() and (
        first.heights.tobytes() == second.heights.tobytes()
    )


def prune_anything(patch: pytest.MonkeyPatch) -> None:
    """Prune few sites too, and where it does not pay."""
    patch.setattr(clustering, "_FEWEST", 3)
    patch.setattr(clustering, "_MOST_FOUND", 1.0)
    patch.setattr(clustering, "_MOST_FRAMES", 1.0)


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the fraction of all pairs that was given up each time."""
    prune_anything(monkeypatch)
    fractions: list[float] = []
    add, find = clustering._add_what_matters, pruning.find_survivors
    counts: list[int] = []

    def counted(search: pruning.Search, band: int) -> Ints:
        found = find(search, band)
        counts.append(len(found))
        return found

    def added(forest: Any, objects: Objects, *arguments: Any) -> bool:
        counts.clear()
        pays = add(forest, objects, *arguments)
        assert pays  # or else all pairs would be measured after all, and nothing be tried
        fractions.append(1 - sum(counts) / len(all_pairs(objects)))
        return pays

    monkeypatch.setattr(clustering, "find_survivors", counted)
    monkeypatch.setattr(clustering, "_add_what_matters", added)
    return fractions


def check(objects: Objects, pairs: Pairs | None = None) -> None:
    pairs = all_pairs(objects) if pairs is None else pairs
    assert same(cluster(objects, pairs), link(measure(objects, pairs)))


def moving(seed: int, shape: tuple[int, int, int]) -> Floats:
    """Points that swing together, the more so the nearer they are, with some noise."""
    rng = np.random.default_rng(seed)
    n_frames, n_sites, n_dimensions = shape
    home = rng.uniform(-5, 5, (n_sites, n_dimensions))
    modes = np.sin(home @ rng.normal(0, 0.3, (n_dimensions, 3 * n_dimensions)))
    swing = rng.normal(size=(n_frames, 3 * n_dimensions))[:, None] * modes
    swing = swing.reshape(n_frames, n_sites, n_dimensions, 3).sum(axis=3)
    return np.asarray(home + swing + rng.normal(0, 0.05, shape), dtype=np.float64)


@given(
    seeds,
    st.integers(2, 40),
    st.integers(3, 300),
    st.integers(1, 4),
    st.sampled_from([np.float32, np.float64]),
)
@searching(100)
def test_the_hierarchy_equals_that_of_all_pairs_bit_for_bit(
    seed: int, n_frames: int, n_sites: int, n_dimensions: int, dtype: type
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        prune_anything(patch)
        array: Coordinates = moving(seed, (n_frames, n_sites, n_dimensions)).astype(dtype)
        check(points(Ensemble.from_array(array)))


@pytest.mark.parametrize(
    "ensemble",
    [
        synthetic.planted((6, 5, 20)).ensemble,
        synthetic.hinged(4, 120, 60).ensemble,
        synthetic.chain(500, 30),
        Ensemble.from_array(np.round(moving(1, (20, 400, 2)))),
        Ensemble.from_array(moving(2, (300, 260, 3)), weights=np.linspace(0, 1, 300)),
        Ensemble.from_array(moving(3, (30, 500, 3)) + 1e6),
        Ensemble.from_array(moving(4, (12, 400, 3)), boxes=[8.0, 9.0, 0.0]),
        Ensemble.from_array(moving(5, (12, 300, 3)), boxes=[[9, 0, 0], [2, 8, 0], [1, 2, 9]]),
    ],
    ids=["planted", "hinged", "chain", "ties", "weights", "far away", "slab", "tilted"],
)
@pytest.mark.filterwarnings("ignore:.* half the periodic box", "ignore:.* the box is tilted")
def test_every_kind_of_ensemble_gives_the_same(given_up: list[float], ensemble: Ensemble) -> None:
    check(points(ensemble))
    assert all(fraction > 0 for fraction in given_up)


def test_most_pairs_of_slow_motion_are_given_up(given_up: list[float]) -> None:
    check(points(Ensemble.from_array(moving(7, (100, 1000, 3)))))
    assert given_up[0] > 0.8


def test_perfectly_rigid_pieces_stay_perfectly_rigid(given_up: list[float]) -> None:
    array = np.repeat(moving(8, (1, 200, 3)), 9, axis=0)
    array[:, 100:, 0] += np.arange(9.0)[:, None]
    check(points(Ensemble.from_array(array)))
    assert given_up


def test_what_cannot_be_given_up_is_measured_to_the_end_and_told(given_up: list[float]) -> None:
    array = moving(9, (20, 60, 3))
    tilted = [[90, 0, 0], [20, 80, 0], [10, 20, 90]]
    with pytest.warns(
        UserWarning, match=r"all 1,770 pairs are measured .* since the box is tilted"
    ):
        check(points(Ensemble.from_array(array, boxes=tilted)))
    array[3, 5] = np.nan
    with pytest.warns(UserWarning, match="some sites are not seen in every snapshot"):
        check(points(Ensemble.from_array(array, gaps=True)))
    objects = points(Ensemble.from_array(array[4:]))
    with pytest.warns(UserWarning, match="the distance is the user's own"):
        cluster(objects, all_pairs(objects), metric=lambda a, b: abs(a - b).max(axis=-1))
    assert given_up == []


@pytest.mark.thorough
def test_where_nothing_can_be_given_up_it_is_told_before_much_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    find = pruning.find_survivors

    def counting(search: pruning.Search, band: int) -> object:
        looked_at.append(band)
        return find(search, band)

    monkeypatch.setattr(clustering, "find_survivors", counting)
    monkeypatch.setattr(clustering, "_MOST_FRAMES", 1.0)
    monkeypatch.setattr(kernel, "MOST_FRAMES", 32)  # whose sums stay below any bound
    noise = np.random.default_rng(0).normal(size=(200, 1280, 3)).astype(np.float32)
    objects = points(Ensemble.from_array(noise))
    with pytest.warns(UserWarning, match="more than half of those looked at may matter"):
        found = cluster(objects, all_pairs(objects), workers=1)
    assert same(found, link(measure(objects, all_pairs(objects))))
    assert len(looked_at) < 5  # of 10 bands


@pytest.mark.parametrize(("n_frames", "alike"), [(64, True), (256, True), (100, False)])
def test_nothing_is_looked_for_where_pairs_are_alike(
    n_frames: int, alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uncorrelated points are all measured; of those that move together most pairs are not."""
    looked_at: list[int] = []
    find = pruning.find_survivors

    def counting(search: pruning.Search, band: int) -> object:
        looked_at.append(band)
        return find(search, band)

    monkeypatch.setattr(clustering, "find_survivors", counting)
    noise = np.random.default_rng(0).normal(size=(n_frames, 640, 3))
    array = noise if alike else moving(7, (n_frames, 640, 3))
    objects = points(Ensemble.from_array(array.astype(np.float32)))
    found = cluster(objects, all_pairs(objects), workers=1)
    assert same(found, link(measure(objects, all_pairs(objects))))
    assert bool(looked_at) != alike


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_alike_is_measured_to_the_end_in_pieces_too(
    dimensions: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clustering, "_MOST_FRAMES", -1.0)
    array: Coordinates = moving(16, (70, 600, dimensions)).astype(dtype)
    array[:, 5] = array[:, 4]  # which are joined at 0
    objects = points(Ensemble.from_array(array))
    found = link(measure(objects, all_pairs(objects)))
    assert same(cluster(objects, all_pairs(objects)), found)
    assert same(cluster(objects, all_pairs(objects), chunk=2000), found)


def tumbling(array: Floats, seed: int) -> Floats:
    """Turn and shift every snapshot at random."""
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(len(array), 3, 3)))[0]
    turns *= np.linalg.det(turns)[:, None, None]
    return np.asarray(array @ turns + rng.normal(0, 20, (len(array), 1, 3)))


def slow(seed: int, shape: tuple[int, int, int]) -> Floats:
    """Points that drift from one place to another, with some noise."""
    array = moving(seed, shape)
    way = np.linspace(0, 1, shape[0])[:, None, None]
    return np.asarray(array[0] + way * (array[-1] - array[0]) + (array - array[0]) * 0.02)


@given(
    seeds,
    st.integers(2, 60) | st.integers(129, 150),
    st.sampled_from([moving, slow]),
    st.booleans(),
    st.booleans(),
    st.floats(0.0, 1.0),
    st.sampled_from([1.0, 1e-10, 1e12]),
)
@searching(60)
def test_no_pair_below_its_gap_is_given_up(
    seed: int, n_frames: int, made: Any, tumbles: bool, weighted: bool, share: float, unit: float
) -> None:
    """Whatever the gaps: here one stands between all, another between some."""
    n_sites = 150
    array = made(seed, (n_frames, n_sites, 3)) * unit
    array = tumbling(array, seed) if tumbles else array
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, n_frames) * 1.0 + (np.arange(n_frames) < 2)
    w = weights / weights.sum() if weighted else np.full(n_frames, 1 / n_frames)
    r = np.linalg.norm(array[:, :, None] - array[:, None], axis=3)
    sigma = np.sqrt(np.einsum("f,fij->ij", w, (r - np.einsum("f,fij->ij", w, r)) ** 2))
    gaps = np.full(n_sites - 1, np.quantile(sigma[np.triu_indices(n_sites, 1)], share))
    gaps[::7] *= 1.5
    ensemble = Ensemble.from_array(array, weights=weights if weighted else None)
    order = rng.permutation(n_sites)
    search = pruning.lay_out(points(ensemble), order, gaps)
    found = np.concatenate([pruning.find_survivors(search, k) for k in range(search.n_bands)])
    kept = {(int(a), int(b)) for a, b in found}
    below = {
        (a, b)
        for a in range(n_sites)
        for b in range(a + 1, n_sites)
        if sigma[order[a], order[b]] < gaps[a:b].max()
    }
    assert below <= kept
    assert len(kept) == len(found)


def test_two_sites_that_swing_together_are_not_given_up() -> None:
    """In every other short stretch they turn to and fro: mean places come nearer, not they."""
    angles = np.where(np.arange(160) // 10 % 2, np.tile(np.linspace(-0.55, 0.55, 10), 16), 0.0)
    array = np.tile(np.random.default_rng(0).uniform(-9, 9, (150, 3)), (160, 1, 1))
    array[:, 1] = array[:, 0] + 2 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    search = pruning.lay_out(points(Ensemble.from_array(array)), np.arange(150), np.full(149, 0.01))
    assert [0, 1] in pruning.find_survivors(search, 0).tolist()


@pytest.mark.parametrize("tumbles", [False, True])
def test_slow_motion_is_given_up_by_means_over_stretches(
    given_up: list[float], monkeypatch: pytest.MonkeyPatch, tumbles: bool
) -> None:
    monkeypatch.setattr(kernel, "MOST_FRAMES", 1)  # by which nothing can be given up
    array = slow(17, (64, 600, 3))
    check(points(Ensemble.from_array(tumbling(array, 0) if tumbles else array)))
    assert given_up[0] > 0.8


@given(seeds, st.integers(2, 30), st.integers(1, 60))
@searching(60)
def test_sites_stand_in_a_line_joined_at_the_highest_gap(
    seed: int, n_sites: int, n_edges: int
) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n_sites, (n_edges, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    heights = rng.integers(0, 5, len(edges)).astype(np.float64) / 2
    forest = spanning_forest(n_sites, edges, heights)
    order, gaps = linkage.leaf_line(n_sites, *forest)
    assert sorted(order.tolist()) == list(range(n_sites))
    joined = np.full((n_sites, n_sites), np.inf)
    joined[tuple(forest[0].T)] = joined[tuple(forest[0][:, ::-1].T)] = forest[1]
    for k in range(n_sites):  # the least highest step of all ways
        joined = np.minimum(joined, np.maximum(joined[:, k, None], joined[k]))
    for a in range(n_sites):
        for b in range(a + 1, n_sites):
            assert gaps[a:b].max() == joined[order[a], order[b]]


def test_one_site_far_away_costs_the_others_no_digits(given_up: list[float]) -> None:
    array = moving(7, (100, 1000, 3))
    array[:, 17] += 1e6
    check(points(Ensemble.from_array(array)))
    assert given_up[0] > 0.8


@pytest.mark.filterwarnings("ignore:.* half the periodic box")
def test_coordinates_many_boxes_away_cost_no_digits(given_up: list[float]) -> None:
    array = moving(7, (100, 1000, 3))
    box = [64.0, 64.0, 64.0]
    check(points(Ensemble.from_array(array, boxes=box)))
    check(points(Ensemble.from_array(array + 64.0 * 2**20, boxes=box)))
    assert given_up[0] > 0.8
    assert given_up[1] > 0.8


def test_pairs_near_half_the_box_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prune_anything(monkeypatch)
    objects = points(Ensemble.from_array(moving(4, (12, 400, 3)), boxes=[8.0, 9.0, 0.0]))
    with pytest.warns(UserWarning, match="half the periodic box") as told:
        cluster(objects, all_pairs(objects))
    assert len(told) == 1


@pytest.mark.filterwarnings("ignore:.* half the periodic box")
def test_a_box_that_tilts_on_the_way_is_told_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "_FEWEST", 3)
    boxes = np.repeat(np.diag([12.0, 12.0, 12.0])[None], 20, axis=0)
    boxes[7:, 1, 0] = 5.0
    array = moving(9, (20, 200, 3))
    with pytest.warns(UserWarning, match="the box is tilted"):
        check(points(Ensemble.from_array(array, boxes=boxes)))


@pytest.mark.parametrize("scale", [1e18, 1e22])
def test_numbers_too_large_for_single_precision_hide_nothing(
    given_up: list[float], scale: float
) -> None:
    check(points(Ensemble.from_array(moving(11, (20, 300, 3)) * scale)))
    assert given_up


@pytest.mark.parametrize("scale", [1e-9, 1e-15, 1e-22])
@pytest.mark.filterwarnings("ignore:.* too small for single precision")
def test_numbers_too_small_for_single_precision_hide_nothing(
    given_up: list[float], scale: float
) -> None:
    check(points(Ensemble.from_array(moving(11, (20, 300, 3)) * scale)))
    assert bool(given_up) == (scale > 1e-12)


@pytest.mark.parametrize("faint", [1e-12, 1e-20, 1e-25, 1e-60])
def test_weights_of_any_size_hide_nothing(given_up: list[float], faint: float) -> None:
    rng = np.random.default_rng(1)
    array = np.repeat(rng.uniform(-5, 5, (1, 300, 3)), 64, axis=0)
    array[1:, 150:, 0] += rng.normal(size=(63, 1))  # two rigid halves
    array[0] = rng.uniform(-5, 5, (300, 3))
    weights = np.ones(64)
    weights[pruning.spread(64)[:8]] = faint
    weights[0] = 0.0
    objects = points(Ensemble.from_array(array, weights=weights))
    check(objects)
    assert cluster(objects, all_pairs(objects)).cut(0.0).sizes.tolist() == [150, 150]
    assert given_up


def test_what_is_joined_at_zero_is_not_looked_at_again(given_up: list[float]) -> None:
    array = moving(13, (30, 600, 3))
    array[:, :300] = array[0, :300]  # half of the pairs of these would be a quarter of all
    check(points(Ensemble.from_array(array)))
    assert given_up[0] > 0.9


def test_no_more_pairs_are_held_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    prune_anything(monkeypatch)
    monkeypatch.setattr(kernel, "MOST_FRAMES", 2)  # whose sums give up little
    held: list[int] = []

    add = clustering._Forest.add

    def adding(forest: Any, pairs: Pairs, *arguments: Any, **options: Any) -> object:
        held.append(len(pairs))
        return add(forest, pairs, *arguments, **options)

    monkeypatch.setattr(clustering._Forest, "add", adding)
    objects = points(Ensemble.from_array(moving(14, (40, 600, 3))))
    found = cluster(objects, all_pairs(objects), chunk=5000)
    assert same(found, link(measure(objects, all_pairs(objects))))
    band = kernel.LANES * 600
    assert len(held) > 3
    assert max(held[1:]) <= 5000 + band


def test_few_sites_are_measured_to_the_end_without_a_word() -> None:
    array = moving(9, (20, 60, 2))
    array[3, 5] = np.nan
    check(points(Ensemble.from_array(array, gaps=True)))


def test_pairs_that_are_left_out_stay_out(given_up: list[float]) -> None:
    bonds = [(k, k + 1) for k in range(299)]
    array = np.cumsum(moving(10, (20, 300, 3)) * 0.2, axis=1)
    objects = points(Ensemble.from_array(array, atoms=Atoms.unnamed(300, bonds=bonds)))
    check(objects, all_pairs(objects, min_bonds=4))
    assert given_up


def network(n_sites: int, n_frames: int, **options: object) -> Ensemble:
    """Short chains of bonded sites."""
    bonds = [(k, k + 1) for k in range(n_sites - 1) if k % 7]
    atoms = Atoms.unnamed(n_sites, bonds=bonds)
    return Ensemble.from_array(
        moving(n_sites, (n_frames, n_sites, 3)),
        atoms=atoms,
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("reduction", ["rms", "max", "centre"])
@pytest.mark.parametrize("n_sites", [5, 128, 300, 700])
def test_bodies_and_groups_give_the_same(
    given_up: list[float], n_sites: int, reduction: Reduction
) -> None:
    ensemble = network(n_sites, 100)
    check(bodies(ensemble, reduction=reduction))
    check(molecules(ensemble, reduction=reduction))
    assert len(given_up) == 2 if n_sites > 20 else given_up


@pytest.mark.parametrize("reduction", ["rms", "max"])
def test_large_groups_are_cut_into_bands_of_few_sites(
    given_up: list[float], monkeypatch: pytest.MonkeyPatch, reduction: Reduction
) -> None:
    monkeypatch.setattr(pruning, "_BAND_SITES", 64)
    ensemble = Ensemble.from_array(moving(15, (30, 900, 3)))
    rng = np.random.default_rng(15)
    sets = [rng.choice(900, size, replace=False) for size in rng.integers(1, 90, 40)]
    objects = groups(ensemble, sets, reduction=reduction)
    check(objects)
    _, banded = pruning._lay_out_groups(objects, np.arange(40))
    sizes = np.diff(objects.offsets)
    assert (np.diff(banded.begin) * kernel.LANES <= max(64, sizes.max()) + kernel.LANES).all()
    assert given_up


@pytest.mark.filterwarnings("ignore:.* half the periodic box")
def test_weighted_bodies_in_a_box_give_the_same(given_up: list[float]) -> None:
    weights = np.linspace(0.1, 1, 30)
    check(bodies(network(200, 30, boxes=[9.0, 9.0, 9.0], weights=weights)))
    assert given_up


def test_most_pairs_of_bodies_are_given_up(given_up: list[float]) -> None:
    check(bodies(network(900, 60)))
    assert given_up[0] > 0.8


def test_links_are_measured_in_the_ordinary_way(given_up: list[float]) -> None:
    with pytest.warns(UserWarning, match="some pairs of sites count as rigid"):
        check(links(network(60, 20)))
    assert given_up == []


@pytest.mark.parametrize("n_frames", [1, 2, 3, 8, 100, 257])
def test_frames_are_spread_each_once(n_frames: int) -> None:
    order = pruning.spread(n_frames)
    assert sorted(order.tolist()) == list(range(n_frames))
    first = np.sort(order[:8])
    assert np.diff(first).min(initial=n_frames) >= n_frames // 16


def test_pieces_of_the_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "CHUNK", 50)
    check(points(Ensemble.from_array(moving(12, (10, 40, 2)))))


@given(
    seeds,
    st.sampled_from([2, 50, kernel.MOST_FRAMES]),
    st.sampled_from([0.0, 1e-6, 1e-3, 1.0]),
    st.sampled_from([0.0, 40.0]),
    st.floats(0.0, 1e4),
)
@settings(max_examples=25, deadline=None)
def test_a_lower_bound_is_never_above_the_sum(
    seed: int, n_frames: int, noise: float, length: float, far: float
) -> None:
    """Of squared deviations over the frames, in double precision."""
    rng = np.random.default_rng(seed)
    n_sites, box = 12, np.full(3, length)
    places = rng.uniform(0, 20, (n_sites, 3)) + far
    frames = places + noise * rng.normal(size=(n_frames, n_sites, 3))
    weights = rng.uniform(0.1, 1.0, n_frames).astype(np.float32)
    tiles = np.empty((1, n_frames, 3, kernel.LANES), np.float32)
    largest = np.zeros((1, kernel.LANES))
    sites = np.minimum(np.arange(kernel.LANES), n_sites - 1)
    for place, frame in enumerate(frames):
        kernel.lay_out(frame, sites, box, place, tiles, largest)
    slacks = (4e-7 * np.sqrt(3) * largest).astype(np.float32)
    lengths = np.tile(box, (n_frames, 1)).astype(np.float32)
    low = np.empty((kernel.LANES, kernel.LANES), np.float32)
    total = weights.sum(dtype=np.float32)
    kernel._site_sums(tiles, lengths, weights, total, slacks, (0, 1), (0, 1), low)

    vectors = frames[:, :, None] - frames[:, None]
    if length:
        vectors -= length * np.rint(vectors / length)
    r = np.sqrt((vectors**2).sum(axis=3))
    w = weights.astype(np.float64)[:, None, None]
    exact = (w * (r - (w * r).sum(axis=0) / w.sum()) ** 2).sum(axis=0)
    rounding = (1e-12 * (far + 20)) ** 2 * n_frames
    assert (low[:n_sites, :n_sites] <= exact + rounding).all()
    if noise == 1.0 and n_frames > 2 and not length:
        apart = ~np.eye(n_sites, dtype=bool)
        assert (low[:n_sites, :n_sites][apart] > 0.9 * exact[apart]).all()


def test_large_coordinates_with_little_motion_hide_nothing(given_up: list[float]) -> None:
    """Where coordinates of 2e4 are rounded to single precision, by 1e-3, motions are of 3e-4."""
    rng = np.random.default_rng(0)
    home = rng.uniform(0, 2e4, (600, 3))
    motion = rng.normal(size=(60, 600, 3)) * 3e-4 * rng.uniform(0.2, 3, (1, 600, 1))
    check(points(Ensemble.from_array(home + motion)))
    assert given_up


def two_bodies(rng: np.random.Generator, n_sites: int) -> Floats:
    """Sites of two bodies on a line, about 2 apart."""
    half = n_sites // 2
    return np.concatenate([rng.uniform(-1.1, -1, half), rng.uniform(1, 1.1, n_sites - half)])


@pytest.mark.parametrize("seed", range(20))
def test_rounding_of_two_distances_hides_no_pair(given_up: list[float], seed: int) -> None:
    """Two bodies slide apart by 500 times the rounding of a coordinate, all pairs nearly alike.

    What rounding adds to such a pair's sum is a few in a thousand: its square alone is less.
    """
    rng = np.random.default_rng(seed)
    home = two_bodies(rng, 60)
    apart = np.sign(home) * 525 * 2.0**-24 * (1 + 1e-4 * rng.random(60))
    check(points(Ensemble.from_array(np.stack([home, home + apart])[:, :, None])))
    assert given_up


@pytest.mark.parametrize("seed", [1, 2])
def test_many_frames_far_from_the_first_hide_no_pair(given_up: list[float], seed: int) -> None:
    """Two bodies jump once: a sum of 40,000 equal squares is off by a thousandth in single."""
    rng = np.random.default_rng(seed)
    home = two_bodies(rng, 60)
    array = np.repeat(home[None, :, None], 40_000, axis=0)
    array[0, :, 0] += np.sign(home) * rng.uniform(0.5, 1) * (1 + 1e-3 * rng.random(60))
    check(points(Ensemble.from_array(array)))
    assert given_up
