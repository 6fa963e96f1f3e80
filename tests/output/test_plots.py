"""Figures say of each cluster what is known of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.collections import PolyCollection

from tests.analysis.systems import analysis_of
from timme import analyse, plot
from timme.analysis.tables import clusters
from timme.synthetic import bodies


def test_clusters_that_are_not_established_are_pale_wherever_their_sites_are() -> None:
    made = analysis_of(bodies((30, 25, 20), spans=[20.0, 40.0]).ensemble)
    known = made.confidence
    assert known is not None
    judged = np.isfinite([record.support for record in known.records])
    assert judged.sum() >= 2
    records = tuple(
        replace(record, support=0.0) if np.isfinite(record.support) else record
        for record in known.records
    )
    made = replace(made, confidence=replace(known, records=records))
    white = [c for c in plot(made, "dilution").collections if isinstance(c, PolyCollection)]
    assert [len(each.get_paths()) for each in white] == [known.tree.sizes[judged].sum()]


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
