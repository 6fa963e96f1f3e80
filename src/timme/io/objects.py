"""Objects of MDAnalysis, mdtraj and ASE, known by their attributes, as draft ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Floats
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.frames import ArraySource
from timme.io.files import Trajectory, kind
from timme.io.topologies import atoms_of_group, quiet, times_of_reader
from timme.io.trajectories import FileSource, index_file

MDTRAJ = "mdtraj Trajectory"
_FROM_FILES = frozenset((".gsd", ".h5md", ".lammpstrj"))  # of which MDAnalysis loses boxes
_WITHOUT_UNIT = frozenset(("DATA", "GSD", "LAMMPSDUMP", "XYZ"))


def from_object(source: Any) -> Ensemble:
    """Return what an array or an object of another library holds."""
    if is_group(source):
        return from_universe(source.universe)
    if all(hasattr(source, name) for name in ("xyz", "topology", "unitcell_vectors")):
        return from_mdtraj(source)
    first = source[0] if isinstance(source, list | tuple) and source else source
    if all(hasattr(first, name) for name in ("get_chemical_symbols", "cell", "pbc")):
        return from_ase(source if first is not source else [source])
    if isinstance(source, Ensemble):
        raise TypeError("an Ensemble is read already: slice its snapshots, or select sites of it")
    if first is not source and any(hasattr(table, "columns") for table in source):
        raise TypeError("tables are read one at a time: join them")
    return Ensemble.from_array(source)


def is_group(source: object) -> bool:
    """Return whether an object is a Universe or an AtomGroup of MDAnalysis."""
    universe = getattr(source, "universe", None)
    return hasattr(source, "atoms") and hasattr(universe, "trajectory")


def from_universe(universe: Any) -> Ensemble:
    """Return all atoms and frames of a Universe, from its files where MDAnalysis loses boxes."""
    reader, atoms = universe.trajectory, atoms_of_group(universe.atoms)
    shared, readers = bool(reader.transformations), getattr(reader, "readers", [reader])
    names = [each.filename for each in readers if isinstance(each.filename, str | Path)]
    paths = [Path(name) for name in names]
    sources = (*(str(name) for name in dict.fromkeys((universe.filename, *names)) if name),)
    if paths and not shared and all(kind(path) in _FROM_FILES for path in paths):
        files = tuple(index_file(path, len(atoms)) for path in paths)
    else:
        with quiet():
            reader = reader if shared else reader.copy()
            before, times = reader.frame, times_of_reader(reader)
            _ = reader[before]
        formats = {str(name) for each in readers for name in np.ravel(each.format)}
        unit = "" if formats & _WITHOUT_UNIT else "Å"
        files = (Trajectory(len(times), len(atoms), times, unit=unit, reader=reader),)
    return Ensemble.from_source(FileSource(files), atoms, files[0].unit, sources or ("Universe",))


def from_mdtraj(source: Any) -> Ensemble:
    """Return the atoms and frames of an mdtraj Trajectory, in nm."""
    vectors, topology = source.unitcell_vectors, source.topology
    boxes = None if vectors is None else np.array(vectors, np.float64)
    frames = ArraySource(source.xyz, boxes, np.asarray(source.time, np.float64))
    if topology is None:
        return Ensemble.from_source(frames, Atoms.unnamed(source.n_atoms), "nm", (MDTRAJ,))
    table, bonds = topology.to_dataframe()
    names = {column: table[column].to_numpy().astype(np.str_) for column in table}
    elements = np.where(names["element"] == "VS", "", names["element"])
    letters = [getattr(chain, "chain_id", None) for chain in topology.chains]
    letters = [letter or chr(65 + place % 26) for place, letter in enumerate(letters)]
    chains = np.array(letters, np.str_)[table["chainID"].to_numpy()]
    atoms = replace(
        Atoms.unnamed(len(table), bonds=bonds[:, :2]),
        names=names["name"],
        resnames=names["resName"],
        resids=table["resSeq"].to_numpy().astype(np.int64),
        chains=np.where(names["segmentID"] == "", chains, names["segmentID"]),
    )
    return Ensemble.from_source(frames, atoms.with_elements(elements), "nm", (MDTRAJ,))


def from_ase(snapshots: Sequence[Any]) -> Ensemble:
    """Return a list of Atoms of ASE as snapshots, in Å."""
    symbols = snapshots[0].get_chemical_symbols()
    if not symbols or any(each.get_chemical_symbols() != symbols for each in snapshots):
        raise ValueError("ASE Atoms: snapshots need the same atoms in one order, at least 1")
    names, times = np.array(symbols, np.str_), np.full(len(snapshots), np.nan)
    elements = np.where(names == "X", "", names)
    atoms = replace(Atoms.unnamed(len(names)), names=names).with_elements(elements)
    boxes = np.array([np.asarray(each.cell) * np.reshape(each.pbc, (3, 1)) for each in snapshots])
    positions = np.array([each.positions for each in snapshots], np.float64)
    return Ensemble.from_source(ArraySource(positions, boxes, times), atoms, "Å", ("ASE Atoms",))


def box_vectors(box: Any) -> Floats:
    """Return the vectors of a box of freud or HOOMD as rows, zeros along open directions."""
    periodic = np.broadcast_to(getattr(box, "periodic", True), 3)
    vectors: Floats = np.transpose(box.to_matrix()) * periodic[:, None]
    return vectors
