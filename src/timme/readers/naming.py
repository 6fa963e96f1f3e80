"""Naming: whether the atoms that a trajectory names are in the order of its topology.

Programs spell the same atoms differently (HSD for HIS, CD for CD1, a symbol for a name), so that
other names alone mean nothing. But where the names that differ are the same on both sides, only at
other places, the atoms are in another order, and every one would be taken for another.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Ints, Strings
from timme.readers.files import BARE_TRAJECTORIES, kind
from timme.readers.pdb_frames import PDB
from timme.readers.topologies import read_topology
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS, guess_elements

# Columns of the name and of the residue number in what tells atoms of a frame apart.
_COLUMNS = {".gro": ((10, 15), (0, 5)), **dict.fromkeys(PDB, ((0, 4), (4, 8)))}
_NAMELESS = BARE_TRAJECTORIES | {".rst7", ".gsd", ".h5md"}  # unless their frames have names


class _Names(NamedTuple):
    """What the atoms of a trajectory are called."""

    names: Strings  # (atoms,)
    resids: Ints | None  # (atoms,), None where they have none


def refuse_other_order(
    names: npt.NDArray[Any] | None, atoms: Atoms, path: str, topology: str
) -> None:
    """Refuse a trajectory whose atoms are those of the topology in another order.

    Parameters
    ----------
    names : ndarray, shape (atoms,), or None
        By which atoms of its first frame are told apart; None where its reader gives none.
    atoms : Atoms
        Of the topology.
    path, topology : str
        Both files.

    Raises
    ------
    ValueError
        If residue numbers, names or elements are at other places.
    """
    found = _names_of(names, Path(path))
    if found is None or len(found.names) != len(atoms):
        return
    moved = _moved_numbers(atoms.resids, found.resids)
    if not moved.any():
        heavy = ~np.isin(atoms.elements, HYDROGENS)  # programs number hydrogens as they like
        moved = _moved(np.char.upper(atoms.names), np.char.upper(found.names), heavy)
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
