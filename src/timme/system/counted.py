"""Walls that a file counts: molecules where its counts put them, unless these begin again.

Counts of walls are believed however far molecules move in a step, which is what they are for. But a
run that is continued, or whose counts were set to zero, counts from elsewhere, and every molecule
that had gone through a wall jumps back by whole boxes at once. What tells such a break from motion:

- those that jump move by far more than they ever do, as the squares of their other steps say, and
  without the jump as they always do: see ``_votes``;
- all are in one box again, or a file begins, or ten and more jump and nearly all of them so.

Where steps are about as long as the box, no single one tells; but if ten and more jump, and all are
in one box who were in several, it was no motion.

At a break molecules go on in the nearest image, if that is sure. Runs from one start are put where
the first began, as those without counts are. Of those that jump a sample is kept and judged at the
end; whole numbers of boxes are found for all where a break is, in the two snapshots beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.system.doubt import are_doubtful, refuse_other_beginnings, with_stand_ins
from timme.system.followed import FollowedFrames, centres, in_one_basis, read_whole
from timme.system.frames import Frames, Progress
from timme.system.pace import Pace
from timme.system.passages import Counts, Steps
from timme.system.space import Boxes

_MOST_AT_ONCE = 64  # snapshots
_READ_BYTES = 50_000_000  # of coordinates
_SAMPLE = 64  # molecules of a step that are judged
_OFTEN = 0.1  # of its steps in which a molecule may jump without going so far as a rule
_CERTAIN = 10.0  # logarithm of how much less likely the jump must be than the way without it
_USUAL = 25.0  # mean squares, within which the way without a jump is as ever
_ROUNDING = 1e-12  # squared parts of the box
_TOGETHER = 1.5  # boxes, in which the middles of molecules that reach through a wall are
_MANY, _NEARLY_ALL = 10, 0.9  # of those that jump


class _Jumps(NamedTuple):
    """A step in which some molecules move by more than half a box."""

    snapshot: int  # after it
    molecules: Ints  # a sample of them
    ways: Floats  # (sample, dimensions), as parts of the box, as they are counted
    nearest: Floats  # (sample, dimensions), to the nearest image
    n_jumping: int
    spread: float  # boxes over which all are after it
    spread_before: float


@dataclass(slots=True)
class _Found:
    """What one pass through all snapshots tells."""

    boxes: Floats  # (snapshots, dimensions, dimensions), each in the basis of the one before
    squares: Floats  # (2, molecules, dimensions), sums of those of steps without jumps and of all
    counts: Ints  # (2, molecules), numbers of these steps
    together: float  # boxes, over which all are who were put back into one
    jumps: list[_Jumps]


def follow_counted(
    frames: Frames,
    molecules: Ints,
    progress: Progress | None = None,
    *,
    pace: Pace | None = None,
    files: Sequence[int] = (),
    trusted: bool = False,
) -> tuple[FollowedFrames, tuple[str, ...]]:
    """Take molecules where the counts of a file put them, and go on where these begin again.

    Parameters
    ----------
    frames : Frames
        Molecules in periodic boxes, where the counts of the file put them.
    molecules : ndarray of int, shape (sites,)
        Number of the molecule of each site.
    progress : callable, optional
        Called with the snapshots done and all of them.
    pace : Pace, optional
        As for :func:`~timme.system.followed.follow`.
    files : sequence of int, optional
        Snapshots with which files begin.
    trusted : bool, optional
        Whether counts never begin again, whatever steps look like.

    Returns
    -------
    frames : FollowedFrames
        The same snapshots without jumps.
    notes : tuple of str
        Where counts begin again.

    Raises
    ------
    ValueError
        If they do, and nobody can tell which images belong together.
    """
    pace = Pace.of(frames) if pace is None else pace
    owners = np.unique(molecules, return_inverse=True)[1]
    found = _go_through(frames, owners, pace, progress)
    several = bool(owners.any())  # where a single molecule is does not matter
    suspects = () if trusted else found.jumps
    breaks = [jumps.snapshot for jumps in suspects if _is_break(jumps, found, pace, files)]
    n_snapshots, _, n_dimensions = frames.shape
    begins = np.flatnonzero(pace.steps == 0)[1:].tolist()
    counts = np.zeros((int(owners.max()) + 1, n_dimensions), np.int32)
    steps, changed, start = Steps.of(n_snapshots, counts.shape), list[int](), 0
    for snapshot in sorted({*breaks, *begins}) if several else ():
        steps.add(np.broadcast_to(counts, (snapshot - start, *counts.shape)), counts)
        before = counts
        counts = _move(frames, owners, found, snapshot, counts, pace)
        steps.add(counts[None], before)
        start = snapshot + 1
        if (counts != (0 if snapshot in begins else before)).any():
            changed.append(pace.first + snapshot + 1)
    steps.add(np.broadcast_to(counts, (n_snapshots - start, *counts.shape)), counts)
    paths = steps.paths(found.boxes)
    return FollowedFrames(frames, owners, paths, range(n_snapshots)), _notes(changed)


def _notes(snapshots: list[int]) -> tuple[str, ...]:
    if not snapshots:
        return ()
    others = len(snapshots) - 1
    where = f"{snapshots[0]:,}" + (f" and {others:,} other{'s' * (others > 1)}" if others else "")
    note = (
        f"how often sites went through walls is counted from elsewhere from snapshot {where} on: "
        "they go on in the nearest images there, unless the file is to be believed "
        "(trust_images=True)"
    )
    return (note,)


def _go_through(frames: Frames, owners: Ints, pace: Pace, progress: Progress | None) -> _Found:
    """Read all snapshots once, and keep what steps are like and where molecules jump."""
    n_snapshots, n_sites, n_dimensions = frames.shape
    n_molecules = int(owners.max()) + 1
    found = _Found(
        np.empty((n_snapshots, n_dimensions, n_dimensions)),
        np.zeros((2, n_molecules, n_dimensions)),
        np.zeros((2, n_molecules), np.int64),
        1.0 if n_molecules == n_sites else _TOGETHER,
        [],
    )
    length = min(max(1, _READ_BYTES // (8 * n_sites * n_dimensions)), _MOST_AT_ONCE)
    last = np.full((n_molecules, n_dimensions), np.nan)  # in box vectors
    for start in range(0, n_snapshots, length):
        stop = min(start + length, n_snapshots)
        whole, matrices = read_whole(frames, start, stop)
        middles = centres(whole, owners)
        for row, snapshot in enumerate(range(start, stop)):
            anew = not pace.steps[snapshot]
            before = found.boxes[0 if anew else snapshot - 1] if snapshot else matrices[0]
            found.boxes[snapshot] = in_one_basis(matrices[row : row + 1], before)[0]
            boxes = Boxes.of(found.boxes[snapshot : snapshot + 1], 1, n_dimensions)
            here = middles[row] @ boxes.inverses[0]
            if not anew:
                _note_step(found, boxes, here, last, snapshot, int(pace.steps[snapshot]))
            seen = np.isfinite(here).all(axis=1)
            last = np.where(seen[:, None] | anew, here, last)
        if progress is not None:
            progress(stop, n_snapshots)
    return found


def _note_step(
    found: _Found, boxes: Boxes, here: Floats, last: Floats, snapshot: int, n_steps: int
) -> None:
    """Add a step to the squares, and to the jumps if there are any."""
    ways = here - last
    nearest = _nearest(ways, boxes)
    seen = np.isfinite(ways).all(axis=1)
    jumping = seen & (np.abs(ways - nearest) > 0.5).any(axis=1)
    if n_steps == 1:
        for kind, counted in enumerate((seen & ~jumping, seen)):
            found.squares[kind][counted] += ways[counted] ** 2
            found.counts[kind] += counted
    places = np.flatnonzero(jumping)
    if len(places):
        sample = places[:: -(-len(places) // _SAMPLE)]
        spreads = (float(np.ptp(all_[seen], axis=0).max()) for all_ in (here, last))
        found.jumps.append(
            _Jumps(snapshot, sample, ways[sample], nearest[sample], len(places), *spreads)
        )


def _nearest(ways: Floats, boxes: Boxes) -> Floats:
    """Shorten ways in box vectors by whole ones; what is not seen stays so."""
    vectors = np.einsum("md,de->me", np.nan_to_num(ways), boxes.matrices[0])
    moved = boxes.shorten(vectors[None])[0] - vectors
    nearest: Floats = ways + np.rint(moved @ boxes.inverses[0])
    return nearest


def _is_break(jumps: _Jumps, found: _Found, pace: Pace, files: Sequence[int]) -> bool:
    """Tell whether counts begin again with a snapshot, so that what jumps did not move so far."""
    votes = _votes(jumps, found, int(pace.steps[jumps.snapshot]))
    share = float(np.mean(votes))
    gathered = jumps.spread <= found.together
    if (gathered or jumps.snapshot in files) and share > 0.5:
        return True
    scattered = jumps.spread_before > _TOGETHER
    return jumps.n_jumping >= _MANY and (share >= _NEARLY_ALL or (gathered and scattered))


def _votes(jumps: _Jumps, found: _Found, n_steps: int) -> Bools:
    """Tell of molecules that jump whether the way without a jump is the likely one.

    If steps are normal, with the mean square v, a way f is exp((f² - r²) / 2v) times less likely
    than r. Who jumps often does so by moving, and all its steps count for v; of others, those do in
    which they did not jump, as counts may begin again many times.
    """
    calm, every = (
        with_stand_ins(squares, counts)[jumps.molecules]
        for squares, counts in zip(found.squares, found.counts, strict=True)
    )
    still, all_steps = found.counts[:, jumps.molecules]
    often = all_steps - still > np.maximum(1, _OFTEN * all_steps)
    usual = np.where(often[:, None], every, calm) * n_steps**2
    usual = np.maximum(usual, _ROUNDING)
    less_likely = ((jumps.ways**2 - jumps.nearest**2) / (2 * usual)).sum(axis=1)
    as_ever = (jumps.nearest**2 <= _USUAL * usual).all(axis=1)
    votes: Bools = (less_likely > _CERTAIN) & as_ever
    return votes


def _move(
    frames: Frames, owners: Ints, found: _Found, snapshot: int, counts: Counts, pace: Pace
) -> Counts:
    """Count box vectors to the images that belong to those before, or to the first of all."""
    anew = not pace.steps[snapshot]
    origin = 0 if anew else snapshot - 1
    n_dimensions = frames.shape[2]
    before, here = (
        centres(read_whole(frames, place, place + 1)[0], owners)[0]
        @ Boxes.of(found.boxes[place : place + 1], 1, n_dimensions).inverses[0]
        for place in (origin, snapshot)
    )
    boxes = Boxes.of(found.boxes[snapshot : snapshot + 1], 1, n_dimensions)
    nearest = _nearest(here - before, boxes)
    moved: Counts = np.rint(np.nan_to_num(nearest - (here - before))).astype(np.int32)
    lengths = np.abs(np.nan_to_num(nearest, nan=0.5))  # nobody knows of what is not seen
    if anew:
        if moved.any():
            refuse_other_beginnings(lengths, pace.first + snapshot + 1)
        return moved
    usual = with_stand_ins(found.squares[0], found.counts[0]) * int(pace.steps[snapshot]) ** 2
    doubtful = np.count_nonzero(are_doubtful(lengths, usual).any(axis=1))
    if doubtful:
        raise ValueError(
            "how often sites went through walls is counted from elsewhere from snapshot "
            f"{pace.first + snapshot + 1:,} on, and {doubtful:,} of {len(lengths):,} molecules or "
            f"particles move by up to {lengths.max():.2g} of the box there, so that nobody can "
            "tell where they went: read what comes before and after it by itself (start=, stop=), "
            "or believe the file, if all did move so far (trust_images=True)"
        )
    moved += counts
    return moved
