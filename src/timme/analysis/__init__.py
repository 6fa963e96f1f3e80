"""The result of one run as frozen data: what was analysed, its hierarchy, and how it was made."""

from timme.analysis.parts import KINDS, Apart, Constraints, Measured, Part
from timme.analysis.recipe import FREELY_JOINTED, Input, Provenance, Recipe
from timme.analysis.result import Analysis, Seen, require_analysis, suggestions, summary
from timme.analysis.system import System, evenly_chosen

__all__ = [
    "FREELY_JOINTED",
    "KINDS",
    "Analysis",
    "Apart",
    "Constraints",
    "Input",
    "Measured",
    "Part",
    "Provenance",
    "Recipe",
    "Seen",
    "System",
    "evenly_chosen",
    "require_analysis",
    "suggestions",
    "summary",
]
