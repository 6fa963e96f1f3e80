"""What is chosen of frames, and what tells a file from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timme._arrays import Ints

if TYPE_CHECKING:
    import numpy.typing as npt


def chosen_of(frames: Sequence[int], snapshots: Sequence[int]) -> Sequence[int]:
    """Choose again among frames of a file that were chosen.

    Parameters
    ----------
    frames : sequence of int
        Numbers in the file of the snapshots so far.
    snapshots : sequence of int
        Which of them to keep, ascending.

    Returns
    -------
    sequence of int
        Numbers in the file of those; a range of a range is one.
    """
    if isinstance(snapshots, range):
        return frames[snapshots.start : snapshots.stop : snapshots.step]
    return [frames[number] for number in snapshots]


def rows_of(array: npt.NDArray[Any], snapshots: Sequence[int]) -> npt.NDArray[Any]:
    """Take some rows: a view where they are a range.

    Parameters
    ----------
    array : ndarray, shape (snapshots, ...)
        One row for each snapshot.
    snapshots : sequence of int
        Which rows to take.

    Returns
    -------
    ndarray
        The chosen rows.
    """
    if isinstance(snapshots, range):
        return array[snapshots.start : snapshots.stop : snapshots.step]
    return array[list(snapshots)]


def marks_of_choice(chosen: Sequence[int], sites: Ints | None) -> Iterator[npt.ArrayLike]:
    """Walk through what was chosen of a file.

    Parameters
    ----------
    chosen : sequence of int
        Frames that count.
    sites : ndarray of int or None
        Sites that are kept, None for all.

    Yields
    ------
    array_like
        Marks, as those of :class:`Frames`.
    """
    yield repr(chosen)
    yield "all" if sites is None else sites


def file_mark(path: str | Path) -> str:
    """Tell a file from others, and from itself after a change.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str
        Its name, size and time of last change; only the name of what is no file.
    """
    file = Path(path)
    if not file.is_file():
        return str(path)
    told = file.stat()
    return f"{file.name} {told.st_size} {told.st_mtime_ns}"
