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
from timme.readers.layouts import CELL_NOTE
from timme.readers.matrices import GivenMatrix, read_given, read_matrix
from timme.readers.replicas import Joint, begins_elsewhere, judge_joints, tell_replicas
from timme.readers.scale import judge_scale, name_unit
from timme.readers.snapshots import (
    Choice,
    Course,
    choose_all,
    choose_one,
    choose_snapshots,
    choose_through,
)
from timme.readers.sources import Opened, Options, atom_group, open_source
from timme.settings import Settings
from timme.settings.schema import understand
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.residues import default_sites, shown_sites
from timme.system.selection import select_atoms

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
    trust_images: bool = False,
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
        files of molecules, nm for mdtraj. It names the unit; coordinates are not changed, so that
        files of GROMACS and H5MD, whose unit is known and made Å, take no other.
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
    trust_images : bool, optional
        Believe how often a file says that sites went through walls, also where all seem to be put
        back into one box at once. Such a step is motion, as of a gas that is heated or sheared, or
        the counts begin again; by default the likelier one, and nothing where neither is.
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

    def choose(course: Course) -> Choice:
        kept = choose_snapshots(course, start=start, stop=stop, step=step)
        return Choice(kept, choose_through(course, kept) if unwrap else kept)

    # Where the box is not that of the file, it does not matter which snapshots have one.
    options = Options(columns, common_atoms, allow_truncated, any_boxes=box is not None)
    opened = open_source(source, _listed(trajectories), options, choose)
    kept, joints = opened.choice.kept, opened.joints
    ensemble = replace(
        opened.ensemble,
        unit=name_unit(opened.ensemble, unit),
        gaps=opened.ensemble.gaps if gaps is None else gaps,
    )
    ensemble = _note_unknown_unit(ensemble)
    ensemble = _with_box_and_bonds(opened._replace(ensemble=ensemble), box, bonds, unwrap=unwrap)
    ensemble = wanted.select_sites(ensemble, select, atom_group(source))
    as_stored = opened.ensemble.frames
    followed = walls.has_lasting_images(ensemble)
    if trust_images and not (followed and ensemble.frames.unfold() is not None):
        raise ValueError(
            f"{ensemble.prefix}trust_images=True is for files that say in every frame how often "
            "sites went through walls, with unwrap=True or box=False: leave it out"
        )
    if followed:
        ensemble, joints = _follow(ensemble, opened, progress, trusted=trust_images)
        ensemble = ensemble if unwrap else walls.take_away(ensemble)
        as_stored = as_stored.keep(opened.choice.places)
    still = soundness.notes_on_copies(as_stored)
    ensemble = replace(ensemble, notes=(*ensemble.notes, *still))
    ensemble = tell_replicas(ensemble, joints, kept)
    return replace(ensemble, weights=wanted.weights_of(weights, opened.n_snapshots, kept))


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

    def choose(course: Course) -> Choice:
        kept = choose_snapshots(course, start=start, stop=stop, step=step)
        return Choice(kept, choose_one(course, kept, model))

    options = Options(None, common_atoms=False, allow_truncated=allow_truncated)
    opened = open_source(source, _listed(trajectories), options, choose)
    ensemble = _with_box_and_bonds(opened, None, "auto")
    return wanted.select_sites(ensemble, None, atom_group(source)), len(opened.choice.kept)


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
    opened = open_source(group, [], options, choose_all)
    ensemble = _with_box_and_bonds(opened, None, "auto")
    return wanted.select_sites(ensemble, None, atom_group(group))


def _follow(
    ensemble: Ensemble, opened: Opened, progress: Progress | None, *, trusted: bool
) -> tuple[Ensemble, tuple[Joint, ...]]:
    """Follow molecules through all snapshots that were read, and keep those that count."""
    through = opened.choice.read
    nearest = walls.with_nearest_images(ensemble)
    joints = judge_joints(nearest, opened.joints, through, from_one_start=True)
    begins, files = (
        np.searchsorted(through, frames).tolist()
        for frames in (begins_elsewhere(joints), [joint.frame for joint in joints])
    )
    followed = walls.follow_molecules(
        ensemble, progress, begins=begins, files=files, first=through[0], trusted=trusted
    )
    return replace(followed, frames=followed.frames.keep(opened.choice.places)), joints


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
    """Judge the box, find bonds, and put molecules where these and the walls say."""
    if unwrap:
        _refuse_no_walls(opened, box)
    ensemble = _without_cell_note(opened.ensemble, box)
    if not isinstance(bonds, str) or bonds != "guess":  # which says that they are atoms
        ensemble = species.without_false_elements(ensemble)
    scale = judge_scale(ensemble)
    if box is None or box is False:
        judged = soundness.without_placeholder(ensemble, scale.angstrom, outgrown=opened.outgrown)
        # The cell of a structure file is no box anyway, so that nothing is said of it.
        ensemble = replace(judged, notes=ensemble.notes) if opened.in_cells else judged
    else:
        ensemble = wanted.with_box(ensemble, box, opened.n_snapshots, opened.choice.read)
        soundness.refuse_small_box(ensemble, scale.angstrom)
    soundness.refuse_clashes(ensemble, scale.angstrom)
    ensemble = wanted.with_bonds_chosen(ensemble, bonds, scale)
    strange = soundness.geometry_notes(ensemble, scale.angstrom)
    ensemble = replace(ensemble, notes=(*ensemble.notes, *strange))
    # Bonds go through the walls of a box even where there is open space after that.
    opens = box is False or (box is None and opened.in_cells)
    if opens or unwrap:
        ensemble = walls.unfold(ensemble)
    # Without a box, molecules are whole and where the file has them, or where they are followed.
    stay = unwrap or box is False or (opened.in_cells and not walls.is_wrapped(ensemble))
    ensemble = walls.with_whole_molecules(
        ensemble, together=unwrap, angstrom=None if stay else scale.angstrom
    )
    # Counts of walls may begin again, which only who follows them sees.
    if unwrap or (box is False and walls.is_counted(ensemble)):
        return walls.with_lasting_images(ensemble)
    return walls.take_away(ensemble) if opens else ensemble


def _refuse_no_walls(opened: Opened, box: npt.ArrayLike | Literal[False] | None) -> None:
    """Refuse to follow molecules where there is no box through which they could go."""
    if box is False:
        raise ValueError("unwrap=True follows sites through a box, and box=False leaves it out")
    if box is None and opened.in_cells:
        raise ValueError(
            f"{opened.ensemble.prefix}unwrap=True needs a periodic box, for which the cell of a "
            "structure file is not taken: give it (box=), or leave out unwrap=True"
        )


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
