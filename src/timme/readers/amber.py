"""Trajectories of Amber as texts: numbers of eight columns, ten in a line, and maybe a box."""

from __future__ import annotations

from typing import BinaryIO

from timme.readers.layouts import DamageError, Layout, walk

AMBER_TEXTS = frozenset((".mdcrd", ".trj", ".crdbox"))
_WIDTH, _IN_A_LINE = 8, 10
_BOX = 3 * _WIDTH  # characters


def walk_amber(stream: BinaryIO, size: int, n_atoms: int) -> Layout:
    """Count lines and their characters, as nothing says where a frame ends.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    size : int
        Its bytes.
    n_atoms : int
        Number of atoms of a frame, which the file does not tell.

    Returns
    -------
    Layout
        Of its frames; half a number, or a box that is missing where others have one, ends them.
    """
    rows, rest = divmod(3 * n_atoms, _IN_A_LINE)
    widths = [_WIDTH * _IN_A_LINE] * rows + [_WIDTH * rest] * bool(rest)
    ahead = list[bytes]()  # the line after the first frame, once it was looked at
    stream.readline()  # its title

    def frame_end(start: int) -> tuple[int, int]:
        for number, width in enumerate(widths):
            line = ahead.pop() if ahead else stream.readline()
            if not number and not line.strip() and not stream.read().strip():
                return -1, 0
            if len(line.rstrip()) != width:
                found = len(line.rstrip())
                raise DamageError(
                    f"a line has {found} characters and not {width}, as {n_atoms} atoms need"
                )
        if not start and n_atoms > 1:  # a single atom is as long as a box
            line = stream.readline()
            if len(line.rstrip()) == _BOX:
                widths.append(_BOX)
            else:
                ahead.append(line)
                return stream.tell() - len(line), n_atoms
        return stream.tell(), n_atoms

    return walk(frame_end, size)
