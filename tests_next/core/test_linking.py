"""Reference, golden and parity tests of linkages of matrices and of measured σ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.spatial.distance import squareform

from tests_next import naive
from tests_next.strategies import Floats, PairList, moved_snapshots, pair_lists, sigma_matrices
from timme_next import objects, pairs
from timme_next.ensemble import Ensemble
from timme_next.fluctuations import Fluctuations, measure
from timme_next.hierarchy import Hierarchy, Quantity, link
from timme_next.hierarchy.linking import brace

MATRIX = np.array([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]])


def fluctuations(n: int, listed: Any, sigmas: Any) -> Fluctuations:
    return Fluctuations(n, np.asarray(listed), np.asarray(sigmas), np.full(len(sigmas), 2), "Å")


def same(first: Hierarchy, second: Hierarchy) -> bool:
    return np.array_equal(first.parents, second.parents) and np.array_equal(
        first.heights, second.heights
    )


@given(pair_lists())
def test_measured_pairs_are_joined_in_increasing_sigma(listed: PairList) -> None:
    found = link(fluctuations(listed.n_sites, listed.pairs, listed.sigmas))
    assert found.unit == "Å"
    for cutoff in (*found.levels, math.inf):
        expected = naive.labels(listed.n_sites, listed.pairs, listed.sigmas, cutoff)
        assert found.cut(cutoff).labels.tolist() == expected


@given(sigma_matrices())
def test_dense_condensed_and_sparse_matrices_mean_the_same(matrix: Floats) -> None:
    stored = matrix + np.triu(np.full_like(matrix, 1.0), 1) + np.tril(np.ones_like(matrix), -1)
    expected = link(stored)
    assert same(link(squareform(stored)), expected)
    kinds: list[Any] = [sparse.coo_array, sparse.csr_array, sparse.csc_array]
    for kind in kinds:
        assert same(link(kind(stored)), expected)


@pytest.mark.parametrize("missing", [math.nan, math.inf])
def test_undefined_sigma_join_nothing(missing: float) -> None:
    matrix = MATRIX.copy()
    matrix[2, :2] = matrix[:2, 2] = missing
    masked = np.ma.masked_greater(MATRIX, 0.2)
    for given_as in (matrix, sparse.coo_array(matrix), masked):
        assert link(given_as).levels.tolist() == [0.1]
        assert link(given_as).cut(math.inf).labels.tolist() == [0, 0, 1]


@given(moved_snapshots())
def test_moving_every_snapshot_as_a_whole_changes_no_height(moved: tuple[Floats, Floats]) -> None:
    before, after = (
        link(measure(made, pairs.all(made)))
        for made in (objects.points(Ensemble.from_array(array)) for array in moved)
    )
    # Each σ is kept to rounding of coordinates up to about 30, and so is their order statistic.
    tolerance = 100 * 30 * np.finfo(np.float64).eps
    assert after.to_linkage()[:, 2] == pytest.approx(before.to_linkage()[:, 2], abs=tolerance)


# ---- other linkages ----------------------------------------------------------------------------


def test_bracing_separates_two_bodies_that_one_pair_holds_together() -> None:
    matrix = np.full((16, 16), 9.0)
    matrix[:8, :8] = matrix[8:, 8:] = 1.0
    matrix[7, 8] = matrix[8, 7] = 0.5
    np.fill_diagonal(matrix, 0.0)
    assert link(matrix).cut(1.0).sizes.tolist() == [16]
    assert link(matrix, linkage="braced").cut(1.0).sizes.tolist() == [8, 8]


@given(pair_lists(max_sites=8))
def test_a_pair_is_braced_by_four_partners(listed: PairList) -> None:
    ends, first = np.unique(np.sort(listed.pairs, axis=1), axis=0, return_index=True)
    sigmas = listed.sigmas[first]
    expected = naive.braced(listed.n_sites, ends, sigmas, 4)
    assert brace(listed.n_sites, ends, sigmas).tolist() == expected
    found = link(fluctuations(listed.n_sites, ends, sigmas), linkage="braced")
    assert same(found, link(fluctuations(listed.n_sites, ends, expected)))


@given(sigma_matrices(max_sites=8))
def test_average_linkage_joins_by_the_mean_square_of_all_pairs(matrix: Floats) -> None:
    distinct = matrix + 1e-3 * squareform(np.arange(len(matrix) * (len(matrix) - 1) // 2) + 1.0)
    tree = link(distinct, linkage="average")
    found = {
        (frozenset(tree.members(node).tolist()), round(float(tree.births[node]), 9))
        for node in range(tree.n_sites, len(tree.parents))
    }
    assert found == {(part, round(height, 9)) for part, height in naive.average_merges(distinct)}


# ---- refusals ----------------------------------------------------------------------------------


def test_what_cannot_be_linked_is_refused_with_a_remedy(tmp_path: Any) -> None:
    ensemble = Ensemble.from_array(np.zeros((2, 3, 3)))
    for wrong in (ensemble, objects.points(ensemble), pairs.all(objects.points(ensemble))):
        with pytest.raises(TypeError, match=r"pass timme.measure\(objects, pairs\)"):
            link(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="already"):
        link(link(MATRIX))  # type: ignore[arg-type]
    for path in (tmp_path, str(tmp_path)):
        with pytest.raises(TypeError, match="read_matrix"):
            link(path)
    with pytest.raises(ValueError, match="single, braced or average, got 'ward'"):
        link(MATRIX, linkage="ward")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs σ of all 6 pairs"):
        link(fluctuations(4, [[0, 1], [1, 2]], [1.0, 1.0]), linkage="average")


def test_a_quantity_travels_with_the_heights() -> None:
    assert link(MATRIX, unit="nm").quantity.cutoff_text(0.1) == "σc = 0.1 nm"
    assert link(MATRIX, quantity="PAE", unit="Å").quantity.cutoff_name == "PAE cutoff"
    energy = Quantity("E", "kcal/mol")
    assert link(MATRIX, quantity=energy).quantity == energy
