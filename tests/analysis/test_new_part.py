"""A new part is declared once: its figure, table and panel are then known everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pytest
from click.testing import CliRunner

import timme
from tests.output.builders import random_graph, residues
from timme.analysis import KINDS, Analysis, Part, System
from timme.cli.commands import app
from timme.cli.console import report
from timme.hierarchy import Hierarchy
from timme.output import registry
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.scene import scene
from timme.web.downloads import _about, _in_order
from timme.workflow import known_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class Mood:
    """One number, of which there is a figure, a table and a panel."""

    value: float
    name: ClassVar[str] = "mood"

    def to_arrays(self) -> dict[str, Any]:
        return {"value": np.array(self.value)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        del system, hierarchy
        return cls(float(arrays["value"]))

    def facts(self) -> list[tuple[str, str]]:
        return [("mood", f"{self.value:g}")]

    def findings(
        self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int
    ) -> list[tuple[str, str]]:
        del hierarchy, cutoff, min_size
        return []


def bar(part: Mood, analysis: Analysis, look: Look) -> Axes:
    from matplotlib.figure import Figure

    del analysis, look
    axes: Axes = Figure().subplots()
    axes.bar([0], [part.value])
    return axes


OUTPUT = PartOutput(
    Mood,
    figures=(PartFigure("mood", bar, "only moody results have one", caption="mood as a bar"),),
    files={"mood.csv": "mood as a number"},
    tables=lambda part, *_: {"mood.csv": f"mood\n{part.value}\n"},
    panels={"mood": lambda part, _: part.value},
)


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> Analysis:
    monkeypatch.setitem(KINDS, Mood.name, Mood)
    monkeypatch.setattr(registry, "OUTPUTS", (*registry.OUTPUTS, OUTPUT))
    return replace(residues(random_graph(30, 1)), parts=(Mood(0.5),))


@pytest.mark.usefixtures("blank_figures")
def test_a_new_part_is_in_the_folder_the_summary_and_the_console(
    moody: Analysis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = timme.write(moody, tmp_path / "out")
    assert {"mood.svg", "mood.png", "mood.csv"} <= {path.name for path in written.paths}
    assert scene(moody)["mood"] == 0.5
    report(moody, tmp_path / "out", written)
    said = capsys.readouterr().out.splitlines()
    assert ["mood", "0.5"] in [line.split() for line in said]
    assert f"  {tmp_path / 'out' / 'mood.png'}" in said
    again = timme.load(tmp_path / "out" / "result.npz").part(Mood)
    assert again is not None
    assert again.value == 0.5
    timme.write(replace(moody, parts=()), tmp_path / "out", overwrite=True)
    assert not list((tmp_path / "out").glob("mood*"))


def test_a_new_part_is_drawn_again_by_its_name(moody: Analysis, tmp_path: Path) -> None:
    timme.save(moody, tmp_path / "result.npz")
    picture = str(tmp_path / "mood.png")
    drawn = CliRunner().invoke(
        app, ["plot", str(tmp_path / "result.npz"), "--what", "mood", "-o", picture]
    )
    assert (drawn.exit_code, drawn.output.strip()) == (0, picture)
    assert Path(picture).stat().st_size > 1000
    told = CliRunner().invoke(app, ["plot", "--help"]).output
    assert "|mood]" in "".join(told.split())


@pytest.mark.usefixtures("moody")
def test_a_new_part_is_described_by_the_server() -> None:
    assert _about(Path("mood.svg")) == "mood as a bar"
    assert _about(Path("mood.csv")) == "mood as a number"
    assert _in_order(["result.npz", "mood.png", "unknown.txt", "dilution.png"]) == [
        *("dilution.png", "mood.png", "result.npz", "unknown.txt"),
    ]


@pytest.mark.thorough
def test_every_file_of_a_result_has_a_caption(tmp_path: Path) -> None:
    written = timme.write(residues(random_graph(30, 1)), tmp_path / "out")
    known = known_files()
    assert {path.name for path in written.paths} <= set(known)
    assert all(known.values())


@pytest.mark.parametrize(
    "twice",
    [
        PartOutput(Mood, figures=(replace(OUTPUT.figures[0], name="dilution"),)),
        PartOutput(Mood, figures=(replace(OUTPUT.figures[0], name="flexibility"),)),
        PartOutput(Mood, files={"sites.csv": "others"}),
        PartOutput(Mood, files={"together.csv": "others"}),
    ],
    ids=["figure of all", "figure of a part", "table of all", "table of a part"],
)
def test_a_name_that_is_declared_twice_is_refused(
    monkeypatch: pytest.MonkeyPatch, twice: PartOutput[Mood]
) -> None:
    monkeypatch.setattr(registry, "OUTPUTS", (*registry.OUTPUTS, twice))
    with pytest.raises(ValueError, match="two figures, tables or panels are called"):
        known_files()


@pytest.mark.parametrize("panel", ["tree", "matrix", "apart"])
def test_a_panel_that_would_replace_another_is_refused(
    monkeypatch: pytest.MonkeyPatch, panel: str
) -> None:
    twice = PartOutput(Mood, panels={panel: lambda *_: 1})
    monkeypatch.setattr(registry, "OUTPUTS", (*registry.OUTPUTS, twice))
    with pytest.raises(ValueError, match=f"two figures, tables or panels are called '{panel}'"):
        scene(replace(residues(random_graph(30, 1)), parts=(Mood(0.5),)))


def test_a_result_with_two_parts_of_a_kind_is_refused() -> None:
    parts: tuple[Part, ...] = (Mood(0.5), Mood(0.6))
    with pytest.raises(ValueError, match="a result has one part 'mood' at most, got 2"):
        replace(residues(random_graph(30, 1)), parts=parts)
