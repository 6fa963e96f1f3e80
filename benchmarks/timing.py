"""Time contenders side by side, so that whatever else the machine does disturbs all alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # would make our sources, not theirs, compiled every time


_usual: dict[str, Callable[[], float]] = {"clock": time.perf_counter}


def count_cpu_seconds() -> None:
    """Let all races that name no clock count CPU seconds, of processes that have ended as well."""
    _usual["clock"] = lambda: time.process_time() + spent_by_processes()


def race(
    contenders: Mapping[str, Callable[[], object]],
    repetitions: int,
    *,
    warm_up: bool = True,
    clock: Callable[[], float] | None = None,
) -> dict[str, float]:
    """Call all in turn, round after round; return the median seconds of each."""
    clock = clock or _usual["clock"]
    if warm_up:
        for contender in contenders.values():
            contender()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            taken[name].append(timed(contender, clock))
    return {name: median(times) for name, times in taken.items()}


def timed(function: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of one call."""
    start = clock()
    function()
    return clock() - start


def spent_by_processes() -> float:
    """Return the seconds that processes started from here have computed, waiting left out."""
    used = os.times()
    return used.children_user + used.children_system


def python(*arguments: str) -> str:
    """Run this interpreter anew; return what it prints."""
    command = [sys.executable, *arguments]
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def in_process(module: str, arguments: Sequence[str]) -> dict[str, float]:
    """Run a module of this package in a process of its own; return the numbers it prints."""
    numbers: dict[str, float] = json.loads(python("-m", module, *arguments))
    return numbers
