"""Where coordinates come from: an array in memory, a file, or some sites of other frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from timme._arrays import Coordinates, Floats, Ints


class Frames(Protocol):
    """Where coordinates come from: memory, a file, or a mapping of other frames."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return snapshots ``start`` to ``stop`` and their boxes.

        Parameters
        ----------
        start, stop : int
            Range of snapshots, as in a slice.

        Returns
        -------
        coordinates : ndarray, shape (stop - start, sites, dimensions)
            Positions, NaN where a site is not seen.
        boxes : ndarray, shape (stop - start, dimensions, dimensions), or None
            Box vectors as rows, None where space is open.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ArrayFrames:
    """Frames held in memory (or in a memory map)."""

    coordinates: Coordinates  # (snapshots, sites, dimensions)
    boxes: Floats | None = None  # (snapshots, dimensions, dimensions)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        snapshots, sites, dimensions = self.coordinates.shape
        return snapshots, sites, dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`.
        """
        boxes = None if self.boxes is None else self.boxes[start:stop]
        return self.coordinates[start:stop], boxes


@dataclass(frozen=True, slots=True, eq=False)
class StoredFrames:
    """Frames of an array in a file, of which no more is held than what is asked for."""

    path: str
    offset: int  # bytes before the first number
    stored: tuple[int, int, int]  # shape of the array, the last axis next to one another
    dtype: np.dtype[np.floating[Any]]
    chosen: range  # frames that count
    sites: Ints | None = None  # that are kept, all if None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        _, sites, dimensions = self.stored
        return len(self.chosen), sites if self.sites is None else len(self.sites), dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`.
        """
        _, sites, dimensions = self.stored
        count = sites * dimensions
        frames = self.chosen[start:stop]
        coordinates = np.empty((len(frames), *self.shape[1:]), self.dtype)
        with Path(self.path).open("rb") as file:
            for row, frame in enumerate(frames):
                file.seek(self.offset + frame * count * self.dtype.itemsize)
                found = np.fromfile(file, self.dtype, count)
                if len(found) < count:
                    raise ValueError(f"{self.path}: snapshot {frame + 1} is gone: write it again")
                places = found.reshape(sites, dimensions)
                coordinates[row] = places if self.sites is None else places[self.sites]
        return coordinates, None

    def select(self, sites: Ints) -> StoredFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        StoredFrames
            The same frames of fewer sites.
        """
        return replace(self, sites=sites if self.sites is None else self.sites[sites])


@dataclass(frozen=True, slots=True, eq=False)
class SelectedFrames:
    """Some of the sites of other frames."""

    frames: Frames
    sites: Ints

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        snapshots, _, dimensions = self.frames.shape
        return snapshots, len(self.sites), dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`.
        """
        coordinates, boxes = self.frames.read(start, stop)
        return coordinates[:, self.sites], boxes
