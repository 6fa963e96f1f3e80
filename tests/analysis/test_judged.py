"""What a run says of how sure it is: in its summary, its first picture, its tables and its file."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.cli.ensembles import shaken
from tests.readers.builders import peptide, write_pdb
from timme.analysis import Analysis, Judged, summary
from timme.output.confidence import confidence_csv
from timme.output.look import look_of
from timme.output.tables import clusters_csv
from timme.synthetic import FAMILIES


@pytest.fixture(scope="module")
def hinge() -> Analysis:
    made = FAMILIES["hinge 15° + tail"](60, 3)
    return timme.analyse(made.ensemble, pairs="contact", radius=10.0)


def judged(analysis: Analysis) -> Judged:
    part = analysis.part(Judged)
    assert part is not None
    return part


def test_the_first_picture_shows_the_planted_bodies(hinge: Analysis) -> None:
    first = hinge.suggest()[0]
    assert look_of(hinge).cutoff == first.cutoff
    assert first.reason.startswith(
        "2 clusters of 10 or more, stiff inside and apart (silhouette 0."
    )
    assert set(hinge.shown_hierarchy.cut(first.cutoff).sizes[:2]) >= {40}


def test_free_walkers_are_told_as_nothing_but_chance() -> None:
    rng = np.random.default_rng(4)
    steps = 0.06 * rng.normal(size=(60, 100, 3))
    walkers = timme.analyse(rng.uniform(0, 8, (100, 3)) + steps.cumsum(axis=0), radius=1.6)
    rows = dict(summary(walkers))
    assert rows["trusted"].startswith("none of ")
    by_silhouette = [each.reason for each in walkers.suggest() if "silhouette" in each.reason]
    assert by_silhouette[0].startswith("no level stands out")
    assert all("hardly apart" in reason for reason in by_silhouette)


def test_pieces_of_their_own_are_among_the_clusters_that_are_judged() -> None:
    made = timme.synthetic.FAMILIES["colloids + free particles"](60, 1)
    told = dict(summary(timme.analyse(made.ensemble, radius=1.6)))["trusted"]
    trusted, judged = (int(word) for word in told.split(" clusters")[0].split(" of "))
    assert 4 <= trusted <= judged


def test_the_demo_of_hinges_shows_its_bodies() -> None:
    made = timme.synthetic.hinged()
    analysis = timme.analyse(made.ensemble)
    cut = analysis.shown_hierarchy.cut(analysis.suggest()[0].cutoff)
    assert sorted(cut.sizes.tolist()) == [30, 30, 30]


def test_the_papers_criterion_comes_last_and_no_cut_twice(hinge: Analysis) -> None:
    found = hinge.suggest()
    assert "steepest rise" in found[-1].reason
    cuts = [tuple(hinge.shown_hierarchy.cut(each.cutoff).labels) for each in found]
    assert len(set(cuts)) == len(cuts)


def test_the_summary_says_whether_data_suffice_and_what_is_trusted(hinge: Analysis) -> None:
    rows = dict(summary(hinge))
    assert rows["sampling"].startswith("the slowest motion was seen about ")
    assert " clusters, of " in rows["trusted"]


def test_clusters_csv_says_of_each_large_cluster_whether_it_is_trusted(hinge: Analysis) -> None:
    first = hinge.suggest()[0].cutoff
    rows = list(csv.DictReader(io.StringIO(clusters_csv(hinge, [first]))))
    assert [row["trusted"] for row in rows[:2]] == ["yes", "yes"]
    assert all(float(row["support"]) >= 0.85 for row in rows[:2])
    assert all(row["support"] == "" for row in rows if int(row["size"]) < 10)


def test_every_judged_cluster_has_a_row_and_a_sentence(hinge: Analysis) -> None:
    rows = list(csv.DictReader(io.StringIO(confidence_csv(judged(hinge), hinge))))
    assert len(rows) == len(judged(hinge).confidence.records)
    assert rows[0]["in words"].endswith(": the whole")
    whole = hinge.shown_hierarchy.n_sites
    assert rows[0]["in words"].startswith(f"{whole} sites (")
    traced = replace(hinge, system=replace(hinge.system, shown_name="Cα"))
    assert confidence_csv(judged(hinge), traced).count(f"{whole} Cα (") == 1
    for row in rows[1:]:
        assert "resampled data" in row["in words"]
        if row["joined low (Å)"]:
            assert float(row["joined low (Å)"]) < float(row["joined high (Å)"])


def test_a_result_read_back_says_the_same(hinge: Analysis, tmp_path: Path) -> None:
    timme.save(hinge, tmp_path / "result.npz")
    again = timme.load(tmp_path / "result.npz")
    assert summary(again) == summary(hinge)
    assert confidence_csv(judged(again), again) == confidence_csv(judged(hinge), hinge)


def test_two_snapshots_and_matrices_say_why_nothing_can_be_told() -> None:
    two = dict(summary(timme.analyse(timme.synthetic.chain(40))))
    assert two["sampling"].endswith("no confidence can be given")
    half = np.triu(np.random.default_rng(0).uniform(0.5, 1.0, (30, 30)), 1)
    matrix = dict(summary(timme.analyse(half + half.T)))
    assert matrix["sampling"].startswith("a ready-made matrix does not say how sure it is")


def test_nobody_is_judged_who_does_not_want_to_be() -> None:
    made = timme.analyse(timme.synthetic.hinged().ensemble, confidence=False)
    assert made.part(Judged) is None
    assert "sampling" not in dict(summary(made))


def test_other_linkages_are_never_silent() -> None:
    made = FAMILIES["hinge 15° + tail"](40, 3).ensemble
    braced = timme.analyse(made, pairs="contact", radius=10.0, linkage="braced")
    assert any("braced linkage, which is not the paper" in note for note in braced.notes)
    with pytest.raises(ValueError, match="average linkage needs σ of all"):
        timme.analyse(made, pairs="contact", radius=10.0, linkage="average")
    averaged = timme.analyse(made, pairs="all", linkage="average")
    assert any("average linkage, which is not" in note for note in averaged.notes)


@pytest.mark.parametrize("asked", [{}, {"pairs": "all"}])
def test_average_linkage_of_a_molecule_compares_neighbours_along_bonds_too(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    """Nobody has to find out which pairs a recipe leaves out, to be given the mean over all."""
    file = write_pdb(tmp_path / "models.pdb", shaken(peptide(n_residues=8)))
    made = timme.analyse(file, objects="points", linkage="average", **asked)
    assert made.fluctuations is not None
    n_sites = made.fluctuations.n_objects
    assert len(made.fluctuations.pairs) == n_sites * (n_sites - 1) // 2
    with pytest.raises(ValueError, match=r"however near along bonds \(pairs='all', min_bonds=0\)"):
        timme.analyse(file, objects="points", linkage="average", min_bonds=4, **asked)


def test_older_results_that_know_the_excess_of_compared_pairs_alone_are_read(
    hinge: Analysis,
) -> None:
    arrays = judged(hinge).to_arrays()
    arrays["records"] = arrays["records"][:, :-1]
    read = Judged.from_arrays(arrays, hinge.system, hinge.hierarchy)
    for before, after in zip(
        judged(hinge).confidence.records, read.confidence.records, strict=True
    ):
        assert after.support == before.support
        assert after.share == before.share
        assert (after.separation is None) == (before.separation is None)
        assert after.separation is None or np.isnan(after.separation.excess_all)
