"""The process of a job: started with its limits, watched, and ended with all it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Literal

from timme.web.limits import Limits

_GLANCE = 0.05  # seconds between looks at a running process


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended."""

    why: Literal["itself", "stopped", "late"]
    code: int  # of its exit; a signal is negative


def carry_out(program: str, folder: Path, limits: Limits, stop: Event) -> Ending:
    """Run a job in a process of its own and wait for it.

    The caller's thread alone looks at the process and ends it, so that no signal can ever reach
    another process that got the same number.

    Parameters
    ----------
    program : str
        Name of the module that does jobs.
    folder : Path
        Folder of the job.
    limits : Limits
        What it may take.
    stop : Event
        Set by others to end it at once.

    Returns
    -------
    Ending
        How it ended.
    """
    process = _start(program, folder, limits)
    deadline = time.monotonic() + limits.seconds
    why: Literal["itself", "stopped", "late"] = "itself"
    try:
        while process.poll() is None:
            if stop.wait(_GLANCE):
                why = "stopped"
            elif time.monotonic() > deadline:
                why = "late"
            if why != "itself":
                break
    finally:
        _end(process)
    return Ending(why, process.returncode)


def died_of(code: int, limit: str) -> str:
    """Say why a process left nothing behind.

    Parameters
    ----------
    code : int
        Exit code; a signal is negative.
    limit : str
        Memory that it was allowed, as people read it.

    Returns
    -------
    str
        One line.
    """
    if code == -9:
        return (
            f"the process of this job was killed by the system, most likely for want of memory "
            f"(allowed: {limit}): select fewer sites, or compare fewer pairs"
        )
    name = f"exit code {code}"
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return (
        f"the process of this job crashed ({name}); other jobs are not affected: "
        "check the files, or try another format"
    )


def _start(program: str, folder: Path, limits: Limits) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603, nothing in it comes from a client
        # -P: nothing in a job's folder is ever imported.
        [sys.executable, "-P", "-m", program, str(folder), str(limits.memory)],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "Agg", "MALLOC_ARENA_MAX": "2"},
        stdin=subprocess.PIPE,  # its end tells the worker that the server is gone
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started; nothing happens to one that has ended."""
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        process.stdin.close()
