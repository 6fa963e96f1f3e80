"""The command line; light, so that Ctrl-C is answered in one line from the first moment on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error becomes one line and exit code 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command; by default those of the process.
    """
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _end)
    from timme.cli.commands import run_command

    run_command(sys.argv[1:] if arguments is None else arguments)


def _end(number: int, _: object) -> None:
    """End the process at once: libraries that are being imported cannot bear an exception."""
    sys.stderr.write("timme: interrupted, nothing was written\n")
    sys.stderr.flush()
    os._exit(128 + number)  # as shells count
