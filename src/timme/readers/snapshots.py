"""Which snapshots of a source are kept, by their numbers or by their times."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache

from timme.settings.texts import picoseconds

Clock = Callable[[int], float | None]  # of a snapshot, its time in ps

_PROBES = 32  # snapshots whose times are compared
_SLACK = 0.01  # of the time between snapshots; files round their times


def kept_snapshots(
    count: int,
    source: str,
    clock: Clock | None,
    *,
    start: int | str | None = None,
    stop: int | str | None = None,
    step: int | str | None = None,
) -> range:
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

    Returns
    -------
    range
        Indices of the snapshots, at least one.

    Examples
    --------
    >>> kept_snapshots(10, "a.xtc", lambda frame: 100.0 * frame, start="0.2ns", stop="500 ps")
    range(2, 6)
    """
    given = {"start": start, "stop": stop, "step": step}
    said = ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)
    times = cache(lambda: _Times(count, source, clock))
    first = times().index(start, bisect_left) if isinstance(start, str) else start
    end = times().index(stop, bisect_right) if isinstance(stop, str) else stop
    stride = times().stride(step) if isinstance(step, str) else step
    if stride is not None and stride < 1:
        raise ValueError(f"step= must be at least 1, got {step}: snapshots are read forwards")
    kept = range(count)[first:end:stride]
    if not kept:
        asked = f" with {said}" if said else ""
        raise ValueError(f"{source}: zero snapshots are left of {count}{asked}: choose others")
    return kept


def one_snapshot(kept: range, source: str, model: int) -> range:
    """Choose one of the snapshots that are kept.

    Parameters
    ----------
    kept : range
        Snapshots.
    source : str
        Where they come from, for the message.
    model : int
        Which, counted from 1.

    Returns
    -------
    range
        Index of that one.
    """
    if not 0 < model <= len(kept):
        raise ValueError(
            f"{source}: model {model} is not there: there are {len(kept)}, counted from 1"
        )
    return kept[model - 1 : model]


class _Times:
    """Times of the snapshots of a source, of which few are ever looked up."""

    def __init__(self, count: int, source: str, clock: Clock | None) -> None:
        self._count, self._source, self._clock = count, source, clock
        self._first, self._last = self[0], self[count - 1]
        self._interval = (self._last - self._first) / max(count - 1, 1)
        looked_up = [self[index * (count - 1) // _PROBES] for index in range(_PROBES + 1)]
        if sorted(looked_up) != looked_up or (count > 1 and not self._interval > 0):
            raise ValueError(
                f"{source}: the times of its snapshots do not always grow, as where runs that "
                "begin anew stand in a row: choose snapshots by number, from 0"
            )

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, snapshot: int) -> float:
        time = self._clock(snapshot) if self._clock is not None else None
        if time is None:
            raise ValueError(
                f"{self._source}: its snapshots carry no times: choose them by number, from 0"
            )
        return time

    def index(self, text: str, side: Callable[..., int]) -> int:
        slack = self._interval * (-_SLACK if side is bisect_left else _SLACK)
        return side(self, picoseconds(text) + slack)

    def stride(self, text: str) -> int:
        if self._count == 1:
            return 1
        ratio = picoseconds(text) / self._interval
        stride = round(ratio)
        even = abs(self[1] - self._first - self._interval) < _SLACK * self._interval
        if not even:
            raise ValueError(
                f"{self._source}: its snapshots are not at equal times: give step= as a number"
            )
        if stride < 1 or abs(ratio - stride) > _SLACK * stride:
            raise ValueError(
                f"{self._source}: snapshots are {self._interval:g} ps apart, which step={text} is "
                "no multiple of: choose another"
            )
        return stride
