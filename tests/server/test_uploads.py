"""End to end: what is uploaded is stored unpacked, whole and within limits, or refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.server.conftest import Server, packed, running_server

BOUNDARY = "boundary"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def part(name: str, content: bytes, filename: str | None = None) -> bytes:
    shown = "" if filename is None else f'; filename="{filename}"'
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{shown}\r\n\r\n'
    return head.encode() + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def refused(server: Server, answer: Any, status: int) -> str:
    """Return why something was refused, and check that nothing of it is kept."""
    assert answer.status_code == status, answer.text
    assert not server.stored()
    assert server.client.get("/api/jobs").json() == []
    reason: str = answer.json()["detail"]
    assert "\n" not in reason
    assert str(server.folder) not in reason
    return reason


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV.GZ", "../../a.csv"])
@pytest.mark.parametrize("members", [0, 1, 3])
def test_files_are_stored_unpacked(server: Server, tracks: bytes, name: str, members: int) -> None:
    sent = tracks
    if members:  # several compressed files in a row, and zeros, are one
        cuts = [len(tracks) * k // members for k in range(members + 1)]
        sent = b"".join(packed(tracks[start:stop]) for start, stop in pairwise(cuts)) + b"\0" * 7
    elif name.lower().endswith(".gz"):
        return
    job = server.submit((name, sent)).json()
    assert job["files"] == [
        {"name": name, "size": len(tracks), "stored": job["files"][0]["stored"]}
    ]
    stored = server.folder / job["id"] / "work/input" / job["files"][0]["stored"]
    assert stored.suffix == ".csv"
    assert stored.parents[3].resolve() == server.folder.resolve()
    assert stored.read_bytes() == tracks


def test_files_keep_their_order_and_plain_names(server: Server) -> None:
    names = ["t.pdb", "b.xtc", "../b.xtc", "<b>.xtc", "…xtc.xtc"]
    job = server.submit(*((name, b"abc") for name in names)).json()
    assert [file["name"] for file in job["files"]] == names
    stored = [file["stored"] for file in job["files"]]
    assert stored == ["t.pdb", "b.xtc", "b-3.xtc", "b-4.xtc", "xtc.xtc"]


LARGE = b"\0" * 5_000_000
BOMBS = {
    "bomb": (packed(LARGE), 413),
    "two halves in a row": (packed(LARGE[:600_000]) * 2, 413),
    "bomb in a bomb": (packed(LARGE, times=2), 422),
    "compressed twice": (packed(b"x" * 1000, times=2), 422),
    "cut off": (packed(b"x" * 1000)[:-9], 422),
    "rubbish": (b"\x1f\x8b" + b"rubbish" * 10, 422),
    "rubbish after it": (packed(b"x" * 1000) + b"rubbish", 422),
    "empty, compressed": (packed(b""), 422),
    "empty": (b"", 422),
}


@pytest.mark.parametrize(("content", "status"), [*BOMBS.values()], ids=BOMBS)
def test_bombs_and_damaged_files_are_refused(tmp_path: Any, content: bytes, status: int) -> None:
    with running_server(tmp_path, upload="1MB") as server:
        refused(server, server.submit(("a.csv.gz", content)), status)


def test_limit_counts_all_files_together(tmp_path: Any) -> None:
    with running_server(tmp_path, upload="1MB") as server:
        files = [(f"{k}.xtc", packed(b"\0" * 400_000)) for k in range(3)]
        assert "1 MB" in refused(server, server.submit(*files), 413)
        refused(server, server.submit(("a.csv", LARGE[:1_000_001])), 413)
        assert server.submit(*files[:2]).status_code == 201


@pytest.mark.parametrize(
    "name", ["a.exe", "a", "", "a.h5", "a.npz", "a.csv.bz2", "a.itp", ".gz", "a.csv.gz.gz"]
)
def test_other_kinds_are_refused(server: Server, name: str) -> None:
    body = form(part("topology", b"abc", name))
    refused(server, server.client.post("/api/jobs", content=body, headers=FORM), 422)


TOPOLOGY, MORE = part("topology", b"abc", "a.csv"), part("trajectories", b"abc", "a.xtc")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        pytest.param(form(), None, 422, id="no file"),
        pytest.param(form(part("topology", b"abc")), None, 422, id="a path"),
        pytest.param(form(TOPOLOGY, part("recipe", b"compare")), None, 422, id="another recipe"),
        pytest.param(form(TOPOLOGY, part("title", b"x" * 2_000_001)), None, 400, id="a long title"),
        pytest.param(form(*[TOPOLOGY] * 1001), None, 400, id="many files"),
        pytest.param(form(TOPOLOGY, *[MORE] * 201), None, 422, id="many trajectories"),
        pytest.param(b"rubbish", None, 400, id="rubbish"),
        pytest.param(b"", None, 422, id="nothing"),
        pytest.param(b"{}", "application/json", 422, id="JSON"),
        pytest.param(form(TOPOLOGY), "multipart/form-data", 400, id="no boundary"),
    ],
)
def test_damaged_forms_are_refused(
    server: Server, body: bytes, kind: str | None, status: int
) -> None:
    headers = {"Content-Type": kind} if kind else FORM
    refused(server, server.client.post("/api/jobs", content=body, headers=headers), status)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"colour": "red"}, "there is no option colour="),
        ({"objects": "/etc/passwd"}, "objects= takes auto, points"),
        ({"pairs": "../pairs.txt"}, "pairs= takes auto, contact"),
        ({"pairs": "contact:0"}, "pairs= takes contact:RADIUS above 0"),
        ({"weights": "weights.txt"}, "weights= cannot be set here"),
        ({"memory": "2TB"}, "memory= cannot be set here"),
        ({"axis_from": ["/etc/passwd", "/etc/group"]}, "axis_from= cannot be set here"),
        ({"superposed": "/etc/passwd"}, "superposed= cannot be set here"),
        ({"constraints": "/etc/passwd"}, "constraints= cannot be set here"),
        ({"begin": [1]}, "settings: "),
        ({"select": "x" * 10_001}, "settings: select="),
        ([], "body.settings: "),
        ("{", "body.settings: "),
        ('{"cutoff": NaN}', "cutoff="),
        ('{"begin": 1e999}', "settings: "),
        (f'{{"seed": 1{"0" * 5000}}}', "settings: "),
        ('{"select": "\\ud800"}', "body.settings: "),
        ("[" * 100_000, "body.settings: "),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_unusable_settings_are_refused(
    server: Server, tracks: bytes, settings: Any, said: str
) -> None:
    recipes = {"axis_from": "motion", "superposed": "motion", "constraints": "rigidity"}
    recipe = recipes.get(min(settings, default=""), "run")
    answer = server.submit(("a.csv", tracks), settings=settings, recipe=recipe)
    assert said in refused(server, answer, 422)
