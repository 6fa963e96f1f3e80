"""What a run tells of how sure it is, as it is asked for, and why not where it cannot."""

from __future__ import annotations

import csv
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme._arrays import Floats
from timme.analysis import Chance, Judged, Timed, summary
from timme.confidence import assess
from timme.confidence.draws import draw
from timme.confidence.null import null_band
from timme.confidence.replicates import resampled_hierarchies, sum_what_matters
from timme.fluctuations.sums import sum_parts
from timme.output.colours import colouring
from timme.output.confidence import confidence_json
from timme.synthetic import FAMILIES
from timme.system.ensemble import Ensemble
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


def test_walkers_by_chance_are_drawn_unasked_only_where_there_is_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array = np.random.default_rng(0).normal(size=(20, 12, 3)).cumsum(axis=0)
    assert timme.analyse(array).part(Chance) is not None
    monkeypatch.setattr("timme.workflow.judging.allowed", lambda _: 1e6)  # less than is held
    assert timme.analyse(array).part(Chance) is None
    with pytest.raises(ValueError, match=r"chance=True needs about .* of memory"):
        timme.analyse(array, chance=True)


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


@pytest.mark.parametrize("weighted", [False, True])  # which is summed in another way
def test_judging_takes_no_more_memory_than_was_planned(
    monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    array = timme.synthetic.hinged(4, 100, 300).ensemble.coordinates()
    weights = np.linspace(1.0, 2.0, 300) if weighted else None
    points = timme.objects.points(timme.Ensemble.from_array(array, weights=weights))
    pairs = timme.pairs.all(points)
    sigma = timme.measure(points, pairs)
    hierarchy = timme.link(sigma)
    monkeypatch.setattr("timme.workflow.budget.memory.usage", lambda: 0)
    planned = plan(points, pairs, keep=True, limit="203MB")
    assert 0 < planned.n_summed < len(pairs) / 2
    assess(points, sigma, hierarchy, n_draws=2, most_pairs=planned.n_summed)  # loads and compiles
    tracemalloc.start()
    found = assess(points, sigma, hierarchy, most_pairs=planned.n_summed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < planned.parts[-1][1]
    assert planned.parts[-1][0].endswith("by which clusters are judged")
    assert any("more do not fit into memory" in note for note in found.notes)
    assert [record.size for record in found.trusted][-4:] == [100] * 4


def test_fewer_pairs_than_may_matter_are_told() -> None:
    points = timme.objects.points(timme.read(np.random.default_rng(0).normal(size=(40, 40, 3))))
    sigma = timme.measure(points, timme.pairs.all(points))
    sums, notes = sum_what_matters(points, sigma, draw(40, 40.0), most=200)
    assert len(sums.pairs) == 200
    assert "told by 200 of 780 pairs" in notes[0]


@pytest.mark.parametrize("n_snapshots", [600, 3000])  # which are looked at once, and twice, before
def test_sums_of_what_matters_give_the_hierarchies_of_all_pairs(n_snapshots: int) -> None:
    made = timme.synthetic.hinged(3, 80, n_snapshots)
    points = timme.objects.points(made.ensemble)
    sigma = timme.measure(points, timme.pairs.all(points))
    draws = draw(n_snapshots, 30.0, n_draws=10)  # in runs of 4 parts
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


def judged(analysis: timme.Analysis) -> Judged:
    """How sure a result is, as it tells."""
    (part,) = (part for part in analysis.parts if isinstance(part, Judged))
    return part


def test_clusters_of_more_pairs_than_are_kept_are_judged_by_those_that_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = timme.synthetic.hinged(3, 40, 200)
    whole = timme.analyse(made.ensemble, objects="points", pairs="all")
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 100)
    monkeypatch.setattr("timme.workflow.kept_pairs._MOST", 60)  # of 120 points along an axis
    few = timme.analyse(made.ensemble, objects="points", pairs="all")
    one, other = (judged(analysis).confidence for analysis in (whole, few))
    assert any("is told by" in note and "of 7,140 pairs" in note for note in few.notes)
    sites = [{tuple(record.sites) for record in found.trusted} for found in (one, other)]
    assert sites[0] == sites[1]
    assert len(sites[0]) >= 3


def tracks(kind: str) -> tuple[Any, dict[str, Any]]:
    """Two bodies that swing, in every form in which σ can be measured."""
    array = timme.synthetic.hinged(2, 24, 80).ensemble.coordinates().astype(np.float64)
    options: dict[str, Any] = {"objects": "points", "pairs": "all", "chance": False}
    rng = np.random.default_rng(0)
    if kind == "gaps":
        array[rng.random(array.shape[:2]) < 0.05] = np.nan
        options["gaps"] = True
    elif kind == "weights":
        options["weights"] = np.linspace(0.5, 2.0, len(array))
    elif kind == "box":
        options["box"] = [200.0] * 3
    elif kind == "metric":
        options["metric"] = "cityblock"
    elif kind == "groups":
        options["objects"] = np.arange(48) // 2
    elif kind == "two snapshots":
        array = array[[0, 40]]
    return array, options


@pytest.mark.parametrize(
    "kind", ["plain", "gaps", "weights", "box", "metric", "groups", "two snapshots"]
)
def test_confidence_works_wherever_sigma_does_with_any_number_of_threads(kind: str) -> None:
    array, options = tracks(kind)
    found = [
        judged(timme.analyse(array, workers=workers, **options)).confidence for workers in (1, 2)
    ]
    if kind == "two snapshots":
        assert "no confidence can be given" in found[0].sampling.words
        return
    assert found[0].sampling.n_effective > 1
    assert any(record.support is not None for record in found[0].records)
    told = [
        [(r.sites.tolist(), r.support, r.birth_interval, r.death_interval) for r in each.records]
        for each in found
    ]
    assert told[0] == told[1]


def parted(n_snapshots: int = 80) -> Floats:
    """Two bodies of 12 sites that tremble by 0.02, 20 apart and to and fro by 1, every 8 snapshots.

    σ of two sites of one body is about 0.03, and across about 0.7.
    """
    rng = np.random.default_rng(1)
    array = rng.uniform(0, 4, (24, 3)) + rng.normal(0, 0.02, (n_snapshots, 24, 3))
    array[:, 12:, 0] += 20 + np.sin(np.arange(n_snapshots) * np.pi / 4)[:, None]
    return array


@pytest.mark.parametrize("kind", ["plain", "gaps", "box"])
def test_windows_are_told_of_tracks_with_gaps_and_in_boxes(kind: str) -> None:
    array, options = parted(), dict[str, Any]()
    if kind == "gaps":
        array[np.random.default_rng(0).random(array.shape[:2]) < 0.05] = np.nan
        options["gaps"] = True
    if kind == "box":
        options["box"] = [100.0] * 3
    options |= {"windows": 4, "cutoff": 0.2, "confidence": False, "objects": "points"}
    found = timme.analyse(array, pairs="all", **options)
    (timed,) = (part for part in found.parts if isinstance(part, Timed))
    assert timed.windows is not None
    assert timed.windows.tracks.tolist() == [[0] * 12 + [1] * 12] * 4


def test_a_window_in_which_a_pair_is_hardly_seen_does_not_join_it() -> None:
    array = parted()
    array[:50, 12:] = np.nan  # the second body comes late
    options = dict[str, Any](gaps=True, min_overlap=20, cutoff=0.2, confidence=False)
    found = timme.analyse(array, windows=4, objects="points", pairs="all", **options)
    (timed,) = (part for part in found.parts if isinstance(part, Timed))
    assert timed.windows is not None
    assert timed.windows.tracks[:, :12].tolist() == [[0] * 12] * 4
    assert (timed.windows.tracks[0, 12:] == -1).all()
    assert (timed.windows.tracks[-1, 12:] == 1).all()


@pytest.mark.parametrize(("linkage", "together"), [("single", True), ("average", False)])
def test_windows_and_walkers_are_joined_by_the_linkage_that_was_chosen(
    linkage: Any, together: bool
) -> None:
    """In a row whose noise adds up, each is still beside its neighbour, and the ends are not."""
    steps = np.random.default_rng(0).normal(0, 0.05, (60, 24, 1))
    row = np.arange(24)[:, None] + np.cumsum(steps, axis=1)
    found = timme.analyse(
        row, windows=2, cutoff=0.1, pairs="all", objects="points", linkage=linkage, chance=True
    )
    timed, chance = found.part(Timed), found.part(Chance)
    assert timed is not None
    assert timed.windows is not None
    assert chance is not None
    assert bool((timed.windows.tracks == 0).all()) == together
    pairs = np.column_stack(np.triu_indices(24, 1))
    expected = null_band(Ensemble.from_array(row), pairs, linkage=linkage)
    assert (chance.band.largest == expected.largest).all()
