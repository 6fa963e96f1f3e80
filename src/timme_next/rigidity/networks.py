"""The constraint network of one structure: atoms as bodies, bars for what holds them together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from timme_next._arrays import Bools, Floats, Ints, Strings
from timme_next._text import Described


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Described):
    """Bodies and the bars between them, on which a pebble game is played.

    Attributes
    ----------
    n_bodies : int
        Number of bodies.
    bonds : ndarray of int, shape (bonds, 2)
        Pairs of bodies in any order; two bodies may be bonded more than once.
    bars : ndarray of int, shape (bonds,)
        Bars of each bond, 1 to 6.
    kinds : ndarray of str, shape (bonds,)
        What each bond is.
    energies : ndarray, shape (bonds,)
        In kcal/mol; NaN for bonds that are always there.
    notes : tuple of str, optional
        What was chosen, and what is doubtful in the structure.

    Examples
    --------
    >>> pair = Network(2, np.array([[0, 1]]), np.array([5]), np.array(["covalent"]), np.array([-1]))
    >>> pair.of_kind("tether")
    array([False])
    """

    n_bodies: int
    bonds: Ints
    bars: Ints
    kinds: Strings
    energies: Floats
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no pebble game can be played on."""
        count = len(self.bonds)
        if self.bonds.shape != (count, 2) or any(
            len(column) != count for column in (self.bars, self.kinds, self.energies)
        ):
            raise ValueError(
                f"a network needs two bodies, bars, a kind and an energy for each of {count} bonds"
            )
        if count and not (self.bonds.min() >= 0 and self.bonds.max() < self.n_bodies):
            raise ValueError(
                f"bonds join bodies from 0 to {self.n_bodies - 1}, "
                f"got {self.bonds.min()} to {self.bonds.max()}"
            )
        if (self.bonds[:, 0] == self.bonds[:, 1]).any():
            raise ValueError("a bond joins two bodies, got one from a body to itself")
        if count and not (self.bars.min() >= 1 and self.bars.max() <= 6):
            raise ValueError(f"a bond has 1 to 6 bars, got {self.bars.min()} to {self.bars.max()}")

    def of_kind(self, *kinds: str) -> Bools:
        """Return which bonds (bonds,) are of some kinds, such as ``"tether"``."""
        return np.isin(self.kinds, kinds)


def checked_energy(cutoff: float) -> float:
    """Return an energy up to which bonds count, in kcal/mol; infinite ones take all or none."""
    try:
        energy = float(cutoff)
    except (TypeError, ValueError):
        energy = math.nan
    if math.isnan(energy):
        raise ValueError(f"a cutoff is one energy in kcal/mol, such as -1.0, got {cutoff!r}")
    return energy
