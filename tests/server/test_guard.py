"""End to end: nobody is admitted without the token, from elsewhere, or through another page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import PORT, TOKEN, Server, planted, running_server

BARE = {"Authorization": ""}
REQUESTS = [
    ("GET", "/"),
    ("GET", "/results/any"),
    ("GET", "/results/any/report"),
    ("GET", "/api/jobs"),
    ("POST", "/api/jobs"),
    ("DELETE", "/api/jobs/any"),
    ("POST", "/api/comparisons"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/nothing"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer \xff"},
        {"Cookie": "timme-8377=wrong"},
        {"Cookie": f"timme-1={TOKEN}"},  # of a server on another port
    ],
    ids=str,
)
def test_no_request_is_answered_without_the_token(
    server: Server, headers: dict[str, str], method: str, path: str
) -> None:
    raw = {name.encode(): text.encode("latin-1") for name, text in (BARE | headers).items()}
    answer = server.client.request(method, path, headers=raw)
    assert answer.status_code == 401
    assert TOKEN not in answer.text


def test_token_in_address_becomes_a_cookie_and_disappears(server: Server) -> None:
    def visit(key: str) -> Any:
        found = server.client.get(f"/?token={key}", headers=BARE, follow_redirects=False)
        server.client.cookies.clear()
        return found

    assert visit("wrong").status_code == 401
    ticket = "a ticket"
    server.tickets.add(ticket)
    answers = [visit(key) for key in (TOKEN, ticket, ticket)]
    assert [answer.status_code for answer in answers] == [303, 303, 401]  # a ticket serves once
    welcome = answers[0]
    assert welcome.headers["location"] == "/"
    cookie = welcome.headers["set-cookie"]
    assert {"httponly", "samesite=strict"} <= set(cookie.lower().split("; "))
    shown = BARE | {"Cookie": cookie.split(";")[0]}
    assert server.client.get("/api/jobs", headers=shown).status_code == 200
    bearer = {"Authorization": f"Bearer {ticket}"}
    assert server.client.get("/api/jobs", headers=bearer).status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_own_names_are_answered(server: Server, host: str) -> None:
    headers = {"Host": f"{host}:{PORT}", "Origin": f"http://{host}:{PORT}"}
    assert server.client.get("/api/jobs", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        *({"Host": host} for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1", "")),
        *({"Host": f"{host}:{PORT}"} for host in ("localhost.evil", "127.0.0.1.evil")),
        *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:1")),
        {"Origin": f"https://127.0.0.1:{PORT}"},
        {"Origin": f"http://localhost:{PORT}"},  # of another name than the host
    ],
    ids=str,
)
def test_foreign_hosts_and_pages_are_refused(
    server: Server, tracks: bytes, headers: dict[str, str]
) -> None:
    for path in (*(path for _, path in REQUESTS), "/static/server.css", f"/?token={TOKEN}"):
        found = server.client.get(path, headers=headers, follow_redirects=False)
        assert found.status_code == 403
    files = {"topology": ("a.csv", tracks)}
    assert server.client.post("/api/jobs", headers=headers, files=files).status_code == 403
    assert not server.stored()


@pytest.mark.parametrize(
    "path", [*(path for _, path in REQUESTS), "/static/icon.svg", "/static/nothing", "/nothing"]
)
@pytest.mark.parametrize("headers", [{}, BARE, {"Host": "evil.example"}], ids=str)
def test_every_answer_has_a_strict_policy(
    server: Server, path: str, headers: dict[str, str]
) -> None:
    found = server.client.get(path, headers=headers).headers
    assert found["content-security-policy"].startswith("default-src 'none'")
    assert "unsafe" not in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == "no-store"


def test_reports_and_files_run_apart_from_the_server(tmp_path: Path) -> None:
    planted(tmp_path, "old", "done", report_html="<script>1</script>", a_svg="<svg/>")
    with running_server(tmp_path) as server:
        report = server.client.get("/results/old/report")
        assert report.text == "<script>1</script>"
        policy = report.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none';")
        for name in ("report.html", "a.svg"):
            file = server.client.get(f"/api/jobs/old/files/{name}")
            assert file.headers["content-disposition"].startswith("attachment")
            assert "sandbox;" in file.headers["content-security-policy"]


def test_pages_show_hostile_names_as_text(tmp_path: Path) -> None:
    place = planted(tmp_path, "old", "done", result_npz="1")
    evil = "<script>alert(1)</script>\" onload='x'"
    job = (place / "job.json").read_text()
    escaped = evil.replace('"', '\\"')
    (place / "job.json").write_text(
        job.replace("planted done", escaped).replace('"a.csv"', f'"{escaped}"', 1)
    )
    with running_server(tmp_path) as server:
        for path in ("/", "/results/old"):
            page = server.client.get(path).text
            assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;" in page
            assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=['\"]", page)


def test_large_bodies_are_refused_without_being_kept(tmp_path: Path) -> None:
    with running_server(tmp_path, upload="1MB") as server:
        large = b"x" * 7_000_000  # the limit, and 5 MB for the form around it
        answer = server.submit(("a.csv", large))
        assert answer.status_code == 413
        assert server.client.post("/api/comparisons", content=large).status_code == 413
        pieces = iter([large])  # sent without a length
        assert server.client.post("/api/comparisons", content=pieces).status_code == 411
        assert not server.stored()
