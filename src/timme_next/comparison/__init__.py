"""Comparison of two hierarchies of the same sites, with the agreement expected by chance."""

from timme_next.comparison.agreement import Agreement, Chance, agree
from timme_next.comparison.differences import Difference, difference
from timme_next.comparison.overlaps import Overlap, overlap
from timme_next.comparison.sites import Common, common_sites

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
