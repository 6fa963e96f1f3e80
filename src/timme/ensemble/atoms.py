"""Atoms: names of the points of a system, their elements, and the bonds between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from gemmi import Element

from timme._arrays import Floats, Ints, Strings, frozen
from timme._text import Described
from timme.ensemble.residues import ION_ELEMENTS, NUCLEIC, PROTEIN, WATER

HYDROGENS = ("H", "D")

# Elements that form covalent bonds; metals and noble gases are held by other forces.
_NON_METALS = tuple("H D B C N O F Si P S Cl As Se Br Te I".split())
# Two-letter elements of ligands that are not mistaken for the names of carbons and nitrogens.
_TWO_LETTERS = frozenset("CL BR FE ZN MG SE SI".split())
_ONE_LETTER = frozenset("CNOSPHDFIBK")
# Beads of proteins and lipids in the Martini model, whose names tell no elements.
_BEADS = ({"BB", "SC1"}, {"PO4", "GL1"})
_ANGSTROM = {
    **dict.fromkeys(("", "å", "a", "ang", "angstrom", "angstroms", "ångström"), 1.0),
    **dict.fromkeys(("nm", "nanometer", "nanometre"), 10.0),
    **dict.fromkeys(("pm", "picometer", "picometre"), 0.01),
    **dict.fromkeys(("bohr", "au", "a0"), 0.529177210903),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atoms(Described):
    """Names of all points of a system and the covalent bonds between them.

    An ensemble may hold a selection of these atoms only; bonds are always those of the whole.

    Attributes
    ----------
    names, elements, resnames : ndarray of str, shape (atoms,)
        Names, elements ("" where unknown) and names of the residues.
    resids : ndarray of int, shape (atoms,)
        Residue numbers.
    icodes, chains : ndarray of str, shape (atoms,)
        Insertion codes and chains, "" where there are none.
    masses : ndarray, shape (atoms,)
        In dalton, 1 where unknown.
    bonds : ndarray of int, shape (bonds, 2)
        Pairs of atoms, lower first, sorted.

    Examples
    --------
    >>> chain = Atoms.unnamed(3, bonds=[(2, 1), (0, 1)])
    >>> chain.bonds.tolist()
    [[0, 1], [1, 2]]
    """

    names: Strings
    elements: Strings
    resnames: Strings
    resids: Ints
    icodes: Strings
    chains: Strings
    masses: Floats
    bonds: Ints

    def __len__(self) -> int:
        """Count the atoms."""
        return len(self.names)

    @classmethod
    def unnamed(cls, count: int, *, bonds: npt.ArrayLike = ()) -> Self:
        """Return atoms without names: particles, joints of a chain, tracks.

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
        blank, numbers = np.full(count, ""), np.arange(1, count + 1)
        pairs = sorted_bonds(bonds)
        return cls(blank, blank, blank, numbers, blank, blank, np.ones(count), pairs)

    def with_elements(self, elements: Strings) -> Self:
        """Return the same atoms as other elements, with their masses."""
        return replace(self, elements=elements, masses=element_masses(elements))

    def label(self, atom: int) -> str:
        """Return the usual name of one atom: ``A/GLY 35/CA``."""
        residue = f"{self.resnames[atom]} {self.resids[atom]}{self.icodes[atom]}".strip()
        parts = (str(self.chains[atom]), residue, str(self.names[atom]))
        return "/".join(part for part in parts if part)

    def take(self, index: Ints) -> Atoms:
        """Return some of the atoms in a given order, with the bonds between them."""
        columns = ("names", "elements", "resnames", "resids", "icodes", "chains", "masses")
        taken = {name: getattr(self, name)[index] for name in columns}
        return Atoms(**taken, bonds=bonds_between(self.bonds, index, len(self)))


def sorted_bonds(bonds: npt.ArrayLike) -> Ints:
    """Return bonds in their one form: lower index first, sorted, none twice."""
    array = np.asarray(bonds, dtype=np.int64).reshape(-1, 2)
    return frozen(np.unique(np.sort(array, axis=1), axis=0))


def bonds_between(bonds: Ints, index: Ints, n_atoms: int) -> Ints:
    """Return the bonds whose two atoms are both in a list, as places in this list."""
    place = np.full(n_atoms, -1)
    place[index] = np.arange(len(index))
    ends = place[bonds]
    return np.sort(ends[(ends >= 0).all(axis=1)], axis=1)


def guess_elements(names: Strings, resnames: Strings) -> Strings:
    """Return elements guessed from the names of atoms and residues.

    Parameters
    ----------
    names, resnames : ndarray of str, shape (atoms,)
        Names of the atoms and of their residues.

    Returns
    -------
    ndarray of str, shape (atoms,)
        Symbols such as ``C`` and ``Ca``, "" where no guess is safe.

    Examples
    --------
    >>> guess_elements(np.array(["CA", "CA", "1HB"]), np.array(["GLY", "CA", "ALA"])).tolist()
    ['C', 'Ca', 'H']
    """
    if any(beads <= set(names.tolist()) for beads in _BEADS):
        return np.full(len(names), "")
    pairs = list(zip(names.tolist(), resnames.tolist(), strict=True))
    guesses = {pair: _guess(*pair) for pair in set(pairs)}
    return frozen(np.array([guesses[pair] for pair in pairs], np.str_))


def is_element(symbol: str) -> bool:
    """Return whether a text is the symbol of an element, in its usual spelling."""
    return symbol == "D" or (symbol != "X" and Element(symbol).name == symbol)


def element_masses(elements: Strings) -> Floats:
    """Return masses in dalton, 1 where the element is unknown."""
    return _look_up(elements, "weight", unknown=1.0)


def covalent_radii(elements: Strings, *, metals: bool = False) -> Floats:
    """Return covalent radii in Å, 0 for what forms no covalent bonds (metals by default)."""
    radii = _look_up(elements, "covalent_r", unknown=0.0)
    return radii if metals else np.where(np.isin(elements, _NON_METALS), radii, 0.0)


def angstroms(unit: str) -> float | None:
    """Return the length of a unit in Å, None for units in which there are no covalent bonds."""
    return _ANGSTROM.get(unit.strip().lower())


def unit_label(unit: str) -> str:
    """Return a unit as it stands on axes: ``Å`` for all ways to write it, ``µm`` for ``um``.

    Examples
    --------
    >>> unit_label("angstrom"), unit_label("um"), unit_label("px")
    ('Å', 'µm', 'px')
    """
    plain = unit.strip()
    label = {"um": "µm", "μm": "µm", "micron": "µm"}.get(plain, plain)
    return "Å" if plain and angstroms(plain) == 1.0 else label


def _guess(name: str, resname: str) -> str:
    upper, residue = re.sub(r"^[0-9'\"*]+", "", name).upper(), resname.upper()
    if residue in PROTEIN | NUCLEIC | WATER:
        if upper.startswith("SE") and residue in {"MSE", "SEC"}:
            return "Se"
        return upper[0] if upper[:1] in tuple("CNOSPHD") else ""
    ion = ION_ELEMENTS.get(residue, "")
    if ion and (upper == residue or upper[:1] == ion[0].upper()):
        return ion
    if not residue and is_element(name):
        return name
    if upper[:2] in _TWO_LETTERS:
        return upper[:2].title()
    return upper[0] if upper and upper[0] in _ONE_LETTER else ""


def _look_up(elements: Strings, attribute: str, *, unknown: float) -> Floats:
    distinct, inverse = np.unique(elements, return_inverse=True)
    values = [
        float(getattr(Element(str(symbol)), attribute)) if is_element(str(symbol)) else unknown
        for symbol in distinct
    ]
    return np.array(values, dtype=np.float64)[inverse]
