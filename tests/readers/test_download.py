"""Downloads, from a server on this machine."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import gemmi
import pytest

from tests.readers.builders import pdb_text, peptide
from timme.readers import download, fetch, read


def mmcif() -> bytes:
    structure = gemmi.read_pdb_string(pdb_text([peptide(), peptide(1.0)]))
    structure.setup_entities()
    return structure.make_mmcif_document().as_string().encode()


class Handler(BaseHTTPRequestHandler):
    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        body, announced, status = gzip.compress(mmcif()), None, 200
        if "1cut" in self.path:
            announced = len(body) + 100
        elif "1bad" in self.path:
            body = b"<html>not a structure</html>"
        elif "1lag" in self.path:
            time.sleep(0.5)
        elif "1err" in self.path:
            status = 503
        elif "1bnr" not in self.path:
            status = 404
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.answer(status, body, announced)

    def answer(self, status: int, body: bytes, announced: int | None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(announced or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    Handler.requests.clear()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}/download"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.mark.parametrize("code", ["1bnr", "1BNR", " 1bnr ", "pdb_00001bnr"])
def test_an_entry_is_downloaded_and_kept(tmp_path: Path, server: str, code: str) -> None:
    path = fetch(code, cache=tmp_path, server=server)
    assert path == tmp_path / f"{code.strip().lower()}.cif.gz"
    assert read(path).frames.shape == (2, 10, 3)
    assert fetch(code, cache=tmp_path, server=server) == path
    assert len(Handler.requests) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_codes_are_read_like_files(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMME_PDB_SERVER", server)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert read("pdb:1bnr", select="ca").n_sites == 2
    assert (tmp_path / "timme" / "1bnr.cif.gz").is_file()


@pytest.mark.parametrize("code", ["", "1bn", "xbnr", "1bnrr", "../1bn", "pdb_1bnr", "1b/r"])
def test_what_is_no_code_is_refused_before_asking(tmp_path: Path, server: str, code: str) -> None:
    with pytest.raises(ValueError, match="is not a PDB code"):
        fetch(code, cache=tmp_path, server=server)
    assert not Handler.requests


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("9zzz", ValueError, "there is no PDB entry 9zzz"),
        ("1err", OSError, "the server answered 503"),
        ("1cut", OSError, "the download was cut off"),
        ("1bad", ValueError, "the download of 1bad is not a structure"),
    ],
)
def test_failures_are_told_and_leave_nothing(
    tmp_path: Path, server: str, code: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        fetch(code, cache=tmp_path, server=server)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_no_network_is_told(tmp_path: Path, server: str) -> None:
    # Nothing listens on port 9 of this machine.
    del server
    with pytest.raises(OSError, match=r"the download failed .*check the network"):
        fetch("1bnr", cache=tmp_path, server="http://127.0.0.1:9/download")


def test_a_server_that_does_not_answer_is_told(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_TIMEOUT", 0.05)
    with pytest.raises(OSError, match=r"the download failed .*timed out"):
        fetch("1lag", cache=tmp_path, server=server)


def test_an_address_must_be_of_the_web(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="address with http"):
        fetch("1bnr", cache=tmp_path, server="file:///etc")


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, server: str) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OSError, match="the cache cannot be written"):
        fetch("1bnr", cache=blocked / "cache", server=server)
