"""Uploads: a form becomes the files and settings of a job; unpacked bytes are counted."""

from __future__ import annotations

import gzip
import zlib
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import HTTPException, UploadFile

from timme._text import shown_name
from timme.analysis.settings import make
from timme.io.files import STRUCTURES, TABLES, kind
from timme.server.guard import too_large
from timme.server.jobs import MODELS, File, plain_name

# Formats that are read from one file; those that may name other files, as HDF5 does, are missing.
KINDS = STRUCTURES | TABLES | set(
    ".xtc .trr .dcd .nc .gro .xyz .lammpstrj .gsd .npy .json .psf .prmtop .parm7 .top .tpr "
    ".mol2 .crd .mdcrd .pqr .pdbqt .data .lmp".split()
)  # fmt: skip
MOST_FILES = 200
_MAGIC, _STEP = b"\x1f\x8b", 1 << 20


def store(uploads: list[UploadFile], folder: Path, limit: int) -> list[File]:
    """Store files unpacked, with at most so many bytes in all, under plain names."""
    files, room = list[File](), limit
    for number, upload in enumerate(uploads, start=1):
        given = upload.filename or ""
        path = folder / f"{plain_name(given)}{_suffix(given)}"
        path = path.with_stem(f"{path.stem}-{number}") if path.exists() else path
        size = _unpack(upload.file, path, shown_name(given), room, limit)
        files.append(File(name=shown_name(given), size=size, stored=path.name))
        room -= size
    return files


def checked_settings(recipe: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a recipe, or refuse them; none may name a file."""
    try:
        make(MODELS[recipe], **given)
    except (ValueError, TypeError, OverflowError) as error:
        raise _refusal(f"settings: {shown_name(str(error), 1000)}") from None
    offered = offered_settings(recipe)
    for name, value in given.items():
        if name not in offered:
            raise _refusal(f"settings: {name}= cannot be set here: leave it out")
        choices = offered[name]["choices"]
        if offered[name]["path"] and value.partition(":")[0] not in choices:
            words = f"settings: {name}= takes {', '.join(choices)} here"
            raise _refusal(f"{words}, got {shown_name(value)!r}")
    return given


@cache
def offered_settings(recipe: str) -> dict[str, Any]:
    """Return the JSON schemas of the settings that a user of the server may choose."""
    fields = MODELS[recipe].model_json_schema()["properties"].items()
    return {
        name: about
        for name, about in fields
        if name not in {"workers", "memory"} and not (about["path"] and not about["choices"])
    }


def _refusal(reason: str) -> HTTPException:
    return HTTPException(422, reason)


def _suffix(name: str) -> str:
    """Return the kind of a file by its name, which is used for nothing else."""
    suffix = kind(Path(name.removesuffix("/")))
    if suffix not in KINDS or name.lower().endswith(".bz2"):
        raise _refusal(
            f"{shown_name(name)}: files of this kind are not accepted: give one of "
            f"{' '.join(sorted(KINDS))}, also as .gz"
        )
    return suffix


def _unpack(source: BinaryIO, path: Path, name: str, room: int, limit: int) -> int:
    """Copy a file, unpacked if it is compressed, and return its size."""
    packed, size = source.read(2) == _MAGIC, 0  # by its bytes, as readers do
    source.seek(0)
    unpacked: Any = gzip.open if packed else nullcontext
    try:
        with unpacked(source) as stream, path.open("xb") as target:
            while piece := stream.read(_STEP):  # so that a small file never fills the memory
                if packed and not size and piece.startswith(_MAGIC):
                    raise _refusal(f"{name}: compressed twice: unpack it once")
                size += len(piece)
                if size > room:
                    raise HTTPException(413, too_large(limit))
                target.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _refusal(f"{name}: the compressed file is damaged: make it again") from None
    if not size:
        raise _refusal(f"{name}: the file is empty: make or download it again")
    return size
