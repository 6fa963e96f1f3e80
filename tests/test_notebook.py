"""Results show themselves in notebooks: small tables, and the page as a widget."""

import json
import sys

import pytest

import timme
from timme import notebook, synthetic
from timme.output import report, scene
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

PARTS = {report.WIDGET: "export default {}", report.STYLE: ".timme {}"}


def test_tables_say_the_facts() -> None:
    analysis = timme.analyse(synthetic.chain(50, 3))
    hierarchy = analysis.hierarchy
    assert "<td" in hierarchy._repr_html_()
    assert f">{len(hierarchy.levels)}<" in hierarchy._repr_html_()
    assert ">50<" in hierarchy.cut(0.4)._repr_html_()
    assert ">3<" in synthetic.chain(50, 3)._repr_html_()
    assert analysis.fluctuations is not None
    assert f">{len(analysis.fluctuations.sigma)}<" in analysis.fluctuations._repr_html_()
    assert "σc = " in analysis._repr_html_()


def test_names_in_tables_are_text() -> None:
    named = Ensemble.from_array([[[0.0], [1.0]]], atoms=Atoms.unnamed(2), unit="<b>µm</b>")
    assert "<b>" not in named._repr_html_()
    assert "&lt;b&gt;µm" in named._repr_html_()


def test_a_view_is_a_widget_with_the_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget")
    monkeypatch.setattr(notebook, "page_part", PARTS.get)
    widget = timme.view(timme.analyse(synthetic.chain(30, 3)), height=500)
    assert json.loads(widget.scene)["format"] == scene.FORMAT
    assert widget.height == "500px"
    assert repr(widget).startswith("<View: of Analysis: snapshots 3, sites 31")
    assert repr(widget).count("\n") <= 1


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "page_part", PARTS.get)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pytimme\[jupyter\]"):
        timme.view(timme.analyse(synthetic.chain(30, 3)))
