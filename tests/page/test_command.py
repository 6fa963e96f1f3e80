"""The report of a run and of an earlier result, with the page and without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from timme import workflow
from timme.cli import main
from timme.output import report as pages
from timme.workflow import folder as folders
from timme.workflow.demo import analyse_demo

PARTS = {pages.SCRIPT: "window.timme = {};", pages.STYLE: ".timme {}"}


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_figures: None) -> Path:
    del without_figures
    monkeypatch.chdir(tmp_path)
    workflow.write(analyse_demo("hinge"), tmp_path / "hinge")
    for module in (pages, folders):
        monkeypatch.setattr(module, "page_part", PARTS.get)
    return tmp_path / "hinge"


def test_a_report_of_an_earlier_result_is_written(result: Path) -> None:
    main(["report", str(result), "-o", "again.html"])
    text = Path("again.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "timme demo hinge" in text


def test_a_report_is_not_replaced_unasked(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("report.html").write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["report", str(result)])
    assert "report.html exists" in capsys.readouterr().err
    assert Path("report.html").read_text(encoding="utf-8") == "mine"
    main(["report", str(result), "--overwrite"])
    assert Path("report.html").read_text(encoding="utf-8") != "mine"


def test_a_run_without_the_page_says_so_in_one_line(
    result: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(folders, "page_part", lambda _: None)
    main(["demo", "hinge", "-o", str(result), "--overwrite"])
    assert not (result / "report.html").exists()
    said = [line for line in capsys.readouterr().out.splitlines() if "report.html" in line]
    assert said == [f"note: report.html was left out: {pages.MISSING}"]
