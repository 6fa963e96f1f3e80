"""What tests share: hypothesis profiles, the folder of compiled kernels, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

os.environ["MPLBACKEND"] = "Agg"
# Compiled kernels stay here when __pycache__ folders are removed; set before numba is imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "numba"))

for profile, examples in (("quick", 15), ("nightly", 300)):
    hypothesis.settings.register_profile(
        profile,
        deadline=None,  # the first call of a kernel compiles it
        derandomize="CI" in os.environ,
        max_examples=examples,
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-angle=swiftshader --disable-dev-shm-usage "
    "--enable-unsafe-swiftshader"
).split()


def _need(met: object, reason: str) -> None:
    """Skip with the reason, or fail where the page must be tested."""
    if not met:
        (pytest.fail if os.environ.get("TIMME_REQUIRE_BROWSER") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from timme.output.page import is_built

    program = next(filter(None, map(shutil.which, _NAMES)), None)
    _need(program, "needs Chromium (Debian: apt install chromium)")
    _need(is_built(), "needs the built page (make page)")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield found
        found.close()
