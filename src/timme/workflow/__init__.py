"""Settings → Analysis → a folder of results: the one recipe."""

from timme.analysis import summary
from timme.settings import RigidSettings, Settings
from timme.workflow.folder import (
    check_folder,
    draw,
    first_looks,
    known_files,
    report,
    scene_of,
    write,
)
from timme.workflow.gathering import gather
from timme.workflow.moving import correlate, move
from timme.workflow.recipe import analyse
from timme.workflow.rigidity import rigid

__all__ = [
    "RigidSettings",
    "Settings",
    "analyse",
    "check_folder",
    "correlate",
    "draw",
    "first_looks",
    "gather",
    "known_files",
    "move",
    "report",
    "rigid",
    "scene_of",
    "summary",
    "write",
]
