"""The hierarchy of co-moving clusters: how it is linked, cut, condensed and counted."""

from timme_next.hierarchy.condensed import condense
from timme_next.hierarchy.linking import link
from timme_next.hierarchy.partition import Partition
from timme_next.hierarchy.quantity import SIGMA, Quantity
from timme_next.hierarchy.tree import Hierarchy, grow

__all__ = ["SIGMA", "Hierarchy", "Partition", "Quantity", "condense", "grow", "link"]
