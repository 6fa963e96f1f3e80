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
from pkgutil import resolve_name
from typing import Any

from timme import memory
from timme._text import one_line, typed, write_atomically
from timme.analysis.settings import RigiditySettings, make
from timme.engine.checkpoint import Checkpoint
from timme.fluctuations import TooFewSnapshotsError
from timme.io.files import STRUCTURES, kind
from timme.server import jobs
from timme.server.jobs import MODELS, Job, Outcome, Progress, ResultFile, plain_name

_PAUSE = 0.2  # seconds between two reports of progress
_RECIPES = {  # in modules that are imported when they are needed
    "run": "recipe:analyse",
    "rigidity": "rigidity:analyse_rigidity",
    "motion": "motion:analyse_motion",
    "compare": "comparison:compare",
}


class Reporter:
    """Writes how far a job is, a few times a second at most."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.begin("reading")

    def begin(self, phase: str) -> None:
        """Name what is done next."""
        self._phase, self._begun = phase, time.monotonic()
        self._write(Progress(phase=phase))

    def __call__(self, done: int, total: int) -> None:
        """Report how much of the phase is done."""
        now = time.monotonic()
        if done >= total or now - self._written > _PAUSE:
            passed = now - self._begun
            left = passed * (total - done) / done if done and passed > 1 else None
            self._write(Progress(phase=self._phase, done=done, total=total, seconds_left=left))

    def _write(self, progress: Progress) -> None:
        self._written = time.monotonic()
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
        outcome = Outcome(recipe=job.recipe, error=f"{reason}: {remedy}")
    except Exception as error:  # noqa: BLE001, the user sees every error in one line
        text = one_line(error).replace(f"{inputs}{os.sep}", "").replace(str(folder), "")
        text = text.replace("(memory=)", "(timme serve --limit memory=)")
        outcome = Outcome(recipe=job.recipe, error=text)
    write_atomically(folder / jobs.OUTCOME, outcome.model_dump_json())


def _end_with_server() -> None:
    """End when the server does: however it ends, the other end of the pipe is closed."""
    sys.stdin.buffer.read()
    os._exit(1)


def _carry_out(folder: Path, job: Job) -> Outcome:
    """Make the result of a job, its files and their archive."""
    from timme.output.folder import files_of, write_folder
    from timme.output.summary import answer

    report = Reporter(folder / jobs.PROGRESS)
    with Checkpoint(folder / jobs.CHECKPOINT, resume=True) as checkpoint:
        found = _analyse(job, {"progress": report, "checkpoint": checkpoint})
    made, files = found.made, [file.stored for file in job.files]
    given = [f"{name}={typed(getattr(made.settings, name))}" for name in made.given]
    options = [word for text in given for word in ("--set", text)]
    command = shlex.join(["timme", made.recipe, *files, *options])
    found = replace(found, made=replace(made, command=command))
    report.begin("writing")
    place, title = folder / jobs.RESULT, f"timme-{plain_name(job.title)}"
    about = {Path(file.name): file.about for file in files_of(found)}
    paths = [*write_folder(found, place, overwrite=True, full=made.settings.full)]
    archive = Path(shutil.make_archive(str(folder / title), "zip", place))
    names = [path.relative_to(place) for path in (*paths, archive.rename(place / archive.name))]
    return Outcome(
        recipe=made.recipe,
        command=command,
        answer=answer(found),
        notes=found.notes,
        results=tuple(
            ResultFile(
                name=name.as_posix(),
                size=(place / name).stat().st_size,
                about=about.get(name) or about.get(name.with_suffix(".png"), "all of these files"),
            )
            for name in names
        ),
    )


def _analyse(job: Job, how: dict[str, Any]) -> Any:
    """Return the result of a job; of a single structure by its bonds, if the user left it open."""
    files = [file.stored for file in job.files]
    settings: Any = make(MODELS[job.recipe], **job.settings)
    try:
        return _call("run" if job.recipe == "auto" else job.recipe, files, settings, how)
    except TooFewSnapshotsError:
        if job.recipe != "auto" or kind(Path(files[0])) not in STRUCTURES:
            raise
    known = job.settings.keys() & RigiditySettings.model_fields.keys()
    settings = make(RigiditySettings, **{name: job.settings[name] for name in known})
    notes = ["one snapshot has no fluctuations: these are rigid clusters by bonds"]
    if unused := sorted(job.settings.keys() - known):
        notes.append(f"not used for one snapshot: {', '.join(unused)}")
    found = _call("rigidity", files, settings, how)
    return replace(found, notes=(*notes, *found.notes))


def _call(recipe: str, files: list[str], settings: Any, how: dict[str, Any]) -> Any:
    """Carry out a recipe, with what it takes of progress and checkpoint."""
    function = resolve_name(f"timme.analysis.{_RECIPES[recipe]}")
    taken = how.keys() & signature(function).parameters.keys()
    return function(*files, settings=settings, **{name: how[name] for name in taken})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
