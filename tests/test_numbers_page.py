"""The page of the paper's numbers says what its script computes.

Rows of proteins need entries of the PDB, and are not computed here.
"""

from __future__ import annotations

import numpy as np
import pytest

import timme
from docs.forms import form
from docs.make_numbers import (
    FAR,
    NEIGHBOURS,
    PAGE,
    Row,
    chain_rows,
    form_table,
    oxygens_each_ps,
    sphere_rows,
    table,
    water_row,
    window_rows,
)

TEXT = PAGE.read_text("utf-8")


def lines(cells: list[str]) -> list[str]:
    """Of a table with a row of cells."""
    return table(["head"], [cells]).splitlines()[2:]


def is_told(row: Row) -> bool:
    return lines(row.cells)[0] in TEXT.splitlines()


def test_a_row_that_differs_by_a_digit_is_seen() -> None:
    """So that the other tests can fail."""
    row, _ = water_row()
    assert is_told(row)
    assert not is_told(Row(row.what, row.paper, row.ours.replace("18", "19"), row.why))


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


@pytest.mark.thorough
def test_forms_of_curves_are_those_of_the_page() -> None:
    systems: dict[str, timme.Hierarchy] = sphere_rows()[1] | water_row()[1]
    told = form_table({name: form(hierarchy) for name, hierarchy in systems.items()})
    assert set(told.splitlines()) <= set(TEXT.splitlines())
