"""What a run tells of how sure it is, as it is asked for, and why not where it cannot."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme.analysis import Chance, Judged, Timed, summary
from timme.confidence.draws import draw
from timme.confidence.replicates import resampled_hierarchies, sum_what_matters
from timme.fluctuations.sums import sum_parts
from timme.output.colours import colouring
from timme.output.confidence import confidence_json
from timme.synthetic import FAMILIES
from timme.workflow.budget import plan

HINGE: dict[str, Any] = {"pairs": "contact", "radius": 10.0}


@pytest.fixture(scope="module")
def hinged() -> timme.Analysis:
    made = FAMILIES["hinge 15° + tail"](80, 3)
    return timme.analyse(made.ensemble, windows=4, lags=[2, 40], replicas=[40, 40], **HINGE)


def test_a_run_tells_of_windows_times_chance_and_convergence(hinged: timme.Analysis) -> None:
    timed, chance, judged = hinged.part(Timed), hinged.part(Chance), hinged.part(Judged)
    assert timed is not None
    assert chance is not None
    assert judged is not None
    assert timed.windows is not None
    assert timed.windows.tracks.shape == (4, 95)
    assert timed.windows.cutoff == judged.suggestions()[0].cutoff
    assert timed.sigma is not None
    assert (timed.sigma[0] < timed.sigma[1]).all()  # longer times show more
    assert judged.confidence.convergence is not None
    assert judged.confidence.convergence.left_out.shape == (2, len(judged.confidence.trusted))
    assert {name for name, _ in summary(hinged)} >= {"windows", "times", "converged"}


def test_every_record_is_there_for_programs(hinged: timme.Analysis) -> None:
    judged = hinged.part(Judged)
    assert judged is not None
    told = json.loads(confidence_json(judged, hinged))
    assert len(told["clusters"]) == len(judged.confidence.records)
    assert told["clusters"][0]["part_of"] is None
    for row, record in zip(told["clusters"], judged.confidence.records, strict=True):
        assert row["members"] == record.sites.tolist()
        assert row["trusted"] == record.trusted


def test_only_what_is_trusted_is_coloured(hinged: timme.Analysis, tmp_path: Path) -> None:
    judged = hinged.part(Judged)
    assert judged is not None
    levels = hinged.shown_hierarchy.levels
    cutoff = float(levels[len(levels) // 2])  # at which there are crumbs that are not judged
    every, some = (colouring(hinged, cutoff, min_size=2, trusted=only) for only in (False, True))
    trusted = [
        record is not None and record.trusted
        for record in judged.record_at(hinged.shown_hierarchy, cutoff)
    ]
    assert len(some.sizes) == sum(trusted[: len(every.sizes)]) < len(every.sizes)
    assert int(some.labels.max()) == len(some.sizes) - 1
    shown = timme.analyse(
        FAMILIES["hinge 15° + tail"](80, 3).ensemble, trusted=True, chance=False, **HINGE
    )
    timme.write(shown, tmp_path / "out")
    text = (tmp_path / "out" / "clusters.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    first = [row for row in rows if row["cutoff (Å)"] == rows[0]["cutoff (Å)"]]
    drawn = (tmp_path / "out" / "clusters.pml").read_text("utf-8").count("select cluster_")
    assert drawn == sum(row["trusted"] == "yes" for row in first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trusted": True, "confidence": False}, "needs to know how sure clusters are"),
        ({"windows": 20}, "needs at least 42 snapshots, got 20: choose fewer windows"),
        ({"lags": [1, 5]}, "lags= are 2 to 20 snapshots each, got 1,5"),
        ({"lags": [2, 50]}, "lags= are 2 to 20 snapshots each, got 2,50"),
        ({"chance": True, "box": [50.0] * 3}, "needs tracks in open space"),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    array = np.random.default_rng(0).uniform(0, 30, (1, 12, 3)) + np.zeros((20, 1, 1))
    with pytest.raises(ValueError, match=message):
        timme.analyse(array + np.random.default_rng(1).normal(size=(20, 12, 3)), **options)


def test_where_memory_is_scarce_a_run_goes_on_without_judging() -> None:
    rng = np.random.default_rng(0)
    points = timme.objects.points(timme.read(rng.normal(size=(30, 400, 3))))
    pairs = timme.pairs.all(points)
    plan(points, pairs, keep=True, limit=None)
    plenty = plan(points, pairs, keep=True, limit=None)
    alone = plan(points, pairs, keep=True, limit=None, judged=False)
    assert plenty.n_summed == len(pairs)
    assert alone.n_summed == 0
    scarce = plan(points, pairs, keep=True, limit=f"{alone.total / 1e6 + 10:.0f}MB")
    assert scarce.n_summed == 0


def test_fewer_pairs_than_may_matter_are_told() -> None:
    points = timme.objects.points(timme.read(np.random.default_rng(0).normal(size=(40, 40, 3))))
    sigma = timme.measure(points, timme.pairs.all(points))
    sums, notes = sum_what_matters(points, sigma, draw(40, 40.0), most=200)
    assert len(sums.pairs) == 200
    assert "told by 200 of 780 pairs" in notes[0]


def test_sums_of_what_matters_give_the_hierarchies_of_all_pairs() -> None:
    made = timme.synthetic.hinged(3, 80, 600)
    points = timme.objects.points(made.ensemble)
    sigma = timme.measure(points, timme.pairs.all(points))
    draws = draw(600, 30.0, n_draws=10)  # in runs of 4 parts
    assert len(sigma.pairs) > 20_000  # from which on pairs are left out
    few, _ = sum_what_matters(points, sigma, draws)
    assert len(few.pairs) < 0.7 * len(sigma.pairs)  # two thirds are between bodies
    every = sum_parts(points, sigma.pairs, draws.parts)
    for one, other in zip(
        resampled_hierarchies(few, draws.times),
        resampled_hierarchies(every, draws.times),
        strict=True,
    ):
        assert one.parents.tolist() == other.parents.tolist()
        np.testing.assert_allclose(one.heights, other.heights, rtol=1e-5)
