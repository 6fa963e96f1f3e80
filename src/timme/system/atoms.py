"""Atoms: names of the points of a system, and the covalent bonds between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, Strings, frozen
from timme._html import Described


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atoms(Described):
    """Names of all points of a system and the covalent bonds between them.

    An ensemble may hold a selection of these atoms only; bonds are always those of the whole.
    """

    names: Strings  # (atoms,)
    elements: Strings  # (atoms,), "" where unknown
    resnames: Strings  # (atoms,)
    resids: Ints  # (atoms,)
    icodes: Strings  # (atoms,), "" where there is none
    chains: Strings  # (atoms,)
    masses: Floats  # (atoms,), 1 where unknown
    bonds: Ints  # (bonds, 2), first < second, sorted

    def __len__(self) -> int:
        """Count the atoms."""
        return len(self.names)

    def label(self, atom: int) -> str:
        """Name one atom as people write it: ``A/GLY 35/CA``.

        Parameters
        ----------
        atom : int
            Index of the atom.

        Returns
        -------
        str
            Chain, residue and atom name; the chain is left out where it has none.
        """
        residue = f"{self.resnames[atom]} {self.resids[atom]}{self.icodes[atom]}".strip()
        return "/".join(
            part for part in (str(self.chains[atom]), residue, self.names[atom]) if part
        )

    def take(self, chosen: Ints) -> Atoms:
        """Return some of the atoms by themselves.

        Parameters
        ----------
        chosen : ndarray of int
            Indices of the atoms, each once.

        Returns
        -------
        Atoms
            In this order, with the bonds between them.
        """
        columns = ("names", "elements", "resnames", "resids", "icodes", "chains", "masses")
        place = np.full(len(self), -1)
        place[chosen] = np.arange(len(chosen))
        ends = place[self.bonds]
        bonds = np.sort(ends[(ends >= 0).all(axis=1)], axis=1)
        taken = {name: getattr(self, name)[chosen] for name in columns}
        return Atoms(**taken, bonds=bonds)

    def _facts(self) -> Iterable[tuple[str, object]]:
        first = ", ".join(self.label(atom) for atom in range(min(3, len(self))))
        return (
            ("atoms", len(self)),
            ("bonds", len(self.bonds)),
            ("names", f"{first}, …" if len(self) > 3 else first),
        )

    @classmethod
    def unnamed(cls, count: int, *, bonds: npt.ArrayLike = ()) -> Self:
        """Make atoms for points that have no names: particles, joints of a chain, cars.

        Parameters
        ----------
        count : int
            Number of points.
        bonds : array_like, shape (bonds, 2), optional
            Bonded points.

        Returns
        -------
        Atoms
            Points numbered from 1 in place of residue numbers.
        """
        blank = np.full(count, "")
        return cls(
            names=blank,
            elements=blank,
            resnames=blank,
            resids=np.arange(1, count + 1),
            icodes=blank,
            chains=blank,
            masses=np.ones(count),
            bonds=sorted_bonds(bonds),
        )


def sorted_bonds(bonds: npt.ArrayLike) -> Ints:
    """Put bonds into their one form: lower index first, sorted, none twice.

    Parameters
    ----------
    bonds : array_like, shape (bonds, 2)
        Pairs of atom indices.

    Returns
    -------
    ndarray, shape (bonds, 2)
        The same bonds.

    Examples
    --------
    >>> sorted_bonds([(2, 1), (0, 1), (1, 2)])
    array([[0, 1],
           [1, 2]])
    """
    array = np.asarray(bonds, dtype=np.int64).reshape(-1, 2)
    return frozen(np.unique(np.sort(array, axis=1), axis=0))
