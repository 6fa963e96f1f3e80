"""The API: as its own description says, and as the recipe it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.strategies import searching
from tests.web.conftest import BASE, TOKEN, MakeServer, Server, planted, running_server
from timme.readers.files import BARE_TRAJECTORIES
from timme.settings import (
    CENTRES,
    OBJECTS,
    PAIRS,
    PALETTES,
    REDUCTIONS,
    TETHERS,
    RigidSettings,
    Settings,
)
from timme.web.models import Choices, Model, RigidChoices
from timme.web.uploads import TOPOLOGIES, TRAJECTORIES

# ---- the same choices as the recipe ------------------------------------------------------------


def test_choices_are_the_settings_of_the_recipe() -> None:
    recipe = {field.name for field in fields(Settings)}
    assert set(Choices.model_fields) == recipe - {"memory"}  # the server sets that itself


def test_choices_for_one_structure_are_those_of_its_recipe() -> None:
    recipe = {field.name for field in fields(RigidSettings)}
    assert set(RigidChoices.model_fields) == recipe - {"constraints", "length"}  # a file; of no use


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [
        (Choices, "objects", OBJECTS),
        (Choices, "pairs", PAIRS),
        (Choices, "reduction", REDUCTIONS),
        (Choices, "centre", CENTRES),
        (Choices, "palette", PALETTES),
        (RigidChoices, "tethers", TETHERS),
        (RigidChoices, "palette", PALETTES),
    ],
)
def test_a_choice_has_the_values_of_the_recipe(
    model: type[Model], name: str, values: dict[str, str]
) -> None:
    kind = model.model_fields[name].annotation
    literal = next((part for part in get_args(kind) if get_args(part)), kind)
    assert get_args(literal) == (*values,)


def test_nothing_chosen_is_the_default_of_the_recipe() -> None:
    assert Choices().settings() == Settings()
    assert RigidChoices().settings() == RigidSettings()


def test_defaults_offer_what_can_be_chosen(server: Server) -> None:
    found = server.client.get("/api/defaults").json()
    fields = {field["name"]: field for part in found["form"] for field in part["fields"]}
    for name, known in {"objects": [*OBJECTS], "pairs": [*PAIRS], "tethers": [*TETHERS]}.items():
        assert [choice["value"] for choice in fields[name]["choices"]] == known
    assert [choice["value"] for choice in found["recipes"]] == ["auto", "run", "rigidity"]
    assert found["topologies"] == sorted(TOPOLOGIES)
    assert found["trajectories"] == sorted(TRAJECTORIES)
    assert found["bare_trajectories"] == sorted(BARE_TRAJECTORIES)
    assert set(found["bare_trajectories"]) < set(found["trajectories"])
    assert found["limits"]["upload"] == 2_000_000_000


# ---- the description ---------------------------------------------------------------------------


def test_every_route_says_what_it_does_and_how_it_refuses(server: Server) -> None:
    described = server.client.get("/api/openapi.json").json()
    assert described["security"] == [{"token": []}]
    for path, methods in described["paths"].items():
        assert path.startswith("/api/")
        for about in methods.values():
            assert about["summary"]
            assert {"401", "403"} <= set(about["responses"])
            assert ("{job_id}" in path) == ("404" in about["responses"])
    submit = described["paths"]["/api/jobs"]["post"]["responses"]
    assert {"201", "400", "413", "415", "422", "429"} <= set(submit)


def test_no_page_of_the_server_loads_anything_from_elsewhere(server: Server) -> None:
    for path in ("/docs", "/redoc", "/api/docs", "/openapi.json"):
        assert server.client.get(path).status_code == 404


# ---- schemathesis ------------------------------------------------------------------------------

OPERATIONS = [
    ("/api/version", "GET"),
    ("/api/defaults", "GET"),
    ("/api/jobs", "GET"),
    ("/api/jobs", "POST"),
    ("/api/jobs/{job_id}", "GET"),
    ("/api/jobs/{job_id}", "DELETE"),
    ("/api/jobs/{job_id}/cancel", "POST"),
    ("/api/jobs/{job_id}/start", "POST"),
    ("/api/comparisons", "POST"),
    ("/api/jobs/{job_id}/files", "GET"),
    ("/api/jobs/{job_id}/files/{name}", "GET"),
    ("/api/jobs/{job_id}/archive.zip", "GET"),
    ("/api/jobs/{job_id}/scene.json", "GET"),
]


def refusing() -> SchemathesisConfig:
    """What counts as a refusal: as usual, and that a field too long for its limit is too large."""
    usual = ("400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "5xx")
    rejection = {"expected-statuses": [*usual, "413"]}
    return SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": rejection}})


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description of a server with a few jobs, at which requests are thrown."""
    folder = tmp_path_factory.mktemp("described")
    for name, state in (("done-job", "done"), ("failed-job", "failed"), ("gone-job", "failed")):
        planted(folder, name, state, result_npz="1", clusters_csv="a,b")
    with running_server(folder, queue=2, upload=100_000) as server:
        schema = schemathesis.openapi.from_dict(server.app.openapi(), config=refusing())
        schema.app = already_started(server.app)
        yield schema


def already_started(app: Any) -> Any:
    """The application for a client that would start and stop it with every request."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})

    return call


def checked(case: Any) -> None:
    """Call the server, and compare its answer with the description; none may be a server error."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    # A form without fault may hold a file that is not taken: names are not part of a description.
    unfit = [positive_data_acceptance] if case.operation.method.upper() == "POST" else []
    case.call_and_validate(base_url=BASE, headers=headers, excluded_checks=unfit)


def test_all_operations_are_tried(described: Any) -> None:
    found = [result.ok() for result in described.get_all_operations()]
    assert [(operation.path, operation.method.upper()) for operation in found] == OPERATIONS


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_the_api_keeps_to_its_description(
    described: Any, path: str, method: str, mode: GenerationMode
) -> None:
    operation = described[path][method]

    @settings(searching(30), suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def tried(case: Any) -> None:
        checked(case)

    try:
        tried()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # where nothing is asked, nothing can be wrong
        assert "{" not in path


def test_any_settings_of_the_description_are_taken_or_refused(
    described: Any, make_server: MakeServer, tracks: bytes
) -> None:
    server = make_server(queue=1000)
    codes = set()

    @settings(searching(100), suppress_health_check=list(HealthCheck))
    @given(case=described["/api/jobs"]["POST"].as_strategy())
    def tried(case: Any) -> None:
        body = case.body if isinstance(case.body, dict) else {}
        parts = {name: body[name] for name in ("recipe", "rigidity") if name in body}
        codes.add(server.submit("a.csv", tracks, **parts, **body.get("settings", {})).status_code)

    tried()
    assert 201 in codes
    assert codes <= {201, 422}


@pytest.mark.parametrize("job", ["done-job", "failed-job"])
@pytest.mark.parametrize(
    ("path", "method"), [pair for pair in OPERATIONS if "job_id" in pair[0] and pair[1] != "DELETE"]
)
def test_it_does_so_for_jobs_that_are_there(
    described: Any, path: str, method: str, job: str
) -> None:
    for name in ("result.npz", "nothing"):
        checked(described[path][method].Case(path_parameters={"job_id": job, "name": name}))


def test_a_comparison_of_jobs_that_are_there_is_answered_as_described(described: Any) -> None:
    compare = described["/api/comparisons"]["POST"]
    for other in ("failed-job", "done-job", "nothing"):
        body = {"one": "done-job", "other": other}
        checked(compare.Case(body=body, media_type="application/json"))


def test_a_job_is_removed_as_described(described: Any) -> None:
    for _ in range(2):
        checked(
            described["/api/jobs/{job_id}"]["DELETE"].Case(path_parameters={"job_id": "gone-job"})
        )
