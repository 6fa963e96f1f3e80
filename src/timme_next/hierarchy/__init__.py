"""The hierarchy of co-moving clusters: how it is grown and cut."""

from timme_next.hierarchy.partition import Partition
from timme_next.hierarchy.quantity import SIGMA, Quantity
from timme_next.hierarchy.tree import Hierarchy, grow

__all__ = ["SIGMA", "Hierarchy", "Partition", "Quantity", "grow"]
