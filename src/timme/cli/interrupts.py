"""Interrupts while nothing has begun: the process ends, in one line.

Python raises an exception wherever it happens to be. Within a library that is being imported this
ends in pages of text, and some libraries cannot be interrupted there without a crash.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = "timme: interrupted, nothing was written"
CODE = 130  # as shells count: 128 and the number of the signal


@contextmanager
def end_at_once(before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """End the process when it is interrupted meanwhile.

    Parameters
    ----------
    before : callable, optional
        What is done first, such as to take away what is on the screen.

    Yields
    ------
    None
        While libraries are imported. Only the main thread can look after signals: in others,
        nothing changes.
    """

    def end(*_: object) -> None:
        before()
        sys.stderr.write(f"{INTERRUPTED}\n")
        sys.stderr.flush()
        os._exit(CODE)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)
