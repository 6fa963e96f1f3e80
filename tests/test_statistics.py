import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.output.builders import Graph, graphs, linked
from timme import theory
from timme.hierarchy import Hierarchy, link
from timme.statistics import _bandwidth, curves, inflection, long_lived, suggest

SIZES = (1, 2, 3, 4, 5)


@given(graphs(), st.integers(1, 6))
def test_every_curve_agrees_with_the_slow_reference(graph: Graph, large: int) -> None:
    counted = curves(linked(graph), large=large, sizes=SIZES)
    for k, cutoff in enumerate(counted.cutoffs):
        expected = naive.statistics(naive.labels(*graph, float(cutoff)), large, SIZES)
        assert counted.n_clusters[k] == expected["n_clusters"]
        assert counted.largest[k] == expected["largest"]
        assert counted.mean_size[k] == pytest.approx(expected["mean_size"], rel=1e-14)
        assert counted.size_fractions[:, k] == pytest.approx(
            [expected["fraction_of_size"][r] for r in SIZES], rel=1e-14
        )
        assert counted.large_fraction[k] == pytest.approx(expected["fraction_at_least"], rel=1e-14)
        assert counted.largest_fraction[k] == pytest.approx(expected["largest_fraction"])


@given(graphs(), st.lists(st.floats(-2, 10), max_size=5))
def test_curves_at_given_cutoffs_are_those_of_the_cut(graph: Graph, cutoffs: list[float]) -> None:
    hierarchy = linked(graph)
    counted = curves(hierarchy, cutoffs=cutoffs)
    sizes = [hierarchy.cut(cutoff).sizes for cutoff in cutoffs]
    assert counted.cutoffs.tolist() == cutoffs
    assert counted.n_clusters.tolist() == [len(size) for size in sizes]
    assert counted.largest.tolist() == [size[0] for size in sizes]


@given(graphs())
def test_fractions_add_up_and_clusters_only_grow(graph: Graph) -> None:
    n_sites = graph[0]
    counted = curves(linked(graph), large=4, sizes=range(1, n_sites + 1))
    assert counted.size_fractions.sum(axis=0) == pytest.approx(1)
    assert counted.size_fractions[3:].sum(axis=0) == pytest.approx(counted.large_fraction)
    for growing in (counted.largest, counted.mean_size, counted.large_fraction):
        assert (np.diff(growing) >= 0).all()
    assert (np.diff(counted.n_clusters) < 0).all()
    assert counted.n_clusters[0] == n_sites
    assert counted.cutoffs[0] == -np.inf


def test_a_pair_counts_at_a_cutoff_that_is_its_own_height() -> None:
    bodies = [[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 2], [9, 9, 2, 0]]
    counted = curves(link(bodies), cutoffs=[0.5, 1, 2, 4.9, 5])
    assert counted.n_clusters.tolist() == [4, 3, 2, 2, 1]
    assert counted.largest.tolist() == [1, 2, 2, 2, 4]


def test_results_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        curves(link([[0, 1], [1, 0]])).largest[0] = 7


@pytest.mark.parametrize(("large", "sizes"), [(0, (1,)), (10, (0, 1))])
def test_sizes_start_at_one(large: int, sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="start at 1"):
        curves(link([[0, 1], [1, 0]]), large=large, sizes=sizes)


def test_a_cutoff_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="got nan"):
        curves(link([[0, 1], [1, 0]]), cutoffs=[0.1, np.nan])


def chain(n_links: int, seed: int) -> Hierarchy:
    """Links of a freely-jointed chain: neighbours with the paper's σ of two snapshots."""
    lengths = 2 * np.sqrt(np.random.default_rng(seed).random((2, n_links - 1)))
    sigmas = np.abs(lengths[0] - lengths[1]) / 2
    return linked((n_links, [(k, k + 1) for k in range(n_links - 1)], sigmas.tolist()))


def test_the_steepest_rise_of_a_chain_is_where_theory_has_it() -> None:
    grid = np.linspace(0.2, 0.9, 7001)
    slope = np.gradient(theory.tail_fraction(theory.join_probability(grid)), grid)
    expected = grid[slope.argmax()]
    found = [inflection(curves(chain(10_000, seed))) for seed in range(8)]
    # The slope is flat at its top: 0.05 off it is 5 % less, below the noise of one chain.
    assert found == pytest.approx([expected] * 8, abs=0.05)


@pytest.mark.parametrize(
    ("places", "weights", "spread", "count"),
    [
        # s is the interquartile range / 1.34, from 2 to 6: one place is far away from all others.
        ([0, 1, 2, 3, 4, 5, 6, 7, 80], [1] * 9, 4 / 1.34, 9),
        # s is the standard deviation, which is less than 2 / 1.34.
        ([-1, -1, 1, 1], [1] * 4, 1.0, 4),
        # Of unequal steps there are (Σ h)² / Σ h².
        ([0, 3], [2, 1], 2**0.5, 9 / 5),
    ],
    ids=["quartiles", "deviation", "weights"],
)
def test_steps_are_blurred_by_the_published_rule(
    places: list[float], weights: list[float], spread: float, count: float
) -> None:
    """Silverman 1986, eq. 3.31: 0.9 A n^(-1/5) with A the smaller of both measures of spread."""
    found = _bandwidth(np.array(places, dtype=float), np.array(weights, dtype=float))
    assert found == pytest.approx(0.9 * spread / count**0.2, rel=1e-14)


def test_one_step_is_its_own_inflection() -> None:
    assert inflection(curves(linked((3, [(0, 1), (1, 2)], [0.5, 0.5])), large=3)) == 0.5


def test_the_higher_of_two_steps_far_apart_is_the_inflection() -> None:
    pairs = [(0, 1), (2, 3), (3, 4), (4, 5), (5, 6), (1, 2)]
    hierarchy = linked((7, pairs, [1.0, 5.0, 5.0, 5.0, 5.0, 9.0]))
    assert inflection(curves(hierarchy, large=2)) == pytest.approx(5, abs=0.3)


def test_steps_that_rounding_alone_keeps_apart_are_one() -> None:
    level = 0.25
    heights = np.array([level, np.nextafter(level, 1.0), np.nextafter(level, 1.0)])
    hierarchy = Hierarchy(np.array([4, 4, 5, 5, 6, 6, -1]), heights)
    assert inflection(curves(hierarchy, large=2)) == pytest.approx(level, rel=1e-15)


def test_without_large_clusters_there_is_no_inflection() -> None:
    assert inflection(curves(linked((4, [(0, 1)], [1.0])), large=3)) is None


def test_stray_sites_do_not_end_the_life_of_clusters() -> None:
    # Two bodies of three from 1 on; site 6 joins the first at 2; the bodies join at 8.
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (2, 6), (6, 3)]
    hierarchy = linked((7, pairs, [1.0, 1.0, 1.0, 1.0, 2.0, 8.0]))
    assert long_lived(hierarchy, min_size=3).tolist() == [[1.0, 8.0]]


@given(graphs())
def test_long_lived_ranges_keep_the_number_of_clusters(graph: Graph) -> None:
    hierarchy = linked(graph)
    ranges = long_lived(hierarchy, min_size=2, count=100)
    assert (np.diff(ranges[:, 1] - ranges[:, 0]) <= 0).all()
    for low, high in ranges:
        inside = hierarchy.levels[(hierarchy.levels >= low) & (hierarchy.levels < high)]
        counts = {int((hierarchy.cut(cutoff).sizes >= 2).sum()) for cutoff in inside}
        assert len(counts) == 1


@given(graphs())
def test_suggestions_lie_within_the_levels_and_say_why(graph: Graph) -> None:
    hierarchy = linked(graph)
    found = suggest(hierarchy, large=3, min_size=2)
    assert bool(found) == bool(len(hierarchy.levels))
    for suggestion in found:
        assert hierarchy.levels[0] <= suggestion.cutoff <= hierarchy.levels[-1]
        assert suggestion.reason


def test_a_long_lived_partition_is_suggested_in_the_middle_of_its_life() -> None:
    """Pairs from 1 on, halves from 3 to 11, then all: halves are seen at 7."""
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7), (1, 2), (5, 6), (3, 4)]
    hierarchy = linked((8, pairs, [1.0] * 4 + [3.0] * 2 + [11.0]))
    found = suggest(hierarchy, large=9, min_size=2)
    assert [(one.cutoff, one.reason) for one in found] == [
        (7.0, "the same 2 clusters of 2 or more from 3 to 11"),
        (2.0, "the same 4 clusters of 2 or more from 1 to 3"),
    ]
