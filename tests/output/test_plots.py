"""Figures say of each cluster what is known of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme import analyse, plot
from timme.analysis.tables import clusters


def test_groups_of_the_finding_keep_its_verdict() -> None:
    rng = np.random.default_rng(5)
    loose = rng.normal(0, 0.3, (60, 30, 3)).cumsum(axis=0) + rng.uniform(0, 30, (30, 3))
    drift = rng.normal(0, 0.3, (60, 1, 3)).cumsum(axis=0)
    group = rng.uniform(40, 44, (15, 3)) + drift + rng.normal(0, 0.02, (60, 15, 3))
    found = analyse(np.concatenate([group, loose], axis=1))
    assert found.finding.sure == "well supported"
    assert np.array_equal(np.flatnonzero(found.finding.labels == 0), np.arange(15))
    table = clusters(found).to_dataframe()
    assert table.loc[table["size"] == 15, "verdict"].tolist() == ["well supported"]
    bare = replace(found, finding=replace(found.finding, sure="no error bars"))
    assert plot(bare, "dilution").collections  # another group of the finding has no support


def test_particles_in_many_dimensions_are_drawn() -> None:
    made = analyse(np.random.default_rng(0).normal(size=(20, 12, 6)) * [1, 1, 1, 1, 2, 3])
    labels = {axes.get_xlabel() for axes in plot(made, "finding").axes}
    assert "axis 5" in labels
