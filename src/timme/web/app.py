"""The application: API and pages behind the guard."""

from __future__ import annotations

import html
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response

from timme._version import __version__
from timme.web import parts, worker
from timme.web.api import router
from timme.web.guard import REPORT_POLICY, Guard, Keys
from timme.web.jobs import REPORT, Jobs
from timme.web.limits import Limits
from timme.web.models import Choices, Comparison, RigidChoices

_ABOUT = """
Snapshots go in, a hierarchy of co-moving clusters comes out. The page of the server uses nothing
but this interface.

Every request needs the token that `timme serve` prints, as `Authorization: Bearer TOKEN` or as the
cookie that the page gets for it. Errors are `{"detail": "one line"}`.
"""
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


def create_app(folder: Path, *, port: int, keys: Keys, limits: Limits) -> FastAPI:
    """Make the application of a server.

    Parameters
    ----------
    folder : Path
        Where jobs are kept; it is there, and nobody else uses it.
    port : int
        Port of the server, for the checks of Host and Origin.
    keys : Keys
        What opens it.
    limits : Limits
        What jobs may take.

    Returns
    -------
    FastAPI
        Jobs are carried out as long as it runs.
    """
    jobs = Jobs(folder, limits, worker.__name__)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        jobs.start()
        try:
            yield
        finally:
            jobs.close()

    app = _Application(
        title="TIMME",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name.lstrip("_"),
    )
    app.state.jobs = jobs
    app.include_router(router)
    _add_pages(app)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_middleware(Guard, keys=keys, port=port)
    return app


class _Application(FastAPI):
    """Adds to the description what the guard and the streamed form ask for."""

    def openapi(self) -> dict[str, Any]:
        """Describe the API."""
        if self.openapi_schema is None:
            described = super().openapi()
            parts = described["components"]
            for model in (Choices, RigidChoices, Comparison):
                parts["schemas"][model.__name__] = model.model_json_schema(
                    ref_template="#/components/schemas/{model}"
                )
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            described["security"] = [{"token": []}]
        return self.openapi_schema or described


@cache
def _pages() -> dict[str, bytes]:
    """Read all pages once: a name is looked up among them, and no path is ever made of it."""
    folder = resources.files(__package__).joinpath("static")
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def _page(name: str) -> Response:
    pages = _pages()
    if name not in pages:
        raise HTTPException(404, "there is no such page")
    return Response(pages[name], media_type=_kind(name))


def _scripted(name: str, script: str) -> Response:
    """Answer with a page that does nothing without its script, or say how to get that."""
    if parts.part(script) is not None:
        return _page(name)
    reason = html.escape(parts.missing()).encode()
    text = _pages()["missing.html"].replace(b"{reason}", reason)
    return Response(text, status_code=503, media_type="text/html")


def _kind(name: str) -> str:
    return _TYPES[name[name.rindex(".") :]]


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def start() -> Response:
        return _scripted("start.html", parts.START)

    @app.get("/results/{job_id}", include_in_schema=False)
    def result(
        job_id: str,
    ) -> Response:  # the page itself asks for the job, and says if none is there
        del job_id
        return _scripted("result.html", parts.RESULT)

    @app.get("/results/{job_id}/report", include_in_schema=False)
    def report(request: Request, job_id: str) -> Response:
        jobs: Jobs = request.app.state.jobs
        try:
            path = jobs.results(job_id)[REPORT]
        except KeyError:
            raise HTTPException(404, "there is no such report") from None
        return FileResponse(
            path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY}
        )

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        return _page(name)

    @app.get("/page/{name}", include_in_schema=False)
    def viewer(name: str) -> Response:
        text = parts.part(name)
        if text is None:
            raise HTTPException(404, "there is no such part of the page")
        return Response(text, media_type=_kind(name))


async def _refused(_: Request, error: Exception) -> Response:
    """Say in one line what is wrong with a request."""
    first = (
        error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": (), "msg": ""}
    )
    place = ".".join(str(part) for part in first["loc"])
    return JSONResponse({"detail": f"{place}: {first['msg']}"}, status_code=422)
