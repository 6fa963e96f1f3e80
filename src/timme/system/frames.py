"""Where coordinates come from, and what can be done with them before they are read.

Frames know by themselves what can be done with them: fewer sites, fewer snapshots, another box,
the way to another process, and what tells them from others. So nobody has to ask of what type
they are, and new frames need no change elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from timme._arrays import Coordinates, Floats, Ints

if TYPE_CHECKING:
    import numpy.typing as npt

Progress = Callable[[int, int], None]  # called with the work done and the whole work


class Frames(Protocol):
    """Where coordinates come from, and what can be done with them before they are read."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""

    @property
    def in_memory(self) -> bool:
        """Whether all of it is in memory, so that it takes nothing to read it again."""

    @property
    def style(self) -> str:
        """Units of the simulation, as the program names them that wrote the source; else ""."""

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

    def unfold(self) -> Frames | None:
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

    def stamps(self) -> Floats:
        """Tell by what snapshots are in order: times, or numbers of steps, which grow within a run.

        Returns
        -------
        ndarray, shape (snapshots,)
            In whatever unit; NaN where the source does not say, or not without whole frames, for
            which :meth:`time` may be asked.
        """

    def first_of_files(self) -> list[int]:
        """Number the snapshots with which files begin, where several stand in a row.

        Returns
        -------
        list of int
            Of all in the source; none where they are of no files, or of one.
        """

    def name_of(self, frame: int) -> str:
        """Name a snapshot in messages.

        Parameters
        ----------
        frame : int
            Its number in the source.

        Returns
        -------
        str
            From 1 on, with its file if it has one.
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
