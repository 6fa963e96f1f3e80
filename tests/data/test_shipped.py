"""Files that come with the package: whole, small, and told how they were made."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import timme
from docs.make_data import PAGE, table
from timme.data.shipped import File

ROOT = Path(__file__).parents[2]
FILES = [file for record in timme.data.records().values() for file in record.files]


def test_all_files_together_are_small() -> None:
    assert FILES
    assert sum(file.path.stat().st_size for file in FILES) <= 8_000_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files_are_those_that_the_scripts_made(file: File) -> None:
    content = file.path.read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256)


def test_every_file_has_its_record_and_every_record_its_script() -> None:
    folder = FILES[0].path.parent
    there = {path.name for path in folder.iterdir() if path.suffix != ".json"}
    assert there == {file.name for file in FILES}
    for record in timme.data.records().values():
        assert (ROOT / record.script).is_file()
        assert record.licence == "CC0-1.0"
        assert {"python", "numpy"} <= set(record.versions)


def test_a_file_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"one of .*spheres.npz.*, got 'sphere'"):
        timme.data.path("sphere")


def test_the_page_lists_the_files_as_they_are() -> None:
    assert table() in PAGE.read_text("utf-8")
