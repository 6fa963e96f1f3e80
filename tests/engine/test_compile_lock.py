"""Processes that share a cache compile one after another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.patience import LONGEST
from timme.engine.compile_lock import first_time

SOURCE = Path(__file__).parents[2] / "src"

_COMPILE = """
import time
from timme.engine.compile_lock import first_time
print("ready", flush=True)
input()
with first_time("kernel") as first:
    begun = time.monotonic()
    time.sleep(0.3)
    print(first, begun, time.monotonic())
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_processes_take_turns() -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _COMPILE],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate(timeout=LONGEST)[0].split() for process in started]
    assert [words[0] for words in told] == ["True", "True"]
    (_, end), (begin, _) = sorted((float(words[1]), float(words[2])) for words in told)
    assert end <= begin


def test_types_are_compiled_once(nothing_compiled: list[str]) -> None:
    def firsts(*values: Any) -> list[bool]:
        found = []
        for value in values:
            with first_time("kernel", value) as first:
                found.append(first)
        return found

    single = np.zeros(3, np.float32)
    assert firsts(single, single + 1, np.zeros(3), np.zeros((3, 1))) == [True, False, True, True]
    assert len(nothing_compiled) == 3
