"""Runs: where they start by the times of snapshots, and which snapshots are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from timme._arrays import Floats, Ints

_PICOSECONDS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}
_SLACK = 0.01  # of the time between snapshots; files round their times


def find_runs(times: Floats, are_same: Callable[[int, int], bool]) -> tuple[list[int], list[int]]:
    """Return the snapshots with which later runs start, and those that repeat the one before.

    A run starts where times go back, unless one of these parts is a single snapshot, as then
    snapshots are in no order. All are one run where times are unknown or stand still.

    Parameters
    ----------
    times : ndarray, shape (snapshots,)
        NaN where unknown.
    are_same : callable
        Whether two snapshots are exactly the same.
    """
    steps = np.diff(times)
    if not (steps > 0).any():
        return [], []
    still = (1 + np.flatnonzero(steps == 0)).tolist()
    starts = (1 + np.flatnonzero(steps < 0)).tolist()
    if np.diff([0, *starts, len(times)]).min() == 1:
        starts = []
    return starts, [number for number in still if are_same(number - 1, number)]


def choose(
    times: Floats,
    starts: Sequence[int],
    repeats: Sequence[int],
    *,
    start: object = None,
    stop: object = None,
    step: object = None,
    source: str = "array",
) -> Sequence[int]:
    """Return the snapshots that are kept: as a slice does, or by times in each run.

    Parameters
    ----------
    times : ndarray, shape (snapshots,)
        In ps, NaN where unknown.
    starts, repeats : sequence of int
        As `find_runs` returns them; repeats are never kept.
    start, stop, step : int or str, optional
        Bounds and stride; or times such as ``10ns``, of which the last one is included.
    source : str, optional
        Name of the source for messages.

    Examples
    --------
    >>> choose(100.0 * np.arange(10), [], [], start="0.2ns", stop="500 ps")
    range(2, 6)
    """
    named = (("start", start), ("stop", stop), ("step", step))
    bounds = [_bound(given, name) for name, given in named]
    numbers = [bound if isinstance(bound, int) else None for bound in bounds]
    by_time = any(isinstance(bound, float) for bound in bounds)
    if by_time and starts and numbers[:2] != [None, None]:
        raise ValueError(f"{source}: of several runs, give start= and stop= both as times")
    if numbers[2] is not None and numbers[2] < 1:
        raise ValueError(f"step= must be at least 1, got {step}: snapshots are read forwards")
    kept, every = list[int](), range(len(times))[slice(*numbers[:2])]
    for first, end in pairwise([0, *starts, len(times)] if by_time else [0, len(times)]):
        own = np.setdiff1d(range(max(first, every.start), min(end, every.stop)), repeats)
        if by_time and len(own):
            own = _by_times(own, times[own], bounds, source)
        kept += own[:: numbers[2]].tolist()
    if not kept:
        given = f"start={start}, stop={stop}, step={step}"
        raise ValueError(f"{source}: of {len(times):,} snapshots, {given} keep none: choose others")
    return as_range(kept)


def choose_through(
    kept: Sequence[int], starts: Sequence[int], repeats: Sequence[int]
) -> Sequence[int]:
    """Return all snapshots through which molecules are unwrapped, from the first kept to the last.

    Of several runs, from where the first of them starts, as all are unwrapped from there.

    Examples
    --------
    >>> choose_through([3, 5, 13, 15], [10], []), choose_through([13, 15], [10], [])
    (range(0, 16), range(13, 16))
    """
    first, last = kept[0], kept[-1]
    if any(first < start <= last for start in starts):
        first = max((start for start in starts if start <= first), default=0)
    return as_range(np.setdiff1d(range(first, last + 1), repeats).tolist())


def as_range(numbers: list[int]) -> Sequence[int]:
    """Return ascending numbers, as a range where they are one."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    found = range(numbers[0], numbers[-1] + 1, step)
    return found if list(found) == numbers else numbers


def _bound(given: object, name: str) -> int | float | None:
    """Return a number of snapshots as the user gives it, or a time such as ``10ns`` in ps.

    Examples
    --------
    >>> [_bound(given, "start") for given in (None, "7", "10ns", "2.5 fs")]
    [None, 7, 10000.0, 0.0025]
    """
    text = "" if given is None or isinstance(given, bool) else str(given).strip()
    found = re.fullmatch(r"([-+]?\d*\.?\d+(?:e[-+]?\d+)?)\s*([a-zµμ]*)", text)
    unit = _PICOSECONDS.get(found[2].replace("μ", "µ")) if found else None
    if found and unit:
        return float(found[1]) * unit
    if given is not None and not re.fullmatch(r"[-+]?\d+", text):
        raise ValueError(f"{name}= takes a whole number, or a time such as 10ns, got {given!r}")
    return int(text) if text else None


def _by_times(
    numbers: Ints, times: Floats, bounds: Sequence[int | float | None], source: str
) -> Ints:
    """Return the numbers of snapshots of one run between two times."""
    first, last, stride = (bound if isinstance(bound, float) else None for bound in bounds)
    steps = np.diff(times)
    if not (np.isfinite(times).all() and (steps > 0).all()):
        fault = f"{source}: its snapshots carry no times that always grow"
        raise ValueError(f"{fault}: choose them by number, from 0")
    usual = float(np.median(steps)) if len(steps) else 0.0
    slack = _SLACK * usual + 2 * float(np.spacing(np.float32(np.abs(times).max())))
    low, high = (-np.inf if first is None else first), (np.inf if last is None else last)
    numbers = numbers[(times >= low - slack) & (times <= high + slack)]
    if stride is None or not len(steps):
        return numbers
    every = round(stride / usual)
    if every < 1 or np.abs(every * steps - stride).max() > 2 * every * slack:
        apart = f"snapshots are {steps.min():g} to {steps.max():g} ps apart"
        raise ValueError(f"{source}: {apart}, of which step={stride:g} ps is no multiple")
    return numbers[::every]
