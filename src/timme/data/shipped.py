"""Files that come with the package, and how each was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("files")


@dataclass(frozen=True, slots=True)
class File:
    """One file that comes with the package."""

    name: str
    bytes: int
    sha256: str

    @property
    def path(self) -> Path:
        """Where it is, for programs that want files; not to be changed."""
        return _FOLDER / self.name


@dataclass(frozen=True, slots=True)
class Record:
    """How the files of one system were made, and what was measured on them."""

    name: str
    script: str
    seed: int
    versions: Mapping[str, str]  # of what it was made with, by name
    licence: str
    measured: Mapping[str, Any]
    files: tuple[File, ...]


def records() -> dict[str, Record]:
    """List the systems that come with the package.

    Returns
    -------
    dict of Record
        By name.

    Examples
    --------
    >>> sum(file.bytes for record in records().values() for file in record.files) < 8_000_000
    True
    """
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.json"))}


def path(file: str) -> Path:
    """Return where a file is, for programs that want files.

    Parameters
    ----------
    file : str
        Its name, as in :func:`records`.

    Returns
    -------
    Path
        Not to be changed.

    Examples
    --------
    >>> path("spheres.npz").is_file()
    True
    """
    known = {each.name: each.path for record in records().values() for each in record.files}
    if file not in known:
        raise ValueError(f"a file of timme.data is one of {', '.join(known)}, got {file!r}")
    return known[file]


def _read(table: Path) -> Record:
    told = json.loads(table.read_text("utf-8"))
    return Record(
        name=table.stem,
        script=told["script"],
        seed=told["seed"],
        versions=told["versions"],
        licence=told["licence"],
        measured=told["measured"],
        files=tuple(File(name, **each) for name, each in told["files"].items()),
    )
