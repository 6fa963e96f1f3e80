"""Where coordinates come from, and what can be done with them before they are read.

Frames know by themselves what can be done with them: fewer sites, fewer snapshots, another box,
the way to another process, and what tells them from others. So nobody has to ask of what type
they are, and new frames need no change elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from timme._arrays import Coordinates, Floats, Ints
from timme._html import Described

if TYPE_CHECKING:
    import numpy.typing as npt

Progress = Callable[[int, int], None]  # called with the work done and the whole work


class Frames(Protocol):
    """Where coordinates come from, and what can be done with them before they are read."""

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

    def select(self, sites: Ints) -> Frames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        Frames
            The same snapshots of fewer sites; of files, no more than those are ever held.
        """

    def keep(self, snapshots: Sequence[int]) -> Frames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            Which to keep, ascending; a range costs nothing, however long it is.

        Returns
        -------
        Frames
            The chosen ones; nothing is read or copied.
        """

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

    def unfolded(self) -> Frames | None:
        """Put sites where they went through the walls of the box.

        Returns
        -------
        Frames or None
            None where the source does not count how often they did.
        """

    def time(self, snapshot: int) -> float | None:
        """Tell when a snapshot was taken.

        Parameters
        ----------
        snapshot : int
            Which one.

        Returns
        -------
        float or None
            In ps; None where the source does not say.
        """

    def elsewhere(self) -> Frames | None:
        """Say what another process, maybe on another computer, opens to read the same.

        Returns
        -------
        Frames or None
            Files by their whole paths; None for what is in memory here, and must be sent.
        """

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Snapshots in memory by their numbers, files by name, size and time of their last
            change, for a long trajectory is not to be read twice; and what was chosen of them.
        """


class PlainFrames(Described):
    """What frames do if they know of no better way: wrap themselves, and stay where they are."""

    __slots__ = ()

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

    def unfolded(self) -> Frames | None:
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

    def unfolded(self) -> Frames | None:
        """Put sites where they went through the walls of the box.

        Returns
        -------
        Frames or None
            None where the frames of which these are made do not know it.
        """
        found = self.frames.unfolded()
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

    def _over(self, frames: Frames) -> Frames:
        made: Frames = replace(cast("Any", self), frames=frames)
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


def chosen_of(frames: Sequence[int], snapshots: Sequence[int]) -> Sequence[int]:
    """Choose again among frames of a file that were chosen.

    Parameters
    ----------
    frames : sequence of int
        Numbers in the file of the snapshots so far.
    snapshots : sequence of int
        Which of them to keep, ascending.

    Returns
    -------
    sequence of int
        Numbers in the file of those; a range of a range is one.
    """
    if isinstance(snapshots, range):
        return frames[snapshots.start : snapshots.stop : snapshots.step]
    return [frames[number] for number in snapshots]


def file_mark(path: str | Path) -> str:
    """Tell a file from others, and from itself after a change.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str
        Its name, size and time of last change; only the name of what is no file.
    """
    file = Path(path)
    if not file.is_file():
        return str(path)
    told = file.stat()
    return f"{file.name} {told.st_size} {told.st_mtime_ns}"


def marks_of_choice(chosen: Sequence[int], sites: Ints | None) -> Iterator[npt.ArrayLike]:
    """Walk through what was chosen of a file.

    Parameters
    ----------
    chosen : sequence of int
        Frames that count.
    sites : ndarray of int or None
        Sites that are kept, None for all.

    Yields
    ------
    array_like
        Marks, as those of :class:`Frames`.
    """
    yield repr(chosen)
    yield "all" if sites is None else sites


def rows_of(array: npt.NDArray[Any], snapshots: Sequence[int]) -> npt.NDArray[Any]:
    """Take some rows: a view where they are a range.

    Parameters
    ----------
    array : ndarray, shape (snapshots, ...)
        One row for each snapshot.
    snapshots : sequence of int
        Which rows to take.

    Returns
    -------
    ndarray
        The chosen rows.
    """
    if isinstance(snapshots, range):
        return array[snapshots.start : snapshots.stop : snapshots.step]
    return array[list(snapshots)]
