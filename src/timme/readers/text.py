"""Text trajectories: frames of GRO and XYZ files and LAMMPS dumps, parsed from their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings
from timme.readers.files import RawFrame, open_binary
from timme.system.atoms import Atoms
from timme.system.boxes import box_or_none
from timme.system.units import unit_in_angstrom

DUMPS = frozenset((".lammpstrj", ".dump"))
_NM = 10.0  # Å
_GRO_NAMES = 20  # characters of residue and atom before the coordinates
_GRO_TIME = re.compile(rb"\bt=\s*([-+.0-9eE]*[0-9])")  # in the title, in ps
# Off-diagonal numbers of a GRO box as rows and columns: v1y v1z v2x v2z v3x v3y.
_GRO_TILTS = ((0, 0, 1, 1, 2, 2), (1, 2, 0, 2, 0, 1))
# Entries of the title of an extended XYZ frame, as Lattice="5 0 0 0 5 0 0 0 5" or pbc=T.
_ENTRY = r"""(?:^|\s){}\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))"""
_IMAGES = ("ix", "iy", "iz")
# Of the styles of units of LAMMPS, the unit in which lengths are given on, how many of it theirs
# is, and how many ps their unit of time is. Those of lj have none.
_STYLES = {
    "real": ("Å", 1.0, 1e-3),
    "metal": ("Å", 1.0, 1.0),
    "nano": ("Å", _NM, 1e3),
    "electron": ("Å", unit_in_angstrom("bohr") or 1.0, 1e-3),
    "micro": ("µm", 1.0, 1e6),
    "cgs": ("cm", 1.0, 1e12),
    "si": ("m", 1.0, 1e12),
}
_UNKNOWN = ("", 1.0, 0.0)
_PLACES = (("x", "y", "z"), ("xs", "ys", "zs"), ("xu", "yu", "zu"), ("xsu", "ysu", "zsu"))


@dataclass(frozen=True, slots=True, eq=False)
class DumpHeader:
    """What a LAMMPS dump says of a frame before its atoms."""

    n_atoms: int
    columns: tuple[str, ...]
    box: Floats  # (3, 3), rows
    origin: Floats  # (3,)
    periodic: Bools  # (3,)
    style: str  # of its units, as LAMMPS calls them; "" if it does not say, as in later frames
    time: float | None  # in the unit of the style


def gro_width(line: bytes) -> int:
    """Count the characters of a coordinate, which follow from the distance of decimal points.

    Parameters
    ----------
    line : bytes
        An atom of a GRO file.

    Returns
    -------
    int
        5 more than the decimals.
    """
    first = line.find(b".", _GRO_NAMES)
    width = line.find(b".", first + 1) - first
    if first < 0 or width < 6:
        raise ValueError("its first atom has no coordinates in the columns of the GRO format")
    return width


def is_gro_box(line: bytes) -> bool:
    """Tell whether a line is the whole box of a GRO frame.

    Parameters
    ----------
    line : bytes
        The last line of a frame.

    Returns
    -------
    bool
        True for 3 or 9 numbers, all of them with as many decimals where the line has no end.
    """
    fields = _gro_fields(line)
    try:
        list(map(float, fields))
    except ValueError:
        return False
    decimals = {len(field.partition(b".")[2]) for field in fields}
    return len(fields) in {3, 9} and (line.endswith(b"\n") or len(decimals) == 1)


def read_gro(stream: BinaryIO, offset: int) -> RawFrame:
    """Read one frame of a GRO file.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.

    Returns
    -------
    RawFrame
        Positions and box vectors in Å.
    """
    stream.seek(offset)
    time = gro_time(stream.readline())
    lines = list(islice(stream, int(stream.readline()) + 1))
    width = gro_width(lines[0])
    columns = slice(_GRO_NAMES, _GRO_NAMES + 3 * width)
    packed = b"".join(line[columns] for line in lines[:-1])
    positions = np.frombuffer(packed, dtype=f"S{width}").astype(np.float64).reshape(-1, 3)
    if len(positions) != len(lines) - 1:
        raise ValueError("coordinates are missing")
    numbers = np.array(_gro_fields(lines[-1]), dtype=np.float64)
    box = np.diag(numbers[:3])
    if len(numbers) == 9:
        box[_GRO_TILTS] = numbers[3:]
    return RawFrame((positions * _NM).astype(np.float32), box_or_none(box * _NM), time=time)


def gro_time(title: bytes) -> float | None:
    """Find the time in the title of a GRO frame.

    Parameters
    ----------
    title : bytes
        Its first line, as ``water t= 10.0``.

    Returns
    -------
    float or None
        In ps; None where the title does not say.
    """
    stated = _GRO_TIME.search(title)
    return float(stated[1]) if stated else None


def read_xyz(stream: BinaryIO, offset: int) -> RawFrame:
    """Read one frame of an XYZ file; the title of an extended one gives box and columns.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.

    Returns
    -------
    RawFrame
        Positions and box vectors, with zeros in open directions.
    """
    stream.seek(offset)
    count, title = int(stream.readline()), stream.readline().decode("latin-1")
    text = (line.decode("latin-1") for line in islice(stream, count))
    first = _xyz_column(title)
    positions = np.loadtxt(text, usecols=range(first, first + 3), ndmin=2, comments=None)
    if len(positions) != count:
        raise ValueError("coordinates are missing")
    box = _xyz_box(title)
    return RawFrame(positions.astype(np.float32), box_or_none(box))


def plain_xyz(path: Path) -> str:
    """Write the first frame of an XYZ file as programs read it that know no extended ones.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Number of atoms, an empty title, and a name and three numbers for each atom.
    """
    with open_binary(path) as stream:
        first = stream.readline()
        if not first.strip().isdigit():
            raise ValueError(
                f"{path}: an XYZ file begins with the number of its atoms, got {first[:20]!r}: "
                "write it again"
            )
        count, title = int(first), stream.readline().decode("latin-1")
        lines = [line.decode("latin-1").split() for line in islice(stream, count)]
    try:
        named = _xyz_column(title, "species")
    except ValueError:
        named = 0
    x = _xyz_column(title)
    rows = [" ".join([words[named], *words[x : x + 3]]) for words in lines]
    return "\n".join([str(count), "", *rows, ""])


def dump_header(stream: BinaryIO) -> DumpHeader | None:
    """Read what stands before the atoms of the next frame of a LAMMPS dump.

    Parameters
    ----------
    stream : BinaryIO
        The file, at the start of a frame; left at its first atom.

    Returns
    -------
    DumpHeader or None
        None at the end of the file.
    """
    items = dict[str, tuple[list[str], list[list[str]]]]()
    while line := stream.readline():
        words = line.decode("latin-1").split()
        if not words:
            continue
        if words[0] != "ITEM:" or len(words) < 2:
            raise ValueError(f"an ITEM is needed, got {line[:40].decode('latin-1').strip()!r}")
        if words[1] == "ATOMS":
            return _header(items, tuple(words[2:]))
        count = 3 if words[1] == "BOX" else 1
        values = [stream.readline().decode("latin-1").split() for _ in range(count)]
        items[words[1]] = words[2:], values
    if items:
        raise ValueError("the file ends before its atoms")
    return None


def read_dump(stream: BinaryIO, offset: int, ids: Ints, style: str = "") -> RawFrame:
    """Read one frame of a LAMMPS dump, its atoms sorted by their ids.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.
    ids : ndarray of int, shape (atoms,)
        Ids of the atoms, sorted; none where the file gives none.
    style : str, optional
        Units of the file, as :func:`dump_style` finds them.

    Returns
    -------
    RawFrame
        Positions from the corner of the box on, box vectors with zeros in open directions, and
        images where the file counts them for atoms that it puts back into the box; the time where
        file and style tell it.
    """
    header, lines = _dump_frame(stream, offset)
    names = _places(header.columns)
    found = _numbers(lines, header.columns, names)
    positions = np.zeros((header.n_atoms, 3))
    positions[:, : len(names)] = found
    positions = positions @ header.box if "s" in names[0] else positions - header.origin
    images = _images(lines, header.columns)
    if len(ids):
        frame_ids = _ids(lines, header.columns)
        order = np.argsort(frame_ids, kind="stable")
        if (frame_ids[order] != ids).any():
            other = np.setxor1d(frame_ids, ids)
            raise ValueError(f"it has not the atoms of the first frame: see id {other[0]}")
        positions = positions[order]
        images = None if images is None else images[order]
    periodic = header.periodic & (np.arange(3) < len(names))
    positions[:, len(names) :] = 0.0
    scale = _STYLES.get(style, _UNKNOWN)[1]
    box = scale * header.box * periodic[:, None]
    moved = (scale * positions).astype(np.float32)
    return RawFrame(moved, box_or_none(box), images, _time(header, style))


def dump_time(stream: BinaryIO, style: str) -> float | None:
    """Read the time of the next frame of a LAMMPS dump.

    Parameters
    ----------
    stream : BinaryIO
        The file, at the start of the frame.
    style : str
        Units of the file, as :func:`dump_style` finds them.

    Returns
    -------
    float or None
        In ps; None where the frame or its units do not say.
    """
    header = dump_header(stream)
    return None if header is None else _time(header, style)


def dump_style(path: Path) -> tuple[str, str]:
    """Find the units of a LAMMPS dump, which stand in its first frame if anywhere.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    style : str
        As LAMMPS calls it, such as ``real``; "" where the file does not say.
    unit : str
        In which :func:`read_dump` gives lengths: Å for atoms, µm, cm or m; "" where none is known.
    """
    with open_binary(path) as stream:
        header = dump_header(stream)
    style = "" if header is None else header.style
    return style, _STYLES.get(style, _UNKNOWN)[0]


def dump_has_images(path: Path) -> bool:
    """Tell whether a LAMMPS dump knows how often atoms went through the walls.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
        Whether it counts it, or gives places that were never put back into the box.
    """
    with open_binary(path) as stream:
        header, lines = _dump_frame(stream, 0)
    return _images(lines[:1], header.columns) is not None or _unwrapped(header.columns)


def dump_ids(path: Path) -> Ints:
    """Read the ids of the atoms of a LAMMPS dump.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    ndarray of int, shape (atoms,)
        Sorted; none where the file gives none.
    """
    with open_binary(path) as stream:
        header, lines = _dump_frame(stream, 0)
    _places(header.columns)
    if "id" not in header.columns:
        return np.zeros(0, dtype=np.int64)
    ids = np.sort(_ids(lines, header.columns))
    twice = np.flatnonzero(np.diff(ids) == 0)
    if len(twice):
        raise ValueError(f"atom {ids[twice[0]]} is there twice in the first frame")
    return ids


def dump_atoms(path: Path) -> tuple[Atoms, Ints | None, str]:
    """Name the atoms of a LAMMPS dump that comes without a topology.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    atoms : Atoms
        Sorted by id, which stands for the residue number; elements or types stand for names.
    molecules : ndarray of int, shape (atoms,), or None
        Numbers of their molecules, 0 for atoms that are in none; None where the file gives none.
    note : str
        What is not known of them.
    """
    with open_binary(path) as stream:
        header, lines = _dump_frame(stream, 0)
    columns, count = header.columns, header.n_atoms
    named = next((name for name in ("element", "type") if name in columns), "")
    names: Strings = np.full(count, "")
    if named:
        place = columns.index(named)
        names = np.array([line.split()[place].decode("latin-1") for line in lines])
    note = f"sites are named by their {named} only" if named else "sites have no names"
    note = f"{path}: without a topology, {note} and have no bonds"
    molecules = None
    if "mol" in columns:
        molecules = _numbers(lines, columns, ("mol",))[:, 0].astype(np.int64)
        note += "; molecules are those of its column mol"
    atoms = Atoms.unnamed(count)
    if "id" not in columns:
        note += "; without ids, atoms are taken in the order of each frame"
        return replace(atoms, names=names), molecules, note
    ids = _ids(lines, columns)
    order = np.argsort(ids, kind="stable")
    molecules = None if molecules is None else molecules[order]
    return replace(atoms, names=names[order], resids=ids[order]), molecules, note


def _gro_fields(line: bytes) -> list[bytes]:
    """Split the box of a GRO frame, whose numbers fill their columns if they are large.

    They all have as many decimals, so that each ends as far behind its point as the last one does.
    """
    fields = line.split()
    if all(field.count(b".") < 2 for field in fields):
        return fields
    decimals = len(line.rstrip().rpartition(b".")[2])
    return re.findall(rb"[^\s.]+\.[0-9]{%d}" % decimals, line)


def _xyz_entry(title: str, name: str) -> str:
    found = re.search(_ENTRY.format(name), title, re.IGNORECASE)
    return "" if found is None else next(filter(None, found.groups()), "")


def _xyz_box(title: str) -> Floats:
    """Box vectors as rows, zero in open directions."""
    words = _xyz_entry(title, "lattice").split()
    if not words:
        return np.zeros((3, 3))
    try:
        box = np.array(words, dtype=np.float64).reshape(3, 3)
    except ValueError:
        raise ValueError(f"its Lattice needs 9 numbers, got {' '.join(words)!r}") from None
    flags = re.findall("[^][, ]+", _xyz_entry(title, "pbc"))
    periodic = [flag[0].upper() in "T1" for flag in flags]
    if len(periodic) not in {0, 3}:
        raise ValueError(f"its pbc needs T or F three times, got {len(periodic)} of them")
    if periodic:
        box[~np.array(periodic)] = 0.0
    return box


def _xyz_column(title: str, wanted: str = "pos") -> int:
    """Count the columns before a property, as in Properties=species:S:1:pos:R:3."""
    described = _xyz_entry(title, "properties")
    words = described.split(":")
    columns = 0
    for name, count in zip(words[::3], words[2::3], strict=False):
        if name == wanted:
            return columns
        columns += int(count)
    if described:
        raise ValueError(f"its Properties need positions, such as pos:R:3, got {described}")
    return 1 if wanted == "pos" else 0


def _header(
    items: dict[str, tuple[list[str], list[list[str]]]], columns: tuple[str, ...]
) -> DumpHeader:
    if "NUMBER" not in items or "BOX" not in items:
        raise ValueError("it needs a NUMBER OF ATOMS and BOX BOUNDS before its ATOMS")
    try:
        n_atoms = int(items["NUMBER"][1][0][0])
        words, rows = items["BOX"]
        box, origin = _box(np.array(rows, dtype=np.float64), general="abc" in words)
        time = float(items["TIME"][1][0][0]) if "TIME" in items else None
        style = items["UNITS"][1][0][0].lower() if "UNITS" in items else ""
    except (ValueError, IndexError):
        raise ValueError(
            "its number of atoms, its box or its time is not given in numbers"
        ) from None
    flags = [word for word in words if len(word) == 2 and set(word) <= set("pfsm")]
    periodic = np.array([flag == "pp" for flag in flags] if len(flags) == 3 else [True] * 3)
    return DumpHeader(n_atoms, columns, box, origin, periodic, style, time)


def _box(rows: Floats, *, general: bool) -> tuple[Floats, Floats]:
    """Turn the bounds of a dump into box vectors and the corner from which they start."""
    if general:  # a, b and c as rows, each with a coordinate of the origin
        return rows[:, :3], rows[:, 3]
    low, high = rows[:, 0].copy(), rows[:, 1].copy()
    xy, xz, yz = rows[:, 2] if rows.shape[1] == 3 else np.zeros(3)
    # The bounds of a tilted box are those of the brick around it.
    low[:2] -= min(0.0, xy, xz, xy + xz), min(0.0, yz)
    high[:2] -= max(0.0, xy, xz, xy + xz), max(0.0, yz)
    box = np.diag(high - low)
    box[1, 0], box[2, 0], box[2, 1] = xy, xz, yz
    return box, low


def _time(header: DumpHeader, style: str) -> float | None:
    picoseconds = _STYLES.get(style, _UNKNOWN)[2]
    return header.time * picoseconds if header.time is not None and picoseconds else None


def _dump_frame(stream: BinaryIO, offset: int) -> tuple[DumpHeader, list[bytes]]:
    stream.seek(offset)
    header = dump_header(stream)
    if header is None:
        raise ValueError("the file ends before it")
    return header, list(islice(stream, header.n_atoms))


def _places(columns: Sequence[str]) -> tuple[str, ...]:
    """Find the columns of the positions; where motion is in a plane there may be two."""
    for names in _PLACES:
        if set(names[:2]) <= set(columns):
            return names if names[2] in columns else names[:2]
    raise ValueError(f"it needs columns x y z, xs ys zs, xu … or xsu …, got {' '.join(columns)}")


def _unwrapped(columns: Sequence[str]) -> bool:
    """Tell whether places were never put back into the box."""
    return "u" in _places(columns)[0]


def _images(lines: list[bytes], columns: Sequence[str]) -> Ints | None:
    """Read how often atoms went through walls; in a plane, there may be none for the third."""
    places = _places(columns)
    counted = _IMAGES if _IMAGES[2] in columns else _IMAGES[: len(places)]
    if _unwrapped(columns) or not set(counted) <= set(columns):
        return None
    images = np.zeros((len(lines), 3), np.int64)
    images[:, : len(counted)] = _numbers(lines, columns, counted)
    return images


def _ids(lines: list[bytes], columns: Sequence[str]) -> Ints:
    return _numbers(lines, columns, ("id",))[:, 0].astype(np.int64)


def _numbers(lines: list[bytes], columns: Sequence[str], names: Sequence[str]) -> Floats:
    chosen = [columns.index(name) for name in names]
    text = (line.decode("latin-1") for line in lines)
    found: Floats = np.loadtxt(text, usecols=chosen, ndmin=2, comments=None)
    return found
