"""What the simulations are measured by, from their own folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def checks() -> Any:
    """What the simulations are measured by."""
    path = Path(__file__).parents[2] / "examples" / "simulate" / "checks.py"
    spec = importlib.util.spec_from_file_location("checks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
