"""Runs: where they start by the times of snapshots, and which snapshots are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from timme_next._arrays import Floats, Ints

_PICOSECONDS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}
_SLACK = 0.01  # of the time between snapshots; files round their times
_SHORTEST = 3  # snapshots of a run within a file: what goes back more often is in no order

Bound = int | str | None


def find_runs(
    times: Floats, files: Sequence[int], are_same: Callable[[int, int], bool]
) -> tuple[list[int], list[int]]:
    """Return the snapshots with which later runs start, and those that repeat others.

    A run starts where times start again or overlap with those before, unless the snapshots that
    overlap repeat the last ones before. Without times, all files are one run.

    Parameters
    ----------
    times : ndarray, shape (snapshots,)
        NaN where unknown.
    files : sequence of int
        First snapshot of each file.
    are_same : callable
        Whether two snapshots are exactly the same.
    """
    starts, repeats = list[int](), list[int]()
    parts = [part for ends in pairwise([*files, len(times)]) for part in _parts(times, *ends)]
    for first, end in parts:
        still = 1 + first + np.flatnonzero(np.diff(times[first:end]) == 0)
        if len(still) < end - first - 1:  # else the program wrote no times
            repeats += [number for number in still.tolist() if are_same(number - 1, number)]
    for (first, end), (start, stop) in pairwise(parts):
        if end - first < 2 or stop - start < 2:
            continue
        before, after = times[first:end], times[start:stop]
        known = np.isfinite(before).all() and np.isfinite(after).all() and before[-1] > before[0]
        overlap = int(np.sum(after <= before[-1] + _slack(before))) if known else 1
        pairs = zip(range(end - overlap, end), range(start, start + overlap), strict=True)
        if overlap <= min(end - first, stop - start) and all(are_same(*pair) for pair in pairs):
            repeats += range(start, start + overlap)
        elif known:
            starts.append(start)
    return starts, sorted(repeats)


def choose(
    times: Floats,
    starts: Sequence[int],
    repeats: Sequence[int],
    *,
    start: Bound = None,
    stop: Bound = None,
    step: Bound = None,
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
    by_time = any(isinstance(bound, str) for bound in (start, stop, step))
    numbers = (isinstance(bound, int) for bound in (start, stop))
    if by_time and starts and any(numbers):
        raise ValueError(f"{source}: of several runs, give start= and stop= both as times")
    if isinstance(step, int) and step < 1:
        raise ValueError(f"step= must be at least 1, got {step}: snapshots are read forwards")
    bounds = slice(*(bound if isinstance(bound, int) else None for bound in (start, stop)))
    kept = list[int]()
    for first, end in pairwise([0, *starts, len(times)]) if by_time else [(0, len(times))]:
        every = range(len(times))[bounds]
        own = np.setdiff1d(range(max(first, every.start), min(end, every.stop)), repeats)
        if by_time and len(own):
            own = _by_times(own, times[own], start, stop, step, source)
        kept += own[:: step if isinstance(step, int) else 1].tolist()
    if not kept:
        raise ValueError(
            f"{source}: of {len(times):,} snapshots, start={start}, stop={stop}, step={step} keep "
            "none: choose others"
        )
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


def bound_of(given: object, name: str) -> Bound:
    """Return a number or time as the user gives it."""
    if given is None or (hasattr(given, "__index__") and not isinstance(given, bool)):
        return None if given is None else int(given)
    if not isinstance(given, str):
        raise TypeError(f"{name}= takes a whole number, or a time such as 10ns, got {given!r}")
    if re.fullmatch(r"\s*[-+]?\d+\s*", given):
        return int(given)
    picoseconds(given)
    return given


def picoseconds(text: str) -> float:
    """Return a time such as ``10ns`` or ``2.5 fs`` in ps.

    Examples
    --------
    >>> picoseconds("10ns"), picoseconds("2.5 fs")
    (10000.0, 0.0025)
    """
    found = re.fullmatch(r"([-+.0-9eE]*[.0-9])\s*([a-zµμ]+)", text.strip())
    unit = _PICOSECONDS.get(found[2].replace("μ", "µ")) if found else None
    try:
        if found and unit and np.isfinite(float(found[1])):
            return float(found[1]) * unit
    except ValueError:
        pass
    raise ValueError(f"a time is written as 10ns or 500 ps, got {text!r}")


def _parts(times: Floats, start: int, stop: int) -> list[tuple[int, int]]:
    """Return the parts of a file between which times go back."""
    back = start + 1 + np.flatnonzero(np.diff(times[start:stop]) < 0)
    parts = list(pairwise([start, *back.tolist(), stop]))
    return parts if min(end - first for first, end in parts) >= _SHORTEST else [(start, stop)]


def _slack(times: Floats) -> float:
    """Return by how much times may differ that mean the same; most are in single precision."""
    usual = np.median(np.diff(times)) if len(times) > 1 else 0.0
    return float(_SLACK * usual + 2 * np.spacing(np.float32(np.abs(times).max())))


def _by_times(
    numbers: Ints, times: Floats, start: Bound, stop: Bound, step: Bound, source: str
) -> Ints:
    """Return the numbers of snapshots of one run between two times."""
    if not np.isfinite(times).all():
        raise ValueError(
            f"{source}: its snapshots carry no times: choose them by number, from 0 (the header of "
            "many DCD files holds a placeholder)"
        )
    slack, steps = _slack(times), np.diff(times)
    if (steps < -slack).any() or (len(times) > 1 and not times[-1] > times[0]):
        raise ValueError(
            f"{source}: the times of its snapshots do not always grow: choose them by number, "
            "from 0"
        )
    first = picoseconds(start) - slack if isinstance(start, str) else -np.inf
    last = np.inf if not isinstance(stop, str) else picoseconds(stop) + slack
    inside = (times >= first) & (times <= last)
    numbers, times = numbers[inside], times[inside]
    if not isinstance(step, str) or len(numbers) < 2:
        return numbers
    steps = np.diff(times)
    ratio = picoseconds(step) / np.median(steps)
    if np.ptp(steps) > 2 * slack or ratio < 0.5 or abs(ratio - round(ratio)) > _SLACK * ratio:
        raise ValueError(
            f"{source}: snapshots are {steps.min():g} to {steps.max():g} ps apart, of which "
            f"step={step!r} is no multiple: choose another, or give step= as a number"
        )
    return numbers[:: round(ratio)]
