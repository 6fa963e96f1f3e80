"""The hierarchy of co-moving clusters, from rigid pieces to the whole, and how it is grown."""

from timme.hierarchy.clustering import cluster
from timme.hierarchy.condensed import CondensedTree, condense
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, Partition, from_forest, grow

__all__ = [
    "SIGMA",
    "CondensedTree",
    "Hierarchy",
    "Partition",
    "Quantity",
    "cluster",
    "condense",
    "from_forest",
    "grow",
    "link",
]
