"""Uploads: a form becomes the files and settings of a job; unpacked bytes are counted."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from timme_next.analysis.settings import (
    Model,
    details,
    make,
)
from timme_next.io.files import STRUCTURES, TABLES, kind
from timme_next.server.guard import too_large
from timme_next.server.jobs import INPUTS, MODELS, File, plain_name

# Formats that are read from one file; those that may name other files, as HDF5 does, are missing.
KINDS = STRUCTURES | TABLES | set(
    ".xtc .trr .dcd .nc .gro .xyz .lammpstrj .gsd .npy .mtx .json .psf .prmtop .parm7 .top .tpr "
    ".mol2 .crd .mdcrd .pqr .pdbqt .data .lmp".split()
)  # fmt: skip
_PARTS = ("topology", "trajectories", "title", "recipe", "settings")
_MOST_FILES, _MOST_TEXT = 200, 2_000_000
_MAGIC, _STEP = b"\x1f\x8b", 1 << 20
_LONGEST = 120  # characters of a name


class _Parser(MultiPartParser):
    """Tells whether a form came to its end."""

    complete = False

    def on_end(self) -> None:
        self.complete = True


async def receive(request: Request, draft: Path, limit: int) -> dict[str, Any]:
    """Store the files of a form, and return the fields of a job."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise HTTPException(415, "a form is needed: multipart/form-data with a boundary")

    async def whole_stream() -> AsyncGenerator[bytes]:
        async for chunk in request.stream():
            yield chunk
        if not parser.complete:
            raise MultiPartException("it is cut off")

    limits = {"max_files": _MOST_FILES, "max_fields": len(_PARTS), "max_part_size": _MOST_TEXT}
    parser = _Parser(request.headers, whole_stream(), **limits)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, f"the form is damaged: {error.message}") from None
    try:
        return await _task(form, draft, limit)
    finally:
        await form.close()


async def _task(form: FormData, draft: Path, limit: int) -> dict[str, Any]:
    texts = {name: await _text(form, name) for name in _PARTS[2:]}
    if unknown := set(form) - set(_PARTS):
        raise _refusal(f"a form has {', '.join(_PARTS)}, not {shown_name(min(unknown))!r}")
    recipe = texts["recipe"] or "auto"
    if recipe not in MODELS or recipe == "comparison":
        raise _refusal(f"recipe: takes auto, run, rigidity or motion, got {shown_name(recipe)!r}")
    settings = checked_settings(recipe, _parsed(texts["settings"] or "{}"))
    first, others = form.getlist("topology"), form.getlist("trajectories")
    uploads = [item for item in (*first, *others) if isinstance(item, UploadFile)]
    if len(first) != 1 or len(uploads) != 1 + len(others):
        raise _refusal(f"one file is needed as topology, got {len(first)}")
    files, room = list[File](), limit
    for number, upload in enumerate(uploads, start=1):
        given = upload.filename or ""
        name, path = shown_name(given), draft / INPUTS / f"{plain_name(given)}{_suffix(given)}"
        if path.exists():
            path = path.with_stem(f"{path.stem}-{number}")
        size = await run_in_threadpool(_store, upload.file, path, name, room, limit)
        files.append(File(name=name, size=size, stored=path.name))
        room -= size
    title = shown_name(texts["title"]) or files[0].name
    return {"title": title, "recipe": recipe, "settings": settings, "files": tuple(files)}


def checked_settings(recipe: str, given: Any) -> dict[str, Any]:
    """Return settings of a recipe, or refuse them; no text may name a file."""
    model = MODELS[recipe]
    if not isinstance(given, dict):
        raise _refusal('settings: a JSON object is needed, as in {"select": "ca"}')
    chosen = {str(name): value for name, value in given.items() if value is not None}
    offered = offered_settings(model)["properties"]
    for name, value in chosen.items():
        choices = details(model, name)["choices"] if name in offered else ()
        if name in model.model_fields and name not in offered:
            raise _refusal(f"settings: {name}= cannot be set here: leave it out")
        if name in offered and details(model, name)["path"] and isinstance(value, str):
            rule = value.partition(":")[0]
            if rule not in choices:
                raise _refusal(
                    f"settings: {name}= takes {', '.join(choices) or 'numbers'} here, got "
                    f"{shown_name(value)!r}"
                )
    try:
        make(model, **chosen)
    except (ValueError, TypeError, OverflowError) as error:
        raise _refusal(f"settings: {shown_name(str(error), 1000)}") from None
    return chosen


@cache
def offered_settings(model: type[Model]) -> Mapping[str, Any]:
    """Return the JSON schema of the settings that a user of the server may choose."""
    schema = model.model_json_schema()
    for name in [*schema["properties"]]:
        more = details(model, name)
        if name in {"workers", "memory"} or (
            more["path"] and not more["choices"] and name != "weights"
        ):
            del schema["properties"][name]
    return schema


def shown_name(text: str, longest: int = _LONGEST) -> str:
    r"""Return one line of printable text: the beginning and the end of a longer one.

    Examples
    --------
    >>> shown_name("../a\tb.pdb"), len(shown_name("x" * 5000))
    ('../a b.pdb', 120)
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    return line if len(line) <= longest else f"{line[: longest - 21]}…{line[-20:]}"


def _refusal(reason: str) -> HTTPException:
    return HTTPException(422, reason)


async def _text(form: FormData, name: str) -> str:
    """Return the text of a part, which may come as a file."""
    items = form.getlist(name) or [""]
    if len(items) > 1:
        raise _refusal(f"{name} is there twice")
    item = items[0]
    text = item if isinstance(item, str) else (await item.read(_MOST_TEXT)).decode(errors="replace")
    return text.strip()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _refusal('settings: JSON is needed, as in {"select": "ca"}') from None


def _suffix(name: str) -> str:
    """Return the kind of a file by its name, which is used for nothing else."""
    suffix = kind(Path(name.removesuffix("/")))
    if suffix not in KINDS or name.lower().endswith(".bz2"):
        raise _refusal(
            f"{shown_name(name)}: files of this kind are not taken: give one of "
            f"{' '.join(sorted(KINDS))}, also as .gz"
        )
    return suffix


def _store(source: BinaryIO, path: Path, name: str, room: int, limit: int) -> int:
    """Copy a file, unpacked if it is compressed, and return its size."""
    packed = source.read(2) == _MAGIC  # by its bytes, as readers do
    if not packed and name.lower().endswith(".gz"):
        raise _refusal(f"{name}: it is not compressed: name it without .gz")
    source.seek(0)
    size = 0
    with path.open("xb") as target:
        for piece in _pieces(source, name, packed=packed):
            if packed and not size and piece.startswith(_MAGIC):
                raise _refusal(f"{name}: compressed twice: unpack it once")
            size += len(piece)
            if size > room:
                raise too_large(limit)
            target.write(piece)
    if not size:
        raise _refusal(f"{name}: the file is empty: make or download it again")
    return size


def _pieces(source: BinaryIO, name: str, *, packed: bool) -> Iterator[bytes]:
    """Yield a file piece by piece, so that a small one never fills the memory."""
    if not packed:
        yield from iter(lambda: source.read(_STEP), b"")
        return
    try:
        with gzip.open(source) as unpacked:
            yield from iter(lambda: unpacked.read(_STEP), b"")
    except (gzip.BadGzipFile, zlib.error):
        raise _refusal(f"{name}: the compressed file is damaged: make it again") from None
    except EOFError:
        raise _refusal(f"{name}: the compressed file is cut off: make it again") from None
