"""Elements: guessed from names where a file gives none, with their masses and radii."""

from __future__ import annotations

import re

import numpy as np

from timme._arrays import Floats, Ints, Strings, frozen
from timme.system.residues import ION_ELEMENTS, NUCLEIC, PROTEIN, WATER

HYDROGENS = ("H", "D")
# Elements that form covalent bonds; metals and noble gases are held by other forces.
NON_METALS = frozenset("H D B C N O F Si P S Cl As Se Br Te I".split())
# Two-letter elements of ligands that are not mistaken for the names of carbons and nitrogens.
_TWO_LETTERS = frozenset("CL BR FE ZN MG SE SI".split())
# Beads of the Martini model by which its proteins, nucleic acids and lipids are told from atoms.
_BEADS = (frozenset({"BB"}), frozenset({"BB1", "BB2"}))
_LIPID_BEADS = frozenset({"PO4", "GL1"}), frozenset({"PO4", "AM1"})
_ONE_LETTER = frozenset("CNOSPHDFIBK")


def guess_elements(names: Strings, resnames: Strings) -> Strings:
    """Guess elements from the names of atoms and residues.

    Parameters
    ----------
    names, resnames : ndarray of str, shape (atoms,)
        Names of the atoms and of their residues.

    Returns
    -------
    ndarray of str, shape (atoms,)
        Symbols such as ``C`` and ``Ca``, "" where no guess is safe and for coarse-grained beads.

    Examples
    --------
    >>> guess_elements(np.array(["CA", "CA", "1HB"]), np.array(["GLY", "CA", "ALA"])).tolist()
    ['C', 'Ca', 'H']
    """
    pairs, inverse = _kinds(names, resnames)
    if not pairs or is_coarse_grained(names, resnames):
        return np.full(len(names), "")
    return frozen(np.array([_guess(*pair) for pair in pairs], dtype=np.str_)[inverse])


def is_coarse_grained(names: Strings, resnames: Strings) -> bool:
    """Tell beads that stand for several atoms each, by the names of the Martini model.

    Parameters
    ----------
    names, resnames : ndarray of str, shape (atoms,)
        Names of the atoms and of their residues.

    Returns
    -------
    bool
        Whether there are such beads; their names tell nothing of elements.

    Examples
    --------
    >>> is_coarse_grained(np.array(["BB", "SC1"]), np.array(["LEU", "LEU"]))
    True
    """
    residues: dict[str, set[str]] = {}
    for name, resname in _kinds(names, resnames)[0]:
        residues.setdefault(resname.upper(), set()).add(name.upper())
    return any(
        beads <= found
        for resname, found in residues.items()
        for beads in (_BEADS if resname in PROTEIN | NUCLEIC else _LIPID_BEADS)
    )


def element_masses(elements: Strings) -> Floats:
    """Look up masses.

    Parameters
    ----------
    elements : ndarray of str, shape (atoms,)
        Symbols of the elements.

    Returns
    -------
    ndarray, shape (atoms,)
        Masses in dalton, 1 where the element is unknown.
    """
    return _look_up(elements, "weight", unknown=1.0)


def covalent_radii(elements: Strings, *, metals: bool = False) -> Floats:
    """Look up covalent radii.

    Parameters
    ----------
    elements : ndarray of str, shape (atoms,)
        Symbols of the elements.
    metals : bool, optional
        Give those of metals too.

    Returns
    -------
    ndarray, shape (atoms,)
        Radii in Å, 0 for what forms no covalent bonds.
    """
    radii = _look_up(elements, "covalent_r", unknown=0.0)
    return radii if metals else np.where(np.isin(elements, tuple(NON_METALS)), radii, 0.0)


def is_element(symbol: str) -> bool:
    """Tell whether a text is the symbol of an element, spelt in its way.

    Parameters
    ----------
    symbol : str
        Text such as ``Ca``.

    Returns
    -------
    bool
        Whether there is such an element.
    """
    from gemmi import Element

    return symbol == "D" or (symbol != "X" and Element(symbol).name == symbol)


def _kinds(names: Strings, resnames: Strings) -> tuple[list[tuple[str, str]], Ints]:
    """List the distinct pairs of names, and which of them every atom has."""
    joined = np.char.add(
        np.char.add(np.asarray(names, dtype=np.str_), "\n"), np.asarray(resnames, dtype=np.str_)
    )
    distinct, inverse = np.unique(joined, return_inverse=True)
    pairs = [str(pair).split("\n") for pair in distinct]
    return [(name, resname) for name, resname in pairs], inverse


def _guess(name: str, resname: str) -> str:
    upper, residue = re.sub(r"^[0-9'\"*]+", "", name).upper(), resname.upper()
    if residue in PROTEIN or residue in NUCLEIC or residue in WATER:
        if upper.startswith("SE") and residue in {"MSE", "SEC"}:
            return "Se"
        return upper[0] if upper and upper[0] in "CNOSPHD" else ""
    ion = ION_ELEMENTS.get(residue, "")
    if ion and (upper == residue or upper[:1] == ion[0].upper()):
        return ion
    if not residue and is_element(name):
        return name
    if upper[:2] in _TWO_LETTERS:
        return upper[:2].title()
    return upper[0] if upper and upper[0] in _ONE_LETTER else ""


def _look_up(elements: Strings, attribute: str, *, unknown: float) -> Floats:
    from gemmi import Element

    distinct, inverse = np.unique(elements, return_inverse=True)
    values = [
        float(getattr(Element(str(symbol)), attribute)) if is_element(str(symbol)) else unknown
        for symbol in distinct
    ]
    return np.array(values, dtype=np.float64)[inverse] if values else np.zeros(0)
