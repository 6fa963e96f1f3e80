"""Uploads: names are only text, every byte is counted, a refusal leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.conftest import MakeServer, Server
from timme.web.models import Task
from timme.web.uploads import Reception, RefusedError

BOUNDARY = "limit"
NAMES = [
    "../../../evil.csv",
    "..\\..\\evil.csv",
    "/etc/evil.csv",
    "C:\\evil.csv",
    "job.json/../a.csv",
    "%2e%2e%2fevil.csv",
    ".csv",
    "a\x00b.csv",
    "a\nb\x1b[31m\u202evsc.csv",
    "<script>alert(1)</script>.csv",
    '"><img src=x onerror=alert(1)>.csv',
    "x" * 5000 + ".csv",
    "ß" * 5000 + ".csv",
]


def part(name: str, content: bytes, filename: str | None = None) -> bytes:
    """A part of a form, with a name as it is, not as a client would make it harmless."""
    head = f'Content-Disposition: form-data; name="{name}"'
    if filename is not None:
        head += f'; filename="{filename}"'
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def post(server: Server, body: bytes, **headers: str) -> Any:
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return server.client.post("/api/jobs", content=body, headers=kind | headers)


def refused(server: Server, body: bytes, status: int, **headers: str) -> str:
    """Check the manners of a refusal, and return what was said."""
    before = server.stored()
    answer = post(server, body, **headers)
    assert answer.status_code == status, answer.text
    assert server.stored() == before
    said = str(answer.json()["detail"])
    assert "\n" not in said
    assert str(server.folder) not in said
    return said


# ---- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:20]))
def test_a_name_is_shown_and_never_a_path(server: Server, tracks: bytes, name: str) -> None:
    quoted = name.replace("\n", "%0A").replace('"', "%22")
    outside = {path for path in server.folder.parent.iterdir() if path != server.folder}
    answer = post(server, form(part("topology", tracks, quoted)))
    assert answer.status_code == 201, answer.text
    job = answer.json()
    shown = job["files"][0]["name"]
    assert len(shown) <= 120
    assert shown.isprintable()
    assert shown.endswith(".csv")
    assert job["title"] == shown
    assert job["files"][0]["stored"] == "1.csv"
    assert {path for path in server.folder.parent.iterdir() if path != server.folder} == outside
    assert {place.split("/")[0] for place in server.stored()} == {job["id"]}


def test_markup_in_title_and_selection_comes_back_as_it_was(server: Server, tracks: bytes) -> None:
    evil = "<script>alert(1)</script>"
    answer = server.submit("a.csv", tracks, title=evil, select=evil)
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["title"] == evil
    assert answer.json()["settings"]["select"] == evil


@pytest.mark.parametrize(
    "name", ["a.py", "a", "", "a.pkl", "a.npz", "a.h5md", "a.itp", "a.csv.bz2", "a.csv/", "a.gz"]
)
def test_only_known_kinds_of_files_are_taken(server: Server, tracks: bytes, name: str) -> None:
    assert "are not taken" in refused(server, form(part("topology", tracks, name)), 422)


def test_a_table_is_no_trajectory(server: Server, tracks: bytes) -> None:
    body = form(part("topology", tracks, "a.pdb"), part("trajectories", tracks, "b.csv"))
    assert refused(server, body, 422).startswith("b.csv: ")


# ---- sizes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_files_over_the_limit_are_refused(make_server: MakeServer, name: str) -> None:
    server = make_server(upload=100_000)
    content = b"0" * 100_001
    content = gzip.compress(content) if name.endswith(".gz") else content
    assert "0 MB" in refused(server, form(part("topology", content, name)), 413)
    half = content[:60_000]
    pair = form(part("topology", half, "a.pdb"), part("trajectories", half, "b.pdb"))
    if name == "a.csv":
        assert refused(server, pair, 413)


def test_files_up_to_the_limit_are_taken(make_server: MakeServer, tracks: bytes) -> None:
    server = make_server(upload=len(tracks))
    assert server.submit("a.csv", tracks).status_code == 201


def bomb(size: int) -> bytes:
    """Zeros of a size, compressed two-hundredfold, made without holding them."""
    packer = zlib.compressobj(1, wbits=31)
    piece = b"\0" * 1_000_000
    return b"".join([packer.compress(piece) for _ in range(size // len(piece))] + [packer.flush()])


@pytest.mark.parametrize("name", ["a.pdb.gz", "a.pdb"])
def test_a_gzip_bomb_is_given_up_at_the_limit(make_server: MakeServer, name: str) -> None:
    server = make_server(upload=20_000_000)
    content = bomb(400_000_000)
    assert len(content) < 3_000_000
    assert "20 MB" in refused(server, form(part("topology", content, name)), 413)


def test_a_bomb_never_takes_more_disk_than_allowed(tmp_path: Path) -> None:
    reception = received_by(tmp_path, limit=5_000_000)
    with pytest.raises(RefusedError, match="5 MB"):
        reception.feed(form(part("topology", bomb(100_000_000), "a.pdb.gz")))
    reception.close()
    assert (tmp_path / "input" / "1.pdb").stat().st_size <= 5_000_000


def test_a_bomb_within_a_bomb_is_refused(server: Server) -> None:
    content = gzip.compress(gzip.compress(b"x" * 1000))
    assert "twice" in refused(server, form(part("topology", content, "a.csv.gz")), 422)


@pytest.mark.parametrize("named", ["a.csv.gz", "a.csv", "A.CSV.GZ"])
@pytest.mark.parametrize("members", [1, 3])
def test_compressed_files_are_stored_unpacked(
    server: Server, tracks: bytes, named: str, members: int
) -> None:
    cuts = [len(tracks) * k // members for k in range(members + 1)]
    pieces = [tracks[a:b] for a, b in pairwise(cuts)]
    content = b"".join(gzip.compress(piece) for piece in pieces) + b"\0" * 7
    job = server.submit(named, content).json()
    assert job["files"][0]["size"] == len(tracks)
    assert job["files"][0]["name"] == named


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"x" * 1000)[:-9], "cut off"),
        (gzip.compress(b"x" * 1000)[:1], "empty"),
        (b"\x1f\x8b" + b"rubbish" * 10, "damaged"),
        (gzip.compress(b"x" * 1000) + b"rubbish", "damaged"),
        (b"frame,particle,x,y\n", "does not start as a compressed file"),
        (gzip.compress(b""), "empty"),
        (b"", "empty"),
    ],
    ids=["cut off", "one byte", "rubbish", "rubbish after", "not packed", "packed", "nothing"],
)
def test_damaged_compressed_files_are_refused(server: Server, content: bytes, said: str) -> None:
    assert said in refused(server, form(part("topology", content, "a.csv.gz")), 422)


# ---- forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"colour": "red"}, "settings.colour: Extra inputs"),
        ({"objects": "/etc/passwd"}, "settings: objects= is one of auto, "),
        ({"pairs": "../pairs.txt"}, "settings: pairs= is one of auto, "),
        ({"radius": -1}, "radius= must be above 0"),
        ({"radius": "4"}, "settings.radius: "),
        ({"reach": 1.5}, "settings.reach: "),
        ({"step": 0}, "step= must be at least 1"),
        ({"min_size": 0}, "min_size= must be at least 1"),
        ({"memory": "2GB"}, "settings.memory: Extra inputs"),
        ({"select": "x" * 10_001}, "settings.select: "),
        ([], "settings: "),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_settings_that_mean_nothing_are_refused(
    server: Server, tracks: bytes, settings: Any, said: str
) -> None:
    body = form(part("topology", tracks, "a.csv"), part("settings", json.dumps(settings).encode()))
    assert said in refused(server, body, 422)


@pytest.mark.parametrize(
    "text",
    [b"{", b"\xff", b'{"radius": NaN}', b'{"select": "\\ud800"}', b"[" * 500],
    ids=["cut off", "no text", "NaN", "half a letter", "deep"],
)
def test_settings_that_are_no_json_are_refused(server: Server, tracks: bytes, text: bytes) -> None:
    refused(server, form(part("topology", tracks, "a.csv"), part("settings", text)), 422)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (form(), 422, "got 0"),
        (form(part("settings", b"{}")), 422, "one file is needed as topology, got 0"),
        (form(*[part("topology", b"abc", "a.csv")] * 2), 422, "got 2"),
        (form(part("topology", b"abc", "a.csv"), part("path", b"x")), 422, "not 'path'"),
        (form(part("title", b"x"), part("title", b"x")), 422, "title is there twice"),
        (form(part("title", b"x" * 20_001)), 413, "title has more than"),
        (part("topology", b"abc", "a.csv"), 400, "cut off"),
        (b"rubbish", 400, "damaged"),
        (b"", 400, "cut off"),
        (form(*[part("trajectories", b"abc", "a.dcd")] * 201), 413, "at most 200 files"),
    ],
    ids=(
        "nothing|no file|two files|a path|two titles|a long title|cut off|rubbish|empty|many files"
    ).split("|"),
)
def test_damaged_forms_are_refused(server: Server, body: bytes, status: int, said: str) -> None:
    assert said in refused(server, body, status)


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/json", "multipart/form-data", "multipart/form-data; boundary="],
)
def test_other_bodies_are_refused(server: Server, kind: str) -> None:
    assert "multipart/form-data" in refused(server, b"{}", 415, **{"Content-Type": kind})


def test_files_come_topology_first_and_then_as_sent(server: Server, peptide: bytes) -> None:
    parts = [
        part("trajectories", peptide, "b.pdb"),
        part("topology", peptide, "t.pdb"),
        part("trajectories", peptide, "a.pdb"),
    ]
    job = post(server, form(*parts)).json()
    assert [file["name"] for file in job["files"]] == ["t.pdb", "b.pdb", "a.pdb"]
    assert len({file["stored"] for file in job["files"]}) == 3


def received_by(folder: Path, limit: int = 2_000_000_000) -> Reception:
    (folder / "input").mkdir(parents=True)
    return Reception(f"multipart/form-data; boundary={BOUNDARY}", folder, limit)


@given(content=st.binary(min_size=2, max_size=300), pack=st.booleans(), data=st.data())
def test_how_a_body_is_cut_into_pieces_changes_nothing(
    content: bytes, pack: bool, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if content.startswith(b"\x1f\x8b"):
        return  # it would be taken for a compressed file
    sent = gzip.compress(content) if pack else content
    body = form(part("topology", sent, "ü.csv.gz" if pack else "ü.csv"), part("title", b"t"))
    folder = tmp_path_factory.mktemp("received")
    stream = io.BytesIO(body)
    with closing(received_by(folder)) as reception:  # hypothesis may end an example at any draw
        while piece := stream.read(data.draw(st.integers(1, 200))):
            reception.feed(piece)
        found: Task = reception.finished()
    assert (folder / "input" / "1.csv").read_bytes() == content
    assert (found.title, found.files[0].size) == ("t", len(content))
