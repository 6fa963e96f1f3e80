"""What a job tells of itself while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from timme.web.models import Progress
from timme.web.reporter import Reporter


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in seconds, which passes when a test says so."""
    now = [100.0]
    monkeypatch.setattr("timme.web.reporter.time.monotonic", lambda: now[0])
    return now


def told(path: Path) -> Progress:
    return Progress.model_validate_json(path.read_bytes())


def test_the_time_left_follows_from_what_is_done(tmp_path: Path, clock: list[float]) -> None:
    path = tmp_path / "progress.json"
    count = Reporter(path).counting("measuring")
    count(1, 10)
    assert told(path) == Progress(stage="measuring", done=1, total=10, seconds_left=None)
    clock[0] += 4.0
    count(2, 10)
    assert told(path) == Progress(stage="measuring", done=2, total=10, seconds_left=16.0)


def test_progress_is_told_a_few_times_a_second_and_at_the_end(
    tmp_path: Path, clock: list[float]
) -> None:
    path = tmp_path / "progress.json"
    count = Reporter(path).counting("measuring")
    clock[0] += 1.0
    count(1, 10)
    for done in range(2, 10):
        clock[0] += 0.01
        count(done, 10)
        assert told(path).done == 1
    count(10, 10)
    assert told(path).done == 10


def test_another_pass_begins_anew(tmp_path: Path, clock: list[float]) -> None:
    path = tmp_path / "progress.json"
    count = Reporter(path).counting("measuring")
    count(1, 10)
    clock[0] += 50.0
    count(10, 10)
    clock[0] += 1.0
    count(1, 10)
    clock[0] += 2.0
    count(5, 10)
    assert told(path).seconds_left == 2.0
