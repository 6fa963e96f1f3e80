"""Rigid bodies in the page: their colours, how they turn, and where they are once they have."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from tests.motion.proteins import planted_protein
from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import hinge, turning
from tests.page.test_page import STATE
from tests.page.test_sure import TABS, TEXT, open_tab
from timme.analysis import Moved
from timme.output.colours import body_colours

WAY = "document.querySelector('.film.way')"


def placed(page: Page) -> np.ndarray:
    """Where all 100 sites are on the screen, in pixels."""
    return np.array(
        page.evaluate("Array.from({length: 100}, (_, k) => timme.page.atomPosition(k))")
    )


def test_the_structure_has_the_colours_of_bodies_while_their_panel_is_in_view(look: Open) -> None:
    page = look(turning())
    before = page.evaluate("timme.page.atomColours()")
    assert page.evaluate(f"{WAY}.hidden")
    open_tab(page, "Motion")
    core, other, _ = body_colours(2).tolist()
    assert page.evaluate("timme.page.atomColours()") == [core] * 60 + [other] * 40
    assert not page.evaluate(f"{WAY}.hidden")
    labels = "[...document.querySelectorAll('.stage .label')].filter(p => p.offsetParent)"
    (label,) = page.evaluate(f"{labels}.map(p => p.textContent)")
    assert label.startswith("40° ± ")
    open_tab(page, "Curves")
    assert page.evaluate("timme.page.atomColours()") == before
    assert page.evaluate(f"{labels}.length") == 0
    page.evaluate("timme.page.setColouring('bodies')")  # whatever is in view beside it
    assert page.evaluate("timme.page.atomColours()") == [core] * 60 + [other] * 40
    page.evaluate("timme.page.setColouring('clusters')")
    assert page.errors == []


def test_bodies_moved_along_their_screw_are_where_the_snapshots_have_them(look: Open) -> None:
    analysis = turning()
    part = analysis.part(Moved)
    assert part is not None
    (found,) = part.found.hinges
    page = look(analysis)
    open_tab(page, "Motion")
    page.evaluate("timme.page.setFrame(0)")
    first = placed(page)
    for turn, frame in ((0, found.angles.argmin()), (1, found.angles.argmax())):
        page.evaluate(f"timme.page.setFrame({found.frames[frame]})")
        snapshot = placed(page)
        page.evaluate(f"timme.page.setTurn({turn})")
        moved = placed(page)
        np.testing.assert_allclose(moved[:60], first[:60], atol=1e-3)  # held still
        unit = np.ptp(first, axis=0).max() / np.ptp(analysis.system.coordinates, axis=0).max()
        off = np.linalg.norm(moved - snapshot, axis=1) / unit  # about in Å
        assert np.sqrt((off**2).mean()) < 0.5  # sites jitter by 0.1 Å along each direction
        assert np.linalg.norm(moved[60:] - first[60:], axis=1).max() / unit > 0.5 or turn == 0
    assert page.evaluate(STATE)["turn"] == 1
    page.press("ArrowRight")
    assert page.evaluate(STATE)["turn"] is None


def test_the_slider_of_the_way_is_moved_by_keys_and_says_how_far(look: Open) -> None:
    page = look(turning())
    page.evaluate("timme.page.setColouring('bodies')")
    page.evaluate(f"{WAY}.querySelector('input').focus()")
    for key, code, turn in (("End", 35, 1), ("Home", 36, 0), ("End", 35, 1)):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code)
        assert page.evaluate(STATE)["turn"] == turn
    assert page.evaluate(f"{WAY}.querySelector('input').ariaValueText") == "40°"


def test_the_panel_tells_bodies_numbers_and_the_next_best(look: Open) -> None:
    analysis = turning()
    part = analysis.part(Moved)
    assert part is not None
    page = look(analysis)
    open_tab(page, "Motion")
    said = page.evaluate(TEXT.format(".motion"))
    for _, text in part.facts():
        assert text[1:] in said  # the first letter may be a capital
    rows = page.evaluate(
        "[...document.querySelectorAll('.motion tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))"
    )
    levels = part.found.bodies.levels
    assert [row[0] for row in rows] == [
        f"{level.n_bodies}{' ✓' * (k == part.found.bodies.chosen)}"
        for k, level in enumerate(levels)
    ]
    assert [float(row[4]) for row in rows] == pytest.approx(
        [each.rest for each in levels], rel=5e-3
    )
    sharp = [each.sharpness for each in levels]
    told = [float("nan") if row[3] == "–" else float(row[3]) for row in rows]
    assert told == pytest.approx(sharp, rel=5e-3, nan_ok=True)
    assert np.isfinite(sharp).any()
    for figure in ("angles", "variance"):
        assert page.evaluate(f"timme.page.svg('{figure}')").count("<polyline") > 4


def test_one_body_is_said_to_be_one_and_colours_stay_those_of_clusters(show: Open) -> None:
    still = timme.analyse(planted_protein(kind="rigid", noise=0.3), objects="points")
    page = show(still)
    open_tab(page, "Motion")
    assert page.evaluate(TEXT.format(".motion")).startswith("One rigid body, from 20 snapshots")
    assert page.evaluate(STATE)["colouring"] == "clusters"
    assert page.evaluate(WAY) is None


def test_particles_have_no_panel_of_bodies(show: Open) -> None:
    assert "Motion" not in show(hinge()).evaluate(TABS)
