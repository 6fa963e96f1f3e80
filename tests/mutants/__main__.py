"""Run the mutants: ``python -m tests.mutants``, or with words for those that have one of them.

Each mutant is one change of one line in a copy of the project, never in the project itself, and is
killed if one of the tests it names fails. It is stale if the line is no longer there once: mend it.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.listed import MUTANTS, Mutant

_ROOT = Path(__file__).parents[2]
_LEFT_BEHIND = (".*", "__pycache__", "node_modules", "_build", "gallery")
_SECONDS = 900  # after which a mutant counts as killed: it hangs
_FAILED, _MISSING = 1, (4, 5)  # how pytest ends: a test failed; there are no such tests


def main() -> int:
    """Run the mutants that were asked for; 1 if any survives, is stale or cannot be run."""
    asked = _asked()
    chosen = [mutant for mutant in MUTANTS if _is_meant(mutant, asked.words)]
    if asked.list:
        for mutant in chosen:
            print(f"{'stale' if _is_stale(mutant) else '':6}{mutant.file}: {mutant.breaks}")
        return int(any(map(_is_stale, chosen)))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="timme-mutants-") as folder:
        for mutant, fate, seconds in _fates(chosen, Path(folder), asked.jobs, trust=asked.trust):
            counts[fate] += 1
            print(f"{fate:9}{seconds:6.0f} s  {mutant.file}: {mutant.breaks}", flush=True)
    print(", ".join(f"{count} {fate}" for fate, count in sorted(counts.items())) or "no mutants")
    return int(set(counts) != {"killed"})


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of files or of what is broken")
    parser.add_argument("--jobs", type=int, default=1, help="mutants side by side")
    parser.add_argument(
        "--list", action="store_true", help="list them, and which are stale, but run none"
    )
    parser.add_argument("--trust", action="store_true", help="do not try the tests unbroken first")
    return parser.parse_args()


def _is_meant(mutant: Mutant, words: list[str]) -> bool:
    text = f"{mutant.file}: {mutant.breaks}"
    return not words or any(word in text for word in words)


def _fates(
    chosen: list[Mutant], folder: Path, jobs: int, *, trust: bool
) -> Iterator[tuple[Mutant, str, float]]:
    """Yield what becomes of each mutant, in their order, and how long it took."""
    copies: queue.Queue[Path] = queue.Queue()
    for number in range(jobs):
        copies.put(_copied(folder / f"copy-{number}"))
    if not trust:
        _refuse_failing(chosen, folder / "copy-0")

    def fate_of(mutant: Mutant) -> tuple[Mutant, str, float]:
        copy, begun = copies.get(), time.monotonic()
        try:
            return mutant, _fate(mutant, copy), time.monotonic() - begun
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(fate_of, chosen)


def _copied(target: Path) -> Path:
    shutil.copytree(_ROOT, target, ignore=shutil.ignore_patterns(*_LEFT_BEHIND), symlinks=True)
    return target


def _refuse_failing(chosen: list[Mutant], copy: Path) -> None:
    """Try all tests unbroken: one that fails anyway would seem to kill."""
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    if tests and _tested(tests, copy, {}, seconds=_SECONDS * len(tests)) != 0:
        sys.exit("mutants: the tests fail as they are: mend them first")


def _fate(mutant: Mutant, copy: Path) -> str:
    if _is_stale(mutant):
        return "stale"
    path = Path("src", "timme", mutant.file)
    (copy / path).write_text(_source(mutant).replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        with tempfile.TemporaryDirectory(dir=copy.parent) as empty:
            ended = _tested(mutant.tests, copy, _kernel_variables(mutant, empty))
    finally:
        shutil.copy2(_ROOT / path, copy / path)  # with its time, by which compiled code is known
    if ended in _MISSING:
        return "no tests"
    if ended < 0:  # by a signal: loops without bounds end the interpreter
        return "killed"
    return {0: "survived", _FAILED: "killed"}.get(ended, "no run")


def _is_stale(mutant: Mutant) -> bool:
    return _source(mutant).count(mutant.old) != 1


def _source(mutant: Mutant) -> str:
    path = _ROOT / "src" / "timme" / mutant.file
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _kernel_variables(mutant: Mutant, empty: str) -> dict[str, str]:
    """Keep loops that were compiled from other sources away from a broken one."""
    if not mutant.file.startswith("_kernels/"):
        return {}
    if all(test.startswith("_kernels/") for test in mutant.tests):
        return {"NUMBA_DISABLE_JIT": "1"}  # such tests are small
    return {"NUMBA_CACHE_DIR": empty}


def _tested(
    tests: list[str], copy: Path, variables: dict[str, str], seconds: float = _SECONDS
) -> int:
    """Run tests in a copy; return how pytest ended."""
    options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not long"]
    command = [sys.executable, "-m", "pytest", *options]
    own = {
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "NUMBA_CACHE_DIR": str(copy.parent / "numba"),
        "CI": "1",  # property tests try the same examples every time
    }
    try:
        return subprocess.run(
            [*command, *(f"tests/{test}" for test in tests)],
            cwd=copy,
            env={**os.environ, **own, **variables},
            capture_output=True,
            check=False,
            timeout=seconds,
        ).returncode
    except subprocess.TimeoutExpired:
        return _FAILED


if __name__ == "__main__":
    sys.exit(main())
