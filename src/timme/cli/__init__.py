"""The command line; light, so that Ctrl-C is answered in one line from the first moment on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error becomes one line and exit code 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command; by default those of the process.
    """
    with _exit_on_signals():
        from timme.cli.commands import run_command

        run_command(sys.argv[1:] if arguments is None else arguments)


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """End the process at once: libraries that are being imported cannot bear an exception."""

    def end(number: int, _: object) -> None:
        sys.stderr.write("timme: interrupted, nothing was written\n")
        sys.stderr.flush()
        os._exit(128 + number)  # as shells count

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)
