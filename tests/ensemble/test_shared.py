"""Reference: words about results, files that are written whole, and sizes in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from timme import memory
from timme._text import Described, write_atomically


@dataclass(frozen=True, repr=False)
class Result(Described):
    """Something to describe."""

    values: object
    name: str = "<b>"


def test_results_describe_themselves_in_two_lines_and_as_safe_html() -> None:
    assert repr(Result(np.zeros((2, 3)))) == "<Result: values of shape (2, 3), name <b>>"
    assert repr(Result(Result(None))) == "<Result: values Result, name <b>>"
    assert repr(Result(list(range(2000)), "")) == "<Result: values 2,000 values, name none>"
    assert len(repr(Result("word " * 90, "x" * 300)).splitlines()) <= 2
    assert "&lt;b&gt;" in Result(1)._repr_html_()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    assert write_atomically(target, "σ\r\n").read_bytes() == "σ\r\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(TypeError):
        write_atomically(target, None)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_sizes_are_read_and_written_as_people_do() -> None:
    sizes = {"2GB": 2e9, "500 MB": 5e8, "1.5GiB": 1.5 * 2**30, "10": 10}
    assert {text: memory.parse(text) for text in sizes} == sizes
    assert [memory.shown(size) for size in (2.14e9, 1.23e7)] == ["2.1 GB", "12 MB"]
    for bad in ("much", "-1GB", "0"):
        with pytest.raises(ValueError, match="memory= is written as 2GB"):
            memory.parse(bad, "memory=")
    assert memory.usage() > 1e6
    assert memory.available() is None or memory.available() != 0
