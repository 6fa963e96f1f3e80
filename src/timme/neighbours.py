"""Points that are near one another in one snapshot, found through a grid of cells."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import neighbours as kernel
from timme.space import Boxes

_COUNTED_AT_ONCE = 1_000_000  # contacts; many are counted faster, few take less memory
_AXES = 3  # the grid spans the first three axes; distances always count all of them


def pairs_within(points: Coordinates, radius: float, boxes: Boxes, frame: int = 0) -> Ints:
    """Find the pairs of points no farther apart than a radius.

    Parameters
    ----------
    points : ndarray, shape (points, dimensions)
        Positions; points that are not seen (NaN) have no partners.
    radius : float
        In the units of the positions.
    boxes : Boxes
        Periodic boxes.
    frame : int, optional
        Which of the boxes.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Lower first, in no order.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> len(pairs_within(square, 1.1, Boxes.of(None, 1, 2)))
    4
    """
    buffer = np.empty(16 * len(points), np.int64)  # enough for most: a second search is saved
    buffer, total = _found(points, radius, boxes, frame, buffer, 0)
    return np.column_stack(np.divmod(buffer[:total], max(1, len(points))))


class Contacts:
    """In how many snapshots each pair of points is in contact.

    Pairs are keys, lower × points + higher. Those of some snapshots wait in a buffer that is used
    again and again: to ask for new memory takes longer than to search.

    Parameters
    ----------
    radius : float
        In the units of the positions.
    """

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self._keys, self._counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self._n_keys = 0
        self._buffer, self._n_waiting = np.empty(0, np.int64), 0

    def add(self, points: Coordinates, boxes: Boxes, frame: int) -> None:
        """Search one snapshot.

        Parameters
        ----------
        points : ndarray, shape (points, dimensions)
            Positions, as for :func:`pairs_within`.
        boxes : Boxes
            Periodic boxes.
        frame : int
            Which of the boxes.
        """
        self._buffer, self._n_waiting = _found(
            points, self._radius, boxes, frame, self._buffer, self._n_waiting
        )
        if self._n_waiting > max(_COUNTED_AT_ONCE, 2 * self._n_keys):
            self._merge()

    @property
    def n_counted(self) -> int:
        """Number of different pairs that were counted so far; some may wait."""
        return self._n_keys

    def counted(self) -> tuple[Ints, Ints]:
        """Return the pairs and their counts.

        Returns
        -------
        keys : ndarray of int
            Pairs, sorted.
        counts : ndarray of int
            Snapshots in which each is in contact.
        """
        self._merge()
        return self._keys[: self._n_keys], self._counts[: self._n_keys]

    def _merge(self) -> None:
        more = self._buffer[: self._n_waiting]
        more.sort()
        keys, counts = self._keys[: self._n_keys], self._counts[: self._n_keys]
        n_all = self._n_keys + kernel.count_new(keys, more)
        if n_all > len(self._keys):
            self._keys = np.empty(n_all * 5 // 4, np.int64)
            self._counts = np.empty(n_all * 5 // 4, np.int64)
        kernel.merge_counts(keys, counts, more, self._keys[:n_all], self._counts[:n_all])
        self._n_keys, self._n_waiting = n_all, 0


def _found(
    points: Coordinates, radius: float, boxes: Boxes, frame: int, buffer: Ints, filled: int
) -> tuple[Ints, int]:
    """Put pairs behind those that a buffer holds; return it, or a larger one, and their number."""
    seen = np.flatnonzero(~np.isnan(points).any(axis=1))
    if len(seen) < 2:
        return buffer, filled
    chosen = points if len(seen) == len(points) else points[seen]
    places = np.ascontiguousarray(chosen, dtype=np.float64)
    grid = _grid(places, radius, boxes.inverses[frame])
    box = boxes.matrices[frame], boxes.inverses[frame], boxes.kind
    while True:
        found = buffer[filled:]
        total = kernel.pairs_within(places, *grid, radius, *box, found)
        if total <= len(found):
            break
        larger = np.empty(filled + max(total * 3 // 2, _COUNTED_AT_ONCE), np.int64)
        larger[:filled] = buffer[:filled]
        buffer = larger
    if len(seen) < len(points):
        first, second = np.divmod(found[:total], len(seen))
        found[:total] = seen[first] * len(points) + seen[second]
    return buffer, filled + total


def _grid(points: Floats, radius: float, inverse: Floats) -> tuple[Ints, Ints, Bools]:
    """Cell of each point along three axes, number of cells of each, and whether it wraps.

    A cell is never narrower than the radius, so that partners are in neighbouring cells.
    """
    n_points, n_dimensions = points.shape
    n_axes = min(n_dimensions, _AXES)
    most = int((4.0 * n_points) ** (1.0 / n_axes)) + 1
    width = radius * (1 + 1e-9)  # so that rounding never puts partners two cells apart
    cells = np.zeros((n_points, _AXES), np.int64)
    counts, wraps = np.ones(_AXES, np.int64), np.zeros(_AXES, np.bool_)
    for axis in range(n_axes):
        inverse_length = float(np.linalg.norm(inverse[:, axis]))
        wraps[axis] = inverse_length > 0
        if wraps[axis]:
            counts[axis] = max(1, min(most, int(1 / inverse_length / width)))
            places = points @ inverse[:, axis]
            places -= np.floor(places)
            cells[:, axis] = np.minimum((places * counts[axis]).astype(np.int64), counts[axis] - 1)
        else:
            places = points[:, axis] - points[:, axis].min()
            span = max(places.max() / 1e15, width)  # numbers stay exact
            cells[:, axis] = _squeezed((places / span).astype(np.int64), most)
            counts[axis] = cells[:, axis].max() + 1
    return cells, counts, wraps


def _squeezed(cells: Ints, most: int) -> Ints:
    """Shrink cell numbers along an open axis to at most about so many, neighbours staying so.

    Empty stretches are cut to one cell, so that a few far points cost nothing; cells that are still
    too many are joined.
    """
    if cells.max() <= most:
        return cells
    occupied, inverse = np.unique(cells, return_inverse=True)
    number = np.concatenate([[0], np.cumsum(np.minimum(np.diff(occupied), 2))])
    squeezed: Ints = number[inverse] // (number[-1] // most + 1)
    return squeezed
