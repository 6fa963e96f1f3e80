"""Integrity: whether a trajectory file is whole, read from its own structure.

Readers of these formats stop silently at the first frame that is cut off, so that a damaged file
looks like a shorter one. Here the sizes that every frame announces are followed through the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from timme.readers.amber import AMBER_TEXTS, walk_amber
from timme.readers.dcd import walk_dcd
from timme.readers.dlpoly import CONFIG, DLPOLY, HISTORY, walk_config, walk_history
from timme.readers.dumps import DUMPS, dump_header
from timme.readers.files import open_binary, refuse_packed
from timme.readers.gro import gro_head, gro_time, gro_width, is_gro_box
from timme.readers.layouts import DamageError, ForeignError, FrameEnd, Layout, is_end, walk
from timme.readers.netcdf import walk_netcdf
from timme.readers.pdb_frames import PDB, walk_pdb
from timme.readers.tinker import walk_tinker
from timme.readers.xdr import walk_trr, walk_xtc
from timme.readers.xyz import counts_images, note_on_title, xyz_count

# Formats that are followed in compressed files too.
TEXTS = frozenset((".xyz", ".gro")) | DUMPS | DLPOLY | PDB | AMBER_TEXTS


def layout(path: Path, suffix: str, n_atoms: int | None = None) -> Layout | None:
    """Follow the frames of a file.

    Parameters
    ----------
    path : Path
        Trajectory.
    suffix : str
        Kind of the file: ``.xtc``, ``.trr``, ``.dcd``, ``.nc``, ``.ncdf``, ``.xyz``, ``.gro``,
        ``.lammpstrj``, ``.dump``, ``.arc``, ``.txyz``, ``.pdb``, ``.ent``, or one of a text of
        Amber.
    n_atoms : int, optional
        Number of its atoms, which texts of Amber do not tell.

    Returns
    -------
    Layout or None
        Where its frames are, None for other kinds, or if nobody knows the number of atoms.
    """
    refuse_packed(path)
    follow = _WALKERS.get(suffix)
    if suffix in AMBER_TEXTS and n_atoms:
        follow = partial(walk_amber, n_atoms=n_atoms)
    if follow is None:
        return None
    with open_binary(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        try:
            found = follow(stream, size)
        except ForeignError as error:
            raise ValueError(f"{path}: {error}") from None
        except DamageError as error:
            raise ValueError(f"{path}: {error}: copy or write the file again") from None
    if not len(found.offsets):
        raise ValueError(
            f"{path}: no whole frame was found ({found.damage or 'the file holds none'}): "
            f"a whole {suffix[1:].upper()} file is needed; copy or write it again"
        )
    return found


def _walk_xyz(stream: BinaryIO, _: int) -> Layout:
    """Count lines: a frame is a number of atoms, a title and a line for each atom."""
    offsets, n_atoms, place, damage = list[int](), 0, 0, ""
    before, n_counted, title = b"", 0, b""
    for line in stream:
        if line.strip():
            try:
                count = xyz_count(line)
            except ValueError:
                damage = f"frame {len(offsets) + 1} does not start with its number of atoms"
                break
            lines = list(islice(stream, count + 1))
            if len(lines) < count + 1 or not _ends_whole(lines[1:], before):
                damage = f"frame {len(offsets) + 1} is cut off"
                break
            before, title = lines[-1], title or lines[0]
            if offsets and count != n_atoms:
                damage = f"frame {len(offsets) + 1} has {count} atoms, the others have {n_atoms}"
                break
            offsets.append(place)
            n_atoms, n_counted = count, n_counted + counts_images(lines[0])
            place += sum(map(len, lines))
        place += len(line)
    found = np.array(offsets, dtype=np.int64)
    remark = "; ".join(filter(None, [note_on_title(title), _no_line_end(before)]))
    return Layout(n_atoms, found, damage, remark=remark, n_counted=n_counted)


def _walk_gro(stream: BinaryIO, size: int) -> Layout:
    """Count lines: a frame is a title, a number of atoms, a line for each atom, and a box."""
    width = 0

    def frame_end(_: int) -> FrameEnd | None:
        nonlocal width
        title, number = gro_head(stream)
        if is_end(stream, title + number):
            return None
        if not number:
            raise DamageError("it ends after its title")
        if not number.strip().isdigit():
            raise DamageError("its second line is not its number of atoms")
        lines = list(islice(stream, int(number) + 1))
        if len(lines) < int(number) + 1:
            raise DamageError(f"{int(number) + 1 - len(lines)} lines are missing")
        if not is_gro_box(lines[-1]):
            raise DamageError("its last line is not a box of 3 or 9 numbers")
        width = width or gro_width(lines[0])
        return FrameEnd(stream.tell(), int(number), gro_time(title))

    found = walk(frame_end, size)
    return replace(found, rounding=10.0 ** (5 - width) if width else 0.0)


def _walk_dump(stream: BinaryIO, size: int) -> Layout:
    """Count lines: a frame of LAMMPS announces its number of atoms and its columns."""
    before, remark, counted = b"", "", list[bool]()

    def frame_end(_: int) -> FrameEnd | None:
        nonlocal before, remark
        header = dump_header(stream)
        if header is None:
            return None
        lines = list(islice(stream, header.n_atoms))
        if len(lines) < header.n_atoms:
            raise DamageError(f"{header.n_atoms - len(lines)} atoms are missing")
        if not _ends_whole(lines, before, len(header.columns)):
            raise DamageError("its last line has no end")
        before = lines[-1] if lines else b"\n"
        remark = _no_line_end(before)
        counted.append(header.counts_images)
        return FrameEnd(stream.tell(), header.n_atoms, header.step)

    found = walk(frame_end, size)
    return replace(found, remark=remark, n_counted=sum(counted[: len(found.offsets)]))


def _ends_whole(lines: list[bytes], before: bytes, n_columns: int = 0) -> bool:
    """Tell whether the last line was written to its end; editors leave out the last line end.

    It has as many columns as are known, as the last one of the frame before, or as the first. A
    number that is cut off has fewer decimals than all others in its column, unless these have none.
    """
    if not lines:
        return True
    words = lines[-1].split()
    if not words or len(words) < (n_columns or len((before or lines[0]).split())):
        return False
    if words[-1].isalpha() or lines[-1][-1:].isspace():
        return True
    column = [line.split()[-1] for line in (before, *lines[:-1]) if line.strip()]
    known = [_decimals(word) for word in column if _is_number(word)]
    return _is_number(words[-1]) and _decimals(words[-1]) >= min(known, default=0)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return word[-1:].isdigit()


def _decimals(word: bytes) -> int:
    return len(word.partition(b".")[2])


def _no_line_end(line: bytes) -> str:
    return (
        ""
        if line.endswith(b"\n")
        else "its last line has no line end, but all its columns, and is used"
    )


_WALKERS: dict[str, Callable[[BinaryIO, int], Layout]] = {
    ".xtc": walk_xtc,
    ".trr": walk_trr,
    ".dcd": walk_dcd,
    ".nc": walk_netcdf,
    ".ncdf": walk_netcdf,
    ".xyz": _walk_xyz,
    ".gro": _walk_gro,
    HISTORY: walk_history,
    CONFIG: walk_config,
    ".arc": walk_tinker,
    ".txyz": walk_tinker,
    **dict.fromkeys(DUMPS, _walk_dump),
    **dict.fromkeys(PDB, walk_pdb),
}
