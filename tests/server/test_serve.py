"""End to end: the server in a process of its own, and its pages in a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import timme
from tests.server.conftest import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SOURCE = Path(timme.__file__).parents[1]
START = [sys.executable, "-m", "timme", "serve", "--no-browser"]


class Served:
    """`timme serve` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*START, "--port", "0", "--data", str(folder), *options],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", self.process.stdout.readline())
        assert found is not None
        self.address, self.port, token = found[0], int(found[1]), found[2]
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    def submit(self, content: bytes) -> str:
        answer = self.client.post("/api/jobs", files={"topology": ("a.csv", content)})
        return str(answer.json()["id"])

    def state(self, name: str) -> str:
        return str(self.client.get(f"/api/jobs/{name}").json()["state"])

    def end(self, number: signal.Signals) -> int:
        self.client.close()
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Function that starts servers, which end with the test."""
    made = list[Served]()

    def start(*options: Any) -> Served:
        made.append(Served(*options))
        return made[-1]

    yield start
    for each in made:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


def wait(found: Callable[[], Any]) -> None:
    begun = time.monotonic()
    while not found():
        assert time.monotonic() - begun < PATIENCE
        time.sleep(0.05)


def children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def unnamed(process: int, folder: Path) -> list[str]:
    """Files without a name in a folder that a process has open."""
    opened = [_target(path) for path in Path(f"/proc/{process}/fd").iterdir()]
    return [name for name in opened if name.startswith(f"{folder}/") and "deleted" in name]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed since the folder was listed
        return ""


def test_this_computer_alone_reaches_the_server(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    first = serve(tmp_path)
    listening = Path("/proc/net/tcp").read_text()
    assert f"0100007F:{first.port:04X} 00000000:0000 0A" in listening  # 127.0.0.1
    assert f"00000000:{first.port:04X} 00000000:0000 0A" not in listening
    options: list[Any] = [["--data", tmp_path], ["--data", tmp_path / "b", "--port", first.port]]
    for each, said in zip(options, ("another server uses", "Address already in use"), strict=True):
        again = subprocess.run(
            [*START, *map(str, each)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert again.returncode == 2
        assert said in again.stderr
        assert len(again.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_jobs_end_with_the_server(
    serve: Callable[..., Served], tmp_path: Path, tracks: bytes, number: signal.Signals
) -> None:
    first = serve(tmp_path)
    name = first.submit(tracks)
    wait(lambda: children(first.process.pid))
    (child,) = children(first.process.pid)
    code = first.end(number)
    assert code == (0 if number == signal.SIGINT else -number)
    wait(lambda: not Path(f"/proc/{child}").exists() or b"worker" not in _words(child))
    second = serve(tmp_path)
    assert second.state(name) == "stopped"


def _words(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def test_large_and_dropped_uploads_leave_nothing(
    serve: Callable[..., Served], tmp_path: Path, tracks: bytes
) -> None:
    served = serve(tmp_path)
    head = (
        f"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        f"Authorization: {served.client.headers['authorization']}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="topology"; filename="a.csv"\r\n\r\n'
    )
    before = set(tmp_path.iterdir())
    large = served.client.post("/api/comparisons", content=b"x" * 500_000)
    assert large.status_code == 413  # although all of it was sent
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(head.encode() + tracks * 300)
        wait(lambda: unnamed(served.process.pid, tmp_path))
    wait(lambda: not unnamed(served.process.pid, tmp_path))
    assert set(tmp_path.iterdir()) == before
    assert served.client.get("/api/jobs").json() == []


@pytest.mark.slow
def test_pages_upload_follow_compare_and_delete(
    serve: Callable[..., Served], browser: Any, tmp_path: Path, tracks: bytes
) -> None:
    served, file, problems = serve(tmp_path / "served"), tmp_path / "a.csv", list[str]()
    file.write_bytes(tracks)
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.set_default_timeout(1000 * PATIENCE)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    for name in ("first", "second"):
        page.goto(served.address)
        assert "token" not in page.url
        page.set_input_files("input[type=file]", file)
        page.fill("[name=title]", name)
        page.click("summary >> visible=true")
        page.fill("[name=pairs] >> visible=true", "/etc/passwd")
        page.click("[type=submit]")
        page.wait_for_selector("[data-problem]:has-text('pairs= takes')")
        page.fill("[name=pairs] >> visible=true", "all")
        page.click("[type=submit]")
        page.wait_for_url("**/results/*")
        report = page.frame_locator("iframe")  # comes when the job is done
        assert "two groups" in report.locator("h1").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.click("button:has-text('Compare')")
    page.wait_for_selector("h1:has-text('second and first')")
    page.wait_for_selector("h2:has-text('How it was made')")
    answer = served.client.get(page.url.replace("/results/", "/api/jobs/")).json()["answer"]
    assert "adjusted Rand index 1.00" in answer
    page.click("text=Delete")
    page.wait_for_selector("h1:has-text('New analysis')")
    assert page.locator("tbody tr").count() == 2
    assert not problems
    page.close()
