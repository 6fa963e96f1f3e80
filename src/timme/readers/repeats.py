"""Repeats: snapshots that are there twice, within a file or where files follow one another.

A run that was continued begins with the last snapshot of the one before. After a crash it goes on
from its last checkpoint, and what was written after that is computed once more. A file that is
written to again, or joined of several, holds all that one after the other. What tells it is the
stamp of a snapshot, its time or the number of its step, which grows within a run. Snapshots of one
stamp that are the same count once; of those that were computed again, the later ones count.
"""

from __future__ import annotations

import filecmp
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timme._arrays import Floats, Ints
from timme.readers.changes import change_of_distances, sample_pairs, spread_steps
from timme.readers.clocks import slack_of
from timme.system.frames import Frames

if TYPE_CHECKING:
    from timme.readers.trajectory_files import TrajectoryFile

_SHORTEST = 3  # snapshots of a run within a file: what goes back more often is in no order at all
_NEAR = 0.5  # of a usual step: farther apart are snapshots of two runs, at least by a whole one


class Repeats(NamedTuple):
    """What is there twice."""

    left_out: list[int]  # snapshots that do not count, ascending
    continued: list[int]  # the first ones of parts that go on where those before them are
    notes: tuple[str, ...]


def find_parts(frames: Frames, stamps: Floats) -> list[range]:
    """Cut snapshots into files, and these where their stamps go back.

    Parameters
    ----------
    frames : Frames
        All snapshots of a source.
    stamps : ndarray, shape (snapshots,)
        As :meth:`Frames.stamps` tells them.

    Returns
    -------
    list of range
        In their order; none where they are of no files.
    """
    files = [range(*ends) for ends in pairwise([*frames.first_of_files(), frames.shape[0]])]
    return [part for file in files for part in _cut(file, stamps)]


def find_repeats(frames: Frames, stamps: Floats, parts: Sequence[range]) -> Repeats:
    """Find snapshots that are there twice.

    Parameters
    ----------
    frames : Frames
        All snapshots of a source.
    stamps : ndarray, shape (snapshots,)
        As :meth:`Frames.stamps` tells them.
    parts : sequence of range
        Runs of it, or parts of one, as :func:`find_parts` cuts them.

    Returns
    -------
    Repeats
        Which of them do not count.
    """
    same, anew, continued, unlike = set[int](), list[int](), list[int](), list[int]()
    for part in parts:
        for frame in _still(part, stamps):
            if _are_same(frames, frame - 1, frame):
                same.add(frame)
            else:
                unlike.append(frame)
    for before, after in pairwise(parts):
        if min(len(before), len(after)) < 2:
            continue
        if _is_doubled(frames, stamps, after.start):
            same.add(after.start)
            continued.append(after.start)
            continue
        twice, again = _compare(frames, stamps, before, after)
        same.update(twice)
        anew += again
        continued += [after.start] if twice or again else []
    told = _note_same(frames, sorted(same)), _note_anew(frames, anew), _note_still(frames, unlike)
    return Repeats(sorted({*same, *anew}), continued, tuple(filter(None, told)))


def refuse_twice(files: Sequence[TrajectoryFile]) -> None:
    """Refuse a trajectory that is given twice, by its name or by all that is in it.

    Parameters
    ----------
    files : sequence of TrajectoryFile
        As they were found. Files of one frame each may be alike, as where a move was rejected.
    """
    seen: dict[int, list[Path]] = {}
    for file in files:
        path = Path(file.path)
        alike = seen.setdefault(path.stat().st_size, [])
        for other in alike:
            if path.samefile(other) or (
                file.n_frames > 1 and filecmp.cmp(path, other, shallow=False)
            ):
                which = "the same file" if path.samefile(other) else f"the same as {other}"
                raise ValueError(f"{path}: given twice, as it is {which}: leave one of them out")
        alike.append(path)


def _cut(file: range, stamps: Floats) -> list[range]:
    back = 1 + np.flatnonzero(np.diff(stamps[file.start : file.stop]) < 0)
    bounds = [file.start, *(file.start + back).tolist(), file.stop]
    parts = [range(*ends) for ends in pairwise(bounds)]
    return parts if min(map(len, parts)) >= _SHORTEST else [file]


def _still(part: range, stamps: Floats) -> list[int]:
    """Number snapshots with the stamp of the one before; where all have one, nobody knew any."""
    steps = np.diff(stamps[part.start : part.stop])
    found = part.start + 1 + np.flatnonzero(steps == 0)
    return found.tolist() if len(found) < len(steps) else []


def _is_doubled(frames: Frames, stamps: Floats, frame: int) -> bool:
    """Tell whether a part begins with the last one before it, whatever its own clock says."""
    if stamps[frame - 1] < stamps[frame] or not _are_same(frames, frame - 1, frame):
        return False
    try:
        times = frames.time(frame - 1), frames.time(frame)
    except ValueError:
        return False
    return times[0] is None or times[1] is None or times[0] >= times[1]  # or nothing has moved


def _compare(
    frames: Frames, stamps: Floats, before: range, after: range
) -> tuple[list[int], list[int]]:
    """Return snapshots of the later part that are the same, or of the earlier that were redone."""
    early, late = (stamps[part.start : part.stop] for part in (before, after))
    if not all(np.isfinite(part).all() and part[-1] > part[0] for part in (early, late)):
        return [], []
    intervals = [float(part[-1] - part[0]) / (len(part) - 1) for part in (early, late)]
    slack = slack_of(np.concatenate([early, late]), intervals)
    one, other = _common(early, late, slack)
    if not len(one):
        return [], []
    here, there = (before.start + one).tolist(), (after.start + other).tolist()
    same = all(_are_same(frames, *both) for both in zip(here, there, strict=True))
    if same and late[0] < early[0] - slack and len(one) > 1:
        raise ValueError(
            f"{frames.name_of(after.start)} comes before {frames.name_of(before.start)} in time, "
            f"and {len(one)} frames are the same: give the files of a run in their order"
        )
    # What has other times in between is no part of the same run.
    if any(_count_within(*both, slack) != len(one) for both in ((early, late), (late, early))):
        return [], []
    if same:
        return there, []
    goes_on = early[0] + slack < late[0] and late[-1] > early[-1] + slack
    return [], here if goes_on and _is_near(frames, before, here[0], there[0]) else []


def _common(early: Floats, late: Floats, slack: float) -> tuple[Ints, Ints]:
    """Find the places of equal stamps in both."""
    places = np.minimum(np.searchsorted(early, late - slack), len(early) - 1)
    found = np.flatnonzero(np.abs(early[places] - late) <= slack)
    return places[found], found


def _count_within(stamps: Floats, others: Floats, slack: float) -> int:
    within = (stamps >= others[0] - slack) & (stamps <= others[-1] + slack)
    return int(np.count_nonzero(within))


def _is_near(frames: Frames, before: range, one: int, other: int) -> bool:
    """Tell whether two snapshots of one time are nearer than those that follow one another."""
    if frames.shape[1] < 2:
        return False
    pairs = sample_pairs(frames.shape[1])
    try:
        steps = [change_of_distances(frames, k, k + 1, pairs) for k in spread_steps(before)]
        return change_of_distances(frames, one, other, pairs) <= _NEAR * float(np.median(steps))
    except ValueError:  # of a damaged frame, which is told when it is needed
        return False


def _are_same(frames: Frames, one: int, other: int) -> bool:
    try:
        here, there = (frames.read(frame, frame + 1) for frame in (one, other))
    except ValueError:
        return False
    boxes = [np.zeros((1, 3, 3)) if box is None else box for _, box in (here, there)]
    return np.array_equal(here[0], there[0]) and np.array_equal(boxes[0], boxes[1])


def _note_same(frames: Frames, same: list[int]) -> str:
    if not same:
        return ""
    one = len(same) == 1
    repeat = "repeats the one before it" if one else "repeat those before them"
    count = "counts" if one else "count"
    return f"{_name(frames, same)} {repeat}, as where a run was continued, and {count} once"


def _note_anew(frames: Frames, anew: list[int]) -> str:
    if not anew:
        return ""
    return (
        f"{_name(frames, anew)} {'was' if len(anew) == 1 else 'were'} computed again later, as "
        "where a run goes on from a checkpoint: only what was computed last counts"
    )


def _note_still(frames: Frames, unlike: list[int]) -> str:
    if not unlike:
        return ""
    have = "has" if len(unlike) == 1 else "have"
    named = _name(frames, unlike)
    return f"{named} {have} the time of the one before and other coordinates: all count"


def _name(frames: Frames, snapshots: list[int]) -> str:
    """Name the first of some snapshots, and say how many others there are."""
    first, others = frames.name_of(snapshots[0]), len(snapshots) - 1
    return f"{first} and {others} other{'s' * (others > 1)}" if others else first
