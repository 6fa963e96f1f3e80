"""GRO, XYZ and LAMMPS dumps: frames of a head that tells how many lines follow, and these lines."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme_next._arrays import Bools, Floats
from timme_next.ensemble.atoms import angstroms
from timme_next.ensemble.frames import Frame
from timme_next.io.files import Trajectory, read_bytes, stamp, whole_frames

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
# Styles of units, of GROMACS and LAMMPS: the unit of coordinates, how many of it theirs is, and ps
# in a time.
_STYLES = {
    "gromacs": ("Å", 10.0, 1.0),
    "real": ("Å", 1.0, 1e-3),
    "metal": ("Å", 1.0, 1.0),
    "nano": ("Å", 10.0, 1e3),
    "electron": ("Å", angstroms("bohr") or 1.0, 1e-3),
    "micro": ("µm", 1.0, 1e6),
    "cgs": ("cm", 1.0, 1e12),
    "si": ("m", 1.0, 1e12),
}


_NO_STYLE = "", 1.0, np.nan


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What the lines of atoms hold in an XYZ file or a LAMMPS dump."""

    columns: list[str]
    box: Floats | None  # (3, 3), with zeros in open directions
    cell: Floats  # (3, 3), of coordinates that are parts of it
    origin: Floats  # (3,)
    places: list[str]  # columns of positions, 2 of motion in a plane
    images: list[str]  # columns of image flags, "" where positions were never wrapped

    @classmethod
    def of(cls, columns: list[str], cell: Floats, periodic: Bools, origin: Floats) -> _Table:
        places = _places(columns)
        images = ["" if name.endswith("u") else f"i{name[0]}" for name in places]
        known = [not name or name in columns for name in images]
        periodic = periodic & (np.arange(3) < len(places))
        if not any(known) or not all(known[axis] for axis in np.flatnonzero(periodic)):
            images = []
        box = cell * periodic[:, None]
        return cls(columns, box if box.any() else None, cell, origin, places, images)


class _Head(NamedTuple):
    """What a frame tells before its atoms."""

    n_atoms: int
    n_lines: int  # that follow
    time: float = np.nan
    step: float = np.nan
    style: str = ""  # of units
    table: _Table | None = None  # None for GRO files
    has_images: bool = False
    offset: int = 0


ReadHead = Callable[[BinaryIO], _Head | None]  # None at the end of the file


def index_text(read_head: ReadHead, path: Path) -> Trajectory:
    """Find the whole frames of a file."""
    with _opened(path) as stream:
        heads, damage = whole_frames(_heads(read_head, stream))
        stream.seek(heads[0].offset)
        head = read_head(stream) or heads[0]
        lines = list(islice(stream, head.n_lines))
    (unit, scale, picoseconds), frame = _STYLES.get(head.style, _NO_STYLE), _parse(head, lines)
    order = slice(None) if frame.ids is None else np.argsort(frame.ids, kind="stable")
    times, steps = (np.array(column) for column in zip(*(head[2:4] for head in heads), strict=True))
    in_steps = bool(np.isnan(times * picoseconds).any() and not np.isnan(steps).any())
    molecules = None
    if head.table is not None and "mol" in head.table.columns:
        molecules = _numbers(lines, head.table.columns, ["mol"])[order, 0].astype(np.int64)
    return Trajectory(
        str(path.absolute()),
        len(heads),
        head.n_atoms,
        steps if in_steps else times * picoseconds,
        np.array([head.offset for head in heads]),
        in_steps=in_steps,
        unit=unit,
        scale=scale,
        rounding=0.0 if head.table else round(scale * 10.0 ** (5 - _gro_width(lines[0])), 9),
        has_images=all(head.has_images for head in heads),
        ids=None if frame.ids is None else frame.ids[order],
        names=None if frame.names is None else frame.names[order],
        molecules=molecules,
        damage=damage,
    )


@contextmanager
def open_text(read_head: ReadHead, file: Trajectory) -> Iterator[Callable[[int], Frame]]:
    """Open a file for reading some of its frames by their numbers."""
    offsets = np.zeros(0, np.int64) if file.offsets is None else file.offsets
    with _opened(Path(file.path)) as stream:

        def read(number: int) -> Frame:
            stream.seek(int(offsets[number]))
            head = read_head(stream)
            if head is None:
                raise ValueError("the file ends before it")
            found = _parse(head, list(islice(stream, head.n_lines)))
            box = None if found.box is None else file.scale * found.box
            return found._replace(positions=file.scale * found.positions, box=box)

        yield read


def _opened(path: Path) -> BinaryIO:
    if path.suffix.lower() in {".gz", ".bz2"}:
        return io.BytesIO(_unpacked(path, stamp(path)))
    return path.open("rb")


@lru_cache(maxsize=1)
def _unpacked(path: Path, changed: tuple[int, int]) -> bytes:
    del changed  # another file under the same name is unpacked anew
    return read_bytes(path)


def _heads(read_head: ReadHead, stream: BinaryIO) -> Iterator[_Head]:
    """Yield the heads of frames whose lines are all there."""
    offset, before = 0, list[bytes]()
    while (head := read_head(stream)) is not None:
        lines = list(islice(stream, head.n_lines))
        if head.n_atoms < 1 or len(lines) < head.n_lines:
            raise ValueError(f"{len(lines)} lines of {head.n_atoms} atoms are there")
        if not lines[-1].endswith(b"\n") and _is_cut(head, lines, before):
            raise ValueError("its last line is cut off")
        has_images = head.table is not None and bool(head.table.images)
        yield head._replace(offset=offset, table=None, has_images=has_images)
        offset, before = stream.tell(), lines[-1:]


def _is_cut(head: _Head, lines: list[bytes], before: list[bytes]) -> bool:
    """Return whether a last line without end lacks columns or decimals; editors leave out ends."""
    words = lines[-1].split()
    others = [line.split() for line in (*before, *lines[:-1])] if head.table else [words]
    decimals = [_decimals(other[-1]) for other in others if len(other) == len(words)]
    whole = len(words) in {3, 9} if head.table is None else len(decimals) == len(others)
    return not whole or _decimals(words[-1]) < min(decimals, default=0)


def _decimals(word: bytes) -> int:
    return len(word.partition(b".")[2])


def _parse(head: _Head, lines: list[bytes]) -> Frame:
    return _parse_gro(head, lines) if head.table is None else _parse_table(head.table, lines)


# ---- GRO -----------------------------------------------------------------------------------------


def read_gro_head(stream: BinaryIO) -> _Head | None:
    """Read what a frame of a GRO file tells before its atoms."""
    title, number = stream.readline(), stream.readline()
    while number and not title.strip() and not number.strip().isdigit():
        title, number = number, stream.readline()  # blank lines between frames
    if not (title + number).strip() and not stream.read().strip():
        return None
    if not number.strip().isdigit():
        raise ValueError("its second line is not its number of atoms")
    time = _GRO_TIME.search(title)
    return _Head(int(number), int(number) + 1, float(time[1]) if time else np.nan, style="gromacs")


def _parse_gro(head: _Head, lines: list[bytes]) -> Frame:
    width = _gro_width(lines[0])
    columns = slice(_GRO_PLACES, _GRO_PLACES + 3 * width)
    packed = b"".join(line[columns] for line in lines[:-1])
    positions = np.frombuffer(packed, f"S{width}").astype(np.float64).reshape(-1, 3)
    fields = lines[-1].split()
    if any(field.count(b".") > 1 for field in fields):  # large numbers fill their columns
        decimals = len(lines[-1].rstrip().rpartition(b".")[2])
        fields = re.findall(rb"[^\s.]+\.[0-9]{%d}" % decimals, lines[-1])
    numbers = np.array(fields, np.float64)
    if len(positions) != head.n_atoms or len(numbers) not in {3, 9}:
        raise ValueError("coordinates are missing, or its last line is not a box of 3 or 9 numbers")
    box = np.diag(numbers[:3])
    box[_GRO_TILTS] = numbers[3:] if len(numbers) == 9 else 0.0
    names = np.frombuffer(b"".join(line[:_GRO_NAMES] for line in lines[:-1]), f"S{_GRO_NAMES}")
    return Frame(positions, box, names=names.astype(np.str_))


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
    line = next(filter(bytes.strip, stream), b"")
    if not line:
        return None
    if not line.removeprefix(_BYTE_ORDER_MARK).strip().isdigit():
        raise ValueError("it does not start with its number of atoms")
    count, title = int(line.removeprefix(_BYTE_ORDER_MARK)), stream.readline().decode("latin-1")
    if re.match(r"#\s*CELL\W", title):
        raise ValueError("boxes of i-PI (CELL) are not read: write extended XYZ, with Lattice")
    box, flags = _PART.findall(_entry(title, "lattice")), _PART.findall(_entry(title, "pbc"))
    flags = list(flags[0]) if len(flags) == 1 else flags or ["T"] * 3
    if len(flags) != 3 or len(box) not in {0, 9}:
        raise ValueError(f"its Lattice needs 9 numbers and its pbc T or F three times: {title!r}")
    periodic = np.array([flag[0].upper() in "T1" for flag in flags])
    cell = np.array(box or np.zeros(9), np.float64).reshape(3, 3)
    return _Head(count, count, table=_Table.of(_xyz_columns(title), cell, periodic, np.zeros(3)))


def _entry(title: str, name: str) -> str:
    found = re.search(_ENTRY.format(name), title, re.IGNORECASE)
    return next(filter(None, found.groups()), "") if found else ""


def _xyz_columns(title: str) -> list[str]:
    """Return the columns of properties, as of Properties=species:S:1:pos:R:3."""
    words = (_entry(title, "properties") or "species:S:1:pos:R:3").lower().split(":")
    columns = list[str]()
    for name, form, count in zip(words[::3], words[1::3], words[2::3], strict=False):
        named = _COLUMNS.get(name.replace("_", ""), ())
        if named and named[0][0] == "i" and form != "i":  # real numbers count nothing
            named = ()
        columns += [*named, *("",) * int(count)][: int(count)]
    return columns


def read_dump_head(stream: BinaryIO) -> _Head | None:
    """Read what a frame of a LAMMPS dump tells before its atoms."""
    items = dict[str, tuple[list[str], list[list[str]]]]()
    while line := stream.readline():
        words = line.removeprefix(_BYTE_ORDER_MARK).decode("latin-1").split()
        if words[:2] == ["ITEM:", "ATOMS"]:
            return _dump_head(items, words[2:])
        if words and (words[0] != "ITEM:" or len(words) < 2):
            raise ValueError(f"an ITEM is needed, got {' '.join(words)[:40]!r}")
        if words[1:2] == ["GRID"] or (words[1:2] == ["NUMBER"] and words[2:] != ["OF", "ATOMS"]):
            raise ValueError(f"it has no atoms, but {words[-1]}: write one with them (dump custom)")
        if words:
            rows = islice(stream, 3 if words[1] == "BOX" else 1)
            items[words[1]] = words[2:], [row.decode("latin-1").split() for row in rows]
    if items:
        raise ValueError("the file ends before its atoms")
    return None


def _dump_head(items: dict[str, tuple[list[str], list[list[str]]]], columns: list[str]) -> _Head:
    def value(item: str) -> float:
        return float(items[item][1][0][0]) if item in items else np.nan

    try:
        (words, rows), count = items["BOX"], int(items["NUMBER"][1][0][0])
        bounds, time, step = np.array(rows, np.float64), value("TIME"), value("TIMESTEP")
        style = items["UNITS"][1][0][0].lower() if "UNITS" in items else ""
        if "abc" in words:  # a, b and c as rows, each with a coordinate of the origin
            cell, origin = bounds[:, :3], bounds[:, 3]
        else:
            cell, origin = _dump_box(bounds)
    except (KeyError, ValueError, IndexError):
        raise ValueError("its NUMBER OF ATOMS, BOX BOUNDS, step or time is no number") from None
    flags = [word for word in words if len(word) == 2 and set(word) <= set("pfsm")]
    periodic = np.array([flag == "pp" for flag in flags] if len(flags) == 3 else [True] * 3)
    return _Head(count, count, time, step, style, _Table.of(columns, cell, periodic, origin))


def _dump_box(bounds: Floats) -> tuple[Floats, Floats]:
    """Return box vectors and the corner where they start; bounds are those of the brick around."""
    low, high = bounds[:, 0].copy(), bounds[:, 1].copy()
    xy, xz, yz = bounds[:, 2] if bounds.shape[1] == 3 else np.zeros(3)
    low[:2] -= min(0.0, xy, xz, xy + xz), min(0.0, yz)
    high[:2] -= max(0.0, xy, xz, xy + xz), max(0.0, yz)
    if (high < low).any():
        raise ValueError
    box = np.diag(high - low)
    box[1, 0], box[2, 0], box[2, 1] = xy, xz, yz
    return box, low


def _places(columns: list[str]) -> list[str]:
    """Return columns of positions, those that were never wrapped first."""
    for endings in (("u", ""), ("su", "s")):
        ways = [[axis + end for end in endings if axis + end in columns] for axis in "xyz"]
        if all(ways[:2]) and (ways[2] or not {"z", "zu", "zs", "zsu"}.intersection(columns)):
            return [way[0] for way in ways if way]
    raise ValueError(
        "it has no positions: it needs columns x y z, xs ys zs, xu … or xsu …, or pos:R:3 in XYZ, "
        f"got {' '.join(columns)}: write it with these"
    )


def _parse_table(table: _Table, lines: list[bytes]) -> Frame:
    axes, images = len(table.places), [name for name in table.images if name in table.columns]
    ids = ["id"] if "id" in table.columns else []
    numbers = _numbers(lines, table.columns, [*table.places, *images, *ids])
    positions = np.zeros((len(lines), 3))
    positions[:, :axes] = numbers[:, :axes]
    scaled = "s" in table.places[0]
    positions = positions @ table.cell if scaled else positions - table.origin
    positions[:, axes:] = 0.0
    flags = np.zeros((len(lines), 3), np.int64)
    for place, name in enumerate(images):
        flags[:, table.images.index(name)] = numbers[:, axes + place]
    named = next((name for name in ("element", "type") if name in table.columns), "")
    names = None
    if named:
        column = table.columns.index(named)
        words = [line.split(maxsplit=column + 1)[column].decode("latin-1") for line in lines]
        names = np.array(words, np.str_)
    return Frame(
        positions,
        table.box,
        flags if table.images else None,
        numbers[:, -1].astype(np.int64) if ids else None,
        names,
    )


def _numbers(lines: list[bytes], columns: list[str], names: list[str]) -> Floats:
    text = (line.decode("latin-1") for line in lines)
    chosen = [columns.index(name) for name in names]
    found: Floats = np.loadtxt(text, usecols=chosen, ndmin=2, comments=None)
    if len(found) != len(lines):
        raise ValueError("coordinates are missing")
    return found
