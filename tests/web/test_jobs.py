"""Jobs: the recipe of the command line in a process of its own, whose end is never the server's."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.web.conftest import (
    LONG_SETTINGS,
    Idle,
    MakeServer,
    Server,
    planted,
    running_server,
    start_by,
    until,
)
from timme.web.folders import draft

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs limits that the system enforces")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes of jobs, as they are started."""
    found: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            found.append(self)

    start_by(monkeypatch, Noted)
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, peptide: bytes) -> tuple[Path, str]:
    """The folder of a server that has ended, and the id of a job in it that is done."""
    folder = tmp_path_factory.mktemp("finished")
    with running_server(folder) as server:
        answer = server.submit("my <b>peptide</b>.pdb", peptide, title="My title", select="ca")
        name = answer.json()["id"]
        assert server.ended(name)["state"] == "done", server.job(name)
    return folder, name


# ---- a job that is done ------------------------------------------------------------------------


def test_the_result_is_that_of_the_library(
    make_server: MakeServer, finished: tuple[Path, str], peptide: bytes, tmp_path: Path
) -> None:
    folder, name = finished
    server = make_server(folder)
    answer = server.client.get(f"/api/jobs/{name}/files/result.npz")
    (tmp_path / "result.npz").write_bytes(answer.content)
    (tmp_path / "peptide.pdb").write_bytes(peptide)
    found = timme.load(tmp_path / "result.npz")
    expected = timme.analyse(tmp_path / "peptide.pdb", select="ca")
    np.testing.assert_array_equal(found.hierarchy.heights, expected.hierarchy.heights)
    np.testing.assert_array_equal(found.hierarchy.parents, expected.hierarchy.parents)


def test_users_find_their_own_names_and_choices(
    make_server: MakeServer, finished: tuple[Path, str], tmp_path: Path
) -> None:
    folder, name = finished
    server = make_server(folder)
    job = server.job(name)
    assert job["title"] == "My title"
    assert job["version"] == timme.__version__
    assert job["summary"][0] == {"name": "input", "value": "my <b>peptide</b>.pdb"}
    assert str(folder) not in json.dumps(job)
    answer = server.client.get(f"/api/jobs/{name}/files/result.npz")
    (tmp_path / "result.npz").write_bytes(answer.content)
    provenance = timme.load(tmp_path / "result.npz").recipe.provenance
    assert provenance.command == "timme run 'my <b>peptide</b>.pdb' --select ca"


def test_files_are_listed_served_and_archived(
    make_server: MakeServer, finished: tuple[Path, str]
) -> None:
    folder, name = finished
    server = make_server(folder)
    listed = server.client.get(f"/api/jobs/{name}/files").json()["files"]
    names = {file["name"] for file in listed}
    assert {"result.npz", "dilution.svg", "clusters.csv", "clusters.pml"} <= names
    archive = server.client.get(f"/api/jobs/{name}/archive.zip")
    assert archive.headers["content-disposition"] == 'attachment; filename="timme-My-title.zip"'
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert opened.testzip() is None
        assert set(opened.namelist()) == {f"timme-My-title/{name}" for name in names}
        for file in listed:
            content = server.client.get(f"/api/jobs/{name}/files/{file['name']}").content
            assert len(content) == file["size"]
            assert opened.read(f"timme-My-title/{file['name']}") == content
    report = server.client.get(f"/api/jobs/{name}/files/report.html").text
    assert "<title>My title</title>" in report


@pytest.mark.parametrize(
    "name",
    [
        "../job.json",
        "..%2fjob.json",
        "%2e%2e/job.json",
        "%2e%2e",
        "nothing",
        "/etc/passwd",
        "%2fetc%2fpasswd",
    ],
)
def test_what_is_not_listed_is_not_served(
    make_server: MakeServer, finished: tuple[Path, str], name: str
) -> None:
    folder, job = finished
    answer = make_server(folder).client.get(f"/api/jobs/{job}/files/{name}")
    assert answer.status_code == 404
    assert "My title" not in answer.text


def test_what_was_uploaded_is_kept_no_longer_than_needed(finished: tuple[Path, str]) -> None:
    folder, name = finished
    left = {path.name for path in (folder / name).iterdir()}
    assert left == {"job.json", "result", "scene.json"}


# ---- failures ----------------------------------------------------------------------------------


def test_an_error_is_one_line_with_the_name_of_the_user(server: Server, tracks: bytes) -> None:
    name = server.started("<script>.csv", tracks.replace(b"frame", b"colour"))
    job = server.ended(name)
    assert job["state"] == "failed"
    assert job["error"].startswith("<script>.csv: ")
    assert str(server.folder) not in job["error"]
    assert server.client.get(f"/api/jobs/{name}/files").json() == {"files": []}
    assert server.client.get(f"/api/jobs/{name}/archive.zip").status_code == 409


@pytest.mark.usefixtures("inside")
def test_an_evil_selection_is_refused_as_text(server: Server, peptide: bytes) -> None:
    name = server.started("a.pdb", peptide, select="<script>alert(1)</script>")
    assert "<script>alert(1)</script>" in server.ended(name)["error"]


@linux
def test_a_job_over_its_memory_fails_alone(make_server: MakeServer) -> None:
    server = make_server(memory=1_000_000_000)
    # A full matrix of 60,000 × 60,000 numbers, 29 GB, is promised by its first lines.
    matrix = b"%%MatrixMarket matrix array real general\n60000 60000\n0.5\n"
    job = server.ended(server.started("a.mtx", matrix))
    assert job["state"] == "failed"
    assert "1.0 GB of memory" in job["error"]
    assert server.client.get("/api/version").status_code == 200


@pytest.mark.usefixtures("idle")
def test_a_job_over_its_time_is_ended(
    make_server: MakeServer, tracks: bytes, processes: list[subprocess.Popen[bytes]]
) -> None:
    server = make_server(seconds=1.5)
    job = server.ended(server.started("a.csv", tracks))
    assert job["state"] == "failed"
    assert job["error"].startswith("stopped after 1.5 s")
    assert processes[0].returncode is not None


@posix
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGSEGV, marks=pytest.mark.thorough),
        pytest.param(signal.SIGABRT, marks=pytest.mark.thorough),
    ],
)
def test_a_crash_ends_that_job_only(
    make_server: MakeServer,
    long_run: bytes,
    tracks: bytes,
    processes: list[subprocess.Popen[bytes]],
    number: signal.Signals,
) -> None:
    server = make_server()
    crashed = server.started("a.npy", long_run, **LONG_SETTINGS)
    other = server.started("a.csv", tracks.replace(b"frame", b"colour"))
    server.wait(crashed, "running")
    until(lambda: processes)
    os.kill(processes[0].pid, number)
    job = server.ended(crashed)
    assert job["state"] == "failed"
    assert "killed by the system" in job["error"] if number == 9 else number.name in job["error"]
    assert server.ended(other)["error"].startswith("a.csv: ")


# ---- cancelling and removing -------------------------------------------------------------------


@pytest.mark.usefixtures("idle")
def test_jobs_are_cancelled_whether_they_wait_or_run(
    server: Server, tracks: bytes, processes: list[subprocess.Popen[bytes]]
) -> None:
    running = server.started("a.csv", tracks)
    waiting = server.started("b.csv", tracks)
    server.wait(running, "running")
    assert server.job(waiting)["state"] == "waiting"
    for name in (waiting, running):
        assert server.client.post(f"/api/jobs/{name}/cancel").status_code == 200
        assert server.ended(name)["state"] == "cancelled"
        assert server.client.post(f"/api/jobs/{name}/cancel").status_code == 409
    assert [process.returncode for process in processes] == [-signal.SIGKILL]


@pytest.mark.usefixtures("idle")
def test_removing_a_running_job_leaves_nothing(
    server: Server, tracks: bytes, processes: list[subprocess.Popen[bytes]]
) -> None:
    name = server.started("a.csv", tracks)
    server.wait(name, "running")
    assert server.client.delete(f"/api/jobs/{name}").status_code == 204
    assert server.client.get(f"/api/jobs/{name}").status_code == 404
    assert server.client.delete(f"/api/jobs/{name}").status_code == 404
    until(lambda: not server.stored())
    assert processes[0].returncode is not None


@pytest.mark.thorough
def test_progress_is_told_with_the_time_left(server: Server, long_run: bytes) -> None:
    name = server.started("a.npy", long_run, **LONG_SETTINGS)

    def measured() -> Any:
        progress = server.job(name)["progress"]
        return progress if progress and progress["seconds_left"] else None

    found = until(measured)
    assert found["stage"] == "measuring"
    assert 0 < found["done"] < found["total"]


@pytest.mark.thorough
@posix
def test_a_cancelled_job_goes_on_from_its_checkpoint(
    server: Server, long_run: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMME_CHECKPOINT_INTERVAL", "0")
    name = server.started("a.npy", long_run, **LONG_SETTINGS)
    checkpoint = server.folder / name / "result.checkpoint"
    until(checkpoint.exists)
    server.client.post(f"/api/jobs/{name}/cancel")
    server.ended(name)
    assert (server.folder / name / "input" / "1.npy").read_bytes() == long_run
    # Whether it is read is seen by what is said of a damaged one.
    checkpoint.write_bytes(b"damaged")
    assert server.client.post(f"/api/jobs/{name}/start").status_code == 200
    assert "not a checkpoint" in server.ended(name)["error"]


# ---- the queue ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("idle")
def test_a_full_queue_refuses_and_keeps_nothing(make_server: MakeServer, tracks: bytes) -> None:
    server = make_server(jobs=1, queue=1)
    names = [server.started("a.csv", tracks) for _ in range(2)]
    server.wait(names[0], "running")
    before = {place.split("/")[0] for place in server.stored()}
    answer = server.submit("a.csv", tracks)
    assert answer.status_code == 429
    assert answer.headers["retry-after"]
    assert {place.split("/")[0] for place in server.stored()} == before
    server.client.post(f"/api/jobs/{names[1]}/cancel")
    assert server.submit("a.csv", tracks).status_code == 201
    assert server.client.post(f"/api/jobs/{names[1]}/start").status_code == 429


def test_uploads_under_way_count_as_jobs(make_server: MakeServer, tracks: bytes) -> None:
    server = make_server(jobs=1, queue=1)
    jobs = server.app.state.jobs
    with jobs.place(), jobs.place():
        assert server.submit("a.csv", tracks).status_code == 429
    assert server.submit("a.csv", tracks).status_code == 201


@pytest.mark.usefixtures("idle")
def test_as_many_jobs_run_at_once_as_allowed(make_server: MakeServer, tracks: bytes) -> None:
    server = make_server(jobs=2)
    names = [server.started("a.csv", tracks) for _ in range(3)]
    until(
        lambda: [server.job(name)["state"] for name in names] == ["running", "running", "waiting"]
    )
    assert [job["id"] for job in server.client.get("/api/jobs").json()["jobs"]] == names[::-1]


# ---- restarts ----------------------------------------------------------------------------------


def test_finished_jobs_survive_a_restart(
    make_server: MakeServer, finished: tuple[Path, str]
) -> None:
    folder, name = finished
    server = make_server(folder)
    assert server.job(name)["state"] == "done"
    assert server.client.get(f"/api/jobs/{name}/files/clusters.csv").status_code == 200


@pytest.mark.usefixtures("idle")
def test_stopping_the_server_interrupts_and_a_start_goes_on(
    make_server: MakeServer, tracks: bytes, processes: list[subprocess.Popen[bytes]]
) -> None:
    first = make_server()
    names = [first.started(f"{k}.csv", tracks) for k in range(2)]
    first.wait(names[0], "running")
    first.app.state.jobs.close()
    assert all(process.returncode is not None for process in processes)
    second = make_server(first.folder)
    assert [second.job(name)["state"] for name in names] == ["interrupted"] * 2
    assert second.client.post(f"/api/jobs/{names[0]}/start").status_code == 200
    second.wait(names[0], "running")


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_what_was_under_way_at_a_crash_is_interrupted(
    make_server: MakeServer, tmp_path: Path, state: str
) -> None:
    planted(tmp_path, "old", state)
    assert make_server(tmp_path).job("old")["state"] == "interrupted"
    assert json.loads((tmp_path / "old" / "job.json").read_text())["state"] == "interrupted"


@pytest.mark.usefixtures("inside")
def test_an_interrupted_job_runs_to_its_end(
    make_server: MakeServer, tmp_path: Path, tracks: bytes
) -> None:
    planted(tmp_path, "old", "running")
    (tmp_path / "old" / "input" / "1.csv").write_bytes(tracks)
    (tmp_path / "old" / "result.checkpoint").write_bytes(b"of another version")
    server = make_server(tmp_path)
    server.client.post("/api/jobs/old/start")
    assert server.ended("old")["state"] == "done", server.job("old")


def test_leftovers_and_damaged_jobs_do_no_harm(make_server: MakeServer, tmp_path: Path) -> None:
    left_over = draft(tmp_path)
    (left_over / "input").mkdir(parents=True)
    (tmp_path / f".gone-{'0' * 32}").mkdir()
    others = {".git", ".ssh", ".new-thing", ".gone-1"}
    for name in others:
        (tmp_path / name / "within").mkdir(parents=True)
    (planted(tmp_path, "damaged", "done") / "job.json").write_text('{"id": "damaged"')
    planted(tmp_path, "moved", "done").rename(tmp_path / "elsewhere")
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    server = make_server(tmp_path)
    assert server.client.get("/api/jobs").json() == {"jobs": []}
    left = {path.name for path in tmp_path.iterdir()}
    # Nothing of others is removed.
    assert left == {"damaged", "elsewhere", "file", "folder"} | others
    assert all((tmp_path / name / "within").is_dir() for name in others)


@pytest.mark.usefixtures("inside")
def test_a_folder_that_someone_removed_does_no_harm(
    make_server: MakeServer, tmp_path: Path, tracks: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make_server(tmp_path)
    done = server.started("a.csv", tracks)
    server.ended(done)
    shutil.rmtree(tmp_path / done)
    with monkeypatch.context() as patch:
        start_by(patch, Idle)
        running = server.started("a.csv", tracks)
        server.wait(running, "running")
        shutil.rmtree(tmp_path / running, ignore_errors=True)
        server.client.post(f"/api/jobs/{running}/cancel")
        server.ended(running)
    for name in (done, running):
        assert server.client.delete(f"/api/jobs/{name}").status_code == 204
    assert server.ended(server.started("a.csv", tracks))["state"] == "done"


def test_ids_cannot_be_guessed(server: Server, tracks: bytes) -> None:
    names = {server.started("a.csv", tracks) for _ in range(3)}
    assert len(names) == 3
    assert all(len(name) >= 22 for name in names)  # 128 bits


@pytest.mark.usefixtures("idle")
def test_many_requests_at_once_agree(make_server: MakeServer, tracks: bytes) -> None:
    server = make_server(queue=3)
    codes: list[int] = []

    def submit() -> None:
        codes.append(server.submit("a.csv", tracks).status_code)

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(codes) == 8
    assert set(codes) == {201, 429}
    assert codes.count(201) == len(server.client.get("/api/jobs").json()["jobs"]) == 4
