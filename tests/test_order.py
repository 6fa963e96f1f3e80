import itertools
import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.output.builders import Graph, graphs, linked, random_graph
from timme._arrays import Ints
from timme.hierarchy import Hierarchy, link
from timme.order import Stripes, choose_colours, families_at, stripes


def cutoffs_of(hierarchy: Hierarchy) -> list[float]:
    """One cutoff below, at, and above every level."""
    levels = hierarchy.levels
    between = (levels[1:] + levels[:-1]) / 2
    return [-np.inf, *levels.tolist(), *between.tolist(), levels.max(initial=0) + 1]


def families_of_sites(shown: Stripes, cutoff: float) -> Ints:
    """Family of each site as the stripes have it at a cutoff, -1 where nothing is drawn."""
    held = np.full(len(shown.order), -1)
    alive = (shown.low <= cutoff) & (cutoff < shown.high)
    for start, stop, family in zip(
        shown.start[alive], shown.stop[alive], shown.family[alive], strict=True
    ):
        assert (held[shown.order[start:stop]] == -1).all(), "a site is covered twice"
        held[shown.order[start:stop]] = family
    return held


@given(graphs(), st.randoms(use_true_random=False), st.booleans(), st.integers(1, 4))
def test_stripes_cover_each_cluster_once_in_its_family(
    graph: Graph, shuffle: random.Random, by_label: bool, min_size: int
) -> None:
    hierarchy = linked(graph)
    order = list(range(graph[0]))
    shuffle.shuffle(order)
    shown = stripes(hierarchy, order=None if by_label else order, min_size=min_size)
    assert shown.order.tolist() == (hierarchy.order.tolist() if by_label else order)
    for cutoff in cutoffs_of(hierarchy):
        partition = hierarchy.cut(cutoff)
        expected = families_at(hierarchy, cutoff)[partition.labels]
        expected[partition.sizes[partition.labels] < min_size] = -1
        assert families_of_sites(shown, cutoff).tolist() == expected.tolist()


@given(graphs(max_sites=9))
def test_families_are_those_of_the_slow_reference(graph: Graph) -> None:
    hierarchy = linked(graph)
    for cutoff in cutoffs_of(hierarchy):
        assert families_at(hierarchy, cutoff).tolist() == naive.families(*graph, cutoff)


@given(graphs(max_sites=9), st.randoms(use_true_random=False), st.integers(1, 4))
def test_stripes_are_those_of_the_slow_reference(
    graph: Graph, shuffle: random.Random, min_size: int
) -> None:
    axis = list(range(graph[0]))
    shuffle.shuffle(axis)
    shown = stripes(linked(graph), order=axis, min_size=min_size)
    columns = (shown.start, shown.stop, shown.low, shown.high, shown.family)
    drawn = sorted(zip(*(column.tolist() for column in columns), strict=True))
    assert drawn == naive.stripes(*graph, axis, min_size)


@given(graphs(max_sites=20))
def test_clusters_never_share_a_family_and_the_largest_tree_is_of_family_0(graph: Graph) -> None:
    hierarchy = linked(graph)
    for cutoff in cutoffs_of(hierarchy):
        families = families_at(hierarchy, cutoff)
        assert len(set(families.tolist())) == len(families)
    assert families_at(hierarchy, np.inf)[0] == 0


@given(graphs(max_sites=16), st.integers(1, 5))
def test_a_cluster_keeps_its_colour_and_the_larger_part_of_what_splits_inherits_it(
    graph: Graph, n_colours: int
) -> None:
    hierarchy = linked(graph)
    colours = choose_colours(hierarchy, n_colours)
    levels = [-np.inf, *hierarchy.levels]
    for below, above in itertools.pairwise(levels):
        whole, parts = hierarchy.cut(above), hierarchy.cut(below)
        held, part_held = colours[families_at(hierarchy, above)], families_at(hierarchy, below)
        for label in range(whole.n_clusters):  # one that did not split is its own larger part
            larger = naive_larger_part(whole.members(label), parts.labels)
            assert colours[part_held[larger]] == held[label]


@given(graphs())
def test_dark_blue_is_the_line_of_the_core_at_the_top_and_no_other(graph: Graph) -> None:
    hierarchy = linked(graph)
    line = hierarchy.cut(np.inf).labels == 0
    for cutoff in [*reversed(hierarchy.levels.tolist()), -np.inf]:
        labels = hierarchy.cut(cutoff).labels
        heir = labels == naive_larger_part(np.flatnonzero(line), labels)
        dark = choose_colours(hierarchy, 3)[families_at(hierarchy, cutoff)][labels] == 0
        assert dark.tolist() == heir.tolist()
        line = heir


def naive_larger_part(members: Ints, labels: Ints) -> int:
    parts: dict[int, list[int]] = {}
    for site in members.tolist():
        parts.setdefault(int(labels[site]), []).append(site)
    return min(parts, key=lambda part: (-len(parts[part]), min(parts[part])))


@given(graphs())
def test_by_site_label_there_is_one_stripe_per_node(graph: Graph) -> None:
    hierarchy = linked(graph)
    shown = stripes(hierarchy)
    assert len(shown.start) == len(hierarchy.parents)
    assert (shown.low < shown.high).all()


@given(graphs())
def test_neighbouring_stripes_of_one_run_are_merged(graph: Graph) -> None:
    shown = stripes(linked(graph), order=range(graph[0]))
    ends = {
        (a, b, f, high)
        for a, b, f, high in zip(shown.start, shown.stop, shown.family, shown.high, strict=True)
    }
    for a, b, f, low in zip(shown.start, shown.stop, shown.family, shown.low, strict=True):
        assert (a, b, f, low) not in ends


def test_a_core_that_crumbles_keeps_dark_blue_and_the_next_its_colour() -> None:
    # Five sites joined at 4 split above into {0 … 4} and {5 … 8}; the four last until 1.
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (4, 5)]
    hierarchy = linked((9, pairs, [4.0, 4.0, 4.0, 4.0, 1.0, 1.0, 1.0, 6.0]))
    assert families_at(hierarchy, 6).tolist() == [0]
    assert families_at(hierarchy, 4).tolist() == [0, 1]
    four = hierarchy.cut(2).labels[5]
    assert families_at(hierarchy, 2)[four] == 1
    assert families_at(hierarchy, 2)[hierarchy.cut(2).labels[0]] == 0
    shown = stripes(hierarchy, min_size=4)
    drawn = np.column_stack([shown.start, shown.stop, shown.low, shown.high, shown.family])
    assert drawn.tolist() == [[5, 9, 1, 6, 1], [0, 5, 4, 6, 0], [0, 9, 6, np.inf, 0]]


# Colours


@given(graphs(max_sites=9), st.integers(1, 4), st.data())
def test_colours_are_those_of_the_slow_reference(
    graph: Graph, n_colours: int, data: st.DataObject
) -> None:
    hierarchy, n_sites = linked(graph), graph[0]
    assert choose_colours(hierarchy, n_colours).tolist() == naive.family_colours(*graph, n_colours)
    numbers = st.integers(0, n_colours)
    given = data.draw(st.dictionaries(st.integers(0, n_sites - 1), numbers))
    avoided, spared = data.draw(st.lists(numbers)), data.draw(st.lists(numbers))
    chosen = choose_colours(
        hierarchy,
        n_colours,
        given=[given.get(family, -1) for family in range(n_sites)],
        avoided=avoided,
        spared=spared,
    )
    assert chosen.tolist() == naive.family_colours(*graph, n_colours, given, avoided, spared)


@given(graphs(max_sites=20), st.integers(1, 24))
def test_as_many_families_as_there_are_colours_share_none(graph: Graph, n_colours: int) -> None:
    chosen = choose_colours(linked(graph), n_colours)[: n_colours + 1]
    assert chosen.tolist() == list(range(len(chosen)))


@pytest.mark.parametrize("n_colours", [10, 24])
@pytest.mark.parametrize("n_sites", [300, 3000])
def test_neighbours_along_site_labels_differ_at_every_cutoff(n_sites: int, n_colours: int) -> None:
    hierarchy = linked(random_graph(n_sites, 1))
    chosen = choose_colours(hierarchy, n_colours)
    assert len(set(chosen.tolist())) == n_colours + 1
    for cutoff in np.quantile(hierarchy.levels, np.linspace(0, 1, 40)):
        partition = hierarchy.cut(cutoff)
        along = partition.labels[hierarchy.order]
        held = chosen[families_at(hierarchy, cutoff)][along]
        assert (held[1:] != held[:-1])[along[1:] != along[:-1]].all()


def test_colours_of_more_families_than_have_room_are_chosen_in_turn() -> None:
    n_sites = 6_000
    hierarchy = linked((n_sites, [], []))
    chosen = choose_colours(hierarchy, 24)
    assert chosen[5_000:].tolist() == [(family - 1) % 24 + 1 for family in range(5_000, n_sites)]
    assert (np.diff(chosen) != 0).all()


def test_stripes_follow_the_slow_site_order() -> None:
    graph = (6, [(0, 5), (1, 2), (2, 3), (3, 5)], [3.0, 1.0, 1.0, 2.0])
    assert stripes(linked(graph)).order.tolist() == naive.site_order(*graph)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3]])
def test_an_order_names_every_site_once(order: list[int]) -> None:
    with pytest.raises(ValueError, match="each of the 3 sites once"):
        stripes(link([[0, 1, 2], [1, 0, 3], [2, 3, 0]]), order=order)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shape", ["chain", "caterpillar"])
def test_twenty_thousand_sites_take_seconds_in_any_order(shape: str, seed: int) -> None:
    n_sites = 20_000
    rng = np.random.default_rng(seed)
    ends = np.arange(n_sites - 1) if shape == "chain" else np.zeros(n_sites - 1, dtype=int)
    pairs = [(int(end), k + 1) for k, end in enumerate(ends)]
    hierarchy = linked((n_sites, pairs, rng.random(n_sites - 1).tolist()))
    started = time.process_time()
    by_label = stripes(hierarchy)
    shuffled = stripes(hierarchy, order=rng.permutation(n_sites))
    choose_colours(hierarchy, 24)
    assert time.process_time() - started < 20
    assert len(by_label.start) < 2.5 * n_sites
    assert len(shuffled.start) < 15 * n_sites
