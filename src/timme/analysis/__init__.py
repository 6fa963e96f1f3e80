"""The result of one run as frozen data: what was analysed, its hierarchy, and how it was made."""

from timme.analysis.chance import Chance
from timme.analysis.correlated import Correlated
from timme.analysis.judged import Judged
from timme.analysis.modes import Modes
from timme.analysis.motion import Moved, bodies_text, hinge_text
from timme.analysis.parts import KINDS, Apart, Constraints, Measured
from timme.analysis.protocol import Part
from timme.analysis.recipe import FREELY_JOINTED, Input, Provenance, Recipe
from timme.analysis.result import Analysis, Seen, require_analysis, summary
from timme.analysis.system import System, evenly_chosen
from timme.analysis.timed import QUANTILES, Timed

__all__ = [
    "FREELY_JOINTED",
    "KINDS",
    "QUANTILES",
    "Analysis",
    "Apart",
    "Chance",
    "Constraints",
    "Correlated",
    "Input",
    "Judged",
    "Measured",
    "Modes",
    "Moved",
    "Part",
    "Provenance",
    "Recipe",
    "Seen",
    "System",
    "Timed",
    "bodies_text",
    "evenly_chosen",
    "hinge_text",
    "require_analysis",
    "summary",
]
