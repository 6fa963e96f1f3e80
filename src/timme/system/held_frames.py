"""Frames whose coordinates are at hand: in memory, in the file of an array, or a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.system.derived_frames import PlainFrames
from timme.system.frame_choices import chosen_of, file_mark, marks_of_choice, rows_of
from timme.system.frames import Frames
from timme.system.holes import ANY, Resting


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArrayFrames(PlainFrames):
    """Frames held in memory (or in a memory map)."""

    coordinates: Coordinates  # (snapshots, sites, dimensions)
    boxes: Floats | None = None  # (snapshots, dimensions, dimensions)
    stamped: Floats | None = None  # (snapshots,), with times or numbers of frames

    @property
    def in_memory(self) -> bool:
        """Whether all of it is in memory: it is."""
        return True

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

    def keep(self, snapshots: Sequence[int]) -> ArrayFrames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        ArrayFrames
            A view of the chosen ones, where they are a range.
        """
        boxes = None if self.boxes is None else rows_of(self.boxes, snapshots)
        stamped = None if self.stamped is None else rows_of(self.stamped, snapshots)
        return ArrayFrames(rows_of(self.coordinates, snapshots), boxes, stamped)

    def with_boxes(self, boxes: Floats | None) -> ArrayFrames:
        """Put other boxes in place of those of the source.

        Parameters
        ----------
        boxes : ndarray or None
            As for :class:`Frames`.

        Returns
        -------
        ArrayFrames
            The same coordinates in these boxes.
        """
        return replace(self, boxes=boxes)

    def stamps(self) -> Floats:
        """Tell by what snapshots are in order: times, or numbers of frames.

        Returns
        -------
        ndarray, shape (snapshots,)
            NaN where nobody said.
        """
        return np.full(self.shape[0], np.nan) if self.stamped is None else self.stamped

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            All of their numbers.
        """
        yield from ("array", self.coordinates, "open" if self.boxes is None else self.boxes)


def with_stamps(frames: Frames, stamps: Floats) -> Frames:
    """Say when snapshots in memory were taken.

    Parameters
    ----------
    frames : Frames
        Of an array; others know it by themselves.
    stamps : ndarray, shape (snapshots,)
        Times, or numbers of frames, in whatever unit.

    Returns
    -------
    Frames
        The same, which tell it.
    """
    return replace(frames, stamped=stamps) if isinstance(frames, ArrayFrames) else frames


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredFrames(PlainFrames):
    """Frames of an array in a file, of which no more is held than what is asked for."""

    path: str  # a whole one, which other processes can open
    offset: int  # bytes before the first number
    stored: tuple[int, int, int]  # shape of the array, the last axis next to one another
    dtype: np.dtype[np.floating[Any]]
    chosen: Sequence[int]  # frames that count
    sites: Ints | None = None  # that are kept, all if None
    resting: Resting = ANY

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
                self.resting.refuse_holes(places, frame, source=self.path, sites=self.sites)
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

    def keep(self, snapshots: Sequence[int]) -> StoredFrames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        StoredFrames
            The chosen ones.
        """
        return replace(self, chosen=chosen_of(self.chosen, snapshots))

    def elsewhere(self) -> StoredFrames:
        """Say what another process opens to read the same.

        Returns
        -------
        StoredFrames
            These, whose path is whole.
        """
        return self

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            The file, where its numbers are, and what was chosen of them.
        """
        yield from ("stored", file_mark(self.path), self.offset, self.stored, self.dtype.str)
        yield from marks_of_choice(self.chosen, self.sites)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowFrames(PlainFrames):
    """A run of snapshots in hand, by their numbers among all; the others are elsewhere."""

    held: ArrayFrames
    first: int  # number of the first that is held
    n_snapshots: int  # of all

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, those elsewhere included, of sites and of dimensions."""
        _, n_sites, n_dimensions = self.held.shape
        return self.n_snapshots, n_sites, n_dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of the snapshots that are held, and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`.
        """
        last = self.first + self.held.shape[0]
        if not self.first <= start <= stop <= last:
            raise ValueError(
                f"snapshots {self.first + 1} to {last} are in hand, but {start + 1} to {stop} "
                "were asked for: read them from their source"
            )
        return self.held.read(start - self.first, stop - self.first)

    def keep(self, snapshots: Sequence[int]) -> WindowFrames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        WindowFrames
            Those in hand of the chosen ones.
        """
        last = self.first + self.held.shape[0]
        found = [n for n, number in enumerate(snapshots) if self.first <= number < last]
        held = self.held.keep([snapshots[n] - self.first for n in found])
        return WindowFrames(held, found[0] if found else 0, len(snapshots))

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            What is in hand, and its place among all.
        """
        yield from ("window", *self.held.marks(), self.first, self.n_snapshots)
