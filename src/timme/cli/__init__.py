"""The command line: light, so that whoever interrupts it at once is answered in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timme.cli.interrupts import end_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from timme.cli.commands import app

__all__ = ["app", "main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error becomes one line and exit code 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        What is given; that of the process by default.
    """
    with end_at_once():
        from timme.cli.commands import main as run
    run(arguments)


def __getattr__(name: str) -> object:
    """Import the commands when they are asked for."""
    if name != "app":
        raise AttributeError(f"module 'timme.cli' has no attribute {name!r}")
    from timme.cli import commands

    return commands.app
