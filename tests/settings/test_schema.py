"""Settings: described once, and the same wherever they are offered."""

from __future__ import annotations

import re
import runpy
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from timme.cli import app
from timme.output.colours import PALETTES as COLOURS
from timme.settings import (
    PALETTES,
    SELECT,
    CompareSettings,
    Display,
    RigidSettings,
    ServeSettings,
    Setting,
    Settings,
    settings_of,
)
from timme.settings.schema import GROUPS
from timme.system.residues import PRESETS
from timme.web.models import Choices, Comparison, Model, RigidChoices

DOCS = Path(__file__).parents[2] / "docs"
KINDS = [Display, Settings, RigidSettings, ServeSettings, CompareSettings]
ALL = [(kind, setting) for kind in KINDS for setting in settings_of(kind)]


def options(command: str) -> dict[str, click.Option]:
    found = app.commands[command].params
    return {str(each.name): each for each in found if isinstance(each, click.Option)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_a_setting_in_the_order_of_groups(kind: type[Any]) -> None:
    found = settings_of(kind)
    assert {setting.name for setting in found} == {field.name for field in fields(kind)}
    places = [list(GROUPS).index(setting.about.group) for setting in found]
    assert places == sorted(places)


@pytest.mark.parametrize(("kind", "setting"), ALL)
def test_a_setting_is_told_in_one_sentence_that_says_its_default_once(
    kind: type[Any], setting: Setting
) -> None:
    assert getattr(kind(), setting.name) == setting.default
    told = setting.sentence()
    assert told.endswith(".")
    assert told[:-1] == told[:-1].strip(". ")
    assert not setting.usual or told.count(f"({setting.usual})") == 1


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("run", Settings),
        ("rigidity", RigidSettings),
        ("plot", Display),
        ("serve", ServeSettings),
        ("compare", CompareSettings),
    ],
)
def test_a_command_has_an_option_for_each_setting(command: str, kind: type[Any]) -> None:
    found = options(command)
    for setting in settings_of(kind):
        assert (setting.name in found) == setting.about.command
        if setting.about.command:
            option = found[setting.name]
            assert (*option.opts,) == setting.flags
            assert (*option.secondary_opts,) == tuple(filter(None, [setting.denial]))
            assert option.help == setting.sentence()


@pytest.mark.parametrize(
    ("model", "kind"),
    [(Choices, Settings), (RigidChoices, RigidSettings), (Comparison, CompareSettings)],
)
def test_the_server_has_a_field_for_each_setting(model: type[Model], kind: type[Any]) -> None:
    described: dict[str, Any] = model.model_json_schema()["properties"]
    offered = [setting for setting in settings_of(kind) if setting.about.server]
    named = [name for name in described if name not in {"one", "other", "title"}]
    assert named == [setting.name for setting in offered]
    for setting in offered:
        field = described[setting.name]
        assert field["default"] == setting.default
        assert field["description"].startswith(setting.about.help)
        assert field.get("minimum") == setting.about.least
        assert {"type": "null"} in field["anyOf"]  # which is the default


def test_nothing_named_by_a_file_is_offered_by_the_server() -> None:
    for name in ("objects", "pairs"):
        assert "file" not in Choices.model_json_schema()["properties"][name]["description"]


def test_sites_can_be_named_by_every_preset() -> None:
    assert list(SELECT) == list(PRESETS)


@pytest.mark.parametrize(
    ("kind", "name", "value", "said"),
    [
        (Display, "large", 0, "large= must be at least 1, got 0"),
        (ServeSettings, "port", 70000, "port= must be at most 65535, got 70000"),
        (Settings, "radius", float("inf"), "radius= must be above 0, got inf"),
        (Settings, "cutoff", float("nan"), "cutoff= must be a number, got nan"),
        (Settings, "palette", "grey", "palette= is one of wide, safe, got 'grey'"),
        (Settings, "bonds", "all", "bonds= is one of auto, file, guess, none, got 'all'"),
        (RigidSettings, "tethers", "x", "tethers= is one of shortest, all, none, got 'x'"),
    ],
)
def test_a_value_that_means_nothing_is_refused(
    kind: type[Any], name: str, value: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        kind(**{name: value})


@pytest.mark.parametrize("name", ["using.md", "rigidity.md", "server.md"])
def test_the_docs_hold_the_table_of_the_settings(name: str) -> None:
    make = runpy.run_path(str(DOCS / "make_options.py"))
    page = (DOCS / name).read_text("utf-8")
    assert page == make["filled"](page, make["TABLES"][name]), "make docs writes it"


def test_a_page_without_marks_is_refused() -> None:
    make = runpy.run_path(str(DOCS / "make_options.py"))
    with pytest.raises(ValueError, match="a page needs"):
        make["filled"]("text", Settings)


def test_every_palette_that_is_offered_has_its_colours() -> None:
    assert list(PALETTES) == list(COLOURS)


def test_the_docs_say_what_the_api_does_not_take() -> None:
    page = (DOCS / "server.md").read_text("utf-8")
    for part, kind, model in (
        ("settings", Settings, Choices),
        ("rigidity", RigidSettings, RigidChoices),
    ):
        said = re.findall(rf"\| `{part}` \| `(\w+)` \| .* \| not taken \|", page)
        offered = {setting.name for setting in settings_of(kind) if setting.about.command}
        assert {*said} == offered - set(model.model_fields)


# ---- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "text", "value"),
    [
        (Settings, "box", "none", False),
        (Settings, "box", "20,20,30.5", [20.0, 20.0, 30.5]),
        (Settings, "columns", "frame,particle,x,y", ["frame", "particle", "x", "y"]),
        (Settings, "radius", "8.5", 8.5),
        (Settings, "start", "10", 10),
        (CompareSettings, "chains", "A=B, C=D", {"A": "B", "C": "D"}),
        (CompareSettings, "cutoffs", "-0.5,0.06", [-0.5, 0.06]),
        (RigidSettings, "ensemble", "-1", -1.0),
    ],
)
def test_python_takes_the_texts_of_the_command_line(
    kind: type[Any], name: str, text: str, value: Any
) -> None:
    assert getattr(kind(**{name: text}), name) == value
    assert getattr(kind(**{name: value}), name) == value


def test_weights_are_read_from_a_file_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("1 2\n0.5\n", "utf-8")
    assert Settings(weights=str(tmp_path / "w.txt")).weights == [1.0, 2.0, 0.5]
    (tmp_path / "w.txt").write_text("1 two", "utf-8")
    with pytest.raises(ValueError, match=r"w\.txt: expected one number per snapshot"):
        Settings(weights=str(tmp_path / "w.txt"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("box", "wide", "box= takes lengths such as 20,20,20, or none, got 'wide'"),
        ("radius", "far", "radius= takes a number, got 'far'"),
        ("step", "1.5", "step= takes a whole number, or a time such as 10ns or 500ps, got '1.5'"),
        ("gaps", "yes", "gaps= is True or False, got 'yes'"),
        ("radius", "-1", "radius= must be above 0, got -1"),
    ],
)
def test_a_text_that_means_nothing_is_refused_in_words(name: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings(**{name: text})  # type: ignore[arg-type]
