"""Uploads: a multipart form streamed to disk, unpacked on the way, every byte counted."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from timme import memory
from timme.readers.files import BARE_TRAJECTORIES, STRUCTURES, TABLES
from timme.settings import CompareSettings, RigidSettings, Settings, settings_of
from timme.settings.schema import FILE, check_choice
from timme.web.folders import INPUTS
from timme.web.models import Choices, File, Model, RigidChoices, Task

# Formats that are read from one file and never lead to others, as HDF5 links and includes do.
_OTHERS = {".gro", ".xyz", ".extxyz", ".gsd"}
ALONE = STRUCTURES | TABLES | BARE_TRAJECTORIES | _OTHERS | {".npy", ".mtx", ".json"}
NAMES = {".psf", ".prmtop", ".parm7", ".top", ".tpr", ".mol2", ".crd", ".pqr", ".pdbqt", ".data"}
TOPOLOGIES = frozenset(ALONE | NAMES)
TRAJECTORIES = frozenset(
    STRUCTURES | BARE_TRAJECTORIES | _OTHERS | {".crd", ".mdcrd", ".inpcrd", ".rst7"}
)

_MAGIC = b"\x1f\x8b"
_STEP = 1 << 20  # bytes unpacked at a time
_FORM_BYTES = {"settings": 2_000_000, "rigidity": 20_000, "recipe": 100, "title": 20_000}
_RECIPES: tuple[Literal["auto", "run", "rigidity"], ...] = ("auto", "run", "rigidity")
_UNUSED = {"run": "rigidity", "rigidity": "settings"}  # part of the form, by recipe
_CHOICES = {  # of settings that take nothing else, for a file is never named
    setting.name: setting.about.choices
    for kind in (Settings, RigidSettings, CompareSettings)
    for setting in settings_of(kind)
    if setting.about.choices and setting.about.besides in {"", FILE}
}
_OVERHEAD = 5_000_000  # bytes of a request besides its files
_MOST_FILES = 200
_HEADER_BYTES = 65_536
_NAME_LENGTH = 120  # characters of a name that are shown

_M = TypeVar("_M", bound=Model)


class RefusedError(Exception):
    """An upload that is not taken.

    Parameters
    ----------
    status : int
        Of the answer.
    reason : str
        What is needed, what came, what to do.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def shown_name(text: str) -> str:
    r"""Make a name of a client fit to be shown: one line of printable text, not too long.

    Parameters
    ----------
    text : str
        Anything.

    Returns
    -------
    str
        Its beginning and its end.

    Examples
    --------
    >>> shown_name("../a\tb.pdb"), len(shown_name("x" * 5000))
    ('../a b.pdb', 120)
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    if len(printable) <= _NAME_LENGTH:
        return printable
    return f"{printable[: _NAME_LENGTH - 21]}…{printable[-20:]}"


class Reception:
    """A form on its way to disk.

    Parameters
    ----------
    content_type : str
        Header of the request.
    folder : Path
        Folder of the new job.
    limit : int
        Bytes of all files, unpacked.
    """

    def __init__(self, content_type: str, folder: Path, limit: int) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not boundary:
            raise RefusedError(415, "a form is needed: multipart/form-data with a boundary")
        self._folder = folder / INPUTS
        self._room = _Room(limit)
        self._received = 0
        self._texts: dict[str, bytearray] = {}
        self._files: list[tuple[str, _Stored]] = []
        self._part: Callable[[bytes], None] | None = None
        self._header = (bytearray(), bytearray())
        self._disposition = self._name = ""
        self._complete = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": lambda data, a, b: self._header[0].extend(data[a:b]),
                    "on_header_value": lambda data, a, b: self._header[1].extend(data[a:b]),
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._open_part,
                    "on_part_data": self._take,
                    "on_part_end": self._end_part,
                    "on_end": self._end,
                },
                max_header_size=_HEADER_BYTES,
            )
        except FormParserError:
            raise RefusedError(400, "the boundary of the form is too long") from None

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the request.

        Parameters
        ----------
        data : bytes
            As they came.
        """
        self._received += len(data)
        if self._received > self._room.limit + _OVERHEAD:
            raise self._room.refusal()
        try:
            self._parser.write(data)
        except FormParserError:
            raise RefusedError(400, "the form is damaged: send it as multipart/form-data") from None

    def finished(self) -> Task:
        """Check that all is there.

        Returns
        -------
        Task
            What was uploaded, and what is to be done with it.
        """
        if not self._complete:
            raise RefusedError(400, "the form is cut off: send it again")
        first = [stored.file() for name, stored in self._files if name == "topology"]
        others = [stored.file() for name, stored in self._files if name == "trajectories"]
        if len(first) != 1:
            raise RefusedError(422, f"one file is needed as topology, got {len(first)}")
        text = {name: bytes(self._texts.get(name, b"")) for name in _FORM_BYTES}
        return _checked_task(
            Task(
                title=shown_name(text["title"].decode(errors="replace")) or first[0].name,
                recipe=_checked_recipe(text["recipe"].decode(errors="replace") or "auto"),
                settings=checked_choices(Choices, "settings", text["settings"] or b"{}"),
                rigidity=checked_choices(RigidChoices, "rigidity", text["rigidity"] or b"{}"),
                files=[*first, *others],
            )
        )

    def close(self) -> None:
        """Close the files, whether they are complete or not."""
        for _, stored in self._files:
            stored.close()

    # ---- called by the parser ------------------------------------------------------------------

    def _begin_part(self) -> None:
        self._disposition, self._part = "", None

    def _end_header(self) -> None:
        name, value = (bytes(part).decode(errors="replace") for part in self._header)
        if name.lower() == "content-disposition":
            self._disposition = value
        self._header = (bytearray(), bytearray())

    def _open_part(self) -> None:
        _, options = parse_options_header(self._disposition.encode().decode("latin-1"))
        name = options.get(b"name", b"").decode(errors="replace")
        if name in _FORM_BYTES:
            if name in self._texts:
                raise RefusedError(422, f"{name} is there twice")
            self._texts[name] = bytearray()
            self._part = self._texts[name].extend
        elif name in {"topology", "trajectories"}:
            self._open_file(name, options.get(b"filename", b"").decode(errors="replace"))
        else:
            known = ", ".join(("topology", "trajectories", *_FORM_BYTES))
            raise RefusedError(422, f"a form has {known}, not {shown_name(name)!r}")
        self._name = name

    def _open_file(self, name: str, given: str) -> None:
        if len(self._files) >= _MOST_FILES:
            raise RefusedError(413, f"at most {_MOST_FILES} files are taken")
        known = TOPOLOGIES if name == "topology" else TRAJECTORIES
        suffix = checked_suffix(given, known)
        path = self._folder / f"{len(self._files) + 1}{suffix}"
        stored = _Stored(path, shown_name(given), self._room, packed=given.lower().endswith(".gz"))
        self._files.append((name, stored))
        self._part = stored.write

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._part is None:
            return
        self._part(data[start:end])
        if self._name in _FORM_BYTES and len(self._texts[self._name]) > _FORM_BYTES[self._name]:
            raise RefusedError(413, f"{self._name} has more than {_FORM_BYTES[self._name]:,} bytes")

    def _end_part(self) -> None:
        if self._name in {"topology", "trajectories"}:
            self._files[-1][1].finish()

    def _end(self) -> None:
        self._complete = True


def checked_suffix(name: str, known: frozenset[str]) -> str:
    """Find the kind of a file by its name, which is used for nothing else.

    Parameters
    ----------
    name : str
        What the client calls the file.
    known : frozenset of str
        Kinds that are taken.

    Returns
    -------
    str
        One of `known`.
    """
    _, point, last = name.lower().removesuffix(".gz").rpartition(".")
    suffix = point + last
    if suffix not in known:
        raise RefusedError(
            422,
            f"{shown_name(name)}: files of this kind are not taken here: "
            f"give one of {' '.join(sorted(known))}, also as .gz",
        )
    return suffix


def checked_choices(kind: type[_M], part: str, text: bytes) -> _M:
    """Read the settings of a job.

    Parameters
    ----------
    kind : type
        What they are of: a run, or one structure.
    part : str
        Name of the part of the form.
    text : bytes
        JSON.

    Returns
    -------
    Model
        Of that kind.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        _check_choices(part, first["loc"], first["input"])
        place = shown_name(".".join(str(name) for name in (part, *first["loc"])))
        raise RefusedError(422, f"{place}: {' '.join(first['msg'].split())}") from None


def _check_choices(part: str, place: tuple[int | str, ...], value: object) -> None:
    """Refuse what is none of the choices of a setting, in the words of the setting."""
    for name, choices in _CHOICES.items():
        if place == (name,) and isinstance(value, str):
            try:
                check_choice(name, shown_name(value), choices)
            except ValueError as error:
                raise RefusedError(422, f"{part}: {error}") from None


def _checked_recipe(text: str) -> Literal["auto", "run", "rigidity"]:
    for known in _RECIPES:
        if known == text:
            return known
    raise RefusedError(422, f"recipe: one of {', '.join(_RECIPES)}, got {shown_name(text)!r}")


def _checked_task(task: Task) -> Task:
    """Refuse settings that mean nothing, and those of what is not done."""
    for part, chosen in (("settings", task.settings), ("rigidity", task.rigidity)):
        try:
            chosen.settings()
        except ValueError as error:
            raise RefusedError(422, f"{part}: {error}") from None
        given = chosen.model_dump(exclude_none=True, exclude_defaults=True)
        if given and part == _UNUSED.get(task.recipe):
            raise RefusedError(
                422, f"{part}: not used by the recipe {task.recipe}: leave out {', '.join(given)}"
            )
    return task


# ---- files -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Room:
    """Bytes that the files of a job may still take."""

    limit: int
    taken: int = field(default=0, init=False)

    def take(self, size: int) -> None:
        self.taken += size
        if self.taken > self.limit:
            raise self.refusal()

    def refusal(self) -> RefusedError:
        return RefusedError(
            413,
            f"the files of a job may have {memory.shown(self.limit)} in all, unpacked: "
            "give fewer frames, or allow more (timme serve --max-upload)",
        )


class _Stored:
    """A file on its way to disk, unpacked where it is compressed."""

    def __init__(self, path: Path, name: str, room: _Room, *, packed: bool) -> None:
        self._name, self._room, self._packed = name, room, packed
        self._stored = path.name
        self._size = 0
        self._start: bytes | None = b""  # the first bytes, until they tell what the file is
        self._unpacker: zlib._Decompress | None = None
        self._handle = path.open("xb")

    def write(self, data: bytes) -> None:
        if self._start is not None:
            data = self._start + data
            self._start = data
            if len(data) < len(_MAGIC):
                return
            self._decide(data)
        for piece in self._pieces(data):
            self._room.take(len(piece))
            if self._size == 0 and self._packed and piece.startswith(_MAGIC):
                raise RefusedError(422, f"{self._name}: compressed twice: unpack it once")
            self._handle.write(piece)
            self._size += len(piece)

    def finish(self) -> None:
        if self._unpacker is not None and not self._unpacker.eof:
            raise RefusedError(422, f"{self._name}: the compressed file is cut off: make it again")
        if self._size == 0:  # or one byte, which tells nothing
            raise RefusedError(422, f"{self._name}: the file is empty: make or download it again")
        self.close()

    def file(self) -> File:
        return File(name=self._name, size=self._size, stored=self._stored)

    def close(self) -> None:
        self._handle.close()

    def _decide(self, start: bytes) -> None:
        self._start = None
        if start.startswith(_MAGIC):  # by its bytes, as readers do, whatever its name
            self._packed, self._unpacker = True, zlib.decompressobj(31)
        elif self._packed:
            raise RefusedError(
                422,
                f"{self._name}: it does not start as a compressed file does: name it without .gz",
            )

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        """Unpack a little at a time, so that a small file never fills memory or disk at once."""
        if self._unpacker is None:
            yield data
            return
        while data:
            if self._unpacker.eof:  # a file may consist of several in a row, and end in zeros
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._unpacker = zlib.decompressobj(31)
            try:
                piece = self._unpacker.decompress(data, _STEP)
            except zlib.error:
                raise RefusedError(
                    422, f"{self._name}: the compressed file is damaged: make it again"
                ) from None
            if piece:
                yield piece
            data = self._unpacker.unconsumed_tail or self._unpacker.unused_data
