"""Golden and reference tests of resampled hierarchies."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests import naive
from tests.science.golden_cases import CHOICES, judged
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence import bootstrap
from timme.confidence.bootstrap import Compared, Draws, draw, interval, match
from timme.ensemble import Ensemble
from timme.fluctuations import measure
from timme.hierarchy.condensed import condense
from timme.hierarchy.linking import link
from timme.synthetic import bodies


@cache
def matched(name: str) -> tuple[Draws, Floats]:
    """Draws of a golden system, and its clusters in these."""
    case = judged(name)
    n_effective = np.inf if name.startswith("1bnr") else case.golden["sampling.n_effective"]
    n_snapshots = case.objects.ensemble.n_snapshots
    draws = draw(n_snapshots, n_effective, replicas=case.objects.ensemble.replicas)
    compared = case.compared
    sums = bootstrap.sum_what_matters(compared, draws)
    masks = naive.masks(condense(case.tree))
    return draws, match(masks, bootstrap.hierarchies(compared, sums, draws.times))


@pytest.mark.parametrize("name", CHOICES)
def test_support_of_golden_systems_is_the_same(name: str) -> None:
    golden, (draws, matches) = judged(name), matched(name)
    assert draws.length == golden.golden["draws.length"]
    expected = golden.of_records("support")
    known = [place for place, support in enumerate(expected) if support is not None]
    overlaps = matches[0].mean(axis=0)[known]
    # Overlaps are ratios of whole numbers, as long as no σ in single precision changes places.
    np.testing.assert_allclose(overlaps, [expected[place] for place in known], atol=1e-3)


@pytest.mark.parametrize("name", CHOICES)
def test_intervals_of_golden_systems_are_the_same(name: str) -> None:
    case, (draws, matches) = judged(name), matched(name)
    n_effective = case.golden["sampling.n_effective"]
    for low_or_high, drawn in (("birth", matches[1]), ("death", matches[2])):
        estimates, expected = (case.of_records(low_or_high + end) for end in ("", "_interval"))
        for place, told in enumerate(expected):
            columns = drawn[:, place], matches[0, :, place]
            found = interval(float(estimates[place]), *columns, draws.reach(n_effective))
            # σ of draws is summed in single precision
            np.testing.assert_allclose(found, told or (np.nan, np.nan), rtol=1e-5)


def test_pairs_left_out_before_resampling_change_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    made = objects.points(bodies((20, 20, 20), 80, spans=(30.0, 20.0)).ensemble)
    sigma = measure(made, pairs.all(made))
    compared, draws = Compared(made, sigma), draw(80, 6.0, n_draws=20)
    trees, sizes = [], []
    for few in (10**9, 0):
        monkeypatch.setattr(bootstrap, "_FEW", few)
        sums = bootstrap.sum_what_matters(compared, draws)
        sizes.append(len(sums.pairs))
        trees.append([*bootstrap.hierarchies(compared, sums, draws.times)])
    assert sizes[1] < sizes[0] / 2
    for one, other in zip(*trees, strict=True):
        np.testing.assert_array_equal(one.parents, other.parents)
        np.testing.assert_allclose(one.heights, other.heights, rtol=1e-5)  # single precision


def best_overlap(mask: Floats, tree: Any) -> float:
    """Largest Jaccard overlap with any node, one by one."""
    wanted = set(np.flatnonzero(mask).tolist())
    nodes = [set(tree.members(node).tolist()) for node in range(len(tree.parents))]
    return max(len(wanted & node) / len(wanted | node) for node in nodes)


def test_overlap_is_that_with_the_best_of_all_nodes() -> None:
    rng = np.random.default_rng(0)
    trees = [link(rng.random(190)) for _ in range(3)]
    masks = rng.random((4, 20)) < 0.4
    found = match(masks, trees)[0]
    expected = [[best_overlap(mask, tree) for mask in masks] for tree in trees]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_interval_is_normal_in_log_sigma_without_the_bias() -> None:
    drawn = np.exp(np.random.default_rng(0).normal(np.log(1.2), 0.1, 4000))
    low, high = interval(1.0, drawn, np.ones(4000), 1.645)
    # Centre at 1 / 1.2; half a width of √((1.645 × 0.1)² + log(1.2)²), to 4000 draws.
    half = np.hypot(1.645 * 0.1, np.log(1.2))
    assert np.log([low, high]) == pytest.approx(
        [-np.log(1.2) - half, -np.log(1.2) + half], abs=0.01
    )


def test_too_many_pairs_of_other_linkages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MOST_PAIRS", 100)
    made = objects.points(Ensemble.from_array(np.random.default_rng(0).normal(size=(9, 20, 3))))
    sigma = measure(made, pairs.all(made))
    with pytest.raises(ValueError, match="braced linkage needs sums of all 190 pairs"):
        bootstrap.sum_what_matters(Compared(made, sigma, "braced"), draw(9, 9.0))
