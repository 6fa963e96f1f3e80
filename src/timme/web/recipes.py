"""What jobs do: the recipes of the command line, with the names that users know."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timme._files import write_atomically
from timme.settings import CompareSettings, settings_of
from timme.web.folders import CHECKPOINT, INPUTS, RESULT, SCENE, WEIGHTS, archive_name
from timme.web.models import Choices, Comparison, File, Job, Outcome, RigidChoices, Row
from timme.web.reporter import Reporter

if TYPE_CHECKING:
    from timme.analysis import Analysis, Provenance

_NAME_LENGTH = 40  # characters of the name of a result in figures and tables


def follow(folder: Path, job: Job, report: Reporter) -> Outcome:
    """Do what a job asks for, and write its result.

    Parameters
    ----------
    folder : Path
        Of the job.
    job : Job
        What is asked for.
    report : Reporter
        Told how far it is.

    Returns
    -------
    Outcome
        What was found.
    """
    report.stage("starting")
    with report.compiling():
        return _RECIPES[job.recipe](folder, job, report)


def with_names(text: str, folder: Path, files: Sequence[File]) -> str:
    """Put the user's names in place of paths on this computer.

    Parameters
    ----------
    text : str
        Anything that is told to the user.
    folder : Path
        Of the job.
    files : sequence of File
        Of the job.

    Returns
    -------
    str
        The same with other names.
    """
    stored = {str(folder / INPUTS / file.stored): file.name for file in files}
    # In one go, so that a name that looks like a path is not replaced in turn.
    pattern = "|".join(re.escape(path) for path in sorted(stored, key=len, reverse=True))
    named = re.sub(pattern, lambda match: stored[match[0]], text)
    return named.replace(f"{folder}{os.sep}", "")


# ---- recipes -----------------------------------------------------------------------------------


def _auto(folder: Path, job: Job, report: Reporter) -> Outcome:
    """Find co-moving clusters, or the rigid clusters of what turns out to be one structure."""
    from timme.fluctuations.measuring import TooFewSnapshotsError

    try:
        return _run(folder, job, report)
    except TooFewSnapshotsError as error:
        if not error.molecular:
            raise
    choices, unused = job.rigidity.complete_from(job.settings)
    found = _rigidity(folder, job.model_copy(update={"rigidity": choices}), report)
    notes = ["one snapshot has no fluctuations: these are the rigid clusters of the structure"]
    if unused:
        notes.append(f"left out, as for snapshots only: {', '.join(unused)}")
    return found.model_copy(update={"notes": [*notes, *found.notes]})


def _run(folder: Path, job: Job, report: Reporter) -> Outcome:
    from timme.engine.checkpoint import Checkpoint
    from timme.workflow.recipe import analyse

    report.stage("reading")
    interval = float(os.environ.get("TIMME_CHECKPOINT_INTERVAL", "30"))
    command = _command("run", job.files, job.settings)
    first, *others = _inputs(folder, job)
    with Checkpoint(folder / CHECKPOINT, resume=True, interval=interval) as checkpoint:
        analysis = analyse(
            first,
            others,
            settings=job.settings.settings(),
            command=command,
            progress=report.counting("measuring"),
            checkpoint=checkpoint,
        )
        told = _write_result(analysis, folder, job, report)
    if job.settings.weights is not None:
        lines = "".join(f"{weight!r}\n" for weight in job.settings.weights)
        write_atomically(folder / RESULT / WEIGHTS, lines)
    return Outcome(recipe="run", command=command, **told)


def _rigidity(folder: Path, job: Job, report: Reporter) -> Outcome:
    from timme.workflow.rigidity import rigid

    report.stage("decomposing")
    command = _command("rigidity", job.files, job.rigidity)
    first, *others = _inputs(folder, job)
    analysis = rigid(
        first,
        others,
        settings=job.rigidity.settings(),
        command=command,
        progress=report.counting("decomposing"),
    )
    return Outcome(
        recipe="rigidity", command=command, **_write_result(analysis, folder, job, report)
    )


def _comparison(folder: Path, job: Job, report: Reporter) -> Outcome:
    from timme.workflow.comparison import compare_results, rows, write
    from timme.workflow.partition import load_result

    report.stage("comparing")
    asked = job.comparison
    chosen = asked.settings() if asked else CompareSettings()
    one, other = (load_result(path) for path in _inputs(folder, job))
    compared = compare_results(one, other, chosen, names=_names(job.files))
    report.stage("drawing")
    written = write(compared, folder / RESULT, overwrite=True)
    options = _options(asked) if asked else ()
    folders, notes = _folders(job.files)
    return Outcome(
        recipe="comparison",
        command=shlex.join(["timme", "compare", *folders, *options]),
        summary=[Row(name=name, value=value) for name, value in rows(compared)],
        notes=[*compared.notes, *written.notes, *notes],
    )


_RECIPES: dict[str, Callable[[Path, Job, Reporter], Outcome]] = {
    "auto": _auto,
    "run": _run,
    "rigidity": _rigidity,
    "comparison": _comparison,
}


# ---- helpers -----------------------------------------------------------------------------------


def _inputs(folder: Path, job: Job) -> list[str]:
    return [str(folder / INPUTS / file.stored) for file in job.files]


def _write_result(analysis: Analysis, folder: Path, job: Job, report: Reporter) -> dict[str, Any]:
    """Write the files and the scene of a result, and return what is told about it."""
    from timme.analysis import summary
    from timme.output.scene import scene_json
    from timme.workflow.folder import scene_of, write

    report.stage("drawing")
    recipe = analysis.recipe
    named = replace(
        analysis,
        recipe=replace(recipe, provenance=_named_by_user(recipe.provenance, job)),
        notes=tuple(with_names(note, folder, job.files) for note in analysis.notes),
    )
    write_atomically(folder / SCENE, scene_json(scene_of(named)))
    written = write(named, folder / RESULT, overwrite=True)
    return {
        "summary": [Row(name=name, value=value) for name, value in summary(named)],
        "notes": [*named.notes, *written.notes],
    }


def _names(files: Sequence[File]) -> tuple[str, str]:
    """Name two results after their jobs: short, and never the same."""
    one, other = (
        name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1]}…"
        for name in (file.name for file in files)
    )
    return (one, other) if one != other else (f"{one} (1)", f"{other} (2)")


def _folders(files: Sequence[File]) -> tuple[list[str], list[str]]:
    """Name the folders that the archives of two results unpack into, with a note if it is one."""
    one, other = (archive_name(file.name) for file in files)
    if one != other:
        return [one, other], []
    first, second = f"{one}-1", f"{one}-2"
    note = (
        f"the archives of both results unpack into {one}: call the folder of the first {first} and "
        f"that of the second {second} for the command that does the same"
    )
    return [first, second], [note]


def _command(name: str, files: Sequence[File], choices: Choices | RigidChoices) -> str:
    """Write the command that does the same, with the user's own names."""
    return shlex.join(["timme", name, *(file.name for file in files), *_options(choices)])


def _options(choices: Choices | RigidChoices | Comparison) -> Iterator[str]:
    given = choices.model_dump(exclude_none=True, exclude_defaults=True)
    for setting in settings_of(type(choices.settings())):
        if setting.name not in given or not setting.about.command:
            continue
        option, value = setting.flags[-1], given[setting.name]
        if setting.name == "weights":  # a list here, a file there
            yield from (option, WEIGHTS)
        elif setting.kind is bool:
            yield from [option] if value else filter(None, [setting.denial])
        elif isinstance(value, dict):
            yield from (option, ",".join(f"{one}={other}" for one, other in value.items()))
        elif isinstance(value, list):
            yield from (option, ",".join(map(str, value)))
        else:
            yield from (option, "none" if value is False else str(value))


def _named_by_user(found: Provenance, job: Job) -> Provenance:
    """Name the result and its inputs as the user does."""
    names = {file.stored: file.name for file in job.files}
    inputs = tuple(replace(entry, name=names.get(entry.name, entry.name)) for entry in found.inputs)
    return replace(found, inputs=inputs, paths=(), title=job.title)  # folders are the server's
