"""The process of one job: within its limits, as long as the server lives, errors in one line."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from timme import memory
from timme._files import write_atomically
from timme._text import one_line
from timme.analysis.settings import Model, RigiditySettings, details, make
from timme.engine.checkpoint import Checkpoint
from timme.fluctuations import TooFewSnapshotsError
from timme.io.files import STRUCTURES, kind
from timme.server import jobs
from timme.server.jobs import MODELS, Job, Outcome, Progress, Recipe, ResultFile, plain_name

_PAUSE = 0.2  # seconds between two reports of progress
_MODULES = {  # of recipes, which are imported when they are needed
    "analyse": "recipe",
    "analyse_rigidity": "rigidity",
    "analyse_motion": "motion",
    "compare": "comparison",
}
_INTERVAL = float(os.environ.get("TIMME_CHECKPOINT_INTERVAL", "30"))  # seconds


class Reporter:
    """Writes how far a job is, a few times a second at most."""

    def __init__(self, path: Path) -> None:
        self._path, self._phase, self._done = path, "starting", 0
        self._begun = self._written = time.monotonic()

    def begin(self, phase: str) -> None:
        """Name what is done next."""
        self._phase, self._done, self._begun = phase, 0, time.monotonic()
        self._write(Progress(phase=phase))

    def __call__(self, done: int, total: int) -> None:
        """Report how much of the phase is done."""
        now = time.monotonic()
        if done < self._done:  # the next part of the phase
            self._begun = now
        elif now - self._written < _PAUSE and done < total:
            return
        passed, self._done = now - self._begun, done
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
    from timme.output.folder import files_of, write_folder
    from timme.output.summary import answer

    report = Reporter(folder / jobs.PROGRESS)
    report.begin("reading")
    settings: Any = make(MODELS[job.recipe], **job.settings)
    recipe, settings, found = _analyse(folder, job, settings, report)
    words = ["timme", "compare" if recipe == "comparison" else recipe]
    words += [*(file.stored for file in job.files), *_options(settings)]
    found = replace(found, made=replace(found.made, command=shlex.join(words)))
    report.begin("writing")
    place, results = folder / jobs.RESULT, list[ResultFile]()
    about = {Path(file.name): file.about for file in files_of(found)}
    with zipfile.ZipFile(folder / jobs.ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in write_folder(found, place, overwrite=True, full=settings.full):
            name = path.relative_to(place)
            archive.write(path, f"timme-{plain_name(job.title)}/{name}")
            described = about.get(name) or about.get(name.with_suffix(".png"), "")
            size = path.stat().st_size
            results.append(ResultFile(name=name.as_posix(), size=size, about=described))
    return Outcome(
        recipe=recipe,
        command=found.made.command,
        answer=answer(found),
        notes=found.notes,
        results=tuple(results),
    )


def _analyse(
    folder: Path, job: Job, settings: Model, report: Reporter
) -> tuple[Recipe, Model, Any]:
    """Return the recipe of a job with its settings and its result."""
    files = [file.stored for file in job.files]
    how: dict[str, Any] = {"settings": settings, "progress": report}
    if job.recipe == "comparison":
        from timme.analysis.store import load

        report.begin("comparing")
        return job.recipe, settings, _recipe("compare")(*map(load, files), settings=settings)
    if job.recipe in {"rigidity", "motion"}:
        return job.recipe, settings, _recipe(f"analyse_{job.recipe}")(*files, **how)
    try:
        path = folder / jobs.CHECKPOINT
        with Checkpoint(path, resume=True, interval=_INTERVAL) as checkpoint:
            return "run", settings, _recipe("analyse")(*files, checkpoint=checkpoint, **how)
    except TooFewSnapshotsError:
        if job.recipe == "run" or kind(Path(files[0])) not in STRUCTURES:
            raise
    known = RigiditySettings.model_fields
    shared = make(
        RigiditySettings, **{name: job.settings[name] for name in job.settings if name in known}
    )
    notes = ["one snapshot has no fluctuations: these are rigid clusters by bonds"]
    if unused := sorted({*job.settings} - {*known}):
        notes.append(f"not used for one snapshot: {', '.join(unused)}")
    found = _recipe("analyse_rigidity")(*files, settings=shared, progress=report)
    return "rigidity", shared, replace(found, notes=(*notes, *found.notes))


def _recipe(name: str) -> Any:
    return getattr(import_module(f"timme.analysis.{_MODULES[name]}"), name)


def _options(settings: Model) -> Iterator[str]:
    """Write what was given as options of the command line."""
    for name in sorted(settings.model_fields_set):
        value = getattr(settings, name)
        if isinstance(value, dict):
            value = [f"{key}={other}" for key, other in value.items()]
        words = {None: "none", True: "yes", False: "no"}
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        text = words[value] if value is None or isinstance(value, bool) else text
        about = details(type(settings), name)
        if not about["flags"] or value is False:
            yield from ("--set", f"{name}={text}")
        else:
            yield from (about["flags"][-1], text) if about["label"] else about["flags"][-1:]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
