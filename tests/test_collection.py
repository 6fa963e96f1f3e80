"""What pytest calls the tests: parallel processes have to agree on it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import pytest_make_parametrize_id

ROOT = Path(__file__).parents[1]


def collecting(seed: int) -> subprocess.Popen[str]:
    """Begin to collect all tests in a process that hashes in its own way."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-m",
            "",
            "-p",
            "no:cacheprovider",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_ids_depend_neither_on_the_time_nor_on_hashes_nor_on_the_place() -> None:
    first = collecting(seed=1)
    time.sleep(1.1)  # what is packed holds the second in which that was done
    second = collecting(seed=2)
    ids, again = (
        [line for line in process.communicate()[0].splitlines() if "::" in line]
        for process in (first, second)
    )
    assert first.returncode == second.returncode == 0
    assert len(ids) > 2000
    assert ids == again
    assert not [name for name in ids if str(ROOT) in name]


def test_bytes_are_not_written_into_an_id() -> None:
    with pytest.raises(pytest.fail.Exception, match="ids are needed for the bytes data"):
        pytest_make_parametrize_id(b"\x1f\x8b", "data")
