"""Checks of a structure: what makes its network impossible, and what makes it doubtful."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Ints
from timme.ensemble.atoms import HYDROGENS, Atoms
from timme.ensemble.residues import is_water, residue_index
from timme.rigidity.chemistry import DONATING, Chemistry, Structure

_CLASH = 2.2  # Å: nearer heavy atoms are bonded, or one of them is misplaced
_MOST_BONDS = {"H": 1, "D": 1, "C": 4, "N": 4, "O": 2}
_HEAVY_ATOMS = {
    name: int(names.split()[0])
    for names in (
        "4 GLY, 5 ALA, 6 CYS SER, 7 PRO THR VAL, 8 ASN ASP ILE LEU MET, 9 GLN GLU LYS, 10 HIS, "
        "11 ARG PHE, 12 TYR, 14 TRP"
    ).split(",")
    for name in names.split()[1:]
}


def refuse_unusable(structure: Structure, prefix: str) -> None:
    """Refuse atoms that nothing holds together, and molecules whose hydrogens are all missing."""
    atoms = structure.atoms
    if len(atoms) > 1 and not len(atoms.bonds):
        raise ValueError(
            f"{prefix}rigidity needs covalent bonds, and there are none between {len(atoms)} "
            "sites: read all atoms with their elements, not Cα only"
        )
    if lacks_hydrogens(atoms):
        raise ValueError(
            f"{prefix}hydrogen bonds need hydrogens, and there are none: add them with "
            "timme.rigidity.add_hydrogens, or read a structure that has them"
        )


def lacks_hydrogens(atoms: Atoms) -> bool:
    """Return whether there are nitrogens, oxygens or sulphurs, but no hydrogen; waters aside."""
    polar, light = (np.isin(atoms.elements, known) for known in (("N", "O", "S"), HYDROGENS))
    dry = ~is_water(atoms)
    return bool((polar & dry).any() and not (light & dry).any())


def notes(chemistry: Chemistry, metals: Ints, *, waters: bool) -> tuple[str, ...]:
    """Return what was chosen for the user and what is doubtful, in a line each."""
    atoms, water = chemistry.atoms, is_water(chemistry.atoms)
    _, first = np.unique(residue_index(atoms), return_index=True)
    found = {
        "waters make no hydrogen bonds (waters=True lets them)": first[water[first] & (not waters)],
        "bonds of metal ions count as covalent": np.unique(metals[:, 0]),
        "hydrogens are missing, and hydrogen bonds with them": np.flatnonzero(_bare(chemistry)),
        "heavy atoms are missing in residues, and hold nothing": _incomplete(chemistry, first),
        "unusual geometry (too many bonds, or atoms nearer than bonds are)": np.flatnonzero(
            _misplaced(chemistry) & ~water
        ),
    }
    return tuple(f"{text}: {_listed(atoms, of)}" for text, of in found.items() if len(of))


def _bare(chemistry: Chemistry) -> Bools:
    """Return nitrogens and hydroxyls of amino acids without hydrogen, where nothing else is bound.

    The nitrogen of proline and that after a cap have three neighbours, or none to spare.
    """
    names, degrees = chemistry.atoms.names, chemistry.degrees
    usual = np.where(np.isin(names, ("N", "NE", "NE1")), 2, 1)
    polar = np.isin(chemistry.parents, DONATING) & chemistry.is_element("N")
    polar |= (names == "N") | np.isin(names, ("OG", "OG1", "OH"))
    bare: Bools = chemistry.protein & polar & ~chemistry.has_hydrogen & (degrees == usual)
    return bare


def _incomplete(chemistry: Chemistry, first: Ints) -> Ints:
    """Return the first atom of each amino acid with fewer heavy atoms than it should have."""
    heavy = np.add.reduceat(~chemistry.hydrogens, first, dtype=np.int64)
    expected = [_HEAVY_ATOMS.get(name, 0) for name in chemistry.parents[first].tolist()]
    # Some files list hydrogens after all else, as if they were residues of their own.
    return first[(heavy > 0) & (heavy < expected)]


def _misplaced(chemistry: Chemistry) -> Bools:
    """Return atoms with more bonds than their element has, or nearer than they can be."""
    elements, degrees = chemistry.atoms.elements, chemistry.degrees
    found = np.zeros(len(elements), np.bool_)
    for element, most in _MOST_BONDS.items():
        found |= (elements == element) & (degrees > most)
    heavy = np.flatnonzero(~chemistry.hydrogens & (elements != "") & (degrees > 0))
    near = chemistry.structure.pairs(heavy, _CLASH)
    found[near[chemistry.far_apart(*near.T)]] = True
    return found


def _listed(atoms: Atoms, chosen: Ints) -> str:
    """Return a number of atoms and the first three of them."""
    labels = [atoms.label(atom) for atom in chosen[:3].tolist()]
    return f"{len(chosen):,} ({', '.join(labels)}{', …' * (len(chosen) > 3)})"
