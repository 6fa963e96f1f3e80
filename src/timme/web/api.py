"""The REST API, which the page itself uses; described in OpenAPI."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from timme import __version__
from timme.readers.residues import PRESETS
from timme.web.guard import FILE_POLICY
from timme.web.jobs import Jobs, QueueFullError, StateError
from timme.web.limits import Limits
from timme.web.models import (
    Choice,
    Choices,
    Defaults,
    JobList,
    JobStatus,
    Problem,
    ResultFile,
    ResultFiles,
    ServerLimits,
    Version,
)
from timme.web.uploads import TOPOLOGIES, TRAJECTORIES, Reception, RefusedError

_OBJECTS = {
    "auto": "Bodies in molecules, whole molecules in liquids, points for particles",
    "points": "Every site by itself",
    "bodies": "An atom with its bonded neighbours",
    "links": "The two ends of a bond, as in a network",
    "residues": "Residues as wholes",
    "molecules": "Molecules as wholes",
}
_PAIRS = {
    "auto": "In contact in molecules, all pairs of particles",
    "contact": "Within a radius in at least one snapshot",
    "all": "Everything with everything",
    "sequence": "Neighbours along the sequence",
    "nearest": "A number of nearest neighbours",
    "sharing": "Objects that share a site",
}
_SELECT = {
    "ca": "Cα atoms",
    "backbone": "Backbone atoms",
    "heavy": "All but hydrogen",
    "water-oxygen": "Oxygen atoms of water",
}
_ABOUT = {
    "dilution": "which sites are in which cluster at every cutoff",
    "fraction": "fraction of sites in large clusters",
    "size-distribution": "fraction of sites in clusters of 1 to 5",
    "cluster-sizes": "largest cluster, mean size and number of clusters",
    "sigma-matrix": "σ of the pairs",
    "clusters.csv": "clusters at each suggested cutoff",
    "sites.csv": "every object with its cluster at each suggested cutoff",
    "levels.csv": "all curves at every level",
    "hierarchy": "the whole tree",
    "linkage": "the tree as SciPy's linkage matrix",
    "clusters.cif": "structure with the cluster as B-factor",
    "clusters.pdb": "structure with the cluster as B-factor",
    "clusters.pml": "script for PyMOL",
    "clusters.cxc": "script for ChimeraX",
    "clusters.tcl": "script for VMD",
    "result.npz": "everything, for timme.load and timme plot",
    "report.html": "interactive report, which needs no server",
}
_TYPES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    **dict.fromkeys((".nwk", ".pdb", ".cif", ".pml", ".cxc", ".tcl"), "text/plain; charset=utf-8"),
}


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    reasons = {
        400: "The request is damaged.",
        401: "No token, or a wrong one.",
        403: "A foreign Host or Origin.",
        404: "There is no such job or file.",
        409: "The job is not in a state in which this can be done.",
        413: "The files are too large, unpacked.",
        415: "The body is no multipart form.",
        422: "A file or a setting is not taken; the detail says which and why.",
        429: "The queue is full.",
        507: "The disk of the server is full.",
    }
    return {status: {"model": Problem, "description": reasons[status]} for status in statuses}


router = APIRouter(prefix="/api", responses=_refusals(401, 403))

_Id = Annotated[str, InPath(description="Id of a job, as POST /api/jobs returns it.")]
_BINARY = {"type": "string", "format": "binary"}
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
                        "topology": _BINARY
                        | {"description": "An ensemble, a topology, a table of tracks, a matrix."},
                        "trajectories": {
                            "type": "array",
                            "items": _BINARY,
                            "description": "Trajectories of the topology, in this order.",
                        },
                        "settings": {"$ref": "#/components/schemas/Choices"},
                        "title": {
                            "type": "string",
                            "description": "Shown instead of the name of the first file.",
                        },
                    },
                },
                "encoding": {"settings": {"contentType": "application/json"}},
            }
        },
    }
}


# ---- the server --------------------------------------------------------------------------------


@router.get("/version", summary="What is running here", response_model=Version)
def _version() -> Version:
    return Version(version=__version__)


@router.get("/defaults", summary="What can be chosen, and the limits", response_model=Defaults)
def _defaults(request: Request) -> Defaults:
    limits: Limits = _jobs(request).limits
    return Defaults(
        settings=Choices(),
        objects=_listed(_OBJECTS),
        pairs=_listed(_PAIRS),
        select=[Choice(value=name, help=_SELECT[name]) for name in PRESETS],
        topologies=sorted(TOPOLOGIES),
        trajectories=sorted(TRAJECTORIES),
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
    return JobList(jobs=_jobs(request).listed())


@router.post(
    "/jobs",
    summary="Analyse files",
    description="Streams the files to disk and puts a job into the queue. Files ending in .gz are "
    "unpacked on the way, and the limit counts what they hold. Names of files are shown, never "
    "used as paths; only their extension counts.",
    status_code=201,
    response_model=JobStatus,
    responses=_refusals(400, 413, 415, 422, 429, 507),
    openapi_extra=_FORM,
)
async def _submit(request: Request, response: Response) -> Any:
    jobs = _jobs(request)
    try:
        with jobs.place() as draft:
            made = await _received(request, jobs, draft)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    except QueueFullError as error:
        await _drained(request, jobs.limits)
        raise HTTPException(429, str(error), headers={"Retry-After": "10"}) from None
    except RefusedError as error:
        await _drained(request, jobs.limits)
        raise HTTPException(error.status, str(error)) from None
    except OSError as error:
        raise HTTPException(507, f"the files could not be stored: {error.strerror}") from None
    response.headers["Location"] = f"/api/jobs/{made.id}"
    return made


@router.get(
    "/jobs/{job_id}",
    summary="A job, and how far it is",
    response_model=JobStatus,
    responses=_refusals(404),
)
def _show(request: Request, job_id: _Id) -> JobStatus:
    return _found(request, job_id)


@router.delete(
    "/jobs/{job_id}",
    summary="Remove a job and all its files",
    description="A job that waits or runs is ended first.",
    status_code=204,
    response_class=Response,
    responses=_refusals(404),
)
def _remove(request: Request, job_id: _Id) -> None:
    _found(request, job_id)
    _jobs(request).remove(job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    summary="End a job that waits or runs",
    description="A running job ends a moment later: look at its state.",
    response_model=JobStatus,
    responses=_refusals(404, 409),
)
def _cancel(request: Request, job_id: _Id) -> JobStatus:
    _found(request, job_id)
    try:
        return _jobs(request).cancel(job_id)
    except StateError as error:
        raise HTTPException(409, str(error)) from None


@router.post(
    "/jobs/{job_id}/start",
    summary="Go on with a job that was interrupted or cancelled",
    description="From its last checkpoint, where it ran for longer than half a minute.",
    response_model=JobStatus,
    responses=_refusals(404, 409, 429),
)
def _start(request: Request, job_id: _Id) -> JobStatus:
    _found(request, job_id)
    try:
        return _jobs(request).start_again(job_id)
    except StateError as error:
        raise HTTPException(409, str(error)) from None
    except QueueFullError as error:
        raise HTTPException(429, str(error), headers={"Retry-After": "10"}) from None


# ---- results -----------------------------------------------------------------------------------


@router.get(
    "/jobs/{job_id}/files",
    summary="The files of the result",
    description="None while the job is not done.",
    response_model=ResultFiles,
    responses=_refusals(404),
)
def _files(request: Request, job_id: _Id) -> ResultFiles:
    _found(request, job_id)
    found = _jobs(request).results(job_id)
    return ResultFiles(
        files=[
            ResultFile(name=name, size=path.stat().st_size, about=_about(path))
            for name, path in found.items()
        ]
    )


@router.get(
    "/jobs/{job_id}/files/{name}",
    summary="One file of the result",
    response_class=FileResponse,
    responses=_refusals(404)
    | {200: {"content": {"application/octet-stream": {"schema": _BINARY}}, "description": "It."}},
)
def _file(
    request: Request, job_id: _Id, name: Annotated[str, InPath(description="As listed.")]
) -> FileResponse:
    _found(request, job_id)
    path = _jobs(request).results(job_id).get(name)
    if path is None:
        raise HTTPException(404, "there is no such file: see the list of files")
    return FileResponse(
        path,
        media_type=_TYPES.get(path.suffix, "application/octet-stream"),
        filename=path.name,
        headers={"Content-Security-Policy": FILE_POLICY},
    )


@router.get(
    "/jobs/{job_id}/archive.zip",
    summary="All files of the result in one archive",
    response_class=StreamingResponse,
    responses=_refusals(404, 409)
    | {200: {"content": {"application/zip": {"schema": _BINARY}}, "description": "Archive."}},
)
def _archive(request: Request, job_id: _Id) -> StreamingResponse:
    job = _found(request, job_id)
    found = _jobs(request).results(job_id)
    if not found:
        raise HTTPException(409, f"there is no result: the job is {job.state}")
    return StreamingResponse(
        _zipped(list(found.values())),
        media_type="application/zip",
        headers={"Content-Disposition": 'attachment; filename="timme-result.zip"'},
    )


# ---- helpers -----------------------------------------------------------------------------------


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


def _found(request: Request, job_id: str) -> JobStatus:
    try:
        return _jobs(request).status(job_id)
    except KeyError:
        raise HTTPException(404, "there is no such job: see the list of jobs") from None


async def _received(request: Request, jobs: Jobs, draft: Path) -> JobStatus:
    """Stream a form to disk, and make a job of it."""
    reception = Reception(request.headers.get("content-type", ""), draft, jobs.limits.upload)
    try:
        async for chunk in request.stream():
            await run_in_threadpool(reception.feed, chunk)
        form = reception.finished()
    finally:
        reception.close()
    return jobs.submit(draft, title=form.title, files=form.files, choices=form.choices)


async def _drained(request: Request, limits: Limits) -> None:
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


def _listed(choices: dict[str, str]) -> list[Choice]:
    return [Choice(value=value, help=text) for value, text in choices.items()]


def _about(path: Path) -> str:
    return _ABOUT.get(path.name) or _ABOUT.get(path.stem, "")


def _zipped(paths: list[Path]) -> Iterator[bytes]:
    """Write an archive piece by piece, so that it is never held as a whole."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            with (
                path.open("rb") as source,
                archive.open(path.name, "w", force_zip64=True) as target,
            ):
                while piece := source.read(1 << 18):
                    target.write(piece)
                    yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that cannot be wound back, and is emptied as it is filled."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def taken(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held
