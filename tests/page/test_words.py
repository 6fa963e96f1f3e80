"""Clusters in words: their members as runs, and as a selection that PyMOL understands."""

from __future__ import annotations

import numpy as np
import pytest

from tests.output.builders import glycines
from tests.page.conftest import Open
from tests.page.pymol import Residue, chosen
from tests.page.systems import swarm
from timme.analysis import Analysis

# A blank chain beside named ones, negative numbers, letters of insertion, and missing numbers.
RESIDUES: list[Residue] = [
    *(("", number, "") for number in range(-3, 9)),
    *(("A", number, code) for number in range(8, 14) for code in ("", "A", "B")),
    *(("A", number, "") for number in (20, 21, 24, 25, 26)),
    *(("'", number, "") for number in range(1, 6)),
]


def named(residues: list[Residue], seed: int = 7) -> Analysis:
    """Residues of one atom each, whose clusters take no heed of their numbers."""
    count = len(residues)
    rng = np.random.default_rng(seed)
    pairs = [(i, i + 1) for i in range(count - 1)] + [(i, i + 2) for i in range(count - 2)]
    graph = (count, pairs, rng.random(len(pairs)).tolist())
    return swarm(count, graph=graph, sites=glycines(residues), min_size=1)


# ---- PyMOL ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
)
@pytest.mark.parametrize("blank", [True, False])
def test_a_selection_for_pymol_takes_the_members_and_nothing_else(
    show: Open, *, seed: int, blank: bool
) -> None:
    residues = [("", number, "") for number in range(-3, 20)] if blank else RESIDUES
    analysis = named(residues, seed)
    page = show(analysis)
    asked = 0
    for cutoff in np.quantile(analysis.hierarchy.levels, [0.2, 0.5, 0.7, 0.9]).tolist():
        page.evaluate(f"timme.page.setCutoff({cutoff})")
        for cluster in page.evaluate("timme.page.state().clusters")[:6]:
            members = cluster["members"]
            page.evaluate(f"timme.page.select({members[0]})")
            selection = page.evaluate("timme.page.pymol()")
            assert chosen(selection, residues) == {residues[member] for member in members}
            asked += 1
    assert asked > 10


# ---- members -------------------------------------------------------------------------------------

MEMBERS = "document.querySelector('tbody td.members').textContent"


def test_many_members_in_a_row_are_one_run(show: Open) -> None:
    page = show(named([("A", number, "") for number in range(1, 201)]))
    page.press("End")
    assert page.evaluate(MEMBERS) == "A 1-200"


def test_a_run_is_of_labels_that_follow_one_another(show: Open) -> None:
    residues: list[Residue] = [("", number, "") for number in (404, 500, 611, 612, 613, 702)]
    page = show(named(residues))
    page.press("End")
    assert page.evaluate(MEMBERS) == "404 500 611-613 702"
    page = show(named([("A", 5, ""), ("A", 5, "A"), ("A", 6, ""), ("A", 9, ""), ("B", 10, "")]))
    page.press("End")
    assert page.evaluate(MEMBERS) == "A 5-6 9, B 10"


def test_a_text_that_is_too_long_ends_after_a_whole_run(show: Open) -> None:
    page = show(named([("A", number, "") for number in range(1, 400, 2)]))
    page.press("End")
    text = page.evaluate(MEMBERS)
    assert len(text) <= 82
    assert text.endswith(" …")
    assert (
        text == "A " + " ".join(str(number) for number in range(1, 400, 2))[: len(text) - 4] + " …"
    )
