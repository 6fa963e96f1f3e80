"""The command line."""

from timme.cli.commands import app, main

__all__ = ["app", "main"]
