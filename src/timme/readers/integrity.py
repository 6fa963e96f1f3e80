"""Integrity: whether a trajectory file is whole, read from its own structure.

Readers of these formats stop silently at the first frame that is cut off, so that a damaged file
looks like a shorter one. Here the sizes that every frame announces are followed through the file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme._arrays import Ints
from timme.readers.files import open_binary
from timme.readers.text import DUMPS, dump_header, gro_width, is_gro_box

_XTC_MAGIC, _XTC_MAGIC_LARGE, _TRR_MAGIC = 1995, 2023, 1993
TEXTS = frozenset((".xyz", ".gro")) | DUMPS  # that are followed in compressed files too
_XTC_SMALL = 9  # systems of at most this many atoms are stored without compression


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the whole frames of a trajectory file are."""

    n_atoms: int
    offsets: Ints  # (frames,), bytes from the start of the file
    damage: str  # what is wrong after the last whole frame, "" for a whole file
    rounding: float = 0.0  # spacing of the grid of the coordinates, in units of the file
    remark: str = ""  # what is odd about a whole file


class _DamageError(ValueError):
    """A frame that is not what it should be."""


def layout(path: Path, suffix: str) -> Layout | None:
    """Follow the frames of a file.

    Parameters
    ----------
    path : Path
        Trajectory.
    suffix : str
        Kind of the file: ``.xtc``, ``.trr``, ``.dcd``, ``.nc``, ``.ncdf``, ``.xyz``, ``.gro``,
        ``.lammpstrj`` or ``.dump``.

    Returns
    -------
    Layout or None
        Where its frames are, None for other kinds.
    """
    packed = path.suffix.lower() in {".gz", ".bz2"}
    if suffix not in _WALKERS or (packed and suffix not in TEXTS):
        return None
    with open_binary(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        try:
            found = _WALKERS[suffix](stream, size)
        except _DamageError as error:
            raise ValueError(f"{path}: {error}: copy or write the file again") from None
    if not len(found.offsets):
        raise ValueError(
            f"{path}: no whole frame was found ({found.damage or 'the file holds none'}): "
            f"a whole {suffix[1:].upper()} file is needed; copy or write it again"
        )
    return found


def _walk_xtc(stream: BinaryIO, size: int) -> Layout:
    precision = 0.0

    def frame_end(start: int) -> tuple[int, int]:
        nonlocal precision
        magic, n_atoms = struct.unpack(">2i", _take(stream, start, 8))
        if magic not in (_XTC_MAGIC, _XTC_MAGIC_LARGE):
            raise _DamageError("it does not start as an XTC frame does")
        (again,) = struct.unpack(">i", _take(stream, start + 52, 4))
        if again != n_atoms or n_atoms < 0:
            raise _DamageError(f"it announces both {n_atoms} and {again} atoms")
        if n_atoms <= _XTC_SMALL:
            return start + 56 + 12 * n_atoms, n_atoms
        (precision,) = struct.unpack(">f", _take(stream, start + 56, 4))
        large = magic == _XTC_MAGIC_LARGE
        count_format, count_size = (">q", 8) if large else (">i", 4)
        (count,) = struct.unpack(count_format, _take(stream, start + 88, count_size))
        if count < 0:
            raise _DamageError(f"it announces {count} bytes")
        return start + 88 + count_size + (count + 3) // 4 * 4, n_atoms

    found = _walk(frame_end, size)
    rounding = 1 / precision if precision > 0 else 0.0
    return replace(found, rounding=rounding)


def _walk_trr(stream: BinaryIO, size: int) -> Layout:
    def frame_end(start: int) -> tuple[int, int]:
        magic, _, length = struct.unpack(">3i", _take(stream, start, 12))
        if magic != _TRR_MAGIC or not 0 <= length < 256:
            raise _DamageError("it does not start as a TRR frame does")
        start += 12 + (length + 3) // 4 * 4
        numbers = struct.unpack(">13i", _take(stream, start, 52))
        sizes, n_atoms = numbers[:10], numbers[10]
        if min(sizes) < 0 or n_atoms < 1:
            raise _DamageError(f"it announces {n_atoms} atoms")
        vectors = max(sizes[7:10])
        real = sizes[2] // 9 if sizes[2] else vectors // (3 * n_atoms)
        if real not in (4, 8):
            raise _DamageError("it is neither in single nor in double precision")
        return start + 52 + 2 * real + sum(sizes), n_atoms

    return _walk(frame_end, size)


def _walk_dcd(stream: BinaryIO, size: int) -> Layout:
    """Count frames by size: all but the first take the same number of bytes."""
    try:
        header = _dcd_header(stream)
    except (_DamageError, struct.error):
        return _no_frames("it does not start as a DCD file does")
    starts = [header.start]
    ends = [header.start + header.first]
    while ends[-1] < size:
        starts.append(ends[-1])
        ends.append(ends[-1] + header.rest)
    whole = len(ends) - (ends[-1] > size)
    damage = "" if whole == len(ends) else f"frame {whole + 1} is cut off"
    for number in range(whole):
        if (
            struct.unpack(f"{header.order}i", _take(stream, starts[number], 4))[0]
            not in header.marks
        ):
            whole, damage = number, f"frame {number + 1} does not start as a DCD frame does"
            break
    # A run that was stopped leaves such a number, and many programs write 0 and never come back.
    remark = ""
    if not damage and header.announced != whole:
        holds = "1 frame" if whole == 1 else f"{whole} frames"
        remark = f"its header announces {header.announced} frames, and it holds {holds}, all whole"
    offsets = np.array(starts[:whole], dtype=np.int64)
    return Layout(header.n_atoms, offsets, damage, remark=remark)


def _walk_netcdf(stream: BinaryIO, _: int) -> Layout:
    """Let the reader of the format lay out its records: it stumbles where bytes are missing."""
    from scipy.io import netcdf_file

    if stream.read(3) != b"CDF":
        raise _DamageError("the file does not start as a NetCDF 3 file does")
    stream.seek(0)
    try:
        with netcdf_file(stream, mmap=True) as file:
            n_frames, n_atoms, _ = file.variables["coordinates"].shape
    except KeyError:
        raise _DamageError("the file has no variable 'coordinates'") from None
    except (ValueError, TypeError, IndexError, OSError):
        raise _DamageError(
            "the file is cut off or damaged: the frames that its header announces are not all there"
        ) from None
    return Layout(int(n_atoms), np.arange(n_frames), "")


def _walk_xyz(stream: BinaryIO, _: int) -> Layout:
    """Count lines: a frame is a number of atoms, a title and a line for each atom."""
    offsets, n_atoms, place, damage = list[int](), 0, 0, ""
    for line in stream:
        if line.strip():
            try:
                count = int(line)
            except ValueError:
                damage = f"frame {len(offsets) + 1} does not start with its number of atoms"
                break
            lines = list(islice(stream, count + 1))
            if len(lines) < count + 1 or len(lines[-1].split()) < 4:
                damage = f"frame {len(offsets) + 1} is cut off"
                break
            if offsets and count != n_atoms:
                damage = f"frame {len(offsets) + 1} has {count} atoms, the others have {n_atoms}"
                break
            offsets.append(place)
            n_atoms = count
            place += sum(map(len, lines))
        place += len(line)
    return Layout(n_atoms, np.array(offsets, dtype=np.int64), damage)


def _walk_gro(stream: BinaryIO, size: int) -> Layout:
    """Count lines: a frame is a title, a number of atoms, a line for each atom, and a box."""
    width = 0

    def frame_end(_: int) -> tuple[int, int]:
        nonlocal width
        title, number = stream.readline(), stream.readline()
        if not (title + number).strip() and not stream.read().strip():
            return -1, 0  # empty lines after the last frame
        if not number:
            raise _DamageError("it ends after its title")
        if not number.strip().isdigit():
            raise _DamageError("its second line is not its number of atoms")
        lines = list(islice(stream, int(number) + 1))
        if len(lines) < int(number) + 1:
            raise _DamageError(f"{int(number) + 1 - len(lines)} lines are missing")
        if not is_gro_box(lines[-1]):
            raise _DamageError("its last line is not a box of 3 or 9 numbers")
        width = width or gro_width(lines[0])
        return stream.tell(), int(number)

    found = _walk(frame_end, size)
    return replace(found, rounding=10.0 ** (5 - width) if width else 0.0)


def _walk_dump(stream: BinaryIO, size: int) -> Layout:
    """Count lines: a frame of LAMMPS announces its number of atoms and its columns."""
    remark = ""

    def frame_end(_: int) -> tuple[int, int]:
        nonlocal remark
        header = dump_header(stream)
        if header is None:
            return -1, 0
        last, count = b"", 0
        for last in islice(stream, header.n_atoms):  # noqa: B007, the last line is looked at
            count += 1
        if count < header.n_atoms:
            raise _DamageError(f"{header.n_atoms - count} atoms are missing")
        if len(last.split()) < len(header.columns) or not _ends_whole(last):
            raise _DamageError("its last line has no end")
        if not last.endswith(b"\n"):
            remark = "its last line has no line end, but all its columns, and is used"
        return stream.tell(), header.n_atoms

    return replace(_walk(frame_end, size), remark=remark)


def _ends_whole(line: bytes) -> bool:
    """Tell whether a line was written to its end; editors leave out the last line end."""
    word = line.split()[-1]
    if line.endswith(b"\n") or word.isalpha():
        return True
    try:
        float(word)
    except ValueError:
        return False
    return word[-1:].isdigit()


def _no_frames(damage: str) -> Layout:
    return Layout(0, np.zeros(0, dtype=np.int64), damage)


@dataclass(frozen=True, slots=True)
class _DcdHeader:
    order: str  # "<" or ">"
    announced: int  # number of frames
    n_atoms: int
    start: int  # of the first frame, in bytes
    first: int  # bytes of the first frame
    rest: int  # bytes of every other frame, in which fixed atoms are left out
    marks: tuple[int, ...]  # lengths of the record with which a frame may start


def _dcd_header(stream: BinaryIO) -> _DcdHeader:
    head = _take(stream, 0, 8)
    if head[4:8] != b"CORD":
        raise _DamageError("no CORD")
    order = "<" if struct.unpack("<i", head[:4])[0] == 84 else ">"
    control = struct.unpack(f"{order}20i", _take(stream, 8, 80))
    (title,) = struct.unpack(f"{order}i", _take(stream, 92, 4))
    place = 92 + 8 + title
    _, n_atoms, _ = struct.unpack(f"{order}3i", _take(stream, place, 12))
    place += 12
    fixed, charmm = control[8], control[19] != 0
    if n_atoms < 1 or not 0 <= fixed < n_atoms or title < 0:
        raise _DamageError("impossible numbers")
    if fixed:
        place += 8 + 4 * (n_atoms - fixed)
    cell = 56 if charmm and control[10] else 0
    axes = 4 if charmm and control[11] else 3
    return _DcdHeader(
        order=order,
        announced=control[0],
        n_atoms=n_atoms,
        start=place,
        first=cell + axes * (8 + 4 * n_atoms),
        rest=cell + axes * (8 + 4 * (n_atoms - fixed)),
        marks=(48,) if cell else (4 * n_atoms, 4 * (n_atoms - fixed)),
    )


def _walk(frame_end: Callable[[int], tuple[int, int]], size: int) -> Layout:
    """Go from frame to frame; an end below 0 says that there is none any more."""
    offsets, start, n_atoms, damage = list[int](), 0, 0, ""
    while start < size and not damage:
        try:
            stop, count = frame_end(start)
        except ValueError as error:
            damage = f"frame {len(offsets) + 1} is damaged or cut off: {error}"
            break
        if stop < 0:
            break
        if offsets and count != n_atoms:
            damage = f"frame {len(offsets) + 1} has {count} atoms, the others have {n_atoms}"
        elif stop > size:
            damage = f"frame {len(offsets) + 1} is cut off: {stop - size} bytes are missing"
        else:
            offsets.append(start)
            start, n_atoms = stop, count
    return Layout(n_atoms, np.array(offsets, dtype=np.int64), damage)


def _take(stream: BinaryIO, start: int, count: int) -> bytes:
    stream.seek(start)
    data = stream.read(count)
    if len(data) < count:
        raise _DamageError(f"{count - len(data)} bytes are missing at the end of the file")
    return data


_WALKERS: dict[str, Callable[[BinaryIO, int], Layout]] = {
    ".xtc": _walk_xtc,
    ".trr": _walk_trr,
    ".dcd": _walk_dcd,
    ".nc": _walk_netcdf,
    ".ncdf": _walk_netcdf,
    ".xyz": _walk_xyz,
    ".gro": _walk_gro,
    **dict.fromkeys(DUMPS, _walk_dump),
}
