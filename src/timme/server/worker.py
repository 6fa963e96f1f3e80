"""The process of one job: within its limits, as long as the server lives, errors in one line."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import shutil
import sys
import threading
import time
from dataclasses import replace
from inspect import signature
from pathlib import Path

import timme
from timme import memory
from timme._text import one_line, typed, write_atomically
from timme.analysis.settings import make
from timme.engine.checkpoint import Checkpoint
from timme.server import jobs
from timme.server.jobs import MODELS, Job, Outcome, Progress, ResultFile, plain_name

_PAUSE = 0.2  # seconds between two reports of progress


class Reporter:
    """Writes how far a job is, a few times a second at most."""

    def __init__(self, path: Path) -> None:
        self._path, self._written = path, 0.0
        self.begin("reading")

    def begin(self, phase: str) -> None:
        """Name what is done next."""
        self._phase = phase
        self(0, 0)

    def __call__(self, done: int, total: int) -> None:
        """Report how much of the phase is done."""
        now = time.monotonic()
        if done >= total or now - self._written > _PAUSE:
            self._written = now
            progress = Progress(phase=self._phase, done=done, total=total)
            write_atomically(self._path, progress.model_dump_json())


def main(folder: Path, allowed: int) -> None:
    """Carry out the job of a folder with so many bytes of memory."""
    with contextlib.suppress(ValueError, OSError):  # some systems know these limits by name only
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
    threading.Thread(target=_end_with_server, daemon=True).start()
    job = Job.model_validate_json((folder / jobs.JOB).read_bytes())
    inputs = folder / jobs.INPUTS
    os.chdir(inputs)  # names of files are those of the user
    try:
        outcome = _carry_out(folder, job)
    except MemoryError:
        reason = f"more than {memory.shown(allowed)} of memory are needed, the most a job may use"
        remedy = "select fewer sites or pairs, or allow more (timme serve --limit memory=8GB)"
        outcome = Outcome(error=f"{reason}: {remedy}")
    except Exception as error:  # noqa: BLE001, the user sees every error in one line
        text = one_line(error).replace(f"{inputs}{os.sep}", "").replace(str(folder), "")
        text = text.replace("(memory=)", "(timme serve --limit memory=)")
        outcome = Outcome(error=text.replace("timme.analyse_rigidity", "recipe rigidity"))
    write_atomically(folder / jobs.OUTCOME, outcome.model_dump_json())


def _end_with_server() -> None:
    """End when the server does: however it ends, the other end of the pipe is closed."""
    sys.stdin.buffer.read()
    os._exit(1)


def _carry_out(folder: Path, job: Job) -> Outcome:
    """Make the result of a job, its files and their archive."""
    from timme.output.folder import files_of, write_folder
    from timme.output.summary import answer

    names = {"run": "analyse", "compare": "compare"}
    function = getattr(timme, names.get(job.recipe, f"analyse_{job.recipe}"))
    report = Reporter(folder / jobs.PROGRESS)
    files = [file.stored for file in job.files]
    settings = make(MODELS[job.recipe], **job.settings)
    with Checkpoint(folder / jobs.CHECKPOINT, resume=True) as checkpoint:
        how = {"settings": settings, "progress": report, "checkpoint": checkpoint}
        taken = how.keys() & signature(function).parameters.keys()
        found = function(*files, **{name: how[name] for name in taken})
    made = found.made
    given = [f"{name}={typed(getattr(made.settings, name))}" for name in made.given]
    options = [word for text in given for word in ("--set", text)]
    command = shlex.join(["timme", job.recipe, *files, *options])
    found = replace(found, made=replace(made, command=command))
    report.begin("writing")
    place, title = folder / jobs.RESULT, f"timme-{plain_name(job.title)}"
    about = {file.name: file.about for file in files_of(found)}
    paths = write_folder(found, place, overwrite=True, full=made.settings.full)
    archive = Path(shutil.make_archive(str(folder / jobs.WORK / title), "zip", place))
    archive = archive.rename(place / archive.name)
    about[archive.name] = "all of these files"
    listed = {path.relative_to(place).as_posix(): path for path in (*paths, archive)}
    return Outcome(
        command=command,
        answer=answer(found),
        notes=found.notes,
        results=tuple(
            ResultFile(name=name, size=path.stat().st_size, about=about.get(name, ""))
            for name, path in listed.items()
        ),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
