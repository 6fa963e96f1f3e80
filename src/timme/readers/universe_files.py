"""Universes, and the files behind them, read where they hold what the Universe shows.

They tell more than it does: how often atoms went through the walls of the box, and, where several
stand in a row, which of them are runs of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats
from timme.readers.boundaries import box_finder, unit_of_reader
from timme.readers.dumps import DUMPS
from timme.readers.files import kind
from timme.readers.naming import judge_order
from timme.readers.pdb_frames import PDB
from timme.readers.trajectories import TrajectoryFrames, open_trajectories
from timme.readers.universes import UniverseFrames, atoms_of_universe, universe_frames
from timme.system.atoms import Atoms
from timme.system.boxes import fault_of
from timme.system.ensemble import Ensemble

_COUNTING = DUMPS | {".gsd", ".h5md"}  # formats that may count how often walls were gone through
_NAMING = PDB | {".gro", ".xyz"}  # those whose frames say what their atoms are
_ROUNDING = 1e-5  # of the largest coordinate; the library holds all in single precision
_BOX_ROUNDING = 1e-4  # as its boxes are angles


def read_universe(universe: Any, *, any_boxes: bool = False, as_shown: bool = False) -> Ensemble:
    """Take all atoms and frames of a Universe.

    Parameters
    ----------
    universe : Universe
        Of MDAnalysis.
    any_boxes : bool, optional
        As for :func:`timme.readers.trajectories.open_trajectories`.
    as_shown : bool, optional
        Take its frames and no others.

    Returns
    -------
    Ensemble
        Read from its files where they tell more, and hold the same.
    """
    everything, trajectory = universe.atoms, universe.trajectory
    shown, notes = universe_frames(everything, any_boxes=any_boxes)
    behind = None
    if not as_shown:
        behind, more = _files_behind(shown, trajectory, any_boxes=any_boxes)
        notes = more if behind is not None else (*notes, *more)
    files = () if behind is None else behind.files
    atoms = atoms_of_universe(everything)
    notes = (*notes, *_notes_on_order(universe, atoms))
    named: list[Any] = [file.path for file in files] or [getattr(trajectory, "filename", None)]
    units = {file.unit for file in files}
    return Ensemble(
        frames=shown if behind is None else behind,
        atoms=atoms,
        site_atoms=np.arange(len(everything)),
        unit=units.pop() if len(units) == 1 else unit_of_reader(trajectory),
        sources=tuple(dict.fromkeys(str(k) for k in (universe.filename, *named) if k))
        or ("Universe",),
        notes=notes,
    )


def _notes_on_order(universe: Any, atoms: Atoms) -> Iterator[str]:
    """Say of files that name their atoms that these are not in the order of the topology.

    The library takes them by place, and what a Universe shows is what it is asked for.
    """
    topology = str(universe.filename)
    for path in _paths(universe.trajectory):
        if str(path) == topology or kind(path) not in _NAMING:
            continue
        try:
            names = _first_names(path, len(atoms))
        except (ValueError, OSError, ImportError):  # the Universe could read it
            continue
        try:
            note = judge_order(names, atoms, str(path), topology)
        except ValueError as error:
            said = str(error).removeprefix(f"{path}: ").rpartition(": ")[0]
            note = f"{path}: {said}; atoms are named by their places, as in the Universe"
        if note:
            yield note


def _first_names(path: Path, n_atoms: int) -> npt.NDArray[Any] | None:
    frames, _ = open_trajectories([path], n_atoms=n_atoms, allow_truncated=True, any_boxes=True)
    return frames.names_of(0)


def _files_behind(
    shown: UniverseFrames, reader: Any, *, any_boxes: bool
) -> tuple[TrajectoryFrames | None, tuple[str, ...]]:
    """Open the files of a trajectory; none where they tell no more, or something else."""
    paths = _paths(reader)
    counting = bool(paths) and all(kind(path) in _COUNTING for path in paths)
    if not counting and not (len(paths) > 1 and _goes_through_all(reader, len(paths))):
        return None, ()
    try:
        frames, notes = open_trajectories(
            paths, n_atoms=shown.shape[1], allow_truncated=True, any_boxes=any_boxes
        )
    except (ValueError, OSError, ImportError):  # the Universe could read it
        return None, ()
    unfolded = frames.unfold()
    if unfolded is None and len(paths) < 2:
        return None, ()
    if _changes_nothing(reader) and _are_alike(shown, frames):
        return frames, notes
    if unfolded is None or _are_alike(shown, unfolded):
        return None, ()
    note = (
        f"{paths[0]}: the file tells how often atoms went through the walls of the box, which is "
        "not used, as its Universe has other frames than it: give the file itself to use it"
    )
    return None, (note,)


def _paths(reader: Any) -> list[Path]:
    """List the files of a trajectory, none where something is no file."""
    named = getattr(reader, "filenames", None)
    named = [getattr(reader, "filename", None)] if named is None else list(named)
    paths = [Path(name) for name in named if isinstance(name, str | Path)]
    return paths if len(paths) == len(named) and all(path.is_file() for path in paths) else []


def _goes_through_all(reader: Any, count: int) -> bool:
    """Tell whether a reader of several files gives all frames of all; it may cut what overlaps."""
    readers = getattr(reader, "readers", ())
    return len(readers) == count and sum(each.n_frames for each in readers) == len(reader)


def _changes_nothing(reader: Any) -> bool:
    """Tell whether places and times are those of the files, and no others that the user wants."""
    every = (reader, *getattr(reader, "readers", ()))
    given = getattr(reader, "_kwargs", {}).get("dt")
    return given is None and not any(each.transformations for each in every)


def _are_alike(shown: UniverseFrames, frames: TrajectoryFrames) -> bool:
    """Compare places, and boxes where a user may have set others, in a few frames of every file."""
    if shown.shape != frames.shape:
        return False
    reader, ends = shown.reader, [*frames.first_of_files(), len(frames.chosen)]
    find_box = None if hasattr(reader, "readers") else box_finder(reader)
    probes = {ends[-1] // 2, *ends[:-1], *(end - 1 for end in ends[1:])}
    before = reader.frame
    try:
        for frame in sorted(probes):
            places, boxes = frames.keep([frame]).read(0, 1)
            step = reader[frame]
            # Some count from the corner of the box, and others do not.
            shift = np.asarray(step.positions[0] - places[0, 0], dtype=np.float64)
            if not _are_near(step.positions - shift, places[0], _ROUNDING):
                return False
            if find_box and not _are_near(_filled(find_box(step)), _filled(boxes), _BOX_ROUNDING):
                return False
    except ValueError:  # of a frame that is damaged
        return False
    finally:
        _ = reader[before]
    return True


def _filled(box: Floats | None) -> Floats:
    return np.zeros((3, 3)) if box is None or fault_of(box.reshape(3, 3)) else box.reshape(3, 3)


def _are_near(one: Coordinates, other: Coordinates, rounding: float) -> bool:
    return np.allclose(one, other, rtol=0.0, atol=rounding * max(1.0, np.abs(other).max()))
