"""The form of the start page: every setting has its input, made of what is declared."""

from __future__ import annotations

import pytest

from timme.settings import Display, RigidSettings, Settings, settings_of
from timme.web.form import LEFT_OUT, form
from timme.web.models import FormField

KINDS: dict[str, type[Display]] = {"run": Settings, "rigidity": RigidSettings}


def fields(recipe: str) -> dict[str, FormField]:
    listed = [field for part in form() if part.recipe == recipe for field in part.fields]
    found = {field.name: field for field in listed}
    assert len(found) == len(listed)  # each is asked for once
    return found


@pytest.mark.parametrize("recipe", KINDS)
def test_every_setting_that_the_server_takes_is_asked_for_or_left_out_with_a_reason(
    recipe: str,
) -> None:
    offered = {setting.name for setting in settings_of(KINDS[recipe]) if setting.about.server}
    asked, left_out = set(fields(recipe)), LEFT_OUT[recipe]
    assert asked | set(left_out) == offered
    assert not asked & set(left_out)
    assert all(left_out.values())


@pytest.mark.parametrize("recipe", KINDS)
def test_an_input_says_what_its_setting_does(recipe: str) -> None:
    found = fields(recipe)
    for setting in settings_of(KINDS[recipe]):
        if setting.name in found:
            field = found[setting.name]
            assert field.help.startswith(setting.about.help)
            assert field.usual == setting.usual
            assert [choice.value for choice in field.choices] == [*setting.about.choices]
            assert (field.kind == "tick") == (setting.kind is bool)
            assert field.label


def test_limits_of_inputs_are_those_of_settings() -> None:
    run, rigidity = fields("run"), fields("rigidity")
    assert run["step"].least == rigidity["step"].least == 1
    assert run["radius"].least == 0
    assert run["start"].least is None  # which may be counted from the end
    assert (run["unit"].longest, run["select"].longest) == (40, 10_000)
    assert run["neighbours"].usual == "12, 1 along the sequence"


def test_labels_of_a_recipe_differ() -> None:
    for recipe in KINDS:
        labels = [field.label for field in fields(recipe).values()]
        assert len(set(labels)) == len(labels)
