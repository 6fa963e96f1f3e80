"""The command line, called within the process of the tests."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from timme.cli import main


class Done(NamedTuple):
    """How a command ended."""

    code: int | str | None
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Call]:
    """Run a command in an empty folder; it may change what signals do."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        return Done(ended.value.code, *capsys.readouterr())

    yield run
    for each, old in before.items():
        signal.signal(each, old)


def tracks(n_particles: int = 30, n_frames: int = 40) -> str:
    """Return a table of particles of which the first half drift together."""
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(n_frames, n_particles, 2))
    steps[:, : n_particles // 2] = steps[:, :1] + 0.05 * steps[:, : n_particles // 2]
    places = np.cumsum(steps, axis=0) + rng.uniform(0, 40, (n_particles, 2))
    return table_of(places)


def table_of(places: npt.NDArray[np.float64]) -> str:
    """Return a table of positions (snapshots, particles, 2); particles count from 1."""
    rows = [
        f"{frame},{particle},{x:.3f},{y:.3f}"
        for frame, snapshot in enumerate(places)
        for particle, (x, y) in enumerate(snapshot.tolist(), start=1)
    ]
    return "\n".join(["frame,particle,x,y", *rows, ""])
