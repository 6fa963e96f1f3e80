"""Frames of PDB files behind a topology, found by their records and parsed from their columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np

from timme._arrays import Floats
from timme.readers.files import RawFrame
from timme.readers.layouts import DamageError, FrameEnd, Layout, walk
from timme.system.boxes import box_or_none, remark_on_cell, vectors_of_cell

PDB = frozenset((".pdb", ".ent"))
_ATOMS = (b"ATOM  ", b"HETATM")
_PLACES, _END_OF_PLACES = 30, 54  # columns of coordinates
_CELL_FIELDS = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
_NO_CELL = -1  # in the place of where its line is
_ROUNDING = 0.0001  # nm, as layouts have it


def walk_pdb(stream: BinaryIO, size: int) -> Layout:
    """Count lines: atoms up to ``ENDMDL``, ``END`` or the next ``MODEL`` are a frame.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.

    Returns
    -------
    Layout
        Of its frames, each with the line of its cell: its own, or that of one before.
    """
    cells, cell = list[int](), _NO_CELL

    def frame_end(place: int) -> FrameEnd | None:
        nonlocal cell
        count = 0
        for line in stream:
            record = line[:6].upper()
            if record in _ATOMS:
                _refuse_part(line)
                count += 1
            elif record == b"CRYST1":
                cell = place
            elif count and _is_bound(record):
                break
            elif b"\r" in line.rstrip(b"\r\n"):
                raise DamageError("its lines end with carriage returns alone")
            place += len(line)
        else:
            line = b""
        if not count:
            return None
        cells.append(cell)
        return FrameEnd(place + len(line), count)

    found = walk(frame_end, size)
    known = np.array(cells[: len(found.offsets)], dtype=np.int64)
    return replace(found, cells=known, rounding=_ROUNDING)


def read_pdb_frame(stream: BinaryIO, offset: int, cell: int) -> RawFrame:
    """Read one frame of a PDB file.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.
    cell : int
        Where the line of its cell starts, below 0 where it has none.

    Returns
    -------
    RawFrame
        Positions and box vectors in Å, and the name and the residue number of each atom.
    """
    stream.seek(offset)
    lines = list(_atoms_of_frame(stream))
    packed = b"".join(line[_PLACES:_END_OF_PLACES] for line in lines)
    positions = np.frombuffer(packed, dtype="S8").astype(np.float64).reshape(-1, 3)
    names = np.frombuffer(b"".join(line[12:16] + line[22:27] for line in lines), dtype="S9")
    box, remark = _box(stream, cell)
    return RawFrame(positions, box, names=names, remark=remark)


def cell_fields(line: str) -> list[str]:
    """Split the line of a cell, ``CRYST1``, by its columns.

    Parameters
    ----------
    line : str
        Of a PDB file.

    Returns
    -------
    list of str
        Three lengths and three angles.
    """
    return [line[start:stop] for start, stop in _CELL_FIELDS]


def _atoms_of_frame(stream: BinaryIO) -> Iterator[bytes]:
    begun = False
    for line in stream:
        record = line[:6].upper()
        if record in _ATOMS:
            begun = True
            yield line
        elif begun and _is_bound(record):
            return


def _is_bound(record: bytes) -> bool:
    """Tell whether a record, in capitals, ends a frame."""
    return record == b"ENDMDL" or record.split()[:1] in ([b"END"], [b"MODEL"])


def _refuse_part(line: bytes) -> None:
    if len(line.rstrip()) < _END_OF_PLACES:
        raise DamageError("a line ends before the coordinates of its atom do")


def _box(stream: BinaryIO, cell: int) -> tuple[Floats | None, str]:
    """Make box vectors of a cell, and say what was decided on it.

    One of 1 Å stands for none, as entries without crystals have.
    """
    if cell < 0:
        return None, ""
    stream.seek(cell)
    try:
        numbers = np.array(cell_fields(stream.readline().decode("latin-1")), dtype=np.float64)
    except ValueError:
        return None, ""
    lengths, angles = numbers[:3], numbers[3:]
    if np.allclose(lengths, 1.0):
        return None, ""
    return box_or_none(vectors_of_cell(lengths, angles)), remark_on_cell(lengths, angles)
