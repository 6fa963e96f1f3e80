"""Objects of other libraries (MDAnalysis, mdtraj, freud, tables), known by their attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from timme.system.atoms import Atoms, sorted_bonds
from timme.system.elements import element_masses

MDTRAJ = "mdtraj Trajectory"  # what such a source is called


def is_atom_group(source: object) -> bool:
    """Tell whether an object is an MDAnalysis Universe or AtomGroup.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has atoms of a universe with a trajectory.
    """
    return (
        hasattr(source, "universe")
        and hasattr(source, "atoms")
        and hasattr(source.universe, "trajectory")
    )


def is_mdtraj(source: object) -> bool:
    """Tell whether an object is an mdtraj Trajectory.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has coordinates, a topology and unit cells.
    """
    return all(hasattr(source, name) for name in ("xyz", "topology", "unitcell_vectors"))


def is_table(source: object) -> bool:
    """Tell whether an object is a table with named columns, such as a pandas DataFrame.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has columns.
    """
    return (
        hasattr(source, "columns") and hasattr(source, "__getitem__") and hasattr(source, "__len__")
    )


def is_lazy_table(source: object) -> bool:
    """Tell whether an object is a table that is yet to be computed, such as a polars LazyFrame.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what ``collect`` turns into a table.
    """
    return all(hasattr(type(source), name) for name in ("collect", "collect_schema", "columns"))


def box_of_library(box: Any) -> Any:
    """Turn a box of freud or HOOMD, or one for each snapshot, into box vectors.

    Parameters
    ----------
    box : object
        Box with three lengths and three tilt factors, a list of such, or anything else.

    Returns
    -------
    object
        Box vectors as rows, in a list of such for one snapshot or all, with zeros in open
        directions; anything else as it is.
    """
    if isinstance(box, list | tuple) and box and all(_is_tilted_box(each) for each in box):
        return [_vectors_of(each) for each in box]
    return [_vectors_of(box)] if _is_tilted_box(box) else box


def atoms_of_mdtraj(topology: Any) -> Atoms:
    """Take names and bonds from an mdtraj Topology.

    Parameters
    ----------
    topology : Topology
        Atoms.

    Returns
    -------
    Atoms
        The same atoms and bonds.
    """
    atoms = list(topology.atoms)
    names = np.array([atom.name for atom in atoms], dtype=np.str_)
    resnames = np.array([atom.residue.name for atom in atoms], dtype=np.str_)
    symbols = [
        getattr(atom.element, "symbol", "") if atom.element is not None else "" for atom in atoms
    ]
    # Virtual sites are an element of their own there.
    elements = np.array([symbol if symbol != "VS" else "" for symbol in symbols], dtype=np.str_)
    return Atoms(
        names=names,
        elements=elements,
        resnames=resnames,
        resids=np.array([atom.residue.resSeq for atom in atoms], dtype=np.int64),
        icodes=np.full(len(atoms), ""),
        chains=np.array([_chain_of(atom.residue) for atom in atoms], dtype=np.str_),
        masses=element_masses(elements),
        bonds=sorted_bonds([(a.index, b.index) for a, b in topology.bonds]),
    )


def _is_tilted_box(box: object) -> bool:
    return all(hasattr(box, name) for name in ("Lx", "Ly", "Lz", "xy", "xz", "yz"))


def _vectors_of(box: Any) -> list[list[float]]:
    x, y, z = float(box.Lx), float(box.Ly), float(box.Lz)
    vectors = np.array([[x, 0.0, 0.0], [box.xy * y, y, 0.0], [box.xz * z, box.yz * z, z]])
    if getattr(box, "is2D", False):
        vectors[2] = 0.0
    periodic = np.broadcast_to(np.asarray(getattr(box, "periodic", True), dtype=np.bool_), 3)
    kept: list[list[float]] = (vectors * periodic[:, None]).tolist()
    return kept


def _chain_of(residue: Any) -> str:
    name = getattr(residue.chain, "chain_id", None) or residue.segment_id
    return str(name or chr(ord("A") + residue.chain.index % 26))
