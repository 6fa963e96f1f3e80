"""XTC and TRR files of GROMACS, refused where what they hold cannot be what they announce.

MDAnalysis and others believe every number of an XTC frame, so that a damaged one makes them write
beyond their memory. Single flipped bits mostly pass, here as there: the format has no checksum.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme._arrays import Coordinates, Floats
from timme._kernels.xtc import unpack_frame
from timme.ensemble.frames import Frame
from timme.io.files import FrameHead, Trajectory, index_frames, take

_XTC, _LARGE_XTC, _TRR = 1995, 2023, 1993  # numbers with which frames begin
_FEW = 9  # atoms at most, which are not compressed
_PLAIN = 0xFFFFFF  # a range of coordinates beyond which each axis has bits of its own
_NM = 10.0  # Å
_SPARE = 8  # bytes after the last bit, of writers that fill up


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
