"""Which snapshots of a source are kept, by their numbers or by their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from timme._arrays import Floats
from timme.settings.texts import picoseconds

Clock = Callable[[int], float | None]  # of a snapshot, its time in ps

_SLACK = 0.01  # of the time between snapshots; files round their times


def kept_snapshots(  # noqa: PLR0913, what there is, what is asked for, and where it is broken
    count: int,
    source: str,
    clock: Clock | None,
    *,
    start: int | str | None = None,
    stop: int | str | None = None,
    step: int | str | None = None,
    doubled: Sequence[int] = (),
    begins: Sequence[int] = (),
) -> Sequence[int]:
    """Choose snapshots as a slice does, or by times.

    Parameters
    ----------
    count : int
        Number of all snapshots.
    source : str
        Where they come from, for the message.
    clock : callable or None
        Returns the time of a snapshot in ps; None where the source has no times.
    start, stop, step : int or str, optional
        Bounds and stride; or times such as ``10ns``, of which the last one is included.
    doubled : sequence of int, optional
        Snapshots that are there twice, as where a run was continued, and are left out.
    begins : sequence of int, optional
        Those with which another run begins, whose clock is its own: times are those of every run.

    Returns
    -------
    sequence of int
        Indices of the snapshots, at least one: a range, unless some are there twice.

    Examples
    --------
    >>> kept_snapshots(10, "a.xtc", lambda frame: 100.0 * frame, start="0.2ns", stop="500 ps")
    range(2, 6)
    """
    given = {"start": start, "stop": stop, "step": step}
    _refuse_no_number(given)
    said = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
    if begins and clock is not None and any(isinstance(value, str) for value in given.values()):
        return _kept_of_runs(count, source, clock, given, doubled, begins)
    times = cache(lambda: _Times(count, source, clock, doubled))
    first = times().index(start, "left") if isinstance(start, str) else start
    end = times().index(stop, "right") if isinstance(stop, str) else stop
    kept: Sequence[int] = range(count)[first:end]
    repeated = set(doubled).intersection(kept)
    kept = [number for number in kept if number not in repeated] if repeated else kept
    if isinstance(step, str):
        kept = times().stride(kept, step)
    elif step is not None and step < 1:
        raise ValueError(f"step= must be at least 1, got {step}: snapshots are read forwards")
    else:
        kept = kept[::step]
    if not kept:
        asked = f" with {said}" if said else ""
        raise ValueError(f"{source}: zero snapshots are left of {count}{asked}: choose others")
    return kept


def _kept_of_runs(
    count: int,
    source: str,
    clock: Clock,
    given: dict[str, Any],
    doubled: Sequence[int],
    begins: Sequence[int],
) -> Sequence[int]:
    """Choose by times in each of several runs."""
    numbers = [name for name in ("start", "stop") if isinstance(given[name], int)]
    if numbers:
        raise ValueError(
            f"{source}: of several runs, each with times of its own, {numbers[0]}= as a number "
            "does not go with times: give all as times, or all as numbers"
        )
    kept = list[int]()
    for first, end in pairwise([0, *begins, count]):
        inside = [number - first for number in doubled if first <= number < end]
        own = _own_clock(clock, first)
        chosen = kept_snapshots(end - first, source, own, **given, doubled=inside)
        kept += [first + number for number in chosen]
    return kept


def _own_clock(clock: Clock, first: int) -> Clock:
    return lambda number: clock(first + number)


def all_through(kept: Sequence[int], begins: Sequence[int]) -> range:
    """Choose all snapshots through which something is followed.

    Parameters
    ----------
    kept : sequence of int
        Those that count.
    begins : sequence of int
        Those with which another run begins.

    Returns
    -------
    range
        From the first that counts to the last; of several runs, from where the first of them
        begins, as all are followed from there.

    Examples
    --------
    >>> all_through([3, 5, 13, 15], [10]), all_through([13, 15], [10])
    (range(0, 16), range(13, 16))
    """
    first, last = kept[0], kept[-1]
    if any(first < begin <= last for begin in begins):
        first = max((begin for begin in begins if begin <= first), default=0)
    return range(first, last + 1)


def one_snapshot(kept: Sequence[int], source: str, model: int) -> Sequence[int]:
    """Choose one of the snapshots that are kept.

    Parameters
    ----------
    kept : sequence of int
        Snapshots.
    source : str
        Where they come from, for the message.
    model : int
        Which, counted from 1.

    Returns
    -------
    sequence of int
        Index of that one.
    """
    if not 0 < model <= len(kept):
        raise ValueError(
            f"{source}: model {model} is not there: there are {len(kept)}, counted from 1"
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

    def __init__(
        self, count: int, source: str, clock: Clock | None, left_out: Sequence[int]
    ) -> None:
        self._source = source
        found = list[float]()
        for snapshot in range(count):
            time = None if clock is None else clock(snapshot)
            if time is None:
                raise ValueError(
                    f"{source}: its snapshots carry no times: choose them by number, from 0 (the "
                    "header of many DCD files holds a placeholder)"
                )
            found.append(time)
        self._times: Floats = np.array(found, dtype=np.float64)
        self._times[list(left_out)] = np.nan
        self._times = _filled(self._times)
        # Two snapshots are one if they are nearer than files, in single precision, can tell.
        self._rounding = float(np.spacing(np.abs(self._times).max().astype(np.float32)))
        steps = np.diff(self._times)
        back = np.flatnonzero(steps < -self._rounding)
        if len(back) or (count > 1 and not self._times[-1] > self._times[0]):
            place = back[0] if len(back) else 0
            raise ValueError(
                f"{source}: the times of its snapshots do not always grow, as where runs that "
                f"begin anew stand in a row: after {self._times[place]:g} ps comes "
                f"{self._times[place + 1]:g} ps; choose snapshots by number, from 0"
            )
        usual = float(np.median(steps[steps > self._rounding])) if count > 1 else 0.0
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
