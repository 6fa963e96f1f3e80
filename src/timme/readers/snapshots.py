"""Which snapshots of a source are kept, by their numbers or by their times, and which are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from timme._arrays import Floats
from timme.settings.texts import picoseconds

Clock = Callable[[int], float | None]  # of a snapshot, its time in ps

_SLACK = 0.01  # of the time between snapshots; files round their times


class Course(NamedTuple):
    """All snapshots of a source, of which some are chosen."""

    n_snapshots: int
    source: str  # where they come from, for messages
    clock: Clock | None = None  # None where the source has no times
    doubled: Sequence[int] = ()  # that are there twice, as where a run was continued
    begins: Sequence[int] = ()  # with which another run begins, whose clock is its own


class Choice(NamedTuple):
    """What was chosen of the snapshots of a source."""

    kept: Sequence[int]  # that count
    read: Sequence[int]  # those, or all through which molecules are followed, or one of those

    @property
    def places(self) -> list[int]:
        """Where those that count are among those that are read, if all of them are."""
        found: list[int] = np.searchsorted(self.read, self.kept).tolist()
        return found


Choose = Callable[[Course], Choice]


def choose_all(course: Course) -> Choice:
    """Choose all snapshots, those that are there twice included.

    Parameters
    ----------
    course : Course
        All snapshots.

    Returns
    -------
    Choice
        Every one.
    """
    return Choice(range(course.n_snapshots), range(course.n_snapshots))


def choose_snapshots(
    course: Course,
    *,
    start: int | str | None = None,
    stop: int | str | None = None,
    step: int | str | None = None,
) -> Sequence[int]:
    """Choose snapshots as a slice does, or by times.

    Parameters
    ----------
    course : Course
        All snapshots. Those that are there twice are left out; of several runs, times are those of
        every run.
    start, stop, step : int or str, optional
        Bounds and stride; or times such as ``10ns``, of which the last one is included.

    Returns
    -------
    sequence of int
        Indices of the snapshots, at least one: a range, unless some are there twice.

    Examples
    --------
    >>> course = Course(10, "a.xtc", lambda frame: 100.0 * frame)
    >>> choose_snapshots(course, start="0.2ns", stop="500 ps")
    range(2, 6)
    """
    given = {"start": start, "stop": stop, "step": step}
    _refuse_no_number(given)
    said = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
    by_time = any(isinstance(value, str) for value in given.values())
    if by_time and course.begins and course.clock is not None:
        return _choose_of_runs(course, course.clock, given)
    times = cache(lambda: _Times(course))
    first = times().index(start, "left") if isinstance(start, str) else start
    end = times().index(stop, "right") if isinstance(stop, str) else stop
    kept = _leave_out(course.doubled, range(course.n_snapshots)[first:end])
    if isinstance(step, str):
        kept = times().stride(kept, step)
    elif step is not None and step < 1:
        raise ValueError(f"step= must be at least 1, got {step}: snapshots are read forwards")
    else:
        kept = kept[::step]
    if not kept:
        asked = f"{course.n_snapshots} with {said}" if said else f"{course.n_snapshots}"
        raise ValueError(f"{course.source}: zero snapshots are left of {asked}: choose others")
    return kept


def _leave_out(doubled: Sequence[int], snapshots: range) -> Sequence[int]:
    twice = set(doubled).intersection(snapshots)
    return [number for number in snapshots if number not in twice] if twice else snapshots


def _choose_of_runs(course: Course, clock: Clock, given: dict[str, Any]) -> Sequence[int]:
    """Choose by times in each of several runs."""
    numbers = [name for name in ("start", "stop") if isinstance(given[name], int)]
    if numbers:
        raise ValueError(
            f"{course.source}: of several runs, each with times of its own, {numbers[0]}= as a "
            "number does not go with times: give all as times, or all as numbers"
        )
    kept = list[int]()
    for first, end in pairwise([0, *course.begins, course.n_snapshots]):
        inside = [number - first for number in course.doubled if first <= number < end]
        run = Course(end - first, course.source, _own_clock(clock, first), inside)
        chosen = choose_snapshots(run, **given)
        kept += [first + number for number in chosen]
    return kept


def _own_clock(clock: Clock, first: int) -> Clock:
    return lambda number: clock(first + number)


def choose_through(course: Course, kept: Sequence[int]) -> Sequence[int]:
    """Choose all snapshots through which something is followed.

    Parameters
    ----------
    course : Course
        All snapshots.
    kept : sequence of int
        Those that count.

    Returns
    -------
    sequence of int
        From the first that counts to the last, without those that are there twice; of several
        runs, from where the first of them begins, as all are followed from there.

    Examples
    --------
    >>> course = Course(20, "a.xtc", begins=[10])
    >>> choose_through(course, [3, 5, 13, 15]), choose_through(course, [13, 15])
    (range(0, 16), range(13, 16))
    """
    first, last = kept[0], kept[-1]
    if any(first < begin <= last for begin in course.begins):
        first = max((begin for begin in course.begins if begin <= first), default=0)
    return _leave_out(course.doubled, range(first, last + 1))


def choose_one(course: Course, kept: Sequence[int], model: int) -> Sequence[int]:
    """Choose one of the snapshots that are kept.

    Parameters
    ----------
    course : Course
        All snapshots.
    kept : sequence of int
        Those that are kept.
    model : int
        Which, counted from 1.

    Returns
    -------
    sequence of int
        Index of that one.
    """
    if not 0 < model <= len(kept):
        raise ValueError(
            f"{course.source}: model {model} is not there: there are {len(kept)}, counted from 1"
        )
    return kept[model - 1 : model]


def _refuse_no_number(given: dict[str, int | str | None]) -> None:
    for name, value in given.items():
        if value is not None and not isinstance(value, str) and not hasattr(value, "__index__"):
            raise ValueError(
                f"{name}= takes a whole number, or a time such as 10ns or 500ps, got {value!r}"
            )


def _filled(times: Floats) -> Floats:
    """Give snapshots that do not count the time of the last before them that does."""
    known = np.flatnonzero(np.isfinite(times))
    if not len(known):
        return times
    last = np.searchsorted(known, np.arange(len(times)), side="right") - 1
    return times[known[np.maximum(last, 0)]]


class _Times:
    """Times of the snapshots of a source, each of them looked up: a step back may be anywhere."""

    def __init__(self, course: Course) -> None:
        self._source = source = course.source
        found = list[float]()
        for snapshot in range(course.n_snapshots):
            time = None if course.clock is None else course.clock(snapshot)
            if time is None:
                raise ValueError(
                    f"{source}: its snapshots carry no times: choose them by number, from 0 (the "
                    "header of many DCD files holds a placeholder)"
                )
            found.append(time)
        self._times: Floats = np.array(found, dtype=np.float64)
        self._times[list(course.doubled)] = np.nan
        self._times = _filled(self._times)
        # Two snapshots are one if they are nearer than files, in single precision, can tell.
        self._rounding = float(np.spacing(np.abs(self._times).max().astype(np.float32)))
        steps = np.diff(self._times)
        back = np.flatnonzero(steps < -self._rounding)
        if len(back) or (course.n_snapshots > 1 and not self._times[-1] > self._times[0]):
            place = back[0] if len(back) else 0
            raise ValueError(
                f"{source}: the times of its snapshots do not always grow, as where runs that "
                f"begin anew stand in a row: after {self._times[place]:g} ps comes "
                f"{self._times[place + 1]:g} ps; choose snapshots by number, from 0"
            )
        usual = float(np.median(steps[steps > self._rounding])) if course.n_snapshots > 1 else 0.0
        self._slack = _SLACK * usual + self._rounding

    def index(self, text: str, side: Literal["left", "right"]) -> int:
        slack = -self._slack if side == "left" else self._slack
        return int(np.searchsorted(self._times, picoseconds(text) + slack, side))

    def stride(self, kept: Sequence[int], text: str) -> Sequence[int]:
        """Go through snapshots by steps in time, each time once."""
        times = self._times[np.asarray(kept, dtype=np.int64)]
        new = np.concatenate([[True], np.diff(times) > self._rounding])[: len(kept)]
        once = kept if new.all() else [kept[place] for place in np.flatnonzero(new).tolist()]
        if len(once) < 2:
            return once
        interval = self._interval(times[new])
        ratio = picoseconds(text) / interval
        if ratio < 0.5 or abs(ratio - round(ratio)) > _SLACK * round(ratio):
            raise ValueError(
                f"{self._source}: snapshots are {interval:g} ps apart, which step={text!r} is "
                "no multiple of: choose another"
            )
        return once[:: round(ratio)]

    def _interval(self, times: Floats) -> float:
        steps = np.diff(times)
        usual = float(np.median(steps))
        uneven = np.flatnonzero(np.abs(steps - usual) > _SLACK * usual + 2 * self._rounding)
        if len(uneven):
            raise ValueError(
                f"{self._source}: near {times[uneven[0]]:g} ps, its snapshots are not at equal "
                "times: give step= as a number"
            )
        return float(times[-1] - times[0]) / (len(times) - 1)
