"""Invariant: the interface answers as its own description says, whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.server.conftest import BASE, TOKEN, Server, planted, running_server

OPERATIONS = {
    ("/api/jobs", "GET"),
    ("/api/jobs", "POST"),
    ("/api/jobs/{job_id}", "GET"),
    ("/api/jobs/{job_id}", "DELETE"),
    ("/api/jobs/{job_id}/cancel", "POST"),
    ("/api/jobs/{job_id}/start", "POST"),
    ("/api/comparisons", "POST"),
    ("/api/jobs/{job_id}/files/{name}", "GET"),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Any]]:
    """A server with a few jobs, and its description."""
    folder = tmp_path_factory.mktemp("described")
    for name, state in (("done-job", "done"), ("other-job", "done"), ("failed-job", "failed")):
        planted(folder, name, state, result_npz="1", clusters_csv="a,b")
    with running_server(folder, queue="2", upload="100kB") as server:
        schema = schemathesis.openapi.from_dict(server.app.openapi())
        schema.app = _started(server.app)
        yield server, schema


def _started(app: Any) -> Any:
    """The application for a client that would start and stop it with every request."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})

    return call


def check(case: Any) -> None:
    """Call the server, and compare its answer with the description; none may be a server error."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    # Settings and names of files may be refused for reasons that no schema can express.
    unfit = [positive_data_acceptance] if case.operation.method.upper() == "POST" else []
    case.call_and_validate(base_url=BASE, headers=headers, excluded_checks=unfit)


def test_all_operations_are_described(served: tuple[Server, Any]) -> None:
    found = [result.ok() for result in served[1].get_all_operations()]
    assert {(each.path, each.method.upper()) for each in found} == OPERATIONS


@pytest.mark.parametrize(
    ("path", "method", "mode"),
    [
        *((*each, GenerationMode.POSITIVE) for each in sorted(OPERATIONS)),
        *((path, "POST", GenerationMode.NEGATIVE) for path in ("/api/jobs", "/api/comparisons")),
    ],
)
def test_answers_are_as_described(
    served: tuple[Server, Any], path: str, method: str, mode: Any
) -> None:
    @settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
    @given(case=served[1][path][method].as_strategy(generation_mode=mode))
    def search(case: Any) -> None:
        check(case)

    search()


@pytest.mark.parametrize("job", ["done-job", "failed-job"])
def test_answers_about_jobs_are_as_described(served: tuple[Server, Any], job: str) -> None:
    schema = served[1]
    for path, method in sorted(OPERATIONS):
        if "job_id" in path and method != "DELETE":
            for name in ("result.npz", "nothing"):
                check(schema[path][method].Case(path_parameters={"job_id": job, "name": name}))
