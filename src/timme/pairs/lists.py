"""Pairs of objects as a list, or all of them without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Ints, frozen
from timme._html import Described

SQUARE = 96  # objects on each side of the squares in which all pairs are walked


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs(Described):
    """Pairs of objects, each once, lower first, sorted; all pairs are symbolic."""

    n_objects: int
    index: Ints | None  # (pairs, 2); None for all pairs but those left out
    left_out: Ints  # (left out, 2), of all pairs
    description: str

    def __len__(self) -> int:
        """Count the pairs."""
        if self.index is not None:
            return len(self.index)
        return self.n_objects * (self.n_objects - 1) // 2 - len(self.left_out)

    def chunks(self, size: int) -> Iterator[Ints]:
        """Walk through the pairs in pieces.

        Parameters
        ----------
        size : int
            Pairs in a piece, about.

        Yields
        ------
        ndarray, shape (pairs, 2)
            Some of the pairs, each in one piece only.
        """
        if size < 1:
            raise ValueError(f"at least 1 pair is measured at a time, got chunk={size}")
        if self.index is not None:
            for start in range(0, max(1, len(self.index)), size):
                yield self.index[start : start + size]
            return
        # Squares of objects, whose frames stay in the cache while all of their pairs are measured.
        waiting = list[Ints]()
        for first in range(0, self.n_objects, SQUARE):
            waiting.append(without(self._band(first), self.left_out, self.n_objects))
            if sum(map(len, waiting)) > size:
                listed = np.concatenate(waiting)
                last = (len(listed) - 1) // size * size
                yield from (listed[start : start + size] for start in range(0, last, size))
                waiting = [listed[last:]]
        yield np.concatenate(waiting)

    def keep(self, index: Ints) -> Pairs:
        """Keep some of all pairs, as a list in the order in which all are walked through.

        Parameters
        ----------
        index : ndarray, shape (pairs, 2)
            Pairs of objects, lower first, each once; those left out may be among them.

        Returns
        -------
        Pairs
            These pairs.
        """
        one, other = without(index, self.left_out, self.n_objects).T
        order = np.lexsort((other, one, other // SQUARE, one // SQUARE))
        listed = frozen(np.column_stack([one[order], other[order]]))
        return replace(self, index=listed, left_out=np.empty((0, 2), np.int64))

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("objects", self.n_objects),
            ("pairs", len(self)),
            ("which", self.description),
            ("listed", "no" if self.index is None else "yes"),
        )

    def _band(self, first: int) -> Ints:
        """All pairs of some consecutive objects with later ones, square by square."""
        square = np.indices((SQUARE, SQUARE)).reshape(2, -1).T
        own = square[square[:, 0] < square[:, 1]] + first
        corners = np.arange(first + SQUARE, self.n_objects, SQUARE)
        beside = square + np.column_stack([np.full_like(corners, first), corners])[:, None]
        band = np.concatenate([own, beside.reshape(-1, 2)])
        whole = (self.n_objects - first) % SQUARE == 0
        return band if whole else band[band[:, 1] < self.n_objects]


def without(index: Ints, left_out: Ints, n_objects: int) -> Ints:
    """Remove some pairs from a list.

    Parameters
    ----------
    index : ndarray, shape (pairs, 2)
        Pairs of objects.
    left_out : ndarray, shape (left out, 2)
        Pairs to remove, in the same orientation.
    n_objects : int
        Number of objects.

    Returns
    -------
    ndarray, shape (pairs, 2)
        The others, in the same order.
    """
    if len(left_out) == 0:
        return index
    keys = index[:, 0] * n_objects + index[:, 1]
    barred = np.sort(left_out[:, 0] * n_objects + left_out[:, 1])
    there = np.minimum(np.searchsorted(barred, keys), len(barred) - 1)
    kept: Ints = index[barred[there] != keys]
    return kept


def lower_first(index: Ints) -> Ints:
    """Name the lower of the two objects of each pair first.

    Parameters
    ----------
    index : ndarray, shape (pairs, 2)
        Pairs of objects.

    Returns
    -------
    ndarray, shape (pairs, 2)
        The same pairs.
    """
    one, other = index.T
    ordered = np.empty((len(index), 2), np.int64)
    np.minimum(one, other, out=ordered[:, 0])
    np.maximum(one, other, out=ordered[:, 1])
    return ordered
