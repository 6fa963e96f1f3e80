"""Centres of groups of sites, as frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.system.derived_frames import MappedFrames
from timme.system.frames import Frames
from timme.system.images import Images
from timme.system.space import Boxes


@dataclass(frozen=True, slots=True, eq=False)
class CentreFrames(MappedFrames):
    """Centres of groups of sites of other frames."""

    frames: Frames
    members: Ints
    offsets: Ints
    weights: Floats
    images: Images | None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, groups and dimensions."""
        snapshots, _, dimensions = self.frames.shape
        return snapshots, len(self.offsets) - 1, dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return the centres in a range of snapshots, and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`; NaN where a member of a group is not seen.
        """
        coordinates, boxes = self.frames.read(start, stop)
        n_frames, _, n_dimensions = coordinates.shape
        walk = coordinates[:, self.members].astype(np.float64)
        first = self.offsets[:-1]
        origins = walk[:, first].copy()
        # Steps from each member to the next, through the walls of the box, make a group whole.
        before = np.concatenate([self.members[:1], self.members[:-1]])
        around = Boxes.of(boxes, n_frames, n_dimensions, self.images)
        steps = around.between(coordinates, before, self.members)
        steps[:, first] = 0.0
        offsets = np.nancumsum(steps, axis=1)
        offsets -= np.repeat(offsets[:, first], np.diff(self.offsets), axis=1)
        offsets[np.isnan(walk)] = np.nan  # a group with a member that is not seen is not seen
        moved = np.add.reduceat(offsets * self.weights[:, None], first, axis=1)
        return origins + moved, boxes

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, and what the groups are.
        """
        yield from ("centres", *self.frames.marks(), self.members, self.offsets, self.weights)
        yield "nearest" if self.images is None else self.images.molecules
