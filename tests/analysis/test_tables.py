"""Reference tests of tables: rows by hand, headers that never change, cells that are harmless."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.systems import analysis_of
from timme.analysis import tables
from timme.analysis.result import Analysis
from timme.ensemble.atoms import Atoms
from timme.synthetic import bodies


@pytest.fixture(scope="module")
def hinge() -> Analysis:
    return analysis_of(bodies((60, 40), 60, spans=[50.0]).ensemble)


def test_particles_with_names_go_by_these() -> None:
    atoms = replace(Atoms.unnamed(3), names=np.array(["c2", "c9", "c10"]))
    assert tables.runs(atoms, [0, 1, 2]) == "c2-c10"


def test_residues_are_ranges_within_chains() -> None:
    atoms = replace(
        Atoms.unnamed(8),
        chains=np.array(list("AAAABBBB")),
        resids=np.array([1, 2, 3, 52, 52, 53, 7, 8]),
        icodes=np.array(["", "", "", "A", "", "", "", ""]),
    )
    assert tables.runs(atoms, [0, 1, 3, 4, 5, 7]) == "A 1-2, 52A; B 52-53, 8"
    assert tables.runs(atoms, [2, 3]) == "A 3-52A"  # neighbours in the list
    only = replace(atoms, chains=np.full(8, "4AKE"))
    assert tables.runs(only, [0, 1]) == "1-2"


def test_cells_are_no_formulas_and_numbers_stay() -> None:
    table = tables.Table({"name": ["=1+1", "@x", "-a", "-3", "a,b"], "x": [1, -2.5, np.nan, 3, 4]})
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert [row[0] for row in rows] == ["name", "'=1+1", "'@x", "'-a", "-3", "a,b"]
    assert [row[1] for row in rows] == ["x", "1", "-2.5", "", "3", "4"]
    assert table.to_dataframe().shape == (5, 2)
    assert "<script" not in tables.Table({"<script>": ["<b>"]})._repr_html_()


def test_rows_of_sites_clusters_and_bodies_tell_the_same(hinge: Analysis) -> None:
    sites, clusters, rows = (
        each(hinge).columns for each in (tables.sites, tables.clusters, tables.bodies)
    )
    assert sites["body"] == [1] * 60 + [2] * 40
    assert rows["members"] == ["1-60", "61-100"]
    assert rows["relative_to"] == ["", "1"]
    assert hinge.bodies[1].angle == pytest.approx(50.0, rel=0.2)  # as planted, with noise
    assert clusters["cluster"] == list(range(1, len(clusters["cluster"]) + 1))
    for number, size in zip(clusters["cluster"], clusters["size"], strict=True):
        parts = [
            n
            for n, above in zip(clusters["cluster"], clusters["part_of"], strict=True)
            if above == number
        ]
        held = sites["cluster"].count(number)
        assert held + sum(clusters["size"][part - 1] for part in parts) <= size


def test_levels_count_what_cuts_count(hinge: Analysis) -> None:
    columns = tables.levels(hinge).columns
    cutoffs = columns[tables.header("cutoff", hinge.hierarchy.unit)]
    rows = zip(cutoffs, columns["clusters"], columns["largest"], strict=True)
    for cutoff, count, largest in [*rows][::20]:
        sizes = hinge.hierarchy.cut(cutoff).sizes
        assert (len(sizes), sizes[0]) == (count, largest)


def test_angles_are_those_of_each_snapshot(hinge: Analysis) -> None:
    columns = tables.angles(hinge).columns
    assert columns["snapshot"] == list(range(60))
    assert np.ptp(columns["body_2_deg"]) == pytest.approx(hinge.bodies[1].angle)


def test_atoms_of_one_residue_are_listed_by_their_names() -> None:
    names, one = np.array(["PA", "O1A", "C1"]), np.ones(3, np.int64)
    ligand = replace(Atoms.unnamed(3), names=names, resids=215 * one, chains=np.full(3, "A"))
    assert tables.runs(ligand, [0, 1]) == "A 215/PA-215/O1A"
    beads = replace(ligand, names=np.full(3, "C"))  # go by their places
    assert [tables.runs(each, [2]) for each in (ligand, beads)] == ["A 215/C1", "A 3"]


def test_headers_have_units_in_plain_letters() -> None:
    assert tables.header("core_σ", "Å") == "core_sigma_A"
    assert tables.header("core_E", "kcal/mol") == "core_E_kcal_mol"
    assert tables.header("forms_at", "um") == "forms_at_um"
    assert tables.header("forms_at", "") == "forms_at"
