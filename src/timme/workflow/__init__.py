"""Settings → Analysis → a folder of results: the one recipe."""

from timme.workflow.demo import analyse_demo
from timme.workflow.folder import checked_folder, draw, summary, write
from timme.workflow.recipe import analyse
from timme.workflow.settings import Settings

__all__ = ["Settings", "analyse", "analyse_demo", "checked_folder", "draw", "summary", "write"]
