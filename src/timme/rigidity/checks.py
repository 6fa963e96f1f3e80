"""Checks: what makes the network of a structure impossible or doubtful."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme._arrays import Bools, Ints
from timme._errors import counted
from timme.rigidity.chemistry import without_hydrogens
from timme.rigidity.completeness import incomplete
from timme.rigidity.energies import far_apart
from timme.rigidity.structure import Structure
from timme.system.elements import HYDROGENS, covalent_radii
from timme.system.neighbours import pairs_within
from timme.system.residues import is_ion, is_protein, is_water, residue_index

EXTRA = 'pip install "pytimme[rigidity]"'

_POLAR = ("N", "O", "S")
_MOST_BONDS = {"H": 1, "D": 1, "C": 4, "N": 4, "O": 2}
_STRETCHED = 0.2  # Å beyond the sum of covalent radii
_CLASH = 2.2  # Å: nearer heavy atoms are bonded, or one of them is misplaced


def checked_cutoff(cutoff: float) -> float:
    """Check an energy up to which bonds count.

    Parameters
    ----------
    cutoff : float
        In kcal/mol; infinite ones take all bonds or none.

    Returns
    -------
    float
        The same.

    Raises
    ------
    ValueError
        If it is no number.
    """
    try:
        energy = float(cutoff)
    except (TypeError, ValueError):
        energy = math.nan
    if math.isnan(energy):
        raise ValueError(f"a cutoff is one energy in kcal/mol, such as -1.0, got {cutoff!r}")
    return energy


def refuse_without_bonds(structure: Structure, prefix: str) -> None:
    """Refuse atoms that nothing holds together.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    prefix : str
        Names of the files, for the message.

    Raises
    ------
    ValueError
        If there are several atoms and no covalent bond.
    """
    if len(structure.atoms) > 1 and not len(structure.atoms.bonds):
        raise ValueError(
            f"{prefix}rigidity needs covalent bonds, and there are none between the "
            f"{len(structure.atoms)} sites: read all atoms with their elements, not Cα only"
        )


def refuse_without_hydrogens(structure: Structure, prefix: str) -> None:
    """Refuse molecules that would have hydrogen bonds, had they hydrogens.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    prefix : str
        Names of the files, for the message.

    Raises
    ------
    ValueError
        If there are nitrogens, oxygens or sulphurs besides waters, and no hydrogens.
    """
    if lacks_hydrogens(structure):
        raise ValueError(
            f"{prefix}hydrogen bonds need hydrogens, and there are none: add them first with "
            f"timme.rigidity.hydrogens.add_hydrogens ({EXTRA}) or read a structure that has them"
        )


def lacks_hydrogens(structure: Structure) -> bool:
    """Tell whether there are atoms that would have hydrogens, but none.

    Parameters
    ----------
    structure : Structure
        One snapshot.

    Returns
    -------
    bool
        True if there are nitrogens, oxygens or sulphurs besides waters, and no hydrogens.
    """
    elements, dry = structure.atoms.elements, ~is_water(structure.atoms)
    polar, there = (np.isin(elements, known) & dry for known in (_POLAR, HYDROGENS))
    return bool(polar.any() and not there.any())


def remarks(structure: Structure, coordination: Ints, *, waters: bool) -> tuple[str, ...]:
    """Say what was chosen for the user and what is doubtful in a structure.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    coordination : ndarray, shape (bonds, 2)
        Bonds of metals, the metal first.
    waters : bool
        Whether waters make hydrogen bonds.

    Returns
    -------
    tuple of str
        One line each.
    """
    found = (
        _of_waters(structure, waters=waters),
        _of_metals(structure, coordination),
        _of_missing_hydrogens(structure),
        _of_bare_polar_atoms(structure),
        _of_missing_atoms(structure),
        _of_loose_parts(structure, coordination),
        _of_gaps(structure),
        _of_valences(structure),
        _of_stretched_links(structure),
        _of_clashes(structure),
    )
    return tuple(line for line in found if line)


def _of_waters(structure: Structure, *, waters: bool) -> str:
    water, residues = is_water(structure.atoms), residue_index(structure.atoms)
    count = len(np.unique(residues[water]))
    wet = water & np.isin(structure.atoms.elements, HYDROGENS)
    dry = count - len(np.unique(residues[wet]))
    if waters:
        without = f"there are no hydrogen bonds at {counted(dry, 'water')} without hydrogens"
        return without if dry else ""
    if not count:
        return ""
    return f"no hydrogen bonds were looked for at {counted(count, 'water')}: waters=True does so"


def _of_metals(structure: Structure, coordination: Ints) -> str:
    if not len(coordination):
        return ""
    metals = np.unique(coordination[:, 0])
    return (
        f"{counted(len(coordination), 'bond')} of {counted(len(metals), 'metal ion')} "
        f"({_listed(structure, metals)}) to their neighbours count as covalent"
    )


def _of_missing_hydrogens(structure: Structure) -> str:
    """Say which amides have no hydrogen; proline has none, and the ends of chains have several."""
    atoms = structure.atoms
    ends = np.concatenate([atoms.bonds, atoms.bonds[:, ::-1]])
    light = np.isin(atoms.elements, HYDROGENS)[ends[:, 1]]
    hydrogens, others = (np.bincount(ends[of, 0], minlength=len(atoms)) for of in (light, ~light))
    amides = is_protein(atoms) & (atoms.names == "N") & (atoms.elements == "N")
    bare = np.flatnonzero(amides & (hydrogens == 0) & (others == 2))
    if not len(bare):
        return ""
    return (
        f"there is no hydrogen at {counted(len(bare), 'amide')} ({_listed(structure, bare)}): "
        "hydrogen bonds are missing there"
    )


def _of_bare_polar_atoms(structure: Structure) -> str:
    bare = np.flatnonzero(without_hydrogens(structure) & ~is_water(structure.atoms))
    if not len(bare):
        return ""
    return (
        f"hydrogens are missing at {counted(len(bare), 'atom')} that should have some "
        f"({_listed(structure, bare)}), and so are hydrogen bonds: read a structure with all of "
        "them, or with none"
    )


def _of_missing_atoms(structure: Structure) -> str:
    short = incomplete(structure.atoms)
    if not len(short):
        return ""
    return (
        f"atoms are missing in {counted(len(short), 'residue')} "
        f"({_listed(structure, short, names=False)}): what is not there holds nothing"
    )


def _of_loose_parts(structure: Structure, coordination: Ints) -> str:
    """Say which atoms or parts of a residue no bond joins to the rest of it."""
    loose = _loose_parts(structure, coordination)
    if not len(loose):
        return ""
    return (
        f"no bond joins {counted(len(loose), 'part')} to the rest of the residue "
        f"({_listed(structure, loose)}): what is bound to nothing holds nothing, and a chain is "
        "broken there; check the places of the atoms"
    )


def _loose_parts(structure: Structure, coordination: Ints) -> Ints:
    """Find the first atom of each part of a residue but the largest; bonds of metals count."""
    atoms, residues = structure.atoms, residue_index(structure.atoms)
    bonds = np.concatenate([atoms.bonds, coordination])
    inside = bonds[residues[bonds[:, 0]] == residues[bonds[:, 1]]]
    links = sparse.coo_array((np.ones(len(inside)), inside.T), shape=(len(atoms), len(atoms)))
    _, parts = csgraph.connected_components(links, directed=False)
    _, first, sizes = np.unique(parts, return_index=True, return_counts=True)
    # Some files list hydrogens after all else, as if they were residues of their own.
    heavy = np.bincount(residues, ~np.isin(atoms.elements, HYDROGENS))
    known = (atoms.elements != "") & ~is_water(atoms) & ~is_ion(atoms) & (heavy[residues] > 0)
    order = np.lexsort((first, -sizes, residues[first]))
    lesser = np.concatenate([[False], np.diff(residues[first[order]]) == 0])
    loose: Ints = first[order][lesser & known[first[order]]]
    return np.sort(loose)


def _of_gaps(structure: Structure) -> str:
    """Say where a chain is broken: amino acids that follow one another without a bond."""
    atoms = structure.atoms
    protein = is_protein(atoms)
    carbons = np.flatnonzero(protein & (atoms.names == "C"))
    nitrogens = np.flatnonzero(protein & (atoms.names == "N"))
    bound = {tuple(pair) for pair in atoms.bonds.tolist()}
    residues = residue_index(atoms)
    after = np.searchsorted(residues[nitrogens], residues[carbons], side="right")
    pairs = [
        (int(carbon), int(nitrogens[place]))
        for carbon, place in zip(carbons, after, strict=True)
        if place < len(nitrogens) and atoms.chains[carbon] == atoms.chains[nitrogens[place]]
    ]
    ends = [carbon for carbon, nitrogen in pairs if (carbon, nitrogen) not in bound]
    if not ends:
        return ""
    places = _listed(structure, ends, names=False)
    return f"chains are broken after {places}: no bond is put across a gap"


def _of_valences(structure: Structure) -> str:
    atoms = structure.atoms
    degrees = np.bincount(atoms.bonds.ravel(), minlength=len(atoms))
    most = np.select([atoms.elements == one for one in _MOST_BONDS], list(_MOST_BONDS.values()), 99)
    # Some topologies keep waters rigid with a bond between their hydrogens.
    crowded = np.flatnonzero((degrees > most) & ~is_water(atoms))
    if not len(crowded):
        return ""
    return (
        f"there are too many covalent bonds at {counted(len(crowded), 'atom')} "
        f"({_listed(structure, crowded)}): atoms clash there; repair them or edit the list of bonds"
    )


def _of_stretched_links(structure: Structure) -> str:
    """Say which residues are joined by a bond so long that it may be a contact too near."""
    atoms, bonds = structure.atoms, structure.atoms.bonds
    residues = residue_index(atoms)
    links = bonds[residues[bonds[:, 0]] != residues[bonds[:, 1]]]
    lengths = structure.distances(links[:, 0], links[:, 1])
    usual = covalent_radii(atoms.elements)[links].sum(axis=1)
    doubtful = np.flatnonzero((lengths > usual + _STRETCHED) & (usual > 0))
    if not len(doubtful):
        return ""
    one, other = (atoms.label(int(atom)) for atom in links[doubtful[0]])
    return (
        f"{counted(len(doubtful), 'covalent bond')} between residues may be a clash, such as "
        f"{one} and {other}, {lengths[doubtful[0]]:.2f} Å apart: edit the list of bonds if so"
    )


def _of_clashes(structure: Structure) -> str:
    atoms = structure.atoms
    light = np.isin(atoms.elements, (*HYDROGENS, ""))
    heavy = np.flatnonzero(~light & ~is_water(atoms) & _bonded(structure))
    pairs = heavy[pairs_within(structure.coordinates[heavy], _CLASH, structure.boxes.select(heavy))]
    pairs = pairs[far_apart(structure, *pairs.T)] if len(pairs) else pairs
    if not len(pairs):
        return ""
    return (
        f"clash of {counted(len(pairs), 'pair')} of atoms, such as "
        f"{' and '.join(structure.atoms.label(int(atom)) for atom in pairs[0])}: "
        "atoms that repel one another make no hydrogen bond"
    )


def _bonded(structure: Structure) -> Bools:
    return np.bincount(structure.atoms.bonds.ravel(), minlength=len(structure.atoms)) > 0


def _listed(structure: Structure, atoms: Iterable[int] | Ints, *, names: bool = True) -> str:
    """Name up to three atoms or residues."""
    labels: Sequence[str] = [structure.atoms.label(int(atom)) for atom in atoms]
    if not names:
        labels = [label.rpartition("/")[0] for label in labels]
    return ", ".join(labels[:3]) + (", …" if len(labels) > 3 else "")
