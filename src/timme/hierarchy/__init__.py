"""The hierarchy of co-moving clusters: how it is linked, cut, condensed and counted."""

from timme.hierarchy.condensed import condense
from timme.hierarchy.linking import link
from timme.hierarchy.partition import Partition
from timme.hierarchy.tree import SIGMA, Hierarchy, Quantity, grow

__all__ = ["SIGMA", "Hierarchy", "Partition", "Quantity", "condense", "grow", "link"]
