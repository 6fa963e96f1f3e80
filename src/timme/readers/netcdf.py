"""NetCDF trajectories of Amber, read as they are written (NetCDF 3).

A header lists variables; those that have a value for each frame lie in records, one after another.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from timme._arrays import Floats
from timme.readers.files import RawFrame
from timme.readers.layouts import DamageError, Layout, take
from timme.system.boxes import remark_on_cell, vectors_of_cell

_TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8",
          7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}  # fmt: skip
_ANGSTROM = {"angstrom": 1.0, "angstroms": 1.0, "nanometer": 10.0, "nanometers": 10.0}
_PICOSECONDS = {"picosecond": 1.0, "picoseconds": 1.0, "nanosecond": 1e3, "femtosecond": 1e-3}
_MOST = 10_000  # of anything that a header lists; one that is damaged announces billions


@dataclass(frozen=True, slots=True)
class _Variable:
    """Where the values of a variable are."""

    shape: tuple[int, ...]  # of one frame
    kind: str
    place: int  # bytes
    stride: int  # bytes from one frame to the next
    attributes: dict[str, Any]
    of_frames: bool  # whether there is a value for each

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.kind).itemsize

    def whole(self, size: int) -> int:
        """Count the frames that are there in a file of a size."""
        return max(0, (size - self.place - self.size) // self.stride + 1)

    def factor(self, units: dict[str, float]) -> float:
        """Tell by what values are multiplied to be in Å or in ps."""
        unit = str(self.attributes.get("units", next(iter(units))))
        if unit.lower() not in units:
            raise DamageError(f"it is in {unit!r}, and one of {', '.join(units)} is needed")
        scale = self.attributes.get("scale_factor", 1.0)
        return units[unit.lower()] * (float(scale) if not isinstance(scale, str) else 1.0)

    def read(self, stream: BinaryIO, frame: int) -> Floats:
        data = take(stream, self.place + frame * self.stride, self.size)
        return np.frombuffer(data, self.kind).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class _Header:
    n_frames: int  # as announced, -1 where it is not
    variables: dict[str, _Variable]  # with a value for each frame

    @property
    def coordinates(self) -> _Variable:
        found = self.variables.get("coordinates")
        if found is None or len(found.shape) != 2 or found.shape[1] != 3 or not found.shape[0]:
            raise DamageError("the file has no variable 'coordinates' of frames × atoms × 3")
        return found


def walk_netcdf(stream: BinaryIO, size: int) -> Layout:
    """Count frames by size: each takes the same number of bytes.

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
    header = _read_header(stream)
    n_atoms, whole = header.coordinates.shape[0], _whole_frames(header, size)
    damage = remark = ""
    if header.n_frames > whole:
        damage = f"frame {whole + 1} of {header.n_frames} is cut off"
    elif 0 <= header.n_frames < whole:
        remark = f"its header announces {header.n_frames} frames, and it holds {whole}, all whole"
    return Layout(n_atoms, np.arange(whole), damage, remark=remark)


class NetcdfFile:
    """A NetCDF trajectory, read frame by frame.

    Parameters
    ----------
    path : Path
        The file, found whole.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as stream:
            self._header = _read_header(stream)
        self._scale = self._header.coordinates.factor(_ANGSTROM)

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
        with self._path.open("rb") as stream:
            places = self._header.coordinates.read(stream, frame)
            precise = places.dtype.itemsize > np.dtype(np.float32).itemsize
            if self._scale != 1.0:
                places = places * self._scale
            box, remark = self._box(stream, frame)
        places = places.astype(np.float64 if precise else np.float32)
        return RawFrame(places, box, time=self.time(frame), remark=remark)

    def time(self, frame: int) -> float | None:
        """Tell when a frame was taken.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        float or None
            In ps; None where the file does not say, or in a unit that is not known.
        """
        variable = self._header.variables.get("time")
        if variable is None or variable.shape:
            return None
        try:
            factor = variable.factor(_PICOSECONDS)
        except DamageError:
            return None
        with self._path.open("rb") as stream:
            time = float(variable.read(stream, frame)) * factor
        return time if math.isfinite(time) else None

    def _box(self, stream: BinaryIO, frame: int) -> tuple[Floats | None, str]:
        """Make box vectors of a cell, and say what was decided on it."""
        lengths, angles = (self._header.variables.get(f"cell_{k}") for k in ("lengths", "angles"))
        if lengths is None:
            return None, ""
        edges = lengths.read(stream, frame).astype(np.float64) * lengths.factor(_ANGSTROM)
        if not edges.any():
            return None, ""
        corners = np.full(3, 90.0)
        if angles is not None:
            corners = angles.read(stream, frame).astype(np.float64)
        if edges.shape != (3,) or corners.shape != (3,):
            raise DamageError("its cell has not three lengths and three angles")
        return vectors_of_cell(edges, corners), remark_on_cell(edges, corners)


def _whole_frames(header: _Header, size: int) -> int:
    return min(variable.whole(size) for variable in header.variables.values())


def _read_header(stream: BinaryIO) -> _Header:
    mark = take(stream, 0, 4)
    if mark[:3] != b"CDF" or mark[3] not in (1, 2, 5):
        raise DamageError("the file does not start as a NetCDF 3 file does")
    return _Parser(stream, mark[3]).header()


class _Parser:
    """Goes through the header of a file."""

    def __init__(self, stream: BinaryIO, version: int) -> None:
        self._stream = stream
        self._count = ">q" if version == 5 else ">i"
        self._place = ">i" if version == 1 else ">q"

    def header(self) -> _Header:
        announced = self._number(self._count)
        dimensions = [(self._name(), self._number(self._count)) for _ in self._list()]
        self._attributes()
        found = dict(self._variable(dimensions) for _ in self._list())
        records = [variable for variable in found.values() if not variable.stride]
        sizes = [variable.size for variable in records]
        # Each begins at a multiple of four bytes, unless it is alone.
        stride = sizes[0] if len(sizes) == 1 else sum(-(-size // 4) * 4 for size in sizes)
        if "coordinates" in found and not found["coordinates"].of_frames:
            raise DamageError(
                "it holds one snapshot, as restart files do: call it .ncrst, or, if it should not"
            )
        frames = dict(dimensions).get("frame", 0) or announced
        kept = {
            name: replace(variable, stride=variable.stride or stride)
            for name, variable in found.items()
            if variable.of_frames
        }
        return _Header(frames, kept)

    def _variable(self, dimensions: list[tuple[str, int]]) -> tuple[str, _Variable]:
        """Read where a variable is; a stride of 0 stands for that of all records."""
        name = self._name()
        numbers = [self._number(self._count) for _ in range(self._few())]
        if any(not 0 <= number < len(dimensions) for number in numbers):
            raise DamageError("the header of the file is damaged")
        attributes = self._attributes()
        kind = self._kind()
        self._number(self._count)  # the size, which follows from the shape
        place = self._number(self._place)
        names, shape = [dimensions[k][0] for k in numbers], [dimensions[k][1] for k in numbers]
        if place < 0 or any(length < 0 for length in shape) or 0 in shape[1:]:
            raise DamageError("the header of the file is damaged")
        in_record, of_frames = shape[:1] == [0], names[:1] == ["frame"]
        rest = tuple(shape[1:] if in_record or of_frames else shape)
        stride = 0 if in_record else math.prod(rest) * np.dtype(kind).itemsize
        return name, _Variable(rest, kind, place, stride, attributes, of_frames)

    def _list(self) -> range:
        """Begin a list, after a mark of its kind."""
        self._number(">i")
        return range(self._few())

    def _attributes(self) -> dict[str, Any]:
        return dict(self._attribute() for _ in self._list())

    def _attribute(self) -> tuple[str, Any]:
        name, kind = self._name(), self._kind()
        count = self._few(1_000_000)
        data = self._take(count * np.dtype(kind).itemsize)
        if kind == "S1":
            return name, data.rstrip(b"\0").decode("latin-1").strip()
        values = np.frombuffer(data, kind)
        return name, values[0] if len(values) else ""

    def _name(self) -> str:
        return self._take(self._few()).decode("latin-1")

    def _kind(self) -> str:
        number = self._number(">i")
        if number not in _TYPES:
            raise DamageError("the header of the file is damaged")
        return _TYPES[number]

    def _few(self, most: int = _MOST) -> int:
        count = self._number(self._count)
        if not 0 <= count <= most:
            raise DamageError("the header of the file is damaged")
        return count

    def _number(self, kind: str) -> int:
        return int(struct.unpack(kind, self._take(struct.calcsize(kind)))[0])

    def _take(self, count: int) -> bytes:
        """Go on by some bytes, which are filled up to a multiple of four."""
        return take(self._stream, self._stream.tell(), -(-count // 4) * 4)[:count]
