"""`timme serve` as a process: its address, its port, uploads that break off, and its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, folder, timme
from tests.web.conftest import LONG_SETTINGS, everything, until
from tests.web.served import SOURCE, Served
from timme.settings import ServeSettings
from timme.web import parts
from timme.web.limits import parse_limits

__all__ = ["folder", "timme"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs signals and /proc")

Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Function that starts the server."""
    started = []

    def start(*options: str) -> Served:
        started.append(Served(tmp_path / "data", *options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def begun(server: Served, content: bytes, **settings: object) -> str:
    answer = server.client.post(
        "/api/jobs", files={"topology": ("a.npy", content)}, data={"settings": json.dumps(settings)}
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def alive(number: int) -> bool:
    """Tell whether a process is there and not merely waited for."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def children(number: int) -> list[int]:
    tasks = Path(f"/proc/{number}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


@linux
def test_it_listens_on_this_computer_only_and_keeps_its_folder_private(serve: Serve) -> None:
    server = serve()
    host, port = server.base.removeprefix("http://").split(":")
    assert host == "127.0.0.1"
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", int(port)))  # another address of the same computer
    assert server.client.get("/").status_code == (503 if parts.missing() else 200)
    assert server.stop() == 0
    assert "Traceback" not in "".join(server.said)


def test_it_says_how_to_get_its_pages_where_they_were_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import uvicorn

    from timme.web import server

    monkeypatch.setattr(uvicorn.Server, "run", lambda _, sockets: sockets)
    monkeypatch.setattr(parts, "page_part", lambda _: None)
    said: list[str] = []
    server.run(
        port=0,
        data=tmp_path,
        browser=False,
        tell=said.append,
        limits=parse_limits(ServeSettings()),
    )
    assert "TIMME is at" in said[0]
    assert said[-1].startswith("there are no pages to look at: ")
    assert "install again with access to npm" in said[-1]


def test_no_log_holds_the_token_again(serve: Serve) -> None:
    server = serve()
    assert server.client.get(server.address, follow_redirects=False).status_code == 303
    server.stop()
    assert "".join(server.said).count(server.token) == 1


@linux
def test_an_upload_that_breaks_off_leaves_nothing(serve: Serve) -> None:
    server = serve()
    host, port = server.base.removeprefix("http://").split(":")
    before = everything(server.folder)
    head = (
        f"POST /api/jobs HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {server.token}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="topology"; filename="a.pdb"\r\n\r\n'
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"ATOM " * 10_000)
        until(lambda: any(name.endswith("1.pdb") for name in everything(server.folder)))
    until(lambda: everything(server.folder) == before)
    assert server.client.get("/api/jobs").json() == {"jobs": []}
    assert server.stop() == 0
    assert "Traceback" not in "".join(server.said)


def test_a_browser_reads_why_a_large_upload_is_refused(serve: Serve) -> None:
    server = serve("--max-upload", "1MB")
    # All of it is sent before the answer is read, as browsers do.
    answer = server.client.post("/api/jobs", files={"topology": ("a.pdb", b"x" * 30_000_000)})
    assert answer.status_code == 413
    assert "1 MB" in answer.json()["detail"]


@linux
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_however_the_server_ends_its_jobs_end_and_can_go_on(
    serve: Serve, long_run: bytes, number: signal.Signals
) -> None:
    server = serve()
    name = begun(server, long_run, **LONG_SETTINGS)
    workers = until(lambda: children(server.process.pid))
    server.stop(number)
    until(lambda: not any(alive(worker) for worker in workers))
    again = serve()
    assert again.token != server.token
    assert again.state(name) == "interrupted"
    assert again.client.post(f"/api/jobs/{name}/start").status_code == 200
    assert again.client.delete(f"/api/jobs/{name}").status_code == 204


@linux
def test_two_servers_do_not_share_a_folder_or_a_port(serve: Serve, timme: Run) -> None:
    server = serve()
    port = server.base.rsplit(":", 1)[1]
    found = timme("serve", "--no-browser", "--port", "0", "--data", server.folder)
    assert found.code == 2
    assert "another server uses this folder" in found.err
    found = timme("serve", "--no-browser", "--port", port, "--data", "elsewhere")
    assert found.code == 2
    assert found.err.startswith(f"timme: error: port {port}: ")


@pytest.mark.parametrize(
    "options",
    [
        ("--max-time", "long"),
        ("--max-upload", "x"),
        ("--memory", "0"),
        ("--jobs", "0"),
        ("--port", "-1"),
    ],
)
def test_options_that_mean_nothing_are_one_line(timme: Run, options: tuple[str, str]) -> None:
    found = timme("serve", "--no-browser", *options)
    assert found.code == 2
    assert found.err.count("\n") == 1


def test_without_the_extra_one_line_says_what_to_install(
    timme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("timme.web.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = timme("serve", "--no-browser")
    assert found.code == 2
    assert "pip install 'pytimme[web]'" in found.err
    assert "uvicorn" in found.err


def test_the_command_is_light_until_it_serves() -> None:
    code = (
        "import sys\nfrom timme.cli import main\n"
        "try: main(['serve', '--help'])\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted({'fastapi', 'uvicorn', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "LOADED"
