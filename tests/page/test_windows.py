"""Clusters in time, in the page."""

from __future__ import annotations

import json

from tests.page.conftest import Open
from tests.page.systems import turning
from tests.page.test_page import SCENE, STATE
from tests.page.test_sure import TEXT, open_tab

WINDOWS = {
    "cutoff": 0.5,
    "windows": [[0, 10], [5, 15], [10, 20]],
    "tracks": [[0] * 60 + [-1] * 40, [0] * 60 + [1] * 40, [0] * 55 + [-1] * 5 + [1] * 40],
}


def test_a_slider_goes_through_windows_and_the_structure_has_their_clusters(show: Open) -> None:
    page = show(turning())
    page.evaluate(
        f"(() => {{ const scene = {SCENE}; scene.windows = {json.dumps(WINDOWS)};"
        "timme.page.dispose();"
        "timme.page = timme.mount(document.getElementById('timme'), scene, document); })()"
    )
    palettes = page.evaluate(f"{SCENE}.palettes")
    core, other, rest = palettes["core"], palettes["wide"][0], palettes["rest"]
    open_tab(page, "Windows")
    for window, (expected, said) in enumerate(
        (
            ([core] * 60 + [rest] * 40, "snapshots 1 to 10: 1 cluster at 0.5"),
            ([core] * 60 + [other] * 40, "cluster 2 (40) begins"),
            ([core] * 55 + [rest] * 5 + [other] * 40, "A 56-60 left cluster 1"),
        )
    ):
        page.evaluate(f"timme.page.setWindow({window})")
        assert page.evaluate("timme.page.atomColours()") == expected
        assert said in page.evaluate(TEXT.format(".windows .said"))
        start, stop = WINDOWS["windows"][window]  # type: ignore[index]
        assert start < page.evaluate(STATE)["frame"] < stop
    x, y, width, height = page.box(".windows .area")
    page.click(x + 52 + 0.5 * (width - 64), y + height / 2)
    assert page.evaluate(STATE)["window"] == 1
    assert page.evaluate("document.querySelector('.windows input').value") == "2"
    open_tab(page, "Curves")
    assert page.evaluate(STATE)["colouring"] == "clusters"
    assert page.errors == []
