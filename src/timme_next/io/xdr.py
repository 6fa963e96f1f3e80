"""XTC and TRR files of GROMACS, refused where what they hold cannot be what they announce.

MDAnalysis and others believe every number of an XTC frame, so that a damaged one makes them write
beyond their memory. Single flipped bits mostly pass, here as there: the format has no checksum.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme_next._arrays import Coordinates, Floats
from timme_next._kernels.xtc import unpack_frame
from timme_next.ensemble.frames import Frame
from timme_next.io.files import Trajectory, take, whole_frames

_XTC, _LARGE_XTC, _TRR = 1995, 2023, 1993  # numbers with which frames begin
_FEW = 9  # atoms at most, which are not compressed
_NM = 10.0  # Å
_SPARE = 8  # bytes after the last bit, of writers that fill up


class _Head(NamedTuple):
    """What a frame tells before its coordinates."""

    offset: int
    n_atoms: int
    time: float
    box: Floats  # (9,)
    start: int  # of the coordinates
    n_bytes: int  # of these
    stop: int  # of the frame
    real: str = ">f4"  # type of coordinates that are not compressed
    packing: tuple[float, ...] = ()  # precision, least and greatest coordinates, size of steps


ReadHead = Callable[[BinaryIO, int], _Head]


def index_xdr(read_head: ReadHead, path: Path) -> Trajectory:
    """Find the whole frames of a file."""
    with path.open("rb") as stream:
        every, damage = whole_frames(_heads(read_head, stream, path.stat().st_size))
    heads = [head for head in every if head.n_bytes]
    if not heads:
        raise ValueError("its frames hold no positions")
    note = f"{len(every) - len(heads)} of {len(every)} frames hold no positions and are left out"
    packing = heads[-1].packing
    return Trajectory(
        str(path.absolute()),
        len(heads),
        heads[0].n_atoms,
        np.array([head.time for head in heads]),
        np.array([head.offset for head in heads]),
        rounding=round(_NM / packing[0], 9) if packing else 0.0,
        damage=damage,
        note=note if len(heads) < len(every) else "",
    )


@contextmanager
def open_xdr(read_head: ReadHead, file: Trajectory) -> Iterator[Callable[[int], Frame]]:
    """Open a file for reading some of its frames by their numbers."""
    offsets = np.zeros(0, np.int64) if file.offsets is None else file.offsets
    with Path(file.path).open("rb") as stream:

        def read(number: int) -> Frame:
            head = read_head(stream, int(offsets[number]))
            data, box = take(stream, head.start, head.n_bytes), _NM * head.box.reshape(3, 3)
            if head.packing:
                return Frame(_unpack(head, data), box)
            real = np.dtype(head.real).newbyteorder("=").type
            positions = np.frombuffer(data, head.real).astype(real).reshape(-1, 3) * real(_NM)
            return Frame(positions, box)

        yield read


def _heads(read_head: ReadHead, stream: BinaryIO, size: int) -> Iterator[_Head]:
    start = 0
    while start < size:
        head = read_head(stream, start)
        if head.stop > size:
            raise ValueError(f"{head.stop - size} bytes are missing at the end of the file")
        yield head
        start = head.stop


def read_xtc_head(stream: BinaryIO, offset: int) -> _Head:
    """Read what a frame of an XTC file tells before its coordinates."""
    magic, n_atoms, _, time, *box, again = struct.unpack(">3i10fi", take(stream, offset, 56))
    if magic not in {_XTC, _LARGE_XTC} or again != n_atoms or n_atoms < 1:
        raise ValueError("it does not start as an XTC frame does")
    start, vectors = offset + 56, np.array(box)
    if n_atoms <= _FEW:
        stop = start + 12 * n_atoms
        return _Head(offset, n_atoms, time, vectors, start, 12 * n_atoms, stop)
    form = ">f7iq" if magic == _LARGE_XTC else ">f7ii"
    *packing, count = struct.unpack(form, take(stream, start, struct.calcsize(form)))
    limits = zip(packing[1:4], packing[4:7], strict=True)
    # A coordinate of an atom takes at most 32 bits and a mark.
    if (
        not 0 < packing[0] < np.inf
        or any(a > b for a, b in limits)
        or not 0 < count <= 13 * n_atoms
    ):
        raise ValueError("its precision, its limits or its size are impossible")
    start += struct.calcsize(form)
    stop = start + (count + 3) // 4 * 4
    return _Head(offset, n_atoms, time, vectors, start, count, stop, packing=tuple(packing))


def read_trr_head(stream: BinaryIO, offset: int) -> _Head:
    """Read what a frame of a TRR file tells before its coordinates."""
    magic, _, length = struct.unpack(">3i", take(stream, offset, 12))
    if magic != _TRR or not 0 <= length < 256:
        raise ValueError("it does not start as a TRR frame does")
    start = offset + 12 + (length + 3) // 4 * 4
    *sizes, n_atoms, _, _ = struct.unpack(">13i", take(stream, start, 52))
    vectors, box = sizes[7:10], sizes[2]
    real = box // 9 if box else max(vectors) // (3 * max(1, n_atoms))
    each = [0, 3 * n_atoms * real]
    known = all(size in each for size in vectors) and all(s in {0, 9 * real} for s in sizes[2:5])
    if n_atoms < 1 or min(sizes) < 0 or real not in {4, 8} or not known:
        raise ValueError("its parts are not of the size that its atoms take")
    start += 52
    kind = f">f{real}"
    time, _ = np.frombuffer(take(stream, start, 2 * real), kind).tolist()
    start += 2 * real + sum(sizes[:2])
    vectors9 = np.frombuffer(take(stream, start, box), kind) if box else np.zeros(9)
    start += sum(sizes[2:7])
    stop = start + sum(vectors)
    return _Head(offset, n_atoms, time, vectors9.astype(np.float64), start, sizes[7], stop, kind)


def _unpack(head: _Head, data: bytes) -> Coordinates:
    """Return compressed coordinates in Å, in single precision to the bits of other readers."""
    precision, small = head.packing[0], int(head.packing[7])
    least, most = np.array(head.packing[1:7], np.int64).reshape(2, 3)
    # Whole words, and two more that are looked at beyond the last bit.
    words = np.frombuffer(data + bytes(16 + -len(data) % 8), ">u8").astype(np.uint64)
    positions = np.empty((head.n_atoms, 3), np.float32)
    scales = np.array([1 / precision, _NM], np.float32)
    bits, lowest, highest = unpack_frame(
        words, 8 * len(data), least, most - least + 1, small, scales, positions
    )
    spare = len(data) - -(-bits // 8)
    if bits < 0 or not 0 <= spare <= _SPARE or (lowest != least).any() or (highest != most).any():
        raise ValueError("its compressed coordinates are damaged")
    return positions
