"""Print the oldest versions that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def oldest(project: Path) -> list[str]:
    """``name==version`` for each ``name>=version`` that the package needs, extras included."""
    needs = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    groups = [needs["dependencies"], *needs["optional-dependencies"].values()]
    return [need.replace(">=", "==") for group in groups for need in group]


if __name__ == "__main__":
    sys.stdout.write("\n".join(oldest(Path(__file__).parents[1] / "pyproject.toml")) + "\n")
