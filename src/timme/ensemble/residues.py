"""Residues: which are protein, nucleic acid, water or ion, and which atoms stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Bools, Ints, Strings
from timme._text import counted

if TYPE_CHECKING:
    from timme.ensemble.atoms import Atoms

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
PRESETS = ("ca", "backbone", "heavy", "water-oxygen")

_PROTEIN_BACKBONE = ("N", "CA", "C", "O", "OXT")
_NUCLEIC_BACKBONE = tuple("P OP1 OP2 O1P O2P O5' C5' C4' C3' O3' O5* C5* C4* C3* O3*".split())


def residue_index(atoms: Atoms) -> Ints:
    """Return the number of the residue of each atom, counting runs of equal keys.

    A residue ends where chain, number, insertion code or name changes.
    """
    changes = np.zeros(len(atoms), dtype=np.bool_)
    for field in (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames):
        changes[1:] |= field[1:] != field[:-1]
    return np.cumsum(changes, dtype=np.int64)


def gathered_residues(atoms: Atoms) -> Ints:
    """Return the number of the residue of each atom, also where its atoms stand apart.

    Some programs write hydrogens after all other atoms, and others write chains without names, each
    with a residue 1. So a run of atoms continues an earlier residue of the same key, unless both
    have an atom of the same name. Residues without names are those of one number.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from timme.ensemble import Atoms
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
    numbers, count = list[int](), 0
    for key, names in zip(keys, np.split(atoms.names, starts[1:]), strict=True):
        here = set(names.tolist())
        number, there = known.get(key, (-1, set[str]()))
        if number < 0 or (key[-1] and here & there):
            number, there = count, set[str]()
            count += 1
        known[key] = number, here | there
        numbers.append(number)
    return np.array(numbers, dtype=np.int64)[runs]


def is_water(atoms: Atoms) -> Bools:
    """Return which atoms belong to water molecules."""
    return is_named(atoms.resnames, WATER)


def is_ion(atoms: Atoms) -> Bools:
    """Return which atoms are ions of one atom."""
    residues = residue_index(atoms)
    alone: Bools = (np.bincount(residues, minlength=1) == 1)[residues]
    return alone & is_named(atoms.resnames, frozenset(ION_ELEMENTS))


def is_protein(atoms: Atoms) -> Bools:
    """Return which atoms belong to amino acids, by the name of the residue or its backbone."""
    return is_named(atoms.resnames, PROTEIN) | _in_residues_with(atoms, "N", "CA", "C")


def is_nucleic(atoms: Atoms) -> Bools:
    """Return which atoms belong to nucleotides, by the name of the residue or its sugar."""
    sugar = _in_residues_with(atoms, "C1'", "C3'", "C4'", "O4'", "C5'")
    sugar |= _in_residues_with(atoms, "C1*", "C3*", "C4*", "O4*", "C5*")
    # Cofactors such as ATP and NAD have sugars too, and more than one phosphorus.
    sugar &= ~(_in_residues_with(atoms, "PA") | _in_residues_with(atoms, "PB"))
    return is_named(atoms.resnames, NUCLEIC) | sugar


def default_sites(atoms: Atoms) -> tuple[Ints, str]:
    """Return the sites to analyse when the user names none, and a note on what is left out.

    These are all atoms; where there is protein or nucleic acid, all but waters and ions.
    """
    everything = np.arange(len(atoms))
    waters, ions = is_water(atoms), is_ion(atoms)
    solvent = waters | ions
    if not solvent.any() or not (is_protein(atoms) | is_nucleic(atoms)).any():
        return everything, ""
    counts = (len(np.unique(residue_index(atoms)[waters])), "water"), (int(ions.sum()), "ion")
    what = " and ".join(counted(count, name) for count, name in counts if count)
    return everything[~solvent], f"left out {what}: select them to keep them"


def shown_sites(atoms: Atoms) -> Ints:
    """Return the atoms that stand for their residues in pictures, possibly none.

    Cα of amino acids; P of nucleotides, or C4' where there is no P.
    """
    nucleic = is_nucleic(atoms)
    phosphorus = nucleic & (atoms.names == "P")
    sugar = nucleic & np.isin(atoms.names, ("C4'", "C4*")) & ~_in_residues_with(atoms, "P")
    return np.flatnonzero(_is_alpha(atoms) | phosphorus | sugar)


def preset_sites(atoms: Atoms, preset: str) -> Ints:
    """Return the atoms of a preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``)."""
    if preset == "ca":
        chosen = _is_alpha(atoms)
    elif preset == "backbone":
        chosen = is_protein(atoms) & np.isin(atoms.names, _PROTEIN_BACKBONE)
        chosen |= is_nucleic(atoms) & np.isin(atoms.names, _NUCLEIC_BACKBONE)
    elif preset == "heavy":
        chosen = ~np.isin(atoms.elements, ("H", "D", ""))
    else:
        chosen = is_water(atoms) & (atoms.elements == "O")
    return np.flatnonzero(chosen)


def is_named(resnames: Strings, names: frozenset[str]) -> Bools:
    """Return which residue names belong to a set of upper-case names, whatever their case."""
    distinct, inverse = np.unique(resnames, return_inverse=True)
    members: Bools = np.array([str(name).upper() in names for name in distinct], dtype=np.bool_)
    return members[inverse]


def _is_alpha(atoms: Atoms) -> Bools:
    """Return which atoms are Cα, and not calcium."""
    named: Bools = (atoms.names == "CA") & np.isin(atoms.elements, ("C", ""))
    return named & is_protein(atoms)


def _in_residues_with(atoms: Atoms, *names: str) -> Bools:
    """Return which atoms belong to residues that have atoms of all these names."""
    residues = residue_index(atoms)
    found = np.ones(len(atoms), dtype=np.bool_)
    for name in names:
        found &= np.isin(residues, residues[atoms.names == name])
    return found
