"""The page of the paper's numbers says what its script computes.

Of proteins, the simulated one is computed here; others need entries of the PDB.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import timme
from docs.forms import SEEDS, fit, form, rms
from docs.make_numbers import (
    FAR,
    NEIGHBOURS,
    PAGE,
    Row,
    chain_rows,
    oxygens_each_ps,
    quiet,
    sphere_rows,
    table,
    water_row,
    window_rows,
)

TEXT = PAGE.read_text("utf-8")
OTHERS = range(1001, 1201)  # seeds of chains that the page does not know


def lines(cells: list[str]) -> list[str]:
    """Of a table with a row of cells."""
    return table(["head"], [cells]).splitlines()[2:]


def is_told(row: Row) -> bool:
    return lines(row.cells)[0] in TEXT.splitlines()


def test_a_row_that_differs_by_a_digit_is_seen() -> None:
    """So that the other tests can fail."""
    row, _ = water_row()
    assert is_told(row)
    assert not is_told(Row(row.what, row.paper, row.ours.replace("23", "22"), row.why))


def test_the_rows_of_chains_are_those_of_the_page() -> None:
    assert all(is_told(row) for row in chain_rows()[0])


def test_the_rows_of_spheres_are_those_of_the_page() -> None:
    rows, _ = sphere_rows()
    assert len(rows) == 2
    assert all(is_told(row) for row in rows)


@pytest.mark.parametrize(("length", "interval"), [(9.0, 9.0), (12.0, 3.0), (198.0, 9.0)])
def test_stretches_of_the_drop_are_those_of_the_page(length: float, interval: float) -> None:
    (cells,) = window_rows(oxygens_each_ps(), 1.0, (length,), (interval,))
    assert lines(cells)[0] in TEXT.splitlines()


def test_the_largest_cluster_is_counted_as_anyone_would() -> None:
    """Of molecules within a radius in any snapshot, joined where their distance hardly changes."""
    places = oxygens_each_ps()[:13:3]
    apart = np.array([np.linalg.norm(frame[:, None] - frame, axis=2) for frame in places])
    for radius, cell in ((NEIGHBOURS, 3), (FAR, 5)):
        joined = (apart.min(axis=0) <= radius) & (apart.std(axis=0) <= 0.54 * 0.96)
        sizes = [len(group) for group in _groups(joined)]
        (cells,) = window_rows(places, 3.0, (12.0,), (3.0,))
        assert cells[cell] == f"{max(sizes)} ± 0"


def _groups(joined: np.ndarray) -> list[set[int]]:
    left, groups = set(range(len(joined))), []
    while left:
        group, new = set[int](), {left.pop()}
        while new:
            group |= new
            new = set(np.flatnonzero(joined[list(new)].any(axis=0)).tolist()) - group
        left -= group
        groups.append(group)
    return groups


def told_form(name: str) -> dict[str, str]:
    """A row of the table of forms, by its heads."""
    rows = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("|")]
    heads = next(row for row in rows if "chains that are farther" in row)
    return dict(zip(heads, next(row for row in rows if row[0] == name), strict=True))


def distance(hierarchy: timme.Hierarchy) -> str:
    """From a sigmoid, as the table has it."""
    _, fraction, fitted = fit(hierarchy)
    return f"{rms(fraction - fitted):.3f}"


@pytest.mark.thorough
def test_spheres_are_as_far_from_a_sigmoid_as_the_page_says() -> None:
    """And the fluid is one beside 24 chains that the page has not seen."""
    spheres = sphere_rows()[1]
    assert len(spheres) == 2
    for name, hierarchy in spheres.items():
        assert told_form(name)["rms distance from a sigmoid"] == distance(hierarchy)
    fluid = "spheres, dense fluid"
    assert told_form(fluid)["form"] == form(spheres[fluid], seeds=OTHERS[:24]).verdict == "sigmoid"


@pytest.mark.long
def test_forms_of_the_page_are_those_of_other_chains_as_well() -> None:
    """The share of 200 chains that are farther differs by chance: by three standard errors at most.

    Verdicts hold all the same, also that the gel, of two kinds of motion, is none.
    """
    systems: dict[str, timme.Hierarchy] = sphere_rows()[1] | water_row()[1]
    systems["barnase, atoms, MD"] = quiet(timme.data.barnase_md(dense=True)).hierarchy
    for name, hierarchy in systems.items():
        found, told = form(hierarchy, seeds=OTHERS), told_form(name)
        assert told["form"] == found.verdict
        assert told["sites"] == f"{hierarchy.n_sites:,}"
        share = float(told["chains that are farther"].rstrip(" %")) / 100
        mean = (share + found.farther) / 2
        spread = np.sqrt(2 * mean * (1 - mean) / len(OTHERS))
        assert abs(share - found.farther) <= 3 * spread + 0.001


@pytest.mark.thorough
def test_rows_of_simulated_barnase_say_what_its_trajectory_shows() -> None:
    """Its core at 0.068, in both rows in which it is compared there, and both of its forms."""
    md = quiet(timme.data.barnase_md(dense=True))
    core = int(md.shown_hierarchy.cut(0.068 * 1.54).sizes[0])
    rows = [line for line in TEXT.splitlines() if "0.1 ns of MD" in line]
    assert len(rows) == 2
    for row in rows:
        assert re.findall(r"and (\d+) Cα", row)[-1] == str(core)
    for name, hierarchy in (("Cα", md.shown_hierarchy), ("atoms", md.hierarchy)):
        told = told_form(f"barnase, {name}, MD")
        assert told["rms distance from a sigmoid"] == distance(hierarchy)


def test_forms_are_told_from_the_chains_that_the_page_names() -> None:
    assert f"{len(SEEDS)} " in TEXT.split("## Sigmoid or not")[1].split("##")[0]
    assert len(SEEDS) >= 200
    assert not set(SEEDS) & set(OTHERS)
    assert 0 not in SEEDS  # that of the chain itself
