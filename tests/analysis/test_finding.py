"""Reference tests of the table of findings: every row, and every limit in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import timme
from tests.analysis.systems import analysis_of
from timme._arrays import Floats
from timme.analysis.evidence import (
    Evidence,
    decide,
    medians,
    rigid_limit,
    shown_pairs,
)
from timme.analysis.finding import Finding, find
from timme.confidence.assessment import ClusterRecord
from timme.hierarchy import grow
from timme.hierarchy.condensed import Lineage
from timme.hierarchy.curves import round_cutoff, round_within
from timme.io import read
from timme.motion.body_search import Level
from timme.motion.rigid_bodies import Agreement, Bodies
from timme.output.summary import summary
from timme.synthetic import PlantedBodies, bodies

THREE: dict[str, Any] = {"n": 3, "gap": 14.4, "sharpness": 1.0, "fit": 2.2, "rand": 0.97}
ONE: dict[str, Any] = {"n": 1, "gap": 3.7, "fit": 0.48, "rand": 1.0}


def molecule(n_independent: float = 20.0, *, limit: float = 1.5, **known: Any) -> str:
    """Return the kind of a molecule by G, S and fit of its best split, and by its two halves."""
    labels, n = np.zeros(30, np.int64), known.pop("n")
    split = known.pop("gap"), known.pop("sharpness", np.nan), 0.5
    one = Level(1, np.nan, np.nan, known.pop("fit"), labels, (1.0,))
    halves = (
        None if np.isnan(known["rand"]) else Agreement(known.get("counts", (n, n)), known["rand"])
    )
    levels = (one, Level(max(n, 2), *split, labels, (0.5,)))
    tree = grow(30, np.empty((0, 2), np.int64), np.empty(0))
    found = Bodies(labels, ("A",) * n, tree, 1.0, levels, int(n > 1), 100, halves)
    return decide(Evidence(30, 100, n_independent, bodies=found, fit_limit=limit))


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "bodies"),
        ({"rand": np.nan}, "bodies"),
        ({"rand": 0.75}, "bodies"),
        ({"rand": 0.74}, "undecided"),
        ({"gap": 6.5}, "bodies"),
        ({"gap": 6.4}, "flexible"),
        ({"sharpness": np.nan}, "bodies"),
        ({"sharpness": 0.69}, "flexible"),
        ({"sharpness": 0.69, "fit": 1.4}, "one body"),
    ],
)
def test_bodies_need_a_gap_sharpness_and_agreement(changes: dict[str, Any], kind: str) -> None:
    assert molecule(**{**THREE, **changes}) == kind


@pytest.mark.parametrize(
    ("changes", "n_independent", "kind"),
    [
        ({}, 20.0, "one body"),
        ({"counts": (1, 2)}, 20.0, "undecided"),
        ({"gap": 4.0}, 7.9, "undecided"),
        ({"gap": 4.0}, np.nan, "undecided"),
        ({"gap": 4.0}, 8.0, "one body"),
        ({"gap": 3.9}, 2.0, "one body"),
        ({"gap": 9.0}, 2.0, "one body"),
        ({"fit": 1.5}, 20.0, "one body"),
        ({"fit": 1.51}, 20.0, "flexible"),
    ],
)
def test_one_body_is_rigid_flexible_or_undecided(
    changes: dict[str, Any], n_independent: float, kind: str
) -> None:
    assert molecule(n_independent, **{**ONE, **changes}) == kind


GROUP = ClusterRecord(np.arange(20), -1, 0.2, 0.6, 1.1, support=0.99, chance=0.05)


@pytest.mark.parametrize(
    ("changes", "n_snapshots", "kind"),
    [
        ({}, 100, "groups"),
        ({}, 8, "groups"),
        ({}, 7, "none"),
        ({}, None, "groups"),
        ({"plateau": 0.49}, 100, "none"),
        ({"plateau": np.inf}, 100, "groups"),
        ({"sites": np.arange(9)}, 100, "none"),
        ({"sites": np.arange(90)}, 100, "groups"),
        ({"sites": np.arange(91)}, 100, "groups"),  # the rest are few, but chance decides
        ({"sites": np.arange(91), "chance": np.nan}, 100, "none"),
        ({"sites": np.arange(100), "plateau": 0.0}, 100, "none"),
        ({"chance": 0.5}, 100, "none"),
        ({"chance": np.nan}, 50, "groups"),
        ({"chance": np.nan}, 49, "none"),  # not tried without a chance level
    ],
)
def test_groups_need_a_plateau_others_and_more_than_chance(
    changes: dict[str, Any], n_snapshots: int | None, kind: str
) -> None:
    assert decide(Evidence(100, n_snapshots, 9.0, records=(replace(GROUP, **changes),))) == kind


NETWORK = Lineage(np.arange(878), 0.01, 0.04, width=1.3, node=0, top=0)
STIFF: dict[str, Any] = {"inside": 0.06, "across": 0.2, "spacing": 1.0}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "network"),
        ({"sites": np.arange(495)}, "none"),
        ({"width": 0.49}, "none"),
        ({"across": 0.11}, "none"),
        ({"inside": 0.16, "across": 0.6}, "none"),
        ({"spacing": np.nan}, "none"),
    ],
)
def test_networks_hold_half_and_are_stiff(changes: dict[str, Any], kind: str) -> None:
    sigma = {name: changes.get(name, value) for name, value in STIFF.items()}
    own = {name: value for name, value in changes.items() if name not in sigma}
    found = Evidence(991, 60, 2.0, network=replace(NETWORK, **own), **sigma)
    assert decide(found) == kind


def test_groups_come_before_networks() -> None:
    found = Evidence(991, 60, 2.0, records=(GROUP,), network=NETWORK, **STIFF)
    assert decide(found) == "groups"


def test_the_limit_of_a_fit_is_in_the_unit_of_the_coordinates() -> None:
    assert rigid_limit("Å", 20.0) == 1.5
    assert rigid_limit("nm", 2.0) == pytest.approx(0.15)
    assert rigid_limit("", 16.0) == 2.0
    walks = np.random.default_rng(0).normal(scale=0.8, size=(100, 100, 2)).cumsum(axis=0)
    walks += np.random.default_rng(1).uniform(0, 100, (100, 2))
    found = timme.analyse_motion(walks, unit="µm").finding
    assert found is not None
    assert found.brief == "no rigid body"


def found_in(made: PlantedBodies, **options: Any) -> Finding:
    return find(analysis_of(made.ensemble, **options))


def test_two_bodies_are_described_with_their_hinge() -> None:
    made = analysis_of(bodies((60, 40), 60, spans=[50.0]).ensemble, title="made")
    found = find(made)
    lines = found.text().splitlines()
    assert (found.kind, found.sure) == ("bodies", "well supported")
    assert found.brief == "two rigid bodies"
    turns = "One turns by 50° against the other, as on a hinge."
    assert found.sentence == f"made: two rigid bodies, well supported. {turns}"
    assert lines[1] == "  bodies     1: 1-60 · 2: 61-100"
    assert found.labels.tolist() == [0] * 60 + [1] * 40
    assert found.names == ("1", "2")
    whole = replace(made, finding=found)
    assert repr(whole) == "<Analysis made: two rigid bodies; 100 sites, 60 snapshots>"
    text = summary(whole, [("sites.csv", "one row for each site")])
    assert text.startswith(str(whole))
    headings = [line for line in text.splitlines() if line and line[0].isupper()]
    assert headings[-5:] == ["Bodies", "Clusters", "Levels worth a look", "Sampling", "Files"]
    assert "  snapshots            60 in 1 run" in text
    assert max(map(len, text.split("Bodies")[0].splitlines())) <= 100


def test_one_body_and_a_flexible_chain_differ() -> None:
    rigid = found_in(bodies((60,), 60, spans=[]))
    assert rigid.kind == "one body"
    assert "one rigid body. All 60 sites move together over 60 snapshots" in rigid.sentence
    loose = found_in(bodies((60,), 60, spans=[], jitter=4.0))
    assert (loose.kind, loose.brief) == ("flexible", "no rigid body")


def walkers_of_which_some_stay_together(n_walkers: int, n_group: int) -> Floats:
    """Places (80, walkers, 2), those of the group with errors of 0.15."""
    rng = np.random.default_rng(0)
    tracks = np.cumsum(rng.normal(size=(80, n_walkers, 2)), axis=0)
    tracks[:, :n_group] = tracks[:, :1] + rng.normal(scale=0.15, size=(80, n_group, 2))
    return np.asarray(tracks + rng.uniform(0, 50, (n_walkers, 2)))


def test_a_group_among_walkers_is_found_at_its_plateau() -> None:
    tracks = walkers_of_which_some_stay_together(60, 15)
    found = find(made := analysis_of(read(tracks, unit="µm"), molecule=False, chance=True))
    assert (found.kind, found.sure) == ("groups", "well supported")
    assert found.sentence.endswith("well supported: 15 of 60 sites (1-15). The rest do not.")
    assert found.labels.tolist() == [0] * 15 + [-1] * 45
    low, high = map(float, found.facts[0].value.split()[6:9:2])
    assert [made.hierarchy.cut(end).sizes[0] for end in (low, high)] == [15, 15]
    assert low == pytest.approx(np.sqrt(2) * 0.15, rel=0.2)  # two sites with a jitter of 0.15


@pytest.mark.parametrize("n_outside", [0, 5])
def test_a_group_of_nearly_all_or_all_is_found(n_outside: int) -> None:
    tracks = walkers_of_which_some_stay_together(35, 35 - n_outside)
    found = find(analysis_of(read(tracks), molecule=False, chance=True))
    who = "30 of 35 sites (1-30). The rest do not." if n_outside else "1-35 (σc = "
    assert (found.kind, who in found.sentence) == ("groups", True)


@pytest.mark.parametrize("kind", ["equal", "fast strays", "slow", "confined"])
@pytest.mark.parametrize("seed", range(3))
def test_independent_particles_are_no_group(kind: str, seed: int) -> None:
    """By chance, too, all but a few fast walkers stay together over a factor of 2 and more."""
    rng, speeds = np.random.default_rng(seed), np.ones((40, 1))
    speeds[: 4 if kind == "fast strays" else 0] = 10.0
    speeds[: 15 if kind == "slow" else 0] = 0.05
    moves = speeds * rng.normal(size=(60, 40, 2))
    tracks = moves if kind == "confined" else np.cumsum(moves, axis=0)
    found = find(analysis_of(read(tracks), molecule=False, chance=True))
    assert found.kind == "none"
    if kind == "equal":
        assert "no group moves together among 40 sites" in found.sentence


def test_groups_are_not_denied_where_confidence_is_off() -> None:
    planted = timme.synthetic.planted((4, 25), 20, motions=(1.0, 0.1)).ensemble
    found = timme.analyse(planted, confidence=False).finding
    assert found is not None
    assert found.sure == "no error bars"
    assert "no group" not in found.sentence


def test_groups_are_compared_with_pairs_that_leave_them() -> None:
    """Two groups far apart: σ inside is that of the jitter, σ between that of the drift."""
    rng = np.random.default_rng(0)
    places = np.repeat(rng.normal(scale=5.0, size=(200, 2, 2)), 10, axis=1)
    places += rng.normal(scale=0.1, size=places.shape) + rng.uniform(0, 9, (20, 2))
    made = analysis_of(read(places), molecule=False)
    inside, across, among = medians(made, np.repeat([0, 1], 10))
    pairs, sigma = shown_pairs(made)
    same = pairs[:, 0] // 10 == pairs[:, 1] // 10
    assert inside == pytest.approx(np.median(sigma[same]))
    assert across == pytest.approx(np.median(sigma[~same]))
    assert np.isnan(among)


def test_particles_that_keep_their_distances_show_no_relative_motion() -> None:
    places = np.random.default_rng(0).integers(0, 50, (30, 3))
    moved = places + np.arange(20)[:, None, None]  # exact, so that no σ is rounding
    assert "no relative motion: 30 particles keep" in str(timme.analyse(moved))


def test_rounded_cutoffs_give_the_same_clusters() -> None:
    heights = np.random.default_rng(0).lognormal(sigma=3.0, size=300)
    tree = grow(301, np.array([*pairwise(range(301))]), np.append(heights[1:], heights[1] * 1.0001))
    for x in [*tree.levels, *np.sqrt(tree.levels[1:] * tree.levels[:-1]), -1.0, 0.0]:
        found = round_cutoff(tree, x)
        assert np.array_equal(tree.cut(found).labels, tree.cut(x).labels)
        assert round_cutoff(tree, found) == found
    assert round_within(0.038865, 0.038865, 0.03893) == 0.0389
    assert round_within(0.5168, 0.19, 1.44) == 0.52
    assert round_within(-0.139, -0.15, -0.131) == -0.14
