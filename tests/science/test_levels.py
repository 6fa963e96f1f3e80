"""Golden and reference tests of levels worth a look."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.golden import load_science, systems
from tests.science.golden_cases import CHOICES, judged
from timme._arrays import Floats, Ints
from timme.confidence import levels_of_matrix
from timme.confidence.levels import Silhouettes, silhouettes
from timme.confidence.separation import measure_shown
from timme.hierarchy.linking import link


def check(found: Silhouettes, golden: dict[str, Any], prefix: str = "") -> None:
    """Compare with frozen silhouettes; sums in another order round differently."""
    prefix += "silhouettes."
    np.testing.assert_allclose(found.values, golden[f"{prefix}values"], atol=1e-6)
    # Only the best level: rounding made peaks of slopes that are flat for a while.
    best = golden[f"{prefix}levels.0.silhouette"]
    assert found.levels[0].silhouette == pytest.approx(best, rel=1e-6)
    assert list(found.levels[0].sizes) == golden[f"{prefix}levels.0.sizes"]


@pytest.mark.parametrize("name", CHOICES)
def test_levels_of_golden_systems_are_the_same(name: str) -> None:
    case = judged(name)
    shown = measure_shown(case.compared, case.shown)
    check(silhouettes(case.tree, shown.matrix), case.golden)


@pytest.mark.parametrize("linkage", ["single", "braced", "average"])
def test_levels_of_a_golden_matrix_are_the_same(linkage: str) -> None:
    errors = systems.worst_errors()
    found = levels_of_matrix(errors, link(errors, linkage=linkage))  # type: ignore[arg-type]
    check(found.silhouettes, load_science("confidence-aligned-errors"), f"{linkage}.")
    assert np.isnan(found.sampling.n_effective)
    assert {record.sure for record in found.records} <= {"not established"}


def silhouette(matrix: Floats, labels: Ints, min_size: int) -> float:
    """Mean silhouette, site by site."""
    total, sizes = 0.0, np.bincount(labels)
    large = np.flatnonzero(sizes >= min_size)
    for site, own in enumerate(labels):
        if sizes[own] < min_size or len(large) < 2:
            continue
        mates = np.flatnonzero((labels == own) & (np.arange(len(labels)) != site))
        a = matrix[site, mates].mean()
        b = min(matrix[site, labels == other].mean() for other in large if other != own)
        total += (b - a) / max(a, b)
    return total / len(labels)


def test_silhouettes_are_those_of_each_cut() -> None:
    rng = np.random.default_rng(3)
    places = np.concatenate([rng.normal(size=(8, 2)), rng.normal(4, 1, size=(7, 2))])
    matrix = np.linalg.norm(places[:, None] - places, axis=2)
    tree = link(matrix)
    found = silhouettes(tree, matrix, min_size=3)
    expected = [silhouette(matrix, tree.cut(cutoff).labels, 3) for cutoff in found.cutoffs]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert found.levels[0].silhouette == pytest.approx(max(expected))


def test_some_sites_stand_for_all() -> None:
    blocks = np.kron(np.eye(2), np.full((10, 10), -4.0)) + 5.0
    np.fill_diagonal(blocks, 0.0)
    some = np.arange(0, 20, 3)
    found = silhouettes(link(blocks), blocks[np.ix_(some, some)], sites=some, min_size=5)
    assert [level.cutoff for level in found.levels] == [3.0]
    assert found.levels[0].silhouette == pytest.approx(0.8)


def test_no_level_stands_out_of_a_random_matrix() -> None:
    matrix = np.random.default_rng(0).uniform(1, 1.2, 780)
    full = np.zeros((40, 40))
    full[np.triu_indices(40, 1)] = matrix
    assert silhouettes(link(matrix), full + full.T).standing_out == ()
