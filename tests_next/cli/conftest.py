"""The command line, called within the process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from timme_next.cli import main


class Done(NamedTuple):
    """How a command ended."""

    code: int | str | None
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Call:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        return Done(ended.value.code, *capsys.readouterr())

    return run
