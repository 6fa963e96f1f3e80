"""The pages read what the server sends: their types have the fields of its models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from timme.web import models

TEXT = (Path(__file__).parents[2] / "viewer" / "src" / "server" / "wire.ts").read_text("utf-8")
INTERFACES = dict(re.findall(r"export interface (\w+) \{\n(.*?)\n\}", TEXT, flags=re.DOTALL))


@pytest.mark.parametrize("name", INTERFACES)
def test_an_interface_has_fields_of_its_model_only(name: str) -> None:
    fields = re.findall(r"^  (\w+): .+;$", INTERFACES[name], flags=re.MULTILINE)
    assert len(fields) == len(INTERFACES[name].splitlines())
    known = set(getattr(models, name).model_fields)
    assert set(fields) <= known


@pytest.mark.parametrize("name", ["State", "Stage", "Recipe"])
def test_a_type_has_the_values_of_its_model(name: str) -> None:
    (values,) = re.findall(rf"export type {name} = (.+);", TEXT)
    assert tuple(re.findall(r'"(\w+)"', values)) == get_args(getattr(models, name))


def test_all_interfaces_are_looked_at() -> None:
    assert set(INTERFACES) == set(re.findall(r"interface (\w+)", TEXT))
    assert "JobStatus" in INTERFACES
