"""Topologies: names and bonds of atoms, from any file that MDAnalysis reads."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from timme._arrays import Ints
from timme.readers.files import (
    LAMMPS_DATA,
    STRUCTURES,
    checked_file,
    kind,
    library_format,
    one_line,
    read_bytes,
    refuse_packed,
)
from timme.readers.lammps_data import parser_options
from timme.readers.mmcif import complete_mmcif
from timme.readers.numbering import in_base_36, pdb_numbers, without_line_numbers
from timme.readers.several import refuse_piled_models
from timme.readers.universes import atoms_of_universe, quiet
from timme.readers.xyz import plain_xyz, xyz_ids
from timme.system.atoms import Atoms


class Topology(NamedTuple):
    """Atoms of a topology, and the numbers that it gives them."""

    atoms: Atoms
    ids: Ints | None  # (atoms,), sorted, which trajectories with ids must share; None if unknown
    serials: Ints | None  # (atoms,), numbers that may be these ids; None where there are none


def read_topology(path: Path) -> Topology:
    """Read names and bonds from any topology that MDAnalysis reads.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Topology
        All atoms of the file, in the order of their ids where it is a LAMMPS data or XYZ file.
    """
    import MDAnalysis
    from MDAnalysis.core._get_readers import get_parser_for

    cleaned = _clean(checked_file(path))
    refuse_packed(path)
    refuse_piled_models(path)
    try:
        known = get_parser_for(str(path), format=library_format(path))
    except (ValueError, TypeError):  # with a list of all that it knows
        hint = "; of what ASE reads, pass timme.read the list that ase.io.read(file, ':') gives"
        raise ValueError(_unread(path, f"nobody knows the kind {kind(path)!r}") + hint) from None
    try:
        with quiet():
            with known(cleaned) as parser:
                topology = parser.parse(**parser_options(path))
            group = MDAnalysis.Universe(topology, to_guess=()).atoms
            atoms, ids = atoms_of_universe(group), _ids(path, group)
            serials = np.asarray(group.ids, np.int64) if hasattr(group, "ids") else None
    except Exception as error:  # noqa: BLE001, parsers raise what they stumble over
        raise ValueError(_unread(path, one_line(error))) from None
    return Topology(_renumber(atoms, path), ids, serials)


def _unread(path: Path, reason: str) -> str:
    return (
        f"{path}: not a topology that can be read ({reason}): "
        "give a PDB, mmCIF, GRO, PSF, TPR, PRMTOP, LAMMPS data or similar file"
    )


def _ids(path: Path, group: Any) -> Ints | None:
    """Find the ids that trajectories of the same program give to the same atoms."""
    if kind(path) == ".xyz":
        return xyz_ids(path)
    if kind(path) not in LAMMPS_DATA:
        return None
    ids: Ints = np.asarray(group.ids, dtype=np.int64)
    return ids


def _renumber(atoms: Atoms, path: Path) -> Atoms:
    """Give residues the numbers that the parser does not understand."""
    if kind(path) not in {".pdb", ".ent"}:
        return atoms
    numbers = pdb_numbers(in_base_36(read_bytes(path)).decode("latin-1"))
    if numbers is None or len(numbers[0]) != len(atoms):
        return atoms
    return replace(atoms, resids=numbers[0], icodes=numbers[1])


def _clean(path: Path) -> Any:
    """Free files of marks, line ends, encodings and missing columns at which parsers stumble."""
    from MDAnalysis.lib.util import NamedStream

    if kind(path) == ".xyz":
        return NamedStream(io.StringIO(plain_xyz(path)), "first.xyz")
    if kind(path) not in STRUCTURES:
        return str(path)
    pdb = kind(path) in {".pdb", ".ent"}
    if pdb:
        text = in_base_36(without_line_numbers(read_bytes(path))).decode("latin-1")
    else:
        text = complete_mmcif(path)
    packed = path.suffix.lower() in {".gz", ".bz2"}
    return NamedStream(io.StringIO(text), str(path.with_suffix("") if packed else path))
