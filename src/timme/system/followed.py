"""Molecules and particles followed through the walls of their box, from snapshot to snapshot.

What has not moved keeps its place in a box that changes; from there, the nearest image is taken. So
every place is that of a true image, and neighbours stay neighbours through any number of walls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import wholes as kernel
from timme.system.frames import (
    BoxedFrames,
    Frames,
    MappedFrames,
    Progress,
    chosen_of,
    marks_of_choice,
)
from timme.system.space import Boxes

_ANCHOR_BYTES = 50_000_000  # all anchors together take no more than about this
_FEWEST_BETWEEN = 16  # snapshots from one anchor to the next
_MOST_LONG = 1e-3  # of all steps may be so long that another image is nearly as likely


@dataclass(frozen=True, slots=True, eq=False)
class Anchors:
    """Where molecules are in some snapshots, from which they are followed to those after."""

    every: int  # snapshots from one to the next
    centres: Floats  # (anchors, molecules, dimensions)
    boxes: Floats  # (anchors, dimensions, dimensions), each in the basis of the one before


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FollowedFrames(MappedFrames):
    """Frames in which nothing jumps: every molecule goes on from where it was."""

    frames: Frames  # in boxes, molecules whole
    molecules: Ints  # (sites,), numbers of those of the anchors
    anchors: Anchors
    chosen: Sequence[int]  # snapshots that count

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        _, sites, dimensions = self.frames.shape
        return len(self.chosen), sites, dimensions

    @property
    def origin(self) -> Floats:
        """Centre of the molecule of each site in the first snapshot of all."""
        origin: Floats = self.anchors.centres[0, self.molecules]
        return origin

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`; the vectors of the boxes follow one another too.
        """
        wanted = np.asarray(self.chosen[start:stop], dtype=np.int64)
        _, n_sites, n_dimensions = self.shape
        coordinates = np.empty((len(wanted), n_sites, n_dimensions))
        boxes = np.empty((len(wanted), n_dimensions, n_dimensions))
        numbers = wanted // self.anchors.every
        for number in np.unique(numbers).tolist():
            rows = numbers == number
            inside = wanted[rows] - number * self.anchors.every
            followed, around = self._read_from(number, int(inside[-1]) + 1)
            coordinates[rows], boxes[rows] = followed[inside], around[inside]
        return coordinates, boxes

    def _read_from(self, number: int, count: int) -> tuple[Floats, Floats]:
        """Read snapshots from an anchor on."""
        start = number * self.anchors.every
        whole, matrices = _read_whole(self.frames, start, start + count)
        numbers, own = np.unique(self.molecules, return_inverse=True)
        centres = _centres(whole, own)
        before = self.anchors.centres[number, numbers].copy(), self.anchors.boxes[number]
        moved, boxes, _ = _follow(centres, matrices, *before)
        return whole + (moved - centres)[:, own], boxes

    def select(self, sites: Ints) -> FollowedFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        FollowedFrames
            The same frames of fewer sites.
        """
        return replace(self, frames=self.frames.select(sites), molecules=self.molecules[sites])

    def keep(self, snapshots: Sequence[int]) -> FollowedFrames:
        """Keep some of the snapshots, followed through all.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        FollowedFrames
            The chosen ones.
        """
        return replace(self, chosen=chosen_of(self.chosen, snapshots))

    def with_boxes(self, boxes: Floats | None) -> BoxedFrames:
        """Put other boxes in place of those through which molecules were followed.

        Parameters
        ----------
        boxes : ndarray or None
            As for :class:`Frames`.

        Returns
        -------
        BoxedFrames
            The same places in these boxes.
        """
        return BoxedFrames(self, boxes)

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, the molecules, and what was chosen.
        """
        yield from ("followed", *self.frames.marks(), self.molecules)
        yield from marks_of_choice(self.chosen, None)


def follow(frames: Frames, molecules: Ints, progress: Progress | None = None) -> FollowedFrames:
    """Follow every molecule through all snapshots.

    Parameters
    ----------
    frames : Frames
        Whole molecules in periodic boxes.
    molecules : ndarray of int, shape (sites,)
        Number of the molecule of each site, from 0 on.
    progress : callable, optional
        Called with the snapshots done and all of them.

    Returns
    -------
    FollowedFrames
        The same snapshots without jumps.

    Raises
    ------
    ValueError
        If many molecules move by so much that nobody can tell through which wall.
    """
    n_snapshots, _, n_dimensions = frames.shape
    n_molecules = int(molecules.max()) + 1
    affordable = _ANCHOR_BYTES // (8 * n_molecules * n_dimensions)
    every = max(_FEWEST_BETWEEN, -(-n_snapshots // max(1, affordable)))
    centres, boxes, n_long = list[Floats](), list[Floats](), 0
    last, box = np.empty((0, n_dimensions)), np.empty((0, 0))
    for start in range(0, n_snapshots, every):
        stop = min(start + every, n_snapshots)
        whole, matrices = _read_whole(frames, start, stop)
        found = _centres(whole, molecules)
        if not start:
            last, box = found[0].copy(), matrices[0]
        found, around, n_longer = _follow(found, matrices, last, box)
        n_long += n_longer
        centres.append(found[0])
        boxes.append(around[0])
        box = around[-1]
        if progress is not None:
            progress(stop, n_snapshots)
    n_steps = max(1, (n_snapshots - 1) * n_molecules)
    if n_long > _MOST_LONG * n_steps:
        raise ValueError(
            f"{n_long:,} of {n_steps:,} steps from snapshot to snapshot are about half the box "
            "long, so that nobody can tell through which wall they went: use snapshots that are "
            "closer in time, or leave out unwrap=True"
        )
    anchors = Anchors(every, np.array(centres), np.array(boxes))
    return FollowedFrames(frames, molecules, anchors, range(n_snapshots))


def _read_whole(frames: Frames, start: int, stop: int) -> tuple[Floats, Floats]:
    coordinates, boxes = frames.read(start, stop)
    if boxes is None or not boxes.any(axis=(1, 2)).all():
        raise ValueError("following through walls needs a periodic box in every snapshot")
    return np.array(coordinates, np.float64), boxes


def _centres(coordinates: Floats, molecules: Ints) -> Floats:
    """Mean place of each molecule in each snapshot."""
    order = np.argsort(molecules, kind="stable")
    starts = np.searchsorted(molecules[order], np.arange(int(molecules.max()) + 1))
    sums = np.add.reduceat(coordinates[:, order], starts, axis=1)
    centres: Floats = sums / np.bincount(molecules)[:, None]
    return centres


def _follow(
    centres: Floats, matrices: Floats, last: Floats, box: Floats
) -> tuple[Floats, Floats, int]:
    """Follow centres from where they were last, in what box; ``last`` becomes the end."""
    boxes = _in_one_basis(matrices, box)
    around = Boxes.of(np.concatenate([box[None], boxes]), len(boxes) + 1, len(box))
    followed = centres.copy()
    _, n_long = kernel.follow(followed, last, around.matrices, around.inverses, around.kind)
    return followed, boxes, int(n_long)


def _in_one_basis(matrices: Floats, before: Floats) -> Floats:
    """Choose vectors of each lattice that are nearly those of the one before."""
    if (matrices == np.einsum("fii->fi", matrices)[..., None] * np.eye(len(before))).all():
        return matrices
    boxes = np.empty_like(matrices)
    for frame, matrix in enumerate(matrices):
        change = np.rint(matrix @ np.linalg.inv(before))
        before = boxes[frame] = np.linalg.inv(change) @ matrix
    return boxes
