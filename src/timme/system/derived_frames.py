"""Frames made of others: fewer sites, other boxes; and what all frames do by default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme._html import Described
from timme.system.frame_choices import rows_of
from timme.system.frames import Frames

if TYPE_CHECKING:
    import numpy.typing as npt


class PlainFrames(Described):
    """What frames do if they know of no better way: wrap themselves, and stay where they are."""

    __slots__ = ()

    @property
    def in_memory(self) -> bool:
        """Whether all of it is in memory: not that it is known."""
        return False

    @property
    def style(self) -> str:
        """Units of the simulation: unknown."""
        return ""

    def _facts(self) -> Iterable[tuple[str, object]]:
        told: Any = self
        return zip(("snapshots", "sites", "dimensions"), told.shape, strict=True)

    def select(self: Frames, sites: Ints) -> Frames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        Frames
            The same snapshots of fewer sites.
        """
        return SelectedFrames(self, sites)

    def with_boxes(self: Frames, boxes: Floats | None) -> Frames:
        """Put other boxes in place of those of the source.

        Parameters
        ----------
        boxes : ndarray, shape (snapshots, dimensions, dimensions), or None
            Box vectors as rows, None for open space.

        Returns
        -------
        Frames
            The same coordinates in these boxes.
        """
        return BoxedFrames(self, boxes)

    def unfold(self) -> Frames | None:
        """Say that nobody counted how often sites went through walls.

        Returns
        -------
        None
            They are where they are.
        """
        return None

    def elsewhere(self) -> Frames | None:
        """Say that nobody else can open them.

        Returns
        -------
        None
            They must be sent.
        """
        return None

    def stamps(self: Frames) -> Floats:
        """Say that nobody knows what snapshots are in order by.

        Returns
        -------
        ndarray, shape (snapshots,)
            NaN.
        """
        return np.full(self.shape[0], np.nan)

    def first_of_files(self) -> list[int]:
        """Say that these are no files in a row.

        Returns
        -------
        list of int
            None of them.
        """
        return []

    def name_of(self, frame: int) -> str:
        """Name a snapshot in messages.

        Parameters
        ----------
        frame : int
            Its number in the source.

        Returns
        -------
        str
            From 1 on.
        """
        return f"snapshot {frame + 1}"

    def time(self, snapshot: int) -> float | None:  # noqa: ARG002, nobody knows it
        """Tell when a snapshot was taken.

        Parameters
        ----------
        snapshot : int
            Which one.

        Returns
        -------
        None
            Nobody knows.
        """
        return None


class MappedFrames(PlainFrames):
    """What frames do that are made of others, ``frames``: what is asked of them, they pass on."""

    __slots__ = ()
    frames: Frames

    @property
    def style(self) -> str:
        """Units of the simulation, as the frames of which these are made say."""
        return self.frames.style

    def keep(self, snapshots: Sequence[int]) -> Frames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            Which to keep, ascending.

        Returns
        -------
        Frames
            The chosen ones; nothing is read or copied.
        """
        return self._over(self.frames.keep(snapshots))

    def with_boxes(self, boxes: Floats | None) -> Frames:
        """Put other boxes in place of those of the source.

        Parameters
        ----------
        boxes : ndarray, shape (snapshots, dimensions, dimensions), or None
            Box vectors as rows, None for open space.

        Returns
        -------
        Frames
            The same coordinates in these boxes.
        """
        return self._over(self.frames.with_boxes(boxes))

    def unfold(self) -> Frames | None:
        """Put sites where they went through the walls of the box.

        Returns
        -------
        Frames or None
            None where the frames of which these are made do not know it.
        """
        found = self.frames.unfold()
        return None if found is None else self._over(found)

    def elsewhere(self) -> Frames | None:
        """Say what another process opens to read the same.

        Returns
        -------
        Frames or None
            None where the frames of which these are made must be sent.
        """
        found = self.frames.elsewhere()
        return None if found is None else self._over(found)

    def time(self, snapshot: int) -> float | None:
        """Tell when a snapshot was taken.

        Parameters
        ----------
        snapshot : int
            Which one.

        Returns
        -------
        float or None
            In ps, as the frames of which these are made say.
        """
        return self.frames.time(snapshot)

    def stamps(self) -> Floats:
        """Tell by what snapshots are in order: times, or numbers of steps.

        Returns
        -------
        ndarray, shape (snapshots,)
            As the frames of which these are made say.
        """
        return self.frames.stamps()

    def _over(self, frames: Frames) -> Frames:
        made: Frames = replace(cast("Any", self), frames=frames)
        return made


def source_of(frames: Frames) -> Frames:
    """Find the frames of which others are made.

    Parameters
    ----------
    frames : Frames
        Made of others, or not.

    Returns
    -------
    Frames
        Those that are made of no others.
    """
    while isinstance(frames, MappedFrames):
        frames = frames.frames
    return frames


def made_of(frames: Frames, source: Frames) -> Frames:
    """Make of other frames what was made of those at the source.

    Parameters
    ----------
    frames : Frames
        Made of those at their source, in any number of steps.
    source : Frames
        Of the sites of their source, in the place of it.

    Returns
    -------
    Frames
        With molecules made whole, sites selected and boxes left out as in the first.
    """
    if not isinstance(frames, MappedFrames):
        return source
    made: Frames = replace(cast("Any", frames), frames=made_of(frames.frames, source))
    return made


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectedFrames(MappedFrames):
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

    def select(self, sites: Ints) -> SelectedFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        SelectedFrames
            The same frames of fewer sites.
        """
        return replace(self, sites=self.sites[sites])

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, and the sites.
        """
        yield from ("selected", *self.frames.marks(), self.sites)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoxedFrames(MappedFrames):
    """Frames in other boxes than those of their source."""

    frames: Frames
    boxes: Floats | None  # (snapshots, dimensions, dimensions)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        return self.frames.shape

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
        coordinates, _ = self.frames.read(start, stop)
        return coordinates, None if self.boxes is None else self.boxes[start:stop]

    def select(self, sites: Ints) -> BoxedFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        BoxedFrames
            The same frames of fewer sites.
        """
        return replace(self, frames=self.frames.select(sites))

    def keep(self, snapshots: Sequence[int]) -> BoxedFrames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        BoxedFrames
            The chosen ones, each in its box.
        """
        boxes = None if self.boxes is None else rows_of(self.boxes, snapshots)
        return BoxedFrames(self.frames.keep(snapshots), boxes)

    def with_boxes(self, boxes: Floats | None) -> BoxedFrames:
        """Put other boxes in place of these.

        Parameters
        ----------
        boxes : ndarray or None
            As for :class:`Frames`.

        Returns
        -------
        BoxedFrames
            The same coordinates in these boxes.
        """
        return replace(self, boxes=boxes)

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, and the boxes.
        """
        yield from ("boxed", *self.frames.marks(), "open" if self.boxes is None else self.boxes)
