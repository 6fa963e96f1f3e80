"""Limits: what one job may take, and how many jobs there may be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timme import memory
from timme.settings import ServeSettings

_SECONDS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"([0-9]*\.?[0-9]+)\s*([a-z]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one job may take, and how many jobs there may be."""

    upload: int  # bytes, counted after unpacking
    seconds: float
    memory: int  # bytes
    jobs: int  # that run at once
    queue: int  # that wait


def parse_limits(chosen: ServeSettings) -> Limits:
    """Read limits as people write them.

    Parameters
    ----------
    chosen : ServeSettings
        What the user chose.

    Returns
    -------
    Limits
        In bytes and seconds.
    """
    return Limits(
        upload=memory.parse(chosen.max_upload, "max_upload="),
        seconds=parse_time(chosen.max_time, "max_time="),
        memory=memory.parse(chosen.memory, "memory="),
        jobs=chosen.jobs,
        queue=chosen.queue,
    )


def parse_time(text: str, what: str = "a time") -> float:
    """Read a time as people write it.

    Parameters
    ----------
    text : str
        A number with a unit: ``90s``, ``30min``, ``12h``, ``2d``; without one, seconds.
    what : str, optional
        What takes that time, for the message: ``max_time=``.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> parse_time("30min"), parse_time("1.5 h")
    (1800.0, 5400.0)
    """
    match = _TIME.fullmatch(text.strip().lower())
    factor = None if match is None else _SECONDS.get(match[2])
    if match is None or factor is None or float(match[1]) <= 0:
        raise ValueError(f"{what} is written as 90s, 30min or 12h, got {text!r}")
    return float(match[1]) * factor


def shown_time(seconds: float) -> str:
    """Write a time as people read it.

    Parameters
    ----------
    seconds : float
        A time.

    Returns
    -------
    str
        In the largest unit of which there is one.

    Examples
    --------
    >>> shown_time(1.5), shown_time(1800), shown_time(43200)
    ('1.5 s', '30 min', '12 h')
    """
    unit = "h" if seconds >= 3600 else "min" if seconds >= 60 else "s"
    return f"{seconds / _SECONDS[unit]:.3g} {unit}"
