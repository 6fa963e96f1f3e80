"""Rigid bodies in the scene of the page, as plain data."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import timme
from tests.motion.proteins import planted_protein
from timme.analysis import Analysis, Moved
from timme.output.registry import panels_of_parts


@pytest.fixture(scope="module")
def made() -> Analysis:
    return timme.move(planted_protein())


def panel(analysis: Analysis) -> Any:
    """What the page gets, by way of JSON, which knows no NaN."""
    return json.loads(json.dumps(panels_of_parts(analysis)["motion"], allow_nan=False))


def unpacked(text: str) -> Any:
    kind, _, packed = text.partition(":")
    return np.frombuffer(base64.b64decode(packed), f"<{kind}")


def moved(analysis: Analysis) -> Moved:
    part = analysis.part(Moved)
    assert part is not None
    return part


def test_the_page_gets_bodies_their_axes_and_the_lines_of_the_summary(made: Analysis) -> None:
    shown, part = panel(made), moved(made)
    assert unpacked(shown["labels"]).tolist() == [0] * 60 + [1] * 40
    assert len(shown["colours"]) == 3  # of both bodies, and of none
    assert [shown["words"], *shown["bodies"], *shown["more"]] == [text for _, text in part.facts()]
    assert len(shown["bodies"]) == 2
    ((hinge,), (found,)) = shown["hinges"], part.found.hinges
    assert hinge["body"] == 1
    np.testing.assert_array_equal(hinge["axis"], found.axis)
    np.testing.assert_array_equal(hinge["point"], found.point)
    assert hinge["turns"] == [found.angles.min(), found.angles.max()]
    np.testing.assert_allclose(unpacked(hinge["angles"]), found.angles, rtol=1e-6)
    assert unpacked(hinge["frames"]).tolist() == found.frames.tolist()
    assert [row[0] for row in shown["levels"]] == [
        each.n_bodies for each in part.found.bodies.levels
    ]


def test_one_body_has_no_lines_of_its_own() -> None:
    shown = panel(timme.move(planted_protein(kind="rigid", noise=0.3)))
    assert (shown["bodies"], shown["hinges"]) == ([], [])
    assert shown["words"].startswith("one rigid body")


def test_of_very_many_angles_some_are_drawn_and_the_ends_are_those_of_all(made: Analysis) -> None:
    part = moved(made)
    (found,) = part.found.hinges
    angles = np.sin(np.arange(9_001)) * 20
    angles[4_321] = 33.0
    many = replace(found, angles=angles, frames=np.arange(9_001))
    changed = replace(part, found=replace(part.found, hinges=(many,)))
    (hinge,) = panel(replace(made, parts=(changed,)))["hinges"]
    frames = unpacked(hinge["frames"])
    assert len(frames) == 2_000
    assert (frames[0], frames[-1]) == (0, 9_000)
    np.testing.assert_allclose(unpacked(hinge["angles"]), angles[frames], rtol=1e-6)
    assert hinge["turns"][1] == 33.0


def test_an_axis_that_is_not_known_is_left_out(made: Analysis) -> None:
    part = moved(made)
    (found,) = part.found.hinges
    nowhere = np.full(3, np.nan)
    lost = replace(found, axis=nowhere, point=nowhere, axis_cone=np.nan, pitch=np.nan)
    changed = replace(part, found=replace(part.found, hinges=(lost,)))
    (hinge,) = panel(replace(made, parts=(changed,)))["hinges"]
    assert [hinge[name] for name in ("axis", "point", "cone", "pitch")] == [None] * 4
