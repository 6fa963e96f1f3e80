"""Jobs of the server: a task, a folder and a process for each; the event loop is the lock."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timme._text import one_line, write_atomically
from timme.analysis import settings

State = Literal["waiting", "running", "done", "failed", "stopped"]
Choice = Literal["run", "rigidity", "motion"]

# A job is described beside its result; all else it needs is gone when it has ended.
JOB, RESULT, WORK = "job.json", "result", "work"
INPUTS, CHECKPOINT = f"{WORK}/input", f"{WORK}/checkpoint"
PROGRESS, OUTCOME = f"{WORK}/progress.json", f"{WORK}/outcome.json"
MODELS: dict[str, type[settings.Model]] = {
    "run": settings.Settings,
    "rigidity": settings.RigiditySettings,
    "motion": settings.MotionSettings,
    "compare": settings.CompareSettings,
}
_UNFINISHED = ".timme-"  # folders of uploads and removals
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


class Model(BaseModel):
    """Data that go over the wire, and into files of jobs."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class File(Model):
    """A file that was given."""

    name: str = Field(description="What the user calls it; text to be shown, never a path.")
    size: int = Field(description="Bytes, unpacked.")
    stored: str = Field(description="Its name among the files of the job.")


class ResultFile(Model):
    """A file of a result."""

    name: str
    size: int = Field(description="Bytes.")
    about: str = Field(description="What it holds.")


class Progress(Model):
    """How far a running job is."""

    phase: str = Field(default="starting", description="What is being done.")
    done: int = Field(default=0, ge=0, description="Work done in this phase.")
    total: int = Field(default=0, ge=0, description="Work of this phase; 0 if unknown.")


class Outcome(Model):
    """What the process of a job leaves behind."""

    command: str = Field(default="", description="The command that does the same.")
    answer: str = Field(default="", description="What was found, in at most 12 lines.")
    notes: tuple[str, ...] = Field(default=(), description="Every note of the result.")
    results: tuple[ResultFile, ...] = Field(default=(), description="Files of the result.")
    error: str = Field(default="", description="Why it failed, in one line.")


class Job(Outcome):
    """A job as it is kept on disk."""

    id: str = Field(description="A name that cannot be guessed.")
    title: str = Field(description="Text to be shown.")
    recipe: Choice | Literal["compare"]
    files: tuple[File, ...] = Field(description="The first file, then its trajectories.")
    settings: dict[str, Any] = Field(default={}, description="Settings that the user gave.")
    state: State = Field(default="waiting", description="stopped: by the user, or the server was.")
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    started: datetime | None = None
    finished: datetime | None = None
    version: str = Field(default="", description="Version of TIMME that ran it.")
    progress: Progress | None = Field(default=None, description="While it runs.")


class Jobs:
    """All jobs of a server, in one folder each."""

    def __init__(self, folder: Path, limits: settings.ServeSettings) -> None:
        found = re.fullmatch(r"(\d*\.?\d+)\s*(s|min|h|d)", limits.time.strip())
        if found is None or not float(found[1]):
            raise ValueError(f"time= is written as 90s, 30min or 12h, got {limits.time!r}")
        self._seconds = float(found[1]) * _SECONDS[found[2]]
        self.upload, self._memory = limits.upload, limits.memory
        self._most, self._slots = limits.queue + limits.jobs, asyncio.Semaphore(limits.jobs)
        self._folder, self._jobs = folder, _find_jobs(folder)
        self._tasks = dict[str, asyncio.Task[dict[str, Any]]]()  # of jobs that wait or run

    # ---- reading -------------------------------------------------------------------------------

    def listed(self) -> list[Job]:
        """Return all jobs, the newest first."""
        jobs = sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)
        return [self.status(job.id) for job in jobs]

    def status(self, name: str) -> Job:
        """Return a job."""
        if name not in self._jobs:
            raise HTTPException(404, "there is no such job: see the list of jobs")
        job, progress = self._jobs[name], None
        if job.state == "running":
            progress = read_model(self._folder / name / PROGRESS, Progress) or Progress()
        return job.model_copy(update={"progress": progress})

    def result(self, job: Job, file: str) -> Path:
        """Return the path of a file of a result, which is looked up in the list of these."""
        if job.state != "done":
            raise HTTPException(409, f"there is no result: the job is {job.state}")
        path = self._folder / job.id / RESULT / file
        if file not in {each.name for each in job.results} or not path.is_file():
            raise HTTPException(404, "there is no such file: see the list of results")
        return path

    # ---- changing ------------------------------------------------------------------------------

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yield a new folder for files, which is removed if it is not submitted."""
        with TemporaryDirectory(prefix=_UNFINISHED, dir=self._folder) as name:
            (Path(name) / INPUTS).mkdir(parents=True)
            yield Path(name)

    def submit(self, draft: Path, **task: Any) -> Job:
        """Make a job of a draft with the fields that the user gave."""
        self._refuse_more()
        job = Job(id=secrets.token_urlsafe(16), **task)
        _write(draft, job)
        draft.rename(self._folder / job.id)
        self._jobs[job.id] = job
        return self._enqueue(job.id)

    async def stop(self, name: str) -> Job:
        """End a job that waits or runs."""
        if name not in self._tasks:
            raise HTTPException(409, f"the job is {self._jobs[name].state}: it does not run")
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        return self.status(name)

    def resume(self, name: str) -> Job:
        """Resume a job that was stopped, from its checkpoint."""
        if (state := self._jobs[name].state) != "stopped":
            raise HTTPException(409, f"the job is {state}: only a job that was stopped is resumed")
        self._refuse_more()
        self._put(name, state="waiting", started=None, finished=None)
        return self._enqueue(name)

    async def remove(self, name: str) -> None:
        """Remove a job and all its files; one that waits or runs is ended first."""
        while name in self._tasks:  # someone may resume it meanwhile
            await self.stop(name)
        if self._jobs.pop(name, None) is not None:
            with self.draft() as gone:  # never seen in part
                (self._folder / name).rename(gone / name)

    async def close(self) -> None:
        """End all jobs; those that were not done can be resumed."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- running -------------------------------------------------------------------------------

    def _refuse_more(self) -> None:
        if len(self._tasks) >= self._most:
            reason = f"{self._most} jobs wait or run, the most that may: wait, or stop one"
            raise HTTPException(429, reason, {"Retry-After": "10"})

    def _enqueue(self, name: str) -> Job:
        self._tasks[name] = task = asyncio.create_task(self._run(name))
        task.add_done_callback(lambda ended: self._finish(name, ended))
        return self.status(name)

    async def _run(self, name: str) -> dict[str, Any]:
        """Wait for a slot, run the process of a job, and return what changes with its end."""
        async with self._slots:
            self._put(name, state="running", started=datetime.now(UTC), version=version("pytimme"))
            folder = self._folder / name
            try:
                for earlier in (PROGRESS, OUTCOME):
                    (folder / earlier).unlink(missing_ok=True)
                async with asyncio.timeout(self._seconds):
                    code = await _carry_out(folder, self._memory)
                how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                reason = (
                    f"the process of this job ended with {how}, most likely for lack of memory: "
                    "select fewer sites, compare fewer pairs, or check the files"
                )
            except TimeoutError:
                reason = (
                    f"stopped after {self._seconds:,.0f} s, the time that a job may take: read "
                    "fewer frames or sites, or allow more (timme serve --limit time=24h)"
                )
            except Exception as error:  # noqa: BLE001, a job that fails must not stay unfinished
                reason = f"the job could not be started: {one_line(error)}"
        outcome = read_model(folder / OUTCOME, Outcome) or Outcome(error=reason)
        return {**dict(outcome), "state": "failed" if outcome.error else "done"}

    def _finish(self, name: str, task: asyncio.Task[dict[str, Any]]) -> None:
        del self._tasks[name]
        changes = {"state": "stopped"} if task.cancelled() else task.result()
        self._put(name, finished=datetime.now(UTC), **changes)
        for part in {"done": [WORK], "failed": [WORK, RESULT]}.get(self._jobs[name].state, []):
            shutil.rmtree(self._folder / name / part, ignore_errors=True)

    def _put(self, name: str, **changes: Any) -> None:
        self._jobs[name] = self._jobs[name].model_copy(update=changes)
        # On a full disk the state is kept in memory; after a restart the job is stopped.
        with contextlib.suppress(OSError):
            _write(self._folder / name, self._jobs[name])


async def _carry_out(folder: Path, allowed: int) -> int:
    """Run the process of a job, and return its exit code; a signal is negative."""
    process = await asyncio.create_subprocess_exec(
        # -P: nothing in the working folder is ever imported.
        *(sys.executable, "-P", "-m", f"{__package__}.worker", str(folder), str(allowed)),
        env=os.environ | {"MPLBACKEND": "Agg", "MALLOC_ARENA_MAX": "2"},
        stdin=asyncio.subprocess.PIPE,  # its end tells the process that the server has ended
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            await process.wait()


def plain_name(text: str) -> str:
    r"""Return the stem of a name in plain letters, fit for a file or folder.

    Examples
    --------
    >>> plain_name("1bnr.pdb.gz"), plain_name("../<b>"), plain_name("C:\\…")
    ('1bnr', 'b', 'file')
    """
    name = re.split(r"[/\\]", text)[-1].removesuffix(".gz")
    stem = name.rpartition(".")[0] or name
    return re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-")[:60] or "file"


# ---- folders -----------------------------------------------------------------------------------

M = TypeVar("M", bound=Model)


def read_model(path: Path, model: type[M]) -> M | None:
    """Return what was written as JSON; None if it is missing or damaged."""
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _write(folder: Path, job: Job) -> None:
    write_atomically(folder / JOB, job.model_dump_json(indent=1))


def _find_jobs(folder: Path) -> dict[str, Job]:
    """Return the jobs of earlier servers; those that had not ended are stopped."""
    jobs = dict[str, Job]()
    for path in folder.iterdir():
        if path.name.startswith(_UNFINISHED):
            shutil.rmtree(path, ignore_errors=True)
        elif (job := read_model(path / JOB, Job)) is not None and job.id == path.name:
            ended = job.state in {"done", "failed"}
            jobs[job.id] = job if ended else job.model_copy(update={"state": "stopped"})
    return jobs
