"""Completeness: which residues lack heavy atoms that they should have, by the names of these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timme._arrays import Ints
from timme.rigidity.chemistry import parent_residue
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS
from timme.system.residues import NUCLEIC, is_protein, residue_index

_BACKBONE = frozenset("N CA C O".split())
_SIDE_CHAINS = {
    "GLY": "",
    "ALA": "CB",
    "CYS": "CB SG",
    "SER": "CB OG",
    "PRO": "CB CG CD",
    "THR": "CB OG1 CG2",
    "VAL": "CB CG1 CG2",
    "ASN": "CB CG OD1 ND2",
    "ASP": "CB CG OD1 OD2",
    "ILE": "CB CG1 CG2 CD1",
    "LEU": "CB CG CD1 CD2",
    "MET": "CB CG SD CE",
    "GLN": "CB CG CD OE1 NE2",
    "GLU": "CB CG CD OE1 OE2",
    "LYS": "CB CG CD CE NZ",
    "HIS": "CB CG ND1 CD2 CE1 NE2",
    "ARG": "CB CG CD NE CZ NH1 NH2",
    "PHE": "CB CG CD1 CD2 CE1 CE2 CZ",
    "TYR": "CB CG CD1 CD2 CE1 CE2 CZ OH",
    "TRP": "CB CG CD1 CD2 NE1 CE2 CE3 CZ2 CZ3 CH2",
    # modified ones
    "MSE": "CB CG SE CE",
    "SEC": "CB SE",
    "PCA": "CB CG CD OE",
    "HYP": "CB CG CD OD1",
    "SEP": "CB OG P O1P O2P O3P",
    "TPO": "CB OG1 CG2 P O1P O2P O3P",
    "PTR": "CB CG CD1 CD2 CE1 CE2 CZ OH P O1P O2P O3P",
    "CSO": "CB SG OD",
    "OCS": "CB SG OD1 OD2 OD3",
    "KCX": "CB CG CD CE NZ CX OQ1 OQ2",
    "MLY": "CB CG CD CE NZ CH1 CH2",
    "M3L": "CB CG CD CE NZ CM1 CM2 CM3",
}
_AMBIGUOUS = frozenset("ASX GLX".split())  # their atoms have no names of their own
_CAPS = frozenset("ACE NME NMA NH2 FOR".split())  # which have no backbone
_CARBONYLS = frozenset("OT1 OT O1 O'".split())  # the O of the end of a chain, by force fields

_SUGAR = frozenset("O5' C5' C4' O4' C3' O3' C2' C1'".split())
_PHOSPHATE = frozenset("P OP1 OP2".split())
_PURINE, _PYRIMIDINE = "N9 C8 N7 C5 C6 N1 C2 N3 C4", "N1 C2 O2 N3 C4 C5 C6"
_LETTERS = {
    "A": f"{_PURINE} N6",
    "G": f"{_PURINE} O6 N2",
    "I": f"{_PURINE} O6",
    "C": f"{_PYRIMIDINE} N4",
    "U": f"{_PYRIMIDINE} O4",
    "T": f"{_PYRIMIDINE} O4 C7",
}
_BASES = {
    **{
        f"{sugar}{letter}{end}": atoms
        for letter, atoms in _LETTERS.items()
        for sugar in ("", "D", "R")
        for end in ("", "3", "5", "N")
    },
    **{f"{name}": _LETTERS[name[0]] for name in "ADE GUA CYT URA THY".split()},
    "PSU": _LETTERS["U"],
    "H2U": _LETTERS["U"],
    "5MU": _LETTERS["T"],
    "5MC": f"{_LETTERS['C']} CM5",
    "OMC": f"{_LETTERS['C']} CM2",
    "1MA": f"{_LETTERS['A']} CM1",
    "2MG": f"{_LETTERS['G']} CM2",
    "M2G": f"{_LETTERS['G']} CM1 CM2",
    "7MG": f"{_LETTERS['G']} CM7",
    "OMG": f"{_LETTERS['G']} CM2",
}
_SAME_AS = {"O1P": "OP1", "O2P": "OP2", "C5M": "C7"}  # older names in nucleotides


def incomplete(atoms: Atoms) -> Ints:
    """Find residues that lack heavy atoms.

    Amino acids and nucleotides are known by the name of the residue, common modified ones too; of
    other amino acids the backbone is looked for. The oxygen that ends a chain stands for no other
    atom, and the first nucleotide of a strand needs no phosphate.

    Parameters
    ----------
    atoms : Atoms
        Names and elements.

    Returns
    -------
    ndarray of int
        The first atom of each such residue.
    """
    if not len(atoms):
        return np.empty(0, np.int64)
    starts = np.unique(residue_index(atoms), return_index=True)[1]
    heavy = ~np.isin(atoms.elements, HYDROGENS)
    proteins = is_protein(atoms)
    ribose = set(atoms.chains[np.isin(atoms.names, ("O2'", "O2*"))].tolist())
    found = list[int]()
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(atoms)], strict=True):
        there = atoms.names[start:stop][heavy[start:stop]].tolist()
        resname = str(atoms.resnames[start]).upper()
        if not there:  # some files list hydrogens after all else, as if they were residues
            continue
        if resname in _BASES and resname in NUCLEIC:
            follows = _follows(atoms, start)
            missing = _of_nucleotide(resname, there, follows=follows)
            if str(atoms.chains[start]) in ribose:
                missing |= _of_ribose(resname, there)
        elif proteins[start] and resname not in _CAPS:
            missing = _of_amino_acid(resname, there)
        else:
            continue
        if missing:
            found.append(start)
    return np.array(found, dtype=np.int64)


def _of_amino_acid(resname: str, there: Sequence[str]) -> frozenset[str]:
    parent = parent_residue(resname)
    names = {"O" if name in _CARBONYLS else name for name in there}
    if parent == "ILE" and "CD" in names:  # as many force fields call it
        names.add("CD1")
    side_chain = "" if resname in _AMBIGUOUS else _SIDE_CHAINS.get(parent, "")
    return (_BACKBONE | set(side_chain.split())) - names


def _of_nucleotide(resname: str, there: Sequence[str], *, follows: bool) -> frozenset[str]:
    names = {_SAME_AS.get(name, name).replace("*", "'") for name in there}
    wanted = _SUGAR | set(_BASES[resname].split())
    return (wanted | _PHOSPHATE if follows or names & _PHOSPHATE else wanted) - names


def _of_ribose(resname: str, there: Sequence[str]) -> frozenset[str]:
    """Tell whether a ribose lacks its oxygen, in chains in which others have it."""
    deoxy = resname.startswith(("D", "T")) or {"O2'", "O2*"} & set(there)
    return frozenset() if deoxy else frozenset({"O2'"})


def _follows(atoms: Atoms, start: int) -> bool:
    """Tell whether the residue that starts here comes after another nucleotide of its chain."""
    return (
        start > 0
        and bool(atoms.chains[start - 1] == atoms.chains[start])
        and int(atoms.resids[start] - atoms.resids[start - 1]) == 1
        and str(atoms.resnames[start - 1]).upper() in NUCLEIC
    )
