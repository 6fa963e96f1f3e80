"""GRO, XYZ and LAMMPS dumps: frames of a head that tells how many lines follow, and these lines."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme._arrays import Bools, Floats
from timme.ensemble.frames import Frame
from timme.io.files import FrameHead, Trajectory, cached, index_frames, read_bytes

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GRO_NAMES, _GRO_PLACES = 15, 20  # columns of names, and before the coordinates
_GRO_TIME = re.compile(rb"\bt=\s*([-+.0-9eE]*[0-9])")  # in ps
# Off-diagonal numbers of a GRO box as rows and columns: v1y v1z v2x v2z v3x v3y.
_GRO_TILTS = ((0, 0, 1, 1, 2, 2), (1, 2, 0, 2, 0, 1))
# Entries of XYZ titles, such as Lattice="5 0 0 0 5 0 0 0 5" or pbc=[T, T, F].
_ENTRY = r"""(?:^|\s){}\s*=\s*(?:"([^"]*)"|'([^']*)'|\[([^=]*)\]|(\S+))"""
_PART = re.compile(r"[^][{}(),\s]+")
_COLUMNS = {  # properties of XYZ files as columns of dumps
    **dict.fromkeys(("pos", "position", "positions"), ("x", "y", "z")),
    **dict.fromkeys(("species", "element", "symbol", "name"), ("element",)),
    **dict.fromkeys(("id", "atomid", "particleid", "particleidentifier"), ("id",)),
    **dict.fromkeys(("image", "images", "imageflag", "periodicimage"), ("ix", "iy", "iz")),
    **{name: (name,) for name in ("type", "ix", "iy", "iz")},
}
_NM = 10.0  # Å, of GRO files


class _Head(NamedTuple):
    """What a frame tells before its atoms."""

    n_atoms: int
    n_lines: int  # that follow
    time: float = np.nan  # in ps in GRO files, else steps
    columns: tuple[str, ...] = ()  # of the lines of atoms, none of GRO files
    cell: Floats = np.zeros((3, 3))
    origin: Floats = np.zeros(3)
    periodic: Bools = np.ones(3, np.bool_)

    @property
    def places(self) -> list[str]:
        """Columns of positions, those that were never wrapped first; two of motion in a plane."""
        for endings in (("u", ""), ("su", "s")):
            ways = [[x + end for end in endings if x + end in self.columns] for x in "xyz"]
            if all(ways[:2]) and (ways[2] or not {"z", "zu", "zs", "zsu"} & {*self.columns}):
                return [way[0] for way in ways if way]
        got = " ".join(self.columns)
        raise ValueError(
            f"columns x y z, xs ys zs, xu … or xsu …, or pos:R:3 are needed, got {got}"
        )

    @property
    def images(self) -> list[str]:
        """Columns of image flags, "" where positions were never wrapped; none if one is missing."""
        names = ["" if name.endswith("u") else f"i{name[0]}" for name in self.places]
        known = np.array([not name or name in self.columns for name in names])
        needed = self.periodic[: len(names)]
        return names if known.any() and known[needed].all() else []


ReadHead = Callable[[BinaryIO], _Head | None]  # None at the end of the file


def index_text(read_head: ReadHead, path: Path) -> Trajectory:
    """Find the whole frames of a file."""
    with open_text(path) as stream:
        found = index_frames(_walk(read_head, stream))
        stream.seek(0)
        head, lines = _next(read_head, stream)
    frame, is_gro = _parse(head, lines), not head.columns
    order = slice(None) if frame.ids is None else np.argsort(frame.ids, kind="stable")
    molecules = None
    if "mol" in head.columns:
        molecules = _numbers(lines, head.columns, ["mol"])[order, 0].astype(np.int64)
    return replace(
        found,
        in_steps=not is_gro,
        unit="Å" if is_gro else "",
        rounding=round(_NM * 10.0 ** (5 - _gro_width(lines[0])), 9) if is_gro else 0.0,
        ids=None if frame.ids is None else frame.ids[order],
        names=None if frame.names is None else frame.names[order],
        molecules=molecules,
    )


def read_text(read_head: ReadHead, stream: BinaryIO, file: Trajectory, number: int) -> Frame:
    """Return one frame of a file."""
    stream.seek(0 if file.offsets is None else int(file.offsets[number]))
    return _parse(*_next(read_head, stream))


def open_text(path: str | Path) -> BinaryIO:
    """Open a text for reading bytes; a compressed one is unpacked into memory."""
    if Path(path).suffix.lower() in {".gz", ".bz2"}:
        return io.BytesIO(_unpacked(path))
    return Path(path).open("rb")


_unpacked = cached(read_bytes)


def _walk(read_head: ReadHead, stream: BinaryIO) -> Iterator[FrameHead]:
    """Yield the heads of frames whose lines are all there."""
    offset = 0
    while (head := read_head(stream)) is not None:
        lines = list(islice(stream, head.n_lines))
        if head.n_atoms < 1 or len(lines) < head.n_lines:
            raise ValueError(f"{len(lines)} lines of {head.n_atoms} atoms are there")
        if not lines[-1].endswith(b"\n") and _is_cut(head, lines):
            raise ValueError("its last line is cut off")
        yield FrameHead(offset, head.n_atoms, head.time, bool(head.columns and head.images))
        offset = stream.tell()


def _is_cut(head: _Head, lines: list[bytes]) -> bool:
    """Return whether a last line without end lacks columns or decimals; editors leave out ends."""
    *others, words = [line.split() for line in lines]
    if not head.columns:  # of a GRO file: a box of numbers alike
        others = [words[:1] * (9 if len(words) > 3 else 3)]
    least = min((_decimals(other[-1]) for other in others), default=0)
    return any(len(other) != len(words) for other in others) or _decimals(words[-1]) < least


def _decimals(word: bytes) -> int:
    return len(word.partition(b".")[2])


def _next(read_head: ReadHead, stream: BinaryIO) -> tuple[_Head, list[bytes]]:
    head = read_head(stream)
    if head is None:
        raise ValueError("the file ends before it")
    return head, list(islice(stream, head.n_lines))


def _parse(head: _Head, lines: list[bytes]) -> Frame:
    return _parse_columns(head, lines) if head.columns else _parse_gro(head, lines)


# ---- GRO -----------------------------------------------------------------------------------------


def read_gro_head(stream: BinaryIO) -> _Head | None:
    """Read what a frame of a GRO file tells before its atoms."""
    title, number = stream.readline(), stream.readline()
    if not (title + number).strip() and not stream.read().strip():
        return None
    if not number.strip().isdigit():
        raise ValueError("its second line is not its number of atoms")
    time = _GRO_TIME.search(title)
    return _Head(int(number), int(number) + 1, float(time[1]) if time else np.nan)


def _parse_gro(head: _Head, lines: list[bytes]) -> Frame:
    if not all(map(bytes.isascii, lines)):  # columns count characters
        lines = [line.decode("utf-8", "replace").encode("latin-1", "replace") for line in lines]
    width = _gro_width(lines[0])
    columns = slice(_GRO_PLACES, _GRO_PLACES + 3 * width)
    packed = b"".join(line[columns] for line in lines[:-1])
    positions = np.frombuffer(packed, f"S{width}").astype(np.float64).reshape(-1, 3)
    # Large numbers of the box fill their columns, and have as many decimals as the last one.
    decimals = len(lines[-1].rstrip().rpartition(b".")[2])
    numbers = np.array(re.findall(rb"[^\s.]+\.[0-9]{%d}" % decimals, lines[-1]), np.float64)
    if len(positions) != head.n_atoms or len(numbers) not in {3, 9}:
        raise ValueError("coordinates are missing, or its last line is not a box of 3 or 9 numbers")
    box = np.diag(numbers[:3])
    box[_GRO_TILTS] = numbers[3:] if len(numbers) == 9 else 0.0
    names = np.frombuffer(b"".join(line[:_GRO_NAMES] for line in lines[:-1]), f"S{_GRO_NAMES}")
    return Frame(_NM * positions, _NM * box, names=np.strings.decode(names, "latin-1"))


def _gro_width(line: bytes) -> int:
    """Return the columns of a coordinate, as many as between two decimal points."""
    first = line.find(b".", _GRO_PLACES)
    width = line.find(b".", first + 1) - first
    if first < 0 or width < 6:
        raise ValueError("its first atom has no coordinates in the columns of the GRO format")
    return width


# ---- XYZ and LAMMPS dumps ------------------------------------------------------------------------


def read_xyz_head(stream: BinaryIO) -> _Head | None:
    """Read what a frame of an XYZ file tells before its atoms."""
    line = next(filter(bytes.strip, stream), b"").removeprefix(_BYTE_ORDER_MARK)
    if not line:
        return None
    if not line.strip().isdigit():
        raise ValueError("it does not start with its number of atoms")
    title, columns = stream.readline().decode("latin-1"), list[str]()
    if re.match(r"#\s*CELL\W", title):
        raise ValueError("boxes of i-PI (CELL) are not read: write extended XYZ, with Lattice")
    words = (_entry(title, "properties") or "species:S:1:pos:R:3").lower().split(":")
    for name, form, count in zip(words[::3], words[1::3], words[2::3], strict=False):
        named = _COLUMNS.get(name.replace("_", ""), ())
        known = named and (form == "i" or named[0][0] != "i")  # real numbers count nothing
        columns += [*(named if known else ()), *("",) * int(count)][: int(count)]
    box, flags = _PART.findall(_entry(title, "lattice")), _PART.findall(_entry(title, "pbc"))
    flags = list(flags[0]) if len(flags) == 1 else flags or ["T"] * 3
    if len(flags) != 3 or len(box) not in {0, 9}:
        raise ValueError("its Lattice needs 9 numbers and its pbc T or F three times")
    cell = np.array(box or np.zeros(9), np.float64).reshape(3, 3)
    periodic = np.array([flag[0].upper() in "T1" for flag in flags])
    return _Head(int(line), int(line), columns=tuple(columns), cell=cell, periodic=periodic)


def _entry(title: str, name: str) -> str:
    found = re.search(_ENTRY.format(name), title, re.IGNORECASE)
    return next(filter(None, found.groups()), "") if found else ""


def read_dump_head(stream: BinaryIO) -> _Head | None:
    """Read what a frame of a LAMMPS dump tells before its atoms."""
    items = dict[str, list[list[str]]]()
    for line in filter(bytes.strip, stream):
        words = line.removeprefix(_BYTE_ORDER_MARK).decode("latin-1").split()
        if words[:2] == ["ITEM:", "ATOMS"]:
            return _dump_head(items, tuple(words[2:]))
        name = " ".join(words[1:4] if words[1:2] == ["NUMBER"] else words[1:2])
        if words[0] != "ITEM:" or name.partition(" OF ")[2] not in {"", "ATOMS"}:
            raise ValueError(f"atoms are needed, got {' '.join(words)[:40]!r} (dump custom)")
        rows = islice(stream, 3 if name == "BOX" else 1)
        items[name] = [words[2:], *(row.decode("latin-1").split() for row in rows)]
    if items:
        raise ValueError("the file ends before its atoms")
    return None


def _dump_head(items: dict[str, list[list[str]]], columns: tuple[str, ...]) -> _Head:
    try:
        (words, *rows), count = items["BOX"], int(items["NUMBER OF ATOMS"][1][0])
        time, bounds = float(items["TIMESTEP"][1][0]), np.array(rows, float)
        tilts = bounds[:, 2] if bounds.shape == (3, 3) else np.zeros(3)
        low, high = bounds[:, :2].T.copy()
    except (KeyError, ValueError, IndexError):
        raise ValueError("its NUMBER OF ATOMS, BOX BOUNDS or TIMESTEP is no number") from None
    # The bounds of a tilted box are those of the brick around it.
    xy, xz, yz = tilts
    low[:2] -= min(0.0, xy, xz, xy + xz), min(0.0, yz)
    high[:2] -= max(0.0, xy, xz, xy + xz), max(0.0, yz)
    cell = np.diag(high - low)
    cell[(1, 2, 2), (0, 0, 1)] = tilts
    if (high < low).any() or bounds.shape[1] > 3:
        raise ValueError("its BOX BOUNDS are no low and high ones, with tilts xy xz yz or without")
    flags = [word for word in words if len(word) == 2 and set(word) <= set("pfsm")]
    periodic = np.array([flag == "pp" for flag in flags] if len(flags) == 3 else [True] * 3)
    return _Head(count, count, time, columns, cell, low, periodic)


def _parse_columns(head: _Head, lines: list[bytes]) -> Frame:
    places, columns, images = head.places, head.columns, head.images
    counted = [name for name in images if name in columns]
    ids = ["id"] if "id" in columns else []
    numbers = _numbers(lines, columns, [*places, *counted, *ids])
    positions, axes = np.zeros((len(lines), 3)), len(places)
    positions[:, :axes] = numbers[:, :axes]
    positions = positions @ head.cell if "s" in places[0] else positions - head.origin
    positions[:, axes:] = 0.0
    flags = np.zeros((len(lines), 3), np.int64)
    flags[:, [images.index(name) for name in counted]] = numbers[:, axes : axes + len(counted)]
    names, named = None, next((name for name in ("element", "type") if name in columns), "")
    if named:
        column = columns.index(named)
        words = [line.split(maxsplit=column + 1)[column] for line in lines]
        names = np.array([word.decode("utf-8", "backslashreplace") for word in words], np.str_)
    box = head.cell * (head.periodic & (np.arange(3) < axes))[:, None]
    id_ = numbers[:, -1].astype(np.int64) if ids else None
    return Frame(positions, box, flags if images else None, id_, names)


def _numbers(lines: list[bytes], columns: tuple[str, ...], names: list[str]) -> Floats:
    text = (line.decode("latin-1") for line in lines)
    chosen = [columns.index(name) for name in names]
    found: Floats = np.loadtxt(text, usecols=chosen, ndmin=2, comments=None)
    if len(found) != len(lines):
        raise ValueError("coordinates are missing")
    return found


HEADS = {".gro": read_gro_head, ".xyz": read_xyz_head, ".lammpstrj": read_dump_head}
