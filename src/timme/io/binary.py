"""XTC, TRR and DCD files and arrays, refused where they cannot hold what they announce.

MDAnalysis and others believe every number of an XTC frame, so that a damaged one makes them write
beyond their memory. Single flipped bits mostly pass, here as there: the format has no checksum.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats
from timme._kernels.xtc import unpack_frame
from timme.ensemble.frames import Frame
from timme.io.files import FrameHead, Trajectory, cell_box, index_frames, open_npy, take

_XTC, _LARGE_XTC, _TRR = 1995, 2023, 1993  # numbers with which frames begin
_FEW = 9  # atoms at most, which are not compressed
_PLAIN = 0xFFFFFF  # a range of coordinates beyond which each axis has bits of its own
_NM = 10.0  # Å
_SPARE = 8  # bytes after the last bit, of writers that fill up
_AKMA = 0.04888821  # ps, the unit of time of CHARMM
_LONGEST_STEP = 0.98  # AKMA, of integrators; other programs write 1, 0, or units of their own


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
    real = np.dtype(head.real).newbyteorder("=").type
    return Frame(np.frombuffer(data, head.real).astype(real).reshape(-1, 3) * real(_NM), box)


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


# ---- arrays --------------------------------------------------------------------------------------


def index_npy(path: Path) -> Trajectory:
    """Find the snapshots of an array."""
    n_frames, n_atoms, axes = open_npy(path).shape
    times = np.full(n_frames, np.nan)
    return Trajectory(n_frames, n_atoms, times, unit="", n_dimensions=axes)


def read_npy(array: npt.NDArray[Any], file: Trajectory, number: int) -> Frame:
    """Return one snapshot of an array."""
    del file
    kind = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return Frame(np.array(array[number], kind))
