"""Clocks: when frames were taken, read from their headers and not with all their atoms.

Files round their times, most of them to single precision, so that two may mean the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme._arrays import Floats, Ints
from timme.readers.dumps import DUMPS, dump_time
from timme.readers.files import kind
from timme.readers.gro import gro_time

_REAL, _DOUBLE = 4, 8  # bytes
_SLACK = 0.01  # of an interval

FrameClock = Callable[[int], float | None]  # of a frame, its time in ps


def clock_of(path: Path, offsets: Ints | None, style: str = "") -> FrameClock | None:
    """Make a clock that reads the headers of frames.

    Parameters
    ----------
    path : Path
        The file.
    offsets : ndarray of int, shape (frames,), or None
        Where each of its frames starts.
    style : str, optional
        Units of a LAMMPS dump.

    Returns
    -------
    callable or None
        None for formats without such headers, and for what would be unpacked for each of them.
    """
    readers: dict[str, Callable[[BinaryIO], float | None]] = {
        ".xtc": _of_xtc,
        ".trr": _of_trr,
        ".gro": _of_gro,
        **dict.fromkeys(DUMPS, partial(dump_time, style=style)),
    }
    packed = path.suffix.lower() in {".gz", ".bz2"}
    if offsets is None or packed or kind(path) not in readers:
        return None
    return partial(_at, path, offsets, readers[kind(path)])


def slack_of(times: Floats, intervals: Sequence[float]) -> float:
    """Tell by how much times may differ that mean the same.

    Parameters
    ----------
    times : ndarray
        All of them, or the largest.
    intervals : sequence of float
        Between frames, in each of several files.

    Returns
    -------
    float
        In the unit of the times.
    """
    largest = np.float32(np.abs(times).max())
    return _SLACK * min(intervals) + 2 * float(np.spacing(largest))


def _at(
    path: Path, offsets: Ints, read: Callable[[BinaryIO], float | None], frame: int
) -> float | None:
    with path.open("rb") as stream:
        stream.seek(offsets[frame])
        return read(stream)


def _of_gro(stream: BinaryIO) -> float | None:
    return gro_time(stream.readline())


def _of_xtc(stream: BinaryIO) -> float:
    *_, time = struct.unpack(">3if", stream.read(16))  # after a mark, atoms and step
    return float(time)


def _of_trr(stream: BinaryIO) -> float:
    _, _, length = struct.unpack(">3i", stream.read(12))
    stream.seek(-(-length // 4) * 4, 1)  # a title, padded
    sizes = struct.unpack(">13i", stream.read(52))
    box, vectors, n_atoms = sizes[2], max(sizes[7:10]), sizes[10]
    double = (box // 9 if box else vectors // (3 * n_atoms)) == _DOUBLE
    (time,) = struct.unpack(">d" if double else ">f", stream.read(_DOUBLE if double else _REAL))
    return float(time)
