"""TIMME finds which parts of a many-particle system move together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for tools that read types
    from timme import comparison as comparison
    from timme import confidence as confidence
    from timme import data as data
    from timme import hierarchy as hierarchy
    from timme import motion as motion
    from timme import objects as objects
    from timme import pairs as pairs
    from timme import rigidity as rigidity
    from timme import synthetic as synthetic
    from timme import theory as theory
    from timme.analysis.comparison import compare as compare
    from timme.analysis.finding import Finding as Finding
    from timme.analysis.motion import analyse_motion as analyse_motion
    from timme.analysis.motion import two_point as two_point
    from timme.analysis.recipe import analyse as analyse
    from timme.analysis.result import Analysis as Analysis
    from timme.analysis.result import Comparison as Comparison
    from timme.analysis.rigidity import analyse_rigidity as analyse_rigidity
    from timme.analysis.store import load as load
    from timme.analysis.store import save as save
    from timme.ensemble import Atoms as Atoms
    from timme.ensemble import Ensemble as Ensemble
    from timme.fluctuations import Fluctuations as Fluctuations
    from timme.fluctuations import TooFewSnapshotsError as TooFewSnapshotsError
    from timme.fluctuations import measure as measure
    from timme.hierarchy.clustering import cluster as cluster
    from timme.hierarchy.linking import link as link
    from timme.hierarchy.partition import Partition as Partition
    from timme.hierarchy.tree import Hierarchy as Hierarchy
    from timme.hierarchy.tree import Quantity as Quantity
    from timme.io import read as read
    from timme.io import read_matrix as read_matrix
    from timme.notebook import show as show
    from timme.objects import Objects as Objects
    from timme.output.folder import export as export
    from timme.output.folder import plot as plot
    from timme.pairs import Pairs as Pairs

_MODULES = "comparison confidence data hierarchy motion objects pairs rigidity synthetic theory"
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
__all__ = sorted([*_HOMES, *_MODULES.split()])  # noqa: PLE0605, a list that is computed


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
