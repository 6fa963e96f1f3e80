"""Rigid clusters of a structure by counting constraints, and how hydrogen bonds join them."""

from timme_next.rigidity.decomposition import Decomposition, decompose, dilute
from timme_next.rigidity.ensemble import Stability, Together, perturbed, stability, together
from timme_next.rigidity.hydrogens import add_hydrogens
from timme_next.rigidity.networks import Network, network, read_constraints, write_constraints

__all__ = [
    "Decomposition",
    "Network",
    "Stability",
    "Together",
    "add_hydrogens",
    "decompose",
    "dilute",
    "network",
    "perturbed",
    "read_constraints",
    "stability",
    "together",
    "write_constraints",
]
