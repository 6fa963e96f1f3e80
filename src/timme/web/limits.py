"""Limits: what one job may take, and how many jobs there may be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timme import memory

_SECONDS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"([0-9]*\.?[0-9]+)\s*([a-z]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one job may take, and how many jobs there may be."""

    upload: int = 2 * 10**9  # bytes, counted after unpacking
    seconds: float = 12 * 3600.0
    memory: int = 4 * 10**9  # bytes
    jobs: int = 1  # that run at once
    queue: int = 8  # that wait

    def __post_init__(self) -> None:
        """Refuse limits that would let nothing run."""
        for name in ("jobs", "queue"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}= must be at least 1, got {getattr(self, name)}")


def parsed_limits(*, max_upload: str, max_time: str, memory: str, jobs: int, queue: int) -> Limits:
    """Read limits as people write them.

    Parameters
    ----------
    max_upload : str
        Size of all files of a job, as 2GB.
    max_time : str
        Time that a job may run, as 12h.
    memory : str
        Memory that a job may take, as 4GB.
    jobs : int
        Jobs that run at once.
    queue : int
        Jobs that wait.

    Returns
    -------
    Limits
        In bytes and seconds.
    """
    return Limits(
        upload=_size("max_upload=", max_upload),
        seconds=parsed_time(max_time),
        memory=_size("memory=", memory),
        jobs=jobs,
        queue=queue,
    )


def parsed_time(text: str) -> float:
    """Read a time as people write it.

    Parameters
    ----------
    text : str
        A number with a unit: ``90s``, ``30min``, ``12h``, ``2d``; without one, seconds.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> parsed_time("30min"), parsed_time("1.5 h")
    (1800.0, 5400.0)
    """
    match = _TIME.fullmatch(text.strip().lower())
    factor = None if match is None else _SECONDS.get(match[2])
    if match is None or factor is None or float(match[1]) <= 0:
        raise ValueError(f"a time is written as 90s, 30min or 12h, got {text!r}")
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


def _size(option: str, text: str) -> int:
    try:
        return memory.parse(text)
    except ValueError:
        raise ValueError(f"{option} is a size such as 2GB or 500MB, got {text!r}") from None
