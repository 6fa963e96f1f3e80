"""Naming: whether the atoms that a trajectory names are in the order of its topology.

Programs spell the same atoms differently (HSD for HIS, CD for CD1, a symbol for a name), so that
other names alone mean nothing. But where the names that differ are the same on both sides, only at
other places, the atoms are in another order, and every one would be taken for another. Between
atoms that chemistry does not tell apart, programs choose as they like: there, the topology counts.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Ints, Strings
from timme._errors import counted
from timme.readers.files import BARE_TRAJECTORIES, kind
from timme.readers.pdb_frames import PDB
from timme.readers.topologies import read_topology
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS, guess_elements

# Columns of the name and of the residue number in what tells atoms of a frame apart.
_COLUMNS = {".gro": ((10, 15), (0, 5)), **dict.fromkeys(PDB, ((0, 4), (4, 8)))}
# Heavy atoms that are alike but for their numbers, by residue; "" stands for all residues.
_ALIKE = {
    "": ("O OXT OT OT1 OT2 OC1 OC2", "OP1 OP2", "O1P O2P"),
    "ARG": ("NH1 NH2",),
    "ASP": ("OD1 OD2",),
    "GLU": ("OE1 OE2",),
    "LEU": ("CD1 CD2",),
    "PHE": ("CD1 CD2", "CE1 CE2"),
    "TYR": ("CD1 CD2", "CE1 CE2"),
    "VAL": ("CG1 CG2",),
}
_CLASSES = {
    (resname, name): names
    for resname, classes in _ALIKE.items()
    for names in classes
    for name in names.split()
}
_NAMELESS = BARE_TRAJECTORIES | {".rst7", ".gsd", ".h5md"}  # unless their frames have names


class _Names(NamedTuple):
    """What the atoms of a trajectory are called."""

    names: Strings  # (atoms,)
    resids: Ints | None  # (atoms,), None where they have none


def judge_order(names: npt.NDArray[Any] | None, atoms: Atoms, path: str, topology: str) -> str:
    """Refuse a trajectory whose atoms are those of the topology in another order.

    Parameters
    ----------
    names : ndarray, shape (atoms,), or None
        By which atoms of its first frame are told apart; None where its reader gives none.
    atoms : Atoms
        Of the topology.
    path, topology : str
        Both files.

    Returns
    -------
    str
        A note, if atoms that are alike have the names of one another; "" otherwise.

    Raises
    ------
    ValueError
        If residue numbers, names or elements are at other places.
    """
    found = _names_of(names, Path(path))
    if found is None or len(found.names) != len(atoms):
        return ""
    moved = _moved_numbers(atoms.resids, found.resids)
    ours, theirs = np.char.upper(atoms.names), np.char.upper(found.names)
    light = np.isin(atoms.elements, HYDROGENS)
    here, there = (_classes(each, atoms.resnames, light) for each in (ours, theirs))
    for kind_of in (~light, light):
        if not moved.any():
            moved = _moved(here, there, kind_of)
    if not moved.any():
        elements = guess_elements(found.names, np.full(len(atoms), ""))
        known = (atoms.elements != "") & (elements != "")
        moved = _moved(atoms.elements, elements, known)
    if moved.any():
        place = int(np.flatnonzero(moved)[0])
        raise ValueError(
            f"{path}: its atoms are not in the order of {topology}: atom {place + 1} is "
            f"{_label(found, place)} here and {atoms.names[place]} {atoms.resids[place]} there: "
            "write it in the order of the topology, or as XTC if only its names are others"
        )
    swapped = np.flatnonzero(_moved(ours, theirs, np.ones(len(atoms), np.bool_)))
    if not len(swapped):
        return ""
    place = int(swapped[0])
    return (
        f"{path}: names of {counted(len(swapped), 'atom')} are those of others that are like them, "
        f"such as {_label(found, place)}, which is {atoms.names[place]} {atoms.resids[place]} in "
        f"{topology}: the names there count"
    )


def _classes(names: Strings, resnames: Strings, light: Bools) -> Strings:
    """Give atoms that are alike one name: the same for all hydrogens that differ by numbers."""
    pairs = zip(names.tolist(), np.char.upper(resnames).tolist(), light.tolist(), strict=True)
    found = [
        re.sub(r"[\d'*]", "", name)
        if is_light
        else _CLASSES.get((resname, name)) or _CLASSES.get(("", name), name)
        for name, resname, is_light in pairs
    ]
    return np.array(found, dtype=np.str_)


def _names_of(names: npt.NDArray[Any] | None, path: Path) -> _Names | None:
    """Split what a frame tells, or read what a library finds in the file; None without names."""
    if names is not None and names.dtype.kind == "S" and kind(path) in _COLUMNS:
        name, resid = (_field(names, *columns) for columns in _COLUMNS[kind(path)])
        numbers = np.char.isdigit(np.char.lstrip(resid, "-")).all()
        return _Names(name, resid.astype(np.int64) if numbers else None)
    if names is not None:
        return _Names(np.char.strip(names.astype(np.str_)), None)
    if kind(path) in _NAMELESS:
        return None
    try:
        atoms = read_topology(path).atoms
    except (ValueError, OSError, ImportError):  # of a format without names
        return None
    return _Names(atoms.names, atoms.resids)


def _field(names: npt.NDArray[Any], start: int, stop: int) -> Strings:
    letters = names.view(np.uint8).reshape(len(names), -1)[:, start:stop].astype(np.uint32)
    field: Strings = np.ascontiguousarray(letters).view(f"U{stop - start}")[:, 0]
    return np.char.strip(field)


def _moved_numbers(numbers: Ints, others: Ints | None) -> Bools:
    """Find residues at other places; all may be numbered from another number on."""
    nowhere = np.zeros(len(numbers), np.bool_)
    if others is None:
        return nowhere
    ours, theirs = numbers - numbers.min(), others - others.min()
    same = np.array_equal(np.sort(ours), np.sort(theirs))
    return ours != theirs if same else nowhere


def _moved(ours: Strings, theirs: Strings, counted: Bools) -> Bools:
    """Find atoms that are called differently, if most of these names are there at other places."""
    different: Bools = (ours != theirs) & counted
    here, there = Counter(ours[different].tolist()), Counter(theirs[different].tolist())
    if 2 * (here & there).total() <= different.sum():
        different[:] = False
    return different


def _label(found: _Names, place: int) -> str:
    number = "" if found.resids is None else f" {found.resids[place]}"
    return f"{found.names[place]}{number}"
