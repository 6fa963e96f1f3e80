"""Invariants of damaged files: read, or refused in one line, in a child process."""

from __future__ import annotations

import pytest

from tests import fuzz


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_damaged_files_are_read_whole_or_refused_in_one_line(count: int) -> None:
    found, _, wrong = fuzz.run(count, beside=False)
    assert not wrong, "\n".join(wrong)
    assert sum(found.values()) == count
    assert {format_ for format_, outcome in found if outcome == "refused"} == fuzz.FILES.keys()
