"""Trajectories of Tinker: a number of atoms, maybe a box, and a line for each atom."""

from __future__ import annotations

from itertools import islice
from typing import BinaryIO

from timme.readers.layouts import DamageError, FrameEnd, Layout, is_end, walk

_PLACED = 5  # words of an atom up to its last coordinate: number, name, x, y and z


def walk_tinker(stream: BinaryIO, size: int) -> Layout:
    """Count lines: whether a box follows the number of atoms is that of the first frame.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.

    Returns
    -------
    Layout
        Of its frames, up to one that is cut off.
    """
    boxed: bool | None = None
    names = list[bytes]()  # of the first frame

    def frame_end(_: int) -> FrameEnd | None:
        nonlocal boxed, names
        first = stream.readline()
        if is_end(stream, first):
            return None
        if not first.split()[:1] or not first.split()[0].isdigit():
            raise DamageError("its first line is not its number of atoms")
        count = int(first.split()[0])
        lines = list(islice(stream, count if boxed is None else count + boxed))
        if boxed is None:
            boxed = bool(lines) and _is_box(lines[0])
            lines += islice(stream, int(boxed))
        if len(lines) < count + boxed:
            raise DamageError(f"{count + boxed - len(lines)} lines are missing")
        for line in lines[int(boxed) :]:
            _refuse_part(line)
        named = [line.split(maxsplit=2)[1] for line in lines[int(boxed) :]]
        names = names or named
        if len(named) == len(names) and named != names:
            raise DamageError("its atoms are not those of the first frame in their order")
        return FrameEnd(stream.tell(), count)

    return walk(frame_end, size)


def _is_box(line: bytes) -> bool:
    """Tell a box from an atom, whose second word is its name."""
    try:
        float(line.split()[1])
    except (ValueError, IndexError):
        return False
    return True


def _refuse_part(line: bytes) -> None:
    """Refuse a line that ends before or within its last coordinate, which its type follows."""
    needed = _PLACED if line.endswith(b"\n") else _PLACED + 1
    if len(line.split()) < needed:
        raise DamageError("a line ends before the coordinates of its atom do")
