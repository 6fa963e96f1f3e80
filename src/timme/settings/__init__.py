"""What a user can choose, described once."""

from timme.settings.display import DISPLAY, PALETTES, Display
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

__all__ = [
    "BONDS",
    "CENTRES",
    "DISPLAY",
    "OBJECTS",
    "PAIRS",
    "PALETTES",
    "READING",
    "REDUCTIONS",
    "SELECT",
    "TETHERS",
    "Display",
    "RigidSettings",
    "ServeSettings",
    "Setting",
    "Settings",
    "settings_of",
]
