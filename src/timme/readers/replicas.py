"""Replicas: which of several trajectory files are runs of their own, and no continuation.

Clocks tell it where there are any: a file whose times begin again, lie among those of the file
before, or are another interval apart is another run; after a gap it is the same one still. Runs
that stand one after the other in a file are told apart as files are. Where
nobody knows times, the first snapshot of a run that goes on is about one step away from the last
one before it, and that of another run is much farther. How far is told by the distances within a
sample of pairs, which no rigid motion changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.readers.changes import change_of_distances, sample_pairs, spread_steps
from timme.readers.clocks import slack_of
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames

_FAR = 3.0  # times the 95th percentile of steps
_USUAL = 95.0
_NEARER = 0.5  # as far from the first snapshot as from the one before
_AGAIN = "their times start again"
_BY_PLACES = "they begin far from where the one before ends"


class Joint(NamedTuple):
    """Where a trajectory file follows another."""

    frame: int  # the first of the later file, of all in the source
    why: str | None  # it is another run; "" where it goes on, None where no times tell


def find_joints(
    frames: Frames, parts: Sequence[range], continued: Sequence[int] = ()
) -> tuple[Joint, ...]:
    """Hold the clocks of files in a row, or of runs within one, against one another.

    Parameters
    ----------
    frames : Frames
        All snapshots of a source.
    parts : sequence of range
        Its files, cut where their times go back.
    continued : sequence of int, optional
        The first snapshots of those with which a run goes on, whatever their clock says.

    Returns
    -------
    tuple of Joint
        In their order. Parts of a single snapshot, which have no interval, go on.
    """
    return tuple(
        Joint(after.start, "" if after.start in continued else _compare(frames, before, after))
        for before, after in pairwise(parts)
        if min(len(before), len(after)) > 1
    )


def begins_of(joints: Sequence[Joint]) -> list[int]:
    """Number the frames at which, as times tell, another run begins.

    Parameters
    ----------
    joints : sequence of Joint
        Where files follow one another.

    Returns
    -------
    list of int
        Of all frames of the source.
    """
    return [joint.frame for joint in joints if joint.why]


def tell_replicas(ensemble: Ensemble, joints: Sequence[Joint], kept: Sequence[int]) -> Ensemble:
    """Number the runs to which snapshots belong, and say so where there are several.

    Parameters
    ----------
    ensemble : Ensemble
        The snapshots that are kept, of the sites that are.
    joints : sequence of Joint
        Where files follow one another.
    kept : sequence of int
        Which snapshots these are, of all in the source.

    Returns
    -------
    Ensemble
        The same; of several runs, with the number of each snapshot's and a note.
    """
    if ensemble.independent or not joints:
        return ensemble
    judged = judge_joints(ensemble, joints, kept)
    found = [
        (place, joint.why)
        for place, joint in zip(_places(judged, kept), judged, strict=True)
        if joint.why and 0 < place < len(kept)
    ]
    if not found:
        return ensemble
    begins = np.unique([place for place, _ in found])
    runs = np.searchsorted(begins, np.arange(len(kept)), side="right")
    reasons = " or ".join(dict.fromkeys(why for _, why in found))
    note = _note(len(begins) + 1, reasons)
    return replace(ensemble, runs=frozen(runs), notes=(*ensemble.notes, note))


def judge_joints(
    ensemble: Ensemble,
    joints: Sequence[Joint],
    kept: Sequence[int],
    *,
    from_one_start: bool = False,
) -> tuple[Joint, ...]:
    """Tell by places whether a run goes on, where no times tell.

    Parameters
    ----------
    ensemble, joints, kept
        As for :func:`tell_replicas`.
    from_one_start : bool, optional
        Whether it is another run, too, that begins near the first snapshot of all: in a box,
        nothing is far from anything.

    Returns
    -------
    tuple of Joint
        The same, of which all is known.
    """
    places = _places(joints, kept)
    ends = [0, *places, len(kept)]
    found = list[Joint]()
    for number, (place, joint) in enumerate(zip(places, joints, strict=True)):
        why = joint.why
        if why is None:
            far = _begins_far(ensemble, range(ends[number], place), range(place, ends[number + 2]))
            inside = 0 < place < len(kept)
            anew = from_one_start and inside and _begins_as_first(ensemble, place)
            why = _BY_PLACES if far or anew else ""
        found.append(Joint(joint.frame, why))
    return tuple(found)


def begins_elsewhere(joints: Sequence[Joint]) -> list[int]:
    """Number the frames that do not go on from the one before by any clock.

    Parameters
    ----------
    joints : sequence of Joint
        Of which all is known.

    Returns
    -------
    list of int
        Of all frames of the source. Runs whose times overlap, or whose intervals differ, are as far
        from one another as their times are.
    """
    return [joint.frame for joint in joints if joint.why in {_AGAIN, _BY_PLACES}]


def _places(joints: Sequence[Joint], kept: Sequence[int]) -> list[int]:
    found: list[int] = np.searchsorted(kept, [joint.frame for joint in joints]).tolist()
    return found


def as_one_run(ensemble: Ensemble) -> Ensemble:
    """Forget which run snapshots belong to, where the user says it.

    Parameters
    ----------
    ensemble : Ensemble
        As it was read.

    Returns
    -------
    Ensemble
        One run, without the note that there are several.
    """
    if ensemble.runs is None:
        return ensemble
    said = _note(len(ensemble.replicas), "")
    notes = tuple(note for note in ensemble.notes if not note.startswith(said.partition(",")[0]))
    return replace(ensemble, runs=None, notes=notes)


def _note(count: int, reasons: str) -> str:
    return f"{count} trajectories count as replicas, as {reasons}: replicas='one' joins them"


def _compare(frames: Frames, before: range, after: range) -> str | None:
    return _compare_clocks(_clock(frames, before), _clock(frames, after))


def _clock(frames: Frames, file: range) -> Floats | None:
    """Take the first and the last time of a file, its first interval and the mean of all.

    None where it tells no times, or, as programs do that know none, the same for all frames.
    """
    try:
        times = [frames.time(frame) for frame in (file[0], file[1], file[-1])]
    except ValueError:  # of a damaged frame, which is told when it is needed
        return None
    found = np.array(times, dtype=np.float64)  # of None, NaN
    first, second, last = found
    if not np.isfinite(found).all() or not last > first:
        return None
    return np.array([first, last, second - first, (last - first) / (len(file) - 1)])


def _compare_clocks(before: Floats | None, after: Floats | None) -> str | None:
    """Say how the later file does not go on; nothing where it does, None where nobody knows."""
    if before is None or after is None:
        return None
    first, last, *intervals = before
    begin, end, *others = after
    slack = slack_of(np.array([first, last, begin, end]), [intervals[1], others[1]])
    if begin <= first + slack:
        return _AGAIN
    if begin < last - slack:
        return "their times overlap"
    # One alone may be off: the first one after a minimisation, the mean where frames are missing.
    same = any(abs(one - other) <= slack for one, other in zip(intervals, others, strict=True))
    return "" if same else "their intervals differ"


def _begins_far(ensemble: Ensemble, before: range, after: range) -> bool:
    """Tell whether the step from one file to the next is much longer than those within both."""
    if ensemble.n_sites < 2 or not len(before) or not len(after):
        return False
    usual = [*spread_steps(before), *spread_steps(after)]
    if not usual:
        return False
    pairs = sample_pairs(ensemble.n_sites)
    steps = [_step(ensemble, snapshot, pairs) for snapshot in usual]
    return _step(ensemble, before[-1], pairs) > _FAR * float(np.percentile(steps, _USUAL))


def _begins_as_first(ensemble: Ensemble, place: int) -> bool:
    """Tell whether sites in a box are nearer to where they began than to where they were last."""
    here, *others = (_fractions(ensemble, snapshot) for snapshot in (place, 0, place - 1))
    ways = [here - other for other in others]
    first, last = (float(np.sqrt(np.mean((way - np.rint(way)) ** 2))) for way in ways)
    return first < _NEARER * last


def _fractions(ensemble: Ensemble, snapshot: int) -> Floats:
    points, box = ensemble.snapshot(snapshot)
    found: Floats = points @ np.linalg.pinv(
        np.zeros((points.shape[1],) * 2) if box is None else box
    )
    return found


def _step(ensemble: Ensemble, snapshot: int, pairs: Ints) -> float:
    """Measure how far the next snapshot is."""
    return change_of_distances(
        ensemble.frames, snapshot, snapshot + 1, pairs, images=ensemble.images
    )
