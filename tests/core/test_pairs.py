"""Reference and invariant tests of the choice of pairs, and of contacts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
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
from timme.contacts import find_contacts
from timme.engine.checkpoint import Run
from timme.engine.workers import Threads
from timme.ensemble import Atoms, Ensemble, Images
from timme.objects import Objects
from timme.pairs import OnSphere, Pairs

Floats = naive.Floats
Graph = tuple[int, list[tuple[int, int]]]

EARTH = 6371.0088  # km, mean radius R1 of the International Union of Geodesy and Geophysics


def points_of(array: Any, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


def random_points(n_sites: int = 6) -> Objects:
    return points_of(np.random.default_rng(0).normal(size=(5, n_sites, 3)))


def bonded(graph: Graph) -> Objects:
    n_sites, bonds = graph
    array = np.random.default_rng(0).normal(size=(2, n_sites, 2))
    return points_of(array, atoms=Atoms.unnamed(n_sites, bonds=bonds))


def listed(chosen: Pairs) -> list[tuple[int, int]]:
    """Pairs as they come, all pieces together: sorted, none twice."""
    found = [(i, j) for piece in chosen.chunks(3) for i, j in piece.tolist()]
    assert len(found) == len(chosen)
    assert found == sorted(set(found))
    return found


# ---- all pairs


@given(st.integers(1, 9) | st.integers(60, 200), st.integers(1, 9_000))
def test_all_pairs_come_once_in_pieces_of_at_most_any_size(n_sites: int, size: int) -> None:
    pieces = list(pairs.all(points_of(np.zeros((2, n_sites, 1)))).chunks(size))
    found = [(i, j) for piece in pieces for i, j in piece.tolist()]
    assert sorted(found) == list(itertools.combinations(range(n_sites), 2))
    assert max(map(len, pieces)) <= size


@given(bond_graphs(), st.integers(0, 4))
def test_pairs_too_few_bonds_apart_are_left_out(graph: Graph, min_bonds: int) -> None:
    separation = naive.bond_separation(*graph)
    everything = list(itertools.combinations(range(graph[0]), 2))
    expected = [pair for pair in everything if separation[pair] >= min_bonds]
    chosen = bonded(graph)
    assert listed(pairs.all(chosen, min_bonds=min_bonds)) == expected
    assert listed(pairs.given(chosen, everything, min_bonds=min_bonds)) == expected
    assert listed(pairs.within(chosen, 1e3, min_bonds=min_bonds)) == expected


@given(bond_graphs(), st.integers(1, 3), seeds)
def test_bonds_of_selected_sites_and_groups_are_counted_in_the_whole_graph(
    graph: Graph, min_bonds: int, seed: int
) -> None:
    n_sites, separation = graph[0], naive.bond_separation(*graph)
    rng = np.random.default_rng(seed)
    kept = rng.permutation(n_sites)[: rng.integers(2, n_sites + 1)]
    ensemble = bonded(graph).ensemble.select(kept)
    expected = [
        (a, b)
        for a, b in itertools.combinations(range(len(kept)), 2)
        if separation[kept[a], kept[b]] >= min_bonds
    ]
    assert listed(pairs.all(objects.points(ensemble), min_bonds=min_bonds)) == expected
    if len(kept) > 2:
        groups = objects.groups(ensemble, [[0], list(range(1, len(kept)))])
        nearest = separation[kept[0], kept[1:]].min()
        expected = [(0, 1)] if nearest >= min_bonds else []
        assert listed(pairs.all(groups, min_bonds=min_bonds)) == expected


def test_atoms_missing_along_a_trace_count_as_bonds() -> None:
    """Three Cα, 3 bonds apart each: neighbours are 3 bonds apart, the ends 6."""
    ensemble = replace(random_points(3).ensemble, traces=np.array([[0, 1, 3], [1, 2, 3]]))
    assert listed(pairs.all(objects.points(ensemble), min_bonds=3)) == [(0, 1), (0, 2), (1, 2)]
    assert listed(pairs.all(objects.points(ensemble), min_bonds=4)) == [(0, 2)]


# ---- contacts


def test_contacts_are_between_centres() -> None:
    ensemble = random_points().ensemble
    made = objects.groups(ensemble, [[0, 1], [2, 3], [4, 5]])
    array = ensemble.coordinates()
    centres = np.stack([array[:, k : k + 2].mean(axis=1) for k in (0, 2, 4)], axis=1)
    assert listed(pairs.within(made, 1.0)) == naive.contacts(centres, 1.0)


def test_latitudes_beyond_the_poles_are_refused() -> None:
    with pytest.raises(ValueError, match="from -90 to 90 degrees"):
        OnSphere()(np.array([[[91.0, 0.0]]]), None, range(1))


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        *(
            (partial(pairs.within, radius=radius), "radius must be above 0 and finite, got")
            for radius in (0.0, -1.0, np.nan, np.inf)
        ),
        (partial(pairs.within, radius=1.0, at_least=0), "at_least= must be .* from 1 to 5, got 0"),
        (partial(pairs.within, radius=1.0, at_least=6), "at_least= must be .* from 1 to 5, got 6"),
        (partial(pairs.within, radius=1.0, metric="cosine"), "'haversine'.*got 'cosine'"),
        (partial(pairs.nearest, count=0), "1 to 5, got 0"),
        (partial(pairs.nearest, count=6), "1 to 5, got 6"),
        (partial(pairs.nearest, count=1.5), "a whole number from 1 to 5, got 1.5"),  # type: ignore[arg-type]
        (partial(pairs.within, radius="8"), "a contact radius must be real numbers"),  # type: ignore[arg-type]
        (partial(pairs.all, min_bonds=-1), "min_bonds= must be .* of at least 0, got -1"),
    ],
)
def test_choices_that_cannot_be_are_refused(choose: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose(random_points())


# ---- nearest


@given(boxed_snapshots(), seeds, st.booleans())
def test_nearest_agree_with_the_reference(
    boxed: tuple[Floats, Floats], seed: int, periodic: bool
) -> None:
    array, boxes = boxed
    count = 1 + seed % (array.shape[1] - 1)
    found = listed(pairs.nearest(points_of(array, boxes=boxes if periodic else None), count))
    assert set(found) == naive.nearest(array[0], count, boxes[0] if periodic else None)


def test_nearest_on_average_have_the_smallest_mean_distance() -> None:
    array = np.random.default_rng(7).normal(size=(6, 7, 2))
    mean = np.full((7, 7), np.inf)
    for i, j in itertools.combinations(range(7), 2):
        mean[i, j] = mean[j, i] = np.mean(naive.pair_distances(array, i, j)[0])
    ranked = np.argsort(mean, axis=1)[:, :2].tolist()
    expected = {(min(i, j), max(i, j)) for i in range(7) for j in ranked[i]}
    assert set(listed(pairs.nearest(points_of(array), 2, by="mean"))) == expected


def test_sites_never_seen_together_are_not_near() -> None:
    array = np.random.default_rng(0).normal(size=(6, 4, 2))
    array[:3, 0] = array[3:, 1] = np.nan
    gapped = points_of(array, gaps=True)
    assert (0, 1) not in listed(pairs.nearest(gapped, 1, by="mean"))
    with pytest.raises(ValueError, match="by='mean'"):
        pairs.nearest(gapped, 1)


def test_nearest_of_one_molecule_see_no_images_of_one_another() -> None:
    ensemble = Ensemble.from_array([[[0.5], [3.0], [9.5]]], boxes=10.0)
    assert listed(pairs.nearest(objects.points(ensemble), 1)) == [(0, 1), (0, 2)]
    whole = replace(ensemble, images=Images(np.array([0, 1, 0])))
    assert listed(pairs.nearest(objects.points(whole), 1)) == [(0, 1), (1, 2)]


def test_partners_too_few_bonds_away_do_not_count_as_nearest() -> None:
    bonds = [(k, k + 1) for k in range(5)]
    line = points_of(np.arange(6.0).reshape(1, 6, 1), atoms=Atoms.unnamed(6, bonds=bonds))
    for by in ("first", "mean"):
        found = listed(pairs.nearest(line, 1, by=by, min_bonds=2))
        assert found == [(0, 2), (1, 3), (2, 4), (3, 5)]


# ---- sequence, sharing, the user's own


@pytest.mark.parametrize("reach", [1, 2, 9])
def test_sequence_neighbours_stay_in_their_chain(reach: int) -> None:
    atoms = replace(Atoms.unnamed(6), chains=np.array(list("AAABBB")))
    expected = [
        (i, j)
        for i, j in itertools.combinations(range(6), 2)
        if j - i <= reach and (i < 3) == (j < 3)
    ]
    chosen = points_of(np.zeros((2, 6, 1)), atoms=atoms)
    assert listed(pairs.sequence(chosen, reach=reach)) == expected


def test_links_that_share_a_joint_are_paired() -> None:
    links = [(0, 1), (2, 1), (3, 4), (1, 5), (4, 5)]
    made = objects.links(random_points().ensemble, links)
    assert listed(pairs.sharing(made)) == [(0, 1), (0, 3), (1, 3), (2, 4), (3, 4)]


def test_given_pairs_have_one_form() -> None:
    given_pairs = [(3, 1), (0, 5), (1, 3), (2, 2), (0, 5)]
    assert listed(pairs.given(random_points(), given_pairs)) == [(0, 5), (1, 3)]
    assert listed(pairs.given(random_points(), [])) == []


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([(0, 6)], "objects range from 0 to 5, got 0 to 6"),
        ([(-1, 2)], "objects range from 0 to 5, got -1 to 2"),
        ([(0, 1, 2)], r"two whole numbers each, got int64 of shape \(1, 3\)"),
        ([0, 1], "two whole numbers"),
        ([(0.0, 1.0)], "two whole numbers each, got float64"),
        ([("a", "b")], "two whole numbers"),
    ],
)
def test_pairs_that_are_none_are_refused(index: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairs.given(random_points(), index)


# ---- contacts ----------------------------------------------------------------------------------


def contacts(
    array: Floats, radius: float, *, at_least: int = 1, **options: Any
) -> list[tuple[int, int]]:
    ensemble = Ensemble.from_array(array, **options)
    found = find_contacts(ensemble, radius, at_least=at_least)
    return [(i, j) for i, j in found.tolist()]


def half_width(boxes: Floats) -> float:
    """Half the least distance between opposite sides of any of the boxes."""
    inverses = np.linalg.inv(boxes)
    return float(0.5 / np.linalg.norm(inverses, axis=1).max())


@given(snapshots(max_sites=30), st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0]), st.integers(1, 2))
def test_contacts_agree_with_the_reference(array: Floats, radius: float, at_least: int) -> None:
    assert contacts(array, radius, at_least=at_least) == naive.contacts(
        array, radius, at_least=at_least
    )


@given(boxed_snapshots(max_sites=20), st.floats(0.05, 0.99), st.integers(1, 2))
def test_contacts_in_boxes_agree_with_the_reference(
    boxed: tuple[Floats, Floats], share: float, at_least: int
) -> None:
    array, boxes = boxed
    ensemble = Ensemble.from_array(array, boxes=boxes)
    reduced = np.array([ensemble.snapshot(k)[1] for k in range(len(array))])
    radius = share * half_width(reduced)
    expected = naive.contacts(array, radius, at_least=at_least, boxes=boxes)
    assert contacts(array, radius, at_least=at_least, boxes=boxes) == expected


@given(gapped_snapshots(max_sites=20), st.sampled_from([0.5, 2.0, 5.0]), st.integers(1, 2))
def test_contacts_of_gapped_tracks_agree_with_the_reference(
    array: Floats, radius: float, at_least: int
) -> None:
    found = contacts(array, radius, at_least=at_least, gaps=True)
    assert found == naive.contacts(array, radius, at_least=at_least)


def test_contacts_of_several_blocks_and_windows_are_counted_together() -> None:
    rng = np.random.default_rng(1)
    array = np.cumsum(rng.normal(size=(300, 5, 2)), axis=0)
    array -= array.mean(axis=1, keepdims=True)
    for at_least in (1, 5, 20, 100):
        found = contacts(array, 3.0, at_least=at_least)
        assert found == naive.contacts(array, 3.0, at_least=at_least)


def test_contacts_in_a_slab_go_through_its_sides_only() -> None:
    array = np.random.default_rng(3).uniform(-4, 4, (3, 12, 3))
    nearly_open = np.tile(np.diag([3.0, 1e6, 2.5]), (3, 1, 1))
    found = contacts(array, 1.0, boxes=[3.0, 0.0, 2.5])
    assert found == naive.contacts(array, 1.0, boxes=nearly_open)


def test_points_of_one_molecule_see_no_images_of_one_another() -> None:
    line = np.array([[[0.5], [3.0], [9.5]]])
    ensemble = Ensemble.from_array(line, boxes=10.0)
    assert find_contacts(ensemble, 1.5).tolist() == [[0, 2]]
    whole = replace(ensemble, images=Images(np.array([0, 1, 0])))
    assert find_contacts(whole, 1.5).tolist() == []


@pytest.mark.parametrize("box", [[2.4, 9.0], [[2.5, 0.0], [0.7, 2.4]]])  # 2.4 wide
def test_a_radius_above_half_the_box_is_refused(box: Any) -> None:
    ensemble = Ensemble.from_array(np.zeros((3, 3, 2)), boxes=box)
    with pytest.raises(ValueError, match=r"at most half the width of the box, 1\.2, got 1\.21"):
        find_contacts(ensemble, 1.21)
    assert len(find_contacts(ensemble, 1.19)) == 3


def test_more_contacts_than_memory_has_room_for_are_refused() -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 5, 2)))
    assert len(find_contacts(ensemble, 1.0, most=10)) == 10
    with pytest.raises(ValueError, match="more than 9 pairs are in contact"):
        find_contacts(ensemble, 1.0, most=9)


def test_any_number_of_threads_finds_the_same() -> None:
    array = np.random.default_rng(5).normal(size=(20, 200, 3))
    ensemble = Ensemble.from_array(array)
    one, four = (find_contacts(ensemble, 1.0, run=Run(Threads(n))) for n in (1, 4))
    assert one.tolist() == four.tolist()
