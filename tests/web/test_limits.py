"""Limits and names as people write them."""

from __future__ import annotations

import pytest

from timme.settings import ServeSettings
from timme.web.limits import parse_limits, parse_time


def test_limits_are_read_as_people_write_them() -> None:
    found = parse_limits(
        ServeSettings(max_upload="500MB", max_time="30min", memory="2GB", jobs=2, queue=3)
    )
    assert (found.upload, found.seconds, found.memory) == (500_000_000, 1800.0, 2_000_000_000)


@pytest.mark.parametrize("text", ["", "h", "-1h", "0s", "1 week", "1e3", "inf"])
def test_a_time_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a time is written as 90s, 30min or 12h"):
        parse_time(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_upload": "much"}, "max_upload= is written as 2GB or 500MB, got 'much'"),
        ({"memory": "0"}, "memory= is written as 2GB or 500MB, got '0'"),
        ({"max_time": "soon"}, "max_time= is written as 90s, 30min or 12h, got 'soon'"),
        ({"jobs": 0}, "jobs= must be at least 1, got 0"),
        ({"queue": 0}, "queue= must be at least 1, got 0"),
    ],
)
def test_limits_that_mean_nothing_are_refused(given: dict[str, str], said: str) -> None:
    usual = {"max_upload": "2GB", "max_time": "1h", "memory": "2GB", "jobs": 1, "queue": 1}
    with pytest.raises(ValueError, match=said):
        parse_limits(ServeSettings(**(usual | given)))  # type: ignore[arg-type]
