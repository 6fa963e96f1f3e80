"""Rigid clusters of a structure by counting constraints, and how hydrogen bonds join them."""

from timme.rigidity.decomposition import Decomposition, decompose, dilute
from timme.rigidity.hydrogens import add_hydrogens
from timme.rigidity.lists import read_constraints, write_constraints
from timme.rigidity.network import Network, network
from timme.rigidity.snapshots import Together, together

__all__ = [
    "Decomposition",
    "Network",
    "Together",
    "add_hydrogens",
    "decompose",
    "dilute",
    "network",
    "read_constraints",
    "together",
    "write_constraints",
]
