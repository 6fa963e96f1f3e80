"""Answers of real systems, line by line as they are specified."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.systems import analysis_of
from timme.analysis.finding import find
from timme.analysis.result import Analysis
from timme.output.summary import answer, summary
from timme.synthetic import bodies


@pytest.fixture(scope="module")
def hinge() -> Analysis:
    found = analysis_of(bodies((60, 40), 60, spans=[50.0]).ensemble, title="hinge")
    return replace(found, finding=find(found))


def test_an_answer_ends_with_where_the_rest_is(hinge: Analysis) -> None:
    lines = answer(hinge, "timme-hinge").splitlines()
    assert lines[:-1] == str(hinge).splitlines()
    assert lines[-1] == (
        "Open timme-hinge/report.html  (more: summary.txt, bodies.csv; PyMOL: view.pml)"
    )
    assert repr(hinge) == "<Analysis hinge: two rigid bodies; 100 sites, 60 snapshots>"


def test_a_summary_has_the_answer_and_a_section_for_each_thing(hinge: Analysis) -> None:
    text = summary(hinge, [("sites.csv", "one row for each site")])
    assert text.startswith(str(hinge))
    headings = [line for line in text.splitlines() if line and line[0].isupper()]
    assert headings[-5:] == ["Bodies", "Clusters", "Levels worth a look", "Sampling", "Files"]
    assert "  snapshots            60 in 1 run" in text
    assert max(map(len, text.split("Bodies")[0].splitlines())) <= 100
