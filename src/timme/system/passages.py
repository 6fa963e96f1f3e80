"""Passages through walls: how many box vectors lead from a file's places to true ones.

Whole numbers, which change where a molecule goes through a wall and nowhere else: all of them are
kept once in a while, and in between only what changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints

Counts = npt.NDArray[np.int32]  # there may be many

_KEPT_BYTES = 50_000_000  # of counts of all molecules
_FEWEST_BETWEEN = 16  # snapshots in which those of all are kept


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """How many box vectors lead to the image that is followed, of all molecules."""

    boxes: Floats  # (snapshots, dimensions, dimensions), each in the basis of the one before
    every: int  # snapshots from one of which all counts are kept to the next
    counts: Counts  # (kept snapshots, molecules, dimensions)
    starts: Ints  # (snapshots + 1,), where the changes in each snapshot begin
    molecules: Counts  # (changes,)
    changes: Counts  # (changes, dimensions)

    def walk(self, snapshots: Sequence[int]) -> Iterator[Counts]:
        """Go through some snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            Which, ascending.

        Yields
        ------
        ndarray of int, shape (molecules, dimensions)
            Counts in each of them; do not keep them.
        """
        at, counts = -1, self.counts[0]
        for snapshot in snapshots:
            kept = snapshot // self.every
            if at < kept * self.every:
                at, counts = kept * self.every, self.counts[kept].copy()
            new = slice(self.starts[at + 1], self.starts[snapshot + 1])
            np.add.at(counts, self.molecules[new], self.changes[new])
            at = snapshot
            yield counts


class Steps:
    """What is kept of the counts of all snapshots.

    Parameters
    ----------
    every : int
        Snapshots from one of which all counts are kept to the next.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._n_snapshots = 0
        self._kept, self._numbers = list[Counts](), list[int]()
        self._molecules, self._changes = list[Counts](), list[Counts]()

    @classmethod
    def of(cls, n_snapshots: int, shape: tuple[int, ...]) -> Self:
        """Begin without any, such that all together stay small.

        Parameters
        ----------
        n_snapshots : int
            How many will come.
        shape : tuple of int
            Numbers of molecules and dimensions.

        Returns
        -------
        Steps
            To be filled.
        """
        affordable = _KEPT_BYTES // (4 * int(np.prod(shape)))
        return cls(max(_FEWEST_BETWEEN, -(-n_snapshots // max(1, affordable))))

    def add(self, found: Counts, before: Counts) -> None:
        """Add the counts of some snapshots.

        Parameters
        ----------
        found : ndarray of int, shape (snapshots, molecules, dimensions)
            Of each of them.
        before : ndarray of int, shape (molecules, dimensions)
            Of the one before.
        """
        for counts in found:
            if self._n_snapshots % self._every == 0:
                self._kept.append(counts.copy())
            moved = np.flatnonzero((counts != before).any(axis=1))
            self._numbers.append(len(moved))
            self._molecules.append(moved.astype(np.int32))
            self._changes.append((counts - before)[moved])
            self._n_snapshots += 1
            before = counts

    def paths(self, boxes: Floats) -> Paths:
        """Put all together.

        Parameters
        ----------
        boxes : ndarray, shape (snapshots, dimensions, dimensions)
            As for :class:`Paths`.

        Returns
        -------
        Paths
            Of all snapshots that were added.
        """
        return Paths(
            boxes,
            self._every,
            np.array(self._kept),
            np.concatenate([[0], np.cumsum(self._numbers)]),
            np.concatenate(self._molecules),
            np.concatenate(self._changes),
        )
