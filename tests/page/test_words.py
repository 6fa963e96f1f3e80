"""Clusters in words: their members as runs, and as a selection that PyMOL understands."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from tests.page.conftest import Open
from tests.page.systems import swarm
from timme.analysis import Analysis
from timme.system.atoms import Atoms

Residue = tuple[str, int, str]  # chain, number, letter of insertion

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
    chains, numbers, codes = zip(*residues, strict=True)
    atoms = Atoms(
        names=np.full(count, "CA"),
        elements=np.full(count, "C"),
        resnames=np.full(count, "GLY"),
        resids=np.array(numbers),
        icodes=np.array(codes),
        chains=np.array(chains),
        masses=np.ones(count),
        bonds=np.empty((0, 2), np.int64),
    )
    rng = np.random.default_rng(seed)
    pairs = [(i, i + 1) for i in range(count - 1)] + [(i, i + 2) for i in range(count - 2)]
    graph = (count, pairs, rng.random(len(pairs)).tolist())
    return swarm(count, graph=graph, sites=atoms, min_size=1)


# ---- PyMOL ---------------------------------------------------------------------------------------


def chosen(selection: str, residues: list[Residue]) -> set[Residue]:
    """Residues that PyMOL would select: ``10-11`` by numbers alone, ``10`` and ``10A`` as said."""
    found = set()
    for part in selection.split(" or "):
        match = re.fullmatch(r"\(chain (\S+) and resi (\S+)\)|resi (\S+)", part)
        assert match is not None
        chain, resi = match[1], match[2] or match[3]
        tests = [functools.partial(_resi_matches, item) for item in resi.split("+")]
        for residue in residues:
            of_chain = chain is None or residue[0] == re.sub(r"^(['\"])(.*)\1$", r"\2", chain)
            if of_chain and any(test(residue) for test in tests):
                found.add(residue)
    return found


def _resi_matches(item: str, residue: Residue) -> bool:
    _, number, code = residue
    both = re.fullmatch(r"(\\?-?\d+)-(\\?-?\d+)", item)
    if both is None:
        return item.lstrip("\\") == f"{number}{code}"
    low, high = (int(end.lstrip("\\")) for end in both.groups())
    return low <= number <= high


@pytest.mark.parametrize("seed", range(3))
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
