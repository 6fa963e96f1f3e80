"""Objects of other libraries (MDAnalysis, mdtraj, freud, tables), known by their attributes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from timme._arrays import Floats
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import fault_of, remark_on_cell, vectors_of_cell
from timme.system.elements import element_masses
from timme.system.placeholders import judge_box, remark_on_box, walls_of

MDTRAJ = "mdtraj Trajectory"  # what such a source is called
_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__buffer__")  # what arrays have


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
    return all(hasattr(source, name) for name in ("xyz", "topology", "unitcell_lengths"))


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


def is_reader(source: object) -> bool:
    """Tell whether an object is the reader of a trajectory of MDAnalysis, or a slice of one.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what shows one frame of several, over and over, and has no atoms.
    """
    reader = getattr(source, "trajectory", source)
    return hasattr(reader, "ts") and hasattr(reader, "n_frames")


def refuse_no_array(source: object) -> None:
    """Refuse objects that would be taken for arrays of what they happen to hold.

    Whatever has a length and items is an array to NumPy: the reader of a trajectory one of a single
    frame over and over, a list of tables one whose coordinates are frames and particles.

    Parameters
    ----------
    source : object
        Anything that is no file, and no object from which snapshots are read.

    Raises
    ------
    TypeError
        If it is no array, nor a sequence of numbers, sequences or arrays.
    """
    if not _is_array(source):
        raise TypeError(f"timme.read cannot take {type(source).__name__}: {_advise(source)}")
    if not isinstance(source, list | tuple):
        return
    for item in source:
        if is_table(item) or not (_is_array(item) or np.isscalar(item)):
            raise TypeError(
                f"timme.read cannot take a {type(source).__name__} that holds "
                f"{type(item).__name__}: {_advise_items(item)}"
            )


def _is_array(source: object) -> bool:
    """Tell whether an object is an array or a sequence, by what it says of itself."""
    has = any(hasattr(source, name) for name in _ARRAYS)
    return has or isinstance(source, Sequence | memoryview)


def _advise(source: object) -> str:
    """Say what to give in the place of an object."""
    if is_reader(source):
        return (
            "a reader of MDAnalysis knows no atoms, so pass the Universe, and start=, stop= and "
            "step= for some of its frames"
        )
    if hasattr(source, "positions") and hasattr(source, "frame"):
        return "one time step is no trajectory, so pass the Universe"
    if isinstance(source, Mapping):
        return (
            "of columns of tracked particles make a table (pandas.DataFrame), of coordinates pass "
            "the array alone"
        )
    return (
        "pass a file, an array of shape (snapshots, sites, dimensions), a DataFrame of tracked "
        "particles, a Universe, an mdtraj Trajectory or Atoms of ASE"
    )


def _advise_items(item: object) -> str:
    """Say what to give in the place of several objects."""
    if is_table(item):
        return "join the tables into one (pandas.concat), with frames of their own"
    if is_atom_group(item):
        return "pass one Universe, of a topology and a list of trajectories"
    if is_mdtraj(item):
        return "join them into one (mdtraj.join)"
    return _advise(item)


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


def boxes_of_mdtraj(source: Any, *, any_boxes: bool) -> tuple[Floats | None, str]:
    """Take the boxes of an mdtraj Trajectory, whose own vectors are NaN for cells that say little.

    Parameters
    ----------
    source : Trajectory
        Of mdtraj.
    any_boxes : bool
        Whether its boxes do not count, so that none is refused.

    Returns
    -------
    boxes : ndarray, shape (snapshots, 3, 3), or None
        Box vectors as rows, zeros where space is open.
    remark : str
        What was decided on the first of them, "" where nothing is in doubt.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cells that are judged here
        vectors = source.unitcell_vectors
    if vectors is None:
        return None, ""
    boxes = np.array(vectors, dtype=np.float64)
    cells = [
        np.asarray(cell, dtype=np.float64)
        for cell in (source.unitcell_lengths, source.unitcell_angles)
    ]
    remark = ""
    for frame in range(len(boxes)):
        lengths, angles = (cell[frame] for cell in cells)
        found = boxes[frame]
        if not np.isfinite(found).all():
            found = vectors_of_cell(lengths, angles)
        if frame == 0:
            remark = remark_on_cell(lengths, angles) or remark_on_box(found, source.xyz[0])
        walls = None if any_boxes else walls_of(None if fault_of(found) else found, "nm")
        judged = judge_box(found, "nm", walls=walls, name=f"{MDTRAJ}: frame {frame + 1}")
        boxes[frame] = 0.0 if judged is None else judged
    return boxes, "" if any_boxes else remark
