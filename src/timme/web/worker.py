"""The process of one job: the recipe of the command line, within limits, telling how far it is."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from timme import memory
from timme.output.files import write_atomically
from timme.web.models import Choices, File, Job, Outcome, Progress, Row, Stage

JOB, PROGRESS, OUTCOME = "job.json", "progress.json", "outcome.json"
INPUTS, RESULT, CHECKPOINT = "input", "result", "result.checkpoint"

_TELL = 0.2  # seconds between reports of progress


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
        outcome = _RECIPES[job.recipe](folder, job)
    except MemoryError:
        outcome = Outcome(
            error=f"more than {memory.shown(allowed)} of memory are needed, which is what a job "
            "may take: select fewer sites, compare fewer pairs, or allow more "
            "(timme serve --memory)"
        )
    except Exception as error:  # noqa: BLE001, whatever it is, the user is told
        outcome = Outcome(error=_with_names(_one_line(error), folder, job.files))
    write_atomically(folder / OUTCOME, outcome.model_dump_json())


# ---- recipes -----------------------------------------------------------------------------------


def _run(folder: Path, job: Job) -> Outcome:
    """Analyse the files of a job, and write the folder of results."""
    report = _Reporter(folder / PROGRESS)
    report.stage("starting")
    from timme.checkpoint import Checkpoint
    from timme.workflow import analyse, summary, write

    report.stage("reading")
    interval = float(os.environ.get("TIMME_CHECKPOINT_INTERVAL", "30"))
    first, *others = (str(folder / INPUTS / file.stored) for file in job.files)
    with (
        Checkpoint(folder / CHECKPOINT, resume=True, interval=interval) as checkpoint,
        _compiling(report),
    ):
        analysis = analyse(
            first,
            others,
            settings=job.settings.settings(),
            command=_command(job),
            progress=report.measured,
            checkpoint=checkpoint,
        )
        named = replace(
            analysis,
            provenance=_provenance(analysis.provenance, job.files),
            notes=tuple(_with_names(note, folder, job.files) for note in analysis.notes),
        )
        report.stage("drawing")
        written = write(named, folder / RESULT, overwrite=True)
    return Outcome(
        summary=[Row(name=name, value=value) for name, value in summary(named)],
        notes=[*named.notes, *written.notes],
    )


_RECIPES: dict[str, Callable[[Path, Job], Outcome]] = {"run": _run}


def _command(job: Job) -> str:
    """Write the command that does the same, with the user's own names."""
    return shlex.join(["timme", "run", *(file.name for file in job.files), *_options(job.settings)])


def _options(choices: Choices) -> Iterator[str]:
    names = {"start": "begin", "stop": "end"}
    plain = choices.model_dump(exclude_none=True, exclude_defaults=True, exclude={"weights"})
    for name, value in plain.items():
        option = f"--{names.get(name, name).replace('_', '-')}"
        if name == "box" and value is False:
            yield from (option, "none")
        elif isinstance(value, bool):
            yield from [option] * value
        else:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            yield from (option, text)


def _provenance(found: Any, files: Sequence[File]) -> dict[str, object]:
    """Name the inputs as the user does."""
    names = {file.stored: file.name for file in files}
    inputs = [
        entry | {"name": names.get(entry["name"], entry["name"])} for entry in found["inputs"]
    ]
    return {**found, "inputs": inputs}


# ---- how far it is -----------------------------------------------------------------------------


class _Reporter:
    """Writes how far a job is, a few times a second at most."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stage: Stage = "starting"
        self._done = 0
        self._begun = self._told = 0.0

    def stage(self, stage: Stage) -> None:
        """Begin a stage of which nothing is known but its name."""
        self._stage, self._done, self._begun = stage, 0, time.monotonic()
        self._tell(Progress(stage=stage))

    def measured(self, done: int, total: int) -> None:
        """Say how much is measured; a smaller number than before means another pass."""
        now = time.monotonic()
        if self._stage != "measuring" or done < self._done:
            self._stage, self._begun = "measuring", now
        elif now - self._told < _TELL and done < total:
            return
        self._done = done
        passed = now - self._begun
        left = passed * (total - done) / done if done and passed > 1.0 else None
        self._tell(Progress(stage="measuring", done=done, total=total, seconds_left=left))

    def _tell(self, progress: Progress) -> None:
        self._told = time.monotonic()
        write_atomically(self._path, progress.model_dump_json())


@contextmanager
def _compiling(report: _Reporter) -> Iterator[None]:
    """Tell that kernels are compiled, which is done once after installation."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            report.stage("compiling")

        def on_end(self, _: object) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


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


# ---- words -------------------------------------------------------------------------------------


def _one_line(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    text = " ".join(text.split())
    known = isinstance(error, ValueError | OSError) and text
    return text if known else f"{type(error).__name__}: {text}"


def _with_names(text: str, folder: Path, files: Sequence[File]) -> str:
    """Put the user's names in place of paths on this computer."""
    stored = {str(folder / INPUTS / file.stored): file.name for file in files}
    # In one go, so that a name that looks like a path is not replaced in turn.
    pattern = "|".join(re.escape(path) for path in sorted(stored, key=len, reverse=True))
    named = re.sub(pattern, lambda match: stored[match[0]], text)
    return named.replace(f"{folder}{os.sep}", "")


if __name__ == "__main__":
    main(sys.argv[1:])
