"""TIMME finds which parts of a many-particle system move together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from timme._version import __version__

if TYPE_CHECKING:
    from timme import (
        compare,
        confidence,
        data,
        motion,
        objects,
        pairs,
        rigidity,
        statistics,
        synthetic,
        theory,
    )
    from timme.analysis import Analysis
    from timme.fluctuations import Fluctuations, measure
    from timme.hierarchy import Hierarchy, Partition, Quantity, cluster, link
    from timme.notebook import view
    from timme.readers import read, read_matrix
    from timme.settings import RigidSettings, Settings
    from timme.store import load, save
    from timme.system.atoms import Atoms
    from timme.system.ensemble import Ensemble
    from timme.workflow import analyse, correlate, gather, move, rigid, write

_MODULES = tuple(
    "compare confidence data motion objects pairs rigidity statistics synthetic theory".split()
)
_EXTRAS = ("mdanalysis", "sklearn")  # which need libraries that not everyone has, or takes long
_HOMES = {
    "Analysis": "analysis",
    "Atoms": "system.atoms",
    "Ensemble": "system.ensemble",
    "Fluctuations": "fluctuations",
    "Hierarchy": "hierarchy",
    "Partition": "hierarchy",
    "Quantity": "hierarchy",
    "RigidSettings": "settings",
    "Settings": "settings",
    "analyse": "workflow",
    "cluster": "hierarchy",
    "gather": "workflow",
    "link": "hierarchy",
    "load": "store",
    "measure": "fluctuations",
    "correlate": "workflow",
    "move": "workflow",
    "read": "readers",
    "read_matrix": "readers",
    "rigid": "workflow",
    "save": "store",
    "view": "notebook",
    "write": "workflow",
}

__all__ = [
    "Analysis",
    "Atoms",
    "Ensemble",
    "Fluctuations",
    "Hierarchy",
    "Partition",
    "Quantity",
    "RigidSettings",
    "Settings",
    "__version__",
    "analyse",
    "cluster",
    "compare",
    "confidence",
    "correlate",
    "data",
    "gather",
    "link",
    "load",
    "measure",
    "motion",
    "move",
    "objects",
    "pairs",
    "read",
    "read_matrix",
    "rigid",
    "rigidity",
    "save",
    "statistics",
    "synthetic",
    "theory",
    "view",
    "write",
]


def __getattr__(name: str) -> object:
    """Import public names when they are first used, so that ``import timme`` stays light."""
    if name in _MODULES or name in _EXTRAS:
        return import_module(f"timme.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"timme.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'timme' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
