"""Golden and reference tests of separation and excess motion."""

from __future__ import annotations

import numpy as np
import pytest

from tests import naive
from tests.science.golden_cases import CHOICES, judged
from timme import objects, pairs
from timme._arrays import Floats, Ints
from timme.confidence.bootstrap import Compared
from timme.confidence.separation import Separation, ShownSigma, measure_shown, separate
from timme.ensemble import Ensemble
from timme.fluctuations import measure
from timme.hierarchy.condensed import condense


def refuse(_: Ints) -> Floats:
    raise AssertionError("σ of draws is needed only where fewer than 5 contacts cross")


@pytest.mark.parametrize("name", CHOICES)
def test_separations_of_golden_systems_are_the_same(name: str) -> None:
    case = judged(name)
    known = measure_shown(case.compared, case.shown)
    tree, trusted = condense(case.tree), case.of_records("trusted")
    masks = naive.masks(tree)
    bodies = np.arange(len(tree))[:, None] * masks - ~masks
    for cluster in range(len(tree) - 1, 0, -1):
        siblings, above = tree.siblings(cluster), tree.parents[cluster]
        if above < 0:
            continue
        sides = masks[cluster], np.logical_or.reduce(masks[siblings])
        own = bodies[[cluster, *siblings]].max(axis=0)
        found = separate(sides, known, bodies=own, resample=refuse, seed=cluster)
        if trusted[cluster]:
            bodies[above] = np.where(sides[0] | sides[1], own, -1)
        golden = {name: case.of_records(f"separation.{name}")[cluster] for name in NAMES}
        told = [found.across, found.inside, found.inside_other, found.excess, found.n_contacts]
        assert told == pytest.approx([*golden.values()], rel=1e-6)  # σ of bodies is rounded so


NAMES = ("across", "inside", "inside_other", "excess_all", "n_contacts")


def two_balls(turn: float = 0.0, tremble: float = 0.1, seed: int = 0) -> Floats:
    """Two balls of 15 sites, of which the second turns about an axis through its near side."""
    rng = np.random.default_rng(seed)
    ball = rng.normal(size=(15, 3))
    angles = turn * rng.normal(size=200)
    second = np.tile(ball[::-1] + np.array([2.0, 0, 0]), (200, 1, 1))
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    x, y = second[:, :, 0].copy(), second[:, :, 1].copy()
    second[:, :, 0], second[:, :, 1] = cosine * x - sine * y, sine * x + cosine * y
    array = np.concatenate([np.tile(ball - np.array([2.0, 0, 0]), (200, 1, 1)), second], axis=1)
    return array + tremble * rng.normal(size=array.shape)


def judged_balls(array: Floats, radius: float = 20.0) -> tuple[Separation, ShownSigma]:
    made = objects.points(Ensemble.from_array(array))
    sigma = measure(made, pairs.within(made, radius))
    known = measure_shown(Compared(made, sigma), np.arange(30))
    side = np.arange(30) < 15

    def resample(index: Ints) -> Floats:
        squares = [known.matrix[*index.T] ** 2 * factor for factor in np.linspace(0.9, 1.1, 41)]
        return np.transpose(squares)

    found = separate((side, ~side), known, bodies=np.repeat([0, 1], 15), resample=resample)
    return found, known


def test_q_is_the_median_across_over_the_larger_inside() -> None:
    array = two_balls(0.5)
    array[:, 15:] += 0.2 * np.random.default_rng(1).normal(size=(200, 15, 3))
    found, known = judged_balls(array)
    upper = np.triu(np.ones((15, 15), bool), 1)
    inside = [np.median(known.matrix[:15, :15][upper]), np.median(known.matrix[15:, 15:][upper])]
    across = np.median(known.matrix[:15, 15:])
    told = [found.inside, found.inside_other, found.across, found.ratio]
    assert told == pytest.approx([*inside, across, across / max(inside)])
    assert found.n_contacts == 225
    assert np.isnan(found.excess_low)


def test_turning_bodies_are_separate_and_trembling_ones_are_not() -> None:
    turning, still = judged_balls(two_balls(0.5))[0], judged_balls(two_balls())[0]
    assert turning.separate
    assert not still.separate
    # Independent sites explain σ² exactly: X is 1, with the error of a median of 225 variances of
    # 200 snapshots, √(2 / 200) × 1.25 / √225, and as much of the fit.
    assert still.excess == pytest.approx(1.0, abs=0.05)


def test_where_few_contacts_cross_the_bound_of_excess_decides() -> None:
    array = two_balls(0.5)
    array[:, 15:, 0] += 12.0
    found, _ = judged_balls(array, radius=7.0)
    assert found.n_contacts < 5
    # All σ² of a draw are scaled alike, so X is the same in each.
    assert found.excess_low == pytest.approx(found.excess, rel=1e-6)
    assert found.separate


def test_motion_of_sites_without_pairs_inside_is_unknown() -> None:
    array = two_balls(0.5)[:, [0, 29]]
    made = objects.points(Ensemble.from_array(array))
    sigma = measure(made, pairs.all(made))
    known, side = measure_shown(Compared(made, sigma), np.arange(2)), np.array([True, False])
    found = separate((side, ~side), known, bodies=np.array([0, 1]), resample=refuse)
    assert np.isnan([found.excess, found.excess_low, found.inside]).all()
    assert not found.separate
