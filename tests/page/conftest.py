"""A browser for all tests of the page, and pages made of analyses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Page, browsing, chromium
from timme.analysis import Analysis
from timme.output.report import SCRIPT, page_part, write_report
from timme.workflow import scene_of

Open = Callable[..., Page]


def _required(problem: str) -> None:
    """Skip with the reason, or fail where the page must be tested."""
    if os.environ.get("TIMME_REQUIRE_BROWSER"):
        pytest.fail(problem)
    pytest.skip(problem)


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    """One Chromium for the session."""
    program = chromium()
    if program is None:
        _required("needs Chromium (Debian: apt install chromium)")
    if page_part(SCRIPT) is None:
        _required("needs the built page (python viewer/build.py)")
    with browsing(str(program)) as page:
        yield page


@pytest.fixture
def look(browser: Page, show: Open) -> Open:
    """Function that opens a report unless it is open: for tests that change but the cutoff."""

    def open_once(analysis: Analysis) -> Page:
        if browser.shown is analysis:
            browser.evaluate("timme.page.setCutoff(window.opened)")
        else:
            show(analysis).evaluate("window.opened = timme.page.state().cutoff")
            browser.shown = analysis
        return browser

    return open_once


@pytest.fixture
def show(browser: Page, tmp_path: Path) -> Open:
    """Function that writes the report of an analysis and opens it from its file."""

    def open_report(
        analysis: Analysis, *, size: tuple[int, int] = (1440, 900), **more: Any
    ) -> Page:
        path = write_report(scene_of(analysis), tmp_path / "report.html")
        browser.requests.clear()
        browser.errors.clear()
        browser.prefer("light")
        browser.resize(*size, **more)
        browser.open(path.as_uri())
        return browser

    return open_report
