"""GRO files: frames parsed from their columns."""

from __future__ import annotations

import re
from itertools import islice
from typing import BinaryIO

import numpy as np

from timme.readers.files import RawFrame
from timme.system.boxes import box_or_none

_NM = 10.0  # Å
_GRO_NAMES = 20  # characters of residue and atom before the coordinates
_GRO_NAMED = 15  # of them, those before the number of the atom, which some programs count on
_GRO_TIME = re.compile(rb"\bt=\s*([-+.0-9eE]*[0-9])")  # in the title, in ps
# Off-diagonal numbers of a GRO box as rows and columns: v1y v1z v2x v2z v3x v3y.
_GRO_TILTS = ((0, 0, 1, 1, 2, 2), (1, 2, 0, 2, 0, 1))


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
        Positions and box vectors in Å, and the residue and the name of each atom.
    """
    stream.seek(offset)
    title, number = gro_head(stream)
    time = gro_time(title)
    lines = list(islice(stream, int(number) + 1))
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
    named = b"".join(line[:_GRO_NAMED] for line in lines[:-1])
    names = np.frombuffer(named, dtype=f"S{_GRO_NAMED}")
    return RawFrame(positions * _NM, box_or_none(box * _NM), time=time, names=names)


def gro_head(stream: BinaryIO) -> tuple[bytes, bytes]:
    """Read the two lines with which a GRO frame begins.

    Parameters
    ----------
    stream : BinaryIO
        The file, where the frame before ends.

    Returns
    -------
    title, number
        Its title, which may be blank, and its number of atoms. Blank lines before a title are none
        of it: some programs part frames by them.
    """
    title, number = stream.readline(), stream.readline()
    while number and not title.strip() and not number.strip().isdigit():
        title, number = number, stream.readline()
    return title, number


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


def _gro_fields(line: bytes) -> list[bytes]:
    """Split the box of a GRO frame, whose numbers fill their columns if they are large.

    They all have as many decimals, so that each ends as far behind its point as the last one does.
    """
    fields = line.split()
    if all(field.count(b".") < 2 for field in fields):
        return fields
    decimals = len(line.rstrip().rpartition(b".")[2])
    return re.findall(rb"[^\s.]+\.[0-9]{%d}" % decimals, line)
