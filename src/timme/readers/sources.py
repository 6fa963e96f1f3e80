"""Sources: what kind of thing was given, opened with all its snapshots and atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.readers.ase import ASE, is_ase, read_ase, read_ase_files
from timme.readers.dlpoly import DLPOLY
from timme.readers.download import fetch
from timme.readers.dumps import DUMPS, dump_atoms
from timme.readers.files import (
    BARE_TRAJECTORIES,
    LAMMPS_DATA,
    STRUCTURES,
    TABLES,
    checked_file,
    kind,
    one_line,
)
from timme.readers.libraries import MDTRAJ, is_mdtraj
from timme.readers.repeats import find_parts, find_repeats, refuse_twice
from timme.readers.replicas import Joint, begins_of, find_joints
from timme.readers.snapshots import Choice, Choose, Clock, Course
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames
from timme.system.held_frames import ArrayFrames, StoredFrames, with_stamps
from timme.system.holes import Resting, may_lie_there
from timme.system.placeholders import (
    can_be_box,
    is_outgrown,
    refuse_other_spaces,
)

if TYPE_CHECKING:
    from timme.readers.trajectory_files import TrajectoryFile

# HDF5 may lead to other files, so that not everybody who takes the others takes it.
_BARE = BARE_TRAJECTORIES | {".h5md", ".rst7"}
# Formats of which a list is one trajectory, and no structures.
_ROWS = _BARE | DLPOLY | {".gsd", ".xyz", ".traj"}

_USES = {  # of options that are not for every kind of source
    "columns": "tables of tracks",
    "common_atoms": "models in structure files",
    "allow_truncated": "trajectory files",
}


class Opened(NamedTuple):
    """A source that was opened."""

    ensemble: Ensemble  # the snapshots that are read; bonds are those that the source gives
    n_snapshots: int  # all that there are
    choice: Choice  # of these
    joints: tuple[Joint, ...] = ()  # where one trajectory file follows another
    in_cells: bool = False  # whether molecules are made whole in its boxes, and no more
    outgrown: bool = False  # whether its box is one by default, which does not hold particles


@dataclass(frozen=True, slots=True)
class Options:
    """How files are read."""

    columns: str | Sequence[str | int] | None
    common_atoms: bool
    allow_truncated: bool
    any_boxes: bool = False  # whether some snapshots may have a box and others none
    as_shown: bool = False  # whether frames are those of a Universe, whatever its files tell


def open_source(
    source: Any, trajectories: list[str | Path], options: Options, choose: Choose
) -> Opened:
    """Open a source, with all its atoms.

    Parameters
    ----------
    source : path, list of paths, array, or object of another library
        What `timme.read` was given.
    trajectories : list of paths
        Trajectories of the atoms of a topology.
    options : Options
        How files are read.
    choose : callable
        Called with all snapshots; returns which of them to read. Of structure files, no others are
        matched.

    Returns
    -------
    Opened
        The ensemble, and what else is known of it.
    """
    found = _locate(source) if isinstance(source, str | Path) else source
    paths = _structure_files(found, trajectories)
    in_a_row = bool(paths) and {kind(path) for path in paths} <= _ROWS
    if paths and not in_a_row:
        return _from_structures(paths, options, choose)
    ensemble = _from_row(paths, options) if in_a_row else _from_others(found, trajectories, options)
    count, name = ensemble.n_snapshots, ensemble.sources[0] if ensemble.sources else "array"
    stamps = ensemble.frames.stamps()
    parts = find_parts(ensemble.frames, stamps)
    doubled, continued, notes = find_repeats(ensemble.frames, stamps, parts)
    joints = find_joints(ensemble.frames, parts, continued)
    clock = _clock(found, ensemble.frames)
    choice = choose(Course(count, name, clock, doubled, begins_of(joints)))
    if ensemble.frames.in_memory and not ensemble.gaps:
        _refuse_holes(ensemble, choice.read, name)
    if isinstance(ensemble.frames, ArrayFrames) and ensemble.frames.boxes is not None:
        boxes = ensemble.frames.boxes
        if options.any_boxes:
            boxes = _without_placeholders(boxes, ensemble.unit)
            ensemble = replace(ensemble, frames=ensemble.frames.with_boxes(boxes))
        else:
            numbers = choice.read
            refuse_other_spaces(boxes[numbers], ensemble.unit, numbers=numbers, name=name)
    notes = (*ensemble.notes, *notes)
    outgrown = _has_outgrown_box(ensemble.frames)
    ensemble = replace(ensemble, frames=ensemble.frames.keep(choice.read), notes=notes)
    return Opened(ensemble, count, choice, joints, outgrown=outgrown)


def _has_outgrown_box(frames: Frames) -> bool:
    """Judge by the first frame of all: what is not put back into a box may be far away later."""
    if frames.unfold() is not None:
        return False
    try:
        points, boxes = frames.read(0, 1)
    except ValueError:  # which is told if that frame is kept
        return False
    return boxes is not None and is_outgrown(boxes[0], points[0])


def _clock(source: Any, frames: Frames) -> Clock:
    """Find where the times of snapshots stand; those of mdtraj are in ps, too."""
    return source.time.__getitem__ if is_mdtraj(source) else frames.time


def _refuse_holes(ensemble: Ensemble, chosen: Sequence[int], name: str) -> None:
    """Refuse snapshots in memory that were never filled, of those that are read."""
    resting, frames = _resting(ensemble), ensemble.frames.keep(chosen)
    for start in range(0, len(chosen), ensemble.block_length):
        places = frames.read(start, min(start + ensemble.block_length, len(chosen)))[0]
        for row in np.flatnonzero((places[..., 0] == 0).any(axis=1)).tolist():
            resting.refuse_holes(places[row], chosen[start + row], source=name)


def _without_placeholders(boxes: Floats, unit: str) -> Floats:
    """Open snapshots through whose box no molecule can be made whole."""
    true = np.array([can_be_box(box, unit) for box in boxes])
    return frozen(boxes * true[:, None, None])


def _resting(ensemble: Ensemble) -> Resting:
    """Judge by the first, the middle and the last snapshot of an array what rests at the origin."""
    last = ensemble.n_snapshots - 1
    probes = [ensemble.frames.read(k, k + 1)[0][0] for k in sorted({0, last // 2, last})]
    points = not (ensemble.atoms.elements != "").any()
    return Resting.of(map(may_lie_there, probes), points=points)


def _structure_files(source: Any, trajectories: list[str | Path]) -> list[Path]:
    """List files that are matched atom by atom, none for other sources."""
    if isinstance(source, Path):
        paths = [source, *(Path(path) for path in trajectories)]
        return paths if all(kind(path) in STRUCTURES for path in paths) else []
    if trajectories or not isinstance(source, list | tuple):
        return []
    if not all(isinstance(item, str | Path) for item in source):
        return []
    return [_locate(item) for item in source]


def _from_others(source: Any, trajectories: list[str | Path], options: Options) -> Ensemble:
    from timme.readers import libraries

    if isinstance(source, Path):
        return _from_path(source, [Path(path) for path in trajectories], options)
    if trajectories:
        raise ValueError(
            f"trajectories need a topology file, got {type(source).__name__}: "
            "name a PDB, GRO, PSF or similar file"
        )
    # Such as ase.io.iread gives each snapshot once; a reader is refused where it stands.
    if isinstance(source, Iterator) and not libraries.is_reader(source):
        source = list(source)
    if libraries.is_atom_group(source):
        from timme.readers.universe_files import read_universe

        _refuse_unused(options, "Universe")
        return read_universe(
            source.universe, any_boxes=options.any_boxes, as_shown=options.as_shown
        )
    if is_mdtraj(source):
        _refuse_unused(options, MDTRAJ)
        return _from_mdtraj(source, any_boxes=options.any_boxes)
    if is_ase(source):
        _refuse_unused(options, ASE)
        return read_ase(source)
    if libraries.is_lazy_table(source):
        source = source.collect()
    if libraries.is_table(source):
        from timme.readers.tables import tracks_from_frame

        _refuse_unused(options, "DataFrame", "columns")
        return _from_tracks(tracks_from_frame(source, options.columns), "DataFrame")
    libraries.refuse_no_array(source)
    _refuse_unused(options, "array")
    return Ensemble.from_array(source)


def atom_group(source: Any) -> Ints | None:
    """Tell which atoms of its universe an AtomGroup holds.

    Parameters
    ----------
    source : object
        What `timme.read` was given.

    Returns
    -------
    ndarray of int or None
        Indices of the atoms, None for other sources.
    """
    from timme.readers.libraries import is_atom_group

    return np.asarray(source.atoms.ix, dtype=np.int64) if is_atom_group(source) else None


def _refuse_unused(options: Options, source: str, *used: str) -> None:
    """Refuse options that were given and have no effect on a kind of source."""
    for name, use in _USES.items():
        if getattr(options, name) and name not in used:
            raise ValueError(f"{source}: {name}= is for {use}, which this is not: leave it out")


def _locate(source: str | Path) -> Path:
    if isinstance(source, str) and source.lower().startswith("pdb:"):
        return fetch(source[4:])
    return checked_file(source)


def _from_path(path: Path, trajectories: list[Path], options: Options) -> Ensemble:
    suffix = kind(path)
    if suffix == ".traj" or (trajectories and suffix in _BARE):
        return _from_row([path, *trajectories], options)
    if suffix in TABLES and any(kind(each) in TABLES for each in trajectories):
        raise ValueError(
            f"{path}: tables of tracks are read one at a time, as particles of another table are "
            "others, even of the same number, and no pair is seen in both: analyse each by itself"
        )
    if trajectories:
        return _from_trajectories(path, trajectories, options)
    if suffix == ".npy":
        _refuse_unused(options, str(path))
        return _from_npy(path)
    if suffix in TABLES:
        from timme.readers.tables import read_table

        _refuse_unused(options, str(path), "columns")
        return _from_tracks(read_table(path, options.columns), str(path))
    if suffix in _BARE:
        return _from_trajectories(None, [path], options)
    return _from_trajectories(path, [path], options)


def _from_row(paths: list[Path], options: Options) -> Ensemble:
    """Read trajectories of one kind, one after the other, without a topology of another kind."""
    if not _one_of_a_kind(paths):
        raise ValueError(
            f"{paths[0]}: a trajectory has no names: give the topology first, then its trajectories"
        )
    if kind(paths[0]) == ".traj":
        _refuse_unused(options, str(paths[0]))
        return read_ase_files(paths)
    return _from_trajectories(None if kind(paths[0]) in _BARE else paths[0], paths, options)


def _from_structures(paths: list[Path], options: Options, choose: Choose) -> Opened:
    from timme.readers.structures import read_structures

    if any(kind(path) in _BARE for path in paths):
        raise ValueError(
            f"{paths[0]}: a list of files needs structures, each a snapshot: "
            "give a topology first and these files as its trajectories"
        )
    _refuse_unused(options, str(paths[0]), "common_atoms")
    found = read_structures(
        paths, common_atoms=options.common_atoms, any_boxes=options.any_boxes, choose=choose
    )
    ensemble = Ensemble(
        frames=ArrayFrames(frozen(found.coordinates), found.boxes),
        atoms=found.atoms,
        site_atoms=np.arange(len(found.atoms)),
        unit=found.unit,
        independent=True,
        numbers=found.numbers,
        rounding=found.rounding,
        sources=tuple(str(path) for path in paths),
        notes=found.notes,
    )
    return Opened(ensemble, found.n_models, found.choice, in_cells=found.are_cells)


def _from_trajectories(topology: Path | None, paths: list[Path], options: Options) -> Ensemble:
    from timme.readers.naming import judge_order
    from timme.readers.topologies import read_topology
    from timme.readers.trajectories import open_trajectories

    _refuse_unused(options, str(paths[0]), "allow_truncated")
    atoms, ids, serials = (None,) * 3 if topology is None else read_topology(topology)
    molecules = _numbered_molecules(topology, atoms)
    look_at = partial(
        open_trajectories,
        n_atoms=None if atoms is None else len(atoms),
        ids=ids,
        serials=serials,
        topology=str(topology),
        allow_truncated=options.allow_truncated,
        any_boxes=options.any_boxes,
    )
    frames, notes = look_at(paths)
    alike = False
    if topology is not None and topology not in paths and _one_of_a_kind([topology, *paths]):
        every, more = look_at([topology, *paths])
        alike = every.shape[0] == len(every.files)
        if alike or every.files[0].n_frames > 1:  # and no structure before a trajectory
            frames, notes = every, (*more, _snapshot_note(topology, every.files))
    refuse_twice(frames.files)
    if atoms is not None:
        for number, file in enumerate(frames.files):
            if Path(file.path) != topology:
                names = frames.names_of(number)
                note = judge_order(names, atoms, file.path, str(topology))
                notes = (*notes, *([note] if note else []))
    if atoms is None:
        atoms, molecules, note = _bare_atoms(paths[0], frames.shape[1])
        notes, ids = (*notes, note), frames.files[0].numbers
    units = {_unit_of(file, topology) for file in frames.files}
    files = [path for path in (topology, *paths) if path is not None]
    return Ensemble(
        frames=frames,
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit=units.pop() if len(units) == 1 else "",
        independent=alike,
        rounding=max((file.rounding for file in frames.files), default=0.0),
        sources=tuple(dict.fromkeys(str(path) for path in files)),
        notes=notes,
        molecules=molecules,
        numbers=ids,
    )


def _unit_of(file: TrajectoryFile, topology: Path | None) -> str:
    """Believe no unit of a DCD file that LAMMPS wrote, which has that of the simulation."""
    lammps = topology is not None and kind(topology) in LAMMPS_DATA
    return "" if lammps and kind(Path(file.path)) == ".dcd" else file.unit


def _one_of_a_kind(paths: list[Path]) -> bool:
    """Tell whether files are all of one format, so that each may hold a snapshot with its names."""
    return len({kind(path) for path in paths}) == 1


def _snapshot_note(topology: Path, files: Sequence[TrajectoryFile]) -> str:
    names = "names and bonds are those of this file"
    if files[0].n_frames == 1:
        said = (
            f"the first of {len(files)} snapshots, as all files are of its kind and have one each"
        )
    else:
        said = f"its {files[0].n_frames} snapshots come first, as all files are of its kind"
    return f"{topology}: {said}; {names}"


def _numbered_molecules(topology: Path | None, atoms: Atoms | None) -> Ints | None:
    """Take the numbers of molecules of a LAMMPS data file, which stand for its residues."""
    if topology is None or atoms is None or kind(topology) not in LAMMPS_DATA:
        return None
    return atoms.resids if len(np.unique(atoms.resids)) > 1 else None


def _bare_atoms(path: Path, count: int) -> tuple[Atoms, Ints | None, str]:
    if kind(path) in DUMPS:
        try:
            return dump_atoms(path)
        except ValueError as error:
            raise ValueError(
                f"{path}: not a LAMMPS dump that can be read: {one_line(error)}: write it again"
            ) from None
    note = f"{path}: without a topology, sites have no names and no bonds"
    return Atoms.unnamed(count), None, note


def _from_mdtraj(source: Any, *, any_boxes: bool) -> Ensemble:
    from timme.readers.libraries import atoms_of_mdtraj, boxes_of_mdtraj

    atoms = None if source.topology is None else atoms_of_mdtraj(source.topology)
    boxes, remark = boxes_of_mdtraj(source, any_boxes=any_boxes)
    ensemble = Ensemble.from_array(source.xyz, boxes=boxes, atoms=atoms, unit="nm")
    frames = with_stamps(ensemble.frames, np.asarray(source.time, np.float64))
    notes = (f"{MDTRAJ}: {remark}",) if remark else ()
    return replace(ensemble, frames=frames, sources=(MDTRAJ,), notes=notes)


def _from_tracks(tracks: Any, name: str) -> Ensemble:
    ensemble = Ensemble.from_array(
        tracks.coordinates, atoms=tracks.atoms, gaps=True, unit=tracks.unit
    )
    ids = ensemble.atoms.resids  # those of the table, or numbers in the place of names
    frames = with_stamps(ensemble.frames, tracks.frames)
    return replace(ensemble, frames=frames, sources=(name,), notes=tracks.notes, numbers=ids)


def _from_npy(path: Path) -> Ensemble:
    array = _loaded_array(path)
    try:
        ensemble = replace(Ensemble.from_array(array), sources=(str(path),))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    shape = ensemble.frames.shape
    # A map of the file would hold all that was ever read of it.
    if not array.flags.c_contiguous or array.dtype != ensemble.frames.read(0, 1)[0].dtype:
        return ensemble
    frames = StoredFrames(str(path.absolute()), array.offset, shape, array.dtype, range(len(array)))
    return replace(ensemble, frames=replace(frames, resting=_resting(ensemble)))


def _loaded_array(path: Path) -> np.memmap[Any, Any]:
    try:
        array: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(
            f"{path}: not an array of numbers ({one_line(error)}): save it with numpy.save as float"
        ) from None
    return array
