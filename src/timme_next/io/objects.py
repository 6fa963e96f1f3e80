"""Objects of MDAnalysis, mdtraj, ASE and freud, known by their attributes, as draft ensembles."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from timme_next._arrays import Coordinates, Floats, Ints
from timme_next.ensemble.atoms import Atoms, element_masses, sorted_bonds
from timme_next.ensemble.ensemble import Ensemble
from timme_next.ensemble.frames import ArraySource, Frames, Source
from timme_next.io.files import cell_box, kind
from timme_next.io.topologies import atoms_of_group, box_of_step, quiet, times_of_reader
from timme_next.io.trajectories import FileSource, index_file

MDTRAJ = "mdtraj Trajectory"
_FROM_FILES = frozenset((".gsd", ".h5md", ".lammpstrj"))  # of which MDAnalysis loses something
_WITHOUT_UNIT = frozenset(("DATA", "GSD", "LAMMPSDUMP", "XYZ"))


@dataclass(frozen=True, slots=True, eq=False)
class UniverseSource:
    """Frames as a Universe shows them."""

    reader: Any
    shape: tuple[int, int, int]
    times: Floats
    shared: bool  # with the user, whose frame is put back after reading
    on_disk: ClassVar[bool] = False

    def read(
        self, numbers: Sequence[int], sites: Ints | None, *, unfold: bool = False
    ) -> tuple[Coordinates, Floats | None]:
        """Return coordinates in single precision and boxes."""
        del unfold
        before, chosen = self.reader.frame, slice(None) if sites is None else sites
        found, boxes = list[Coordinates](), np.zeros((len(numbers), 3, 3))
        with quiet():
            for row, number in enumerate(numbers):
                step = self.reader[number]
                found.append(step.positions[chosen].astype(np.float32))
                box = box_of_step(step)
                boxes[row] = 0.0 if box is None else box
            if self.shared:
                _ = self.reader[before]
        return np.array(found), boxes


def is_group(source: object) -> bool:
    """Return whether an object is a Universe or an AtomGroup of MDAnalysis."""
    universe = getattr(source, "universe", None)
    return hasattr(source, "atoms") and hasattr(universe, "trajectory")


def from_universe(universe: Any) -> Ensemble:
    """Return all atoms and frames of a Universe, from its files where MDAnalysis loses boxes."""
    trajectory, atoms = universe.trajectory, atoms_of_group(universe.atoms)
    named = getattr(trajectory, "filenames", None)
    names = [getattr(trajectory, "filename", None)] if named is None else list(named)
    paths = [Path(name) for name in names if isinstance(name, str | Path)]
    shared = bool(trajectory.transformations)
    source: Source
    if paths and not shared and all(kind(path) in _FROM_FILES for path in paths):
        source = FileSource(tuple(index_file(path, len(atoms)) for path in paths))
        unit = source.files[0].unit
    else:
        with quiet():
            reader = trajectory if shared else trajectory.copy()
            times = times_of_reader(reader)
        source = UniverseSource(reader, (len(times), len(atoms), 3), times, shared)
        readers = getattr(reader, "readers", (reader,))
        unit = "" if any(each.format in _WITHOUT_UNIT for each in readers) else "Å"
    files = [str(path) for path in (universe.filename, *paths) if path]
    sources = tuple(dict.fromkeys(files)) or ("Universe",)
    return _draft(source, atoms, unit, sources)


def is_mdtraj(source: object) -> bool:
    """Return whether an object is an mdtraj Trajectory."""
    return all(hasattr(source, name) for name in ("xyz", "topology", "unitcell_lengths"))


def from_mdtraj(source: Any) -> Ensemble:
    """Return the atoms and frames of an mdtraj Trajectory, in nm."""
    cells, boxes = (source.unitcell_lengths, source.unitcell_angles), None
    if cells[0] is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            boxes = np.array(source.unitcell_vectors, np.float64)
        for frame in np.flatnonzero(~np.isfinite(boxes).all(axis=(1, 2))).tolist():
            lengths, angles = (np.asarray(cell[frame], np.float64) for cell in cells)
            box = cell_box(lengths, angles)
            boxes[frame] = 0.0 if box is None else box
    frames = ArraySource(source.xyz, boxes, np.asarray(source.time, np.float64))
    topology = source.topology
    atoms = Atoms.unnamed(source.n_atoms) if topology is None else _atoms_of_mdtraj(topology)
    return _draft(frames, atoms, "nm", (MDTRAJ,))


def _atoms_of_mdtraj(topology: Any) -> Atoms:
    atoms = list(topology.atoms)
    symbols = [getattr(atom.element, "symbol", "") for atom in atoms]
    elements = np.array(["" if symbol == "VS" else symbol for symbol in symbols], np.str_)
    chains = [
        str(
            getattr(atom.residue.chain, "chain_id", None)
            or atom.residue.segment_id
            or chr(ord("A") + atom.residue.chain.index % 26)
        )
        for atom in atoms
    ]
    return Atoms(
        np.array([atom.name for atom in atoms], np.str_),
        elements,
        np.array([atom.residue.name for atom in atoms], np.str_),
        np.array([atom.residue.resSeq for atom in atoms], np.int64),
        np.full(len(atoms), ""),
        np.array(chains, np.str_),
        element_masses(elements),
        sorted_bonds([(one.index, other.index) for one, other in topology.bonds]),
    )


def is_ase(source: Any) -> bool:
    """Return whether an object is an Atoms of ASE or a list of them."""
    first = source[0] if isinstance(source, list | tuple) and source else source
    return all(hasattr(first, name) for name in ("get_chemical_symbols", "cell", "pbc"))


def from_ase(source: Any) -> Ensemble:
    """Return one or more Atoms of ASE as snapshots, in Å."""
    frames = list(source) if isinstance(source, list | tuple) else [source]
    symbols = list(frames[0].get_chemical_symbols())
    for number, each in enumerate(frames, start=1):
        if not symbols or list(each.get_chemical_symbols()) != symbols:
            raise ValueError(
                f"ASE Atoms: snapshot {number} has not the {len(symbols)} elements of the first in "
                "their order: give snapshots of the same atoms"
            )
    names = np.array(symbols, np.str_)
    elements = np.where(names == "X", "", names)
    atoms = replace(
        Atoms.unnamed(len(names)), names=names, elements=elements, masses=element_masses(elements)
    )
    periodic = np.array([np.broadcast_to(each.pbc, 3) for each in frames])
    boxes = np.array([np.asarray(each.cell, np.float64) for each in frames]) * periodic[:, :, None]
    positions = np.array([each.get_positions() for each in frames], np.float64)
    times = np.full(len(frames), np.nan)
    return _draft(ArraySource(positions, boxes, times), atoms, "Å", ("ASE Atoms",))


def box_of_library(box: Any) -> Any:
    """Return box vectors of boxes of freud or HOOMD, one or one for each snapshot; others as is."""
    if isinstance(box, list | tuple) and box and all(hasattr(each, "xy") for each in box):
        return np.concatenate([box_of_library(each) for each in box])
    if not all(hasattr(box, name) for name in ("Lx", "Ly", "Lz", "xy", "xz", "yz")):
        return box
    x, y, z = float(box.Lx), float(box.Ly), float(box.Lz)
    vectors = np.array([[x, 0.0, 0.0], [box.xy * y, y, 0.0], [box.xz * z, box.yz * z, z]])
    periodic = np.array(np.broadcast_to(getattr(box, "periodic", True), 3), np.bool_)
    periodic[2] &= not getattr(box, "is2D", False)
    return (vectors * periodic[:, None])[None]


def refuse_no_array(source: object) -> None:
    """Refuse objects that NumPy would take for arrays of what they happen to hold."""
    items = source if isinstance(source, list | tuple) else [source]
    for item in items:
        if hasattr(item, "ts") or hasattr(item, "trajectory"):
            remedy = "pass the Universe, with start=, stop= and step= for some of its frames"
        elif hasattr(item, "columns") or isinstance(item, Mapping):
            remedy = "make one table of them (pandas.concat, pandas.DataFrame)"
        elif (
            hasattr(item, "__array__")
            or isinstance(item, Sequence | memoryview)
            or np.isscalar(item)
        ):
            continue
        else:
            remedy = "pass a file, an array, a DataFrame, a Universe, an mdtraj Trajectory or Atoms"
        raise TypeError(f"timme.read cannot take {type(item).__name__}: {remedy}")


def _draft(source: Source, atoms: Atoms, unit: str, sources: tuple[str, ...]) -> Ensemble:
    return Ensemble(
        frames=Frames.of(source),
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit=unit,
        sources=sources,
        n_source=source.shape[0],
    )
