"""Walkers by chance have the same steps and nothing in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import timme
from timme.confidence.null import null_band
from timme.synthetic import FAMILIES
from timme.system.ensemble import Ensemble


def test_bodies_that_move_together_are_larger_than_clusters_by_chance() -> None:
    made = FAMILIES["colloids + free particles"](60, 0)
    points = timme.objects.points(made.ensemble)
    sigma = timme.measure(points, timme.pairs.within(points, 1.6))
    band = null_band(made.ensemble, sigma.pairs, n_draws=10)
    tree = timme.link(sigma)
    cutoff = 0.06  # twice the jitter of the planted spheres
    largest = int(tree.cut(cutoff).sizes[0])
    assert largest >= 20
    place = np.searchsorted(band.cutoffs, cutoff, "right") - 1
    assert band.largest[:, place].max() < largest
    assert f"the largest here has {largest}" in band.words(cutoff, largest)
    assert (band.low <= band.high).all()


def test_free_walkers_are_what_chance_makes() -> None:
    walks = np.cumsum(0.1 * np.random.default_rng(0).normal(size=(50, 60, 2)), axis=0)
    walks += np.random.default_rng(1).uniform(0, 8, (60, 2))
    ensemble = Ensemble.from_array(walks)
    points = timme.objects.points(ensemble)
    sigma = timme.measure(points, timme.pairs.within(points, 2.0))
    band = null_band(ensemble, sigma.pairs)
    found = timme.statistics.curves(timme.link(sigma), sizes=(), cutoffs=band.cutoffs)
    inside = (found.large_fraction >= band.low) & (found.large_fraction <= band.high)
    # A band of 90 % at every cutoff; neighbouring cutoffs are not independent.
    assert inside.mean() > 0.6


@pytest.mark.parametrize("linkage", ["braced", "average"])
def test_walkers_are_joined_as_the_particles_were(linkage: Any) -> None:
    walks = np.cumsum(0.1 * np.random.default_rng(0).normal(size=(50, 30, 2)), axis=0)
    index = np.column_stack(np.triu_indices(30, 1))
    grid = np.linspace(0.0, 1.0, 50)
    single = null_band(Ensemble.from_array(walks), index, grid, n_draws=3)
    other = null_band(Ensemble.from_array(walks), index, grid, n_draws=3, linkage=linkage)
    # Neither joins anything that single linkage has not joined at the same cutoff, or below.
    assert (other.largest <= single.largest).all()
    assert (other.largest < single.largest).any()


def test_steps_are_kept_and_gaps_refused() -> None:
    with pytest.raises(ValueError, match="tracks without gaps"):
        null_band(Ensemble.from_array(np.zeros((4, 2, 2)), gaps=True), np.array([[0, 1]]))
    with pytest.raises(ValueError, match="at least 3 snapshots, got 2"):
        null_band(Ensemble.from_array(np.zeros((2, 2, 2))), np.array([[0, 1]]))
