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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timme import memory
from timme._text import one_line, write_atomically
from timme.analysis import settings

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
Choice = Literal["auto", "run", "rigidity", "motion"]
Recipe = Choice | Literal["compare"]

JOB, PROGRESS, OUTCOME = "job.json", "progress.json", "outcome.json"
INPUTS, RESULT, CHECKPOINT = "input", "result", "checkpoint"
MODELS: dict[str, type[settings.Model]] = {
    "auto": settings.Settings,
    "run": settings.Settings,
    "rigidity": settings.RigiditySettings,
    "motion": settings.MotionSettings,
    "compare": settings.CompareSettings,
}
_UNFINISHED = re.compile(r"\.(new|gone)-[0-9a-f]{32}")  # folders of uploads and removals
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
    seconds_left: float | None = Field(default=None, description="Of this phase, if known.")


class Outcome(Model):
    """What the process of a job leaves behind."""

    recipe: Recipe = Field(default="auto", description="The recipe; auto chooses one.")
    command: str = Field(default="", description="The command that does the same.")
    answer: str = Field(default="", description="What was found, in at most 12 lines.")
    notes: tuple[str, ...] = Field(default=(), description="Every note of the result.")
    results: tuple[ResultFile, ...] = Field(default=(), description="Files of the result.")
    error: str = Field(default="", description="Why it failed, in one line.")


class Job(Outcome):
    """A job as it is kept on disk."""

    id: str = Field(description="A name that cannot be guessed.")
    title: str = Field(description="Text to be shown.")
    files: tuple[File, ...] = Field(description="The first file, then its trajectories.")
    settings: dict[str, Any] = Field(default={}, description="Settings that the user gave.")
    state: State = Field(default="waiting", description="interrupted: the server was stopped.")
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
        self.upload, self._memory = memory.parse(limits.upload), memory.parse(limits.memory)
        self._most, self._slots = limits.queue + limits.jobs, asyncio.Semaphore(limits.jobs)
        self._folder, self._jobs = folder, _find_jobs(folder)
        self._tasks = dict[str, asyncio.Task[dict[str, Any]]]()  # of jobs that wait or run
        self._closing = False

    # ---- reading -------------------------------------------------------------------------------

    def listed(self) -> list[Job]:
        """Return all jobs, the newest first."""
        jobs = sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)
        return [self.status(job.id) for job in jobs]

    def status(self, name: str) -> Job:
        """Return a job; KeyError if there is none of this id."""
        job, progress = self._jobs[name], None
        if job.state == "running":
            progress = read_model(self._folder / name / PROGRESS, Progress) or Progress()
        return job.model_copy(update={"progress": progress})

    def result(self, name: str, file: str) -> Path | None:
        """Return the path of a listed file of a result."""
        listed = {each.name for each in self._jobs[name].results}
        return self._folder / name / RESULT / file if file in listed else None

    # ---- changing ------------------------------------------------------------------------------

    @asynccontextmanager
    async def draft(self) -> AsyncIterator[Path]:
        """Yield a new folder for files, which is removed if it is not submitted."""
        self._refuse_more()
        folder = self._folder / f".new-{secrets.token_hex(16)}"
        try:
            folder.mkdir(mode=0o700)
            (folder / INPUTS).mkdir()
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def submit(self, draft: Path, **task: Any) -> Job:
        """Make a job of a draft with the fields that the user gave."""
        self._refuse_more()  # others may have been submitted meanwhile
        job = Job(id=secrets.token_urlsafe(16), **task)
        _write(draft, job)
        draft.rename(self._folder / job.id)
        self._jobs[job.id] = job
        return self._enqueue(job.id)

    async def cancel(self, name: str) -> Job:
        """End a job that waits or runs."""
        if name not in self._tasks:
            raise HTTPException(409, f"the job is {self._jobs[name].state}: it does not run")
        await self._end(name)
        return self.status(name)

    def start_again(self, name: str) -> Job:
        """Resume a job that was interrupted or cancelled, from its checkpoint."""
        if (state := self._jobs[name].state) not in {"interrupted", "cancelled"}:
            raise HTTPException(409, f"the job is {state}: only a job that was ended is resumed")
        self._refuse_more()
        self._put(name, state="waiting", started=None, finished=None, error="")
        return self._enqueue(name)

    async def remove(self, name: str) -> None:
        """Remove a job and all its files; one that waits or runs is ended first."""
        while name in self._tasks:  # someone may start it again meanwhile
            await self._end(name)
        if self._jobs.pop(name, None) is None:
            return
        gone = self._folder / f".gone-{secrets.token_hex(16)}"  # never seen in part
        with contextlib.suppress(FileNotFoundError):
            (self._folder / name).rename(gone)
        await asyncio.to_thread(shutil.rmtree, gone, ignore_errors=True)

    async def close(self) -> None:
        """End all jobs; those that were not done can be started again."""
        self._closing, tasks = True, [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- running -------------------------------------------------------------------------------

    def _refuse_more(self) -> None:
        if len(self._tasks) >= self._most:
            reason = f"{self._most} jobs wait or run, the most that may: wait, or cancel one"
            raise HTTPException(429, reason, {"Retry-After": "10"})

    def _enqueue(self, name: str) -> Job:
        self._tasks[name] = task = asyncio.create_task(self._run(name))
        task.add_done_callback(lambda ended: self._finish(name, ended))
        return self.status(name)

    async def _end(self, name: str) -> None:
        task = self._tasks[name]
        task.cancel()
        await asyncio.wait([task])

    async def _run(self, name: str) -> dict[str, Any]:
        """Wait for a slot, run the process of a job, and return what changes with its end."""
        async with self._slots:
            self._put(name, state="running", started=datetime.now(UTC), version=version("pytimme"))
            folder, seconds = self._folder / name, self._seconds
            try:
                _tidy(folder, "waiting")
                async with asyncio.timeout(seconds):
                    code = await _carry_out(folder, self._memory)
                how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                reason = f"the process of this job ended with {how}, most likely for lack of memory"
                reason += ": select fewer sites, compare fewer pairs, or check the files"
            except TimeoutError:
                reason = (
                    f"stopped after {seconds:,.0f} s, the time that a job may take: read fewer "
                )
                reason += "frames or sites, or allow more (timme serve --limit time=24h)"
            except Exception as error:  # noqa: BLE001, a job that fails must not stay unfinished
                reason = f"the job could not be started: {one_line(error)}"
        outcome = read_model(folder / OUTCOME, Outcome) or Outcome(error=reason)
        return {**dict(outcome), "state": "failed" if outcome.error else "done"}

    def _finish(self, name: str, task: asyncio.Task[dict[str, Any]]) -> None:
        del self._tasks[name]
        stopped = {"state": "interrupted" if self._closing else "cancelled"}
        changes = stopped if task.cancelled() else task.result()
        self._put(name, finished=datetime.now(UTC), **changes)
        _tidy(self._folder / name, self._jobs[name].state)

    def _put(self, name: str, **changes: Any) -> None:
        self._jobs[name] = self._jobs[name].model_copy(update=changes)
        # On a full disk the state is kept in memory; after a restart the job is interrupted.
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
    """Return the jobs of earlier servers; those that were not done are interrupted."""
    jobs = dict[str, Job]()
    for path in folder.iterdir():
        if path.is_dir() and _UNFINISHED.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
            continue
        job = read_model(path / JOB, Job)
        if job is None or job.id != path.name:
            continue
        if job.state in {"waiting", "running"}:
            job = job.model_copy(update={"state": "interrupted"})
            _write(path, job)
        jobs[job.id] = job
    return jobs


def _tidy(folder: Path, state: State) -> None:
    """Remove what a job in this state does not need."""
    needed = {"done": {RESULT}, "failed": set[str]()}
    kept = {JOB} | needed.get(state, {INPUTS, CHECKPOINT})
    for path in [*folder.iterdir()] if folder.is_dir() else []:
        if path.name in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
