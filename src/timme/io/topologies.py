"""Topologies and trajectories that MDAnalysis reads: names and bonds of atoms, and frames."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from timme._arrays import Floats, Ints, Strings
from timme._text import one_line
from timme.ensemble.atoms import Atoms, element_masses, guess_elements, is_element, sorted_bonds
from timme.ensemble.frames import Frame
from timme.io.files import STRUCTURES, Trajectory, cached, cell_box, kind, read_bytes
from timme.io.pdb import read_structure

LAMMPS_DATA = frozenset((".data", ".lmp"))
# Columns of atoms in LAMMPS data files by their style, as MDAnalysis calls those that it uses.
_STYLES = {
    "full": "id resid type charge x y z",
    **dict.fromkeys(("molecular", "angle", "bond"), "id resid type x y z"),
    **dict.fromkeys(("charge", "dipole", "spin"), "id type charge x y z"),
    "atomic": "id type x y z",
}
_TEXTS = ("names", "types", "elements", "resnames", "icodes", "chainIDs", "segids")
_AS_IT_IS = "read by MDAnalysis as it is"
_ONE_AT_A_TIME = RLock()


class Topology(NamedTuple):
    """What a topology tells."""

    atoms: Atoms
    ids: Ints | None = None  # (atoms,), ascending, which trajectories with ids must share
    molecules: Ints | None = None  # (atoms,)


def read_topology(path: Path) -> Topology:
    """Return atoms with the bonds of a file, in the order of their ids in LAMMPS data files."""
    import MDAnalysis
    from MDAnalysis.core._get_readers import get_parser_for

    if kind(path) in STRUCTURES:
        return Topology(read_structure(path).models[0].atoms)
    try:
        with quiet():
            with get_parser_for(str(path))(str(path)) as parser:
                topology = parser.parse(**_options(path))
            group = MDAnalysis.Universe(topology, to_guess=()).atoms
            atoms = atoms_of_group(group)
    except Exception as error:  # noqa: BLE001, parsers raise what they stumble over
        fault = one_line(error).partition(", nor a ")[0].replace(str(path), "it")[:120]
        fault = f"not a topology that can be read ({fault})"
        raise ValueError(f"{path}: {fault}: name a PDB, GRO, PSF, TPR or other first") from None
    if kind(path) not in LAMMPS_DATA:
        return Topology(atoms)
    several = len(np.unique(atoms.resids)) > 1
    return Topology(atoms, np.asarray(group.ids, np.int64), atoms.resids if several else None)


def atoms_of_group(group: Any) -> Atoms:
    """Return the atoms of a whole Universe, with bonds that its topology gives."""
    count, texts = len(group), {name: _texts(group, name) for name in _TEXTS}
    resnames, names, elements = texts["resnames"], texts["names"], texts["elements"]
    if not all(isinstance(name, str) for name in getattr(group, "resnames", ())):
        resnames = np.full(count, "")  # GSD files have numbers of bodies in their place
    named = (names != "").any()
    names = names if named else texts["types"]
    if named or all(map(is_element, set(names.tolist()))):
        guessed = guess_elements(names, resnames)
        elements = np.where(elements == "", guessed, np.strings.capitalize(elements))
    chains = texts["chainIDs"] if (texts["chainIDs"] != "").any() else texts["segids"]
    chains = np.where(chains == "SYSTEM", "", chains)
    masses = np.asarray(getattr(group, "masses", np.zeros(count)), np.float64)
    masses = np.where(masses > 0, masses, element_masses(elements))
    resids = np.asarray(getattr(group, "resids", np.arange(1, count + 1)), np.int64)
    bonds = getattr(group, "bonds", None)
    pairs = sorted_bonds(bonds.indices if bonds else ())
    return Atoms(names, elements, resnames, resids, texts["icodes"], chains, masses, pairs)


def _texts(group: Any, name: str) -> Strings:
    values = getattr(group, name, None)
    if values is None or len(values) != len(group):
        return np.full(len(group), "")
    return np.strings.strip(np.array([str(value) for value in values], np.str_))


def index_by_library(path: Path, n_atoms: int | None) -> Trajectory:
    """Find the frames of a file that only MDAnalysis reads."""
    with open_by_library(path, n_atoms) as reader:
        times, count = times_of_reader(reader), int(reader.n_atoms)
    unit, note = "" if kind(path) in LAMMPS_DATA else "Å", "" if len(times) == 1 else _AS_IT_IS
    return Trajectory(len(times), count, times, unit=unit, note=note)


@contextmanager
def open_by_library(path: str | Path, n_atoms: int | None) -> Iterator[Any]:
    """Open a file for MDAnalysis, whose reader is kept, as it builds its index anew."""
    with quiet():
        yield _reader(path, n_atoms)


def read_by_library(reader: Any, _: Trajectory, number: int) -> Frame:
    """Return one frame of MDAnalysis."""
    step = reader[number]
    cell = np.zeros(6) if step.dimensions is None else np.asarray(step.dimensions, np.float64)
    # MDAnalysis takes tilts of GSD files for cosines of angles: such boxes get angles of no box.
    tilted = getattr(reader, "active_reader", reader).format == "GSD" and (cell[3:] != 90).any()
    angles = np.full(3, 180.0) if tilted and cell.any() else cell[3:]
    return Frame(np.array(step.positions), cell_box(cell[:3], angles))


def times_of_reader(reader: Any) -> Floats:
    """Return the times of all frames of MDAnalysis in ps, NaN where it only counts frames."""
    first = reader[0]
    if "time" in first.data:
        return np.array([float(step.time) for step in reader])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of readers that know no time between frames
        try:
            return np.asarray(float(first.time) + float(first.dt) * np.arange(reader.n_frames))
        except UserWarning:
            first.data.pop("dt", None)
            return np.full(reader.n_frames, np.nan)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence MDAnalysis, whose readers move, so that it is asked by one thread at a time."""
    before = sys.unraisablehook
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.unraisablehook = lambda _: None  # of readers that could not open a file, when they go
        try:
            yield
        finally:
            sys.unraisablehook = before


@cached
def _reader(path: Path, n_atoms: int | None) -> Any:
    from MDAnalysis.coordinates.core import get_reader_for

    try:
        reader = get_reader_for(str(path))
    except ValueError:
        raise ValueError("it holds no coordinates: name a trajectory after a topology") from None
    try:
        return reader(str(path), n_atoms=n_atoms, **_options(path))
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001, readers raise what they stumble over
        fault = one_line(error)
    raise ValueError(fault)  # here, so that the reader that failed is gone while all is quiet


def _options(path: Path) -> dict[str, str]:
    """Return the columns of atoms of a LAMMPS data file for MDAnalysis, which guesses wrongly.

    Where the file names no style, they follow from their number, with 3 image flags or without.
    """
    if kind(path) not in LAMMPS_DATA:
        return {}
    lines = iter(read_bytes(path).decode("latin-1").splitlines())
    title = next((line for line in lines if line.split()[:1] == ["Atoms"]), "")
    row = next(filter(None, (line.partition("#")[0].split() for line in lines)), [])
    n_columns = len(row) - 3 if len(row) > 7 else len(row)
    usual = {5: "atomic", 6: "charge" if "." in row[2] else "", 7: "full"}.get(n_columns, "")
    style = title.partition("#")[2].strip().partition(" ")[0]
    columns = _STYLES.get(style if style in _STYLES else usual, "")
    if not columns or len(row) < len(columns.split()):
        raise ValueError("the columns of atoms are unknown: name their style, as 'Atoms # charge'")
    return {"atom_style": columns}
