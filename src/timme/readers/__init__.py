"""Reading: files, arrays and other libraries' objects become an Ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from timme.readers import soundness, species, walls, wanted
from timme.readers.bonds import guess_bonds
from timme.readers.download import fetch
from timme.readers.dumps import DUMPS
from timme.readers.files import kind
from timme.readers.matrices import GivenMatrix, read_given, read_matrix
from timme.readers.replicas import begins_elsewhere, judge_joints, tell_replicas
from timme.readers.scale import judge_scale
from timme.readers.snapshots import Clock, all_through, kept_snapshots, one_snapshot
from timme.readers.sources import Opened, Options, atom_group, open_source
from timme.readers.structures import CELL_NOTE
from timme.settings import Settings
from timme.settings.schema import understand
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.residues import default_sites, shown_sites
from timme.system.selection import select_atoms
from timme.system.units import unit_label

__all__ = [
    "GivenMatrix",
    "default_sites",
    "fetch",
    "guess_bonds",
    "read",
    "read_given",
    "read_matrix",
    "read_model",
    "read_shown",
    "select_atoms",
    "shown_sites",
]

# Names of keywords that people expect, and those that they have.
_KEYWORDS = {
    "begin": "start", "end": "stop", "dt": "step", "stride": "step", "selection": "select",
    "traj": "trajectories", "trajectory": "trajectories", "units": "unit", "allow_gaps": "gaps",
}  # fmt: skip
_P = ParamSpec("_P")
_R = TypeVar("_R")


def _refuse_other_names(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Say by which name a keyword goes here that another library or the command line has."""

    @wraps(function)
    def called(*given: _P.args, **named: _P.kwargs) -> _R:
        for name in named:
            if name in _KEYWORDS:
                raise TypeError(f"timme.read takes {_KEYWORDS[name]}= for {name}=: write that")
        return function(*given, **named)

    return called


@_refuse_other_names
def read(  # noqa: PLR0913, a reader has as many options as there are kinds of files
    source: Any,
    trajectories: str | Path | Sequence[str | Path] = (),
    *,
    select: str | npt.ArrayLike | Callable[[Ensemble], Ensemble] | None = None,
    start: int | str | None = None,
    stop: int | str | None = None,
    step: int | str | None = None,
    unit: str | None = None,
    box: npt.ArrayLike | str | Literal[False] | None = None,
    bonds: str | npt.ArrayLike = "auto",
    weights: npt.ArrayLike | str | None = None,
    gaps: bool | None = None,
    columns: str | Sequence[str | int] | None = None,
    unwrap: bool = False,
    common_atoms: bool = False,
    allow_truncated: bool = False,
    progress: Progress | None = None,
) -> Ensemble:
    """Read snapshots of the same sites.

    Parameters
    ----------
    source : path, list of paths, array, or object of another library
        A structure file with one or more models (PDB, mmCIF, also .gz), a PDB code
        (``pdb:1bnr``), several structure files, a topology, a table of tracked particles (CSV,
        DataFrame), an array of shape (snapshots, sites, dimensions) or its ``.npy`` file, an
        MDAnalysis Universe or AtomGroup, an mdtraj Trajectory, or one or more Atoms of ASE.
    trajectories : path or sequence of paths, optional
        Trajectories of the atoms of a topology, one after the other. Structure files after a
        structure file are snapshots as it is, matched atom by atom.
    select : str, array_like or callable, optional
        Atoms to keep: a preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``), a selection
        in the MDAnalysis language, indices, or a function that takes the ensemble of all and
        returns one of fewer.
    start, stop, step : int or str, optional
        Snapshots to keep, as in a slice; or times such as ``10ns``, where the source has them, of
        which the last one is included. No other models of a structure file are matched.
    unit : str, optional
        Unit of the coordinates (``Å``, ``nm``, ``µm``) where it is not that of the source: Å for
        files of molecules, nm for mdtraj. It names the unit; coordinates are not changed.
    box : array_like, str or False, optional
        Periodic box in place of that of the file: lengths, row vectors or a box of freud or HOOMD,
        for all snapshots or for each, of those that are kept or of all in the source, or a text
        such as ``20,20,20``. False, or ``none``, leaves space open. The cell of a crystal in a
        structure file is not a box, nor is one that cannot hold the atoms. Molecules are made
        whole along their bonds in any case, also through the cells of several models that have no
        symmetry, as those of simulations.
    bonds : {"auto", "file", "guess", "none"} or array_like, optional
        Covalent bonds: those of the file and, where these are not complete, those guessed from
        distances; or those of the file only, guessed only, none, or pairs of atoms.
    weights : array_like, shape (snapshots,), or str, optional
        One number for each snapshot that is kept, or for each in the source; or the file of these.
    gaps : bool, optional
        Whether NaN means "not seen in this snapshot"; by default in tables only.
    columns : str or sequence of str or int, optional
        Columns of a table: frame, particle, coordinates, by name or by number, counted from 1
        (``"1,2,3,4"``). By default trackpy's ``frame``, ``particle``, ``x``, ``y`` and, if there is
        one, ``z``, or those of TrackMate.
    unwrap : bool, optional
        Follow every molecule or particle from snapshot to snapshot through the walls of the box,
        so that distances grow beyond half of it; also through those that `step` leaves out. Between
        two of them, that image counts which is the nearest in the first snapshot. Runs that begin
        alike are each followed from there, those whose times start again from their first snapshot.
    common_atoms : bool, optional
        Go on with the atoms that all models share where models differ.
    allow_truncated : bool, optional
        Use the whole frames of a trajectory that is cut off.
    progress : callable, optional
        Called with the snapshots done and all of them, while molecules are followed; nothing else
        reads them all.

    Returns
    -------
    Ensemble
        Snapshots, names, bonds and box; ``notes`` say what was chosen on the way.

    Examples
    --------
    >>> import numpy as np
    >>> ensemble = read(np.zeros((5, 4, 3)), start=1)
    >>> ensemble.n_snapshots, ensemble.n_sites
    (4, 4)
    """
    if isinstance(source, Ensemble):
        raise TypeError(
            "timme.read needs a file, an array or an object of another library, got Ensemble: it "
            "is read already; slice its snapshots (ensemble[10:20]), or select sites of it"
        )
    box, weights, columns = understand(Settings, box=box, weights=weights, columns=columns)
    start, stop, step = understand(Settings, start=start, stop=stop, step=step)
    kept: Sequence[int] = ()
    through: Sequence[int] = ()

    def keep(
        count: int,
        name: str,
        clock: Clock | None,
        doubled: Sequence[int],
        begins: Sequence[int],
    ) -> Sequence[int]:
        nonlocal kept, through
        kept = kept_snapshots(
            *(count, name, clock),
            start=start,
            stop=stop,
            step=step,
            doubled=doubled,
            begins=begins,
        )
        # Molecules are followed through all snapshots between the first and the last.
        every, twice = all_through(kept, begins), set(doubled)
        followed = [number for number in every if number not in twice] if twice else every
        through = followed if unwrap else kept
        return through

    # Where the box is not that of the file, it does not matter which snapshots have one.
    options = Options(columns, common_atoms, allow_truncated, any_boxes=box is not None)
    opened = open_source(source, _listed(trajectories), options, keep)._replace(kept=through)
    ensemble, count, joints = opened.ensemble, opened.n_snapshots, opened.joints
    ensemble = replace(
        ensemble,
        unit=ensemble.unit if unit is None else unit_label(unit),
        gaps=ensemble.gaps if gaps is None else gaps,
    )
    ensemble = _note_unknown_unit(ensemble)
    ensemble = _with_box_and_bonds(opened._replace(ensemble=ensemble), box, bonds, unwrap=unwrap)
    ensemble = wanted.select_sites(ensemble, select, atom_group(source))
    as_stored = opened.ensemble.frames
    if unwrap:
        joints = judge_joints(
            walls.with_nearest_images(ensemble), joints, through, from_one_start=True
        )
        begins = np.searchsorted(through, begins_elsewhere(joints)).tolist()
        ensemble = walls.follow_molecules(ensemble, progress, begins=begins, first=through[0])
        chosen = np.searchsorted(through, kept).tolist()
        ensemble = replace(ensemble, frames=ensemble.frames.keep(chosen))
        as_stored = as_stored.keep(chosen)
    still = soundness.notes_on_copies(as_stored)
    ensemble = replace(ensemble, notes=(*ensemble.notes, *still))
    ensemble = tell_replicas(ensemble, joints, kept)
    return replace(ensemble, weights=wanted.weights_of(weights, count, kept))


def read_model(
    source: Any,
    trajectories: str | Path | Sequence[str | Path] = (),
    *,
    model: int = 1,
    start: int | str | None = None,
    stop: int | str | None = None,
    step: int | str | None = None,
    allow_truncated: bool = False,
) -> tuple[Ensemble, int]:
    """Read one snapshot; other models of a structure file may have other atoms.

    Parameters
    ----------
    source, trajectories
        As for :func:`read`.
    model : int, optional
        Which of the snapshots, counted from 1.
    start, stop, step, allow_truncated
        As for :func:`read`.

    Returns
    -------
    ensemble : Ensemble
        That snapshot, with its own bonds.
    count : int
        Number of snapshots of which it is one.

    Examples
    --------
    >>> import numpy as np
    >>> ensemble, count = read_model(np.zeros((5, 4, 3)), model=3)
    >>> ensemble.n_snapshots, count
    (1, 5)
    """
    start, stop, step = understand(Settings, start=start, stop=stop, step=step)
    every: Sequence[int] = ()

    def keep(
        count: int,
        name: str,
        clock: Clock | None,
        doubled: Sequence[int],
        begins: Sequence[int],
    ) -> Sequence[int]:
        nonlocal every
        every = kept_snapshots(
            *(count, name, clock),
            start=start,
            stop=stop,
            step=step,
            doubled=doubled,
            begins=begins,
        )
        return one_snapshot(every, name, model)

    options = Options(None, common_atoms=False, allow_truncated=allow_truncated)
    opened = open_source(source, _listed(trajectories), options, keep)
    ensemble = _with_box_and_bonds(opened, None, "auto")
    return wanted.select_sites(ensemble, None, atom_group(source)), len(every)


def read_shown(group: Any) -> Ensemble:
    """Read what a Universe shows, frame by frame, whatever else its files tell.

    Parameters
    ----------
    group : Universe or AtomGroup
        Of MDAnalysis.

    Returns
    -------
    Ensemble
        All its frames, of these atoms.
    """
    options = Options(None, common_atoms=False, allow_truncated=False, as_shown=True)
    opened = open_source(group, [], options, lambda count, *_: range(count))
    ensemble = _with_box_and_bonds(opened, None, "auto")
    return wanted.select_sites(ensemble, None, atom_group(group))


def _note_unknown_unit(ensemble: Ensemble) -> Ensemble:
    """Say of a dump alone, whose unit is that of its simulation, that nobody named it."""
    first = Path(ensemble.sources[0]) if ensemble.sources else None
    if first is None or ensemble.unit or kind(first) not in DUMPS:
        return ensemble
    note = f"{first}: the unit is not known (unit=)"
    if ensemble.frames.style == "lj":
        note = (
            f"{first}: lengths are in that of its particles, the σ of Lennard-Jones (units lj); "
            "unit= gives it a name on the axes"
        )
    return replace(ensemble, notes=(*ensemble.notes, note))


def _with_box_and_bonds(
    opened: Opened,
    box: npt.ArrayLike | Literal[False] | None,
    bonds: str | npt.ArrayLike,
    *,
    unwrap: bool = False,
) -> Ensemble:
    ensemble, in_cells = opened.ensemble, opened.in_cells
    as_in_file = box is False
    ensemble = _without_cell_note(ensemble, box)
    if in_cells and box is None:
        if unwrap:
            raise ValueError(
                f"{ensemble.prefix}unwrap=True needs a periodic box, for which the cell of a "
                "structure file is not taken: give it (box=), or leave out unwrap=True"
            )
        box = False
    if not isinstance(bonds, str) or bonds != "guess":  # which says that they are atoms
        ensemble = species.without_false_elements(ensemble)
    scale = judge_scale(ensemble)
    if box is None or box is False:
        notes = ensemble.notes
        ensemble = soundness.without_placeholder(ensemble, scale.angstrom, outgrown=opened.outgrown)
        ensemble = replace(ensemble, notes=notes) if in_cells else ensemble
    if box is False and unwrap:
        raise ValueError("unwrap=True follows sites through a box, and box=False leaves it out")
    # Bonds go through the walls of a box even where the user wants open space after that.
    around = None if box is False else box
    ensemble = wanted.with_box(ensemble, around, opened.n_snapshots, opened.kept)
    if around is not None:
        soundness.refuse_small_box(ensemble, scale.angstrom)
    soundness.refuse_clashes(ensemble, scale.angstrom)
    ensemble = wanted.with_bonds_chosen(ensemble, bonds, scale)
    strange = soundness.geometry_notes(ensemble, scale.angstrom)
    ensemble = replace(ensemble, notes=(*ensemble.notes, *strange))
    if box is False or unwrap:
        ensemble = walls.unfold(ensemble)
    # Without a box, molecules are whole and where the file has them, or where they are followed.
    free = not unwrap and not as_in_file and not (in_cells and not walls.is_wrapped(ensemble))
    ensemble = walls.with_whole_molecules(
        ensemble, together=unwrap, angstrom=scale.angstrom if free else None
    )
    if unwrap:
        return walls.with_lasting_images(ensemble)
    return walls.take_away(ensemble) if box is False else ensemble


def _without_cell_note(ensemble: Ensemble, box: npt.ArrayLike | Literal[False] | None) -> Ensemble:
    """Propose no box to who has given one, or wants none."""
    if box is None:
        return ensemble
    kept = [note for note in ensemble.notes if CELL_NOTE not in note]
    return replace(ensemble, notes=tuple(kept))


def _listed(trajectories: str | Path | Sequence[str | Path]) -> list[str | Path]:
    paths = [trajectories] if not isinstance(trajectories, list | tuple) else trajectories
    for path in paths:
        if not isinstance(path, str | Path):
            raise TypeError(
                f"trajectories= takes paths of files, got {type(path).__name__}: pass these, or "
                "the object alone as the source"
            )
    return list(paths)
