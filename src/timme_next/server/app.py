"""The routes of the server: an interface for programs, and the pages that use it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import jinja2
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from pydantic import Field
from starlette.requests import ClientDisconnect

from timme_next import memory
from timme_next.analysis.settings import GROUPS, details
from timme_next.server.guard import FILE_POLICY, REPORT_POLICY, Guard, Keys
from timme_next.server.jobs import (
    ARCHIVE,
    INPUTS,
    MODELS,
    File,
    Jobs,
    Limits,
    Model,
    QueueFullError,
    StateError,
    Status,
    plain_name,
)
from timme_next.server.uploads import checked_settings, offered_settings, receive, shown_name

_ABOUT = """
Every request needs the token that `timme serve` prints, as `Authorization: Bearer TOKEN` or as the
cookie of the page. Errors are `{"detail": "one line"}`.
"""
_RECIPES = {
    "auto": "Clusters of snapshots; of a single structure, rigid clusters by its bonds",
    "run": "Clusters of snapshots",
    "rigidity": "Rigid clusters of one structure, by its bonds",
    "motion": "How rigid bodies move",
}
_REFUSALS = {
    400: "The request is damaged.",
    401: "The token is missing or wrong.",
    403: "The Host or Origin is foreign.",
    404: "There is no such job or file.",
    409: "The job is in another state.",
    413: "The request, or its files, are too large.",
    415: "The body has another type.",
    422: "A file or a setting is refused; the detail says why.",
    429: "The queue is full.",
    507: "The disk is full.",
}
_RESULT, _REPORT = "result.npz", "report.html"


class Problem(Model):
    """Why a request was refused."""

    detail: str


class Listing(Model):
    """All jobs, the newest first."""

    jobs: list[Status]


class Pair(Model):
    """Two results to be compared on the sites that both show."""

    first: str = Field(description="Id of a job that is done.")
    second: str = Field(description="Id of another job that is done.")
    title: str = Field(default="", max_length=1000, description="Shown in place of both titles.")
    settings: dict[str, Any] = Field(default={}, description="As for timme compare.")


def create_app(folder: Path, *, port: int, keys: Keys, limits: Limits) -> FastAPI:
    """Return the application of a server; jobs run as long as it does."""
    jobs = Jobs(folder, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.close()

    app = FastAPI(
        title="TIMME",
        version=version("pytimme"),
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        exception_handlers=_HANDLERS,
    )
    app.state.jobs = jobs
    app.include_router(interface)
    app.include_router(pages)
    app.add_middleware(Guard, keys=keys, port=port, upload=limits.upload)
    return app


# ---- refusals ----------------------------------------------------------------------------------


def _refusing(status: int, **headers: str) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return a handler that answers an error by its message."""

    async def answer(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": str(error)}, status, headers=headers)

    return answer


async def _refuse_invalid(_: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    place = ".".join(str(part) for part in first.get("loc", ()))
    return JSONResponse({"detail": f"{place}: {first.get('msg', '')}"}, 422)


async def _refuse_to_store(_: Request, error: Exception) -> Response:
    reason = error.strerror if isinstance(error, OSError) else ""
    return JSONResponse({"detail": f"the files could not be stored: {reason}"}, 507)


_HANDLERS: dict[Any, Any] = {
    QueueFullError: _refusing(429, **{"Retry-After": "10"}),
    StateError: _refusing(409),
    ClientDisconnect: _refusing(400),  # nobody reads it
    RequestValidationError: _refuse_invalid,
    OSError: _refuse_to_store,
}


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe how a route may refuse."""
    return {each: {"model": Problem, "description": _REFUSALS[each]} for each in statuses}


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


Here = Annotated[Jobs, Depends(_jobs)]
JobId = Annotated[str, InPath(description="Id of a job, as POST /api/jobs returns it.")]


async def _job(job_id: JobId, jobs: Here) -> Status:
    try:
        return jobs.status(job_id)
    except KeyError:
        raise HTTPException(404, "there is no such job: see the list of jobs") from None


Known = Annotated[Status, Depends(_job)]


def _file(jobs: Jobs, job: Status, name: str) -> Path:
    """Return the path of a file of a result, which is looked up in the list of these."""
    if job.state != "done":
        raise HTTPException(409, f"there is no result: the job is {job.state}")
    path = jobs.result(job.id, name)
    if path is None or not path.is_file():
        raise HTTPException(404, "there is no such file: see the list of results")
    return path


# ---- interface for programs --------------------------------------------------------------------

_BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
_PARTS = {
    "topology": {**_BYTES, "description": "An ensemble, a topology, a table, or a matrix."},
    "trajectories": {"type": "array", "items": _BYTES, "description": "More files, in order."},
    "recipe": {"enum": [*_RECIPES], "default": "auto", "description": "What is done."},
    "settings": {
        "anyOf": [offered_settings(MODELS[name]) for name in ("run", "rigidity", "motion")],
        "description": "Settings of the recipe.",
    },
    "title": {"type": "string", "description": "Shown in place of the name of the first file."},
}
_SCHEMA = {"type": "object", "required": ["topology"], "properties": _PARTS}
_FORM = {  # read from the stream, and so described here
    "schema": _SCHEMA | {"additionalProperties": False},
    "encoding": {"settings": {"contentType": "application/json"}},
}
_BODY = {"requestBody": {"required": True, "content": {"multipart/form-data": _FORM}}}

interface = APIRouter(prefix="/api", responses=_refusals(401, 403))
_of_file: Any = {"response_class": FileResponse, "responses": _refusals(404, 409)}


@interface.get("/version")
async def show_version() -> dict[str, str]:
    """Return the version of TIMME."""
    return {"version": version("pytimme")}


@interface.get("/jobs")
async def list_jobs(jobs: Here) -> Listing:
    """Return all jobs, the newest first."""
    return Listing(jobs=jobs.listed())


@interface.post(
    "/jobs",
    status_code=201,
    responses=_refusals(400, 413, 415, 422, 429, 507),
    openapi_extra=_BODY,
)
async def submit(request: Request, response: Response, jobs: Here) -> Status:
    """Analyse files; those that are compressed count with what they hold."""
    async with jobs.draft() as draft:
        job = jobs.submit(draft, **await receive(request, draft, jobs.limits.upload))
    response.headers["Location"] = f"/api/jobs/{job.id}"
    return job


@interface.get("/jobs/{job_id}", responses=_refusals(404))
async def show(job: Known) -> Status:
    """Return a job, and how far it is."""
    return job


@interface.delete("/jobs/{job_id}", status_code=204, responses=_refusals(404))
async def remove(job: Known, jobs: Here) -> None:
    """Remove a job and all its files; one that waits or runs is ended first."""
    await jobs.remove(job.id)


@interface.post("/jobs/{job_id}/cancel", responses=_refusals(404, 409))
async def cancel(job: Known, jobs: Here) -> Status:
    """End a job that waits or runs."""
    return await jobs.cancel(job.id)


@interface.post("/jobs/{job_id}/start", responses=_refusals(404, 409, 429))
async def start(job: Known, jobs: Here) -> Status:
    """Resume a job that was interrupted or cancelled."""
    return jobs.start_again(job.id)


@interface.get("/jobs/{job_id}/archive.zip", **_of_file)
async def archive(job: Known, jobs: Here) -> FileResponse:
    """Return all files of a result."""
    return FileResponse(_file(jobs, job, ARCHIVE), filename=f"timme-{plain_name(job.title)}.zip")


@interface.get("/jobs/{job_id}/files/{name:path}", **_of_file)
async def download(job: Known, name: str, jobs: Here) -> FileResponse:
    """Return one file of a result."""
    path, policy = _file(jobs, job, name), {"Content-Security-Policy": FILE_POLICY}
    return FileResponse(path, filename=path.name, headers=policy)


@interface.post("/comparisons", status_code=201, responses=_refusals(404, 409, 413, 422, 429, 507))
async def compare(pair: Pair, jobs: Here) -> Status:
    """Compare two results; copies are kept, so that both may be removed."""
    settings = checked_settings("comparison", pair.settings)
    if pair.first == pair.second:
        raise HTTPException(422, "two results are needed, got the same twice")
    results = [await _job(name, jobs) for name in (pair.first, pair.second)]
    paths, files = [_file(jobs, job, _RESULT) for job in results], list[File]()
    async with jobs.draft() as draft:
        for number, (job, path) in enumerate(zip(results, paths, strict=True), start=1):
            target = draft / INPUTS / f"{plain_name(job.title)}-{number}.npz"
            await asyncio.to_thread(shutil.copyfile, path, target)
            size = target.stat().st_size
            files.append(File(name=job.title, size=size, stored=target.name))
        title = shown_name(pair.title or " and ".join(job.title for job in results))
        task = {"title": title, "recipe": "comparison", "settings": settings}
        return jobs.submit(draft, **task, files=tuple(files))


# ---- pages -------------------------------------------------------------------------------------

pages = APIRouter(include_in_schema=False)
_STATIC = {  # no path is ever made of what is requested
    file.name: file
    for file in Path(__file__).with_name("pages").iterdir()
    if file.suffix != ".html"
}


def _size(size: int) -> str:
    return memory.shown(size) if size >= 999_500 else f"{max(1, round(size / 1000))} kB"


def _time(time: datetime) -> str:
    return time.astimezone().strftime("%Y-%m-%d %H:%M")


_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader(__package__ or "", "pages"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"size": _size, "time": _time}


def _page(name: str, **context: Any) -> Response:
    shown = {"built": "server.js" in _STATIC, "version": version("pytimme"), **context}
    return HTMLResponse(_TEMPLATES.get_template(name).render(shown))


@cache
def _fields(recipe: str) -> dict[str, list[dict[str, Any]]]:
    """Return the fields of a form by group."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS}
    for name, about in offered_settings(MODELS[recipe])["properties"].items():
        more, default = details(MODELS[recipe], name), about["default"]
        kinds = {each.get("type") for each in about.get("anyOf", [about])}
        choices = about.get("enum") or (more["choices"] if name == "objects" else ())
        if kinds == {"boolean", "null"}:
            choices = ("yes", "no")
        usual = more["usual"] or ("" if default is None else default)
        field = {"name": name, "help": about["description"], "usual": usual, "default": default}
        field |= {"choices": choices, "tick": kinds == {"boolean"}}
        groups[more["group"]].append(field)
    return {name: fields for name, fields in groups.items() if fields}


@pages.get("/")
async def start_page(jobs: Here) -> Response:
    """Return the form of a new job, and the list of jobs."""
    names = {"auto run": "run", "rigidity": "rigidity", "motion": "motion"}
    fields = {shown: _fields(recipe) for shown, recipe in names.items()}
    upload = memory.shown(jobs.limits.upload)
    return _page("start.html", jobs=jobs.listed(), recipes=_RECIPES, fields=fields, upload=upload)


@pages.get("/results/{job_id}")
async def job_page(job: Known, jobs: Here) -> Response:
    """Return the progress or the result of a job."""
    others = [other for other in jobs.listed() if other.recipe != "comparison"]
    others = [other for other in others if other.state == "done" and other.id != job.id]
    report = any(file.name == _REPORT for file in job.results)
    return _page("job.html", job=job, others=others, report=report)


@pages.get("/results/{job_id}/report")
async def report_page(job: Known, jobs: Here) -> Response:
    """Return the interactive report, which runs without the origin of the server."""
    policy = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(_file(jobs, job, _REPORT), headers=policy)


@pages.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a script, a style or an icon."""
    if name not in _STATIC:
        raise HTTPException(404, "there is no such file")
    return FileResponse(_STATIC[name])
