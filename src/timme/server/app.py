"""The routes of the server: an interface for programs, and the pages that use it."""

from __future__ import annotations

import shutil
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Form, Request, Response, UploadFile
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from pydantic import Field, Json

from timme import memory
from timme._text import shown_name, typed
from timme.analysis.settings import GROUPS, ServeSettings, group_of
from timme.server.guard import FILE_POLICY, REPORT_POLICY, Guard, problem
from timme.server.jobs import INPUTS, Choice, File, Job, Jobs, Model, plain_name
from timme.server.uploads import MOST_FILES, checked_settings, offered_settings, store

_ABOUT = """
Every request needs the token that `timme serve` prints, as `Authorization: Bearer TOKEN` or as the
cookie of the page. Errors are `{"detail": "one line"}`.
"""
_RECIPES = {
    "run": "Clusters of snapshots",
    "rigidity": "Rigid clusters of one structure, by its bonds",
    "motion": "How rigid bodies move",
}
VERSION, _RESULT, _REPORT = version("pytimme"), "result.npz", "report.html"
_PAGES = Path(__file__).with_name("pages")


class Problem(Model):
    """Why a request was refused."""

    detail: str


class Pair(Model):
    """Two results to be compared on the sites that both show."""

    first: str = Field(description="Id of a job that is done.")
    second: str = Field(description="Id of another job that is done.")


def create_app(
    folder: Path, chosen: ServeSettings, *, port: int, token: str, tickets: set[str]
) -> FastAPI:
    """Return the application of a server; jobs run as long as it does."""
    jobs = Jobs(folder, chosen)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.close()

    app = FastAPI(
        title="TIMME",
        version=VERSION,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        exception_handlers=dict.fromkeys((RequestValidationError, OSError), _refuse),
    )
    app.state.jobs = jobs
    app.include_router(interface)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=_PAGES))
    app.add_middleware(Guard, token=token, tickets=tickets, port=port, upload=jobs.upload)
    return app


# ---- refusals ----------------------------------------------------------------------------------


async def _refuse(_: Request, error: Exception) -> Response:
    """Answer an error in one line."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return problem(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    return problem(507, f"the files could not be stored: {getattr(error, 'strerror', error)}")


def _jobs(request: Request) -> Any:
    return request.app.state.jobs


Here = Annotated[Jobs, Depends(_jobs)]
JobId = Annotated[str, InPath(description="Id of a job, as POST /api/jobs returns it.")]


async def _job(job_id: JobId, jobs: Here) -> Job:
    return jobs.status(job_id)


Known = Annotated[Job, Depends(_job)]


# ---- interface for programs --------------------------------------------------------------------

_statuses = (400, 401, 403, 404, 409, 411, 413, 422, 429, 507)
_refusals: Any = {status: {"model": Problem} for status in _statuses}
interface = APIRouter(prefix="/api", responses=_refusals)


@interface.get("/jobs")
async def list_jobs(jobs: Here) -> list[Job]:
    """Return all jobs, the newest first."""
    return jobs.listed()


@interface.post("/jobs", status_code=201)
async def submit(
    response: Response,
    jobs: Here,
    topology: UploadFile,
    trajectories: Annotated[list[UploadFile], Field(max_length=MOST_FILES)] = [],  # noqa: B006
    recipe: Annotated[Choice, Form()] = "run",
    settings: Annotated[Json[dict[str, Any]], Form()] = {},  # noqa: B006
    title: Annotated[str, Form(max_length=1000)] = "",
) -> Job:
    """Analyse files, the topology first; those that are compressed count with what they hold."""
    chosen = checked_settings(recipe, settings)
    with jobs.draft() as draft:
        uploads = [topology, *trajectories]
        files = await to_thread(store, uploads, draft / INPUTS, jobs.upload)
        shown = shown_name(title) or files[0].name
        job = jobs.submit(draft, title=shown, recipe=recipe, settings=chosen, files=files)
    response.headers["Location"] = f"/api/jobs/{job.id}"
    return job


@interface.get("/jobs/{job_id}")
async def show(job: Known) -> Job:
    """Return a job, and how far it is."""
    return job


@interface.delete("/jobs/{job_id}", status_code=204)
async def remove(job: Known, jobs: Here) -> None:
    """Remove a job and all its files; one that waits or runs is ended first."""
    await jobs.remove(job.id)


@interface.post("/jobs/{job_id}/cancel")
async def stop(job: Known, jobs: Here) -> Job:
    """End a job that waits or runs."""
    return await jobs.stop(job.id)


@interface.post("/jobs/{job_id}/start")
async def resume(job: Known, jobs: Here) -> Job:
    """Resume a job that was stopped."""
    return jobs.resume(job.id)


@interface.get("/jobs/{job_id}/files/{name:path}", response_class=FileResponse)
async def download(job: Known, name: str, jobs: Here) -> FileResponse:
    """Return one file of a result."""
    path, policy = jobs.result(job, name), {"Content-Security-Policy": FILE_POLICY}
    return FileResponse(path, filename=path.name, headers=policy)


@interface.post("/comparisons", status_code=201)
async def compare(pair: Pair, jobs: Here) -> Job:
    """Compare two results; copies are kept, so that both may be removed."""
    compared, files = [jobs.status(pair.first), jobs.status(pair.second)], list[File]()
    with jobs.draft() as draft:
        for number, job in enumerate(compared, start=1):
            target = draft / INPUTS / f"{plain_name(job.title)}-{number}.npz"
            await to_thread(shutil.copyfile, jobs.result(job, _RESULT), target)
            files.append(File(name=job.title, size=target.stat().st_size, stored=target.name))
        title = shown_name(" and ".join(job.title for job in compared))
        return jobs.submit(draft, title=title, recipe="compare", files=files)


# ---- pages -------------------------------------------------------------------------------------

pages = APIRouter(include_in_schema=False)
_TEMPLATES = Jinja2Templates(_PAGES)
_TEMPLATES.env.globals |= {"version": VERSION, "built": (_PAGES / "server.js").is_file()}


@cache
def _fields(recipe: str) -> dict[str, list[dict[str, Any]]]:
    """Return the fields of a form by group."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS}
    for name, about in offered_settings(recipe).items():
        kinds, default = about.get("anyOf", [about]), about["default"]
        choices = [choice for kind in kinds for choice in kind.get("enum", ())]
        if {kind.get("type") for kind in kinds} <= {"boolean", "null"}:
            choices = ["yes", "no"]
        usual = about["usual"] or ("" if default is None else typed(default))
        shown = about["description"].partition(", or a file")[0]  # files are not taken here
        offered = [choice for choice in choices if choice != usual]
        field = {"name": name, "help": shown, "usual": usual, "choices": offered}
        groups[group_of(name)].append(field)
    return {name: fields for name, fields in groups.items() if fields}


@pages.get("/")
async def start_page(request: Request, jobs: Here) -> Response:
    """Return the form of a new job, and the list of jobs."""
    fields = {recipe: _fields(recipe) for recipe in _RECIPES}
    shown: dict[str, Any] = {"recipes": _RECIPES, "fields": fields}
    shown |= {"jobs": jobs.listed(), "upload": memory.shown(jobs.upload)}
    return _TEMPLATES.TemplateResponse(request, "start.html", shown)


@pages.get("/results/{job_id}")
async def job_page(request: Request, job: Known, jobs: Here) -> Response:
    """Return the progress or the result of a job."""
    others = [other for other in jobs.listed() if other.recipe != "compare"]
    others = [other for other in others if other.state == "done" and other.id != job.id]
    report = any(file.name == _REPORT for file in job.results)
    shown = {"job": job, "others": others, "report": report}
    return _TEMPLATES.TemplateResponse(request, "job.html", shown)


@pages.get("/results/{job_id}/report")
async def report_page(job: Known, jobs: Here) -> Response:
    """Return the interactive report, which runs without the origin of the server."""
    policy = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(jobs.result(job, _REPORT), headers=policy)
