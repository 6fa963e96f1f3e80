"""Residues: which are protein, nucleic acid, water or ion, and the sites shown for each."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Ints, Strings
from timme.system.atoms import Atoms

# Amino acids, with the names that force fields give to protonation states and modified ones.
PROTEIN = frozenset(
    "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL "
    "SEC PYL MSE ASX GLX UNK ACE NME NMA NH2 FOR "
    "HID HIE HIP HSD HSE HSP HISD HISE HISH HISA HISB HIS1 HIS2 CYX CYM CYS2 CYSH CYS1 "
    "ASH ASPH GLH GLUH LYN LYSH LSN ARGN TYM QLN PGLU HYP SEP TPO PTR "
    "NALA NARG NASN NASP NCYS NCYX NGLN NGLU NGLY NHID NHIE NHIP NILE NLEU NLYS NMET NPHE NPRO "
    "NSER NTHR NTRP NTYR NVAL CALA CARG CASN CASP CCYS CCYX CGLN CGLU CGLY CHID CHIE CHIP CILE "
    "CLEU CLYS CMET CPHE CPRO CSER CTHR CTRP CTYR CVAL".split()
)
NUCLEIC = frozenset(
    "A C G U I T N DA DC DG DT DU DI ADE CYT GUA THY URA "
    "A3 A5 C3 C5 G3 G5 U3 U5 AN CN GN UN DA3 DA5 DC3 DC5 DG3 DG5 DT3 DT5 DAN DCN DGN DTN "
    "RA RC RG RU RA3 RA5 RC3 RC5 RG3 RG5 RU3 RU5 "
    "PSU 5MU 5MC 1MA 2MG 7MG M2G OMC OMG H2U YYG".split()
)
WATER = frozenset(
    "HOH H2O HH0 OHH OH2 SOL WAT DOD TIP TIP2 TIP3 TIP4 TIP5 TP3 TP4 TP5 TIP3P TIP4P T3P T4P T5P "
    "SPC SPCE OPC OPC3 SPCF SPCM WTR".split()
)
# Names of residues that are one ion each, and their elements.
ION_ELEMENTS = {
    **{name: name.title() for name in "LI NA K RB CS MG CA SR BA ZN CD HG CU NI CO FE".split()},
    **{name: name.title() for name in "MN AG AL F CL BR PB PT AU TL CR V GA IN Y".split()},
    **{name: name.title() for name in "SM EU GD TB YB LU".split()},
    "IOD": "I",
    "SOD": "Na", "NA+": "Na", "NA1": "Na", "NIO": "Na", "SODIUM": "Na",
    "POT": "K", "K+": "K", "K1": "K",
    "CLA": "Cl", "CL-": "Cl", "CIO": "Cl", "CHL": "Cl", "CHLORIDE": "Cl",
    "CAL": "Ca", "CA2": "Ca", "CA2+": "Ca", "CA+2": "Ca", "C0": "Ca",
    "MG2": "Mg", "MG2+": "Mg", "MG+2": "Mg",
    "ZN2": "Zn", "ZN2+": "Zn", "ZN+2": "Zn",
    "LIT": "Li", "LI+": "Li", "RUB": "Rb", "CES": "Cs", "CS+": "Cs", "BAR": "Ba", "CAD": "Cd",
    "FE2": "Fe", "FE3": "Fe", "CU1": "Cu", "CU2": "Cu", "MN2": "Mn", "MN3": "Mn",
    "CO2": "Co", "3CO": "Co",
}  # fmt: skip

_PROTEIN_BACKBONE = ("N", "CA", "C", "O", "OXT")
_NUCLEIC_BACKBONE = tuple("P OP1 OP2 O1P O2P O5' C5' C4' C3' O3' O5* C5* C4* C3* O3*".split())


def residue_index(atoms: Atoms) -> Ints:
    """Number the residues in the order in which they appear.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        Number of the residue of each atom; a residue ends where chain, number, insertion code or
        name changes.
    """
    if len(atoms) == 0:
        return np.zeros(0, dtype=np.int64)
    changes = np.zeros(len(atoms), dtype=np.bool_)
    for field in (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames):
        changes[1:] |= field[1:] != field[:-1]
    return np.cumsum(changes, dtype=np.int64)


def gathered_residues(atoms: Atoms) -> Ints:
    """Number the residues, also those whose atoms do not stand together.

    Some programs write the hydrogens after all other atoms, and others write several chains without
    names, of which each has a residue 1. So what has the chain, number and name of a residue before
    it belongs to it, unless it has the name of one of its atoms, too. Residues without names are
    those of one number, as the molecules of simulations of particles.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        Number of the residue of each atom, in the order of their first atoms.

    Examples
    --------
    >>> from dataclasses import replace
    >>> dimer = replace(Atoms.unnamed(4), names=np.array(["N", "C", "N", "C"]),
    ...                 resids=np.ones(4, int), resnames=np.array(["GLY", "ALA", "GLY", "ALA"]))
    >>> gathered_residues(dimer).tolist()
    [0, 1, 2, 3]
    """
    runs = residue_index(atoms)
    starts = np.unique(runs, return_index=True)[1]
    columns = (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames)
    keys = list(zip(*(column[starts].tolist() for column in columns), strict=True))
    if len(set(keys)) == len(keys):
        return runs
    known: dict[tuple[str, int, str, str], tuple[int, set[str]]] = {}
    numbers, count, stops = list[int](), 0, [*starts[1:].tolist(), len(runs)]
    for key, start, stop in zip(keys, starts.tolist(), stops, strict=True):
        here = set(atoms.names[start:stop].tolist())
        number, there = known.get(key, (-1, set[str]()))
        if number < 0 or (key[-1] and here & there):
            number, there = count, set[str]()
            count += 1
        known[key] = number, here | there
        numbers.append(number)
    return np.array(numbers, dtype=np.int64)[runs]


def is_water(atoms: Atoms) -> Bools:
    """Tell which atoms are those of waters.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        True for waters.
    """
    return is_named(atoms.resnames, WATER)


def is_ion(atoms: Atoms) -> Bools:
    """Tell which atoms are ions of one atom.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        True for monatomic ions.
    """
    residues = residue_index(atoms)
    alone = (
        np.bincount(residues, minlength=1)[residues] == 1 if len(atoms) else np.zeros(0, np.bool_)
    )
    return alone & is_named(atoms.resnames, frozenset(ION_ELEMENTS))


def is_protein(atoms: Atoms) -> Bools:
    """Tell which atoms belong to amino acids, by the name of the residue or by its backbone.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        True for protein.
    """
    return is_named(atoms.resnames, PROTEIN) | _residues_with(atoms, ("N", "CA", "C"))


def is_nucleic(atoms: Atoms) -> Bools:
    """Tell which atoms belong to nucleotides, by the name of the residue or by its sugar.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray, shape (atoms,)
        True for nucleic acids.
    """
    named = is_named(atoms.resnames, NUCLEIC)
    sugar = _residues_with(atoms, ("C1'", "C3'", "C4'", "O4'", "C5'"))
    old_sugar = _residues_with(atoms, ("C1*", "C3*", "C4*", "O4*", "C5*"))
    # Cofactors such as ATP and NAD have sugars too, and more than one phosphorus.
    return named | (
        (sugar | old_sugar) & ~_residues_with(atoms, ("PA",)) & ~_residues_with(atoms, ("PB",))
    )


def default_sites(atoms: Atoms) -> tuple[Ints, str]:
    """Choose the sites to analyse when the user names none.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    sites : ndarray of int
        All atoms; where there is protein or nucleic acid, all but waters and monatomic ions.
    note : str
        What was left out, "" if nothing.

    Examples
    --------
    >>> default_sites(Atoms.unnamed(3))
    (array([0, 1, 2]), '')
    """
    everything = np.arange(len(atoms))
    solvent = is_water(atoms) | is_ion(atoms)
    if not solvent.any() or not (is_protein(atoms) | is_nucleic(atoms)).any():
        return everything, ""
    residues = residue_index(atoms)
    waters = len(np.unique(residues[is_water(atoms)]))
    ions = int(is_ion(atoms).sum())
    counted = ((waters, "water"), (ions, "ion"))
    what = " and ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in counted if n)
    return everything[~solvent], f"left out {what}: select them to keep them"


def shown_sites(atoms: Atoms) -> Ints:
    """Choose the atoms that stand for their residues in pictures.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.

    Returns
    -------
    ndarray of int
        Cα of amino acids; P of nucleotides, or C4' where there is no P; maybe none.

    Examples
    --------
    >>> shown_sites(Atoms.unnamed(3))
    array([], dtype=int64)
    """
    alpha = is_protein(atoms) & (atoms.names == "CA") & np.isin(atoms.elements, ("C", ""))
    nucleic = is_nucleic(atoms)
    phosphorus = nucleic & (atoms.names == "P")
    sugar = nucleic & np.isin(atoms.names, ("C4'", "C4*")) & ~_residues_with(atoms, ("P",))
    return np.flatnonzero(alpha | phosphorus | sugar)


def preset_sites(atoms: Atoms, preset: str) -> Ints:
    """Choose the atoms of a preset selection.

    Parameters
    ----------
    atoms : Atoms
        Names of the atoms.
    preset : {"ca", "backbone", "heavy", "water-oxygen"}
        Which atoms.

    Returns
    -------
    ndarray of int
        Indices of the atoms, maybe none.
    """
    if preset == "ca":
        chosen = is_protein(atoms) & (atoms.names == "CA") & np.isin(atoms.elements, ("C", ""))
    elif preset == "backbone":
        chosen = is_protein(atoms) & np.isin(atoms.names, _PROTEIN_BACKBONE)
        chosen |= is_nucleic(atoms) & np.isin(atoms.names, _NUCLEIC_BACKBONE)
    elif preset == "heavy":
        chosen = ~np.isin(atoms.elements, ("H", "D", ""))
    elif preset == "water-oxygen":
        chosen = is_water(atoms) & (atoms.elements == "O")
    else:
        raise ValueError(f"a preset is one of {', '.join(PRESETS)}, got {preset!r}")
    return np.flatnonzero(chosen)


PRESETS = ("ca", "backbone", "heavy", "water-oxygen")


def is_named(resnames: Strings, names: frozenset[str]) -> Bools:
    """Tell which residue names belong to a set, in large or small letters.

    Parameters
    ----------
    resnames : ndarray of str
        Names of residues.
    names : frozenset of str
        Names in large letters.

    Returns
    -------
    ndarray of bool
        True for members.
    """
    distinct, inverse = np.unique(resnames, return_inverse=True)
    members = np.array([str(name).upper() in names for name in distinct], dtype=np.bool_)
    return members[inverse] if len(distinct) else np.zeros(0, dtype=np.bool_)


def _residues_with(atoms: Atoms, names: tuple[str, ...]) -> Bools:
    """Mark all atoms of the residues that have atoms of all these names."""
    residues = residue_index(atoms)
    complete = np.ones(int(residues[-1]) + 1 if len(residues) else 0, dtype=np.bool_)
    for name in names:
        present = np.zeros_like(complete)
        present[residues[atoms.names == name]] = True
        complete &= present
    return complete[residues]
