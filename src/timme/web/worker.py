"""The process of one job: within limits, as long as the server lives, its errors in one line."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from timme import memory
from timme._errors import one_line
from timme._files import write_atomically
from timme.web.folders import JOB, OUTCOME, PROGRESS
from timme.web.models import Job, Outcome
from timme.web.recipes import follow, with_names
from timme.web.reporter import Reporter


def main(arguments: Sequence[str]) -> None:
    """Carry out the job of a folder: FOLDER BYTES-OF-MEMORY.

    Parameters
    ----------
    arguments : sequence of str
        Of the command.
    """
    folder, allowed = Path(arguments[0]), int(arguments[1])
    _limit(allowed)
    _end_with_the_server()
    job = Job.model_validate_json((folder / JOB).read_bytes())
    try:
        outcome = follow(folder, job, Reporter(folder / PROGRESS))
    except MemoryError:
        outcome = Outcome(
            error=f"more than {memory.shown(allowed)} of memory are needed, which is what a job "
            "may take: select fewer sites, compare fewer pairs, or allow more "
            "(timme serve --memory)"
        )
    except Exception as error:  # noqa: BLE001, whatever it is, the user is told
        outcome = Outcome(error=with_names(one_line(error), folder, job.files))
    write_atomically(folder / OUTCOME, outcome.model_dump_json())


# ---- limits ------------------------------------------------------------------------------------


def _limit(allowed: int) -> None:
    """Take no more memory than allowed, and leave no core behind, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    # Some systems know these limits by name only.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def _end_with_the_server() -> None:
    """End when the server ends, however it does: then nobody holds the other end of the pipe."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1:])
