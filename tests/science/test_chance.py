"""Golden and statistical tests of the chance level of independent walkers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.test_golden import ensemble_of
from tests.families import walkers_with_group
from tests.golden import load_science, systems
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence.bootstrap import Compared
from timme.confidence.chance import Chance, compare_with_chance, walkers
from timme.ensemble import Ensemble, Images
from timme.fluctuations import measure
from timme.hierarchy.condensed import lineages
from timme.hierarchy.linking import link


@pytest.mark.parametrize("name", ["open", "water-drop"])
def test_band_of_golden_systems_is_the_same(name: str) -> None:
    golden = load_science("confidence-series")
    if name == "open":
        ensemble, n_draws = ensemble_of(systems.clusters()), 20
        chosen = pairs.all(objects.points(ensemble))
    else:
        ensemble, n_draws = ensemble_of(systems.water_drop())[::10], 5
        chosen = pairs.within(objects.points(ensemble), 6.0)
    made = objects.points(ensemble)
    compared = Compared(made, measure(made, chosen))
    cutoffs = np.array(golden[f"{name}.chance.cutoffs"])[1:-1]  # the ends are heights themselves
    found = compare_with_chance(compared, cutoffs, n_draws=n_draws)
    for key in ("low", "high", "largest"):
        np.testing.assert_allclose(
            getattr(found, key), np.array(golden[f"{name}.chance.{key}"])[..., 1:-1], atol=1e-12
        )


def stepping(n_snapshots: int = 40, n_sites: int = 6) -> Floats:
    return np.random.default_rng(0).normal(size=(n_snapshots, n_sites, 2)).cumsum(axis=0)


def sorted_steps(array: Any) -> Floats:
    """Steps of a track between the snapshots in which it is seen, sorted along x."""
    steps = np.diff(array[np.isfinite(array[:, 0])], axis=0)
    return np.asarray(steps[np.argsort(steps[:, 0])], dtype=np.float64)


@pytest.mark.parametrize("kind", ["open", "gaps", "box", "runs"])
def test_walkers_take_the_same_steps_at_other_times(kind: str) -> None:
    array, seen = stepping(), np.ones((40, 6), bool)
    ensemble = Ensemble.from_array(array)
    if kind == "gaps":
        seen[:10, 0] = seen[25:, 1] = seen[5:9, 2] = False
        gapped = np.where(seen[:, :, None], array, np.nan)
        ensemble = Ensemble.from_array(gapped, gaps=True)
        array = gapped
    elif kind == "box":
        ensemble = Ensemble.from_array(array % 15.0, boxes=15.0)
    elif kind == "runs":
        ensemble = replace(ensemble, runs=np.repeat([0, 1], [15, 25]))
    found = walkers(ensemble, seed=1)
    walked = found.coordinates()
    assert (np.isfinite(walked).all(axis=2) == seen).all()
    for run in [slice(0, 15), slice(15, 40)] if kind == "runs" else [slice(0, 40)]:
        for site in range(6):
            one, other = sorted_steps(array[run, site]), sorted_steps(walked[run, site])
            np.testing.assert_allclose(one, other, atol=1e-12)
    assert not np.allclose(np.nan_to_num(walked - walked[:1]), np.nan_to_num(array - array[:1]))
    box = None if kind != "box" else 15.0
    assert (found.snapshot(3)[1] is None) == (box is None)


def test_walkers_have_nothing_in_common() -> None:
    together = np.repeat(np.random.default_rng(1).normal(size=(400, 1, 2)), 30, axis=1)
    array = walkers(Ensemble.from_array(together.cumsum(axis=0))).coordinates()
    steps = np.diff(array[:, :, 0], axis=0)
    correlations = np.asarray(np.corrcoef(steps.T))[np.triu_indices(30, 1)]
    # Of 435 pairs of 30 shifts among 399, one or two are alike by chance; else 1 / √399 each.
    assert np.median(np.abs(correlations)) < 2 / np.sqrt(399)


def grouped(array: Floats, **options: object) -> tuple[list[int], Chance]:
    """Sizes of lineages, and their chance levels."""
    ensemble = Ensemble.from_array(array, **options)  # type: ignore[arg-type]
    made = objects.points(ensemble)
    sigma = measure(made, pairs.all(made))
    found = lineages(link(sigma))
    sizes = [len(each.sites) for each in found]
    return sizes, compare_with_chance(Compared(made, sigma), groups=found)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_group_that_moves_together_is_beyond_chance(gaps: bool) -> None:
    array, group = walkers_with_group(60, 16, 0)
    if gaps:
        array[np.random.default_rng(2).random(array.shape[:2]) < 0.1] = np.nan
    sizes, found = grouped(array, gaps=gaps)
    assert len(group) in sizes
    assert found.overlaps[sizes.index(len(group))] < 0.5
    assert found.is_meaningful


def test_a_group_of_slow_walkers_is_within_chance() -> None:
    steps = np.random.default_rng(3).normal(size=(100, 60, 3))
    steps[:, :20] /= 20
    sizes, found = grouped(steps.cumsum(axis=0))
    assert found.overlaps[sizes.index(20)] > 0.9


def test_steady_drift_has_no_chance_level() -> None:
    steps = np.random.default_rng(4).normal(size=(100, 40, 3)) + 2.0
    _, found = grouped(steps.cumsum(axis=0))
    assert not found.is_meaningful


def test_walkers_of_molecules_or_too_few_snapshots_are_refused() -> None:
    ensemble = Ensemble.from_array(stepping(), boxes=50.0)
    molecules = replace(ensemble, images=Images(np.array([0, 0, 1, 2, 3, 4])))
    with pytest.raises(ValueError, match="independent walkers need particles, got molecules"):
        walkers(molecules)
    with pytest.raises(ValueError, match="need at least 3 snapshots, got 2"):
        walkers(ensemble[:2])
