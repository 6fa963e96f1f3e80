"""LAMMPS dumps: frames parsed from their lines, with atoms, units and images as they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings
from timme.readers.files import BYTE_ORDER_MARK, RawFrame, open_binary
from timme.readers.layouts import ForeignError
from timme.readers.numerals import plain_number
from timme.system.atoms import Atoms
from timme.system.boxes import box_or_none
from timme.system.units import unit_in_angstrom

DUMPS = frozenset((".lammpstrj", ".dump"))
_NM = 10.0  # Å
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
# Endings of the columns of places, in lengths and in parts of the box; those that were never put
# back into the box come first.
_PLACES = (("u", ""), ("su", "s"))


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
    step: float  # of the simulation, NaN if it does not say

    @property
    def counts_images(self) -> bool:
        """Whether it tells how often atoms went through every wall there is.

        Either it counts it, or it gives places that were never put back into the box.
        """
        names = _places(self.columns)
        told = [_unwrapped(name) or _counted(name) in self.columns for name in names]
        walls = self.periodic[: len(names)]
        return any(told) and all(known or not wall for known, wall in zip(told, walls, strict=True))


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
        words = line.removeprefix(BYTE_ORDER_MARK).decode("latin-1").split()
        if not words:
            continue
        if words[0] != "ITEM:" or len(words) < 2:
            raise ValueError(f"an ITEM is needed, got {line[:40].decode('latin-1').strip()!r}")
        if words[1] == "ATOMS":
            return _header(items, tuple(words[2:]))
        # Those of bonds and the like count other things, those of grids have cells.
        if words[1] == "GRID" or (words[1] == "NUMBER" and words[2:] != ["OF", "ATOMS"]):
            raise ForeignError(
                f"it has no positions of atoms, but {' '.join(words[1:])}: write one that has them "
                "(dump custom)"
            )
        count = 3 if words[1] == "BOX" else 1
        values = [stream.readline().decode("latin-1").split() for _ in range(count)]
        items[words[1]] = words[2:], values
    if items:
        raise ValueError("the file ends before its atoms")
    return None


def read_dump(stream: BinaryIO, offset: int, style: str = "") -> RawFrame:
    """Read one frame of a LAMMPS dump.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.
    style : str, optional
        Units of the file, as :func:`dump_style` finds them.

    Returns
    -------
    RawFrame
        Positions from the corner of the box on, box vectors with zeros in open directions, and
        images where the file counts them for atoms that it puts back into the box; the time where
        file and style tell it; ids of the atoms, or else their elements or types.
    """
    header, lines = _dump_frame(stream, offset)
    names = _places(header.columns)
    found = _numbers(lines, header.columns, names)
    positions = np.zeros((header.n_atoms, 3))
    positions[:, : len(names)] = found
    positions = positions @ header.box if "s" in names[0] else positions - header.origin
    images = _images(lines, header.columns) if header.counts_images else None
    periodic = header.periodic & (np.arange(3) < len(names))
    positions[:, len(names) :] = 0.0
    scale = _STYLES.get(style, _UNKNOWN)[1]
    box = scale * header.box * periodic[:, None]
    ids = _ids(lines, header.columns) if "id" in header.columns else None
    kinds = _names(lines, header.columns) if ids is None else None
    time = _time(header, style)
    return RawFrame(scale * positions, box_or_none(box), images, time, ids, kinds)


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
    named, found = _named(columns), _names(lines, columns)
    names: Strings = np.full(count, "") if found is None else found
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


def _header(
    items: dict[str, tuple[list[str], list[list[str]]]], columns: tuple[str, ...]
) -> DumpHeader:
    if "NUMBER" not in items or "BOX" not in items:
        raise ValueError("it needs a NUMBER OF ATOMS and BOX BOUNDS before its ATOMS")
    try:
        n_atoms = int(items["NUMBER"][1][0][0])
        words, rows = items["BOX"]
        bounds = np.array([list(map(plain_number, row)) for row in rows], dtype=np.float64)
        box, origin = _box(bounds, general="abc" in words)
        time = float(plain_number(items["TIME"][1][0][0])) if "TIME" in items else None
        step = float(items["TIMESTEP"][1][0][0]) if "TIMESTEP" in items else np.nan
        style = items["UNITS"][1][0][0].lower() if "UNITS" in items else ""
    except (ValueError, IndexError):
        raise ValueError(
            "its number of atoms, its box, its step or its time is not given in numbers"
        ) from None
    if "abc" not in words and (np.diag(box) < 0).any():
        raise ValueError("its box ends before it begins, as one of its upper bounds is the lower")
    flags = [word for word in words if len(word) == 2 and set(word) <= set("pfsm")]
    periodic = np.array([flag == "pp" for flag in flags] if len(flags) == 3 else [True] * 3)
    return DumpHeader(n_atoms, columns, box, origin, periodic, style, time, step)


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
    for endings in _PLACES:
        found = [
            next((axis + end for end in endings if axis + end in columns), "") for axis in "xyz"
        ]
        names = tuple(filter(None, found))
        if all(found[:2]) and (found[2] or not _has_height(columns)):
            return names
    raise ForeignError(
        "it has no positions: it needs columns x y z, xs ys zs, xu … or xsu …, got "
        f"{' '.join(columns)}: write it with these (dump custom)"
    )


def _has_height(columns: Sequence[str]) -> bool:
    return any("z" + end in columns for endings in _PLACES for end in endings)


def _unwrapped(name: str) -> bool:
    """Tell whether the places of a column were never put back into the box."""
    return name.endswith("u")


def _counted(name: str) -> str:
    """Name the column that counts how often atoms went through the walls of an axis."""
    return f"i{name[0]}"


def _images(lines: list[bytes], columns: Sequence[str]) -> Ints:
    """Read how often atoms are to be moved through walls; 0 where they are there, or none knows."""
    images = np.zeros((len(lines), 3), np.int64)
    for axis, name in enumerate(_places(columns)):
        if not _unwrapped(name) and _counted(name) in columns:
            images[:, axis] = _numbers(lines, columns, (_counted(name),))[:, 0]
    return images


def _named(columns: Sequence[str]) -> str:
    """Find the column that tells kinds of atoms apart, "" if none does."""
    return next((name for name in ("element", "type") if name in columns), "")


def _names(lines: list[bytes], columns: Sequence[str]) -> Strings | None:
    named = _named(columns)
    if not named:
        return None
    place = columns.index(named)
    return np.array([line.split()[place].decode("latin-1") for line in lines])


def _ids(lines: list[bytes], columns: Sequence[str]) -> Ints:
    return _numbers(lines, columns, ("id",))[:, 0].astype(np.int64)


def _numbers(lines: list[bytes], columns: Sequence[str], names: Sequence[str]) -> Floats:
    chosen = [columns.index(name) for name in names]
    text = (line.decode("latin-1") for line in lines)
    found: Floats = np.loadtxt(text, usecols=chosen, ndmin=2, comments=None)
    return found
