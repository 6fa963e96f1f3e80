"""Residues: which are protein, nucleic acid, water or ion; and atoms that a selection names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Bools, Coordinates, Ints, Strings
from timme._text import counted, one_line

if TYPE_CHECKING:
    from timme.ensemble.atoms import Atoms

# Amino acids, with the names that force fields give to protonation states and modified ones, and
# to those at the ends of chains.
_AT_ENDS = (
    "ALA ARG ASN ASP CYS CYX GLN GLU GLY HID HIE HIP ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL"
)
PROTEIN = frozenset(
    "HIS SEC PYL MSE ASX GLX UNK ACE NME NMA NH2 FOR "
    "HSD HSE HSP HISD HISE HISH HISA HISB HIS1 HIS2 CYM CYS2 CYSH CYS1 "
    "ASH ASPH GLH GLUH LYN LYSH LSN ARGN TYM QLN PGLU HYP SEP TPO PTR".split()
).union(end + name for end in ("", "N", "C") for name in _AT_ENDS.split())
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
_IONS = (
    "Li Na K Rb Cs Mg Ca Sr Ba Zn Cd Hg Cu Ni Co Fe Mn Ag Al F Cl Br Pb Pt Au Tl Cr V Ga In Y Sm "
    "Eu Gd Tb Yb Lu"
)
_OTHER_IONS = {
    "Na": "SOD NA+ NA1 NIO SODIUM", "K": "POT K+ K1", "Cl": "CLA CL- CIO CHL CHLORIDE", "I": "IOD",
    "Ca": "CAL CA2 CA2+ CA+2 C0", "Mg": "MG2 MG2+ MG+2", "Zn": "ZN2 ZN2+ ZN+2", "Li": "LIT LI+",
    "Rb": "RUB", "Cs": "CES CS+", "Ba": "BAR", "Cd": "CAD", "Fe": "FE2 FE3", "Cu": "CU1 CU2",
    "Mn": "MN2 MN3", "Co": "CO2 3CO",
}  # fmt: skip
ION_ELEMENTS = {symbol.upper(): symbol for symbol in _IONS.split()}
ION_ELEMENTS |= {name: symbol for symbol, names in _OTHER_IONS.items() for name in names.split()}
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


def selector(atoms: Atoms, coordinates: Coordinates | None) -> Callable[[str], Ints]:
    """Return a function that takes a selection and returns the atoms that it names, at least one.

    Parameters
    ----------
    atoms : Atoms
        Names and bonds.
    coordinates : ndarray, shape (atoms, dimensions), or None
        Positions in the first snapshot, for selections by distance.

    Returns
    -------
    callable
        Takes a preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``) or a selection in the
        MDAnalysis language; returns the indices of the chosen atoms.

    Examples
    --------
    >>> from timme.ensemble import Atoms
    >>> selector(Atoms.unnamed(4), None)("resid 2:3")
    array([1, 2])
    """
    universe = cache(lambda: _universe(atoms, coordinates))  # made once, if it is needed

    def select(text: str) -> Ints:
        if text.strip().lower() in PRESETS:
            found = preset_sites(atoms, text.strip().lower())
        else:
            found = _by_language(universe, text)
        if len(found) == 0:
            fault = f"the selection {text!r} matches none of the {len(atoms)} atoms"
            raise ValueError(f"{fault}: check names against the file ({_names_of(atoms)})")
        return found

    return select


def is_named(resnames: Strings, names: frozenset[str]) -> Bools:
    """Return which residue names belong to a set of upper-case names, whatever their case."""
    starts = np.append(True, resnames[1:] != resnames[:-1])[: len(resnames)]  # runs: no sorting
    members = np.array([name.upper() in names for name in resnames[starts].tolist()], np.bool_)
    return np.asarray(members[np.cumsum(starts) - 1])


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


def _by_language(universe: Callable[[], Any], text: str) -> Ints:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(universe().select_atoms(text).ix, dtype=np.int64)
    except Exception as error:  # noqa: BLE001, the language raises what it stumbles over
        fault = f"the selection {text!r} is not understood ({one_line(error)[:200]})"
        way = f"'protein and name CA', or one of {', '.join(PRESETS)}"
        raise ValueError(f"{fault}: use the MDAnalysis language, such as {way}") from None


def _universe(atoms: Atoms, coordinates: Coordinates | None) -> Any:
    import MDAnalysis

    if coordinates is not None and coordinates.shape[1] > 3:
        coordinates = None  # MDAnalysis knows no distances in more dimensions
    residues = residue_index(atoms)
    _, first = np.unique(residues, return_index=True)
    # What some programs call chain is a segment in others; selections take both words.
    segments, segment = np.unique(atoms.chains[first], return_inverse=True)
    universe = MDAnalysis.Universe.empty(
        len(atoms),
        n_residues=len(first),
        n_segments=len(segments),
        atom_resindex=residues,
        residue_segindex=segment,
        trajectory=coordinates is not None,
    )
    attributes = {name: getattr(atoms, name) for name in ("names", "elements", "masses")}
    attributes |= {name: getattr(atoms, name)[first] for name in ("resnames", "resids", "icodes")}
    attributes |= {"types": atoms.elements, "chainIDs": atoms.chains, "segids": segments}
    attributes |= {"resnums": attributes["resids"]}
    for name, values in attributes.items():
        is_text = values.dtype.kind == "U"
        universe.add_TopologyAttr(name, values.astype(object) if is_text else values)
    universe.add_TopologyAttr("bonds", [tuple(bond) for bond in atoms.bonds.tolist()])
    if coordinates is not None:
        # Points in a plane are at z = 0.
        universe.atoms.positions = np.pad(coordinates, ((0, 0), (0, 3 - coordinates.shape[1])))
    return universe


def _names_of(atoms: Atoms) -> str:
    """Return some of the names that there are, for the message."""
    columns = {"atoms": atoms.names, "residues": atoms.resnames, "chains": atoms.chains}
    distinct = {title: np.unique(values[values != ""])[:6] for title, values in columns.items()}
    some = [f"{title} {', '.join(values)}" for title, values in distinct.items() if len(values)]
    return "; ".join(some) or "it gives no names"
