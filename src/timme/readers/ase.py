"""Atoms of ASE, one object for each snapshot, known by their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from timme.system.atoms import Atoms
from timme.system.elements import element_masses
from timme.system.ensemble import Ensemble

ASE = "ASE Atoms"  # what such a source is called


def is_ase(source: object) -> bool:
    """Tell whether an object is an Atoms of ASE, or a list of them.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has positions, a cell, periodic directions and chemical symbols.
    """
    each = source if isinstance(source, list | tuple) else [source]
    named = ("get_positions", "get_chemical_symbols", "cell", "pbc")
    return bool(each) and all(all(hasattr(atoms, name) for name in named) for atoms in each)


def read_ase(source: Any) -> Ensemble:
    """Take snapshots from Atoms of ASE.

    Parameters
    ----------
    source : Atoms or sequence of Atoms
        A snapshot, or several of the same atoms.

    Returns
    -------
    Ensemble
        Positions in Å, and cells as boxes in the directions that are periodic.
    """
    frames: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
    symbols = list(frames[0].get_chemical_symbols())
    if not symbols:
        raise ValueError(f"{ASE}: there are no atoms: give some")
    for number, atoms in enumerate(frames, start=1):
        found = list(atoms.get_chemical_symbols())
        if found != symbols:
            raise ValueError(
                f"{ASE}: snapshot {number} has not the {len(symbols)} elements of the first in "
                "their order: give snapshots of the same atoms"
            )
    elements = np.array(["" if symbol == "X" else symbol for symbol in symbols], dtype=np.str_)
    atoms = replace(
        Atoms.unnamed(len(symbols)),
        names=np.array(symbols, dtype=np.str_),
        elements=elements,
        masses=element_masses(elements),
    )
    boxes = np.array([_box(each) for each in frames])
    made = Ensemble.from_array(
        np.array([each.get_positions() for each in frames], dtype=np.float64),
        boxes=boxes if boxes.any() else None,
        atoms=atoms,
        unit="Å",
    )
    return replace(made, sources=(ASE,))


def _box(atoms: Any) -> Any:
    periodic = np.broadcast_to(np.asarray(atoms.pbc, dtype=np.bool_), 3)
    return np.asarray(atoms.cell, dtype=np.float64).reshape(3, 3) * periodic[:, None]
