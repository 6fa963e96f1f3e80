"""Figures say of each cluster what is known of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.collections import PolyCollection

from tests.analysis.systems import analysis_of
from timme import plot
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
