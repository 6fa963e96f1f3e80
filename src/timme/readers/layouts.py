"""Layouts: where the whole frames of a trajectory file are, followed from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np

from timme._arrays import Floats, Ints

CELL_NOTE = "not taken for a periodic box: if it is one, "  # with what may be given for it


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the whole frames of a trajectory file are."""

    n_atoms: int
    offsets: Ints  # (frames,), bytes from the start of the file
    damage: str  # what is wrong after the last whole frame, "" for a whole file
    rounding: float = 0.0  # spacing of the grid of the coordinates, in units of the file
    remark: str = ""  # what is odd about a whole file
    stamps: Floats | None = None  # (frames,), times or steps, where a walk goes past them
    n_counted: int = 0  # frames that tell how often atoms went through the walls
    cells: Ints | None = None  # (frames,), where the lines of their cells start, or -1


class FrameEnd(NamedTuple):
    """A frame that was gone through."""

    stop: int  # byte after its last
    n_atoms: int
    stamp: float | None = None  # its time or its step, where it tells one


class DamageError(ValueError):
    """A frame that is not what it should be."""


class ForeignError(ValueError):
    """A frame that holds something else than positions, however whole it is."""


def walk(frame_end: Callable[[int], FrameEnd | None], size: int, start: int = 0) -> Layout:
    """Go from frame to frame.

    Parameters
    ----------
    frame_end : callable
        Called with the place where a frame starts; returns where it ends, None where there is none
        any more. Raises what it stumbles over as ValueError.
    size : int
        Bytes of the file.
    start : int, optional
        Where the first frame starts.

    Returns
    -------
    Layout
        Of all frames up to the first that is damaged; of those that tell no stamp, it is NaN.

    Raises
    ------
    ForeignError
        If a frame has no positions.
    """
    offsets, stamps, n_atoms, damage = list[int](), list[float | None](), 0, ""
    while start < size and not damage:
        try:
            frame = frame_end(start)
        except ForeignError:
            raise
        except ValueError as error:
            damage = f"frame {len(offsets) + 1} is damaged or cut off: {error}"
            break
        if frame is None:
            break
        if offsets and frame.n_atoms != n_atoms:
            damage = (
                f"frame {len(offsets) + 1} has {frame.n_atoms} atoms, the others have {n_atoms}"
            )
        elif frame.stop > size:
            damage = f"frame {len(offsets) + 1} is cut off: {frame.stop - size} bytes are missing"
        else:
            offsets.append(start)
            stamps.append(frame.stamp)
            start, n_atoms = frame.stop, frame.n_atoms
    told = any(stamp is not None for stamp in stamps)
    known = np.array(stamps, dtype=np.float64) if told else None  # of None, NaN
    return Layout(n_atoms, np.array(offsets, dtype=np.int64), damage, stamps=known)


def is_end(stream: BinaryIO, line: bytes) -> bool:
    """Tell whether nothing but empty lines follows the last frame of a text.

    Parameters
    ----------
    stream : BinaryIO
        The file, after a line in which a frame should start.
    line : bytes
        That line.

    Returns
    -------
    bool
        False for a line that is not empty, or that is amid others.
    """
    return not line.strip() and not stream.read().strip()


def take(stream: BinaryIO, start: int, count: int) -> bytes:
    """Read bytes that must be there.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    start, count : int
        Where, and how many.

    Returns
    -------
    bytes
        All of them.

    Raises
    ------
    DamageError
        If the file ends before.
    """
    stream.seek(start)
    data = stream.read(count)
    if len(data) < count:
        raise DamageError(f"{count - len(data)} bytes are missing at the end of the file")
    return data
