"""Built-in systems give the answers of the specification, of the paper and of their makers."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from timme.analysis.result import Analysis
from timme.demo import DEMOS, analyse_demo


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kinase", "kinase: three rigid bodies, well supported. "),
        ("barnase", "barnase_md: one rigid body. All 108 residues move together over 0.5 ns"),
        ("rigidity", "barnase_md: one rigid core of 11 of 108 residues, held by hydrogen bonds"),
        ("spheres", "spheres: 871 of 991 form one network at σc = 0.19 µm (0.15 diameters), arr"),
        ("fluid", "fluid: no lasting clusters. Of 991 particles at most 367 move together at σc"),
        ("water", "water: no lasting clusters. Of 1,000 molecules at most 18 move together at σc"),
        ("hinge", "hinge: three groups move together, well supported: 1-30 · 31-60 · 61-90 (σc"),
    ],
)
def test_demos_give_the_specified_answers(name: str, words: str) -> None:
    found = analyse_demo(name)
    assert " ".join(str(found).split()).startswith(words)
    assert found.notes == tuple(dict.fromkeys(found.notes))
    if name == "water":
        assert "  chance     independent walkers with the same steps: 4 (95 %: 5)" in str(found)


@pytest.mark.parametrize(
    ("name", "sizes"),  # as in examples/simulate
    [("crowd", (5, 4, 4, 3, 3, 3, 2, 2, 2, 2)), ("road", (9, 7, 5, 4, 3))],
)
def test_all_parties_and_platoons_are_found(name: str, sizes: tuple[int, ...]) -> None:
    found = analyse_demo(name).finding
    assert found is not None
    assert found.kind == "groups"
    planted = np.repeat(np.arange(len(sizes)), sizes)
    pairs = set(zip(planted.tolist(), found.labels[: len(planted)].tolist(), strict=True))
    assert len(pairs) == len({group for _, group in pairs}) == len(sizes)  # one for each
    assert -1 not in {group for _, group in pairs}
    # of those alone, at most one in ten is counted with others
    assert np.count_nonzero(found.labels[len(planted) :] >= 0) <= len(found.labels) / 10


def test_half_of_the_chain_is_in_large_clusters_where_theory_says_so() -> None:
    found: Analysis = analyse_demo("chain")
    sizes = found.hierarchy.cut(0.481).sizes
    wanted = float(timme.theory.tail_fraction(timme.theory.join_probability(0.481), large=10))
    share = sizes[sizes >= 10].sum() / sizes.sum()
    # clusters of 10 or more hold about 13 links each: some 400 of them are independent
    assert share == pytest.approx(wanted, abs=3 * (wanted * (1 - wanted) / 400) ** 0.5)
    assert found.made.theory


def test_other_demos_are_refused_with_the_names_of_all() -> None:
    with pytest.raises(ValueError, match=r"kinase, barnase, .*, road, got 'proteins'"):
        analyse_demo("proteins")
    assert next(iter(DEMOS)) == "kinase"  # which is analysed if none is named


def test_the_dilution_plot_fades_every_cluster_that_is_not_established() -> None:
    kinase = analyse_demo()
    drawn = timme.plot(kinase, "dilution").collections
    polygons = [path.vertices for each in drawn for path in each.get_paths() if each.zorder == 1.5]
    faded = {(round(float(each[:, 0].min())), float(each[:, 1].max())) for each in polygons}
    weak = [record for record in kinase.clusters if record.support == record.support]
    weak = [record for record in weak if record.sure == "not established"]
    assert len(weak) > 5
    for record in weak:
        assert {(site, record.high) for site in record.sites.tolist()} <= faded
