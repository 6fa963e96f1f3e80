"""Identity: the atoms of every frame are those of the first, in one order, by ids or by names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints
from timme.readers.files import RawFrame


def sorted_ids(ids: Ints) -> Ints:
    """Sort the ids of a first frame, by which those of all others are sorted.

    Parameters
    ----------
    ids : ndarray of int, shape (atoms,)
        In the order of the file.

    Returns
    -------
    ndarray of int, shape (atoms,)
        Ascending, each once.

    Examples
    --------
    >>> sorted_ids(np.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    found: Ints = np.sort(ids)
    twice = np.flatnonzero(np.diff(found) == 0)
    if len(twice):
        raise ValueError(f"atom {found[twice[0]]} is there twice in the first frame")
    return found


def in_order(found: RawFrame, ids: Ints | None, names: npt.NDArray[Any] | None) -> RawFrame:
    """Bring the atoms of a frame into the order of these ids; without ids, compare their names.

    Parameters
    ----------
    found : RawFrame
        As it stands in the file.
    ids : ndarray of int, shape (atoms,), or None
        Those of the first frame, in the order that is wanted; None where it has none.
    names : ndarray, shape (atoms,), or None
        Those of the first frame, as they stand there; None where it has none.

    Returns
    -------
    RawFrame
        The same atoms as in the first frame, in one order. Where nothing tells atoms apart, that of
        the file.
    """
    if (found.ids is None) != (ids is None):
        there = "ids, and the first frame has none" if ids is None else "no ids as the first has"
        raise ValueError(f"it has {there}")
    if found.ids is None or ids is None:
        _refuse_other_names(found.names, names)
        return found
    order = np.argsort(found.ids, kind="stable")[np.argsort(np.argsort(ids))]
    if not np.array_equal(found.ids[order], ids):
        other = np.setxor1d(found.ids, ids)
        which = f"see id {other[0]}" if len(other) else "some are there twice"
        raise ValueError(f"it has not the atoms of the first frame: {which}")
    images = None if found.images is None else found.images[order]
    names = None if found.names is None else found.names[order]
    return found._replace(positions=found.positions[order], images=images, ids=ids, names=names)


def _refuse_other_names(names: npt.NDArray[Any] | None, first: npt.NDArray[Any] | None) -> None:
    if names is None or first is None:
        return
    other = np.flatnonzero(names != first)
    if len(other):
        place = other[0]
        raise ValueError(
            f"its atom {place + 1} is {_text(names[place])}, which is {_text(first[place])} in the "
            "first frame, and no ids tell which is which"
        )


def _text(name: object) -> str:
    text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    return " ".join(text.split()) or "nameless"


def refuse_other_ids(ids: Ints, others: Ints, path: str, other_path: str) -> None:
    """Refuse files that do not have the same atoms.

    Parameters
    ----------
    ids, others : ndarray of int
        Of the atoms of both files.
    path, other_path : str
        Their names.
    """
    different = np.setxor1d(ids, others)
    if len(different):
        raise ValueError(
            f"{path}: its atoms are not those of {other_path}, see id {different[0]}: "
            "topology and trajectories need the same atoms; choose the matching files"
        )
