"""XTC and TRR files of GROMACS: where their frames are, and whether these can be what they say.

The library that unpacks XTC believes every number of a file: a frame that is damaged makes it
write beyond its memory. To go through each frame before it takes nearly as long as to unpack it,
so that they are unpacked here. TRR files, which are not packed, are left to the library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from timme._arrays import Coordinates, Ints
from timme._kernels.xtc import unpack_frame
from timme.readers.files import RawFrame
from timme.readers.layouts import DamageError, FrameEnd, Layout, take, walk
from timme.system.boxes import box_or_none

_XTC_MAGIC, _XTC_MAGIC_LARGE, _TRR_MAGIC = 1995, 2023, 1993
_SMALL = 9  # systems of at most this many atoms are stored without compression
_HEAD = 56  # bytes before the coordinates
_NM = 10.0  # Å
_REALS = (4, 8)  # bytes
_SPARE = 8  # bytes after the last bit, of writers that fill up


def walk_xtc(stream: BinaryIO, size: int) -> Layout:
    """Go from frame to frame of an XTC file.

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
    precision = 0.0

    def frame_end(start: int) -> FrameEnd:
        nonlocal precision
        magic, n_atoms, _, time = struct.unpack(">3if", take(stream, start, 16))
        if magic not in (_XTC_MAGIC, _XTC_MAGIC_LARGE):
            raise DamageError("it does not start as an XTC frame does")
        (again,) = struct.unpack(">i", take(stream, start + 52, 4))
        if again != n_atoms or n_atoms < 0:
            raise DamageError(f"it announces both {n_atoms} and {again} atoms")
        if n_atoms <= _SMALL:
            return FrameEnd(start + _HEAD + 12 * n_atoms, n_atoms, time)
        packed = _Packed.at(stream, start, n_atoms)
        precision = packed.precision
        return FrameEnd(packed.start + (packed.count + 3) // 4 * 4, n_atoms, time)

    found = walk(frame_end, size)
    return replace(found, rounding=1 / precision if precision > 0 else 0.0)


def walk_trr(stream: BinaryIO, size: int) -> Layout:
    """Go from frame to frame of a TRR file, past those that hold no positions.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.

    Returns
    -------
    Layout
        Of its whole frames that have positions.
    """
    has_positions = list[bool]()

    def frame_end(start: int) -> FrameEnd:
        magic, _, length = struct.unpack(">3i", take(stream, start, 12))
        if magic != _TRR_MAGIC or not 0 <= length < 256:
            raise DamageError("it does not start as a TRR frame does")
        start += 12 + (length + 3) // 4 * 4
        numbers = struct.unpack(">13i", take(stream, start, 52))
        sizes, n_atoms = numbers[:10], numbers[10]
        if min(sizes) < 0 or n_atoms < 1:
            raise DamageError(f"it announces {n_atoms} atoms")
        real = _bytes_of_real(sizes, n_atoms)
        (time,) = struct.unpack(">f" if real == 4 else ">d", take(stream, start + 52, real))
        has_positions.append(sizes[7] > 0)
        return FrameEnd(start + 52 + 2 * real + sum(sizes), n_atoms, time)

    found = walk(frame_end, size)
    count = len(found.offsets)
    kept = np.flatnonzero(has_positions[:count])
    remark = ""
    if len(kept) < count:
        remark = (
            f"{count - len(kept)} of {count} frames hold no positions (velocities or forces alone) "
            "and are left out"
        )
    if count and not len(kept):
        raise DamageError("none of its frames holds positions")
    stamps = None if found.stamps is None else found.stamps[kept]
    return replace(found, offsets=found.offsets[kept], stamps=stamps, remark=remark)


def open_xdr(path: Path, offsets: Ints) -> Callable[[int], RawFrame]:
    """Open an XTC or TRR file.

    Parameters
    ----------
    path : Path
        The file.
    offsets : ndarray of int, shape (frames,)
        Where its frames are.

    Returns
    -------
    callable
        Reads the frame of a number.
    """
    if path.suffix.lower() == ".xtc":
        return partial(_read_xtc, path, offsets)
    # The plain file classes keep no index beside the input, as the readers built on them do.
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile

    opened = TRRFile(str(path))
    opened.set_offsets(offsets)
    return partial(_read_trr, opened)


class _Packed:
    """The compressed coordinates of an XTC frame: their numbers, and where their bits are."""

    def __init__(self, head: bytes, count: int, start: int) -> None:
        self.precision, *limits, self.small = struct.unpack(">f7i", head)
        self.least, self.most = np.array(limits[:3]), np.array(limits[3:])
        self.count, self.start = count, start

    @classmethod
    def at(cls, stream: BinaryIO, start: int, n_atoms: int) -> _Packed:
        (magic,) = struct.unpack(">i", take(stream, start, 4))
        head = take(stream, start + _HEAD, 32)
        large = magic == _XTC_MAGIC_LARGE
        kind, width = (">q", 8) if large else (">i", 4)
        (count,) = struct.unpack(kind, take(stream, start + 88, width))
        packed = cls(head, count, start + 88 + width)
        packed.refuse_impossible(n_atoms)
        return packed

    def refuse_impossible(self, n_atoms: int) -> None:
        if not 0 < self.precision < np.inf:
            raise DamageError(f"it announces a precision of {self.precision:g}")
        if (self.least > self.most).any():
            raise DamageError("it announces coordinates between impossible limits")
        # Three numbers of at most 32 bits and a mark: less than what the library has room for.
        if not 0 <= self.count <= 13 * n_atoms:
            raise DamageError(f"it announces {self.count} bytes for {n_atoms} atoms")


def _read_xtc(path: Path, offsets: Ints, frame: int) -> RawFrame:
    start = int(offsets[frame])
    with path.open("rb") as stream:
        _, n_atoms, _, time, *box = struct.unpack(">3i10f", take(stream, start, 52))
        places = _unpack(stream, start, n_atoms)
    vectors = np.array(box).reshape(3, 3) * _NM
    return RawFrame(places, box_or_none(vectors), time=time)


def _unpack(stream: BinaryIO, start: int, n_atoms: int) -> Coordinates:
    """Read the places of a frame, in Å."""
    if n_atoms <= _SMALL:
        plain = np.frombuffer(take(stream, start + _HEAD, 12 * n_atoms), ">f4")
        return plain.astype(np.float32).reshape(n_atoms, 3) * np.float32(_NM)
    packed = _Packed.at(stream, start, n_atoms)
    # Whole words, and two more that are looked at beyond the last bit.
    data = take(stream, packed.start, packed.count) + bytes(16 + -packed.count % 8)
    words = np.frombuffer(data, ">u8").astype(np.uint64)
    least, most = packed.least.astype(np.int64), packed.most.astype(np.int64)
    places: Coordinates = np.empty((n_atoms, 3), np.float32)
    # In single precision and in two steps, as the library does it, to the same bits.
    scales = np.array([1 / packed.precision, _NM], np.float32)
    sizes, count = most - least + 1, packed.count
    bits, lowest, highest = unpack_frame(
        words, 8 * count, least, sizes, packed.small, scales, places
    )
    if bits < 0 or not 0 <= count - -(-bits // 8) <= _SPARE:
        raise DamageError("its compressed coordinates are damaged")
    if not (np.array_equal(lowest, least) and np.array_equal(highest, most)):
        raise DamageError("its compressed coordinates are damaged: they are not within its limits")
    return places


def _bytes_of_real(sizes: tuple[int, ...], n_atoms: int) -> int:
    """Find the precision of a TRR frame, all of whose parts must be of the size it gives them."""
    vectors = max(sizes[7:10])
    real = sizes[2] // 9 if sizes[2] else vectors // (3 * n_atoms)
    if real not in _REALS:
        raise DamageError("it is neither in single nor in double precision")
    right = all(size in (0, 3 * n_atoms * real) for size in sizes[7:10])
    if not right or any(size not in (0, 9 * real) for size in (sizes[2], *sizes[3:5])):
        raise DamageError("its parts are not of the size that its atoms take")
    return real


def _read_trr(opened: Any, frame: int) -> RawFrame:
    opened.seek(frame)
    found = opened.read()
    box = np.asarray(found.box, dtype=np.float64) * _NM
    places = np.asarray(found.x) * np.float32(_NM)
    return RawFrame(places, box_or_none(box), time=float(found.time))
