"""The built-in examples show what they are named for, at the cutoff that is shown first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import timme
from docs.make_data import displacements
from tests.data.measures import spans
from tests.synthetic.test_known_answers import same_clusters
from timme import statistics
from timme._arrays import Ints
from timme.settings import DEMOS
from timme.workflow import demo, scene_of, summary
from timme.workflow.demo import analyse_demo


def first_labels(analysis: timme.Analysis) -> Ints:
    """Clusters at the cutoff that is shown first."""
    return analysis.hierarchy.cut(analysis.suggest()[0].cutoff).labels


def test_every_demo_that_is_named_can_be_analysed() -> None:
    assert set(demo._ANALYSES) == set(DEMOS)


def test_a_demo_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=rf"one of {', '.join(DEMOS)}, got 'boat'"):
        analyse_demo("boat")


def test_the_cutoff_of_a_demo_is_known_and_not_chosen_by_the_user(tmp_path: Path) -> None:
    made = analyse_demo("hinge")
    assert made.recipe.provenance.command == "timme demo hinge"
    timme.save(made, tmp_path / "result.npz")
    for shown in (made, timme.load(tmp_path / "result.npz")):
        rows = summary(shown)
        first = next(text for name, text in rows if name == "cutoffs")
        assert first.startswith("σc = 0.04")
        assert "the three bodies are side by side" in first
        assert "user" not in str(rows)
        scene = scene_of(shown)
        assert scene["suggestions"][0]["cutoff"] == 0.04
        assert scene["title"] == "Three bodies joined by hinges"


@pytest.mark.thorough
def test_half_of_the_chain_is_in_large_clusters_where_it_is_shown_first() -> None:
    """To three standard errors: about 10,000 / 37 clusters, of which each counts or does not."""
    made = analyse_demo("chain")
    sizes = made.hierarchy.cut(made.suggest()[0].cutoff).sizes
    assert sizes[sizes >= 10].sum() / 10_000 == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("name", "file", "column"), [("crowd", "crowd", "party"), ("road", "ring_road", "platoon")]
)
def test_those_who_go_together_are_one_cluster(name: str, file: str, column: str) -> None:
    header, *rows = (
        line.split(",") for line in timme.data.path(f"{file}.csv").read_text().splitlines()
    )
    place, owner = header.index(column), header.index("particle")
    together = {int(row[owner]): int(row[place]) for row in rows}
    known = np.array([together[number] for number in sorted(together)])
    assert same_clusters(first_labels(analyse_demo(name)), known)


@pytest.mark.thorough
def test_the_largest_cluster_of_the_drop_is_about_as_large_as_in_the_paper() -> None:
    """17 molecules at 0.54 a; which of a thousand hang together is a matter of chance."""
    made = analyse_demo("water")
    assert (made.hierarchy.n_sites, made.system.n_snapshots) == (1000, 10)
    assert 17 / 2 < np.bincount(first_labels(made)).max() < 17 * 2


@pytest.mark.thorough
def test_spheres_that_stick_are_an_arrested_network_among_mobile_ones() -> None:
    """Displacements have a valley at a third of a diameter: who is below is in the core.

    Who is outside of it is above. Some of those above are in the core at the paper's cutoff: they
    roll over its surface, at one distance from a sphere of it. At 0.05 a, a little more than
    errors of places make of σ, it is the network and little else, and spans the room both ways.
    """
    made = analyse_demo("spheres")
    assert (made.hierarchy.n_sites, made.system.n_snapshots) == (991, 46)
    labels = first_labels(made)
    core = labels == np.bincount(labels).argmax()
    moved = displacements(timme.data.spheres())
    assert core[moved < 0.3].mean() > 0.99
    assert (moved[~core] > 0.3).mean() > 0.9
    assert 5 / 6 < core.mean() < 0.95
    labels = made.hierarchy.cut(0.05 * 1.3).labels
    core = labels == np.bincount(labels).argmax()
    assert core[moved < 0.3].mean() > 0.95
    assert (moved[core] < 0.3).mean() > 0.95
    places, box = timme.data.spheres().snapshot()
    assert box is not None
    room = np.array([box[0, 0], box[1, 1], 130.0]) / 1.3
    inside = (places / 1.3 % room)[core]
    assert all(spans(inside, room, axis) for axis in (0, 1))


@pytest.mark.thorough
def test_large_clusters_of_the_dense_fluid_rise_where_they_do_in_the_paper() -> None:
    """At 0.147 a there: to a tenth, which is how well packing and times of the two agree."""
    made = analyse_demo("fluid")
    assert (made.hierarchy.n_sites, made.system.n_snapshots) == (991, 46)
    assert made.hierarchy.unit == "µm"
    steepest = statistics.inflection(statistics.curves(made.hierarchy))
    assert steepest == pytest.approx(0.147 * 1.3, rel=0.1)
