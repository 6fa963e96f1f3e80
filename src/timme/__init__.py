"""TIMME finds which parts of a many-particle system move together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from timme import (
        comparison,
        confidence,
        data,
        hierarchy,
        motion,
        objects,
        pairs,
        rigidity,
        synthetic,
        theory,
    )
    from timme.analysis.comparison import compare
    from timme.analysis.finding import Finding
    from timme.analysis.motion import analyse_motion, two_point
    from timme.analysis.recipe import analyse
    from timme.analysis.result import Analysis, Comparison
    from timme.analysis.rigidity import analyse_rigidity
    from timme.analysis.store import load, save
    from timme.ensemble import Atoms, Ensemble
    from timme.fluctuations import Fluctuations, TooFewSnapshotsError, measure
    from timme.hierarchy.clustering import cluster
    from timme.hierarchy.linking import link
    from timme.hierarchy.partition import Partition
    from timme.hierarchy.tree import Hierarchy, Quantity
    from timme.io import read, read_matrix
    from timme.notebook import show
    from timme.objects import Objects
    from timme.output.folder import export, plot
    from timme.pairs import Pairs

_NAMES = {  # public names by their modules, which are imported when a name is first used
    "analysis.comparison": "compare",
    "analysis.finding": "Finding",
    "analysis.motion": "analyse_motion two_point",
    "analysis.recipe": "analyse",
    "analysis.result": "Analysis Comparison",
    "analysis.rigidity": "analyse_rigidity",
    "analysis.store": "load save",
    "ensemble": "Atoms Ensemble",
    "fluctuations": "Fluctuations TooFewSnapshotsError measure",
    "hierarchy.clustering": "cluster",
    "hierarchy.linking": "link",
    "hierarchy.partition": "Partition",
    "hierarchy.tree": "Hierarchy Quantity",
    "io": "read read_matrix",
    "notebook": "show",
    "objects": "Objects",
    "output.folder": "export plot",
    "pairs": "Pairs",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Analysis",
    "Atoms",
    "Comparison",
    "Ensemble",
    "Finding",
    "Fluctuations",
    "Hierarchy",
    "Objects",
    "Pairs",
    "Partition",
    "Quantity",
    "TooFewSnapshotsError",
    "analyse",
    "analyse_motion",
    "analyse_rigidity",
    "cluster",
    "compare",
    "comparison",
    "confidence",
    "data",
    "export",
    "hierarchy",
    "link",
    "load",
    "measure",
    "motion",
    "objects",
    "pairs",
    "plot",
    "read",
    "read_matrix",
    "rigidity",
    "save",
    "show",
    "synthetic",
    "theory",
    "two_point",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
