"""What all routes of the API share: how they refuse, and how they find a job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import HTTPException, Request
from fastapi import Path as InPath

from timme.web.jobs import Jobs
from timme.web.models import JobStatus, Problem

BINARY = {"type": "string", "format": "binary"}

JobId = Annotated[str, InPath(description="Id of a job, as POST /api/jobs returns it.")]


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe how a route may refuse.

    Parameters
    ----------
    *statuses : int
        Of its answers.

    Returns
    -------
    dict
        For the description of the API.
    """
    reasons = {
        400: "The request is damaged.",
        401: "No token, or a wrong one.",
        403: "A foreign Host or Origin.",
        404: "There is no such job or file.",
        409: "The job is not in a state in which this can be done.",
        413: "The files, unpacked, or the request are too large.",
        415: "The body is of another type than the one described.",
        422: "A file or a setting is not taken; the detail says which and why.",
        429: "The queue is full.",
        507: "The disk of the server is full.",
    }
    return {status: {"model": Problem, "description": reasons[status]} for status in statuses}


def jobs_of(request: Request) -> Jobs:
    """Return the jobs of the server.

    Parameters
    ----------
    request : Request
        Whatever is asked; its application holds the jobs.

    Returns
    -------
    Jobs
        The queue, and all that was done.
    """
    jobs: Jobs = request.app.state.jobs
    return jobs


def job_of(request: Request, job_id: str) -> JobStatus:
    """Find a job, or refuse.

    Parameters
    ----------
    request : Request
        Whatever is asked; its application holds the jobs.
    job_id : str
        What the client takes for the id of a job.

    Returns
    -------
    JobStatus
        The job, and how far it is.
    """
    try:
        return jobs_of(request).status(job_id)
    except KeyError:
        raise HTTPException(404, "there is no such job: see the list of jobs") from None
