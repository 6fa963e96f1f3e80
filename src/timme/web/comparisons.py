"""Two results → a job that compares them, with copies of both."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from timme.store import RESULT
from timme.web.answers import jobs_of, refusals
from timme.web.folders import INPUTS
from timme.web.jobs import Jobs, QueueFullError
from timme.web.models import Comparison, File, JobStatus, Task
from timme.web.uploads import RefusedError, checked_choices, shown_name

_MOST_BYTES = 200_000  # of a request
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Comparison"}}},
    }
}

router = APIRouter()


@router.post(
    "/comparisons",
    summary="Compare two results",
    description="Puts a job into the queue, with copies of both results: it stays whole when they "
    "are removed. They are compared on the sites that both show.",
    status_code=201,
    response_model=JobStatus,
    responses=refusals(409, 413, 415, 422, 429, 507),
    openapi_extra=_BODY,
)
async def _compare(request: Request, response: Response) -> Any:
    try:
        asked = checked_choices(Comparison, "comparison", await _body(request))
        made = await run_in_threadpool(_submit, jobs_of(request), asked)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    except QueueFullError as error:
        raise HTTPException(429, str(error), headers={"Retry-After": "10"}) from None
    except RefusedError as error:
        raise HTTPException(error.status, str(error)) from None
    except OSError as error:
        raise HTTPException(507, f"the files could not be stored: {error.strerror}") from None
    response.headers["Location"] = f"/api/jobs/{made.id}"
    return made


async def _body(request: Request) -> bytes:
    """Read a body that is not larger than any that makes sense."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "JSON is needed: Content-Type: application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise RefusedError(413, f"a comparison has at most {_MOST_BYTES:,} bytes")
    return body


def _submit(jobs: Jobs, asked: Comparison) -> JobStatus:
    try:
        asked.settings()
    except ValueError as error:
        raise RefusedError(422, f"comparison: {error}") from None
    if asked.one == asked.other:
        raise RefusedError(422, "two results are needed, got the same twice: choose another")
    results = [_found(jobs, name) for name in (asked.one, asked.other)]
    with jobs.place() as draft:
        files = [
            _copy(path, draft / INPUTS / f"{number}.npz", title)
            for number, (title, path) in enumerate(results, start=1)
        ]
        title = shown_name(asked.title) or shown_name(" / ".join(title for title, _ in results))
        task = Task(title=title, recipe="comparison", files=files, comparison=asked)
        return jobs.submit(draft, task)


def _found(jobs: Jobs, name: str) -> tuple[str, Path]:
    """Find the title and the file of a result, or refuse."""
    try:
        job, files = jobs.status(name), jobs.results(name)
    except KeyError:
        raise RefusedError(422, f"there is no such result: {shown_name(name)!r}") from None
    if job.state != "done":
        raise RefusedError(409, f"only results are compared: {job.title} is {job.state}")
    if RESULT not in files:
        raise RefusedError(422, f"a comparison is not compared again: {job.title}")
    return job.title, files[RESULT]


def _copy(path: Path, target: Path, title: str) -> File:
    try:
        shutil.copyfile(path, target)
    except FileNotFoundError:
        raise RefusedError(409, f"it was removed just now: {title}") from None
    return File(name=title, size=target.stat().st_size, stored=target.name)
