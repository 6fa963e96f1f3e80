"""Atoms of ASE, one object for each snapshot, known by their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme.readers.files import checked_file, one_line, refuse_packed
from timme.system.atoms import Atoms
from timme.system.elements import element_masses
from timme.system.ensemble import Ensemble

ASE = "ASE Atoms"  # what such a source is called


def is_ase(source: object) -> bool:
    """Tell whether an object is an Atoms of ASE, a list of them, or a trajectory.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has positions, a cell, periodic directions and chemical symbols.
    """
    if _is_atoms(source):
        return True
    if isinstance(source, list | tuple):
        return bool(source) and all(map(_is_atoms, source))
    return _is_trajectory(source)


def read_ase(source: Any) -> Ensemble:
    """Take snapshots from Atoms of ASE.

    Parameters
    ----------
    source : Atoms or iterable of Atoms
        A snapshot, or several of the same atoms, such as an open ``Trajectory``.

    Returns
    -------
    Ensemble
        Positions in Å, and cells as boxes in the directions that are periodic.
    """
    frames: Sequence[Any] = [source] if _is_atoms(source) else list(source)
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


def read_ase_files(paths: Sequence[Path]) -> Ensemble:
    """Read trajectory files of ASE, one after the other, where that is installed.

    Parameters
    ----------
    paths : sequence of Path
        The files.

    Returns
    -------
    Ensemble
        As :func:`read_ase` gives it.
    """
    found = read_ase([frame for path in paths for frame in _frames_of(checked_file(path))])
    notes = found.notes
    if len(paths) > 1:
        told = f"the snapshots of {len(paths)} files, which have no times, count as one run"
        notes = (*notes, f"{paths[0]}: {told}: replicas= says which are others")
    return replace(found, sources=tuple(str(path) for path in paths), notes=notes)


def _frames_of(path: Path) -> list[Any]:
    refuse_packed(path)
    try:
        from ase.io.trajectory import Trajectory
    except ImportError:
        raise ValueError(
            f"{path}: trajectories of ASE are read by ASE, which is not installed: pip install "
            "ase, or write it as extended XYZ, as with ase convert in.traj out.extxyz"
        ) from None
    opened: Any = Trajectory
    try:
        with opened(str(path)) as file:
            return list(file)
    except Exception as error:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError(
            f"{path}: not a trajectory of ASE that can be read ({one_line(error)}): write it again"
        ) from None


def _is_atoms(source: object) -> bool:
    named = ("get_positions", "get_chemical_symbols", "cell", "pbc")
    return all(hasattr(source, name) for name in named)


def _is_trajectory(source: Any) -> bool:
    """Tell whether an object of ASE reads one Atoms after the other from a file."""
    named = type(source).__module__.partition(".")[0] == "ase"
    return named and hasattr(source, "__len__") and len(source) > 0 and _is_atoms(source[0])


def _box(atoms: Any) -> Any:
    periodic = np.broadcast_to(np.asarray(atoms.pbc, dtype=np.bool_), 3)
    return np.asarray(atoms.cell, dtype=np.float64).reshape(3, 3) * periodic[:, None]
