"""Text: messages in one line, how results print themselves, and files written as a whole."""

from __future__ import annotations

import html
import os
import textwrap
import threading
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

_LONGEST = 60  # characters of one value


def one_line(error: Exception) -> str:
    """Return the message of an error in one line, with the kind of error if it was unexpected."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    text = " ".join(printable(text).split())
    ours = isinstance(error, TypeError) and text.startswith("timme.")
    expected = (ours or isinstance(error, ValueError | OSError | ImportError)) and text
    return text if expected else f"{type(error).__name__}: {text}".removesuffix(": ")


def printable(text: str) -> str:
    r"""Return a text in one line without control characters, which a terminal would obey.

    Examples
    --------
    >>> printable("red\x1b[31m\nµ")
    'red [31m µ'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def shown_name(text: str, longest: int = 120) -> str:
    r"""Return one line of printable text: the beginning and the end of a longer one.

    Examples
    --------
    >>> shown_name("../a\tb.pdb"), len(shown_name("x" * 5000))
    ('../a b.pdb', 120)
    """
    line = printable(text).strip()
    return line if len(line) <= longest else f"{line[: longest - 21]}…{line[-20:]}"


def typed(value: object) -> str:
    """Return a value as it is typed at a command line: ``yes``, ``none``, ``A=B,C=D``."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, dict):
        value = [f"{key}={other}" for key, other in value.items()]
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def counted(count: int, what: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: ``2 hinges``."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def is_number(text: str) -> bool:
    """Return whether a text is a number, nan and inf among them."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def require(given: object, kind: type, step: str, remedy: str) -> None:
    """Refuse an argument of another type, and say what to do."""
    if not isinstance(given, kind):
        got = type(given).__name__
        raise TypeError(f"timme.{step} needs {kind.__name__}, got {got}: {remedy}")


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write a file under a temporary name in the same folder, then rename it.

    Text is written in UTF-8; characters that cannot be encoded become ``?``.
    """
    target = Path(path)
    data = content.encode(errors="replace") if isinstance(content, str) else content
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        beside.write_bytes(data)
        return beside.replace(target)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):  # which names the other file, or none
            error.filename = str(target)
        raise


class Described:
    """Base of results: two lines in a terminal, a table in a notebook.

    Dataclasses that derive from it are declared with ``repr=False``.
    """

    __slots__ = ()

    def facts(self) -> dict[str, object]:
        """Return the main properties, by name; by default, all fields of a dataclass."""
        described: Any = self
        return {field.name: getattr(described, field.name) for field in fields(described)}

    def __repr__(self) -> str:
        text = ", ".join(f"{name} {_brief(value)}" for name, value in self.facts().items())
        form = textwrap.TextWrapper(100, subsequent_indent="  ", max_lines=2, placeholder=" …>")
        return form.fill(f"<{type(self).__name__}: {text}>")

    def _repr_html_(self) -> str:
        if hasattr(self, "finding"):
            return f"<pre>{html.escape(str(self))}</pre>"  # the answer, as everywhere
        rows = "".join(
            f'<tr><th style="text-align:left">{html.escape(name)}</th>'
            f'<td style="text-align:left">{html.escape(_brief(value))}</td></tr>'
            for name, value in self.facts().items()
        )
        return f"<table><caption>{type(self).__name__}</caption><tbody>{rows}</tbody></table>"


def _brief(value: Any) -> str:
    """Write a value in a few words: arrays by their shapes, long lists by their lengths."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"of shape {shape}"
    if isinstance(value, Described):
        return type(value).__name__
    if isinstance(value, dict | list | tuple) and len(value) > 6:
        return f"{len(value):,} values"
    text = "none" if value is None or value == "" else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
