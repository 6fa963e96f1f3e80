"""What a terminal shows while a run goes on, and that nothing of it is left."""

from __future__ import annotations

import io
import sys
import time

import click
import pytest

from timme.cli.console import _patience, say, show_progress

_PATIENCE = 60.0  # seconds, on a busy machine


class Terminal(io.StringIO):
    """Keeps what is written, and says that somebody looks at it."""

    def isatty(self) -> bool:
        return True


def wait_for(text: str, terminal: Terminal) -> None:
    """Wait until the last line shows a text."""
    start = time.monotonic()
    while text not in terminal.getvalue().split("\r")[-1]:
        assert time.monotonic() < start + _PATIENCE, terminal.getvalue()
        time.sleep(0.05)


def sit_down(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Look at what a test prints from now on."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    return made


def test_a_silent_stretch_shows_its_time_and_is_wiped_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = sit_down(monkeypatch)
    with show_progress(meanwhile="writing"):
        wait_for("writing … 00:0", terminal)
    assert terminal.getvalue().split("\r")[-2].strip() == ""
    assert terminal.getvalue().endswith("\r")


def test_what_is_short_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_down(monkeypatch)
    with show_progress("measuring") as progress:
        progress(1, 2)
        progress(2, 2)
    assert terminal.getvalue() == ""


def test_phases_of_one_command_follow_one_another_on_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = sit_down(monkeypatch)
    with click.Context(click.Command("run")):
        with show_progress(meanwhile="starting"):
            wait_for("starting … 00:0", terminal)
        with show_progress("measuring") as progress:
            assert terminal.getvalue().endswith("\rworking … 00:00")
            progress(30, 100)
            wait_for("measuring:  30%", terminal)
        with show_progress(meanwhile="writing"):
            assert terminal.getvalue().endswith("\rwriting … 00:00")
    assert terminal.getvalue().split("\r")[-2].strip() == ""


def test_short_phases_are_shown_once_they_are_long_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([100.0, 100.5, 101.0, 200.0])
    monkeypatch.setattr("timme.cli.console.time.monotonic", lambda: next(clock))
    with click.Context(click.Command("run")):
        waits = [_patience() for _ in range(4)]
    assert waits == pytest.approx([0.8, 0.3, 0.0, 0.0])
    assert _patience() == 0.8  # without a command, each by itself


def test_told_work_shows_a_bar_and_its_end_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_down(monkeypatch)
    with show_progress("measuring") as progress:
        progress(30, 100)
        wait_for("measuring:  30%", terminal)
        progress(100, 100)
        wait_for("working … ", terminal)


def test_where_nobody_looks_there_is_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress(meanwhile="writing"):
        time.sleep(1.0)
    assert capsys.readouterr().err == ""


def test_lines_come_above_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_down(monkeypatch)
    with show_progress(meanwhile="working"):
        wait_for("working … ", terminal)
        say("compiling")
        assert "\ncompiling" not in terminal.getvalue()
        assert "\rcompiling\n" in terminal.getvalue()
