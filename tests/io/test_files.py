"""Invariants of files: what may be read, what is refused in one line, and what is fetched."""

from __future__ import annotations

import bz2
import gzip
import os
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.io.builders import written
from timme.io import files
from timme.io.files import checked_file, fetch, kind, open_npy, read_bytes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.PDB", ".pdb"),
        ("a.ent.gz", ".pdb"),
        ("a.b.mmcif.bz2", ".cif"),
        ("a.netcdf", ".nc"),
        ("dump.melt", ".lammpstrj"),
        ("dump.1000", ".lammpstrj"),
        ("dump.csv", ".csv"),
        ("HISTORY", ".history"),
        ("dump", ".lammpstrj"),
        ("plain", ""),
    ],
)
def test_all_names_of_a_format_are_one_kind(name: str, expected: str) -> None:
    assert kind(Path(name)) == expected


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.pdb")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s.pdb"))
        for path in (tmp_path / "fifo.pdb", tmp_path / "s.pdb", Path("/dev/null")):
            with pytest.raises(ValueError, match=r"regular file is needed.*save the data"):
                checked_file(path)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (".", ValueError, "regular file is needed"),
        ("none.pdb", FileNotFoundError, "No such file.*check its name"),
        ("empty.pdb", ValueError, "is empty"),
        ("a.rst7", ValueError, "not read: .*cpptraj"),
        ("CONFIG", ValueError, "not read: .*ase convert"),
        ("a.traj", ValueError, r"ase\.io\.read"),
    ],
)
def test_a_refusal_is_one_line_with_a_remedy(
    name: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    written(tmp_path, "", "empty.pdb")
    for other in ("a.rst7", "CONFIG", "a.traj"):
        written(tmp_path, "text", other)
    with pytest.raises(error, match=message) as caught:
        checked_file(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_compression_line_ends_and_marks_do_not_matter(tmp_path: Path) -> None:
    expected = b"one\ntwo\n"
    for name, data in (
        ("a", b"\xef\xbb\xbfone\r\ntwo\r\n"),
        ("b", b"one\rtwo\r"),
        ("c.gz", gzip.compress(expected)),
        ("packed", gzip.compress(expected)),
        ("d.bz2", bz2.compress(expected)),
    ):
        assert read_bytes(written(tmp_path, data, name)) == expected, name


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_compressed_file_cut_anywhere_is_refused(pack: Any, tmp_path: Path) -> None:
    data, suffix = pack(bytes(1000) + b"text"), ".gz" if pack is gzip.compress else ".bz2"
    for size in range(1, len(data)):
        with pytest.raises(ValueError, match=r"not a whole .* file"):
            read_bytes(written(tmp_path, data[:size], f"a{suffix}"))


def test_a_file_that_grows_while_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "one\n")

    def grow(_: Path, data: bytes) -> bytes:
        path.write_bytes(data + b"two\n")
        return data

    monkeypatch.setattr(files, "_unpack", grow)
    with pytest.raises(ValueError, match=r"changed while it was read"):
        read_bytes(path)


# ---- NumPy files ---------------------------------------------------------------------------------


def npy(folder: Path, array: Any) -> bytes:
    np.save(folder / "made.npy", array, allow_pickle=True)
    return (folder / "made.npy").read_bytes()


def test_an_array_is_mapped_as_it_was_saved(tmp_path: Path) -> None:
    array = np.arange(24.0).reshape(4, 3, 2)
    found = open_npy(written(tmp_path, npy(tmp_path, array), "a.npy"))
    np.testing.assert_array_equal(found, array)
    assert not found.flags.writeable


def test_a_header_that_does_not_fit_the_size_of_the_file_is_refused(tmp_path: Path) -> None:
    data = npy(tmp_path, np.arange(24.0).reshape(4, 3, 2))
    fewer = data.replace(b"(4, 3, 2)", b"(3, 3, 2)")
    huge = data.replace(b"(4, 3, 2), }" + b" " * 9, b"(4000000, 300000, 2), }"[:21])
    for damaged in (fewer, huge, data + b"1", data[:-1], data[:90], data[:5]):
        assert damaged != data
        with pytest.raises(ValueError, match=r"a\.npy: not an array of real numbers"):
            open_npy(written(tmp_path, damaged, "a.npy"))


@pytest.mark.parametrize(
    "array", [np.array([1, "a"], object), np.array(["a"]), np.array([1j]), np.array([True])]
)
def test_arrays_of_other_things_than_real_numbers_are_refused(
    array: object, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"a\.npy: not an array of real numbers.*numpy\.save"):
        open_npy(written(tmp_path, npy(tmp_path, array), "a.npy"))


def test_any_damage_to_a_header_is_refused_or_harmless(tmp_path: Path) -> None:
    data, rng = npy(tmp_path, np.arange(24.0).reshape(4, 3, 2)), np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(data)
        for place in rng.integers(0, 128, rng.integers(1, 4)):
            damaged[place] = rng.choice(list(b"0123456789(),'{}<fi8 :Tru\0\xff"))
        try:
            found = open_npy(written(tmp_path, bytes(damaged), "a.npy"))
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017, others are fine
        else:
            assert found.nbytes <= len(data)


# ---- fetching ------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """Answers one entry, cuts one off, sends a page of text for one, and knows no other."""

    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        body = gzip.compress(b"data_made\nloop_\n_atom_site.Cartn_x\n1.0\n")
        if "1cut" in self.path:
            body = body[:-9]
        elif "1bad" in self.path:
            body = gzip.compress(b"<html>not a structure</html>")
        self.send_response(404 if "1xyz" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Handler.requests.clear()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    address = f"http://127.0.0.1:{httpd.server_port}/download"
    monkeypatch.setenv("TIMME_PDB_SERVER", address)
    yield
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.mark.usefixtures("server")
def test_an_entry_is_downloaded_once_and_kept(tmp_path: Path) -> None:
    path = fetch(" 1BNR")
    assert path == fetch("1bnr") == tmp_path / "timme" / "1bnr.cif.gz"
    assert Handler.requests == ["/download/1bnr.cif.gz"]
    assert b"_atom_site" in read_bytes(path)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("code", ["1cut", "1bad", "1xyz"])
def test_nothing_is_kept_of_a_download_that_failed(tmp_path: Path, code: str) -> None:
    with pytest.raises((OSError, ValueError), match=f"{code}.*give the file itself") as caught:
        fetch(code)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", ["bnr", "1bnrx", "../1bnr", "", "pdb_1bnr"])
def test_invalid_codes_are_not_fetched(code: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(code))):
        fetch(code)


def test_other_addresses_than_of_the_web_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TIMME_PDB_SERVER", "file:///etc")
    with pytest.raises(ValueError, match="starts with http"):
        fetch("1bnr")
