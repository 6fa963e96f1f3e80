"""The folder of a job: what lies in it, how it is found again, tidied and removed."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from timme._files import write_atomically
from timme.web.models import Job, Model, State

JOB, PROGRESS, OUTCOME = "job.json", "progress.json", "outcome.json"
INPUTS, RESULT, CHECKPOINT = "input", "result", "result.checkpoint"
WEIGHTS = "weights.txt"  # of the snapshots, beside the result, for the command that does the same
SCENE = (
    "scene.json"  # what the interactive page shows; no file of the result, for it is in its report
)

_NEW, _GONE = ".new-", ".gone-"  # begin the names of folders that are on their way
_ON_THEIR_WAY = re.compile(rf"({re.escape(_NEW)}|{re.escape(_GONE)})[0-9a-f]{{32}}")
_NAME_LENGTH = 60

_M = TypeVar("_M", bound=Model)


def found_jobs(folder: Path) -> dict[str, Job]:
    """Find the jobs of earlier times; what was under way is interrupted.

    Parameters
    ----------
    folder : Path
        Of a server.

    Returns
    -------
    dict of Job
        By id. What is left of uploads and removals that were cut off is removed.
    """
    jobs = {}
    for path in folder.iterdir():
        if path.is_dir() and _ON_THEIR_WAY.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
            continue
        job = read_model(path / JOB, Job)
        if job is None or job.id != path.name:
            continue
        if job.state in {"waiting", "running"}:
            job = job.model_copy(update={"state": "interrupted"})
            write_job(path, job)
        jobs[job.id] = job
    return jobs


def draft(folder: Path) -> Path:
    """Name the folder of a job that is being sent, which is no job yet.

    Parameters
    ----------
    folder : Path
        Of a server.

    Returns
    -------
    Path
        A folder that is not there; should the server crash, the next one removes it.
    """
    return folder / f"{_NEW}{secrets.token_hex(16)}"


def result_files(folder: Path) -> dict[str, Path]:
    """List the files of a result.

    Parameters
    ----------
    folder : Path
        Of a job.

    Returns
    -------
    dict of Path
        By name.
    """
    place = folder / RESULT
    if not place.is_dir():
        return {}
    return {path.name: path for path in sorted(place.iterdir()) if path.is_file()}


def archive_name(title: str) -> str:
    """Name the folder in the archive of a result after its title.

    Parameters
    ----------
    title : str
        Any text.

    Returns
    -------
    str
        Plain letters, as the folders that the command line makes.

    Examples
    --------
    >>> archive_name("1bnr.pdb"), archive_name("../<b>"), archive_name("…")
    ('timme-1bnr', 'timme-b', 'timme-result')
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(title).stem).strip("-.")
    return f"timme-{plain[:_NAME_LENGTH] or 'result'}"


def tidy(folder: Path, state: State) -> None:
    """Remove what a job in such a state needs no more, and what its process left half done.

    Parameters
    ----------
    folder : Path
        Of a job; maybe someone else has removed it.
    state : str
        Of the job.
    """
    needed = {"done": {RESULT, SCENE}, "failed": set[str]()}
    kept = {JOB} | needed.get(state, {INPUTS, CHECKPOINT})
    there = list(folder.iterdir()) if folder.is_dir() else []
    for path in there:
        if path.name in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def discard(folder: Path) -> None:
    """Remove a folder: out of sight at once, so that none is ever found in part.

    Parameters
    ----------
    folder : Path
        Of a job; maybe someone else has removed it.
    """
    gone = folder.with_name(f"{_GONE}{secrets.token_hex(16)}")
    with contextlib.suppress(FileNotFoundError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def write_job(folder: Path, job: Job) -> None:
    """Write a job into its folder.

    Parameters
    ----------
    folder : Path
        Of the job.
    job : Job
        As it is now.
    """
    write_atomically(folder / JOB, job.model_dump_json(indent=1))


def read_model(path: Path, model: type[_M]) -> _M | None:
    """Read what was written as JSON.

    Parameters
    ----------
    path : Path
        A file.
    model : type
        What it should hold.

    Returns
    -------
    Model or None
        None where it is not there, or does not hold that.
    """
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
