"""The guard: nobody gets in without the token, from elsewhere, or through another page."""

from __future__ import annotations

import re
from importlib import resources
from operator import attrgetter
from pathlib import Path

import pytest

from tests.web.conftest import BASE, PORT, TOKEN, MakeServer, Server, planted
from timme.web import parts

NAME = attrgetter("name")
STATIC = sorted(resources.files("timme.web").joinpath("static").iterdir(), key=NAME)
SOURCES = sorted((Path(__file__).parents[2] / "viewer" / "src").glob("**/*.ts"))
BARE = {"Authorization": ""}
FRONT = (
    503 if parts.missing() else 200
)  # of the front page, where it was not built and where it was


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer \xff"},
        {"Authorization": "", "Cookie": "timme-8377=wrong"},
        {"Authorization": "", "Cookie": f"timme-1={TOKEN}"},
    ],
    ids=["none", "wrong", "longer", "kind", "bytes", "cookie", "cookie of another port"],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/jobs"),
        ("POST", "/api/jobs"),
        ("POST", "/api/comparisons"),
        ("GET", "/api/jobs/any/scene.json"),
        ("GET", "/page/page.js"),
        ("GET", "/page/start.js"),
        ("GET", "/"),
        ("GET", "/api/"),
    ],
)
def test_without_the_token_nothing_is_told(
    server: Server, headers: dict[str, str], method: str, path: str
) -> None:
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    answer = server.client.request(method, path, headers=raw)
    assert answer.status_code == 401
    assert TOKEN not in answer.text


def test_a_wrong_token_in_the_address_opens_nothing(server: Server) -> None:
    answer = server.client.get("/?token=wrong", headers=BARE, follow_redirects=False)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_token_in_the_address_becomes_a_cookie_and_disappears(server: Server) -> None:
    answer = server.client.get(f"/?token={TOKEN}", headers=BARE, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    server.client.cookies.clear()
    value = answer.headers["set-cookie"].split(";")[0]
    assert value.startswith("timme-8377=")  # browsers share cookies between ports
    assert server.client.get("/", headers=BARE | {"Cookie": value}).status_code == FRONT
    assert server.client.get("/api/jobs", headers=BARE | {"Cookie": value}).status_code == 200


def test_a_ticket_serves_once(server: Server) -> None:
    ticket = server.keys.ticket()
    for code in (303, 401):
        answer = server.client.get(f"/?token={ticket}", headers=BARE, follow_redirects=False)
        assert answer.status_code == code
        server.client.cookies.clear()
    api = server.client.get("/api/jobs", headers={"Authorization": f"Bearer {ticket}"})
    assert api.status_code == 401


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_own_names_are_answered(server: Server, host: str) -> None:
    assert server.client.get("/api/version", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"localhost.evil:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize(
    "path",
    ["/", "/api/jobs", "/api/comparisons", "/page/page.js", "/static/page.css", f"/?token={TOKEN}"],
)
def test_a_foreign_host_is_refused(server: Server, host: str, path: str) -> None:
    answer = server.client.get(path, headers={"Host": host}, follow_redirects=False)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{PORT}"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_foreign_origin_is_refused_and_changes_nothing(
    server: Server, tracks: bytes, origin: str, method: str
) -> None:
    before = server.stored()
    answer = server.client.request(
        method, "/api/jobs", headers={"Origin": origin}, files={"topology": ("a.csv", tracks)}
    )
    assert answer.status_code == 403
    assert server.stored() == before


def test_a_foreign_origin_starts_no_comparison(make_server: MakeServer, tmp_path: Path) -> None:
    for name in ("one", "other"):
        planted(tmp_path, name, "done", result_npz="1")
    server = make_server(tmp_path)
    before, asked = server.stored(), {"one": "one", "other": "other"}
    headers = {"Origin": "http://evil.example"}
    assert server.client.post("/api/comparisons", json=asked, headers=headers).status_code == 403
    assert server.stored() == before


def test_the_own_origin_is_taken(server: Server) -> None:
    answer = server.client.post("/api/jobs/none/cancel", headers={"Origin": BASE})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/results/any", {}),
        ("/static/page.css", {}),
        ("/static/nothing.js", {}),
        ("/page/start.js", {}),
        ("/page/result.js", {}),
        ("/page/page.js", {}),
        ("/page/page.css", {}),
        ("/page/nothing.js", {}),
        ("/api/jobs/any/scene.json", {}),
        ("/api/jobs", {}),
        ("/api/openapi.json", {}),
        ("/api/nothing", {}),
        ("/", BARE),
        ("/api/jobs", BARE),
        ("/", {"Host": "evil.example"}),
    ],
)
def test_every_answer_has_a_strict_policy(
    server: Server, path: str, headers: dict[str, str]
) -> None:
    found = server.client.get(path, headers=headers).headers
    policy = found["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"


def test_files_and_reports_run_apart_from_the_server(
    make_server: MakeServer, tmp_path: Path
) -> None:
    planted(tmp_path, "old", "done", report_html="<script>1</script>", dilution_svg="<svg/>")
    server = make_server(tmp_path)
    report = server.client.get("/results/old/report")
    policy = report.headers["content-security-policy"]
    assert report.text == "<script>1</script>"
    # Without allow-same-origin it has no cookie and no way to the API.
    assert "sandbox allow-scripts allow-downloads;" in policy
    assert "default-src 'none'" in policy
    for name in ("report.html", "dilution.svg"):
        file = server.client.get(f"/api/jobs/old/files/{name}")
        assert file.status_code == 200
        assert file.headers["content-disposition"].startswith("attachment")
        assert "sandbox;" in file.headers["content-security-policy"]
    assert server.client.get("/results/none/report").status_code == 404


@pytest.mark.parametrize("page", [f for f in STATIC if f.name.endswith(".html")], ids=NAME)
def test_pages_hold_no_script_or_style_of_their_own(page: object) -> None:
    text = page.read_text("utf-8")  # type: ignore[attr-defined]
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r"(src|href)=\"(?!/)", text)  # nothing from elsewhere


READS_AS_CODE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser"
)


@pytest.mark.parametrize("source", SOURCES, ids=NAME)
def test_scripts_never_read_data_as_markup_or_code(source: Path) -> None:
    assert not READS_AS_CODE.search(source.read_text("utf-8"))


@pytest.mark.parametrize("name", [parts.START, parts.RESULT])
def test_nor_do_the_scripts_that_are_made_of_them(name: str) -> None:
    text = parts.part(name)
    if text is None:
        pytest.skip("needs the built page (python viewer/build.py)")
    assert not READS_AS_CODE.search(text)


def test_every_script_is_built_from_its_typed_source() -> None:
    assert {Path(f.name).suffix for f in STATIC} == {".css", ".html", ".svg"}
    assert {"start.ts", "result.ts"} <= {path.name for path in SOURCES}
