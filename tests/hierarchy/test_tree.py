import itertools
import math
import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from tests import naive
from tests.strategies import PairList, moved_snapshots, pair_lists, searching, seeds, snapshots
from timme import objects, pairs
from timme._arrays import Floats
from timme.fluctuations import Fluctuations, measure
from timme.hierarchy import Hierarchy, Partition, Quantity, cluster, clustering, link
from timme.hierarchy.tree import grow
from timme.settings.values import Reduction
from timme.system.ensemble import Ensemble

MATRIX = np.array([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]])


def linked(listed: PairList) -> Hierarchy:
    common = np.full(len(listed.sigmas), 2)
    return link(Fluctuations(listed.n_sites, listed.pairs, listed.sigmas, common))


def cutoffs_of(hierarchy: Hierarchy) -> list[float]:
    """Below, at and between all levels, and above."""
    levels = hierarchy.levels
    between = (levels[1:] + levels[:-1]) / 2
    return [-math.inf, -1.0, *levels.tolist(), *between.tolist(), math.inf]


def same(first: Hierarchy, second: Hierarchy) -> bool:
    """Whether two hierarchies are equal to the last bit."""
    names = ("parents", "heights", "sizes", "starts", "order")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def clusters_of(labels: npt.NDArray[np.integer[Any]]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@st.composite
def sigma_matrices(draw: st.DrawFn) -> Floats:
    """Symmetric, with ties (whole numbers) or without."""
    n_sites = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(seeds))
    values = (
        rng.integers(0, 6, (n_sites, n_sites))
        if draw(st.booleans())
        else rng.random((n_sites,) * 2)
    )
    upper = np.triu(values.astype(np.float64), 1)
    return upper + upper.T


# Parity with the reference


@given(pair_lists())
def test_levels_agree_with_the_reference(listed: PairList) -> None:
    expected = naive.levels(listed.sigmas, listed.n_sites, listed.pairs)
    assert linked(listed).levels.tolist() == expected


@given(pair_lists())
def test_labels_at_every_cutoff_agree_with_the_reference(listed: PairList) -> None:
    hierarchy = linked(listed)
    for cutoff in cutoffs_of(hierarchy):
        partition = hierarchy.cut(cutoff)
        expected = naive.labels(listed.n_sites, listed.pairs, listed.sigmas, cutoff)
        assert partition.labels.tolist() == expected
        assert partition.sizes.tolist() == np.bincount(expected).tolist()
        assert partition.n_clusters == max(expected) + 1
        assert hierarchy.core(cutoff).tolist() == np.flatnonzero(np.array(expected) == 0).tolist()


@given(pair_lists())
def test_leaf_order_agrees_with_the_reference(listed: PairList) -> None:
    expected = naive.site_order(listed.n_sites, listed.pairs, listed.sigmas)
    assert linked(listed).order.tolist() == expected


@given(pair_lists())
def test_gaps_hold_the_cophenetic_heights(listed: PairList) -> None:
    hierarchy = linked(listed)
    expected = naive.cophenetic(listed.n_sites, listed.pairs, listed.sigmas)
    for left, right in itertools.combinations(range(listed.n_sites), 2):
        between = hierarchy.gaps[left:right].max()
        assert between == expected[hierarchy.order[left], hierarchy.order[right]]


@given(pair_lists(), seeds)
def test_shown_sites_are_clustered_as_in_the_whole(listed: PairList, seed: int) -> None:
    hierarchy = linked(listed)
    rng = np.random.default_rng(seed)
    shown = rng.permutation(listed.n_sites)[: rng.integers(1, listed.n_sites + 1)]
    restricted = hierarchy.restrict(shown)
    assert restricted.n_sites == len(shown)
    for cutoff in cutoffs_of(hierarchy):
        whole = hierarchy.cut(cutoff).labels[shown]
        assert clusters_of(restricted.cut(cutoff).labels) == clusters_of(whole)
    full = naive.cophenetic(listed.n_sites, listed.pairs, listed.sigmas)[np.ix_(shown, shown)]
    heights = full[np.triu_indices(len(shown), 1)]
    assert same(restricted, link(np.where(np.isfinite(full), full, np.nan)))
    assert set(restricted.levels.tolist()) <= set(heights.tolist())


@given(pair_lists())
def test_showing_all_sites_shows_the_whole(listed: PairList) -> None:
    hierarchy = linked(listed)
    assert same(hierarchy.restrict(np.arange(listed.n_sites)), hierarchy)


# Parity with SciPy


@given(sigma_matrices())
def test_heights_are_those_of_scipy(matrix: Floats) -> None:
    expected = scipy_linkage(squareform(matrix), "single")
    found = link(matrix).to_linkage()
    assert is_valid_linkage(found, throw=True)
    assert found[:, 2].tolist() == expected[:, 2].tolist()


@given(sigma_matrices())
def test_partitions_at_every_level_are_those_of_scipy(matrix: Floats) -> None:
    expected = scipy_linkage(squareform(matrix), "single")
    hierarchy = link(matrix)
    for cutoff in cutoffs_of(hierarchy):
        partition = clusters_of(hierarchy.cut(cutoff).labels)
        assert partition == clusters_of(fcluster(expected, cutoff, "distance"))
        assert partition == clusters_of(fcluster(hierarchy.to_linkage(), cutoff, "distance"))


@given(pair_lists(max_sites=8))
def test_a_forest_is_a_valid_linkage_joined_at_infinity(listed: PairList) -> None:
    hierarchy = linked(listed)
    found = hierarchy.to_linkage()
    assert found.shape == (listed.n_sites - 1, 4)
    if listed.n_sites == 1:
        return
    assert is_valid_linkage(found, throw=True)
    n_trees = int((hierarchy.parents < 0).sum())
    assert np.isinf(found[:, 2]).sum() == n_trees - 1
    assert found[-1, 3] == listed.n_sites
    top = hierarchy.levels.max(initial=0.0)
    assert clusters_of(fcluster(found, top, "distance")) == clusters_of(hierarchy.cut(top).labels)


# Newick


def parsed_newick(line: str) -> tuple[dict[frozenset[str], float], float]:
    """Clades with the length of the branch above each, and the height of the root."""
    branches: dict[frozenset[str], float] = {}
    place = 0

    def node() -> tuple[frozenset[str], float]:
        nonlocal place
        depth = 0.0
        if line[place] == "(":
            below: frozenset[str] = frozenset()
            while line[place] in "(,":
                place += 1
                part, part_depth = node()
                below |= part
                depth = max(depth, part_depth + branches[part])
            assert line[place] == ")"
            place += 1
        else:
            below = frozenset([name()])
        if line[place] == ":":
            stop = min(line.find(end, place) for end in ",)" if line.find(end, place) > 0)
            branches[below] = float(line[place + 1 : stop])
            place = stop
        return below, depth

    def name() -> str:
        nonlocal place
        if line[place] != "'":
            start = place
            while line[place] not in ":,();":
                place += 1
            return line[start:place]
        text = ""
        while True:
            stop = line.index("'", place + 1)
            text += line[place + 1 : stop]
            place = stop + 1
            if line[place] != "'":
                return text
            text += "'"

    _, height = node()
    assert line[place:] == ";"
    return branches, height


@given(pair_lists(), st.sampled_from(["{}", "A/GLY {}/CA", "O'{}' (x,y):1;", "'{}"]))
def test_newick_says_clades_and_heights(listed: PairList, pattern: str) -> None:
    hierarchy = linked(listed)
    names = [pattern.format(site + 1) for site in range(listed.n_sites)]
    lines = hierarchy.to_newick(None if pattern == "{}" else names).splitlines()
    roots = np.flatnonzero(hierarchy.parents < 0).tolist()
    assert len(lines) == len(roots)
    below = {node: frozenset([names[node]]) for node in range(listed.n_sites)}
    for node, above in enumerate(hierarchy.parents.tolist()):
        if above >= 0:
            below[above] = below.get(above, frozenset()) | below[node]
    births = np.concatenate([np.zeros(listed.n_sites), hierarchy.heights])
    expected = {
        below[node]: births[above] - births[node]
        for node, above in enumerate(hierarchy.parents.tolist())
        if above >= 0
    }
    found: dict[frozenset[str], float] = {}
    for line in lines:
        branches, height = parsed_newick(line)
        found |= branches
        assert height == pytest.approx(
            max([births[n] for n in roots if set(below[n]) & set().union(*branches)], default=0.0)
        )
    assert found == pytest.approx(expected)


def test_newick_needs_a_name_for_each_site() -> None:
    with pytest.raises(ValueError, match="each of 3 sites, got 2"):
        link(MATRIX).to_newick(["a", "b"])


def caterpillar(n_sites: int) -> Hierarchy:
    """Sites that join the core one by one, the shape that single linkage often has."""
    ends = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    heights = np.arange(1.0, n_sites)
    return link(Fluctuations(n_sites, ends, heights, np.full(n_sites - 1, 2)))


@pytest.mark.thorough
def test_deep_hierarchies_are_written_and_cut_in_proportional_time() -> None:
    caterpillar(10).to_newick()  # compiles
    start = time.process_time()
    hierarchy = caterpillar(200_000)
    hierarchy.cut(100_000.0)
    text = hierarchy.to_newick()
    rows = hierarchy.to_linkage()
    assert time.process_time() - start < 15  # squares of 200,000 would take a minute
    assert text.count(",") == len(rows) == 199_999


# Invariants


@given(pair_lists(), seeds)
def test_order_and_orientation_of_pairs_never_matter(listed: PairList, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(listed.pairs))
    turned = listed.pairs[shuffled]
    flipped = rng.random(len(turned)) < 0.5
    turned[flipped] = turned[flipped, ::-1]
    assert same(linked(PairList(listed.n_sites, turned, listed.sigmas[shuffled])), linked(listed))


@given(pair_lists(), seeds)
def test_renaming_sites_renames_clusters(listed: PairList, seed: int) -> None:
    names = np.random.default_rng(seed).permutation(listed.n_sites)
    renamed = linked(PairList(listed.n_sites, names[listed.pairs], listed.sigmas))
    hierarchy = linked(listed)
    assert renamed.heights.tolist() == hierarchy.heights.tolist()
    for cutoff in cutoffs_of(hierarchy):
        expected = {
            frozenset(names[list(sites)].tolist())
            for sites in clusters_of(hierarchy.cut(cutoff).labels)
        }
        assert clusters_of(renamed.cut(cutoff).labels) == expected


@given(pair_lists())
def test_clusters_are_nested_and_contiguous_in_leaf_order(listed: PairList) -> None:
    hierarchy = linked(listed)
    coarser: set[frozenset[int]] = set()
    for cutoff in sorted(cutoffs_of(hierarchy), reverse=True):
        labels = hierarchy.cut(cutoff).labels
        finer = clusters_of(labels)
        assert not coarser or all(any(part <= whole for whole in coarser) for part in finer)
        changes = np.count_nonzero(np.diff(labels[hierarchy.order]))
        assert changes == len(finer) - 1
        coarser = finer


@given(pair_lists())
def test_nodes_are_runs_of_leaf_order_born_before_they_die(listed: PairList) -> None:
    hierarchy = linked(listed)
    assert (hierarchy.births < hierarchy.deaths).all()
    assert (np.diff(hierarchy.heights) >= 0).all()
    for node in range(listed.n_sites, len(hierarchy.parents)):
        start, size = hierarchy.starts[node], hierarchy.sizes[node]
        run = set(hierarchy.order[start : start + size].tolist())
        assert run in clusters_of(hierarchy.cut(hierarchy.births[node]).labels)


@given(moved_snapshots())
def test_moving_a_whole_snapshot_changes_no_height(moved: tuple[Floats, Floats]) -> None:
    before, after = (
        cluster(made, pairs.all(made))
        for made in (objects.points(Ensemble.from_array(array)) for array in moved)
    )
    # A height is one of the σ, each of which is kept to rounding, and so is their order statistic.
    tolerance = 100 * 30 * np.finfo(np.float64).eps
    assert after.to_linkage()[:, 2].tolist() == pytest.approx(
        before.to_linkage()[:, 2].tolist(), rel=1e-12, abs=tolerance
    )


@given(snapshots(max_sites=8), st.integers(1, 12), st.sampled_from(["rms", "max", "centre"]))
def test_clustering_in_one_step_equals_measuring_and_linking(
    array: Floats, chunk: int, reduction: Reduction
) -> None:
    n_sites = array.shape[1]
    ensemble = Ensemble.from_array(np.round(array, 1), unit="Å")  # ties
    sets = [[k, (k + 1) % n_sites] for k in range(n_sites)]
    made = objects.groups(ensemble, sets, reduction=reduction)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "CHUNK", chunk)
        for chosen in (pairs.all(made), pairs.within(made, 1.0)):
            in_steps = link(measure(made, chosen))
            at_once = cluster(made, chosen, workers=2)
            assert same(at_once, in_steps)
            assert at_once.quantity == in_steps.quantity


# Edges


def test_equal_sigma_join_in_one_step() -> None:
    hierarchy = link(np.ones((5, 5)) - np.eye(5))
    assert hierarchy.heights.tolist() == [1.0]
    assert hierarchy.parents.tolist() == [5, 5, 5, 5, 5, -1]


def test_a_cutoff_includes_what_is_equal_to_it() -> None:
    hierarchy = link(MATRIX)
    assert hierarchy.cut(0.1).labels.tolist() == [0, 0, 1]
    assert hierarchy.cut(np.nextafter(0.1, 0)).labels.tolist() == [0, 1, 2]


def test_a_single_site_is_a_hierarchy() -> None:
    alone = link([[0.0]])
    assert alone.cut(1.0).labels.tolist() == [0]
    assert alone.to_newick() == "'1';\n"
    assert alone.to_linkage().shape == (0, 4)
    assert alone.levels.shape == (0,)
    assert same(alone.restrict([0]), alone)


def test_sigma_of_zero_joins_at_zero() -> None:
    hierarchy = link(np.zeros((3, 3)))
    assert hierarchy.levels.tolist() == [0.0]
    assert hierarchy.cut(0.0).n_clusters == 1
    assert hierarchy.cut(-1e-300).n_clusters == 3


@pytest.mark.parametrize("missing", [math.nan, math.inf])
def test_undefined_sigma_join_nothing(missing: float) -> None:
    matrix = MATRIX.copy()
    matrix[2, :2] = matrix[:2, 2] = missing
    given: list[Any] = [matrix, sparse.coo_array(matrix)]
    for given_as in given:
        hierarchy = link(given_as)
        assert hierarchy.levels.tolist() == [0.1]
        assert hierarchy.cut(math.inf).labels.tolist() == [0, 0, 1]


def test_dense_and_sparse_matrices_mean_the_same() -> None:
    kinds: list[Any] = [sparse.coo_array, sparse.csr_array, sparse.csc_array]
    for kind in kinds:
        assert same(link(kind(MATRIX)), link(MATRIX))
    assert link(sparse.csr_array((3, 3))).cut(math.inf).n_clusters == 3
    held_zero: Any = sparse.coo_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert link(held_zero).levels.tolist() == [0.0]


def test_lists_and_whole_numbers_are_matrices_as_well() -> None:
    assert link([[0, 2], [2, 0]], unit="Å", quantity="PAE").levels.tolist() == [2.0]
    assert link([[0, 2], [2, 0]], unit="Å", quantity="PAE").quantity == Quantity("PAE", unit="Å")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"square and not empty, got shape \(2, 3\)"),
        (np.zeros((0, 0)), "not empty"),
        (np.zeros(4), "square"),
        (np.zeros((2, 2, 2)), "square"),
        (sparse.coo_array((2, 3)), "square"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric, but mirrored entries differ by 1"),
        ([[0.0, 1.0], [math.nan, 0.0]], "symmetric"),
        (sparse.coo_array(np.array([[0, 1.0], [0, 0]])), "symmetric"),
        (sparse.coo_array(np.array([[0, 1.0, np.inf], [2, 0, 0], [np.inf, 0, 0]])), "symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "not be negative"),
        (sparse.coo_array(np.array([[0, -1.0], [-1.0, 0]])), "not be negative"),
        ([[0, 1j], [1j, 0]], "real numbers, got complex128"),
        ([["a", "b"], ["b", "a"]], "real numbers"),
        ([[True, False], [False, True]], "real numbers, got bool"),
        (np.array([[0, None], [None, 0]]), "real numbers, got object"),
    ],
)
def test_matrices_that_hold_no_sigma_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        link(matrix)


def test_a_ragged_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"square|ragged|equal length"):
        link([[0.0, 1.0], [1.0]])


@pytest.mark.parametrize(
    ("parents", "heights", "message"),
    [
        ([2, -1, -1], [1.0], "each of 2 parts"),  # a merge of one
        ([1, 2, -1], [1.0], "must be merges"),  # a site is a parent
        ([4, 4, 3, 3, -1], [1.0, 2.0], "parts or more before it"),  # a merge is its own part
        ([2, 2, -2], [1.0], "must be merges"),
        ([9, 9, -1], [1.0], "must be merges"),
        ([2, 2, -1], [math.nan], "finite and ascend"),
        ([3, 3, 4, 4, -1], [2.0, 1.0], "finite and ascend"),
    ],
)
def test_what_is_no_tree_is_refused(parents: list[int], heights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hierarchy(np.array(parents), np.array(heights))


@pytest.mark.parametrize("sites", [[], [0, 0], [3], [-1], [0.5], [True, False]], ids=str)
def test_shown_sites_that_are_none_are_refused(sites: Any) -> None:
    with pytest.raises(ValueError, match="site"):
        link(MATRIX).restrict(sites)


def test_shown_sites_may_be_given_as_truth_values() -> None:
    hierarchy = link(MATRIX)
    assert same(hierarchy.restrict([True, False, True]), hierarchy.restrict([0, 2]))


def test_a_cutoff_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="got nan"):
        link(MATRIX).cut(math.nan)


def test_results_are_read_only_and_arguments_are_left_alone() -> None:
    matrix = MATRIX.copy()
    hierarchy = link(matrix)
    assert matrix.flags.writeable
    assert matrix.tolist() == MATRIX.tolist()
    held: list[Any] = [
        getattr(hierarchy, n) for n in ("parents", "heights", "sizes", "starts", "order")
    ]
    for array in [*held, hierarchy.cut(0.2).labels]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        hierarchy.quantity = Quantity("E")  # type: ignore[misc]


def test_members_of_a_cluster_are_in_ascending_order() -> None:
    partition = Partition(np.array([1, 0, 0, 1, 0]), 0.5)
    assert partition.members(0).tolist() == [1, 2, 4]
    assert partition.members(1).tolist() == [0, 3]


@given(st.integers(20, 40), st.sampled_from([2, 20, 1000]), st.booleans(), seeds)
@settings(max_examples=30)
def test_many_pairs_to_a_site_join_as_in_the_reference(
    n_sites: int, n_levels: int, apart: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.integers(0, n_levels, (n_sites, n_sites)) / n_levels, 1)
    matrix += matrix.T
    if apart:  # two halves that nothing joins, and a site by itself
        matrix[: n_sites // 2, n_sites // 2 :] = matrix[n_sites // 2 :, : n_sites // 2] = math.inf
        matrix[:, 0] = matrix[0] = math.inf
    hierarchy = link(matrix)
    pairs = np.column_stack(np.triu_indices(n_sites, 1))
    sigma = matrix[tuple(pairs.T)].tolist()
    for cutoff in [*rng.choice(hierarchy.levels, 5), 1.0]:
        expected = naive.clusters(n_sites, pairs, sigma, float(cutoff))
        labels = hierarchy.cut(float(cutoff)).labels
        found = {frozenset(np.flatnonzero(labels == name).tolist()) for name in set(labels)}
        assert found == set(expected)


def test_many_pairs_are_linked_in_proportional_time() -> None:
    n_sites = 100_000
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n_sites, (1_000_000, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    sigma = Fluctuations(n_sites, ends, rng.random(len(ends)), np.full(len(ends), 2))
    link(MATRIX)  # compiles
    start = time.process_time()
    assert link(sigma).cut(1.0).sizes[0] > 0.99 * n_sites
    assert time.process_time() - start < 15


# ---- clusters of a cut, one after another --------------------------------------------------------


def test_a_cut_is_walked_through_by_clusters() -> None:
    partition = Partition(np.array([1, 0, 2, 0, 1, 0]), 0.5)
    assert len(partition) == 3
    assert [sites.tolist() for sites in partition] == [[1, 3, 5], [0, 4], [2]]
    assert [sites.tolist() for sites in partition] == [
        partition.members(cluster).tolist() for cluster in range(3)
    ]


def test_a_cut_is_a_table() -> None:
    pytest.importorskip("pandas", reason="needs pandas: pip install 'pytimme[tables]'")
    partition = Partition(np.array([1, 0, 0]), 0.5)
    table = partition.to_dataframe(names=["a", "b", "c"])
    assert table.to_dict("list") == {
        "site": [0, 1, 2],
        "name": ["a", "b", "c"],
        "cluster": [1, 0, 0],
        "size": [1, 2, 2],
    }
    assert list(partition.to_dataframe()) == ["site", "cluster", "size"]
    with pytest.raises(ValueError, match="names need one for each of 3 sites, got 1"):
        partition.to_dataframe(["a"])


def test_a_table_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pytimme\[tables\]"):
        Partition(np.array([0]), 0.5).to_dataframe()


@searching(60)
@given(seeds, st.sampled_from(["ties", "none alike", "a crowd", "far apart"]))
def test_edges_so_many_that_not_all_are_sorted_make_the_same_tree(seed: int, kind: str) -> None:
    """All pairs, among them some that join nothing; a crowd has all of the lowest edges."""
    rng = np.random.default_rng(seed)
    n_sites = 40
    edges = rng.permutation(np.column_stack(np.triu_indices(n_sites, 1)))
    heights = rng.random(len(edges))
    if kind == "ties":
        heights = rng.integers(0, 6, len(edges)).astype(np.float64)
    if kind == "a crowd":
        heights += 10.0 * (edges >= 30).any(axis=1)
    if kind == "far apart":
        heights[(edges[:, 0] < 20) != (edges[:, 1] < 20)] = np.inf
    heights[rng.random(len(edges)) < 0.1] = np.inf
    hierarchy = grow(n_sites, edges, heights)
    for cutoff in (*rng.choice(heights[np.isfinite(heights)], 6), 20.0):
        expected = naive.labels(
            n_sites, edges, np.where(heights == np.inf, np.nan, heights), cutoff
        )
        assert hierarchy.cut(float(cutoff)).labels.tolist() == expected
    few = rng.permutation(len(edges))
    again = grow(n_sites, edges[few], heights[few])
    assert np.array_equal(again.parents, hierarchy.parents)
    assert np.array_equal(again.heights, hierarchy.heights)
