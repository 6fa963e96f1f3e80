"""The command line called in this process, and a watch over the files around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.ensembles import swinging
from tests.readers.builders import write_pdb
from timme.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
Refused = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are called."""
    made = tmp_path / "here"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def timme(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Function that calls the command line in the folder."""
    del folder

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run


@pytest.fixture
def refused(folder: Path, timme: Run) -> Refused:
    """Function that checks the manners of a refusal, and returns what was said."""

    def run(*arguments: object) -> str:
        before = contents(folder.parent)
        found = timme(*arguments)
        assert found.code == 2, found
        assert found.out == ""
        assert found.err.count("\n") == 1, found.err
        assert found.err.startswith("timme: error: ")
        assert "Traceback" not in found.err
        # A message tells people what to do, and does not only name a kind of exception.
        assert not re.match(r"timme: error: [A-Z]\w+(Error|Exception|Warning): ", found.err)
        assert contents(folder.parent) == before
        return found.err

    return run


@pytest.fixture
def peptide_file(folder: Path) -> Path:
    return write_pdb(folder / "peptide.pdb", swinging())


def contents(folder: Path) -> dict[str, Any]:
    """Everything in a folder, with what is in it and when it was changed."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }
