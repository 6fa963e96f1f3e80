"""The page follows the cutoff at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import swarm

LONGEST = 50  # milliseconds of script
LABEL = "document.querySelector('.dilution canvas').ariaLabel"


@pytest.mark.parametrize(
    ("n_sites", "steps"),
    [
        pytest.param(1_000, 10, marks=pytest.mark.thorough),
        pytest.param(20_000, 40, marks=pytest.mark.long),
    ],
)
def test_no_step_of_the_cutoff_takes_50_ms_of_script(
    show: Open, capsys: pytest.CaptureFixture[str], n_sites: int, steps: int
) -> None:
    analysis = swarm(n_sites)
    page = show(analysis)
    page.evaluate("new Promise(done => setTimeout(done, 1500))")  # what may be needed is painted
    page.call("Performance.enable", timeDomain="threadTicks")
    core = int(analysis.shown_hierarchy.cut(np.inf).members(0)[0])
    alone, selected = _least(page, steps), _least(page, steps, core)
    page.call("Performance.disable")
    with capsys.disabled():
        print(  # noqa: T201 (a measurement that is to be seen)
            f"\n{n_sites:,} sites: a step of the cutoff takes {np.median(alone):.1f} ms of script, "
            f"the longest {max(alone):.1f} ms; with a cluster selected {np.median(selected):.1f} "
            f"and {max(selected):.1f} ms"
        )
    assert 0 < max(alone + selected) < LONGEST


def _least(page: Page, steps: int, selected: int = -1) -> list[float]:
    """The time of each step; the least of three if one was long: garbage is not a step's work."""
    spent = _steps(page, steps, selected)
    for _ in range(2):
        if max(spent) >= LONGEST:
            spent = list(map(min, spent, _steps(page, steps, selected)))
    return spent


def _steps(page: Page, steps: int, selected: int = -1) -> list[float]:
    """Go from below all levels to the last, beyond the range that the plot opens with."""
    page.press("End")
    page.evaluate(f"timme.page.select({selected})")
    page.press("Home")
    stride = -(-page.evaluate("timme.page.state().levels") // steps)
    ranges, spent = set(), []
    for _ in range(steps):
        spent.append(_milliseconds(page, f"timme.page.step({stride})"))
        ranges.add(page.evaluate(LABEL).partition(" At ")[0])
    assert len(ranges) == 2  # the range worth drawing, and all of it
    return spent


def _milliseconds(page: Page, script: str) -> float:
    """Time of the processor that scripts take for something, drawing included."""
    before = _script_seconds(page)
    # Only what the page does by itself is counted, not what is evaluated from without.
    drawn = "requestAnimationFrame(() => setTimeout(done))"
    page.evaluate(f"new Promise(done => setTimeout(() => {{ {script}; {drawn}; }}))")
    return 1000 * (_script_seconds(page) - before)


def _script_seconds(page: Page) -> float:
    metrics = page.call("Performance.getMetrics")["metrics"]
    return next(float(m["value"]) for m in metrics if m["name"] == "ScriptDuration")
