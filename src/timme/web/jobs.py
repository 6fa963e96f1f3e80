"""Jobs: a queue in memory, a folder on disk for each, a few threads that carry them out."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from timme import memory
from timme._version import __version__
from timme.web.folders import (
    CHECKPOINT,
    INPUTS,
    OUTCOME,
    PROGRESS,
    RESULT,
    SCENE,
    discard,
    draft,
    found_jobs,
    read_model,
    result_files,
    tidy,
    write_job,
)
from timme.web.limits import Limits, shown_time
from timme.web.models import Job, JobStatus, Outcome, Progress, Task
from timme.web.process import carry_out, died_of

REPORT = "report.html"

_STARTABLE = ("interrupted", "cancelled")


class QueueFullError(Exception):
    """No more jobs are taken for now."""


class StateError(Exception):
    """A job is not in a state in which this can be done."""


class Jobs:
    """All jobs of a server.

    Parameters
    ----------
    folder : Path
        Where they are kept, one folder each.
    limits : Limits
        What they may take.
    program : str
        Name of the module that does them, each in a process of its own.
    """

    def __init__(self, folder: Path, limits: Limits, program: str) -> None:
        self.limits = limits
        self._program = program
        self._folder = folder
        self._changed = threading.Condition()
        self._jobs = found_jobs(folder)
        self._queue: deque[str] = deque()
        self._stops: dict[str, threading.Event] = {}  # of the jobs that run
        self._coming = 0  # uploads under way
        self._closing = False
        self._threads = [
            threading.Thread(target=self._work, daemon=True) for _ in range(limits.jobs)
        ]

    def start(self) -> None:
        """Begin to carry out jobs."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop all jobs; those that were not done are interrupted and can be started again."""
        with self._changed:
            self._closing = True
            for name in self._queue:
                self._put(name, state="interrupted")
            self._queue.clear()
            for stop in self._stops.values():
                stop.set()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    # ---- looking at them -----------------------------------------------------------------------

    def listed(self) -> list[JobStatus]:
        """Return all jobs.

        Returns
        -------
        list of JobStatus
            The newest first.
        """
        with self._changed:
            jobs = sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)
            return [self._status(job) for job in jobs]

    def status(self, name: str) -> JobStatus:
        """Return one job; KeyError if there is none of that name.

        Parameters
        ----------
        name : str
            Its id.

        Returns
        -------
        JobStatus
            The job, and how far it is.
        """
        with self._changed:
            return self._status(self._jobs[name])

    def results(self, name: str) -> dict[str, Path]:
        """Return the files of the result; KeyError if there is no such job.

        Parameters
        ----------
        name : str
            Id of the job.

        Returns
        -------
        dict of Path
            By name; empty while there is no result.
        """
        with self._changed:
            job = self._jobs[name]
        if job.state != "done":
            return {}
        return result_files(self._folder / job.id)

    def scene(self, name: str) -> Path | None:
        """Return the scene of the result; KeyError if there is no such job.

        Parameters
        ----------
        name : str
            Id of the job.

        Returns
        -------
        Path or None
            None while there is no result, and for one that has no scene.
        """
        with self._changed:
            job = self._jobs[name]
        path = self._folder / job.id / SCENE
        return path if job.state == "done" and path.is_file() else None

    # ---- changing them -------------------------------------------------------------------------

    @contextmanager
    def place(self) -> Iterator[Path]:
        """Keep a place in the queue while an upload is under way.

        Yields
        ------
        Path
            A new folder for the files; it is removed unless they are submitted.
        """
        with self._changed:
            self._refuse_more()
            self._coming += 1
        coming = draft(self._folder)
        try:
            coming.mkdir(mode=0o700)
            (coming / INPUTS).mkdir()
            yield coming
        finally:
            shutil.rmtree(coming, ignore_errors=True)
            with self._changed:
                self._coming -= 1

    def submit(self, draft: Path, task: Task) -> JobStatus:
        """Put a job into the queue.

        Parameters
        ----------
        draft : Path
            Folder that :meth:`place` gave, with the files.
        task : Task
            What is to be done with them.

        Returns
        -------
        JobStatus
            The new job.
        """
        job = Job(
            **dict(task),
            id=secrets.token_urlsafe(16),
            state="waiting",
            created=datetime.now(UTC),
        )
        write_job(draft, job)
        with self._changed:
            draft.rename(self._folder / job.id)
            self._jobs[job.id] = job
            return self._enqueue(job.id)

    def cancel(self, name: str) -> JobStatus:
        """End a job that waits or runs.

        Parameters
        ----------
        name : str
            Its id.

        Returns
        -------
        JobStatus
            The job; one that runs is cancelled a moment later.
        """
        with self._changed:
            job = self._jobs[name]
            if job.state == "waiting":
                self._queue.remove(name)
                self._put(name, state="cancelled", finished=datetime.now(UTC))
            elif job.state == "running":
                self._stops[name].set()
            else:
                raise StateError(f"only a job that waits or runs is cancelled: it is {job.state}")
            return self._status(self._jobs[name])

    def start_again(self, name: str) -> JobStatus:
        """Go on with a job that was interrupted or cancelled, from its last checkpoint.

        Parameters
        ----------
        name : str
            Its id.

        Returns
        -------
        JobStatus
            The job, in the queue.
        """
        with self._changed:
            job = self._jobs[name]
            if job.state not in _STARTABLE:
                raise StateError(
                    f"only an interrupted or cancelled job is started again: it is {job.state}"
                )
            self._refuse_more()
            if job.version != __version__:  # sums of another version are not gone on with
                (self._folder / name / CHECKPOINT).unlink(missing_ok=True)
            self._put(name, state="waiting", started=None, finished=None, error="")
            return self._enqueue(name)

    def remove(self, name: str) -> None:
        """Remove a job and all its files; one that runs is ended first.

        Parameters
        ----------
        name : str
            Its id.
        """
        with self._changed:
            job = self._jobs.pop(name)
            if job.state == "waiting":
                self._queue.remove(name)
            if job.state == "running":
                self._stops[name].set()  # the thread that runs it removes the folder
            else:
                discard(self._folder / name)

    # ---- the threads ---------------------------------------------------------------------------

    def _work(self) -> None:
        while (name := self._next()) is not None:
            changes = self._carry_out(name)
            with self._changed:
                del self._stops[name]
                if name in self._jobs:
                    self._put(name, finished=datetime.now(UTC), **changes)
                    tidy(self._folder / name, self._jobs[name].state)
                else:
                    discard(self._folder / name)

    def _next(self) -> str | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            if self._closing:
                return None
            name = self._queue.popleft()
            self._stops[name] = threading.Event()
            self._put(name, state="running", started=datetime.now(UTC), version=__version__)
            return name

    def _carry_out(self, name: str) -> dict[str, Any]:
        """Run a job to its end, and say what it has become."""
        folder, allowed = self._folder / name, memory.shown(self.limits.memory)
        try:
            tidy(folder, "waiting")
            ending = carry_out(self._program, folder, self.limits, self._stops[name])
        except OSError as error:
            return {"state": "failed", "error": f"the job could not be started: {error.strerror}"}
        outcome = read_model(folder / OUTCOME, Outcome)
        if outcome is not None and not outcome.error:
            return {**dict(outcome), "state": "done"}
        if ending.why == "stopped":
            return {"state": "interrupted" if self._closing else "cancelled"}
        if ending.why == "late":
            return {
                "state": "failed",
                "error": f"stopped after {shown_time(self.limits.seconds)}, which is all a job may "
                "take: read fewer frames or sites, or allow more (timme serve --max-time)",
            }
        reason = died_of(ending.code, allowed) if outcome is None else outcome.error
        return {"state": "failed", "error": reason}

    # ---- with the lock held --------------------------------------------------------------------

    def _refuse_more(self) -> None:
        held = len(self._queue) + len(self._stops) + self._coming
        if held >= self.limits.queue + self.limits.jobs:
            raise QueueFullError(
                f"{held} jobs wait or run, which is all there may be: "
                "wait for one to end, or cancel one"
            )

    def _enqueue(self, name: str) -> JobStatus:
        self._queue.append(name)
        self._changed.notify_all()
        return self._status(self._jobs[name])

    def _put(self, name: str, **changes: Any) -> None:
        self._jobs[name] = self._jobs[name].model_copy(update=changes)
        # On a full disk the state is kept in memory; after a restart the job is interrupted.
        with contextlib.suppress(OSError):
            write_job(self._folder / name, self._jobs[name])

    def _status(self, job: Job) -> JobStatus:
        folder = self._folder / job.id
        running = job.state == "running"
        starting = Progress(stage="starting")
        return JobStatus(
            **dict(job),
            progress=(read_model(folder / PROGRESS, Progress) or starting) if running else None,
            ahead=self._queue.index(job.id) if job.state == "waiting" else 0,
            report=job.state == "done" and (folder / RESULT / REPORT).is_file(),
            scene=job.state == "done" and (folder / SCENE).is_file(),
        )
