"""Frames: where coordinates come from, and what is done with them after they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, Strings

Numbers = Sequence[int]  # of snapshots
Placed = tuple[Coordinates, Floats | None]  # (frames, sites, dimensions), and boxes or none


class Frame(NamedTuple):
    """One snapshot as a file has it."""

    positions: Coordinates  # (atoms, dimensions)
    box: Floats | None = None  # (dimensions, dimensions), rows are box vectors
    images: Ints | None = None  # (atoms, dimensions), boxes that each atom has crossed
    ids: Ints | None = None  # (atoms,), where atoms may come in any order
    names: Strings | None = None  # (atoms,)


class Source(Protocol):
    """Where coordinates come from: picklable, holds no open file.

    Classes need not derive from it.
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""

    @property
    def times(self) -> Floats:
        """Times of all snapshots in ps, or their numbers of steps; NaN where unknown."""

    @property
    def on_disk(self) -> bool:
        """Whether another process can open it, so that its coordinates need not be sent."""

    def read(self, numbers: Numbers, sites: Ints | None) -> Placed:
        """Return coordinates (numbers, sites, dimensions) of some snapshots, and their boxes.

        ``sites`` None means all.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ArraySource:
    """Coordinates in memory (or in a memory map)."""

    coordinates: Coordinates  # (snapshots, sites, dimensions)
    boxes: Floats | None  # (snapshots, dimensions, dimensions)
    times: Floats  # (snapshots,)
    on_disk: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        snapshots, sites, dimensions = self.coordinates.shape
        return snapshots, sites, dimensions

    def read(self, numbers: Numbers, sites: Ints | None) -> Placed:
        """Return coordinates and boxes, views where all sites of a range are read."""
        coordinates = rows(self.coordinates, numbers)
        boxes = None if self.boxes is None else rows(self.boxes, numbers)
        return coordinates if sites is None else coordinates[:, sites], boxes


class Step:
    """What is done with frames after they are read; this one does nothing."""

    __slots__ = ()

    def __call__(self, coordinates: Coordinates, boxes: Floats | None, _n: Numbers) -> Placed:
        """Return new coordinates and boxes of snapshots with these numbers in their source.

        Arrays that are passed must not be changed.
        """
        return coordinates, boxes

    def select(self, sites: Ints) -> tuple[Step, Ints]:
        """Return a step that gives some of the sites, and which sites it needs for them."""
        return self, sites

    def shape(self, n_sites: int, n_dimensions: int) -> tuple[int, int]:
        """Return the numbers of sites and dimensions that it makes of others."""
        return n_sites, n_dimensions


class OpenSpace(Step):
    """Take boxes away, before or after steps that need them."""

    __slots__ = ()

    def __call__(self, coordinates: Coordinates, *_: object) -> Placed:
        """Return the coordinates, and no boxes."""
        return coordinates, None


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Some snapshots of some sites of a source, and the steps that are done with them."""

    source: Source
    numbers: Sequence[int]  # of the snapshots in the source, ascending
    sites: Ints | None = None  # of the source, None for all
    steps: tuple[Step, ...] = ()
    boxes: Floats | None = None  # (snapshots, dimensions, dimensions), in place of the file's

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return all frames of a source."""
        return cls(source, range(source.shape[0]))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        _, n_sites, n_dimensions = self.source.shape
        n_sites = n_sites if self.sites is None else len(self.sites)
        for step in self.steps:
            n_sites, n_dimensions = step.shape(n_sites, n_dimensions)
        return len(self.numbers), n_sites, n_dimensions

    @property
    def times(self) -> Floats:
        """Times of the snapshots in ps, or their numbers of steps; NaN where unknown."""
        return rows(self.source.times, self.numbers)

    def read(self, start: int, stop: int) -> Placed:
        """Return coordinates (stop - start, sites, dimensions) of a range and their boxes.

        Boxes (stop - start, dimensions, dimensions) are None in open space.
        """
        numbers = self.numbers[start:stop]
        coordinates, boxes = self.source.read(numbers, self.sites)
        if self.boxes is not None:
            boxes = self.boxes[start:stop]
        for step in self.steps:
            coordinates, boxes = step(coordinates, boxes, numbers)
        return coordinates, boxes

    def keep(self, numbers: Sequence[int]) -> Frames:
        """Return some of the snapshots, by their places here; nothing is read."""
        boxes = None if self.boxes is None else rows(self.boxes, numbers)
        return replace(self, numbers=chosen(self.numbers, numbers), boxes=boxes)

    def select(self, sites: Ints) -> Frames:
        """Return some of the sites; no more is read than steps need for them."""
        steps = list[Step]()
        for step in reversed(self.steps):
            fewer, sites = step.select(sites)
            steps.append(fewer)
        sites = sites if self.sites is None else self.sites[sites]
        return replace(self, sites=sites, steps=tuple(reversed(steps)))

    def then(self, step: Step) -> Frames:
        """Return the same frames with one more step."""
        return replace(self, steps=(*self.steps, step))

    def over(self, source: Source) -> Frames:
        """Return the same choice and steps over another source of the same sites."""
        return replace(self, source=source)


def rows(array: npt.NDArray[Any], numbers: Sequence[int]) -> npt.NDArray[Any]:
    """Return some rows of an array, a view where they are a range."""
    if isinstance(numbers, range):
        return array[numbers.start : numbers.stop : numbers.step]
    return array[np.asarray(numbers, np.int64)]


def chosen(numbers: Sequence[int], places: Sequence[int]) -> Sequence[int]:
    """Return some of a sequence of numbers, a range where both are."""
    if isinstance(numbers, range) and isinstance(places, range):
        return numbers[places.start : places.stop : places.step]
    return [numbers[place] for place in places]
