"""Invariants of compiled kernels: what is kept on disk, and when it is compiled anew."""

from __future__ import annotations

import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import timme
from tests.processes import python

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
)

SOURCE = Path(timme.__file__).parent
USE = """
from timme._kernels.boxes import half_width
import numpy as np
print(half_width(np.eye(3)), sum(half_width.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that holds the kernels alone, which tests may change."""
    kernels = tmp_path / "timme" / "_kernels"
    kernels.mkdir(parents=True)
    (tmp_path / "timme" / "__init__.py").touch()
    for name in ("__init__.py", "boxes.py", "xtc.py"):
        shutil.copy(SOURCE / "_kernels" / name, kernels)
    return tmp_path


def run(package: Path, **settings: str) -> list[str]:
    """Call a kernel in a process of its own; return what it gives, and how often it was kept."""
    kept: Any = {"NUMBA_CACHE_DIR": str(package / "kept"), "PYTHONPATH": str(package)}
    return python("-c", USE, **(kept | settings)).stdout.split()


def test_a_kernel_is_kept_until_any_source_changes(package: Path) -> None:
    assert run(package) == ["0.5", "0"]
    assert run(package) == ["0.5", "1"]
    other = package / "timme" / "_kernels" / "xtc.py"  # which the kernel does not use
    times = other.stat()
    other.write_text(other.read_text() + "\n# changed\n")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run(package) == ["0.5", "0"]
    assert run(package) == ["0.5", "1"]


def test_a_folder_that_cannot_be_written_costs_the_cache_alone(package: Path) -> None:
    run(package)
    kept = [path for path in (package / "kept").rglob("*") if path.is_file()]
    assert any(path.suffix == ".nbc" for path in kept)
    for path in kept:  # a file that is cut off or lost, as on a full disk
        if path.suffix == ".nbc":
            path.unlink()
            path.mkdir()
    assert run(package) == ["0.5", "0"]


def test_without_any_place_to_write_kernels_are_compiled(package: Path) -> None:
    place = package / "file"
    place.touch()
    place.chmod(stat.S_IREAD)
    assert run(package, NUMBA_CACHE_DIR=str(place / "kept"))[0] == "0.5"


def test_processes_that_keep_a_kernel_at_once_do_not_disturb_each_other(package: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        printed = [*threads.map(run, [package] * 3)]
    assert [each[0] for each in printed] == ["0.5"] * 3
    assert run(package) == ["0.5", "1"]
