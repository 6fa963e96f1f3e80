"""DCD, NetCDF, H5MD and GSD files and arrays: frames of binary formats."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Floats, Ints
from timme_next._text import one_line
from timme_next.ensemble.atoms import angstroms
from timme_next.ensemble.frames import Frame
from timme_next.io.files import Trajectory, cell_box, open_npy, take, whole_frames

_AKMA = 0.04888821  # ps, the unit of time of CHARMM
# No integrator takes a step as long; other programs write 1, 0, or steps in units of their own.
_LONGEST_STEP = 0.98  # AKMA
_PICOSECONDS = {"picosecond": 1.0, "ps": 1.0, "nanosecond": 1e3, "ns": 1e3, "femtosecond": 1e-3,
                "fs": 1e-3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}  # fmt: skip
_SMALLEST = 1e-3  # bytes of a compressed file for each byte of a frame

Opened = Iterator[Callable[[int], Frame]]


# ---- DCD -----------------------------------------------------------------------------------------


class _DcdHead(NamedTuple):
    """What a DCD file tells of all frames."""

    order: str  # of bytes, "<" or ">"
    n_atoms: int
    start: int  # of the first frame
    free: Ints | None  # (atoms,), where others are fixed, which only the first frame has
    n_cell: int  # bytes of the record with the cell, 0 for none
    axes: int
    n_frames: int  # as announced
    times: tuple[float, float]  # of the first frame, and between frames

    def place(self, number: int) -> int:
        """Return where a frame starts."""
        return self.start + (self.length(0) + (number - 1) * self.length(1) if number else 0)

    def length(self, number: int) -> int:
        return self.n_cell + self.axes * (8 + 4 * self.n_moving(number))

    def n_moving(self, number: int) -> int:
        return self.n_atoms if self.free is None or not number else len(self.free)


class _Place(NamedTuple):
    n_atoms: int


def index_dcd(path: Path) -> Trajectory:
    """Find the whole frames of a DCD file of CHARMM, NAMD and others."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        try:
            head = _read_dcd_head(stream)
        except (struct.error, IndexError):
            raise ValueError("it does not start as a DCD file does") from None
        places, damage = whole_frames(_dcd_frames(stream, head, size))
    count, note = len(places), ""
    if head.n_frames != count and not damage:
        note = f"its header announces {head.n_frames} frames, and it holds {count}, all whole"
    first, between = head.times
    times = first + between * np.arange(count, dtype=np.float64)
    return Trajectory(str(path.absolute()), count, head.n_atoms, times, damage=damage, note=note)


def _dcd_frames(stream: BinaryIO, head: _DcdHead, size: int) -> Iterator[_Place]:
    number = 0
    while head.place(number) < size:
        missing = head.place(number + 1) - size
        if missing > 0:
            raise ValueError(f"{missing} bytes are missing at the end of the file")
        (mark,) = struct.unpack(f"{head.order}i", take(stream, head.place(number), 4))
        if mark != (head.n_cell - 8 if head.n_cell else 4 * head.n_moving(number)):
            raise ValueError("it does not start as a DCD frame does")
        yield _Place(head.n_atoms)
        number += 1


@contextmanager
def open_dcd(file: Trajectory) -> Opened:
    """Open a DCD file for reading some of its frames by their numbers."""
    with Path(file.path).open("rb") as stream:
        head = _read_dcd_head(stream)

        def read(number: int) -> Frame:
            data = take(stream, head.place(number), head.length(number))
            cell = _record(data, 0, f"{head.order}f8", 6) if head.n_cell else np.zeros(6)
            count = head.n_moving(number)
            starts = [head.n_cell + axis * (8 + 4 * count) for axis in range(3)]
            axes = [_record(data, start, f"{head.order}f4", count) for start in starts]
            positions = np.stack(axes, axis=1).astype(np.float32)
            if count < head.n_atoms:
                moving, positions = positions, read(0).positions
                positions[head.free] = moving
            return Frame(positions, _dcd_box(cell.astype(np.float64)))

        yield read


def _read_dcd_head(stream: BinaryIO) -> _DcdHead:
    mark, name = struct.unpack("<i4s", take(stream, 0, 8))
    order = "<" if mark == 84 else ">"
    data = take(stream, 8, 80)
    control = struct.unpack(f"{order}20i", data)
    title = _dcd_title(stream, order)
    place = 100 + len(title)
    _, n_atoms, _ = struct.unpack(f"{order}3i", take(stream, place, 12))
    n_fixed, charmm, place, free = control[8], control[19] != 0, place + 12, None
    if name != b"CORD" or n_atoms < 1 or not 0 <= n_fixed < n_atoms:
        raise ValueError("it does not start as a DCD file does")
    if n_fixed:
        count = n_atoms - n_fixed
        free = _record(take(stream, place, 8 + 4 * count), 0, f"{order}i4", count).astype(int) - 1
        place += 8 + 4 * count
        if len(np.unique(free[(free >= 0) & (free < n_atoms)])) < count:
            raise ValueError("its list of free atoms is damaged")
    (delta,) = struct.unpack_from(f"{order}{'f' if charmm else 'd'}", data, 36)
    first, every = control[1], control[2]
    # VMD, mdtraj and ProDy write a step of 1 whatever it was, chemfiles 0, LAMMPS its own unit.
    known = every > 0 and np.isfinite(delta) and delta > 0 and delta != 1.0
    known = known and b"LAMMPS" not in title.upper() and (every == 1 or delta < _LONGEST_STEP)
    times = (first * delta * _AKMA, every * delta * _AKMA) if known else (np.nan, np.nan)
    axes = 4 if charmm and control[11] else 3
    cell = 56 if charmm and control[10] else 0
    return _DcdHead(order, n_atoms, place, free, cell, axes, control[0], times)


def _dcd_title(stream: BinaryIO, order: str) -> bytes:
    """Return the title, whose lines some programs count rightly, and its length wrongly."""
    length, lines = struct.unpack(f"{order}2i", take(stream, 92, 8))
    for count in (length, 4 + 80 * lines):
        if 0 <= count < 1_000_000:
            stream.seek(100 + count)
            after = stream.read(12)
            if len(after) == 12 and struct.unpack(f"{order}3i", after)[::2] == (4, 4):
                return take(stream, 96, count)
    raise ValueError("it does not start as a DCD file does")


def _record(data: bytes, start: int, kind: str, count: int) -> npt.NDArray[Any]:
    """Return the numbers of one record, which tells its length at both ends."""
    length = count * np.dtype(kind).itemsize
    marks = [int(np.frombuffer(data, kind[0] + "i4", 1, start + k)[0]) for k in (0, 4 + length)]
    if marks != [length, length]:
        raise ValueError(f"a record is of {marks[0]} bytes, and {length} are needed")
    return np.frombuffer(data, kind, count, start + 4)


def _dcd_box(cell: Floats) -> Floats | None:
    """Return box vectors of a cell: A γ B β α C with angles or cosines, or a symmetric matrix."""
    lengths, angles = cell[[0, 2, 5]], cell[[4, 3, 1]]
    cosines = bool((np.abs(angles) <= 1.0).all())
    if cosines:
        angles = 90.0 - np.degrees(np.arcsin(angles))  # exactly 90 for a cosine of 0
    box = cell_box(lengths, angles)
    if cosines or box is None or (np.isfinite(box).all() and (cell >= 0).all()):
        return box
    # CHARMM from version 36 on writes the root of a matrix of products, positive definite.
    matrix = cell[[[0, 1, 3], [1, 2, 4], [3, 4, 5]]]
    definite = np.isfinite(matrix).all() and np.linalg.eigvalsh(matrix)[0] > 0
    return matrix if definite else np.where(np.eye(3, dtype=np.bool_), lengths, np.nan)


# ---- NetCDF --------------------------------------------------------------------------------------


def index_netcdf(path: Path) -> Trajectory:
    """Find the frames of a NetCDF file of Amber."""
    with _opened_netcdf(path) as file:
        found = file.variables.get("coordinates")
        shape: tuple[int, ...] = () if found is None else found.shape
        del found
        if len(shape) != 3 or shape[2] != 3 or 0 in shape:
            raise ValueError("it has no 'coordinates' of frames × atoms × 3")
        times = np.full(shape[0], np.nan)
        time = file.variables.get("time")
        if time is not None and time.shape == shape[:1]:
            unit = _text(getattr(time, "units", "picosecond")).lower().removesuffix("s")
            times = np.array(time.data, np.float64) * _PICOSECONDS.get(unit, np.nan)
        note = _unannounced(file)
        del time
    return Trajectory(str(path.absolute()), shape[0], shape[1], times, note=note)


def _unannounced(file: Any) -> str:
    """Return a note where a file holds more records than its header announces."""
    arrays = [variable.data for variable in file.variables.values() if variable.isrec]
    if not arrays:
        return ""
    bounds = np.lib.array_utils.byte_bounds
    left = bounds(arrays[0].base)[1] - max(bounds(array)[1] for array in arrays)
    more = left // arrays[0].strides[0]
    return f"it holds {more} frames more than its header announces" if more else ""


@contextmanager
def open_netcdf(file: Trajectory) -> Opened:
    """Open a NetCDF file for reading some of its frames by their numbers."""
    with _opened_netcdf(Path(file.path)) as opened:

        def read(number: int) -> Frame:
            positions = _lengths(opened, "coordinates", number)
            kind = np.float64 if positions.dtype.itemsize > 4 else np.float32
            if "cell_lengths" not in opened.variables:
                return Frame(positions.astype(kind))
            lengths, angles = _lengths(opened, "cell_lengths", number), np.zeros(3)
            if "cell_angles" in opened.variables:
                angles = np.array(opened.variables["cell_angles"].data[number], np.float64)
            return Frame(positions.astype(kind), cell_box(lengths.astype(np.float64), angles))

        yield read


def _lengths(file: Any, name: str, number: int) -> npt.NDArray[Any]:
    """Return a copy of one value in Å; the file is mapped into memory."""
    variable = file.variables[name]
    unit = _text(getattr(variable, "units", "angstrom"))
    scale = angstroms(unit.removesuffix("s")) if unit else 1.0
    if scale is None:
        raise ValueError(f"its {name} are in {unit!r}, and angstrom or nanometer is needed")
    factor = scale * float(getattr(variable, "scale_factor", 1.0))
    return np.array(variable.data[number]) if factor == 1.0 else variable.data[number] * factor


@contextmanager
def _opened_netcdf(path: Path) -> Iterator[Any]:
    from scipy.io import netcdf_file

    with path.open("rb") as stream:
        if stream.read(4) not in {b"CDF\1", b"CDF\2"}:
            raise ValueError("it is no NetCDF 3 file: write one, as with trajout out.nc in cpptraj")
    try:
        file: Any = netcdf_file(str(path), "r", mmap=True)
    except Exception as error:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError(f"its records are damaged or cut off: {one_line(error)[:80]}") from None
    try:
        yield file
    finally:
        file.close()


# ---- H5MD ----------------------------------------------------------------------------------------


def index_h5md(path: Path) -> Trajectory:
    """Find the frames of an H5MD file."""
    with _opened_h5md(path) as group:
        element = group["position"]
        values = element["value"]
        n_frames, n_atoms, axes = map(int, values.shape)
        if not n_frames or not n_atoms or axes not in {2, 3}:
            raise ValueError(f"its positions have the shape {values.shape}")
        size = n_atoms * axes * values.dtype.itemsize
        if size * _SMALLEST > path.stat().st_size:
            raise ValueError(f"it announces {size:,} bytes a frame, more than it can hold")
        unit, times = _unit(values), np.full(n_frames, np.nan)
        if "time" in element:
            time = element["time"]
            each = (
                time[()]
                if time.shape
                else np.arange(n_frames) * time[()] + time.attrs.get("offset", 0.0)
            )
            times = np.asarray(each, np.float64) * _PICOSECONDS.get(_unit(time), np.nan)
        moving = "id" in group and hasattr(group["id"], "keys")
        ids = np.ravel(_element(group, "id", 0)).astype(np.int64) if moving else None
        return Trajectory(
            str(path.absolute()),
            n_frames,
            n_atoms,
            times,
            unit=unit if _angstrom(unit) is None else "Å",
            scale=_angstrom(unit) or 1.0,
            has_images="image" in group,
            ids=None if ids is None else np.sort(ids),
        )


@contextmanager
def open_h5md(file: Trajectory) -> Opened:
    """Open an H5MD file for reading some of its frames by their numbers."""
    with _opened_h5md(Path(file.path)) as group:
        values = group["position"]["value"]
        single = values.dtype == np.float32

        def read(number: int) -> Frame:
            axes = values.shape[2]
            positions, images = np.zeros((file.n_atoms, 3)), None
            positions[:, :axes] = values[number]
            positions *= file.scale
            if file.has_images:
                images = np.zeros((file.n_atoms, 3), np.int64)
                images[:, :axes] = _element(group, "image", number)
            ids = None if file.ids is None else np.ravel(_element(group, "id", number))
            positions = positions.astype(np.float32) if single else positions
            return Frame(positions, _h5md_box(group, number, axes, file.scale), images, ids)

        yield read


def _h5md_box(group: Any, number: int, axes: int, scale: float) -> Floats | None:
    if "edges" not in group.get("box", ()):
        return None
    edges = np.asarray(_element(group["box"], "edges", number), np.float64)
    box, boundary = np.zeros((3, 3)), group["box"].attrs.get("boundary", ["periodic"] * axes)
    periodic = [_text(kind).lower() == "periodic" for kind in np.ravel(boundary)]
    own = group["box"]["edges"]
    unit = _unit(own["value"] if hasattr(own, "keys") else own)
    if unit and _angstrom(unit) != _angstrom(_unit(group["position"]["value"])):
        raise ValueError(f"its box is in {unit}, and its positions are not")
    box[:axes, :axes] = scale * (np.diag(edges) if edges.ndim == 1 else edges)
    box[:axes][~np.array(periodic)] = 0.0
    return box


def _element(group: Any, name: str, number: int) -> npt.NDArray[Any]:
    """Return a value that is there once, or for each frame."""
    element = group[name]
    if not hasattr(element, "keys"):
        return np.asarray(element[()])
    values, positions = element["value"], group if "position" in group else group.parent
    if len(values) != len(positions["position"]["value"]):
        raise ValueError(f"it has {len(values)} values of {name}, not one for each frame")
    return np.asarray(values[number])


@contextmanager
def _opened_h5md(path: Path) -> Iterator[Any]:
    import h5py

    with h5py.File(path, "r") as file:
        if "h5md" not in file:
            raise ValueError("it has no group h5md: of MDTraj's files, pass what mdtraj.load gives")
        groups = {
            name: group
            for name, group in file.get("particles", {}).items()
            if "position" in group and "value" in group["position"]
        }
        names = [name for name in ("trajectory", "all", *groups) if name in groups]
        if not names or (len(groups) > 1 and names[0] not in {"trajectory", "all"}):
            raise ValueError(
                f"one group of particles with positions is needed, got {len(groups)}: write those "
                "that are compared as one group"
            )
        yield groups[names[0]]


def _unit(element: Any) -> str:
    return _text(element.attrs.get("unit", ""))


def _angstrom(unit: str) -> float | None:
    """Return the length of a unit in Å, None where none is known."""
    return 1e10 if unit == "m" else angstroms(unit) if unit else None


def _text(value: Any) -> str:
    return (value.decode("latin-1") if isinstance(value, bytes) else str(value)).strip()


# ---- GSD and arrays ------------------------------------------------------------------------------


def index_gsd(path: Path) -> Trajectory:
    """Find the frames of a GSD file of HOOMD-blue."""
    import gsd.fl

    with gsd.fl.open(str(path), "r") as file:
        n_frames, n_atoms = int(file.nframes), int(_chunk(file, 0, "particles/N", [0])[0])
        if file.schema != "hoomd" or not n_frames or not n_atoms:
            raise ValueError("it holds no particles of HOOMD")
        if 12 * n_atoms > path.stat().st_size:
            raise ValueError(f"it announces {n_atoms:,} particles, more than it can hold")
        names = _chunk(file, 0, "particles/types", [[ord("A"), 0]])
        kinds = [
            bytes(row).rstrip(b"\0").decode("utf-8", "replace") for row in names.astype(np.int8)
        ]
        numbers = _chunk(file, 0, "particles/typeid", np.zeros(n_atoms))
        if numbers.shape != (n_atoms,) or numbers.max() >= len(kinds):
            raise ValueError("it does not tell the types of all particles")
        return Trajectory(
            str(path.absolute()),
            n_frames,
            n_atoms,
            np.full(n_frames, np.nan),
            unit="",
            has_images=bool(file.find_matching_chunk_names("particles/image")),
            names=np.array(kinds)[numbers.astype(np.int64)],
        )


@contextmanager
def open_gsd(file: Trajectory) -> Opened:
    """Open a GSD file for reading some of its frames by their numbers."""
    import gsd.fl

    with gsd.fl.open(file.path, "r") as opened:

        def vectors(number: int, name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
            found = _chunk(opened, number, name, np.zeros((file.n_atoms, 3), kind))
            if found.shape != (file.n_atoms, 3):
                raise ValueError(f"it has {len(found)} {name}, not {file.n_atoms}")
            return found

        def read(number: int) -> Frame:
            x, y, z, xy, xz, yz = _chunk(opened, number, "configuration/box", np.ones(6)).tolist()
            box = np.array([[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]])
            if int(_chunk(opened, number, "configuration/dimensions", [3])[0]) == 2:
                box[2] = 0.0
            images = None
            if file.has_images:
                images = vectors(number, "particles/image", np.int32).astype(np.int64)
            return Frame(vectors(number, "particles/position", np.float32), box, images)

        yield read


def _chunk(file: Any, number: int, name: str, default: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return what is written of a frame, or of the first one, or a default."""
    for place in (number, 0):
        if file.chunk_exists(place, name):
            return np.atleast_1d(file.read_chunk(place, name))
    return np.asarray(default)


def index_npy(path: Path) -> Trajectory:
    """Find the snapshots of an array."""
    n_frames, n_atoms, n_dimensions = open_npy(path).shape
    times = np.full(n_frames, np.nan)
    return Trajectory(
        str(path.absolute()), n_frames, n_atoms, times, unit="", n_dimensions=n_dimensions
    )


@contextmanager
def open_npy_file(file: Trajectory) -> Opened:
    """Map an array into memory for reading some of its snapshots by their numbers."""
    array = open_npy(file.path)
    kind = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    yield lambda number: Frame(np.array(array[number], kind))
