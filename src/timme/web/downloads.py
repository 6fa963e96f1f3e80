"""Results over the API: their files, one by one or as an archive, and their scene."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, StreamingResponse

from timme.web.answers import BINARY, JobId, job_of, jobs_of, refusals
from timme.web.folders import WEIGHTS, archive_name
from timme.web.guard import FILE_POLICY
from timme.web.models import ResultFile, ResultFiles
from timme.workflow import comparison
from timme.workflow.folder import known_files

_TYPES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    **dict.fromkeys(
        (".nwk", ".txt", ".pdb", ".cif", ".pml", ".cxc", ".tcl"), "text/plain; charset=utf-8"
    ),
    **dict.fromkeys((".extxyz", ".dump", ".ndx", ".plumed"), "text/plain; charset=utf-8"),
}


_SCENE = {"type": "object", "required": ["format", "title"]}

router = APIRouter(prefix="/jobs/{job_id}", responses=refusals(404))


@router.get(
    "/files",
    summary="The files of the result",
    description="None while the job is not done.",
    response_model=ResultFiles,
)
def _files(request: Request, job_id: JobId) -> ResultFiles:
    job_of(request, job_id)
    found = jobs_of(request).results(job_id)
    return ResultFiles(
        files=[
            ResultFile(name=name, size=found[name].stat().st_size, about=_about(found[name]))
            for name in _in_order(found)
        ]
    )


@router.get(
    "/files/{name}",
    summary="One file of the result",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {"schema": BINARY}}, "description": "It."}
    },
)
def _file(
    request: Request, job_id: JobId, name: Annotated[str, InPath(description="As listed.")]
) -> FileResponse:
    job_of(request, job_id)
    path = jobs_of(request).results(job_id).get(name)
    if path is None:
        raise HTTPException(404, "there is no such file: see the list of files")
    return FileResponse(
        path,
        media_type=_TYPES.get(path.suffix, "application/octet-stream"),
        filename=path.name,
        headers={"Content-Security-Policy": FILE_POLICY},
    )


@router.get(
    "/archive.zip",
    summary="All files of the result in one archive",
    response_class=StreamingResponse,
    responses=refusals(409)
    | {200: {"content": {"application/zip": {"schema": BINARY}}, "description": "Archive."}},
)
def _archive(request: Request, job_id: JobId) -> StreamingResponse:
    job = job_of(request, job_id)
    found = jobs_of(request).results(job_id)
    if not found:
        raise HTTPException(409, f"there is no result: the job is {job.state}")
    name = archive_name(job.title)
    return StreamingResponse(
        _zip(name, list(found.values())),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}.zip"'},
    )


@router.get(
    "/scene.json",
    summary="What the interactive page shows of the result",
    description="Everything as plain data, which `window.timme.mount(element, scene)` shows.",
    response_class=FileResponse,
    responses=refusals(409)
    | {200: {"content": {"application/json": {"schema": _SCENE}}, "description": "The scene."}},
)
def _scene(request: Request, job_id: JobId) -> FileResponse:
    job, path = job_of(request, job_id), jobs_of(request).scene(job_id)
    if path is None:
        raise HTTPException(409, f"there is no scene: the {job.recipe} job is {job.state}")
    return FileResponse(path, media_type="application/json")


# ---- helpers -----------------------------------------------------------------------------------


def _captions() -> dict[str, str]:
    weights = {WEIGHTS: "weights of the snapshots, as the command takes them"}
    return known_files() | comparison.FILES | weights


def _about(path: Path) -> str:
    return _captions().get(path.name, "")


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort files as they are declared: what to look at first comes first."""
    known = list(_captions())
    return sorted(
        names, key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def _zip(folder: str, paths: list[Path]) -> Iterator[bytes]:
    """Write an archive of a folder piece by piece, so that it is never held as a whole."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            with (
                path.open("rb") as source,
                archive.open(f"{folder}/{path.name}", "w", force_zip64=True) as target,
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
