"""Comparison of two hierarchies of the same sites, with the agreement expected by chance."""

from timme.comparison.agreement import Agreement, Chance, Difference, agree, difference
from timme.comparison.overlaps import Overlap, overlap
from timme.comparison.sites import Common, common_sites

__all__ = [
    "Agreement",
    "Chance",
    "Common",
    "Difference",
    "Overlap",
    "agree",
    "common_sites",
    "difference",
    "overlap",
]
