import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import (
    bond_graphs,
    boxed_snapshots,
    gapped_snapshots,
    seeds,
    snapshots,
)
from timme import objects, pairs
from timme._arrays import Floats
from timme.objects import Objects
from timme.pairs import Pairs
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

POINTS = objects.points(Ensemble.from_array(np.random.default_rng(0).normal(size=(5, 6, 3))))

Bonds = list[tuple[int, int]]


def listed(chosen: Pairs) -> list[tuple[int, int]]:
    """Pairs as they come, all pieces together."""
    found = [(int(i), int(j)) for piece in chosen.chunks(3) for i, j in piece]
    assert len(found) == len(chosen)
    assert found == sorted(set(found)), "sorted, none twice"
    return found


def points_of(array: Floats, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


def bonded(graph: tuple[int, Bonds], seed: int = 0) -> Objects:
    n_sites, bonds = graph
    array = np.random.default_rng(seed).normal(size=(2, n_sites, 2))
    return points_of(array, atoms=Atoms.unnamed(n_sites, bonds=bonds))


# All pairs


@given(st.integers(1, 9) | st.integers(60, 200), st.integers(1, 9_000))
def test_all_pairs_come_once_in_pieces_of_any_size(n_sites: int, size: int) -> None:
    chosen = pairs.all(points_of(np.zeros((2, n_sites, 1))))
    pieces = list(chosen.chunks(size))
    found = [(int(i), int(j)) for piece in pieces for i, j in piece]
    assert sorted(found) == list(itertools.combinations(range(n_sites), 2))
    assert max(map(len, pieces)) < size + n_sites


@given(bond_graphs(), st.integers(0, 4))
def test_pairs_too_few_bonds_apart_are_left_out(graph: tuple[int, Bonds], min_bonds: int) -> None:
    separation = naive.bond_separation(*graph)
    expected = [
        pair for pair in itertools.combinations(range(graph[0]), 2) if separation[pair] >= min_bonds
    ]
    chosen = bonded(graph)
    assert listed(pairs.all(chosen, min_bonds=min_bonds)) == expected
    everything = list(itertools.combinations(range(graph[0]), 2))
    assert listed(pairs.given(chosen, everything, min_bonds=min_bonds)) == expected
    assert listed(pairs.within(chosen, 1e3, min_bonds=min_bonds)) == expected


@given(bond_graphs(), st.integers(1, 3), seeds)
def test_bonds_are_counted_in_the_whole_graph_for_selected_sites_and_groups(
    graph: tuple[int, Bonds], min_bonds: int, seed: int
) -> None:
    n_sites, _ = graph
    separation = naive.bond_separation(*graph)
    rng = np.random.default_rng(seed)
    kept = rng.permutation(n_sites)[: rng.integers(2, n_sites + 1)]
    ensemble = bonded(graph).ensemble.select(kept)
    expected = [
        (a, b)
        for a, b in itertools.combinations(range(len(kept)), 2)
        if separation[kept[a], kept[b]] >= min_bonds
    ]
    assert listed(pairs.all(objects.points(ensemble), min_bonds=min_bonds)) == expected
    halves = [[0], list(range(1, len(kept)))]
    if len(halves[1]) < 2:
        return
    nearest = separation[kept[0], kept[1:]].min()
    found = listed(pairs.all(objects.groups(ensemble, halves), min_bonds=min_bonds))
    assert found == ([(0, 1)] if nearest >= min_bonds else [])


# Contacts


@given(snapshots(), st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0]), st.integers(1, 2))
def test_contacts_agree_with_the_reference(array: Floats, radius: float, at_least: int) -> None:
    found = listed(pairs.within(points_of(array), radius, at_least=at_least))
    assert found == naive.contacts(array, radius, at_least=at_least)


@given(boxed_snapshots(), st.sampled_from([0.3, 1.0, 2.0, 5.0]), st.integers(1, 2))
def test_contacts_through_walls_agree_with_the_reference(
    boxed: tuple[Floats, Floats], radius: float, at_least: int
) -> None:
    array, boxes = boxed
    found = listed(pairs.within(points_of(array, boxes=boxes), radius, at_least=at_least))
    assert found == naive.contacts(array, radius, at_least=at_least, boxes=boxes)


@given(gapped_snapshots(), st.sampled_from([0.5, 2.0, 5.0]), st.integers(1, 2))
def test_contacts_of_gapped_tracks_agree_with_the_reference(
    array: Floats, radius: float, at_least: int
) -> None:
    found = listed(pairs.within(points_of(array, gaps=True), radius, at_least=at_least))
    assert found == naive.contacts(array, radius, at_least=at_least)


def test_contacts_of_several_blocks_are_counted_together() -> None:
    array = np.random.default_rng(1).normal(size=(300, 5, 2))
    for at_least in (1, 100, 130, 180):
        found = listed(pairs.within(points_of(array), 1.8, at_least=at_least))
        assert found == naive.contacts(array, 1.8, at_least=at_least)


def test_contacts_in_a_slab_go_through_its_walls_only() -> None:
    array = np.random.default_rng(3).uniform(-4, 4, (3, 12, 3))
    nearly_open = np.tile(np.diag([3.0, 1e6, 2.5]), (3, 1, 1))
    found = listed(pairs.within(points_of(array, boxes=[3.0, 0.0, 2.5]), 1.0))
    assert found == naive.contacts(array, 1.0, boxes=nearly_open)


def test_contacts_are_between_centres() -> None:
    ensemble = POINTS.ensemble
    made = objects.groups(ensemble, [[0, 1], [2, 3], [4, 5]])
    centres = np.stack(
        [ensemble.block(0).coordinates[:, k : k + 2].mean(axis=1) for k in (0, 2, 4)], 1
    )
    assert listed(pairs.within(made, 1.0)) == naive.contacts(centres, 1.0)


def test_nobody_in_contact_is_an_answer() -> None:
    assert listed(pairs.within(POINTS, 1e-9)) == []


def test_contacts_of_many_points_take_time_in_proportion() -> None:
    rng = np.random.default_rng(0)
    cloud = rng.uniform(0, 39, (1, 60_000, 3))  # one point per unit of volume
    pairs.within(points_of(cloud[:, :10]), 1.0)  # compiles
    for far in (1.0, 1e6):
        cloud[0, 0] = far  # an outlier must not put all others into one cell
        chosen = points_of(cloud)
        start = time.process_time()
        found = pairs.within(chosen, 1.0)
        assert time.process_time() - start < 8  # all 2e9 pairs would take more
        assert len(found) == pytest.approx(60_000 * 2 * np.pi / 3, rel=0.1)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_that_is_none_is_refused(radius: float) -> None:
    with pytest.raises(ValueError, match="radius must be above 0, got"):
        pairs.within(POINTS, radius)


@pytest.mark.parametrize("at_least", [0, 6])
def test_contacts_in_more_snapshots_than_there_are_are_refused(at_least: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 5 snapshots, got {at_least}"):
        pairs.within(POINTS, 1.0, at_least=at_least)


def test_a_bad_coordinate_is_named() -> None:
    array = np.zeros((3, 4, 2))
    array[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"site 3\) of snapshot 2"):
        pairs.within(points_of(array), 1.0)


# Nearest


@given(snapshots(), seeds)
def test_nearest_agree_with_the_reference(array: Floats, seed: int) -> None:
    count = 1 + seed % (array.shape[1] - 1)
    found = listed(pairs.nearest(points_of(array), count))
    assert set(found) == naive.nearest(array[0], count)


@given(boxed_snapshots(), seeds)
def test_nearest_through_walls_agree_with_the_reference(
    boxed: tuple[Floats, Floats], seed: int
) -> None:
    array, boxes = boxed
    count = 1 + seed % (array.shape[1] - 1)
    found = listed(pairs.nearest(points_of(array, boxes=boxes), count))
    assert set(found) == naive.nearest(array[0], count, boxes[0])


@given(seeds, st.integers(1, 7))
def test_of_equally_near_ones_the_first_are_taken(seed: int, count: int) -> None:
    grid = np.random.default_rng(seed).integers(0, 3, (1, 8, 2)).astype(float)
    assert set(listed(pairs.nearest(points_of(grid), count))) == naive.nearest(grid[0], count)


def test_nearest_on_average_are_judged_by_the_mean_distance() -> None:
    array = np.random.default_rng(7).normal(size=(6, 7, 2))
    mean = np.zeros((7, 7))
    for i, j in itertools.combinations(range(7), 2):
        mean[i, j] = mean[j, i] = np.mean(naive.pair_distances(array, i, j)[0])
    expected = set()
    for i in range(7):
        others = [j for j in np.argsort(mean[i]).tolist() if j != i]
        expected |= {(min(i, j), max(i, j)) for j in others[:2]}
    assert set(listed(pairs.nearest(points_of(array), 2, by="mean"))) == expected


def test_sites_never_seen_together_are_not_near() -> None:
    array = np.random.default_rng(0).normal(size=(6, 4, 2))
    array[:3, 0] = array[3:, 1] = np.nan
    assert (0, 1) not in listed(pairs.nearest(points_of(array, gaps=True), 1, by="mean"))


def test_partners_too_few_bonds_away_are_not_counted_as_nearest() -> None:
    line = points_of(
        np.arange(6.0).reshape(1, 6, 1),
        atoms=Atoms.unnamed(6, bonds=[(k, k + 1) for k in range(5)]),
    )
    for by in ("first", "mean"):
        found = listed(pairs.nearest(line, 1, by=by, min_bonds=2))
        assert found == [(0, 2), (1, 3), (2, 4), (3, 5)]


def test_a_lonely_point_does_not_cost_all_pairs() -> None:
    cloud = np.random.default_rng(0).uniform(0, 18, (1, 6_000, 3))
    cloud[0, 0] = 1e6
    chosen = points_of(cloud)
    pairs.nearest(points_of(cloud[:, :10]), 3)  # compiles
    start = time.process_time()
    found = pairs.nearest(chosen, 3)
    assert time.process_time() - start < 8
    assert 9_000 < len(found) <= 18_000


@pytest.mark.parametrize("count", [0, 6])
def test_more_partners_than_there_are_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 5, got {count}"):
        pairs.nearest(POINTS, count)


def test_an_unknown_way_to_judge_nearness_is_refused() -> None:
    way: Any = "last"
    with pytest.raises(ValueError, match="'first' or 'mean', got 'last'"):
        pairs.nearest(POINTS, 1, by=way)


# Sequence, sharing, the user's own


@pytest.mark.parametrize("reach", [1, 2, 9])
def test_sequence_neighbours_stay_in_their_chain(reach: int) -> None:
    atoms = replace(Atoms.unnamed(6), chains=np.array(list("AAABBB")))
    chosen = points_of(np.zeros((2, 6, 1)), atoms=atoms)
    expected = [
        (i, j)
        for i, j in itertools.combinations(range(6), 2)
        if j - i <= reach and (i < 3) == (j < 3)
    ]
    assert listed(pairs.sequence(chosen, reach=reach)) == expected


def test_a_sequence_needs_to_reach_one() -> None:
    with pytest.raises(ValueError, match="at least 1 apart, got 0"):
        pairs.sequence(POINTS, reach=0)


def test_links_that_share_a_joint_are_paired() -> None:
    made = objects.links(POINTS.ensemble, [(0, 1), (2, 1), (3, 4), (1, 5), (4, 5)])
    assert listed(pairs.sharing(made)) == [(0, 1), (0, 3), (1, 3), (2, 4), (3, 4)]


def test_given_pairs_have_one_form() -> None:
    given_pairs = [(3, 1), (0, 5), (1, 3), (2, 2), (0, 5)]
    assert listed(pairs.given(POINTS, given_pairs)) == [(0, 5), (1, 3)]
    assert given_pairs == [(3, 1), (0, 5), (1, 3), (2, 2), (0, 5)]


def test_no_pairs_are_an_answer() -> None:
    assert listed(pairs.given(POINTS, np.empty((0, 2), np.int64))) == []


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([(0, 6)], "objects 0 to 5, got 0 to 6"),
        ([(-1, 2)], "objects 0 to 5, got -1 to 2"),
        ([(0, 1, 2)], r"two whole numbers each, got int64 of shape \(1, 3\)"),
        ([0, 1], "two whole numbers"),
        ([(0.0, 1.0)], "two whole numbers each, got float64"),
        ([("a", "b")], "two whole numbers"),
    ],
)
def test_pairs_that_are_none_are_refused(index: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairs.given(POINTS, index)


def test_a_negative_number_of_bonds_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        pairs.all(POINTS, min_bonds=-1)


def test_large_numbers_of_objects_do_not_overflow() -> None:
    n_sites = 100_000  # squares of it do not fit into 32 bits
    chosen = points_of(np.zeros((2, n_sites, 1), np.float32))
    last = (n_sites - 2, n_sites - 1)
    assert listed(pairs.given(chosen, np.array([last, (0, 1)], np.int32))) == [(0, 1), last]
    assert len(pairs.all(chosen)) == 4_999_950_000


def test_pairs_are_read_only() -> None:
    index = pairs.given(POINTS, [(0, 1)]).index
    assert index is not None
    with pytest.raises(ValueError, match="read-only"):
        index[0, 0] = 3


def test_a_point_a_hair_outside_of_the_box_has_its_nearest() -> None:
    # -1e-17 modulo 10 is 10 after rounding, no longer inside
    line = points_of(np.array([[[-1e-17], [1.0], [3.0]]]), boxes=[10.0])
    assert listed(pairs.nearest(line, 1)) == [(0, 1), (1, 2)]


def test_an_infinite_coordinate_is_named_by_nearest_as_well() -> None:
    array = np.zeros((2, 4, 2))
    array[0, 2, 1] = np.inf
    with pytest.raises(ValueError, match=r"site 3\) of snapshot 1"):
        pairs.nearest(points_of(array), 1)


def test_what_is_no_number_is_told() -> None:
    chosen = points_of(np.random.default_rng(0).normal(size=(3, 4, 3)))
    wrong: Any = "4"
    with pytest.raises(TypeError, match="a contact radius is a number, got '4'"):
        pairs.within(chosen, wrong)
    with pytest.raises(TypeError, match="the number of nearest partners is a number, got '4'"):
        pairs.nearest(chosen, wrong)
    with pytest.raises(TypeError, match="bonds apart is a number, got '4'"):
        pairs.within(chosen, 4.0, min_bonds=wrong)


@pytest.mark.parametrize(("name", "end"), [("contacts", r".*timme\.pairs\.within"), ("cats", "$")])
def test_pairs_in_contact_are_told_by_their_name(name: str, end: str) -> None:
    """A module has stood where people look for a function."""
    with pytest.raises(AttributeError, match=f"'timme.pairs' has no attribute '{name}'{end}"):
        getattr(pairs, name)
