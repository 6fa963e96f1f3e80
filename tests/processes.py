"""Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def python(*words: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with words behind it and the path of this process; return how it ended."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    command, kind = [sys.executable, *words], "utf-8"
    return subprocess.run(
        command, cwd=cwd, env=given, capture_output=True, check=False, encoding=kind
    )
