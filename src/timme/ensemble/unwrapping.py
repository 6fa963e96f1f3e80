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

from timme._arrays import Coordinates, Floats, Ints
from timme.ensemble.frames import Frames, Numbers, Placed, Step
from timme.ensemble.space import Boxes, Images, invert

if TYPE_CHECKING:
    from timme.ensemble.ensemble import Ensemble

_LONGEST_STEP = 0.45  # of the box
_STAND_IN = 20  # steps
_READ_BYTES = 20_000_000  # of coordinates, at once
_MOST_FRAMES = 64  # at once

Progress = Callable[[int, int], object]  # called with the snapshots done and all of them


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

    def __call__(self, coordinates: Coordinates, _boxes: Floats | None, numbers: Numbers) -> Placed:
        """Return unwrapped coordinates in double precision, and boxes that follow one another."""
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
    flagged: bool = False,
    progress: Progress | None = None,
    prefix: str = "",
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
    flagged : bool, optional
        Whether image flags of the file were applied, so that only starts of runs are moved.
    progress : callable, optional
        Called with the snapshots done and all of them.
    prefix : str, optional
        Of messages: names of the files.

    Returns
    -------
    Unwrapped
        To be done after the other steps of these frames.
    """
    owners = np.unique(molecules, return_inverse=True)[1]
    shape = int(owners.max()) + 1, frames.shape[2]
    times = np.cumsum(_usual_steps(frames.times, starts))
    boxes = np.empty((frames.shape[0], shape[1], shape[1]))
    crossings = list[tuple[Ints, Ints, Ints]]()
    counts, steps = np.zeros(shape, np.int64), _Steps(shape)
    first = last = np.full(shape, np.nan)  # places of molecules, in box vectors
    seen = np.zeros(shape[0], np.int64)  # when they were there
    for frame, (centres, matrix) in enumerate(_snapshots(frames, owners, progress)):
        begins, later = frame in {0, *starts}, strict and frame > 0
        if begins:
            last, seen = first.copy(), np.full(shape[0], times[frame] - 1)
        before = boxes[frame - 1] if not begins else boxes[0] if later else matrix
        boxes[frame] = _in_basis_of(before, matrix)
        around = Boxes.of(boxes[frame : frame + 1], 1, shape[1])
        places = centres @ around.inverses[0]
        ways = places - last
        # A molecule that does not move keeps its place in a box that changes.
        nearest = around.shorten((ways @ boxes[frame])[None])[0] @ around.inverses[0]
        changes = np.nan_to_num(np.rint(nearest - ways)).astype(np.int64)
        known = np.isfinite(places).all(axis=1)
        if begins and strict:
            if not known.all():
                fault = f"unwrapping needs all sites in snapshot {frame + 1:,}, the first of a run"
                raise ValueError(f"{prefix}{fault}: start later (start=), or select other sites")
            first = first if later else places
            jump = _Steps(shape)  # how far a run starts from the first one is no step of it
            jump.add(nearest, times[frame] - seen)
            jump.refuse_uncertain(f"to snapshot {frame + 1:,}, where another run starts", prefix)
        elif not begins and not flagged:
            steps.add(nearest, times[frame] - seen)
        changes *= begins or not flagged
        changes -= counts if begins else 0
        counts += changes
        last[known], seen[known] = places[known], times[frame]
        who = np.flatnonzero(changes.any(axis=1))
        crossings.append((np.full(len(who), frame), who, changes[who]))
    if strict:
        steps.refuse_uncertain("from one snapshot to the next", prefix)
    events = (np.concatenate(column) for column in zip(*crossings, strict=True))
    return Unwrapped(owners, np.asarray(frames.numbers, np.int64), boxes, shape[0], *events)


def molecules_of(ensemble: Ensemble) -> Ints:
    """Return the molecule of each site; without images each is one by itself."""
    given = ensemble.images
    return np.arange(ensemble.n_sites) if given is None else given.molecules


def fixed_images(ensemble: Ensemble) -> Images:
    """Return images that are chosen once for all: those nearest in the first snapshot.

    Unwrapped molecules drift apart by whole boxes, so that others become nearest. `unwrap` has
    refused molecules that are not seen in the first snapshot.
    """
    points, boxes = ensemble.frames.read(0, 1)
    if boxes is None or not boxes.any():
        raise ValueError(f"{ensemble.prefix}unwrap=True needs a periodic box: leave it out")
    molecules = molecules_of(ensemble)
    owners = np.unique(molecules, return_inverse=True)[1]
    return Images(molecules, _centres(points[0], owners)[owners], boxes[0])


class _Steps:
    """How far molecules move from one snapshot to the next, in parts of the box."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.counts, self.longest_gaps = np.zeros((2, shape[0]), np.int64)
        self.longest, self.squares = np.zeros((2, *shape))

    def add(self, steps: Floats, ages: Ints) -> None:
        """Add steps (molecules, dimensions), NaN where unknown, that took some usual steps."""
        known = np.isfinite(steps).all(axis=1)
        usual = known & (ages == 1)
        lengths = np.where(usual[:, None], np.abs(steps), 0.0)
        self.counts += usual
        self.longest = np.maximum(self.longest, lengths)
        self.squares += lengths**2
        self.longest_gaps = np.maximum(self.longest_gaps, np.where(known, ages, 0))

    def refuse_uncertain(self, when: str, prefix: str) -> None:
        """Refuse steps and gaps after which a molecule may be in another image."""
        every = self.squares.sum(axis=0) / max(1, int(self.counts.sum()))
        # A molecule may have few steps, for which those of all stand in.
        usual = (self.squares + _STAND_IN * every) / (self.counts[:, None] + _STAND_IN)
        long = (1 - 2 * self.longest < 20 * usual) | (self.longest > _LONGEST_STEP)
        longest = self.longest.max() if self.counts.any() else 1.0
        hidden = (self.longest_gaps > 1) & (self.longest_gaps * longest > 0.5)
        uncertain = long.any(axis=1) | hidden
        if uncertain.any():
            count = f"{np.sum(uncertain):,} of {len(uncertain):,} molecules or particles"
            raise ValueError(
                f"{prefix}{count} may cross faces of the box unnoticed {when}: they move by up to "
                f"{longest:.3g} of it in a usual step and are not seen for up to "
                f"{self.longest_gaps.max():,}; choose snapshots closer in time (start=, stop=)"
            )


def _snapshots(
    frames: Frames, owners: Ints, progress: Progress | None
) -> Iterator[tuple[Floats, Floats]]:
    """Yield centres of molecules (molecules, dimensions) and the box in every snapshot."""
    n_snapshots, n_sites, n_dimensions = frames.shape
    length = min(max(1, _READ_BYTES // (8 * n_sites * n_dimensions)), _MOST_FRAMES)
    for start in range(0, n_snapshots, length):
        stop = min(start + length, n_snapshots)
        coordinates, boxes = frames.read(start, stop)
        if boxes is None or not boxes.any(axis=(1, 2)).all():
            raise ValueError("unwrapping needs a periodic box in every snapshot")
        for points, box in zip(coordinates, boxes, strict=True):
            yield _centres(points, owners), box
        if progress is not None:
            progress(stop, n_snapshots)


def _centres(points: Coordinates, owners: Ints) -> Floats:
    """Return mean positions (molecules, dimensions) of the sites that are seen."""
    seen = np.isfinite(points).all(axis=1)
    owners, n_molecules = owners[seen], int(owners.max()) + 1
    with np.errstate(invalid="ignore"):  # NaN where no site is seen
        sums = [np.bincount(owners, axis, n_molecules) for axis in points[seen].T]
        return np.column_stack(sums) / np.bincount(owners, minlength=n_molecules)[:, None]


def _usual_steps(times: Floats, starts: Sequence[int]) -> Ints:
    """Return how many usual steps in time lie before each snapshot, at least 1."""
    intervals = np.abs(np.diff(times, prepend=np.nan))
    intervals[list(starts)] = np.nan
    moving = intervals[intervals > 0]  # not those that are unknown
    steps = np.rint(intervals / np.median(moving)) if len(moving) else np.ones(len(times))
    return np.clip(np.nan_to_num(steps), 1, 2**32).astype(np.int64)


def _in_basis_of(before: Floats, matrix: Floats) -> Floats:
    """Return vectors of the same lattice as a box that are nearly those of the box before."""
    if np.array_equal(matrix, before):
        return matrix
    change = np.rint(matrix @ invert(before[None])[0][0])
    is_open = ~change.any(axis=1)
    change[is_open, is_open] = 1.0
    if round(abs(np.linalg.det(change))) != 1:
        raise ValueError("the box changes too much between snapshots: leave out unwrap=True")
    vectors: Floats = np.linalg.solve(change, matrix)
    return vectors
