"""Figures, tables, structures and pages of a result, and the folder that holds them."""

from timme.output.folder import export, plot

__all__ = ["export", "plot"]
