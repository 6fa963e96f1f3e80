"""XTC, TRR, DCD, NetCDF, H5MD and GSD files and arrays: frames of binary formats.

Files are refused where they cannot hold what they announce. MDAnalysis and others believe every
number of an XTC frame, so that a damaged one makes them write beyond their memory. Single flipped
bits mostly pass, here as there: the format has no checksum.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats
from timme._kernels.xtc import unpack_frame
from timme.ensemble import Ensemble
from timme.ensemble.atoms import angstroms
from timme.ensemble.frames import Frame
from timme.io.files import FrameHead, Trajectory, cell_box, index_frames, open_npy, take

_XTC, _LARGE_XTC, _TRR = 1995, 2023, 1993  # numbers with which frames begin
_FEW = 9  # atoms at most, which are not compressed
_PLAIN = 0xFFFFFF  # a range of coordinates beyond which each axis has bits of its own
_NM = 10.0  # Å
_SPARE = 8  # bytes after the last bit, of writers that fill up
_AKMA = 0.04888821  # ps, the unit of time of CHARMM
_LONGEST_STEP = 0.98  # AKMA, of integrators; other programs write 1, 0, or units of their own
_PICOSECONDS = {"ps": 1.0, "picosecond": 1.0, "ns": 1e3, "nanosecond": 1e3, "fs": 1e-3}
_GROUPS = ("bonds", "angles", "dihedrals", "impropers", "constraints", "pairs")  # of GSD files
_SMALLEST = 1e-3  # bytes of a compressed file for each byte of positions

Array = npt.NDArray[Any]


class _Head(NamedTuple):
    """What a frame tells before its coordinates."""

    n_atoms: int
    time: float
    box: Floats  # (9,)
    start: int  # of the coordinates
    n_bytes: int  # of these, 0 for none
    stop: int  # of the frame
    real: str = ">f4"  # type of coordinates that are not compressed
    packing: tuple[float, ...] = ()  # precision, least and greatest coordinates, size of steps


ReadHead = Callable[[BinaryIO, int], _Head]


# ---- XTC and TRR ---------------------------------------------------------------------------------


def index_xdr(read_head: ReadHead, path: Path) -> Trajectory:
    """Find the whole frames of a file, without those that hold no positions."""
    with path.open("rb") as stream:
        found = index_frames(_walk(read_head, stream, path.stat().st_size))
        packing = read_head(stream, 0).packing
    return replace(found, rounding=round(_NM / packing[0], 9) if packing else 0.0)


def read_xdr(read_head: ReadHead, stream: BinaryIO, file: Trajectory, number: int) -> Frame:
    """Return one frame of a file."""
    head = read_head(stream, 0 if file.offsets is None else int(file.offsets[number]))
    data, box = take(stream, head.start, head.n_bytes), _NM * head.box.reshape(3, 3)
    if head.packing:
        return Frame(_unpack(head, data), box)
    plain = np.frombuffer(data, head.real).astype(head.real[1:])  # in the order of this machine
    return Frame(_NM * plain.reshape(-1, 3), box)


def _walk(read_head: ReadHead, stream: BinaryIO, size: int) -> Iterator[FrameHead]:
    start = 0
    while start < size:
        head = read_head(stream, start)
        if head.stop > size:
            raise ValueError(f"{head.stop - size} bytes are missing at the end of the file")
        if head.n_bytes:
            yield FrameHead(start, head.n_atoms, head.time)
        start = head.stop


def read_xtc_head(stream: BinaryIO, offset: int) -> _Head:
    """Read what a frame of an XTC file tells before its coordinates."""
    magic, n_atoms, _, time, *box, again = struct.unpack(">3i10fi", take(stream, offset, 56))
    if magic not in {_XTC, _LARGE_XTC} or again != n_atoms or n_atoms < 1:
        raise ValueError("it does not start as an XTC frame does")
    start, vectors = offset + 56, np.array(box)
    if n_atoms <= _FEW:
        stop = start + 12 * n_atoms
        return _Head(n_atoms, time, vectors, start, 12 * n_atoms, stop)
    form = ">f7iq" if magic == _LARGE_XTC else ">f7ii"
    *packing, count = struct.unpack(form, take(stream, start, struct.calcsize(form)))
    bounded = all(a <= b for a, b in zip(packing[1:4], packing[4:7], strict=True))
    # An atom takes at least a mark, and each of its coordinates at most 32 bits.
    if not (0 < packing[0] < np.inf and bounded and n_atoms <= 8 * count <= 8 * 13 * n_atoms):
        raise ValueError("its precision, its limits or its size are impossible")
    start += struct.calcsize(form)
    stop = start + (count + 3) // 4 * 4
    return _Head(n_atoms, time, vectors, start, count, stop, packing=tuple(packing))


def read_trr_head(stream: BinaryIO, offset: int) -> _Head:
    """Read what a frame of a TRR file tells before its coordinates."""
    magic, _, length = struct.unpack(">3i", take(stream, offset, 12))
    if magic != _TRR or not 0 <= length < 256:
        raise ValueError("it does not start as a TRR frame does")
    start = offset + 12 + (length + 3) // 4 * 4
    *sizes, n_atoms, _, _ = struct.unpack(">13i", take(stream, start, 52))
    vectors, n_box = sizes[7:], sizes[2]
    size = n_box // 9 if n_box else max(vectors) // (3 * max(1, n_atoms))
    whole = {0, 3 * n_atoms * size}.issuperset(vectors) and n_box in {0, 9 * size}
    if n_atoms < 1 or min(sizes) < 0 or size not in {4, 8} or not whole:
        raise ValueError("its parts are not of the size that its atoms take")
    start, kind = start + 52 + 2 * size + sum(sizes[:2]), f">f{size}"
    (time,) = np.frombuffer(take(stream, start - sum(sizes[:2]) - 2 * size, size), kind)
    box = np.frombuffer(take(stream, start, n_box) or bytes(9 * size), kind).astype(np.float64)
    start += sum(sizes[2:7])
    return _Head(n_atoms, float(time), box, start, sizes[7], start + sum(vectors), kind)


def _unpack(head: _Head, data: bytes) -> Coordinates:
    """Return compressed coordinates in Å, in single precision to the bits of other readers."""
    precision, small = head.packing[0], int(head.packing[7])
    least, most = np.array(head.packing[1:7], np.int64).reshape(2, 3)
    # Whole words, and two more that are looked at beyond the last bit.
    words = np.frombuffer(data + bytes(16 + -len(data) % 8), ">u8").astype(np.uint64)
    positions = np.empty((head.n_atoms, 3), np.float32)
    scales = np.array([1 / precision, _NM], np.float32)
    sizes = most - least + 1
    each = [min(size.bit_length(), 32) for size in sizes.tolist()]
    together = 0 if max(sizes) > _PLAIN else math.prod(sizes.tolist()).bit_length()
    bits, lowest, highest = unpack_frame(
        *(words, 8 * len(data), least, sizes, np.array([together, *each]), small),
        *(scales, positions),
    )
    spare = len(data) - -(-bits // 8)
    if bits < 0 or not 0 <= spare <= _SPARE or (lowest != least).any() or (highest != most).any():
        raise ValueError("its compressed coordinates are damaged")
    return positions


# ---- DCD -----------------------------------------------------------------------------------------


def index_dcd(path: Path) -> Trajectory:
    """Find the whole frames of a DCD file of CHARMM, NAMD and others."""
    with open_dcd(path) as file:
        head, n_frames, sizes = file.header, file.n_frames, (file._firstframesize, file._framesize)  # noqa: SLF001
        spare = path.stat().st_size - file._header_size - sizes[0] - (n_frames - 1) * sizes[1]  # noqa: SLF001
    if n_frames < 1 or head["natoms"] < 1:
        raise ValueError("it holds no whole frame")
    # VMD, mdtraj and ProDy write a step of 1 whatever it was, LAMMPS one in its own unit.
    every, delta = head["nsavc"], head["delta"]
    known = every > 0 and 0 < delta < np.inf and delta != 1.0 and "LAMMPS" not in head["remarks"]
    known = known and (every == 1 or delta < _LONGEST_STEP)
    steps = head["istart"] + every * np.arange(n_frames)
    times = steps * (delta * _AKMA if known else np.nan)
    damage = f"frame {n_frames + 1}: {sizes[1] - spare} bytes are missing" if spare else ""
    return Trajectory(n_frames, head["natoms"], times, damage=damage)


@contextmanager
def open_dcd(path: str | Path) -> Iterator[Any]:
    """Open a DCD file; atoms that never move are in its first frame only, which is read first."""
    from MDAnalysis.lib.formats.libdcd import DCDFile

    with DCDFile(str(path)) as file:
        if file._framesize != file._firstframesize:  # noqa: SLF001
            file.read()
        yield file


def read_dcd(file: Any, _: Trajectory, number: int) -> Frame:
    """Return one frame of a DCD file."""
    file.seek(number)
    frame = file.read()
    return Frame(np.array(frame.xyz), _dcd_box(frame.unitcell))


def _dcd_box(cell: Floats) -> Floats:
    """Return box vectors of a cell: A γ B β α C with angles or cosines, or a symmetric matrix."""
    lengths, angles = cell[[0, 2, 5]], cell[[4, 3, 1]]
    cosines = bool((np.abs(angles) <= 1.0).all())
    if cosines:
        angles = 90.0 - np.degrees(np.arcsin(angles))  # exactly 90 for a cosine of 0
    box = cell_box(lengths, angles)
    if cosines or (np.isfinite(box).all() and (cell >= 0).all()):
        return box
    # CHARMM from version 36 on writes the root of a matrix of products, positive definite.
    matrix: Floats = cell[[[0, 1, 3], [1, 2, 4], [3, 4, 5]]]
    definite = np.isfinite(matrix).all() and np.linalg.eigvalsh(matrix)[0] > 0
    return matrix if definite else cell_box(lengths, np.full(3, np.nan))


# ---- NetCDF --------------------------------------------------------------------------------------


def index_netcdf(path: Path) -> Trajectory:
    """Find the frames of a NetCDF file of Amber, whose units are Å and ps."""
    with open_netcdf(path) as file:
        return _index_netcdf(file, path.stat().st_size)


def _index_netcdf(file: Any, size: int) -> Trajectory:
    """Return the index; nothing refers to the file when it is closed."""
    own, time = file.variables.get("coordinates"), file.variables.get("time")
    if b"AMBER" not in getattr(file, "Conventions", b"") or own is None or not own.shape[0]:
        raise ValueError("it has no coordinates as Amber writes them")
    ends = [np.lib.array_utils.byte_bounds(each.data)[1] for each in file.variables.values()]
    if size - (max(ends) - file._mm_buf.ctypes.data) >= own.data.strides[0]:  # noqa: SLF001
        raise ValueError("it holds more frames than its header announces")
    n_frames, n_atoms, _ = own.shape
    times = np.full(n_frames, np.nan) if time is None else np.array(time[:], np.float64)
    return Trajectory(n_frames, n_atoms, times)


def read_netcdf(file: Any, found: Trajectory, number: int) -> Frame:
    """Return one frame of a NetCDF file, which is mapped into memory."""
    positions, cell = file.variables["coordinates"][number], np.zeros((2, 3))
    for row, name in enumerate(("cell_lengths", "cell_angles")):
        if name in file.variables:
            cell[row] = file.variables[name][number]
    kind = np.float64 if positions.dtype.itemsize > 4 else np.float32
    return Frame(positions.astype(kind).reshape(found.n_atoms, 3), cell_box(cell[0], cell[1]))


def open_netcdf(path: str | Path) -> Any:
    """Open a NetCDF 3 file."""
    from scipy.io import netcdf_file

    return closing(netcdf_file(str(path), "r", mmap=True, maskandscale=True))


# ---- H5MD ----------------------------------------------------------------------------------------


def index_h5md(path: Path) -> Trajectory:
    """Find the frames of an H5MD file."""
    with open_h5(path) as file:
        group = _particles(file)
        values, time = group["position"]["value"], group["position"].get("time")
        shape, unit = values.shape, _text(values.attrs.get("unit", ""))
        size = math.prod(shape) * values.dtype.itemsize
        if not all(shape) or len(shape) != 3 or size * _SMALLEST > path.stat().st_size:
            raise ValueError(f"it announces positions of the shape {shape}, which it cannot hold")
        times = np.full(shape[0], np.nan)
        if time is not None:
            spaced = time.attrs.get("offset", 0.0) + time[()] * np.arange(shape[0])
            picoseconds = _PICOSECONDS.get(_text(time.attrs.get("unit", "")), np.nan)
            times = np.asarray(time[()] if time.shape else spaced, np.float64) * picoseconds
        ids, flagged = None, "image" in group
        if hasattr(group.get("id"), "keys"):
            ids = np.sort(_element(group, "id", 0).ravel()).astype(np.int64)
    unit = "Å" if unit and angstroms(unit) else unit
    return Trajectory(shape[0], shape[1], times, unit=unit, ids=ids, has_images=flagged)


def read_h5md(file: Any, found: Trajectory, number: int) -> Frame:
    """Return one frame of an H5MD file."""
    group = _particles(file)
    values, images, ids = group["position"]["value"], None, None
    positions, box = np.zeros((found.n_atoms, 3)), np.zeros((3, 3))
    axes, scale = slice(values.shape[2]), angstroms(_text(values.attrs.get("unit", ""))) or 1.0
    positions[:, axes] = scale * values[number].astype(np.float64)
    if found.has_images:
        images = np.zeros((found.n_atoms, 3), np.int64)
        images[:, axes] = _element(group, "image", number)
    if found.ids is not None:
        ids = _element(group, "id", number).ravel().astype(np.int64)
    if "edges" in group.get("box", ()):
        edges, stated = _element(group["box"], "edges", number), group["box"].attrs.get("boundary")
        boundary = ["periodic"] * values.shape[2] if stated is None else np.ravel(stated)
        periodic = np.array([_text(each).lower() == "periodic" for each in boundary])
        box[axes, axes] = np.diag(edges) if edges.ndim == 1 else edges
        box[axes] *= scale * periodic[:, None]
    kind = np.float32 if values.dtype == np.float32 else np.float64
    return Frame(positions.astype(kind), box, images, ids)


def _element(group: Any, name: str, number: int) -> Array:
    """Return a value that is there once, or for each frame; both in the unit of the positions."""
    element, own = group[name], _particles(group.file)["position"]["value"]
    each = hasattr(element, "keys")
    values = element["value"] if each else element
    if "unit" in values.attrs and _text(values.attrs["unit"]) != _text(own.attrs.get("unit", "")):
        raise ValueError(f"its {name} are in another unit than its positions: convert them")
    if each and len(values) != len(own):
        raise ValueError(f"it has {len(values)} values of {name}, not one for each frame")
    return np.asarray(values[number] if each else values[()])


def open_h5(path: str | Path) -> Any:
    """Open an HDF5 file."""
    import h5py

    return h5py.File(path, "r")


def _particles(file: Any) -> Any:
    """Return the group of all particles."""
    if "h5md" not in file:
        raise ValueError("it has no group h5md: of MDTraj's files, pass what mdtraj.load gives")
    groups = [name for name, group in file["particles"].items() if "position" in group]
    usual = [name for name in ("trajectory", "all") if name in groups] or groups
    if not usual or (usual == groups and len(groups) > 1):
        raise ValueError(f"one group of particles is needed, got {len(groups)}: write them as one")
    return file["particles"][usual[0]]


def _text(value: Any) -> str:
    return (value.decode("latin-1") if isinstance(value, bytes) else str(value)).strip()


# ---- GSD and arrays ------------------------------------------------------------------------------


def index_gsd(path: Path) -> Trajectory:
    """Find the frames of a GSD file of HOOMD-blue."""
    with open_gsd(path) as file:
        with path.open("rb") as stream:  # the library stops at the first empty entry of the index
            _, start, n_entries = struct.unpack("<3Q", take(stream, 0, 24))
            index = np.frombuffer(take(stream, start, 32 * n_entries), "<u8").reshape(-1, 4)
        # Of each entry: its frame, its rows, where they begin, and their columns.
        frames, n_frames = index[index[:, 2] > 0, 0], int(file.nframes)
        least = index[:, 1] * (index[:, 3] & 0xFFFFFFFF).astype(np.float64)  # bytes
        fits = (least <= path.stat().st_size).all() and index[: len(frames), 2].all()
        if not n_frames or not fits or frames.max() + 1 != n_frames:
            raise ValueError("its index is damaged")
        n_atoms = int(_chunk(file, 0, "particles/N", [0])[0])
        n_groups = [int(_chunk(file, 0, f"{name}/N", [0])[0]) for name in _GROUPS]
        if n_atoms < 1 or max(12 * n_atoms, *n_groups) > path.stat().st_size:
            most = max(n_atoms, *n_groups)
            raise ValueError(f"it announces {most:,} particles or bonds, which it cannot hold")
        letters = _chunk(file, 0, "particles/types", [[ord("A")]]).astype(np.int8)
        types = np.array([bytes(row).rstrip(b"\0").decode("latin-1") for row in letters])
        kinds = _chunk(file, 0, "particles/typeid", np.zeros(n_atoms)).astype(np.int64)
        if kinds.shape != (n_atoms,):
            raise ValueError("it does not tell the types of all particles")
        flagged = bool(file.find_matching_chunk_names("particles/image"))
    times = np.full(n_frames, np.nan)
    return Trajectory(n_frames, n_atoms, times, unit="", has_images=flagged, names=types[kinds])


def read_gsd(file: Any, found: Trajectory, number: int) -> Frame:
    """Return one frame of a GSD file."""
    none = np.zeros((found.n_atoms, 3), np.float32)
    positions = _chunk(file, number, "particles/position", none)
    images = _chunk(file, number, "particles/image", none).astype(np.int64)
    if positions.shape != none.shape or images.shape != none.shape:
        raise ValueError(f"it has not {found.n_atoms:,} particles, as the first frame")
    x, y, z, xy, xz, yz = _chunk(file, number, "configuration/box", np.ones(6)).tolist()
    box = np.array([[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]])
    if int(_chunk(file, number, "configuration/dimensions", [3])[0]) == 2:
        box[2] = 0.0
    return Frame(positions, box, images if found.has_images else None)


def open_gsd(path: str | Path) -> Any:
    """Open a GSD file."""
    import gsd.fl

    return gsd.fl.open(str(path), "r", schema="hoomd")


def _chunk(file: Any, number: int, name: str, default: npt.ArrayLike) -> Array:
    """Return what is written of a frame, or of the first one, or a default."""
    for place in (number, 0):
        if file.chunk_exists(place, name):
            return np.atleast_1d(file.read_chunk(place, name))
    return np.asarray(default)


def index_npy(path: Path) -> Trajectory:
    """Find the snapshots of an array."""
    n_frames, n_atoms, axes = Ensemble.from_array(open_npy(path)).frames.shape  # checked
    times = np.full(n_frames, np.nan)
    return Trajectory(n_frames, n_atoms, times, unit="", n_dimensions=axes)


def read_npy(array: Array, _: Trajectory, number: int) -> Frame:
    """Return one snapshot of an array."""
    kind = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return Frame(np.array(array[number], kind))
