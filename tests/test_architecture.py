"""The house: its floors are few, its page is true, and no door is hidden."""

from __future__ import annotations

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "timme"
MODULES = sorted(SOURCE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]


def floors() -> list[str]:
    """Floors of the whole house."""
    (whole,) = [each for each in CONTRACTS if each["containers"] == ["timme"]]
    return list(whole["layers"])


def test_the_page_shows_the_floors_that_imports_are_held_to() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    (shown,) = re.findall(r"```text\n(__main__ .*?)```", page, re.DOTALL)
    assert shown.splitlines() == floors()


def test_there_are_few_floors() -> None:
    assert len(floors()) <= 14


def test_every_package_has_an_order_within() -> None:
    held = {container for each in CONTRACTS for container in each["containers"]}
    alone = {"_kernels"}  # whose files import little, and nothing from elsewhere
    assert {f"timme.{name}" for name in PACKAGES - alone} <= held
    assert all(each["exhaustive"] for each in CONTRACTS)


def test_every_package_has_its_folder_of_tests() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == PACKAGES | {"page"}


def test_the_page_tells_how_the_house_is_built() -> None:
    grimp = pytest.importorskip("grimp", reason="needs import-linter, for `make layers`")
    graph = grimp.build_graph("timme", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    order = list(TopologicalSorter(imports).static_order())  # or an error that names a cycle
    chain = dict[str, int]()
    for module in order:
        chain[module] = 1 + max((chain[other] for other in imports[module]), default=0)
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    now = {
        "floors": len(floors()),
        "contracts within packages": len(CONTRACTS) - 1,
        "modules": len(imports),
        "longest chain of imports, modules": max(chain.values()),
        "imports of our own from a module, mean": round(
            sum(map(len, imports.values())) / len(imports), 1
        ),
        "modules in a cycle": 0,
    }
    told = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([\d.]+) \|$", page, re.MULTILINE)
    assert {name: float(number) for name, number in told} == now


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_of_ours_is_imported_by_its_name_as_text(path: Path) -> None:
    if path == SOURCE / "__init__.py":
        return  # public names are imported when first used
    tree = ast.parse(path.read_text("utf-8"))
    named = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    assert not named & {"import_module", "__import__"}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not {text for text in texts if isinstance(text, str) and names_a_module(text)}


def names_a_module(text: str) -> bool:
    """Whether a text is the name of one of our modules, or of something in it."""
    found = re.fullmatch(r"timme\.([\w.]+)(?::\w+)?", text)
    place = SOURCE.joinpath(*found[1].split(".")) if found else None
    return place is not None and any(
        each.with_suffix(".py").exists() or each.joinpath("__init__.py").exists()
        for each in (place, place.parent)
        if each != SOURCE
    )


def test_names_of_modules_are_known() -> None:
    for name in ("timme.web", "timme.web.worker", "timme.web.worker:main", "timme.store.load"):
        assert names_a_module(name)
    for text in ("timme.lock", "timme", "timme.engine.dask.Cluster(client), got", "timme web"):
        assert not names_a_module(text)
