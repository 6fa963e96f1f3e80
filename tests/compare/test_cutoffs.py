import itertools
import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import timme
from tests.compare.reference import close, clusters_of, naive_rand, naive_variation, two_graphs
from tests.output.builders import Graph, graphs, linked, random_graph
from timme import synthetic
from timme.compare import Overlap, compare, overlap
from timme.hierarchy import Hierarchy, Partition, cluster
from timme.objects import points
from timme.pairs import all as all_pairs


def test_the_module_is_called_as_its_function_is() -> None:
    bodies = timme.link([[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]])
    called = getattr(timme, "compare")(bodies, [0, 0, 1, 1], min_size=2)  # noqa: B009, of a module
    np.testing.assert_array_equal(called.rand, compare(bodies, [0, 0, 1, 1], min_size=2).rand)
    assert timme.compare.compare is compare


def test_two_results_are_compared_on_the_sites_that_both_show() -> None:
    coordinates = np.random.default_rng(3).normal(size=(6, 12, 3))
    first = timme.analyse(coordinates, confidence=False)
    second = timme.analyse(coordinates[:, :9], confidence=False)
    found = compare(first, second)
    kept = np.arange(9)  # unnamed sites are the same by their place
    np.testing.assert_array_equal(
        found.rand, compare(first.shown_hierarchy.restrict(kept), second.shown_hierarchy).rand
    )
    assert found.n_sites == len(kept)
    assert "9 sites are in both: 9 of 12 in the first, all of 9 in the second" in found.notes


def test_a_result_is_compared_with_labels_as_what_it_shows() -> None:
    analysis = timme.analyse(np.random.default_rng(3).normal(size=(6, 12, 3)), confidence=False)
    labels = [0] * 6 + [1] * 6
    np.testing.assert_array_equal(
        compare(analysis, labels).rand, compare(analysis.shown_hierarchy, labels).rand
    )


@given(two_graphs())
def test_every_pair_of_cutoffs_is_that_of_the_cuts(given: tuple[Graph, Graph]) -> None:
    one, other = map(linked, given)
    found = compare(one, other)
    assert found.first_cutoffs.tolist() == [-np.inf, *one.levels.tolist()]
    assert found.second_cutoffs.tolist() == [-np.inf, *other.levels.tolist()]
    for i, first in enumerate(found.first_cutoffs):
        for j, second in enumerate(found.second_cutoffs):
            labels = one.cut(first).labels.tolist(), other.cut(second).labels.tolist()
            assert found.rand[i, j] == close(naive_rand(*labels))
            assert found.variation[i, j] == close(naive_variation(*labels))


@given(two_graphs(), st.integers(1, 3), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.2]))
def test_the_best_pair_is_the_first_of_the_highest_that_count(
    given: tuple[Graph, Graph], min_size: int, clustered: float, outside: float
) -> None:
    one, other = map(linked, given)
    found = compare(one, other, min_size=min_size, clustered=clustered, outside=outside)

    def counts(hierarchy: Hierarchy, cutoff: float) -> bool:
        sizes = hierarchy.cut(cutoff).sizes.tolist()
        n_sites = sum(sizes)
        enough = sum(r for r in sizes if r >= min_size) > clustered * n_sites
        return bool(enough and n_sites - max(sizes) > outside * n_sites)

    counted = [
        (i, j)
        for i, first in enumerate(found.first_cutoffs)
        for j, second in enumerate(found.second_cutoffs)
        if counts(one, first) and counts(other, second)
    ]
    assume(counted)
    assert found.best == max(counted, key=lambda place: round(float(found.rand[place]), 9))
    assert found.notes == ()
    assert found.clusters.rand == close(found.rand[found.best])
    assert (found.clusters.first.cutoff, found.clusters.second.cutoff) == found.best_cutoffs
    for place, hierarchy, cutoff, (low, high) in zip(
        found.best, (one, other), found.best_cutoffs, found.ranges, strict=True
    ):
        levels = [-np.inf, *hierarchy.levels.tolist(), np.inf]
        assert (low, high) == (levels[place], levels[place + 1])
        assert low <= cutoff < high


@pytest.mark.parametrize(
    ("size", "counts"),
    [(25, False), (26, True), (94, True), (95, False)],
    ids=["a quarter", "more than a quarter", "more than a twentieth outside", "a twentieth"],
)
def test_a_cutoff_counts_with_a_quarter_in_clusters_and_a_twentieth_outside(
    size: int, counts: bool
) -> None:
    """Of 100 sites, some join at 1, and all of them at 2."""
    chain = [(k, k + 1) for k in range(99)]
    one = linked((100, chain, [1.0] * (size - 1) + [2.0] * (100 - size)))
    found = compare(one, one)
    assert (found.notes == ()) is counts
    assert found.best == (1, 1)


def test_strays_and_first_pairs_are_not_the_best() -> None:
    # Two bodies of 12 sites in both but for one; the same stray last, the same three sites first.
    pairs = [(k, k + 1) for k in range(24)]
    first = linked((25, pairs, [0.1] * 2 + [2.0] * 9 + [7.0] + [2.0] * 11 + [9.0]))
    second = linked((25, pairs, [0.1] * 2 + [3.0] * 10 + [6.0] + [3.0] * 10 + [9.0]))
    found = compare(first, second)
    assert found.rand[1, 1] == found.rand[-2, -2] == 1
    assert 0.5 < found.rand[found.best] < 1
    assert found.best_cutoffs == (4.5, 4.5)
    assert found.ranges == ((2.0, 7.0), (3.0, 6.0))
    assert found.clusters.second.sizes.tolist() == [13, 11, 1]


def test_where_no_cutoff_counts_it_is_said() -> None:
    found = compare(linked((3, [(0, 1), (1, 2)], [1.0, 2.0])), linked((3, [], [])), min_size=3)
    assert len(found.notes) == 2
    assert "the second has no cutoff with more than 25%" in found.notes[1]
    assert found.best == (1, 0)  # neither all single nor one cluster, where there is a choice


@given(two_graphs())
def test_swapping_hierarchies_transposes_the_grid(given: tuple[Graph, Graph]) -> None:
    one, other = map(linked, given)
    forth, back = compare(one, other), compare(other, one)
    assert np.array_equal(forth.rand, back.rand.T)
    assert forth.variation == pytest.approx(back.variation.T, abs=1e-12)


@given(graphs())
def test_a_hierarchy_agrees_with_itself(graph: Graph) -> None:
    hierarchy = linked(graph)
    found = compare(hierarchy, hierarchy)
    assert (np.diag(found.rand) == 1).all()
    assert (np.diag(found.variation) == 0).all()
    assert found.rand[found.best] == 1


@given(two_graphs(), st.integers(0, 8))
def test_a_partition_has_one_cutoff(given: tuple[Graph, Graph], cutoff: int) -> None:
    one, other = map(linked, given)
    whole = compare(one, other)
    partition = other.cut(cutoff)
    column = np.searchsorted(whole.second_cutoffs, cutoff, side="right") - 1
    for form in (partition, partition.labels, (7 - partition.labels).tolist()):
        found = compare(one, form)
        assert found.rand.shape == (len(whole.first_cutoffs), 1)
        assert np.array_equal(found.rand[:, 0], whole.rand[:, column])
        assert found.clusters.second.labels.tolist() == partition.labels.tolist()
        assert np.array_equal(compare(form, one).rand, found.rand.T)
    assert compare(one, partition).second_cutoffs.tolist() == [float(cutoff)]
    both = compare(one.cut(cutoff), partition)
    assert both.rand.shape == (1, 1)
    assert both.notes == ()


@pytest.mark.parametrize("cutoff", [np.inf, -np.inf, np.nan])
def test_a_partition_may_have_any_cutoff(cutoff: float) -> None:
    found = compare(Partition(np.array([0, 0, 1]), cutoff), [0, 1, 1])
    assert found.rand[0, 0] == close(naive_rand([0, 0, 1], [0, 1, 1]))


@given(two_graphs(), st.randoms(use_true_random=False), st.data())
def test_common_sites_are_compared_alone(
    given: tuple[Graph, Graph], shuffle: random.Random, data: st.DataObject
) -> None:
    one, other = map(linked, given)
    sites = list(range(one.n_sites))
    shuffle.shuffle(sites)
    sites = sites[: data.draw(st.integers(1, len(sites)))]
    found = compare(one.restrict(sites), other.restrict(sites))
    for first in one.levels:
        for second in other.levels:
            i = np.searchsorted(found.first_cutoffs, first, side="right") - 1
            j = np.searchsorted(found.second_cutoffs, second, side="right") - 1
            labels = one.cut(first).labels[sites], other.cut(second).labels[sites]
            assert found.rand[i, j] == close(naive_rand(*(x.tolist() for x in labels)))


def test_cutoffs_may_be_chosen() -> None:
    one, other = linked(random_graph(60, 1)), linked(random_graph(60, 2))
    best = compare(one, other)
    chosen = compare(one, other, cutoffs=(0.04, None))
    assert chosen.best == best.best
    assert chosen.clusters.first.cutoff == 0.04
    assert chosen.clusters.second.cutoff == best.best_cutoffs[1]
    assert chosen.clusters.rand == close(
        naive_rand(one.cut(0.04).labels.tolist(), other.cut(best.best_cutoffs[1]).labels.tolist())
    )


def test_many_levels_are_thinned_evenly() -> None:
    one, other = linked(random_graph(300, 1)), linked(random_graph(300, 2))
    found = compare(one, other, most=20)
    assert found.rand.shape == (20, 20)
    assert found.first_cutoffs[[1, -1]].tolist() == one.levels[[0, -1]].tolist()
    ranks = np.searchsorted(one.levels, found.first_cutoffs[1:])
    assert np.ptp(np.diff(ranks)) <= 1
    for i, j in itertools.product((3, 9, 15), (2, 8, 17)):
        labels = one.cut(found.first_cutoffs[i]), other.cut(found.second_cutoffs[j])
        assert found.rand[i, j] == close(overlap(*labels).rand)
        assert found.variation[i, j] == close(overlap(*labels).variation)


@pytest.mark.parametrize("wrong", [{"most": 1}, {"clustered": -0.1}, {"outside": 1.0}])
def test_choices_without_meaning_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a comparison needs"):
        compare([0, 1], [0, 1], **wrong)


@pytest.mark.thorough
def test_a_thousand_cutoffs_of_each_take_seconds() -> None:
    one, other = linked(random_graph(2000, 1)), linked(random_graph(2000, 2))
    start = time.process_time()
    found = compare(one, other)
    assert time.process_time() - start < 20  # and less than 2 where nobody else works
    assert found.rand.shape == (1000, 1000)


def test_planted_bodies_are_found_again_in_other_snapshots() -> None:
    runs = [synthetic.hinged(4, 12, 60, seed=seed) for seed in (1, 1)]
    halves = [runs[0].ensemble, runs[1].ensemble]
    hierarchies = []
    for ensemble, frames in zip(halves, (slice(0, 30), slice(30, 60)), strict=True):
        array = ensemble.frames.read(0, 60)[0][frames]
        objects = points(type(ensemble).from_array(array))
        hierarchies.append(cluster(objects, all_pairs(objects)))
    found = compare(*hierarchies)
    planted = runs[0].labels[0].tolist()
    assert found.clusters.rand == 1
    assert clusters_of(found.clusters.first.labels.tolist()) == clusters_of(planted)
    assert found.clusters.partners.tolist() == [0, 1, 2, 3]


def test_single_sites_and_wholes_are_defined() -> None:
    alone = compare(linked((1, [], [])), linked((1, [], [])))
    assert alone.rand.tolist() == [[1.0]]
    assert alone.best == (0, 0)
    assert alone.best_cutoffs == (-np.inf, -np.inf)
    joined = linked((3, [(0, 1), (1, 2)], [1.0, 1.0]))
    both = compare(joined, joined)
    assert both.rand.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert len(both.notes) == 2


def test_other_numbers_of_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="got 1 and 2"):
        compare(linked((1, [], [])), [0, 0])


def test_results_cannot_be_changed() -> None:
    found = compare([0, 0, 1], [0, 1, 1])
    overlapping: Overlap = found.clusters
    for array in (found.rand, found.variation, overlapping.partners, overlapping.jaccard):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("min_size", [0, -1])
def test_a_size_that_no_cluster_has_is_refused(min_size: int) -> None:
    for made in (compare, overlap):
        with pytest.raises(ValueError, match=f"min_size must be at least 1, got {min_size}"):
            made([0, 0, 1], [0, 1, 1], min_size=min_size)
