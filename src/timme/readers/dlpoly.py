"""Files of DL_POLY: frames of HISTORY, and CONFIG, parsed from their lines.

The vectors of a cell may point anywhere, and coordinates are those along which they stand.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme._arrays import Bools, Floats
from timme.readers.files import RawFrame, open_binary
from timme.readers.layouts import DamageError, FrameEnd, Layout, is_end, walk
from timme.system.boxes import box_or_none

HISTORY, CONFIG = ".history", ".config"
DLPOLY = frozenset((HISTORY, CONFIG))
_SLAB = 6  # which has no walls along z
_OTHER_CELLS = {4: "a truncated octahedron", 5: "a rhombic dodecahedron", 7: "a hexagonal prism"}
_MARK = b"timestep"  # with which frames begin
_HEADER = 2  # lines before them


class _Header(NamedTuple):
    """What stands before the atoms of a frame."""

    n_atoms: int  # 0 where it does not say
    vectors: int  # of each atom: its place, and maybe its velocity and the force on it
    boundary: int
    time: float | None  # ps
    cell: Floats | None  # (3, 3), rows
    first: bytes  # the line of the first atom, which was read


def walk_history(stream: BinaryIO, size: int) -> Layout:
    """Follow the frames of a HISTORY file.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.

    Returns
    -------
    Layout
        Where its frames are, and their times.
    """
    for _ in range(_HEADER):
        stream.readline()

    def frame_end(_: int) -> FrameEnd | None:
        line = stream.readline()
        if is_end(stream, line):
            return None
        header = _read_header(stream, line)
        _atom_lines(stream, header)
        return FrameEnd(stream.tell(), header.n_atoms, header.time)

    return walk(frame_end, size, stream.tell())


def walk_config(stream: BinaryIO, _: int) -> Layout:
    """Look through a CONFIG file, which is one frame.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    _ : int
        Its bytes.

    Returns
    -------
    Layout
        Of that frame.
    """
    header, rows = _config(stream)
    count, rest = divmod(len(rows), 1 + header.vectors)
    if not count or rest or not _ends_whole(rows, header.vectors):
        raise DamageError(f"it is cut off after {count} atoms")
    return Layout(count, np.zeros(1, dtype=np.int64), "")


def read_history(stream: BinaryIO, offset: int) -> RawFrame:
    """Read one frame of a HISTORY file.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.

    Returns
    -------
    RawFrame
        Positions and box vectors in Å with zeros in open directions, time, ids and names.
    """
    stream.seek(offset)
    header = _read_header(stream, stream.readline())
    return _frame(header, _atom_lines(stream, header))


def read_config(stream: BinaryIO, offset: int) -> RawFrame:
    """Read a CONFIG file.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where it starts.

    Returns
    -------
    RawFrame
        As :func:`read_history` gives it, without a time.
    """
    stream.seek(offset)
    header, rows = _config(stream)
    return _frame(header, rows)


def read_cell(path: Path, offset: int) -> Floats | None:
    """Read the cell of one frame alone.

    Parameters
    ----------
    path : Path
        A HISTORY file, or CONFIG where no offset is given.
    offset : int
        Where the frame starts, 0 for CONFIG.

    Returns
    -------
    ndarray, shape (3, 3), or None
        Box vectors as rows, zeros in open directions; None where space is open.
    """
    with open_binary(path) as stream:
        stream.seek(offset)
        line = stream.readline()
        header = _read_header(stream, line) if line.startswith(_MARK) else _config(stream)[0]
    return _box(header)


def periodic_of_dlpoly(path: Path) -> Bools:
    """Tell in which directions the space of a file repeats.

    Parameters
    ----------
    path : Path
        HISTORY or CONFIG.

    Returns
    -------
    ndarray of bool, shape (3,)
        As its second line says.

    Raises
    ------
    ValueError
        For cells that are no parallelepipeds.
    """
    with open_binary(path) as stream:
        stream.readline()
        words = stream.readline().split()
    if len(words) < 2 or not words[1].isdigit():
        raise ValueError(
            f"{path}: the second line of a file of DL_POLY tells its level and its boundary "
            "(imcon), which are not there: write it again"
        )
    boundary = int(words[1])
    if boundary in _OTHER_CELLS:
        raise ValueError(
            f"{path}: its cell is {_OTHER_CELLS[boundary]} (imcon {boundary}), which is not read: "
            "write the vectors between its images in place of its cell, and imcon 3"
        )
    return _periodic(boundary)


def _periodic(boundary: int) -> Bools:
    return np.array([boundary != 0] * 2 + [boundary not in {0, _SLAB}])


def _read_header(stream: BinaryIO, line: bytes) -> _Header:
    words = line.split()
    if not words or words[0] != _MARK or len(words) < 5:
        raise DamageError("it does not begin with timestep and its numbers")
    step, n_atoms, level, boundary = (int(word) for word in words[1:5])
    time = None
    if len(words) > 5:
        time = float(words[6]) if len(words) > 6 else step * float(words[5])
    cell, first = _cell(stream)
    return _Header(n_atoms, 1 + level, boundary, time, cell, first)


def _config(stream: BinaryIO) -> tuple[_Header, list[bytes]]:
    stream.seek(0)
    stream.readline()
    words = stream.readline().split()
    try:
        level, boundary = (int(word) for word in words[:2])  # and maybe a step, or atoms
    except ValueError:
        raise DamageError("its second line does not tell its level and its boundary") from None
    cell, first = _cell(stream)
    header = _Header(0, 1 + level, boundary, None, cell, first)
    rows = [first] * bool(first.strip())
    for line in stream:
        if not line.strip():
            break
        rows.append(line)
    return header, rows


def _cell(stream: BinaryIO) -> tuple[Floats | None, bytes]:
    """Read three vectors, where there are any before the first atom, and the line of that."""
    line = stream.readline()
    first = _three_numbers(line)
    if first is None:
        return None, line
    rows = [first, *(_three_numbers(stream.readline()) for _ in range(2))]
    found = [row for row in rows if row is not None]
    if len(found) < 3:
        raise DamageError("its cell needs three vectors of three numbers")
    return np.array(found), stream.readline()


def _three_numbers(line: bytes) -> list[float] | None:
    words = line.split()
    try:
        return [float(word.translate(_EXPONENTS)) for word in words] if len(words) == 3 else None
    except ValueError:
        return None


_EXPONENTS = bytes.maketrans(b"dD", b"ee")  # of Fortran, in double precision


def _atom_lines(stream: BinaryIO, header: _Header) -> list[bytes]:
    wanted = header.n_atoms * (1 + header.vectors)
    lines = [header.first, *islice(stream, wanted - 1)]
    if len(lines) < wanted or not _ends_whole(lines, header.vectors):
        missing = header.n_atoms - len(lines) // (1 + header.vectors)
        raise DamageError(f"{max(1, missing)} atoms are missing")
    return lines


def _ends_whole(lines: list[bytes], vectors: int) -> bool:
    """Tell whether the last line was written to its end, which editors may leave out."""
    before = lines[-2 - vectors] if len(lines) > 1 + vectors else lines[-1]
    whole = lines[-1].endswith(b"\n") or len(lines[-1]) >= len(before.rstrip())
    return whole and _three_numbers(lines[-1]) is not None


def _frame(header: _Header, rows: list[bytes]) -> RawFrame:
    named, places = rows[:: 1 + header.vectors], rows[1 :: 1 + header.vectors]
    positions = [_three_numbers(line) for line in places]
    if any(place is None for place in positions):
        number = positions.index(None) + 1
        raise ValueError(f"atom {number} has no place of three numbers")
    words = [line.split() for line in named]
    numbers = [int(row[1]) if len(row) > 1 and row[1].isdigit() else None for row in words]
    numbered = [number for number in numbers if number is not None]
    return RawFrame(
        np.array(positions, dtype=np.float64),
        _box(header),
        time=header.time,
        ids=np.array(numbered, dtype=np.int64) if len(numbered) == len(words) else None,
        names=np.array([row[0].decode("latin-1") for row in words]),
    )


def _box(header: _Header) -> Floats | None:
    if header.cell is None:
        return None
    return box_or_none(header.cell * _periodic(header.boundary)[:, None])
