"""Layouts: where the whole frames of a trajectory file are, followed from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from timme._arrays import Floats, Ints


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


class DamageError(ValueError):
    """A frame that is not what it should be."""


class ForeignError(ValueError):
    """A frame that holds something else than positions, however whole it is."""


def walk(frame_end: Callable[[int], tuple[int, int]], size: int) -> Layout:
    """Go from frame to frame.

    Parameters
    ----------
    frame_end : callable
        Called with the place where a frame starts; returns where it ends and its number of atoms,
        an end below 0 where there is none any more. Raises what it stumbles over as ValueError.
    size : int
        Bytes of the file.

    Returns
    -------
    Layout
        Of all frames up to the first that is damaged.

    Raises
    ------
    ForeignError
        If a frame has no positions.
    """
    offsets, start, n_atoms, damage = list[int](), 0, 0, ""
    while start < size and not damage:
        try:
            stop, count = frame_end(start)
        except ForeignError:
            raise
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
