"""Structures become hierarchies of energies, as golden networks and the specification have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.analysis.test_store import differences
from tests.golden.systems import SHARED
from tests.rigidity.structures import golden, methane, structure
from timme.analysis import tables
from timme.analysis.result import Analysis
from timme.analysis.rigidity import analyse_rigidity
from timme.output.folder import write_folder
from timme.output.summary import answer

NMR, XRAY = SHARED / "nmr" / "1bnr.pdb", SHARED / "xray" / "1a2p.pdb"
needs_files = pytest.mark.skipif(not NMR.exists(), reason="no ../shared/data/nmr here")
ENERGIES = (0.0, -0.1, -0.5, -1.0, -1.5, -2.0, -2.3, -3.0)


@pytest.fixture(scope="module")
def barnase() -> Analysis:
    """The first model of 1bnr, whose hydrogens are those of the file."""
    return analyse_rigidity(structure("1bnr"))


def test_cores_are_the_golden_ones_at_every_energy(barnase: Analysis) -> None:
    kept = golden("1bnr")
    assert barnase.hierarchy.heights.tolist() == kept["shown_dilution.heights"]
    for energy in ENERGIES:
        core = barnase.hierarchy.cut(energy).members(0)
        np.testing.assert_array_equal(core, kept[f"at {energy:g}.core"])
    assert barnase.rigidity is not None
    np.testing.assert_array_equal(barnase.rigidity.flexibility, kept["at -1.residue_flexibility"])


def test_the_answer_is_that_of_the_specification() -> None:
    found = analyse_rigidity(replace(structure("1a2p-a"), sources=("1a2p.pdb",)), chain="A")
    lines = answer(found, "timme-rigidity-1a2p").splitlines()
    assert lines[0] == (
        "1a2p A: one rigid core of 54 of 108 residues, held by hydrogen bonds of −1 kcal/mol or "
        "stronger."
    )
    assert lines[1] == (
        "  core       A 6-18, 52-56, 63-64, 70-76, 84-110; next: A 26-34 (9), A 42-45 (4)"
    )
    assert lines[2] == (
        "  dilution   core 95 at −0.1 kcal/mol, 79 at −0.5, 54 at −1, 52 at −1.5, 44 at −2, "
        "32 at −3"
    )
    assert lines[3].endswith(" 58 hydrophobic contacts")
    assert lines[4] == (
        "Note: one structure has no error bars; shifts of 0.1 Å can change a core by tens of "
        "residues."
    )
    assert lines[5] == (
        "Open timme-rigidity-1a2p/report.html  (more: summary.txt, constraints.csv; "
        "PyMOL: view.pml)"
    )
    assert repr(found).startswith("<Analysis 1a2p A: one rigid core of 54")


@needs_files
def test_hydrogens_are_added_and_waters_left_out(tmp_path: Path) -> None:
    found = analyse_rigidity(XRAY, chain="A")
    assert found.rigidity is not None
    assert found.rigidity.n_added == 836
    assert "left out 134 waters (waters=True keeps them)" in found.notes
    assert found.system.numbers is None  # atoms have no numbers in the file of the user
    assert [source.name for source in found.made.sources] == ["1a2p.pdb"]
    assert {path.name for path in write_folder(found, tmp_path / "x")} == {
        *("summary.txt", "report.html", "result.npz", "sites.csv", "clusters.csv", "levels.csv"),
        *("constraints.csv", "flexibility.csv", "structure.cif", "finding.png", "dilution.png"),
        *("view.pml", "view.cxc", "view.tcl"),
    }
    assert differences(found, timme.load(tmp_path / "x"), "found") == []
    wet = analyse_rigidity(XRAY, chain="A", waters=True)
    assert len(wet.system.sites) > len(found.system.sites) + 100
    assert not any("left out" in note and "water" in note for note in wet.notes)


@needs_files
def test_an_ensemble_has_the_golden_spread() -> None:
    found = analyse_rigidity(NMR, ensemble=True)
    assert found.rigidity is not None
    many = found.rigidity.together
    assert many is not None
    kept = golden("1bnr-together")
    assert many.largest.tolist() == kept["at -1.largest"]
    assert many.floppy_modes.tolist() == kept["at -1.floppy_modes"]
    assert "  spread     46 to 81 residues over 20 snapshots at −1 kcal/mol" in str(found)
    third = analyse_rigidity(NMR, model=3)
    assert third.hierarchy.cut(-1.0).sizes[0] == many.largest[2]
    again = analyse_rigidity(timme.read(NMR), model=3)
    np.testing.assert_array_equal(again.hierarchy.heights, third.hierarchy.heights)
    with pytest.raises(ValueError, match="at most 20, the number of models"):
        analyse_rigidity(NMR, model=21)
    first = analyse_rigidity(NMR)
    assert "of 20 models or frames, the first was taken" in first.notes[0]


def test_perturbed_copies_give_a_spread_that_depends_on_the_seed_alone() -> None:
    one, other, third = (
        analyse_rigidity(structure("1bnr"), perturb=4, seed=seed) for seed in (1, 1, 2)
    )
    spreads = []
    for each in (one, other, third):
        assert each.rigidity is not None
        assert each.rigidity.together is not None
        spreads.append(each.rigidity.together.stability)
    np.testing.assert_array_equal(spreads[0], spreads[1])
    assert not np.array_equal(spreads[0], spreads[2], equal_nan=True)
    assert one.finding.notes == ()  # not "no error bars"
    found = tables.flexibility(one).columns
    joined = (np.array(spreads[0]) <= -1.0).mean(axis=0)
    np.testing.assert_array_equal(found["in_core"], joined)


def test_the_list_of_bonds_is_read_back(barnase: Analysis, tmp_path: Path) -> None:
    path = tmp_path / "constraints.csv"
    table = tables.constraints(barnase)
    path.write_text(table.csv(), "utf-8")
    again = analyse_rigidity(structure("1bnr"), constraints=path)
    np.testing.assert_array_equal(again.hierarchy.parents, barnase.hierarchy.parents)
    np.testing.assert_allclose(again.hierarchy.heights, barnase.hierarchy.heights, rtol=1e-5)
    strong = np.array(table.columns["kind"]) != "hydrogen bond"
    kept = tables.Table({k: np.array(v)[strong] for k, v in table.columns.items()})
    path.write_text(kept.csv(), "utf-8")
    fewer = analyse_rigidity(structure("1bnr"), constraints=path).hierarchy.cut(0.0).sizes
    assert fewer[0] < barnase.hierarchy.cut(0.0).sizes[0]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"chain": "Q"}, "chain= names Q, and the chains are 'A'"),
    ({"energy": -30}, "energy= is at least -10 kcal/mol, got -30"),
    ({"model": 2}, "model= must be at most 1, the number of models"),
    ({"ensemble": True}, "an ensemble needs at least 2 models or frames, got 1"),
    ({"step": 2}, "are for an ensemble: use model=, or add ensemble="),
    ({"cutoff": -1}, "there is no option cutoff="),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        analyse_rigidity(structure("1bnr"), **options)


def test_a_molecule_without_residues_is_analysed_and_points_are_refused() -> None:
    found = analyse_rigidity(methane())
    assert found.hierarchy.cut(0.0).n_clusters == 1
    with pytest.raises(ValueError, match="needs covalent bonds"):
        analyse_rigidity(timme.synthetic.planted().ensemble)
