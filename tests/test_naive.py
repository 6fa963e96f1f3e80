"""Cases worked out by hand that pin the slow reference itself."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from tests import naive

Floats = npt.NDArray[np.float64]

NAN = math.nan
INF = math.inf
ROOT3 = math.sqrt(3)


def on_a_line(*snapshots: list[float]) -> Floats:
    """Snapshots of sites on a line: (frames, sites, 1)."""
    return np.array(snapshots, dtype=np.float64)[..., np.newaxis]


# Distances


def test_distance_is_euclidean_in_any_dimension() -> None:
    assert naive.distance([1], [-2]) == 3
    assert naive.distance([0, 0], [3, 4]) == 5
    assert naive.distance([1, 1, 1], [2, 3, 3]) == 3
    assert naive.distance([0] * 9, [1] * 9) == 3


def test_a_box_takes_the_nearest_image() -> None:
    box = np.diag([10.0, 8.0, 6.0])
    assert naive.distance([1, 1, 1], [9, 1, 1], box) == pytest.approx(2)
    assert naive.distance([0, 0, 0], [5, 4, 3], box) == pytest.approx(math.sqrt(50))
    assert naive.distance([0, 0, 0], [9, 7, 5], box) == pytest.approx(ROOT3)
    assert naive.distance([0, 0, 0], [31, -15, 60], box) == pytest.approx(math.sqrt(2))


def test_a_skewed_box_needs_more_than_wrapping() -> None:
    # (f, g) in the vectors of this box is a point at a distance of sqrt(f² + g² + fg). Both
    # (0.45, 0.45) and its image (-0.55, 0.45) are near the origin; wrapping stops at the first.
    box = np.array([[1.0, 0.0], [0.5, ROOT3 / 2]])
    position = 0.45 * box[0] + 0.45 * box[1]
    assert math.hypot(*position) == pytest.approx(math.sqrt(0.6075))
    assert naive.distance([0, 0], position, box) == pytest.approx(math.sqrt(0.2575))


def test_a_very_skewed_box_is_the_lattice_it_spans() -> None:
    # The rows (1, 0) and (5.5, 1) span the same lattice as (1, 0) and (0.5, 1).
    skewed = np.array([[1.0, 0.0], [5.5, 1.0]])
    reduced = np.array([[1.0, 0.0], [0.5, 1.0]])
    for position in ([0.25, 0.5], [0.0, 0.5], [0.7, 0.45], [3.3, -2.4]):
        assert naive.distance([0, 0], position, skewed) == pytest.approx(
            naive.distance([0, 0], position, reduced)
        )
    assert naive.distance([0, 0], [0.25, 0.5], skewed) == pytest.approx(math.sqrt(0.3125))


# Fluctuations


def test_sigma_is_the_population_standard_deviation() -> None:
    assert naive.sigma([1, 3]) == 1
    assert naive.sigma([2, 4, 4, 4, 5, 5, 7, 9]) == 2
    assert naive.sigma([7.5]) == 0
    assert math.isnan(naive.sigma([]))


def test_sigma_of_two_snapshots_is_half_the_difference() -> None:
    assert naive.sigma([1.25, 0.5]) == 0.375
    assert naive.pair_sigma(on_a_line([0, 3], [10, 8]), 0, 1) == (0.5, 2)


def test_sigma_keeps_its_digits_far_from_zero() -> None:
    assert naive.sigma([1e8, 1e8 + 1]) == 0.5


def test_weights_count_as_repetitions() -> None:
    assert naive.sigma([0, 4], [3, 1]) == pytest.approx(naive.sigma([0, 0, 0, 4]))
    assert naive.sigma([0, 4], [3, 1]) == pytest.approx(ROOT3)
    assert naive.sigma([0, 4], [0.75, 0.25]) == pytest.approx(ROOT3)
    assert naive.sigma([0, 4, 99], [1, 1, 0]) == 2
    assert math.isnan(naive.sigma([0, 4], [0, 0]))


def test_pairs_are_measured_where_both_are_seen() -> None:
    snapshots = on_a_line([0, 1, NAN], [0, NAN, 5], [0, 3, 7])
    assert naive.pair_distances(snapshots, 0, 1) == ([1, 3], [0, 2])
    assert naive.pair_sigma(snapshots, 0, 1) == (1, 2)
    assert naive.pair_sigma(snapshots, 0, 2) == (1, 2)
    assert naive.pair_sigma(snapshots, 1, 2) == (0, 1)


def test_one_missing_coordinate_is_a_missing_site() -> None:
    snapshots = np.array([[[0.0, 0.0], [1.0, NAN]], [[0.0, 0.0], [3.0, 4.0]]])
    assert naive.pair_distances(snapshots, 0, 1) == ([5], [1])


def test_pairs_never_seen_together_have_no_sigma() -> None:
    sigma, n_common = naive.pair_sigma(on_a_line([0, NAN], [NAN, 1]), 0, 1)
    assert math.isnan(sigma)
    assert n_common == 0


def test_weights_follow_the_snapshots_across_gaps() -> None:
    snapshots = on_a_line([0, 0], [0, NAN], [0, 4])
    assert naive.pair_sigma(snapshots, 0, 1, weights=[3, 50, 1])[0] == pytest.approx(ROOT3)


def test_each_snapshot_has_its_own_box() -> None:
    snapshots = on_a_line([0, 9], [0, 9])
    boxes = np.array([[[10.0]], [[12.0]]])
    assert naive.pair_distances(snapshots, 0, 1, boxes)[0] == pytest.approx([1, 3])
    assert naive.pair_sigma(snapshots, 0, 1, boxes=boxes)[0] == pytest.approx(1)


# Objects


def test_objects_are_reduced_over_all_cross_pairs() -> None:
    # Sites 0 and 1 are still, site 2 moves by 2, site 3 by 6: sigmas 1 and 3.
    snapshots = on_a_line([0, 1, 10, 20], [0, 1, 12, 26])
    assert naive.object_sigma(snapshots, [0], [3]) == 3
    assert naive.object_sigma(snapshots, [0, 1], [2, 3]) == pytest.approx(math.sqrt(5))
    assert naive.object_sigma(snapshots, [0, 1], [2, 3], reduction="max") == 3
    assert naive.object_sigma(snapshots, [2], [0, 1, 3]) == pytest.approx(math.sqrt(2))


def test_a_shared_site_counts_zero() -> None:
    # Cross pairs 0-1: 1, 0-2: 3, 1-1: 0, 1-2: 2.
    snapshots = on_a_line([0, 10, 20], [0, 12, 26])
    assert naive.object_sigma(snapshots, [0, 1], [1, 2]) == pytest.approx(math.sqrt(14 / 4))
    assert naive.object_sigma(snapshots, [0, 1], [1, 2], reduction="max") == 3


def test_a_pair_declared_rigid_counts_zero() -> None:
    snapshots = on_a_line([0, 10, 20], [0, 12, 26])
    rigid = {frozenset((0, 1)), frozenset((1, 2))}
    assert naive.object_sigma(snapshots, [0, 1], [1, 2], rigid=rigid) == pytest.approx(1.5)


def test_objects_pass_on_weights_and_boxes() -> None:
    snapshots = on_a_line([0, 0], [0, 8])
    boxes = np.full((2, 1, 1), 12.0)
    sigma = naive.object_sigma(snapshots, [0], [1], weights=[3, 1], boxes=boxes)
    assert sigma == pytest.approx(ROOT3)


@pytest.mark.parametrize("reduction", ["rms", "max"])
def test_objects_with_a_pair_never_seen_together_are_unknown(
    reduction: Literal["rms", "max"],
) -> None:
    snapshots = on_a_line([0, NAN, 9], [NAN, 1, 9])
    for members in ([1, 2], [2, 1]):
        assert math.isnan(naive.object_sigma(snapshots, [0], members, reduction=reduction))


def test_links_are_compared_by_their_far_ends() -> None:
    # A right angle that opens to a straight one: far ends at sqrt(2), then 2.
    bent = [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    straight = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]
    snapshots = np.array([bent, straight])
    expected = pytest.approx(1 - math.sqrt(0.5))
    assert naive.link_sigma(snapshots, (0, 1), (1, 2)) == expected
    assert naive.link_sigma(snapshots, (1, 0), (2, 1)) == expected


def test_links_are_the_largest_cross_pair_and_twice_the_rms() -> None:
    snapshots = np.random.default_rng(1).normal(size=(5, 3, 3))
    far_ends = naive.link_sigma(snapshots, (0, 1), (1, 2))
    rigid = {frozenset((0, 1)), frozenset((1, 2))}
    largest = naive.object_sigma(snapshots, (0, 1), (1, 2), reduction="max", rigid=rigid)
    rms = naive.object_sigma(snapshots, (0, 1), (1, 2), rigid=rigid)
    assert largest == far_ends
    assert rms == pytest.approx(far_ends / 2)


@pytest.mark.parametrize("other", [(2, 3), (0, 1), (1, 0)])
def test_links_need_one_joint_in_common(other: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="share one joint"):
        naive.link_sigma(np.zeros((2, 4, 3)), (0, 1), other)


# Pairs


def test_contacts_reach_up_to_and_with_the_radius() -> None:
    snapshots = on_a_line([0, 1, 2.5, 10])
    assert naive.contacts(snapshots, 0.99) == []
    assert naive.contacts(snapshots, 1) == [(0, 1)]
    assert naive.contacts(snapshots, 2.5) == [(0, 1), (0, 2), (1, 2)]


def test_contacts_are_counted_over_snapshots() -> None:
    snapshots = on_a_line([0, 1, 9], [0, 1, 2], [0, 9, NAN])
    assert naive.contacts(snapshots, 1) == [(0, 1), (1, 2)]
    assert naive.contacts(snapshots, 1, at_least=2) == [(0, 1)]
    assert naive.contacts(snapshots, 1, at_least=3) == []


def test_contacts_see_through_the_box() -> None:
    snapshots = on_a_line([0, 9.5])
    assert naive.contacts(snapshots, 1) == []
    assert naive.contacts(snapshots, 1, boxes=np.array([[[10.0]]])) == [(0, 1)]


def test_nearest_is_one_way_or_the_other() -> None:
    # 3 is nobody's nearest, but its own nearest is 2.
    (line,) = on_a_line([0, 1, 2.5, 10])
    assert naive.nearest(line, 1) == {(0, 1), (1, 2), (2, 3)}
    assert naive.nearest(line, 2) == {(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)}
    assert len(naive.nearest(line, 3)) == len(naive.nearest(line, 9)) == 6


def test_nearest_breaks_ties_by_the_lower_index() -> None:
    # Site 2 lies halfway between 0 and 1, and each of these has a nearer neighbour of its own.
    (line,) = on_a_line([-2, 2, 0, -3, 3])
    assert naive.nearest(line, 1) == {(0, 2), (0, 3), (1, 4)}
    (mirrored,) = on_a_line([2, -2, 0, -3, 3])
    assert naive.nearest(mirrored, 1) == {(0, 2), (1, 3), (0, 4)}


def test_nearest_leaves_out_the_unseen_and_sees_through_the_box() -> None:
    (line,) = on_a_line([0, 4, NAN, 9])
    assert naive.nearest(line, 1) == {(0, 1), (1, 3)}
    assert naive.nearest(line, 1, np.array([[10.0]])) == {(0, 3), (0, 1)}


def test_bond_separation_takes_the_shortest_path() -> None:
    # A ring 0-1-2-3-4-5 with a tail 3-6, and a site 7 by itself.
    bonds = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (6, 3)]
    expected = [
        [0, 1, 2, 3, 2, 1, 4, INF],
        [1, 0, 1, 2, 3, 2, 3, INF],
        [2, 1, 0, 1, 2, 3, 2, INF],
        [3, 2, 1, 0, 1, 2, 1, INF],
        [2, 3, 2, 1, 0, 1, 2, INF],
        [1, 2, 3, 2, 1, 0, 3, INF],
        [4, 3, 2, 1, 2, 3, 0, INF],
        [INF, INF, INF, INF, INF, INF, INF, 0],
    ]
    np.testing.assert_array_equal(naive.bond_separation(8, bonds), expected)


# Hierarchies: a tree with a tie, and a forest

TREE = [(0, 1), (1, 2), (3, 4), (2, 3), (0, 2)]
TREE_SIGMAS = [0.1, 0.2, 0.2, 0.5, 0.3]
FOREST = [(4, 5), (1, 3), (0, 1)]
FOREST_SIGMAS = [0.0, 0.7, 0.4]


def sets(*members: set[int]) -> list[frozenset[int]]:
    return [frozenset(cluster) for cluster in members]


@pytest.mark.parametrize(
    ("cutoff", "expected"),
    [
        (0.0, [{0}, {1}, {2}, {3}, {4}]),
        (0.1, [{0, 1}, {2}, {3}, {4}]),
        (0.199, [{0, 1}, {2}, {3}, {4}]),
        (0.2, [{0, 1, 2}, {3, 4}]),
        (0.4, [{0, 1, 2}, {3, 4}]),
        (0.5, [{0, 1, 2, 3, 4}]),
    ],
)
def test_clusters_join_all_that_is_within_the_cutoff(
    cutoff: float, expected: list[set[int]]
) -> None:
    assert naive.clusters(5, TREE, TREE_SIGMAS, cutoff) == sets(*expected)


def test_a_perfectly_rigid_pair_is_joined_at_zero() -> None:
    assert naive.clusters(2, [(0, 1)], [0.0], 0.0) == sets({0, 1})


def test_clusters_of_a_forest_never_meet() -> None:
    assert naive.clusters(6, FOREST, FOREST_SIGMAS, INF) == sets({0, 1, 3}, {2}, {4, 5})


def test_an_unknown_sigma_never_joins() -> None:
    assert naive.clusters(2, [(0, 1)], [NAN], INF) == sets({0}, {1})
    assert naive.levels([NAN], 2, [(0, 1)]) == []


def test_pairs_may_be_an_array_in_any_order() -> None:
    pairs = np.array(TREE)[::-1, ::-1]
    sigmas = np.array(TREE_SIGMAS)[::-1]
    assert naive.clusters(5, pairs, sigmas, 0.2) == sets({0, 1, 2}, {3, 4})
    assert naive.site_order(5, pairs, sigmas) == naive.site_order(5, TREE, TREE_SIGMAS)


def test_labels_count_from_the_largest_and_then_the_lowest_site() -> None:
    assert naive.labels(5, TREE, TREE_SIGMAS, 0.2) == [0, 0, 0, 1, 1]
    assert naive.labels(5, TREE, TREE_SIGMAS, 0.0) == [0, 1, 2, 3, 4]
    assert naive.labels(6, FOREST, FOREST_SIGMAS, 0.0) == [1, 2, 3, 4, 0, 0]
    assert naive.labels(6, FOREST, FOREST_SIGMAS, 0.4) == [0, 0, 2, 3, 1, 1]


def test_levels_are_the_cutoffs_that_change_something() -> None:
    # 0.3 only closes a triangle.
    assert naive.levels(TREE_SIGMAS, 5, TREE) == [0.1, 0.2, 0.5]
    assert naive.levels(FOREST_SIGMAS, 6, FOREST) == [0.0, 0.4, 0.7]
    assert naive.levels([], 3, []) == []


def test_site_order_puts_the_larger_part_first_at_every_splitting() -> None:
    # {3, 4} and {0, 1, 2} part at 0.5; within each the lowest site leads on a tie.
    assert naive.site_order(5, TREE, TREE_SIGMAS) == [0, 1, 2, 3, 4]
    # The same tree with the sites renamed 4, 3, 2, 1, 0.
    mirrored = [(4 - i, 4 - j) for i, j in TREE]
    assert naive.site_order(5, mirrored, TREE_SIGMAS) == [3, 4, 2, 0, 1]


def test_site_order_keeps_an_early_large_part_in_front_when_it_later_crumbles() -> None:
    # {1, 2, 3} splits into single sites at 0.8; {0, 4} holds down to 0.1. At 0.5 the larger
    # cluster {0, 4} stands to the right of single sites, as the paper says it may.
    pairs = [(1, 2), (2, 3), (0, 4), (3, 4)]
    assert naive.site_order(5, pairs, [0.8, 0.8, 0.1, 0.9]) == [1, 2, 3, 0, 4]


def test_site_order_splits_equal_sigmas_at_once() -> None:
    # {0, 5}, {1, 4} and {2, 3, 6} are held together by two pairs of one sigma: three parts.
    pairs = [(0, 5), (1, 4), (2, 3), (2, 6), (5, 1), (4, 3)]
    assert naive.site_order(7, pairs, [0.1, 0.1, 0.1, 0.1, 0.6, 0.6]) == [2, 3, 6, 0, 5, 1, 4]


def test_site_order_of_a_forest_begins_with_the_largest_tree() -> None:
    # {0, 1, 3}, then {4, 5}, then 2; within the first {0, 1} holds longer than 3.
    assert naive.site_order(6, FOREST, FOREST_SIGMAS) == [0, 1, 3, 4, 5, 2]


def test_cophenetic_is_the_height_of_the_first_meeting() -> None:
    expected = [
        [0.0, 0.1, 0.2, 0.5, 0.5],
        [0.1, 0.0, 0.2, 0.5, 0.5],
        [0.2, 0.2, 0.0, 0.5, 0.5],
        [0.5, 0.5, 0.5, 0.0, 0.2],
        [0.5, 0.5, 0.5, 0.2, 0.0],
    ]
    np.testing.assert_array_equal(naive.cophenetic(5, TREE, TREE_SIGMAS), expected)


def test_cophenetic_is_infinite_between_trees() -> None:
    height = naive.cophenetic(6, FOREST, FOREST_SIGMAS)
    assert height[4, 5] == 0
    assert height[0, 3] == 0.7
    assert height[0, 4] == height[2, 0] == INF
    assert height[2, 2] == 0


# Families and stripes: five sites split at 4, so that four others become the largest


CRUMBLES = (
    9,
    [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (4, 5)],
    [4.0, 4.0, 4.0, 4.0, 1.0, 1.0, 1.0, 6.0],
)
FIVE, FOUR = frozenset(range(5)), frozenset(range(5, 9))


def test_the_larger_part_stays_in_its_family_and_others_begin_one() -> None:
    whole = FIVE | FOUR
    assert naive.founders(*CRUMBLES, 6) == {whole: whole}
    assert naive.founders(*CRUMBLES, 4) == {FIVE: whole, FOUR: FOUR}
    singles = {frozenset({site}) for site in range(5)}
    below = naive.founders(*CRUMBLES, 2)
    assert below == {part: part for part in singles} | {FOUR: FOUR, frozenset({0}): whole}


def test_families_are_counted_by_size_and_then_from_the_left() -> None:
    whole = FIVE | FOUR
    ranked = naive.ranked_founders(*CRUMBLES)
    assert ranked == [whole, FOUR, *(frozenset({site}) for site in (1, 2, 3, 4, 6, 7, 8))]


@pytest.mark.parametrize(
    ("cutoff", "families"),
    [(6, [0]), (4, [0, 1]), (2, [1, 0, 2, 3, 4, 5]), (0, [0, 2, 3, 4, 5, 1, 6, 7, 8])],
)
def test_a_cluster_keeps_its_family_also_where_it_becomes_the_largest(
    cutoff: float, families: list[int]
) -> None:
    assert naive.families(*CRUMBLES, cutoff) == families


def test_families_are_neighbours_where_they_are_side_by_side_at_some_cutoff() -> None:
    # At 4 and above, 0 beside 1; below, the five apart: 0 2 3 4 5 1 1 1 1; at last 1 6 7 8 as well.
    pairs = [(0, 1), (0, 2), (2, 3), (3, 4), (4, 5), (5, 1), (1, 6), (6, 7), (7, 8)]
    expected = {*pairs, *((other, one) for one, other in pairs)}
    assert naive.family_neighbours(*CRUMBLES) == expected


def test_families_choose_what_their_neighbours_have_not_then_what_is_rare_then_the_first() -> None:
    assert naive.family_colours(*CRUMBLES, 8) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    # Of three: 4 is beside 3, so takes another than 3; 5 is beside 1 and 4; 6 is beside 1.
    assert naive.family_colours(*CRUMBLES, 3) == [0, 1, 2, 3, 1, 2, 3, 1, 2]
    assert naive.family_colours(*CRUMBLES, 3, {1: 3, 5: 0}, [2]) == [1, 3, 3, 1, 3, 0, 1, 3, 1]


def test_a_stripe_lasts_as_long_as_its_run_and_its_family() -> None:
    assert naive.stripes(*CRUMBLES, range(9), min_size=4) == [
        (0, 5, 4, 6, 0),
        (0, 9, 6, INF, 0),
        (5, 9, 1, 6, 1),
    ]


def test_a_cluster_is_several_stripes_where_others_lie_between_its_sites() -> None:
    graph = (3, [(0, 2), (1, 2)], [1.0, 5.0])  # 2 begins family 1, and 1, further right, family 2
    assert naive.stripes(*graph, range(3)) == [
        (0, 1, -INF, 5, 0),
        (0, 3, 5, INF, 0),
        (1, 2, -INF, 5, 2),
        (2, 3, -INF, 1, 1),
        (2, 3, 1, 5, 0),
    ]


# Statistics


def test_statistics_are_seen_by_the_sites() -> None:
    # Clusters of 3, 2 and 1 of 6 sites.
    statistics = naive.statistics([0, 0, 0, 1, 1, 2], large=2)
    assert statistics["n_clusters"] == 3
    assert statistics["largest"] == 3
    assert statistics["mean_size"] == pytest.approx((3 * 3 + 2 * 2 + 1) / 6)
    assert statistics["fraction_of_size"] == pytest.approx(
        {1: 1 / 6, 2: 2 / 6, 3: 3 / 6, 4: 0, 5: 0}
    )
    assert statistics["fraction_at_least"] == pytest.approx(5 / 6)
    assert statistics["largest_fraction"] == pytest.approx(1 / 2)


def test_large_is_ten_and_more_unless_said_otherwise() -> None:
    assert naive.statistics([0] * 10 + [1] * 9)["fraction_at_least"] == pytest.approx(10 / 19)
    assert naive.statistics([0] * 9 + [1])["fraction_at_least"] == 0


def test_sizes_are_those_asked_for() -> None:
    assert naive.statistics([0, 0, 0, 1], sizes=(3,))["fraction_of_size"] == {3: 0.75}
