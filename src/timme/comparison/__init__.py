"""Comparison of two hierarchies of the same sites, with the agreement expected by chance."""

from timme.comparison.agreement import Agreement, agree, difference, overlap
from timme.comparison.sites import common_sites

__all__ = ["Agreement", "agree", "common_sites", "difference", "overlap"]
