"""Runs that end when progress has been told so many times, as if they had been killed then."""

from __future__ import annotations

from collections.abc import Callable


class KilledError(Exception):
    """Ends a run from within."""


def kill_at(call: int) -> Callable[..., None]:
    """Make what is told of progress, and ends the run at the given call."""
    left = call

    def progress(*_: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KilledError

    return progress
