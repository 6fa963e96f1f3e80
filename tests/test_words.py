"""Invariant of the prose: words that the style guide bans do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
WORDS = (
    "told, tells of, dear, walls, doubt, wanted, judged, nobody, mend, mended, lies upon, "
    "asked for, for else, no thermal"
).split(", ")
BANNED = re.compile(
    rf"(?<![a-z])(?:{'|'.join(WORDS).replace(' ', '[ _]')})(?![a-z])", re.IGNORECASE
)
PLACES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/*.py",
    "examples/**/*.py",
    "examples/**/*.rst",
    "src/**/*.py",
)
TESTS = re.compile(r"^ *def (test_\w+)", re.MULTILINE)


@pytest.mark.parametrize("place", PLACES)
def test_documents_and_sources_are_free_of_banned_words(place: str) -> None:
    lines = [
        f"{path.relative_to(TOP)}:{number}: {line.strip()}"
        for path in sorted(TOP.glob(place))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if BANNED.search(line)
    ]
    assert not lines, "\n".join(lines)


def test_names_of_tests_are_free_of_banned_words() -> None:
    texts = [path.read_text("utf-8") for path in (TOP / "tests").rglob("test_*.py")]
    names = [name for text in texts for name in TESTS.findall(text) if BANNED.search(name)]
    assert not names, "\n".join(names)
