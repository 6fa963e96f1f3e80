"""End to end: a job is a process of its own, whose end is never that of the server."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.server.conftest import Server, planted, running_server
from timme.analysis.recipe import analyse
from timme.analysis.store import load

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# The process of a job takes seconds to start: whatever ends it meanwhile ends it before its work.


def processes(server: Server) -> list[int]:
    """Ids of the processes of jobs of a server."""
    needle = str(server.folder.resolve()).encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"timme.server.worker" in words and any(needle in word for word in words):
            found.append(int(entry.name))
    return found


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory, tracks: bytes
) -> Iterator[tuple[Server, str]]:
    """A server with a job that is done."""
    with running_server(tmp_path_factory.mktemp("finished")) as server:
        parts = {"title": "My <title>", "settings": {"pairs": "all", "min_size": 5}}
        name = server.started(("my (tracks).csv", tracks), **parts)
        assert server.ended(name)["state"] == "done", server.job(name)
        yield server, name


def test_a_result_is_that_of_the_library(
    finished: tuple[Server, str], tracks: bytes, tmp_path: Path
) -> None:
    server, name = finished
    content = server.client.get(f"/api/jobs/{name}/files/result.npz").content
    (tmp_path / "result.npz").write_bytes(content)
    (tmp_path / "tracks.csv").write_bytes(tracks)
    found: Any = load(tmp_path / "result.npz")
    expected = analyse(tmp_path / "tracks.csv", pairs="all", min_size=5)
    np.testing.assert_array_equal(found.hierarchy.heights, expected.hierarchy.heights)
    job = server.job(name)
    texts = (job["answer"], expected.finding.text())
    answer, same = (" ".join(text.split()).partition(": ")[2] for text in texts)
    assert answer == same
    assert (job["title"], job["recipe"]) == ("My <title>", "run")
    assert job["command"] == "timme run my-tracks.csv --set min_size=5 --set pairs=all"
    assert str(server.folder) not in json.dumps(job)


def test_files_are_listed_served_and_archived(finished: tuple[Server, str]) -> None:
    server, name = finished
    *listed, last = server.job(name)["results"]
    archive = server.client.get(f"/api/jobs/{name}/files/{last['name']}")
    assert archive.headers["content-disposition"] == 'attachment; filename="timme-My-title.zip"'
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert set(opened.namelist()) == {file["name"] for file in listed}
        for file in listed:
            content = server.client.get(f"/api/jobs/{name}/files/{file['name']}").content
            assert len(content) == file["size"]
            assert opened.read(file["name"]) == content
    assert {path.name for path in (server.folder / name).iterdir()} == {"job.json", "result"}


@pytest.mark.parametrize(
    "name",
    "../job.json ..%2fjob.json %2e%2e/job.json %2e%2e nothing /etc/passwd %2fetc%2fpasswd".split(),
)
def test_files_that_are_not_listed_are_not_served(finished: tuple[Server, str], name: str) -> None:
    server, job = finished
    assert server.client.get(f"/api/jobs/{job}/files/{name}").status_code == 404


def test_two_results_are_compared(finished: tuple[Server, str], tracks: bytes) -> None:
    server, name = finished
    other = server.started(("b.csv", tracks), settings={"pairs": "all"})
    pair = {"first": name, "second": other}
    assert server.client.post("/api/comparisons", json=pair).status_code == 409
    server.ended(other)
    made = server.client.post("/api/comparisons", json=pair).json()
    assert server.client.delete(f"/api/jobs/{other}").status_code == 204
    job = server.ended(made["id"])
    assert job["state"] == "done", job
    assert "adjusted Rand index 1.00" in job["answer"]


@pytest.mark.slow
def test_a_single_structure_is_decomposed_by_its_bonds(server: Server) -> None:
    pytest.importorskip("hydride", reason="hydrogens are added by hydride, which is not installed")
    path = Path(__file__).parents[3] / "shared" / "data" / "xray" / "1a2p.pdb"
    if not path.is_file():
        pytest.skip("needs 1a2p of the PDB in ../shared/data/xray")
    file, settings = ("1a2p.pdb", path.read_bytes()), {"chain": "A", "min_size": 8}
    job = server.ended(server.started(file, settings=settings))
    assert "or use recipe rigidity for a single structure" in job["error"]
    job = server.ended(server.started(file, settings=settings, recipe="rigidity"))
    assert (job["state"], job["recipe"]) == ("done", "rigidity"), job
    assert job["command"] == "timme rigidity 1a2p.pdb --set chain=A --set min_size=8"
    assert "one rigid core" in job["answer"]


def test_an_error_is_one_line_with_plain_names(server: Server, tracks: bytes) -> None:
    name = server.started(("<script>.csv", tracks.replace(b"frame", b"colour")))
    job = server.ended(name)
    assert job["state"] == "failed"
    assert job["error"].startswith("script.csv: ")
    assert "\n" not in job["error"]
    assert str(server.folder) not in job["error"]
    assert server.client.get(f"/api/jobs/{name}/files/result.npz").status_code == 409
    assert {path.name for path in (server.folder / name).iterdir()} == {"job.json"}


def test_a_job_over_its_memory_fails_alone(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((2, 1_000_000, 3), np.float32))
    chosen = {"pairs": "all"}
    with running_server(tmp_path, memory="800MB") as server:
        job = server.ended(server.started(("a.npy", stream.getvalue()), settings=chosen))
        assert job["state"] == "failed"
        assert "of memory" in job["error"]
        assert "timme serve --limit memory=" in job["error"]
        assert server.client.get("/api/jobs").status_code == 200


def test_a_job_over_its_time_is_ended(tmp_path: Path, tracks: bytes) -> None:
    with running_server(tmp_path, time="0.5s") as server:
        job = server.ended(server.started(("a.csv", tracks)))
        assert job["state"] == "failed"
        assert "the time that a job may take" in job["error"]
        assert not processes(server)


def test_a_killed_process_ends_its_job_only(server: Server, tracks: bytes) -> None:
    names = [server.started((name, tracks)) for name in ("a.csv", "b.csv")]
    server.wait(names[0], "running")
    (process,) = processes(server)
    os.kill(process, signal.SIGKILL)
    job = server.ended(names[0])
    assert (job["state"], "SIGKILL, most likely for lack of" in job["error"]) == ("failed", True)
    server.wait(names[1], "running")
    (process,) = processes(server)
    os.kill(process, signal.SIGSEGV)
    assert "SIGSEGV" in server.ended(names[1])["error"]


def test_jobs_are_stopped_resumed_and_removed(server: Server, tracks: bytes) -> None:
    names = [server.started((f"{k}.csv", tracks)) for k in range(3)]
    server.wait(names[0], "running")
    assert [server.job(name)["state"] for name in names] == ["running", "waiting", "waiting"]
    post = server.client.post
    for name in names[:2]:
        assert post(f"/api/jobs/{name}/start").status_code == 409
        assert post(f"/api/jobs/{name}/cancel").json()["state"] == "stopped"
        assert post(f"/api/jobs/{name}/cancel").status_code == 409
    server.wait(names[2], "running")
    assert len(processes(server)) == 1
    assert post(f"/api/jobs/{names[0]}/start").json()["state"] == "waiting"
    for name in (names[0], names[2]):  # one that waits, one that runs
        assert server.client.delete(f"/api/jobs/{name}").status_code == 204
        assert server.client.get(f"/api/jobs/{name}").status_code == 404
    assert not processes(server)
    assert {entry.split("/")[0] for entry in server.stored()} == {names[1]}


def test_a_full_queue_refuses_and_keeps_nothing(tmp_path: Path, tracks: bytes) -> None:
    with running_server(tmp_path, jobs="1", queue="1") as server:
        names = [server.started(("a.csv", tracks)) for _ in range(2)]
        answer = server.submit(("a.csv", tracks))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
        assert {entry.split("/")[0] for entry in server.stored()} == set(names)
        server.client.post(f"/api/jobs/{names[1]}/cancel")
        assert server.submit(("a.csv", tracks)).status_code == 201
        assert server.client.post(f"/api/jobs/{names[1]}/start").status_code == 429


def test_jobs_of_a_stopped_server_are_resumed_by_the_next_one(
    tmp_path: Path, tracks: bytes
) -> None:
    with running_server(tmp_path) as first:
        names = [first.started((f"{k}.csv", tracks)) for k in range(2)]
        first.wait(names[0], "running")
    assert not processes(first)
    planted(tmp_path, "crashed", "running")  # left by a server that was killed
    with running_server(tmp_path) as second:
        every = [*names, "crashed"]
        assert [second.job(name)["state"] for name in every] == ["stopped"] * 3
        assert second.client.post(f"/api/jobs/{names[1]}/start").status_code == 200
        assert second.ended(names[1])["state"] == "done", second.job(names[1])


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in (".timme-0a1b2c3d", ".timme-_4e5f6g7"):
        (tmp_path / name / "work").mkdir(parents=True)
    others = {".git", ".new-thing", "timme-1", "folder"}
    for name in others:
        (tmp_path / name / "within").mkdir(parents=True)
    (planted(tmp_path, "damaged", "done") / "job.json").write_text('{"id": "damaged"')
    planted(tmp_path, "moved", "done").rename(tmp_path / "elsewhere")
    with running_server(tmp_path) as server:
        assert server.client.get("/api/jobs").json() == []
        left = {path.name for path in tmp_path.iterdir()}
        assert left == others | {"damaged", "elsewhere"}
        assert all((tmp_path / name / "within").is_dir() for name in others)
