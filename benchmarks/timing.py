"""Time contenders side by side, so that whatever else the machine does disturbs all alike."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent


def race(
    contenders: Mapping[str, Callable[[], object]], repetitions: int, *, warm_up: bool = True
) -> dict[str, float]:
    """Call all in turn, round after round; return the median seconds of each."""
    if warm_up:
        for contender in contenders.values():
            contender()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            taken[name].append(timed(contender))
    return {name: median(times) for name, times in taken.items()}


def timed(function: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def python(*arguments: str) -> str:
    """Run this interpreter anew; return what it prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def in_process(module: str, arguments: Sequence[str]) -> dict[str, float]:
    """Run a module of this package in a process of its own; return the numbers it prints."""
    numbers: dict[str, float] = json.loads(python("-m", module, *arguments))
    return numbers
