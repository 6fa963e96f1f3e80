"""DCD, NetCDF, H5MD and GSD files and arrays: frames of binary formats."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats
from timme.ensemble.atoms import angstroms
from timme.ensemble.frames import Frame
from timme.io.files import Trajectory, cell_box, open_npy, take

_AKMA = 0.04888821  # ps, the unit of time of CHARMM
_LONGEST_STEP = 0.98  # AKMA, of integrators; other programs write 1, 0, or units of their own
_PICOSECONDS = {"ps": 1.0, "picosecond": 1.0, "ns": 1e3, "nanosecond": 1e3, "fs": 1e-3}
_SMALLEST = 1e-3  # bytes of a compressed file for each byte of a frame

Array = npt.NDArray[Any]


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


def read_dcd(file: Any, found: Trajectory, number: int) -> Frame:
    """Return one frame of a DCD file."""
    del found
    file.seek(number)
    frame = file.read()
    return Frame(frame.xyz, _dcd_box(frame.unitcell))


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


@contextmanager
def open_netcdf(path: str | Path) -> Iterator[Any]:
    """Open a NetCDF 3 file."""
    from scipy.io import netcdf_file

    try:
        file: Any = netcdf_file(str(path), "r", mmap=True, maskandscale=True)
    except Exception:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError("it is cut off, or no NetCDF 3 file as cpptraj writes") from None
    with closing(file):
        yield file


# ---- H5MD ----------------------------------------------------------------------------------------


def index_h5md(path: Path) -> Trajectory:
    """Find the frames of an H5MD file."""
    with open_h5(path) as file:
        group = _particles(file)
        values, time = group["position"]["value"], group["position"].get("time")
        shape, unit = values.shape, _text(values.attrs.get("unit", ""))
        size = int(np.prod(shape[1:])) * values.dtype.itemsize
        if not all(shape) or len(shape) != 3 or size * _SMALLEST > path.stat().st_size:
            raise ValueError(f"it announces positions of the shape {shape}, which it cannot hold")
        times = np.full(shape[0], np.nan)
        if time is not None:
            spaced = time.attrs.get("offset", 0.0) + time[()] * np.arange(shape[0])
            picoseconds = _PICOSECONDS.get(_text(time.attrs.get("unit", "")), np.nan)
            times = np.asarray(time[()] if time.shape else spaced, np.float64) * picoseconds
        scale, ids, flagged = angstroms(unit) if unit else None, None, "image" in group
        if hasattr(group.get("id"), "keys"):
            ids = np.sort(_element(group, "id", 0).ravel()).astype(np.int64)
    found = Trajectory(shape[0], shape[1], times, ids=ids, has_images=flagged)
    return replace(found, unit="Å" if scale else unit, scale=scale or 1.0)


def read_h5md(file: Any, found: Trajectory, number: int) -> Frame:
    """Return one frame of an H5MD file."""
    group = _particles(file)
    values, images, ids = group["position"]["value"], None, None
    positions, box = np.zeros((found.n_atoms, 3)), np.zeros((3, 3))
    axes = slice(values.shape[2])
    positions[:, axes] = found.scale * values[number].astype(np.float64)
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
        box[axes] *= found.scale * periodic[:, None]
    kind = np.float32 if values.dtype == np.float32 else np.float64
    return Frame(positions.astype(kind), box, images, ids)


def _element(group: Any, name: str, number: int) -> Array:
    """Return a value that is there once, or for each frame; both in the unit of the positions."""
    element, positions = group[name], (group if "position" in group else group.parent)["position"]
    each = hasattr(element, "keys")
    values, own = (element["value"] if each else element), positions["value"]
    if "unit" in values.attrs and _text(values.attrs["unit"]) != _text(own.attrs.get("unit", "")):
        raise ValueError(f"its {name} are in another unit than its positions: convert them")
    if each and len(values) != len(own):
        raise ValueError(f"it has {len(values)} values of {name}, not one for each frame")
    return np.asarray(values[number] if each else values[()])


def open_h5(path: str | Path) -> AbstractContextManager[Any]:
    """Open an HDF5 file."""
    import h5py

    file: AbstractContextManager[Any] = h5py.File(path, "r")
    return file


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
        n_frames, n_atoms = int(file.nframes), int(_chunk(file, 0, "particles/N", [0])[0])
        if not n_frames or not 0 < 12 * n_atoms <= path.stat().st_size:
            raise ValueError(f"it announces {n_atoms:,} particles, which it cannot hold")
        with path.open("rb") as stream:  # the library stops at the first empty entry of the index
            _, start, n_entries = struct.unpack("<3Q", take(stream, 0, 24))
            index = np.frombuffer(take(stream, start, 32 * n_entries), "<u8").reshape(-1, 4)
        frames = index[index[:, 2] > 0, 0]
        if not index[: len(frames), 2].all() or frames.max() + 1 != n_frames:
            raise ValueError("its index is damaged")
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


def open_gsd(path: str | Path) -> AbstractContextManager[Any]:
    """Open a GSD file."""
    import gsd.fl

    file: AbstractContextManager[Any] = gsd.fl.open(str(path), "r", schema="hoomd")
    return file


def _chunk(file: Any, number: int, name: str, default: npt.ArrayLike) -> Array:
    """Return what is written of a frame, or of the first one, or a default."""
    for place in (number, 0):
        if file.chunk_exists(place, name):
            return np.atleast_1d(file.read_chunk(place, name))
    return np.asarray(default)


def index_npy(path: Path) -> Trajectory:
    """Find the snapshots of an array."""
    n_frames, n_atoms, axes = open_npy(path).shape
    times = np.full(n_frames, np.nan)
    return Trajectory(n_frames, n_atoms, times, unit="", n_dimensions=axes)


def read_npy(array: Array, file: Trajectory, number: int) -> Frame:
    """Return one snapshot of an array."""
    del file
    kind = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return Frame(np.array(array[number], kind))
