"""How the work is done: sums over parts of the frames, by threads or a cluster, resumable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timme.engine.checkpoint import Checkpoint
    from timme.engine.run import Engine, Run
    from timme.engine.threads import Threads

_HOMES = {"Checkpoint": "checkpoint", "Engine": "run", "Run": "run", "Threads": "threads"}

__all__ = ["Checkpoint", "Engine", "Run", "Threads"]


def __getattr__(name: str) -> object:
    """Import public names when they are first used: most of them compile loops."""
    if name in _HOMES:
        return getattr(import_module(f"timme.engine.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'timme.engine' has no attribute {name!r}")
