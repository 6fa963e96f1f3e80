"""A server in this process, without a port: requests, uploads, and a watch over its folder."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.cli.ensembles import helix, swinging, wandering, write_tracks
from tests.conftest import leave_out_figures
from tests.patience import LONGEST
from tests.readers.builders import write_pdb
from timme.settings import ServeSettings

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from timme.web.guard import Keys

if find_spec("fastapi") is None:  # the extra `web` is not installed
    collect_ignore_glob = ["*"]

PORT = 8377
BASE = f"http://127.0.0.1:{PORT}"
TOKEN = "the token of the tests"


@dataclass
class Server:
    """A server, with the ways in which tests use it."""

    folder: Path
    keys: Keys
    client: TestClient  # with the token
    app: Any

    def submit(
        self,
        name: str,
        content: bytes,
        *trajectories: tuple[str, bytes],
        title: str = "",
        recipe: str = "",
        rigidity: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Any:
        """Upload files; the answer is not checked."""
        files = [("topology", (name, content))]
        files += [("trajectories", file) for file in trajectories]
        texts = {"title": title, "recipe": recipe, "settings": json.dumps(settings)}
        texts |= {"rigidity": json.dumps(rigidity)} if rigidity is not None else {}
        data = {part: text for part, text in texts.items() if text}
        return self.client.post("/api/jobs", files=files, data=data)

    def compare(self, one: str, other: str, **more: Any) -> Any:
        """Ask for a comparison; the answer is not checked."""
        return self.client.post("/api/comparisons", json={"one": one, "other": other, **more})

    def started(self, name: str, content: bytes, **settings: Any) -> str:
        """Upload a file, and return the id of the job."""
        answer = self.submit(name, content, **settings)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def job(self, name: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/jobs/{name}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def wait(self, name: str, *states: str) -> dict[str, Any]:
        """Wait until a job is in one of some states."""
        found: dict[str, Any] = until(
            lambda: job if (job := self.job(name))["state"] in states else None
        )
        return found

    def ended(self, name: str) -> dict[str, Any]:
        return self.wait(name, "done", "failed", "cancelled", "interrupted")

    def stored(self) -> set[str]:
        """Everything in the folder of the server."""
        return everything(self.folder)


MakeServer = Callable[..., Server]


def everything(folder: Path) -> set[str]:
    """All that is in a folder, also while others write into it."""
    return {
        os.path.relpath(os.path.join(place, name), folder)  # noqa: PTH118
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    }


def until(found: Callable[[], Any]) -> Any:
    """Wait for something to be found, and ask less often the longer it takes."""
    begun = time.monotonic()
    while not (value := found()):
        waited = time.monotonic() - begun
        assert waited < LONGEST, "it took too long"
        time.sleep(min(0.02 + waited / 10, 0.5))
    return value


@contextmanager
def running_server(folder: Path, **limits: Any) -> Iterator[Server]:
    from fastapi.testclient import TestClient

    from timme.web.app import create_app
    from timme.web.guard import Keys
    from timme.web.limits import parse_limits

    keys = Keys(TOKEN)
    allowed = replace(parse_limits(ServeSettings()), **limits)
    app = create_app(folder, port=PORT, keys=keys, limits=allowed)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url=BASE, headers=headers) as client:
        yield Server(folder, keys, client, app)


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[MakeServer]:
    """Function that starts a server; a second one on the same folder is one after a restart."""
    with ExitStack() as running:

        def make(folder: Path | None = None, **limits: Any) -> Server:
            place = folder or tmp_path / "served"
            place.mkdir(exist_ok=True)
            return running.enter_context(running_server(place, **limits))

        yield make


@pytest.fixture
def server(make_server: MakeServer) -> Server:
    return make_server()


# ---- jobs that start no process, or one that does little ----------------------------------------


class Inside:
    """What stands in for the process of a job: a thread of this one, which does the same."""

    stdin = None

    def __init__(self, command: list[str], **_: Any) -> None:
        from timme.web.worker import main

        self.returncode: int | None = None
        self._thread = threading.Thread(target=main, args=(words_of(command),))
        self._thread.start()

    def poll(self) -> int | None:
        if not self._thread.is_alive():
            self.returncode = 0
        return self.returncode


class Idle(subprocess.Popen):  # type: ignore[type-arg]
    """The process of a job, which does nothing but wait to be ended."""

    def __init__(self, command: list[str], **options: Any) -> None:
        assert words_of(command)
        super().__init__([sys.executable, "-S", "-c", "import time; time.sleep(600)"], **options)


def words_of(command: list[str]) -> list[str]:
    """What the worker is told."""
    place = command.index("-m")
    assert command[place + 1] == "timme.web.worker"
    return command[place + 2 :]


def start_by(patch: pytest.MonkeyPatch, process: type) -> None:
    """Let jobs be started by something else; libraries that start processes are left alone."""
    ours = SimpleNamespace(**{**vars(subprocess), "Popen": process})
    patch.setattr("timme.web.process.subprocess", ours)


def work_inside(patch: pytest.MonkeyPatch) -> None:
    """Let jobs run in this process, without limits, and save no pictures."""
    leave_out_figures(patch)
    patch.setattr("timme.web.worker._limit", lambda _: None)
    patch.setattr("timme.web.worker._end_with_the_server", lambda: None)
    start_by(patch, Inside)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs in this process: for tests of what they do, and not of how they are started and end."""
    work_inside(monkeypatch)


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that run until they are ended, but take no time of the processor."""
    start_by(monkeypatch, Idle)


# ---- inputs ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small table of tracked particles."""
    path = tmp_path_factory.mktemp("tracks") / "tracks.csv"
    return write_tracks(path, wandering(12, 8)).read_bytes()


@pytest.fixture(scope="session")
def peptide(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small ensemble of a peptide."""
    path = tmp_path_factory.mktemp("peptide") / "peptide.pdb"
    return write_pdb(path, swinging()).read_bytes()


@pytest.fixture(scope="session")
def structure(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One model of a helix, to which hydrogens have to be added."""
    pytest.importorskip("hydride", reason="hydrogens are added by hydride, which is not installed")
    path = tmp_path_factory.mktemp("structure") / "helix.pdb"
    return write_pdb(path, [helix(14)]).read_bytes()


LONG_SETTINGS: dict[str, Any] = {"pairs": "all", "gaps": True}


@pytest.fixture(scope="session")
def long_run() -> bytes:
    """An array of which all pairs, measured one by one, take a minute or more."""
    rng = np.random.default_rng(0)
    return array_bytes(rng.normal(size=(20, 20_000, 3)).astype(np.float32))


def array_bytes(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def planted(folder: Path, name: str, state: str, **files: str) -> Path:
    """Put a job into the folder of a server, as an earlier server would have left it."""
    place = folder / name
    (place / "input").mkdir(parents=True)
    (place / "input" / "1.csv").write_text("frame,particle,x,y\n")
    job = {
        "id": name,
        "title": f"planted {state}",
        "state": state,
        "created": datetime.now(UTC).isoformat(),
        "files": [{"name": "a.csv", "size": 19, "stored": "1.csv"}],
        "settings": {},
    }
    (place / "job.json").write_text(json.dumps(job))
    if state == "done":
        (place / "result").mkdir()
        for file, text in files.items():
            (place / "result" / file.replace("_", ".")).write_text(text)
    return place
