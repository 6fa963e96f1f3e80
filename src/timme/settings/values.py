"""Defaults that follow from the system: each value once, for what uses it and for what tells it."""

from typing import Final, Literal

Reduction = Literal["rms", "max", "centre"]
Centre = Literal["mass", "geometry"]

# Objects
REDUCTION: Final = "rms"
LINK_REDUCTION: Final = "max"  # for links that share a joint it is σ of the two far ends
CENTRE: Final = "geometry"
MOLECULE_CENTRE: Final = "mass"

# Pairs
RADIUS = 10.0  # Å, within which parts of molecules are in contact
MIN_BONDS = 4  # fewer hold two atoms at a distance that hardly changes
ALL_PAIRS = 20_000  # particles beyond this are compared with their nearest
NEAREST = 12  # partners of each, as many as spheres touch one
ALONG = 1  # how far along the sequence

# Pictures
MIN_SIZE = 3  # sites of the smallest cluster that has a colour
LARGE = 10  # R of the fraction in clusters of R or more, as in the paper
PALETTE = "wide"
BOND = 1.54  # Å, of a bond between carbon atoms
WATER_BOND = 0.96  # Å, between oxygen and hydrogen
