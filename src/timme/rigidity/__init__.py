"""Rigid clusters of a structure by counting constraints, and how hydrogen bonds join them."""

from timme.rigidity.decomposition import Decomposition, decompose, dilute
from timme.rigidity.ensemble import Stability, Together, perturbed, stability, together
from timme.rigidity.hydrogens import add_hydrogens
from timme.rigidity.networks import Network, network, read_constraints, write_constraints

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
