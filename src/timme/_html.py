"""What things are, in two lines or as a small table for notebooks."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

_WIDTH = 100  # letters in a line
_LONGEST = 60  # letters of a value, and a few more where it is cut


class Described:
    """What says of itself what it is: in two lines, and in notebooks as a small table.

    Dataclasses that derive from it are declared with ``repr=False``. Their fields are told, arrays
    by their shapes, unless ``_facts`` tells something better.
    """

    __slots__ = ()

    def _facts(self) -> Iterable[tuple[str, object]]:
        """What is to be known of it, by name."""
        told: Any = self
        return [(each.name, getattr(told, each.name)) for each in fields(told)]

    def __repr__(self) -> str:
        return in_two_lines(type(self).__name__, self._brief_facts())

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self._brief_facts())

    def _brief_facts(self) -> list[tuple[str, str]]:
        return [(name, _brief(value)) for name, value in self._facts()]


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Write what something is, row by row, as HTML; whatever a value says is shown as text."""
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{cells}</tbody></table>"


def in_two_lines(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Write what something is in two lines at most; what does not fit is left out."""
    text = ", ".join(f"{name} {value}" for name, value in rows)
    lines = textwrap.wrap(
        f"<{title}: {text}>" if text else f"<{title}>",
        _WIDTH,
        subsequent_indent="  ",
        max_lines=2,
        placeholder=" …>",
        break_long_words=True,
    )
    return "\n".join(lines)


def _brief(value: Any) -> str:
    """Tell a value in a few letters: arrays by their shapes, lists of many by their lengths."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"of shape {shape}"
    if isinstance(value, Described):
        return type(value).__name__
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str) and len(value) > 6:
        return f"{len(value):,} values"
    text = "" if value is None else str(value).strip()
    text = text or "none"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
