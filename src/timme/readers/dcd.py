"""DCD files of CHARMM, NAMD and others, read as they are written, with the times that they hold.

A frame is a record for the cell, if there is one, and one for each axis; each begins and ends with
its own length. Of fixed atoms, only the first frame has the places.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme.readers.files import RawFrame
from timme.readers.layouts import DamageError, Layout, take
from timme.system.boxes import fault_of, vectors_of_cell

_CELL = 48  # bytes: six numbers
_TITLE, _LONGEST_TITLE = 92, 1_000_000  # bytes: where it is, and a limit
_MARK = 4  # bytes, of the length at both ends of a record
_AKMA = 0.04888821  # ps, the unit of time of CHARMM
# No step of an integrator is as long; other programs write 1, 0, or steps in units of their own.
_LONGEST_STEP = 0.98  # AKMA


@dataclass(frozen=True, slots=True, eq=False)
class _Header:
    order: str  # "<" or ">"
    announced: int  # number of frames
    n_atoms: int
    start: int  # of the first frame, in bytes
    first: int  # bytes of the first frame
    rest: int  # bytes of every other frame, in which fixed atoms are left out
    free: Ints | None  # (free atoms,), where some are fixed
    has_cell: bool
    first_time: float  # ps, of the first frame; NaN where the header does not say
    interval: float  # ps, from one frame to the next
    stated: float  # the same as the header has it, be it a placeholder or not

    @property
    def marks(self) -> tuple[int, ...]:
        """Lengths of the record with which a frame may start."""
        if self.has_cell:
            return (_CELL,)
        moving = self.n_atoms if self.free is None else len(self.free)
        return 4 * self.n_atoms, 4 * moving

    def place(self, frame: int) -> int:
        return self.start + (self.first + (frame - 1) * self.rest if frame else 0)


def walk_dcd(stream: BinaryIO, size: int) -> Layout:
    """Count frames by size: all but the first take the same number of bytes.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.

    Returns
    -------
    Layout
        Of its whole frames.
    """
    try:
        header = _read_header(stream)
    except (DamageError, struct.error):
        return Layout(0, np.zeros(0, np.int64), "it does not start as a DCD file does")
    left = size - header.start - header.first
    whole = 0 if left < 0 else 1 + left // header.rest
    cut = size > header.place(whole) or not whole
    damage = f"frame {whole + 1} is cut off" if cut else ""
    for number in range(whole):
        mark = struct.unpack(f"{header.order}i", take(stream, header.place(number), _MARK))[0]
        if mark not in header.marks:
            whole, damage = number, f"frame {number + 1} does not start as a DCD frame does"
            break
    # A run that was stopped leaves such a number, and many programs write 0 and never come back.
    remark = ""
    if not damage and header.announced != whole:
        holds = "1 frame" if whole == 1 else f"{whole} frames"
        remark = f"its header announces {header.announced} frames, and it holds {holds}, all whole"
    offsets = np.array([header.place(number) for number in range(whole)], dtype=np.int64)
    return Layout(header.n_atoms, offsets, damage, remark=remark)


class DcdFile:
    """A DCD file, read frame by frame.

    Parameters
    ----------
    path : Path
        The file, found whole.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as stream:
            self._header = _read_header(stream)
        self._fixed: Coordinates | None = None  # places in the first frame

    def read(self, frame: int) -> RawFrame:
        """Read one frame.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        RawFrame
            Positions, box and time.
        """
        header = self._header
        length = header.rest if frame else header.first
        with self._path.open("rb") as stream:
            data = take(stream, header.place(frame), length)
        cell, start = None, 0
        if header.has_cell:
            cell, start = _record(data, 0, f"{header.order}f8", 6)
        count = header.n_atoms if header.free is None or not frame else len(header.free)
        axes = []
        for _ in range(3):
            values, start = _record(data, start, f"{header.order}f4", count)
            axes.append(values)
        positions: Coordinates = np.stack(axes, axis=1).astype(np.float32)
        if count < header.n_atoms:
            moving, positions = positions, self._first_places().copy()
            positions[header.free] = moving
        return RawFrame(positions, _box(cell), time=self.time(frame))

    def time(self, frame: int) -> float | None:
        """Tell when a frame was taken.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        float or None
            In ps; None where the header holds a placeholder, or a step in another unit.
        """
        time = self._header.first_time + frame * self._header.interval
        return None if np.isnan(time) else time

    @property
    def stated_interval(self) -> float:
        """Time between frames in ps, as others read it even from a placeholder."""
        return self._header.stated

    def _first_places(self) -> Coordinates:
        if self._fixed is None:
            self._fixed = self.read(0).positions
        return self._fixed


def _read_header(stream: BinaryIO) -> _Header:
    head = take(stream, 0, 8)
    if head[4:8] != b"CORD":
        raise DamageError("no CORD")
    order = "<" if struct.unpack("<i", head[:4])[0] == 84 else ">"
    data = take(stream, 8, 80)
    control = struct.unpack(f"{order}20i", data)
    said = _title(stream, order)
    place = _TITLE + 2 * _MARK + len(said)
    _, n_atoms, _ = struct.unpack(f"{order}3i", take(stream, place, 12))
    place += 12
    n_fixed, charmm = control[8], control[19] != 0
    if n_atoms < 1 or not 0 <= n_fixed < n_atoms:
        raise DamageError("impossible numbers")
    free = None
    if n_fixed:
        free = _free_atoms(stream, place, order, n_atoms, n_fixed)
        place += 8 + 4 * (n_atoms - n_fixed)
    (delta,) = struct.unpack_from(f"{order}{'f' if charmm else 'd'}", data, 36)
    first_time, interval = _clock(delta, control[1], control[2], said)
    cell = _CELL + 2 * _MARK if charmm and control[10] else 0
    axes = 4 if charmm and control[11] else 3
    return _Header(
        order=order,
        announced=control[0],
        n_atoms=n_atoms,
        start=place,
        first=cell + axes * (8 + 4 * n_atoms),
        rest=cell + axes * (8 + 4 * (n_atoms - n_fixed)),
        free=free,
        has_cell=cell > 0,
        first_time=first_time,
        interval=interval,
        stated=control[2] * delta * _AKMA,
    )


def _title(stream: BinaryIO, order: str) -> bytes:
    """Find the title, whose lines some programs count rightly, and its length wrongly."""
    length, lines = struct.unpack(f"{order}2i", take(stream, _TITLE, 8))
    for each in (length, 4 + 80 * lines):
        if 0 <= each < _LONGEST_TITLE:
            stream.seek(_TITLE + 2 * _MARK + each)
            after = stream.read(12)
            if len(after) == 12 and struct.unpack(f"{order}3i", after)[::2] == (4, 4):
                return take(stream, _TITLE + _MARK, each)
    raise DamageError("impossible numbers")


def _free_atoms(stream: BinaryIO, place: int, order: str, n_atoms: int, n_fixed: int) -> Ints:
    data = take(stream, place, 2 * _MARK + 4 * (n_atoms - n_fixed))
    free, _ = _record(data, 0, f"{order}i4", n_atoms - n_fixed)
    atoms: Ints = free.astype(np.int64) - 1
    if atoms.min() < 0 or atoms.max() >= n_atoms or len(np.unique(atoms)) < len(atoms):
        raise DamageError("impossible numbers")
    return atoms


def _clock(delta: float, first: int, every: int, title: bytes) -> tuple[float, float]:
    """Tell the time of the first frame and that between frames, NaN where it is not known.

    CHARMM, NAMD, OpenMM and MDAnalysis write the step of the integrator in their unit, and in how
    many steps a frame was written. VMD, mdtraj and ProDy write 1 and 1 whatever the times are,
    chemfiles writes 0, and LAMMPS a step in its own unit, which nobody knows.
    """
    known = every > 0 and np.isfinite(delta) and delta > 0 and delta != 1.0
    if not known or b"LAMMPS" in title.upper() or (every > 1 and delta >= _LONGEST_STEP):
        return np.nan, np.nan
    return first * delta * _AKMA, every * delta * _AKMA


def _record(data: bytes, start: int, kind: str, count: int) -> tuple[Floats, int]:
    """Take one record apart, which says twice how long it is, and return where it ends."""
    length = count * np.dtype(kind).itemsize
    stop = start + _MARK + length
    marks = [int(np.frombuffer(data, kind[0] + "i4", 1, at)[0]) for at in (start, stop)]
    if marks != [length, length]:
        raise DamageError(f"a record is of {marks[0]} bytes, and {length} are needed")
    return np.frombuffer(data, kind, count, start + _MARK), stop + _MARK


def _box(cell: Floats | None) -> Floats | None:
    """Make box vectors of a cell: lengths with angles or their cosines, or a symmetric matrix.

    NAMD and CHARMM write cosines, so that angles of 0 are right ones.
    """
    if cell is None or not cell.any():
        return None
    lengths, angles = cell[[0, 2, 5]].astype(np.float64), cell[[4, 3, 1]].astype(np.float64)
    cosines: Bools = np.abs(angles) <= 1.0
    if cosines.all():
        angles = 90.0 - np.degrees(np.arcsin(angles))  # exactly 90 for a cosine of 0
    found = vectors_of_cell(lengths, angles)
    if cosines.all() or not ((cell < 0).any() or (angles > 180).any() or fault_of(found)):
        return found
    # CHARMM from version 36 on: the matrix itself, as coordinates are along it. It is the root of a
    # matrix of products of vectors, which makes all its principal values positive.
    matrix = cell[[[0, 1, 3], [1, 2, 4], [3, 4, 5]]].astype(np.float64)
    if not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] <= 0:
        return vectors_of_cell(lengths, np.full(3, np.nan))
    return matrix
