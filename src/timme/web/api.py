"""The REST API, which the page itself uses; described in OpenAPI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from timme._version import __version__
from timme.readers.files import BARE_TRAJECTORIES
from timme.web import comparisons, downloads, parts
from timme.web.answers import BINARY, JobId, job_of, jobs_of, refusals
from timme.web.form import form
from timme.web.jobs import Jobs, QueueFullError, StateError
from timme.web.limits import Limits
from timme.web.models import (
    Choice,
    Choices,
    Defaults,
    JobList,
    JobStatus,
    RigidChoices,
    ServerLimits,
    Version,
)
from timme.web.uploads import TOPOLOGIES, TRAJECTORIES, Reception, RefusedError

_DONE = {
    "auto": "Co-moving clusters of snapshots; rigid clusters where there is one structure only",
    "run": "Co-moving clusters of an ensemble, a trajectory or tracks",
    "rigidity": "Rigid clusters of one structure, held by hydrogen bonds and tethers",
}

router = APIRouter(prefix="/api", responses=refusals(401, 403))

_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["topology"],
                    "additionalProperties": False,
                    "properties": {
                        "topology": BINARY
                        | {"description": "An ensemble, a topology, a table of tracks, a matrix."},
                        "trajectories": {
                            "type": "array",
                            "items": BINARY,
                            "description": "Trajectories of the topology, in this order.",
                        },
                        "recipe": {
                            "enum": list(_DONE),
                            "default": "auto",
                            "description": "What is done with them.",
                        },
                        "settings": {"$ref": "#/components/schemas/Choices"},
                        "rigidity": {"$ref": "#/components/schemas/RigidChoices"},
                        "title": {
                            "type": "string",
                            "description": "Shown instead of the name of the first file.",
                        },
                    },
                },
                "encoding": {
                    name: {"contentType": "application/json"} for name in ("settings", "rigidity")
                },
            }
        },
    }
}


# ---- the server --------------------------------------------------------------------------------


@router.get("/version", summary="What is running here", response_model=Version)
def _version() -> Version:
    return Version(version=__version__, page_missing=parts.missing())


@router.get("/defaults", summary="What can be chosen, and the limits", response_model=Defaults)
def _defaults(request: Request) -> Defaults:
    limits: Limits = jobs_of(request).limits
    return Defaults(
        settings=Choices(),
        rigidity=RigidChoices(),
        recipes=[Choice(value=value, help=text) for value, text in _DONE.items()],
        form=form(),
        topologies=sorted(TOPOLOGIES),
        trajectories=sorted(TRAJECTORIES),
        bare_trajectories=sorted(BARE_TRAJECTORIES),
        limits=ServerLimits(
            upload=limits.upload,
            seconds=limits.seconds,
            memory=limits.memory,
            jobs=limits.jobs,
            queue=limits.queue,
        ),
    )


# ---- jobs --------------------------------------------------------------------------------------


@router.get("/jobs", summary="All jobs, the newest first", response_model=JobList)
def _list(request: Request) -> JobList:
    return JobList(jobs=jobs_of(request).listed())


@router.post(
    "/jobs",
    summary="Analyse files",
    description="Streams the files to disk and puts a job into the queue. Files ending in .gz are "
    "unpacked on the way, and the limit counts what they hold. Names of files are shown, never "
    "used as paths; only their extension counts.",
    status_code=201,
    response_model=JobStatus,
    responses=refusals(400, 413, 415, 422, 429, 507),
    openapi_extra=_FORM,
)
async def _submit(request: Request, response: Response) -> Any:
    jobs = jobs_of(request)
    try:
        with jobs.place() as draft:
            made = await _receive(request, jobs, draft)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    except QueueFullError as error:
        await _drain(request, jobs.limits)
        raise HTTPException(429, str(error), headers={"Retry-After": "10"}) from None
    except RefusedError as error:
        await _drain(request, jobs.limits)
        raise HTTPException(error.status, str(error)) from None
    except OSError as error:
        raise HTTPException(507, f"the files could not be stored: {error.strerror}") from None
    response.headers["Location"] = f"/api/jobs/{made.id}"
    return made


@router.get(
    "/jobs/{job_id}",
    summary="A job, and how far it is",
    response_model=JobStatus,
    responses=refusals(404),
)
def _show(request: Request, job_id: JobId) -> JobStatus:
    return job_of(request, job_id)


@router.delete(
    "/jobs/{job_id}",
    summary="Remove a job and all its files",
    description="A job that waits or runs is ended first.",
    status_code=204,
    response_class=Response,
    responses=refusals(404),
)
def _remove(request: Request, job_id: JobId) -> None:
    job_of(request, job_id)
    jobs_of(request).remove(job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    summary="End a job that waits or runs",
    description="A running job ends a moment later: look at its state.",
    response_model=JobStatus,
    responses=refusals(404, 409),
)
def _cancel(request: Request, job_id: JobId) -> JobStatus:
    job_of(request, job_id)
    try:
        return jobs_of(request).cancel(job_id)
    except StateError as error:
        raise HTTPException(409, str(error)) from None


@router.post(
    "/jobs/{job_id}/start",
    summary="Go on with a job that was interrupted or cancelled",
    description="From its last checkpoint, where it ran for longer than half a minute.",
    response_model=JobStatus,
    responses=refusals(404, 409, 429),
)
def _start(request: Request, job_id: JobId) -> JobStatus:
    job_of(request, job_id)
    try:
        return jobs_of(request).start_again(job_id)
    except StateError as error:
        raise HTTPException(409, str(error)) from None
    except QueueFullError as error:
        raise HTTPException(429, str(error), headers={"Retry-After": "10"}) from None


# ---- helpers -----------------------------------------------------------------------------------


async def _receive(request: Request, jobs: Jobs, draft: Path) -> JobStatus:
    """Stream a form to disk, and make a job of it."""
    reception = Reception(request.headers.get("content-type", ""), draft, jobs.limits.upload)
    try:
        async for chunk in request.stream():
            await run_in_threadpool(reception.feed, chunk)
        task = reception.finished()
    finally:
        reception.close()
    return jobs.submit(draft, task)


async def _drain(request: Request, limits: Limits) -> None:
    """Read on for a while without keeping anything: else a browser sees no answer, but a reset.

    A client that asks before it sends (``Expect: 100-continue``) is not told to send.
    """
    if "expect" in request.headers:
        return
    left = 2 * limits.upload
    try:
        async for chunk in request.stream():
            left -= len(chunk)
            if left < 0:
                return
    except (ClientDisconnect, RuntimeError):  # gone, or read to its end before
        return


router.include_router(comparisons.router)
router.include_router(downloads.router)
