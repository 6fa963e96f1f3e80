"""Figures, tables, structures and pages of a result, and the folder that holds them."""
