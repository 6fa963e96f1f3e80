"""Reference: words about results, files that are written whole, and sizes in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from timme import memory
from timme._text import write_atomically


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    assert write_atomically(target, "σ\r\n").read_bytes() == "σ\r\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(TypeError):
        write_atomically(target, None)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_sizes_are_written_as_people_do() -> None:
    assert [memory.shown(size) for size in (2.14e9, 1.23e7)] == ["2.1 GB", "12 MB"]
    assert memory.usage() > 1e6
    available = memory.available()
    assert available is None or 1e6 < available < 1e15
