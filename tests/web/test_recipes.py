"""What jobs do: snapshots, one structure, two results; each as the library does it."""

from __future__ import annotations

import io
import json
import os
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.cli.ensembles import swinging
from tests.readers.builders import write_pdb
from tests.web.conftest import MakeServer, Server, planted, running_server, work_inside
from timme.cli import app
from timme.output.report import SCRIPT, page_part
from timme.output.scene import scene_json
from timme.settings import CompareSettings, Settings
from timme.web.models import Comparison, File, RigidChoices
from timme.web.recipes import _folders, _options
from timme.workflow import comparison, rigid, scene_of

EVIL = "<script>alert(1)</script> $x^{"


def loaded(server: Server, name: str, folder: Path) -> timme.Analysis:
    path = folder / "result.npz"
    path.write_bytes(server.client.get(f"/api/jobs/{name}/files/result.npz").content)
    return timme.load(path)


# ---- one structure -----------------------------------------------------------------------------


@pytest.mark.usefixtures("inside")
def test_one_structure_gets_its_rigid_clusters(
    server: Server, structure: bytes, tmp_path: Path
) -> None:
    name = server.submit("my.pdb", structure, radius=8.0, min_size=2).json()["id"]
    assert server.job(name)["recipe"] == "auto"  # nobody knows before it is read
    job = server.ended(name)
    assert (job["state"], job["recipe"]) == ("done", "rigidity"), job
    assert job["command"] == "timme rigidity my.pdb --min-size 2"
    assert job["notes"][0].startswith("one snapshot has no fluctuations")
    assert job["notes"][1] == "left out, as for snapshots only: radius"
    (tmp_path / "my.pdb").write_bytes(structure)
    expected = rigid(tmp_path / "my.pdb")
    found = loaded(server, name, tmp_path)
    np.testing.assert_array_equal(found.hierarchy.heights, expected.hierarchy.heights)
    assert found.hierarchy.quantity.symbol == "E"
    assert found.recipe.options["min_size"] == 2


@pytest.mark.thorough
@pytest.mark.usefixtures("inside")
def test_rigid_clusters_are_chosen_with_their_settings(
    server: Server, structure: bytes, tmp_path: Path
) -> None:
    chosen: dict[str, Any] = {"chain": "A", "model": 1, "waters": True, "tethers": "none"}
    name = server.submit("a.pdb", structure, recipe="rigidity", rigidity=chosen).json()["id"]
    job = server.ended(name)
    assert (job["state"], job["recipe"]) == ("done", "rigidity"), job
    assert job["command"] == "timme rigidity a.pdb --chain A --model 1 --waters --tethers none"
    (tmp_path / "a.pdb").write_bytes(structure)
    expected = rigid(tmp_path / "a.pdb", **chosen)
    found = loaded(server, name, tmp_path)
    np.testing.assert_array_equal(found.hierarchy.heights, expected.hierarchy.heights)


@pytest.mark.usefixtures("inside")
def test_what_is_chosen_is_done_even_if_it_cannot_be(server: Server, structure: bytes) -> None:
    job = server.ended(server.started("a.pdb", structure, recipe="run"))
    assert job["error"].startswith("a.pdb: fluctuations need at least 2 snapshots, got 1")


@pytest.mark.usefixtures("inside")
def test_one_snapshot_of_particles_is_no_structure(server: Server) -> None:
    table = b"frame,particle,x,y\n" + b"".join(b"0,%d,%d,0\n" % (k, k) for k in range(5))
    job = server.ended(server.started("a.csv", table))
    assert job["state"] == "failed"
    assert "a.csv: fluctuations need at least 2 snapshots, got 1" in job["error"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"recipe": "dance"}, "recipe: one of auto, run, rigidity, got 'dance'"),
        ({"recipe": "comparison"}, "recipe: one of auto, run, rigidity, got 'comparison'"),
        ({"recipe": "rigidity", "select": "ca"}, "settings: not used by the recipe rigidity"),
        ({"recipe": "run", "rigidity": {"chain": "A"}}, "rigidity: not used by the recipe run"),
        ({"rigidity": {"model": 0}}, "rigidity: model= must be at least 1, got 0"),
        ({"rigidity": {"constraints": "/etc/passwd"}}, "rigidity.constraints: Extra inputs"),
        (
            {"rigidity": {"tethers": "<b>"}},
            "rigidity: tethers= is one of shortest, all, none, got '<b>'",
        ),
        ({"palette": "grey"}, "settings: palette= is one of wide, safe, got 'grey'"),
        ({"objects": "a.txt"}, "settings: objects= is one of auto, points, bodies, "),
        ({"rigidity": {"length": 3.0}}, "rigidity.length: Extra inputs"),  # of no use there
    ],
)
def test_settings_that_mean_nothing_are_refused(
    server: Server, tracks: bytes, given: dict[str, Any], reason: str
) -> None:
    answer = server.submit("a.csv", tracks, **given)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(reason)
    assert server.stored() == set()


def test_a_missing_extra_is_said_in_one_line(
    server: Server, structure: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hydride.py").write_text("raise ImportError('as if it were not installed')\n")
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), known])))
    job = server.ended(server.started("a.pdb", structure))
    assert job["state"] == "failed"
    assert job["error"].startswith("adding hydrogens needs hydride: install it with ")


@pytest.mark.usefixtures("inside")
def test_the_command_says_all_that_was_chosen(
    server: Server, tracks: bytes, tmp_path: Path
) -> None:
    weights = [1.0, 0.1, 1 / 3, *[1.0] * 9]
    chosen: dict[str, Any] = {"weights": weights, "gaps": False, "pairs": "all"}
    name = server.submit("a.csv", tracks, recipe="run", **chosen).json()["id"]
    job = server.ended(name)
    assert (job["state"], job["error"]) == ("done", "")
    command = "timme run a.csv --weights weights.txt --no-gaps --pairs all"
    assert job["command"] == command
    found = server.client.get(f"/api/jobs/{name}/files/weights.txt").text
    assert [float(line) for line in found.split()] == weights
    # The command is one, and chooses the same.
    (tmp_path / "weights.txt").write_text(found)
    words = command.replace("weights.txt", str(tmp_path / "weights.txt")).split()[2:]
    context = app.commands["run"].make_context("run", words)
    assert Settings(**{key: context.params[key] for key in chosen}) == Settings(**chosen)


@pytest.mark.parametrize("chain", ["A,B", ["A", "B"]])
def test_chains_are_one_text_or_several_as_on_the_command_line(chain: Any) -> None:
    choices = RigidChoices.model_validate_json(json.dumps({"chain": chain}))
    assert choices.settings().chains == ["A", "B"]
    assert [*_options(choices)] == ["--chain", "A,B"]


def test_a_comparison_is_chosen_as_on_the_command_line() -> None:
    given: dict[str, Any] = {
        "chains": {"A": "B"},
        "cutoffs": [-0.5, 0.06],
        "min_size": 2,
        "palette": "safe",
    }
    asked = Comparison.model_validate_json(json.dumps({"one": "a", "other": "b", **given}))
    assert asked.settings() == CompareSettings(**given)
    words = [*_options(asked)]
    assert words == [
        *("--chains", "A=B", "--cutoffs", "-0.5,0.06", "--min-size", "2", "--palette", "safe")
    ]
    context = app.commands["compare"].make_context("compare", ["a", "b", *words])
    assert CompareSettings(**{name: context.params[name] for name in given}) == asked.settings()


@pytest.mark.parametrize(
    ("titles", "folders"),
    [
        (("1bnr.pdb", "1a2p.pdb"), ["timme-1bnr", "timme-1a2p"]),
        (("1bnr.pdb", "1bnr.pdb"), ["timme-1bnr-1", "timme-1bnr-2"]),
        (("1bnr.pdb", "1bnr.cif"), ["timme-1bnr-1", "timme-1bnr-2"]),
    ],
)
def test_the_command_never_compares_a_result_with_itself(
    titles: tuple[str, str], folders: list[str]
) -> None:
    named, notes = _folders([File(name=title, size=1, stored="1.npz") for title in titles])
    assert named == folders
    assert len(notes) == (folders[0] != "timme-1bnr")
    assert all(folder in note for note in notes for folder in ("timme-1bnr", *folders))


# ---- two results -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(
    tmp_path_factory: pytest.TempPathFactory, peptide: bytes
) -> Iterator[tuple[Server, list[str]]]:
    """A server with two results of one peptide, in the second of which the chain is called B."""
    folder = tmp_path_factory.mktemp("two")
    models = [[(*atom[:3], "B", *atom[4:]) for atom in model] for model in swinging()]
    renamed = write_pdb(tmp_path_factory.mktemp("renamed") / "b.pdb", models).read_bytes()
    with running_server(folder) as server:
        with pytest.MonkeyPatch.context() as patch:
            work_inside(patch)
            names = [
                server.submit("a.pdb", peptide, title=EVIL).json()["id"],
                server.submit("b.pdb", renamed, select="ca", objects="points").json()["id"],
            ]
            assert [server.ended(name)["state"] for name in names] == ["done"] * 2
        yield server, names


@pytest.mark.usefixtures("inside")
def test_two_results_are_compared_as_the_library_does(
    two: tuple[Server, list[str]], tmp_path: Path
) -> None:
    server, names = two
    answer = server.compare(*names, chains={"A": "B"})
    assert answer.status_code == 201
    made = answer.json()
    assert answer.headers["location"] == f"/api/jobs/{made['id']}"
    assert made["title"] == f"{EVIL} / b.pdb"
    job = server.ended(made["id"])
    assert (job["state"], job["recipe"], job["scene"]) == ("done", "comparison", False), job
    assert shlex.split(job["command"])[:2] == ["timme", "compare"]
    assert job["command"].endswith(" timme-b --chains A=B")  # as the archives unpack
    assert str(server.folder) not in json.dumps(job)
    analyses = [loaded(server, name, tmp_path) for name in names]
    expected = comparison.compare_results(
        analyses[0], analyses[1], CompareSettings(chains={"A": "B"}), names=(EVIL, "b.pdb")
    )
    assert [(row["name"], row["value"]) for row in job["summary"]] == comparison.rows(expected)
    comparison.write(expected, tmp_path / "expected")
    archive = server.client.get(f"/api/jobs/{made['id']}/archive.zip").content
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        folder = opened.namelist()[0].partition("/")[0]
        assert set(opened.namelist()) == {
            f"{folder}/{path.name}" for path in (tmp_path / "expected").iterdir()
        }
        for name in ("matched.csv", "best-cutoffs.csv", "agreement.csv"):
            expected_bytes = (tmp_path / "expected" / name).read_bytes()
            assert opened.read(f"{folder}/{name}") == expected_bytes


@pytest.mark.long
def test_a_comparison_outlives_its_results(make_server: MakeServer, two: Any) -> None:
    first, names = two
    server = make_server()
    for name in names:
        planted(server.folder, name, "done")
        result = server.folder / name / "result" / "result.npz"
        result.write_bytes((first.folder / name / "result" / "result.npz").read_bytes())
    server = make_server(server.folder)
    made = server.compare(*names, chains={"A": "B"}, title="both").json()["id"]
    for name in names:  # while it waits or runs
        assert server.client.delete(f"/api/jobs/{name}").status_code == 204
    job = server.ended(made)
    assert (job["state"], job["title"]) == ("done", "both"), job
    assert server.client.get(f"/api/jobs/{made}/files/dilutions.svg").status_code == 200


@pytest.mark.usefixtures("inside")
def test_chains_that_are_not_there_are_told_in_the_job(two: Any) -> None:
    server, names = two
    job = server.ended(server.compare(*names, chains={"A": "<i>"}).json()["id"])
    assert job["state"] == "failed"
    assert "<i>" in job["error"]
    assert str(server.folder) not in job["error"]


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ("done", "done", 422),
        ("done", "nothing", 422),
        ("../done", "done", 422),
        ("done", "failed", 409),
        ("done", "plain", 422),
    ],
    ids=["the same", "unknown", "a path", "not done", "no result"],
)
def test_only_two_results_are_compared(
    make_server: MakeServer, tmp_path: Path, one: str, other: str, status: int
) -> None:
    planted(tmp_path, "done", "done", result_npz="1")
    planted(tmp_path, "failed", "failed")
    planted(tmp_path, "plain", "done", matched_csv="1")
    server = make_server(tmp_path)
    before = server.stored()
    assert server.compare(one, other).status_code == status
    assert server.stored() == before


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"one": "a"}', b'{"one": 1, "other": 2}', b"{"],
    ids=["empty", "a list", "one alone", "numbers", "cut off"],
)
def test_a_body_that_asks_for_nothing_is_refused(server: Server, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = server.client.post("/api/comparisons", content=body, headers=headers)
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


def test_a_body_that_is_too_large_or_no_json_is_refused(server: Server) -> None:
    address, large = "/api/comparisons", b'{"one": "' + b"x" * 300_000 + b'", "other": "b"}'
    headers = {"Content-Type": "application/json"}
    assert server.client.post(address, content=large, headers=headers).status_code == 413
    assert server.client.post(address, content=b"one=a&other=b").status_code == 415
    assert server.client.post(address, data={"one": "a", "other": "b"}).status_code == 415


def test_a_full_queue_takes_no_comparison(make_server: MakeServer, tmp_path: Path) -> None:
    for name in ("one", "other"):
        planted(tmp_path, name, "done", result_npz="1")
    server = make_server(tmp_path, jobs=1, queue=1)
    jobs = server.app.state.jobs
    with jobs.place(), jobs.place():
        answer = server.compare("one", "other")
    assert answer.status_code == 429
    assert answer.headers["retry-after"]


# ---- the interactive page ----------------------------------------------------------------------


def test_the_scene_is_that_of_the_result_with_the_title_of_the_job(
    two: Any, tmp_path: Path
) -> None:
    server, names = two
    answer = server.client.get(f"/api/jobs/{names[0]}/scene.json")
    assert answer.headers["content-type"] == "application/json"
    assert "<" not in answer.text
    expected = scene_of(loaded(server, names[0], tmp_path)) | {"title": EVIL}
    assert answer.json() == json.loads(scene_json(expected))
    listed = server.client.get(f"/api/jobs/{names[0]}/files").json()["files"]
    assert "scene.json" not in {file["name"] for file in listed}


def test_there_is_no_scene_without_a_result(make_server: MakeServer, tmp_path: Path) -> None:
    planted(tmp_path, "failed", "failed")
    (tmp_path / "failed" / "scene.json").write_text("{}")
    server = make_server(tmp_path)
    assert server.client.get("/api/jobs/failed/scene.json").status_code == 409
    assert server.client.get("/api/jobs/nothing/scene.json").status_code == 404


def test_parts_of_the_page_are_served_and_nothing_else(server: Server) -> None:
    if page_part(SCRIPT) is None:
        pytest.skip("needs the built page (python viewer/build.py)")
    script, style = "text/javascript", "text/css"
    served = {"page.js": script, "start.js": script, "result.js": script, "page.css": style}
    for name, kind in served.items():
        answer = server.client.get(f"/page/{name}")
        assert answer.headers["content-type"].startswith(kind)
        assert answer.text == page_part(name)
    for name in ("widget.js", "sources.sha256", "..%2f__init__.py", "%2e%2e/store.py"):
        assert server.client.get(f"/page/{name}").status_code == 404
    assert server.client.get("/api/version").json()["page_missing"] == ""


def test_where_the_page_was_not_built_the_server_says_how_to_get_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timme.web.parts.page_part", lambda _: None)
    assert "npm" in server.client.get("/api/version").json()["page_missing"]
    assert server.client.get("/page/page.js").status_code == 404
    for path in ("/", "/results/any"):
        answer = server.client.get(path)
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/html")
        assert "install again with access to npm" in answer.text
        assert "{reason}" not in answer.text
        assert "<script" not in answer.text
    assert server.client.get("/static/page.css").status_code == 200
    assert server.client.get("/api/jobs").status_code == 200
