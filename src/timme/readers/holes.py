"""Holes: atoms at exactly (0, 0, 0) in some frames, where nobody wrote their places.

Files that are laid out before they are filled, and frames whose writing was broken off, hold zeros
in place of coordinates. One atom at the origin may be fixed there, and several that lie there in
all frames may have no place at all; several that are there and elsewhere have not moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import numpy as np

from timme._arrays import Coordinates, Ints
from timme.readers.files import kind

# Formats that are laid out in bytes; in others, particles may start all at the origin.
_BINARY = frozenset((".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".h5md"))
_SEVERAL = 2  # one may be fixed there
_ROUNDING = 1e-6  # of numbers in single precision that were converted from nm


def at_origin(positions: Coordinates) -> Ints:
    """Find atoms at exactly the origin.

    Parameters
    ----------
    positions : ndarray, shape (atoms, dimensions)
        Of a frame.

    Returns
    -------
    ndarray of int
        Their indices, ascending.

    Examples
    --------
    >>> at_origin(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])).tolist()
    [0, 2]
    """
    found = np.flatnonzero(positions[:, 0] == 0)
    return np.asarray(found[(positions[found] == 0).all(axis=1)], dtype=np.int64)


def may_lie_there(path: Path, positions: Coordinates) -> Ints | None:
    """Find which atoms may lie at the origin, as far as one frame tells.

    Parameters
    ----------
    path : Path
        Its file.
    positions : ndarray, shape (atoms, dimensions)
        Of all atoms of the frame.

    Returns
    -------
    ndarray of int or None
        Those that do; None where any may well meet there: on a lattice of whole numbers, on a line
        or in a plane, and in formats in which holes are unknown.
    """
    flat = bool((positions == positions[:1]).all(axis=0).any())
    whole = np.allclose(positions, np.round(positions), rtol=_ROUNDING, atol=0)
    return None if kind(path) not in _BINARY or flat or whole else at_origin(positions)


def may_lie_there_always(found: Iterable[Ints | None]) -> Ints | None:
    """Find which atoms may lie at the origin in all frames.

    Parameters
    ----------
    found : iterable of ndarray or None
        As some frames tell.

    Returns
    -------
    ndarray of int or None
        As all of these tell that do.

    Examples
    --------
    >>> may_lie_there_always([np.array([0, 3, 4]), None, np.array([3])]).tolist()
    [3]
    """
    told = [sites for sites in found if sites is not None]
    return reduce(np.intersect1d, told) if told else None


def refuse_holes(
    positions: Coordinates, always: Ints | None, sites: Ints | None, name: str
) -> None:
    """Refuse a frame in which several sites lie at the origin, and do not in others.

    Parameters
    ----------
    positions : ndarray, shape (atoms, dimensions)
        Of all atoms of the frame.
    always : ndarray of int or None
        Atoms that may lie there; None if all may.
    sites : ndarray of int or None
        Atoms that count, all if None.
    name : str
        Of the frame, for the message.
    """
    if always is None:
        return
    holes = at_origin(positions)
    if len(holes) < _SEVERAL:
        return
    holes = np.setdiff1d(holes, always)
    if sites is not None:
        holes = np.intersect1d(holes, sites)
    if len(holes) >= _SEVERAL:
        count = len(positions) if sites is None else len(sites)
        raise ValueError(
            f"{name} has {len(holes):,} of {count:,} atoms at exactly (0, 0, 0), and other frames "
            "have them elsewhere, as if it had not been written to its end: choose snapshots "
            "before or after it (start=, stop=), or write the file again"
        )
