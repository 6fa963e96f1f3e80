"""Set two hierarchies side by side: where they agree, how far, and which cluster is which."""

from timme.compare.clusters import Overlap, overlap
from timme.compare.cutoffs import Comparison, compare
from timme.compare.sites import Common, common_sites

__all__ = ["Common", "Comparison", "Overlap", "common_sites", "compare", "overlap"]
