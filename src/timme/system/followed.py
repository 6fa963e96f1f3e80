"""Molecules and particles followed through the walls of their box, from snapshot to snapshot.

What has not moved keeps its place in a box that changes; from there, the nearest image is taken. So
every place is that of a true image, and neighbours stay neighbours through any number of walls. How
many box vectors lead from the place in the file to that image is found once, in one pass, and kept:
whole numbers, which change where a molecule goes through a wall and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import wholes as kernel
from timme.system.derived_frames import BoxedFrames, MappedFrames
from timme.system.doubt import (
    are_doubtful,
    refuse_doubtful_gaps,
    refuse_other_beginnings,
    with_stand_ins,
)
from timme.system.frame_choices import chosen_of, marks_of_choice
from timme.system.frames import Frames, Progress
from timme.system.pace import Pace
from timme.system.passages import Counts, Paths, Steps
from timme.system.space import Boxes, inverted

_READ_BYTES = 50_000_000  # of coordinates, at once
_MOST_AT_ONCE = 64  # snapshots, after which progress is told
_OTHER_SCALE = 1.5  # by which a box may grow in one step without a second look


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FollowedFrames(MappedFrames):
    """Frames in which nothing jumps: every molecule goes on from where it was."""

    frames: Frames  # in boxes, molecules whole, the chosen snapshots only
    molecules: Ints  # (sites,), numbers of those of the paths
    paths: Paths
    chosen: Sequence[int]  # snapshots that count, of those that were followed

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
            As for :class:`Frames`; the vectors of the boxes follow one another too.
        """
        wanted = self.chosen[start:stop]
        coordinates = np.array(self.frames.read(start, stop)[0], np.float64)
        boxes: Floats = self.paths.boxes[wanted]
        for row, counts in enumerate(self.paths.walk(wanted)):
            coordinates[row] += (counts @ boxes[row])[self.molecules]
        return coordinates, boxes

    def select(self, sites: Ints) -> FollowedFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        FollowedFrames
            The same frames of fewer sites, which go where their molecules went.
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
        kept = chosen_of(self.chosen, snapshots)
        return replace(self, frames=self.frames.keep(snapshots), chosen=kept)

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


def follow(
    frames: Frames,
    molecules: Ints,
    progress: Progress | None = None,
    *,
    pace: Pace | None = None,
) -> FollowedFrames:
    """Follow every molecule through all snapshots.

    Each goes on from where it was, so that snapshots are read once, in their order: there is
    nothing to share among workers and nothing to take up again, and of a run nobody but the one who
    watches it is needed.

    Parameters
    ----------
    frames : Frames
        Whole molecules in periodic boxes, all seen in the first snapshot.
    molecules : ndarray of int, shape (sites,)
        Number of the molecule of each site.
    progress : callable, optional
        Called with the snapshots done and all of them.
    pace : Pace, optional
        How far snapshots are apart in time, and with which of them another run begins, in which
        molecules go on from where they were in the first snapshot of all; by default, one run, at
        the times that the frames tell.

    Returns
    -------
    FollowedFrames
        The same snapshots without jumps.

    Raises
    ------
    ValueError
        If a molecule moves by so much that nobody can tell through which wall, or if runs do not
        begin alike.
    """
    pace = Pace.of(frames) if pace is None else pace
    n_snapshots, n_sites, n_dimensions = frames.shape
    owners = np.unique(molecules, return_inverse=True)[1]
    n_molecules = int(owners.max()) + 1
    length = min(max(1, _READ_BYTES // (8 * n_sites * n_dimensions)), _MOST_AT_ONCE)
    counts = np.zeros((n_molecules, n_dimensions), np.int32)
    steps = Steps.of(n_snapshots, counts.shape)
    boxes = np.empty((n_snapshots, n_dimensions, n_dimensions))
    walk = _Walk(n_molecules, n_dimensions)
    for start in range(0, n_snapshots, length):
        stop = min(start + length, n_snapshots)
        whole, matrices = read_whole(frames, start, stop)
        middles = centres(whole, owners)
        for first, end in _stretches(pace, start, stop):
            part = slice(first - start, end - start)
            anew = not pace.steps[first]
            before = boxes[0 if anew else first - 1] if first else matrices[0]
            boxes[first:end] = in_one_basis(matrices[part], before)
            around = np.concatenate([before[None], boxes[first:end]])
            if anew:
                walk.begin(middles[part.start], around[:2], pace.first + first + 1)
            elif pace.steps[first] > 1:
                walk.forget()
            found = walk.go_on(middles[part], around, counts)
            steps.add(found, counts)
            counts = found[-1]
        if progress is not None:
            progress(stop, n_snapshots)
    _refuse_doubtful(walk.longest, walk.squares, walk.n_steps)
    paths = FollowedFrames(frames, owners, steps.paths(boxes), range(n_snapshots))
    if walk.gapped:
        refuse_doubtful_gaps(_fractions(paths, length), pace)
    return paths


def _stretches(pace: Pace, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Part snapshots where one is not a usual step away from the one before."""
    broken = start + 1 + np.flatnonzero(pace.steps[start + 1 : stop] != 1)
    yield from pairwise([start, *broken.tolist(), stop])


class _Walk:
    """Where molecules are, and how far they moved from one snapshot to the next."""

    def __init__(self, n_molecules: int, n_dimensions: int) -> None:
        self.longest, self.squares = np.zeros((2, n_molecules, n_dimensions))
        self.n_steps = np.zeros(n_molecules, np.int64)
        self.gapped = False
        self._seen = np.ones(n_molecules, np.bool_)
        self._origin: Floats | None = None  # where they are in the first snapshot
        self._last = np.empty((n_molecules, n_dimensions))

    def begin(self, middles: Floats, boxes: Floats, snapshot: int) -> None:
        """Begin a run, each molecule in the image that is nearest to where it began the first."""
        if np.isnan(middles).any():
            raise ValueError(
                "following needs all sites in the first snapshot of a run, and some are not seen "
                f"in snapshot {snapshot:,}: unwrap each run by itself, or leave these sites out"
            )
        if self._origin is None:
            self._origin = middles.copy()
        around = Boxes.of(boxes, 2, middles.shape[1])
        ways, squares = np.zeros((2, *middles.shape))
        kernel.follow(
            middles[None].copy(), self._origin.copy(), around.matrices, around.inverses,
            around.kind, np.ones_like(self._seen), np.zeros_like(self.n_steps), ways, squares,
        )  # fmt: skip
        refuse_other_beginnings(ways, snapshot)
        self._last = self._origin.copy()
        self._seen[:] = False  # the way from there is no step

    def forget(self) -> None:
        """Take the next way for no step: snapshots are missing before it."""
        self._seen[:] = False
        self.gapped = True

    def go_on(self, middles: Floats, boxes: Floats, before: Counts) -> Counts:
        """Follow molecules through snapshots; the first box is that of the one before."""
        around = Boxes.of(boxes, len(boxes), middles.shape[2])
        followed = middles.copy()
        kernel.follow(
            followed, self._last, around.matrices, around.inverses, around.kind,
            self._seen, self.n_steps, self.longest, self.squares,
        )  # fmt: skip
        self.gapped |= bool(np.isnan(middles).any())
        return _counts(followed - middles, around.inverses[1:], before)


def _fractions(paths: FollowedFrames, length: int) -> Iterator[Floats]:
    """Walk through the places of all molecules, in box vectors."""
    n_snapshots = paths.shape[0]
    for start in range(0, n_snapshots, length):
        stop = min(start + length, n_snapshots)
        coordinates, boxes = paths.read(start, stop)
        inverses = Boxes.of(boxes, stop - start, paths.shape[2]).inverses
        middles = centres(np.array(coordinates, np.float64), paths.molecules)
        yield from np.einsum("fmd,fde->fme", middles, inverses)


def read_whole(frames: Frames, start: int, stop: int) -> tuple[Floats, Floats]:
    """Read snapshots of which each must have a box.

    Parameters
    ----------
    frames : Frames
        Snapshots.
    start, stop : int
        Which of them.

    Returns
    -------
    coordinates, boxes
        As for :class:`Frames`, in double precision.
    """
    coordinates, boxes = frames.read(start, stop)
    if boxes is None or not boxes.any(axis=(1, 2)).all():
        raise ValueError("following through walls needs a periodic box in every snapshot")
    return np.array(coordinates, np.float64), boxes


def centres(coordinates: Floats, molecules: Ints) -> Floats:
    """Find the mean place of each molecule in each snapshot.

    Parameters
    ----------
    coordinates : ndarray, shape (snapshots, sites, dimensions)
        Positions, NaN where a site is not seen.
    molecules : ndarray of int, shape (sites,)
        Numbers from 0 on, none left out.

    Returns
    -------
    ndarray, shape (snapshots, molecules, dimensions)
        Of those of its sites that are seen, NaN where none is.
    """
    order = np.argsort(molecules, kind="stable")
    starts = np.searchsorted(molecules[order], np.arange(int(molecules.max()) + 1))
    seen: Bools = np.asarray(np.isfinite(coordinates).all(axis=2, keepdims=True))
    sums = np.add.reduceat(np.where(seen, coordinates, 0.0)[:, order], starts, axis=1)
    counted = np.add.reduceat(seen[:, order].astype(np.int64), starts, axis=1)
    with np.errstate(invalid="ignore"):  # nothing of a molecule is seen: it has no place
        found: Floats = sums / counted
    return found


def _counts(moved: Floats, inverses: Floats, before: Counts) -> Counts:
    """Count box vectors in all snapshots; what is not seen is where it was ``before``."""
    counts = np.einsum("fmd,fde->fme", moved, inverses)
    found: Counts = np.empty(counts.shape, np.int32)
    for row, each in enumerate(counts):
        before = found[row] = np.where(np.isnan(each), before, np.rint(each))
    return found


def _refuse_doubtful(longest: Floats, squares: Floats, n_steps: Ints) -> None:
    """Refuse steps of which nobody can tell through which wall they went."""
    usual = with_stand_ins(squares, n_steps)
    doubtful = are_doubtful(longest, usual)
    count = np.count_nonzero(doubtful.any(axis=1))
    if count:
        raise ValueError(
            f"{count:,} of {len(longest):,} molecules or particles move by up to "
            f"{longest.max():.2g} of the box from one snapshot to the next, so that nobody can "
            "tell through which wall they went: use snapshots that are closer in time, or leave "
            "out unwrap=True"
        )


def in_one_basis(matrices: Floats, before: Floats) -> Floats:
    """Choose vectors of each lattice that are nearly those of the one before.

    Parameters
    ----------
    matrices : ndarray, shape (snapshots, dimensions, dimensions)
        Box vectors as rows.
    before : ndarray, shape (dimensions, dimensions)
        Those of the snapshot before.

    Returns
    -------
    ndarray, shape (snapshots, dimensions, dimensions)
        Vectors that span the same lattices.
    """
    boxes = np.empty_like(matrices)
    inverse, inverted_of = inverted(before[None])[0][0], before
    for frame, matrix in enumerate(matrices):
        if inverted_of is not before:
            inverse, inverted_of = inverted(before[None])[0][0], before
        if np.array_equal(matrix, before):
            boxes[frame] = before
            continue
        change: Floats = np.rint(_scale(matrix, before) * matrix @ inverse)
        for axis, row in enumerate(change):
            row[axis] = row[axis] if row.any() else 1.0  # an open direction
        if abs(np.linalg.det(change)) < 0.5:
            raise ValueError(
                "the box changes so much from one snapshot to the next that nobody can tell "
                "through which wall things went: use snapshots that are closer in time, or leave "
                "out unwrap=True"
            )
        before = boxes[frame] = np.linalg.solve(change, matrix)
    return boxes


def _scale(matrix: Floats, before: Floats) -> float:
    """By how much a box has shrunk, if it is by much."""
    lengths = (np.linalg.norm(box[box.any(axis=1)], axis=1).min() for box in (before, matrix))
    ratio = float(next(lengths) / next(lengths))
    return ratio if not 1 / _OTHER_SCALE < ratio < _OTHER_SCALE else 1.0
