"""Fetching: a structure downloaded from the PDB by its code, and kept."""

from __future__ import annotations

import http.client
import os
import re
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from timme.readers.files import one_line

SERVER = "https://files.rcsb.org/download"
_TIMEOUT = 60.0  # seconds
_CODE = re.compile(r"[0-9][a-z0-9]{3}|pdb_[0-9a-z]{8}")


def fetch(code: str, *, cache: str | Path | None = None, server: str | None = None) -> Path:
    """Download the mmCIF file of a PDB entry, unless it is in the cache.

    Parameters
    ----------
    code : str
        Code of the entry: ``1bnr`` or ``pdb_00001bnr``.
    cache : path, optional
        Directory in which files are kept: by default ``timme`` in the user's cache directory.
    server : str, optional
        Address of the directory of files: by default that of the environment variable
        ``TIMME_PDB_SERVER``, else of the PDB.

    Returns
    -------
    Path
        The file in the cache.
    """
    name = code.strip().lower()
    if not _CODE.fullmatch(name):
        raise ValueError(
            f"{code!r} is not a PDB code: give a digit and 3 letters or digits such as 1bnr, "
            "or 12 characters such as pdb_00001bnr"
        )
    directory = _cache_directory() if cache is None else Path(cache).expanduser()
    path = directory / f"{name}.cif.gz"
    if not path.is_file():
        address = (server or os.environ.get("TIMME_PDB_SERVER") or SERVER).rstrip("/")
        data = _download(f"{address}/{path.name}", name)
        _keep(data, path, name)
    return path


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "timme"


def _download(address: str, name: str) -> bytes:
    if not address.startswith(("http://", "https://")):
        raise ValueError(
            f"the PDB server needs an address with http:// or https://, got {address!r}"
        )
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310
            data: bytes = answer.read()
            announced = answer.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 404:
                raise ValueError(
                    f"there is no PDB entry {name} at {address}: check the code"
                ) from None
            raise OSError(
                f"{address}: the server answered {error.code} {error.reason}: try again later"
            ) from None
    except http.client.IncompleteRead:
        raise OSError(f"{address}: the download was cut off: try again") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise OSError(
            f"{address}: the download failed ({one_line(reason)}): "
            "check the network, or give the file itself"
        ) from None
    if announced is not None and announced.isdigit() and int(announced) != len(data):
        raise OSError(
            f"{address}: the download was cut off at {len(data)} of {announced} bytes: try again"
        )
    return data


def _keep(data: bytes, path: Path, name: str) -> None:
    """Put a file into the cache in one step, after a look at whether it is a structure."""
    from timme.readers.structures import read_structures

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}-", suffix=".cif.gz", dir=path.parent)
    except OSError as error:
        raise OSError(
            f"{path.parent}: the cache cannot be written ({error.strerror}): "
            "choose another with XDG_CACHE_HOME"
        ) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        try:
            read_structures([Path(temporary)], common_atoms=True)
        except ValueError as error:
            reason = str(error).replace(temporary, path.name)
            raise ValueError(
                f"the download of {name} is not a structure ({reason}): try again"
            ) from None
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
