"""Trajectories of Amber as texts: numbers of eight columns, ten in a line, and maybe a box."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import BinaryIO

import numpy as np

from timme._arrays import Floats
from timme.readers.files import RawFrame
from timme.readers.layouts import DamageError, FrameEnd, Layout, is_end, walk
from timme.system.boxes import box_or_none

AMBER_TEXTS = frozenset((".mdcrd", ".trj", ".crdbox"))
_WIDTH, _IN_A_LINE = 8, 10
# Where the lengths of a box begin, by the characters of its line: mdtraj puts blanks between them.
_BOXES = {24: (0, 8, 16), 26: (0, 9, 18)}


def walk_amber(stream: BinaryIO, size: int, n_atoms: int) -> Layout:
    """Count lines and their characters, as nothing says where a frame ends.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.
    n_atoms : int
        Number of atoms of a frame, which the file does not tell.

    Returns
    -------
    Layout
        Of its frames; half a number, or a box that is missing where others have one, ends them.
    """
    rows, rest = divmod(3 * n_atoms, _IN_A_LINE)
    widths = [_WIDTH * _IN_A_LINE] * rows + [_WIDTH * rest] * bool(rest)
    ahead = list[bytes]()  # the line after the first frame, once it was looked at
    cells, boxed = list[int](), False
    first = len(stream.readline())  # its title

    def frame_end(start: int) -> FrameEnd | None:
        nonlocal boxed
        line = b""
        for number, width in enumerate(widths):
            line = ahead.pop() if ahead else stream.readline()
            if not number and is_end(stream, line):
                return None
            if len(line.rstrip()) != width:
                found = len(line.rstrip())
                raise DamageError(
                    f"a line has {found} characters and not {width}, as {n_atoms} atoms need"
                )
        if start == first and n_atoms > 1:  # a single atom is as long as a box
            line = stream.readline()
            boxed = _box(line) is not None
            if not boxed:
                ahead.append(line)
                cells.append(-1)
                return FrameEnd(stream.tell() - len(line), n_atoms)
            widths.append(len(line.rstrip()))
        cells.append(stream.tell() - len(line) if boxed else -1)
        return FrameEnd(stream.tell(), n_atoms)

    found = walk(frame_end, size, first)
    return replace(found, cells=np.array(cells[: len(found.offsets)], dtype=np.int64))


def read_amber(stream: BinaryIO, offset: int, cell: int, n_atoms: int) -> RawFrame:
    """Read one frame of a text of Amber.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.
    cell : int
        Where the line of its box starts, below 0 where it has none.
    n_atoms : int
        Number of its atoms.

    Returns
    -------
    RawFrame
        Positions and box vectors in Å.
    """
    stream.seek(offset)
    packed = b"".join(line.rstrip() for line in islice(stream, -(-3 * n_atoms // _IN_A_LINE)))
    positions = np.frombuffer(packed, dtype=f"S{_WIDTH}").astype(np.float64).reshape(n_atoms, 3)
    if cell < 0:
        return RawFrame(positions, None)
    stream.seek(cell)
    box = _box(stream.readline())
    if box is None:
        raise ValueError("its box needs three lengths")
    return RawFrame(positions, box_or_none(box))


def _box(line: bytes) -> Floats | None:
    """Read the vectors of a box, None where the line is none."""
    text = line.rstrip()
    starts = _BOXES.get(len(text), ())
    try:
        lengths = [float(text[start : start + _WIDTH]) for start in starts]
    except ValueError:
        return None
    return np.diag(lengths) if lengths else None
