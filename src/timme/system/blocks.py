"""A block: a run of consecutive snapshots, as they are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from timme._arrays import Coordinates, Floats
from timme._html import Described
from timme.system.images import Images


@dataclass(frozen=True, slots=True, repr=False)
class Block(Described):
    """A run of consecutive snapshots."""

    start: int
    coordinates: Coordinates  # (frames, sites, dimensions)
    boxes: Floats | None  # (frames, dimensions, dimensions)
    weights: Floats  # (frames,)
    complete: bool  # whether every site is seen in every frame, and all weigh the same
    single: bool  # whether sums over the block may be in single precision
    images: Images | None = None  # which images sites see, the nearest if None

    def parts(self, length: int, *, first: int = 0) -> Iterator[Block]:
        """Cut the run into shorter ones.

        Parameters
        ----------
        length : int
            Number of snapshots in each part but the last.
        first : int, optional
            Where the first part begins.

        Yields
        ------
        Block
            Consecutive snapshots, in order; nothing is copied.
        """
        for begin in range(self.start + first, self.start + len(self.weights), length):
            yield self.cut(begin, begin + length)

    def cut(self, start: int, stop: int) -> Block:
        """Take some of the snapshots.

        Parameters
        ----------
        start, stop : int
            Their numbers among all snapshots, as in a slice.

        Returns
        -------
        Block
            A view of them.
        """
        part = slice(start - self.start, stop - self.start)
        return replace(
            self,
            start=start,
            coordinates=self.coordinates[part],
            boxes=None if self.boxes is None else self.boxes[part],
            weights=self.weights[part],
        )
