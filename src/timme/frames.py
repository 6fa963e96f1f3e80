"""Where coordinates come from: an array in memory, a file, or some sites of other frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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
