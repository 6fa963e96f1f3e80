"""Holes: atoms at exactly (0, 0, 0) in some frames, where nobody wrote their places.

Files and arrays that are laid out before they are filled, and frames whose writing was broken off,
hold zeros in place of coordinates. One atom at the origin may be fixed there, and several that lie
there in all frames may have no place at all; several that are there and elsewhere have not moved.
Points that are no atoms may all start at the origin, and a corner may hold some of them there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

from timme._arrays import Coordinates, Ints

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


def may_lie_there(positions: Coordinates) -> Ints | None:
    """Find which atoms may lie at the origin, as far as one frame tells.

    Parameters
    ----------
    positions : ndarray, shape (atoms, dimensions)
        Of all atoms of the frame.

    Returns
    -------
    ndarray of int or None
        Those that do, and those that are not seen; None where any may well meet there: on a lattice
        of whole numbers, on a line or in a plane, and in other spaces than those of two and three
        dimensions.
    """
    unseen = ~np.isfinite(positions).all(axis=1)
    seen = positions[~unseen]
    flat = bool((seen == seen[:1]).all(axis=0).any())
    whole = np.allclose(seen, np.round(seen), rtol=_ROUNDING, atol=0)
    if positions.shape[1] not in {2, 3} or flat or whole:
        return None
    return np.union1d(at_origin(positions), np.flatnonzero(unseen))


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


@dataclass(frozen=True, slots=True, eq=False)
class Resting:
    """What may lie at the origin, several at once."""

    sites: Ints | None = None  # of all atoms; any if None
    points: bool = False  # whether they are no atoms, which may start there, and some meet there

    @classmethod
    def of(cls, probes: Iterable[Ints | None], *, points: bool = False) -> Self:
        """Judge by some frames.

        Parameters
        ----------
        probes : iterable of ndarray or None
            As :func:`may_lie_there` tells of each.
        points : bool, optional
            Whether they are no atoms.

        Returns
        -------
        Resting
            Of all frames.
        """
        return cls(may_lie_there_always(probes), points)

    def refuse_holes(
        self, positions: Coordinates, frame: int, *, source: str, sites: Ints | None = None
    ) -> None:
        """Refuse a frame in which several sites lie at the origin, and do not in others.

        Parameters
        ----------
        positions : ndarray, shape (atoms, dimensions)
            Of all atoms of the frame.
        frame : int
            Its number in its source.
        source : str
            What it is a frame of, for the message.
        sites : ndarray of int or None
            Atoms that count, all if None.
        """
        if self.sites is None or (self.points and frame == 0):
            return
        holes = at_origin(positions)
        if len(holes) < _SEVERAL:
            return
        holes = np.setdiff1d(holes, self.sites)
        if sites is not None:
            holes = np.intersect1d(holes, sites)
        count = len(positions) if sites is None else len(sites)
        if len(holes) >= (max(_SEVERAL, count / 2) if self.points else _SEVERAL):
            origin = f"({', '.join('0' * positions.shape[1])})"
            raise ValueError(
                f"{source}: frame {frame + 1} has {len(holes):,} of {count:,} "
                f"{'points' if self.points else 'atoms'} at exactly {origin}, and other frames "
                "have them elsewhere, as if it had not been written to its end: choose snapshots "
                "before or after it (start=, stop=), or write it again"
            )


ANY = Resting()
"""Any of them may, as nobody looked."""
