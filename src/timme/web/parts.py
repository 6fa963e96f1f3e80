"""The built parts of the pages: which of them the server hands out, and what to do without them."""

from __future__ import annotations

from timme.output.report import MISSING, SCRIPT, STYLE, page_part

START, RESULT = "start.js", "result.js"

PARTS = frozenset((SCRIPT, STYLE, START, RESULT))


def part(name: str) -> str | None:
    """Read a part of the pages.

    Parameters
    ----------
    name : str
        Any name.

    Returns
    -------
    str or None
        None for what is not handed out, and where the pages were not built.
    """
    return page_part(name) if name in PARTS else None


def missing() -> str:
    """Say why the pages are not there, and how to get them.

    Returns
    -------
    str
        One line; empty where they are there.
    """
    return "" if all(part(name) is not None for name in PARTS) else MISSING
