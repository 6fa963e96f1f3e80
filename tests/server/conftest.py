"""A server in this process, without a port."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.cli.conftest import table_of

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

if find_spec("fastapi") is None:  # the extra `web` is not installed
    collect_ignore_glob = ["*"]

PORT = 8377
BASE = f"http://127.0.0.1:{PORT}"
TOKEN = "the token of the tests"
PATIENCE = 60.0  # seconds


@dataclass
class Server:
    """A server, with the ways in which tests use it."""

    folder: Path
    tickets: set[str]
    client: TestClient  # with the token
    app: Any

    def submit(self, *files: tuple[str, bytes], **parts: Any) -> Any:
        """Upload files, the topology first; the answer is not checked."""
        names = ["topology", *["trajectories"] * (len(files) - 1)]
        texts = {
            name: text if isinstance(text, str) else json.dumps(text)
            for name, text in parts.items()
        }
        sent = [(name, file) for name, file in zip(names, files, strict=True)]
        return self.client.post("/api/jobs", files=sent, data=texts)

    def started(self, *files: tuple[str, bytes], **parts: Any) -> str:
        """Upload files, and return the id of the job."""
        answer = self.submit(*files, **parts)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def job(self, name: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/jobs/{name}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def wait(self, name: str, *states: str) -> dict[str, Any]:
        """Wait until a job is in one of some states."""
        begun = time.monotonic()
        while (found := self.job(name))["state"] not in states:
            assert time.monotonic() - begun < PATIENCE, found
            time.sleep(0.05)
        return found

    def ended(self, name: str) -> dict[str, Any]:
        return self.wait(name, "done", "failed", "stopped")

    def stored(self) -> set[str]:
        """Everything in the folder of the server."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


@contextmanager
def running_server(folder: Path, **limits: str) -> Iterator[Server]:
    from fastapi.testclient import TestClient

    from timme.analysis.settings import ServeSettings, make
    from timme.server.app import create_app

    tickets, chosen = set[str](), make(ServeSettings, **limits)
    app = create_app(folder, chosen, port=PORT, token=TOKEN, tickets=tickets)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url=BASE, headers=headers) as client:
        yield Server(folder, tickets, client, app)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def tracks() -> bytes:
    """A small table of tracked particles, of which two groups move together."""
    rng = np.random.default_rng(1)
    places = rng.uniform(0, 20, (24, 2))
    ways = np.cumsum(rng.normal(scale=0.5, size=(12, 2, 2)), axis=0)[:, np.arange(24) % 2]
    return table_of(places + ways + rng.normal(scale=0.05, size=(12, 24, 2))).encode()


def planted(folder: Path, name: str, state: str, **files: str) -> Path:
    """Put a job into the folder of a server, as an earlier one would have left it."""
    place = folder / name
    (place / "work" / "input").mkdir(parents=True)
    (place / "work" / "input" / "a.csv").write_text("frame,particle,x,y\n")
    results = [{"name": file.replace("_", "."), "size": 1, "about": ""} for file in files]
    job = {
        "id": name,
        "title": f"planted {state}",
        "state": state,
        "recipe": "run",
        "created": datetime.now(UTC).isoformat(),
        "files": [{"name": "a.csv", "size": 19, "stored": "a.csv"}],
        "results": results,
    }
    (place / "job.json").write_text(json.dumps(job))
    (place / "result").mkdir()
    for file, text in files.items():
        (place / "result" / file.replace("_", ".")).write_text(text)
    return place


def packed(content: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        content = gzip.compress(content)
    return content
