"""Unwrapping: molecules that go on across the faces of a box, from snapshot to snapshot.

Each molecule goes to the image nearest to where it was. That is wrong if it moved by more than half
a box, so trajectories are refused in which this may be: if a step exceeds 0.45 of the box along
some axis; if `1 - 2 step < 20 <step²>`, as then a step the other way around, 1 - step, is less than
exp(10) times less likely, were steps Gaussian; or if a molecule is not seen for k usual steps and
k times the longest step is above half a box. The last is a bound, if no step is longer than the
longest that was seen; the others are rules of thumb. Steps with heavy tails, and a drift of all
molecules by whole boxes, stay unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from timme_next._arrays import Bools, Coordinates, Floats, Ints
from timme_next.ensemble.frames import Frames, Step
from timme_next.ensemble.space import Boxes, Images, invert

if TYPE_CHECKING:
    from timme_next.ensemble.ensemble import Ensemble

_LONGEST_STEP = 0.45  # of the box
_STAND_IN = 20  # steps
_READ_BYTES = 20_000_000  # of coordinates, at once
_MOST_FRAMES = 64  # at once

Progress = Callable[[int, int], None]  # called with the snapshots done and all of them


def apply_image_flags(
    positions: Coordinates, images: Ints | None, box: Floats | None
) -> Coordinates:
    """Return positions (atoms, dimensions) moved by the boxes that each atom has crossed.

    ``box`` holds the vectors as the file has them, not reduced ones.
    """
    if images is None or box is None:
        return positions
    moved: Coordinates = positions + images @ box
    return moved


def fixed_images(ensemble: Ensemble) -> Images:
    """Return images that are chosen once for all: those nearest in the first snapshot.

    Unwrapped molecules drift apart by whole boxes, so that others become nearest.
    """
    points, boxes = ensemble.frames.read(0, 1)
    if boxes is None or not boxes.any():
        raise ValueError(f"{ensemble.prefix}unwrap=True needs a periodic box: leave it out")
    molecules = molecules_of(ensemble)
    owners = np.unique(molecules, return_inverse=True)[1]
    origin = _centres(points, owners)[0, owners]
    hidden = np.count_nonzero(np.isnan(origin).any(axis=1))
    if hidden:
        raise ValueError(
            f"{ensemble.prefix}unwrap=True needs all sites in the first snapshot, and {hidden:,} "
            "are not seen there: start with another (start=), or leave these sites out"
        )
    return Images(molecules, origin, boxes[0])


@dataclass(frozen=True, slots=True, eq=False)
class Unwrapped(Step):
    """Move molecules to the images that follow one another, by the box faces that they crossed."""

    molecules: Ints  # (sites,)
    numbers: Ints  # (snapshots,), in the source, ascending
    boxes: Floats  # (snapshots, dimensions, dimensions), each in the basis of the one before
    n_molecules: int
    snapshots: Ints  # (crossings,), places in numbers, ascending
    crossing: Ints  # (crossings,), molecules
    changes: Ints  # (crossings, dimensions), in box vectors

    def __call__(
        self, coordinates: Coordinates, boxes: Floats | None, numbers: Sequence[int]
    ) -> tuple[Coordinates, Floats | None]:
        """Return unwrapped coordinates in double precision, and boxes that follow one another."""
        del boxes
        places = np.searchsorted(self.numbers, np.asarray(numbers))
        ends = np.searchsorted(self.snapshots, places, side="right")
        moved, around = np.array(coordinates, np.float64), self.boxes[places]
        counts = np.zeros((self.n_molecules, moved.shape[2]), np.int64)
        for frame, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
            np.add.at(counts, self.crossing[start:end], self.changes[start:end])
            moved[frame] += (counts @ around[frame])[self.molecules]
        return moved, around

    def select(self, sites: Ints) -> tuple[Unwrapped, Ints]:
        """Return the same step for some sites, which go where their molecules go."""
        return replace(self, molecules=self.molecules[sites]), sites


def unwrap(
    frames: Frames,
    molecules: Ints,
    *,
    starts: Sequence[int] = (),
    strict: bool = True,
    progress: Progress | None = None,
) -> Unwrapped:
    """Return the step that unwraps molecules, found in one pass through all snapshots.

    Parameters
    ----------
    frames : Frames
        Whole molecules in a periodic box.
    molecules : ndarray of int, shape (sites,)
        Molecule of each site.
    starts : sequence of int, optional
        Snapshots with which later runs begin.
    strict : bool, optional
        Refuse steps and gaps after which the image is uncertain, and put molecules at the start of
        a later run to the image nearest to the first snapshot. Otherwise each run begins where the
        file has it.
    progress : callable, optional
        Called with the snapshots done and all of them.

    Returns
    -------
    Unwrapped
        To be done after the other steps of these frames.
    """
    n_snapshots, n_sites, n_dimensions = frames.shape
    owners = np.unique(molecules, return_inverse=True)[1]
    shape = int(owners.max()) + 1, n_dimensions
    most = min(max(1, _READ_BYTES // (8 * n_sites * n_dimensions)), _MOST_FRAMES)
    clock = np.cumsum(_usual_steps(frames.times, starts))
    boxes = np.empty((n_snapshots, n_dimensions, n_dimensions))
    counts, crossings = np.zeros(shape, np.int64), list[tuple[Ints, Ints, Ints]]()
    track = origin = _Track(np.full(shape, np.nan), 0)
    for start, stop in _chunks(n_snapshots, most, starts):
        begins, later = start in {0, *starts}, start > 0 and strict
        coordinates, matrices = frames.read(start, stop)
        if matrices is None or not matrices.any(axis=(1, 2)).all():
            raise ValueError("unwrapping needs a periodic box in every snapshot")
        before = boxes[start - 1] if not begins else boxes[0] if later else matrices[0]
        boxes[start:stop] = _in_one_basis(matrices, before)
        around = Boxes.of(boxes[start:stop], stop - start, n_dimensions)
        places = np.einsum("fmd,fde->fme", _centres(coordinates, owners), around.inverses)
        if begins and strict and np.isnan(places).any():
            raise ValueError(
                "unwrapping needs all sites in the first snapshot of a run, and some are not seen "
                f"in snapshot {start + 1:,}: start with another (start=), or leave these sites out"
            )
        if begins:  # how far a run starts from the first one is no step of it
            first = _Track(origin.places if later else origin.places * np.nan, clock[start] - 1)
            changes = first.go_on(places, clock[start:stop], around) - counts
            first.refuse_uncertain(f"to snapshot {start + 1:,}, where another run starts,")
            track.places, track.seen = first.places, first.seen
            origin = origin if start else first
        else:
            changes = track.go_on(places, clock[start:stop], around)
        counts += changes.sum(axis=0)
        snapshots, who = np.nonzero(changes.any(axis=2))
        crossings.append((start + snapshots, who, changes[snapshots, who]))
        if progress is not None:
            progress(stop, n_snapshots)
    if strict:
        track.refuse_uncertain("from one snapshot to the next")
        track.refuse_gaps()
    events = (np.concatenate(column) for column in zip(*crossings, strict=True))
    return Unwrapped(owners, np.asarray(frames.numbers, np.int64), boxes, shape[0], *events)


class _Track:
    """Where molecules were seen last, and how far they moved, in parts of the box."""

    def __init__(self, places: Floats, clock: int) -> None:
        self.places, self.seen = places, np.full(len(places), clock)
        self.n_steps, self.longest_gaps = np.zeros((2, len(places)), np.int64)
        self.longest, self.squares = np.zeros((2, *places.shape))

    def go_on(self, places: Floats, clock: Ints, boxes: Boxes) -> Ints:
        """Return by how many box vectors the image changes that is nearest to the last position.

        A molecule that does not move keeps its place in a box that changes. ``places`` (frames,
        molecules, dimensions) are in box vectors, ``clock`` (frames,) in usual steps.
        """
        rows = np.concatenate([self.places[None], places])
        times = np.concatenate([self.seen[None], np.broadcast_to(clock[:, None], places.shape[:2])])
        known = np.isfinite(rows).all(axis=2)
        latest = np.maximum.accumulate(np.where(known, np.arange(len(rows))[:, None], 0), axis=0)
        before, who = latest[:-1], np.arange(places.shape[1])
        ways, ages = places - rows[before, who], times[1:] - times[before, who]
        vectors = boxes.shorten(np.einsum("fmd,fde->fme", ways, boxes.matrices))
        nearest = np.einsum("fmd,fde->fme", vectors, boxes.inverses)
        self.places, self.seen = rows[latest[-1], who], times[latest[-1], who]
        moved = np.isfinite(ways).all(axis=2)
        usual = moved & (ages == 1)
        lengths = np.where(usual[:, :, None], np.abs(nearest), 0.0)
        self.n_steps += np.count_nonzero(usual, axis=0)
        self.longest = np.maximum(self.longest, lengths.max(axis=0))
        self.squares += (lengths**2).sum(axis=0)
        self.longest_gaps = np.maximum(self.longest_gaps, np.where(moved, ages, 0).max(axis=0))
        changes: Ints = np.nan_to_num(np.rint(nearest - ways)).astype(np.int64)
        return changes

    def refuse_uncertain(self, when: str) -> None:
        """Refuse steps after which a molecule may be in another image."""
        every = self.squares.sum(axis=0) / max(1, int(self.n_steps.sum()))
        # A molecule may have few steps, for which those of all stand in.
        usual = (self.squares + _STAND_IN * every) / (self.n_steps[:, None] + _STAND_IN)
        uncertain = (1 - 2 * self.longest < 20 * usual) | (self.longest > _LONGEST_STEP)
        count = np.count_nonzero(uncertain.any(axis=1))
        if count:
            raise ValueError(
                f"{count:,} of {len(uncertain):,} molecules or particles move by up to "
                f"{self.longest.max():.3g} of the box {when} so that the faces they cross are "
                "unknown: use snapshots closer in time or one run, or leave out unwrap=True"
            )

    def refuse_gaps(self) -> None:
        """Refuse gaps in which a molecule may go as far as half the box."""
        longest = self.longest.max() if self.n_steps.any() else np.inf
        ways = np.where(self.longest_gaps > 1, self.longest_gaps * longest, 0.0)
        count = np.count_nonzero(ways > 0.5)
        if count:
            raise ValueError(
                f"{count:,} of {len(ways):,} molecules or particles are not seen for up to "
                f"{self.longest_gaps.max():,} usual steps, in which they may move by "
                f"{ways.max():.3g} of the box, so that the faces they cross are unknown: choose "
                "snapshots before or after (start=, stop=), leave these particles out, or leave "
                "out unwrap=True"
            )


def molecules_of(ensemble: Ensemble) -> Ints:
    """Return the molecule of each site; without images each is one by itself."""
    given = ensemble.images
    return np.arange(ensemble.n_sites) if given is None else given.molecules


def _centres(coordinates: Coordinates, owners: Ints) -> Floats:
    """Return mean positions (frames, molecules, dimensions) of the sites that are seen."""
    places = np.asarray(coordinates, np.float64)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(int(owners.max()) + 1))
    seen: Bools = np.asarray(np.isfinite(places).all(axis=2, keepdims=True))
    sums = np.add.reduceat(np.where(seen, places, 0.0)[:, order], starts, axis=1)
    counts = np.add.reduceat(seen[:, order].astype(np.int64), starts, axis=1)
    with np.errstate(invalid="ignore"):  # NaN where no site is seen
        means: Floats = sums / counts
    return means


def _usual_steps(times: Floats, starts: Sequence[int]) -> Ints:
    """Return how many usual steps in time lie before each snapshot, at least 1."""
    intervals = np.abs(np.diff(times, prepend=np.nan))
    intervals[list(starts)] = np.nan
    moving = intervals[intervals > 0]  # not those that are unknown
    if not len(moving):
        return np.ones(len(times), np.int64)
    steps = np.rint(np.nan_to_num(intervals, nan=0.0) / np.median(moving))
    found: Ints = np.clip(steps, 1, 2**32).astype(np.int64)
    return found


def _chunks(n_snapshots: int, most: int, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most so many snapshots; the first snapshot of a run is one by itself."""
    first = {0, *starts}
    ends = {*first, *(start + 1 for start in first), *range(0, n_snapshots, most), n_snapshots}
    return pairwise(sorted(ends))


def _in_one_basis(matrices: Floats, before: Floats) -> Floats:
    """Return vectors of each lattice (frames, d, d) that are nearly those of the one before."""
    boxes = np.empty_like(matrices)
    inverse = invert(before[None])[0][0]
    for frame, matrix in enumerate(matrices):
        if not np.array_equal(matrix, before):
            change: Floats = np.rint(matrix @ inverse)
            is_open = ~change.any(axis=1)
            change[is_open, is_open] = 1.0
            if round(abs(np.linalg.det(change))) != 1:
                raise ValueError(
                    "the box changes so much from one snapshot to the next that the faces crossed "
                    "are unknown: use snapshots closer in time, or leave out unwrap=True"
                )
            before = np.linalg.solve(change, matrix)
            inverse = invert(before[None])[0][0]
        boxes[frame] = before
    return boxes
