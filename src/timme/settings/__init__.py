"""What a user can choose, described once."""

from timme.settings.compare import CompareSettings
from timme.settings.demo import DEMOS
from timme.settings.display import DISPLAY, Display
from timme.settings.rigid import TETHERS, RigidSettings
from timme.settings.run import (
    BONDS,
    CENTRES,
    OBJECTS,
    PAIRS,
    READING,
    REDUCTIONS,
    SELECT,
    Settings,
)
from timme.settings.schema import Setting, settings_of
from timme.settings.serve import ServeSettings
from timme.settings.shared import PALETTES

__all__ = [
    "BONDS",
    "CENTRES",
    "DEMOS",
    "DISPLAY",
    "OBJECTS",
    "PAIRS",
    "PALETTES",
    "READING",
    "REDUCTIONS",
    "SELECT",
    "TETHERS",
    "CompareSettings",
    "Display",
    "RigidSettings",
    "ServeSettings",
    "Setting",
    "Settings",
    "settings_of",
]
