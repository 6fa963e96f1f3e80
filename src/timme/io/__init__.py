"""Reading: files and objects of other libraries become ensembles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, frozen
from timme._text import counted, one_line
from timme.ensemble import Ensemble
from timme.ensemble.bonds import guess_bonds, with_bonds
from timme.ensemble.ensemble import checked_weights
from timme.ensemble.frames import OpenSpace, rows
from timme.ensemble.molecules import with_whole_molecules
from timme.ensemble.space import box_matrices
from timme.ensemble.unwrapping import Progress, fixed_images, molecules_of
from timme.ensemble.unwrapping import unwrap as unwrap_molecules
from timme.io import objects, runs
from timme.io.checks import angstrom_of, judge, refuse_clashes, refuse_crowded
from timme.io.files import STRUCTURES, TABLES, checked_file, fetch, kind
from timme.io.matrices import Matrix, holds_matrix, is_labelled, read_matrix
from timme.io.pdb import read_structure
from timme.io.structures import from_structures
from timme.io.tables import Columns, from_dataframe, read_table
from timme.io.trajectories import FileSource, from_trajectories

__all__ = ["Matrix", "fetch", "holds_matrix", "is_labelled", "read", "read_matrix"]


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
    columns: Columns = None,
    unwrap: bool = False,
    common_atoms: bool = False,
    allow_truncated: bool = False,
    progress: Progress | None = None,
) -> Ensemble:
    """Return snapshots of the same sites.

    Parameters
    ----------
    source : path, list of paths, array, or object of another library
        A structure file with one or more models (PDB, mmCIF, also .gz), a PDB code
        (``pdb:1bnr``), several structure files, a topology, a table of tracked particles (CSV,
        DataFrame), an array of shape (snapshots, sites, dimensions) or its ``.npy`` file, an
        MDAnalysis Universe or AtomGroup, an mdtraj Trajectory, or one or more Atoms of ASE.
    trajectories : path or sequence of paths, optional
        Trajectories of the atoms of a topology, one after the other. Structure files after a
        structure file are more snapshots, matched atom by atom.
    select : str, array_like or callable, optional
        Atoms to keep: a preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``), a selection
        in the MDAnalysis language, indices, or a function that takes the ensemble of all and
        returns one of fewer.
    start, stop, step : int or str, optional
        Snapshots to keep, as in a slice; or times such as ``10ns``, of which the last one is
        included. Of structure files, no other models are matched.
    unit : str, optional
        Unit of the coordinates (``Å``, ``nm``, ``µm``) where the format does not state it. It
        names the unit; coordinates are not changed.
    box : array_like, str or False, optional
        Periodic box in place of that of the file: lengths or row vectors, once or for each
        snapshot of the source; a box of freud or HOOMD; or a text such as ``20,20,20``. False, or
        ``none``, leaves space open. The cell of a structure file is no box. Molecules are made
        whole along their bonds in any case.
    bonds : {"auto", "file", "guess", "none"} or array_like, optional
        Covalent bonds: those of the topology, or guessed from distances where it has none, and in
        PDB and mmCIF files; or those of the file only, guessed only, none, or pairs of atoms.
    weights : array_like, shape (snapshots,), or str, optional
        One number for each snapshot that is kept, or for each in the source; or the file of these.
    gaps : bool, optional
        Whether NaN means "not seen in this snapshot"; by default in tables only.
    columns : str or sequence of str or int, optional
        Columns of a table: frame, particle, coordinates, by name or by number from 1 on.
    unwrap : bool, optional
        Follow molecules across the faces of the box, so that distances may exceed half of it. Two
        molecules start at their nearest images. Refused where steps are so long that the faces
        they cross are uncertain.
    common_atoms : bool, optional
        Keep the atoms that all models share where models differ.
    allow_truncated : bool, optional
        Use the whole frames of a trajectory that is cut off.
    progress : callable, optional
        Called with the snapshots done and all of them, while molecules are unwrapped.

    Returns
    -------
    Ensemble
        Snapshots, names, bonds and box; ``notes`` state what was decided.

    Examples
    --------
    >>> import numpy as np
    >>> ensemble = read(np.zeros((5, 4, 3)), start=1)
    >>> ensemble.n_snapshots, ensemble.n_sites
    (4, 4)
    """
    given = _box_of(box)
    pick = partial(runs.choose, start=start, stop=stop, step=step)
    options = {"columns": columns, "common_atoms": common_atoms, "allow_truncated": allow_truncated}
    draft, used = _open(source, trajectories, options, pick)
    for name, value in options.items():
        if value and name != used:
            raise ValueError(f"{draft.prefix}{name}= is for other sources: leave it out")
    in_cells = used == "common_atoms"  # those of structures are no periodic boxes
    opens = given is False or (in_cells and given is None)
    if unwrap and opens:
        raise ValueError(f"{draft.prefix}unwrap=True needs a periodic box: give it (box=)")
    draft, kept = _choose(draft, None if in_cells else pick, unwrap=unwrap)
    ensemble = replace(draft, gaps=draft.gaps if gaps is None else gaps)
    boxes = None if given is None or given is False else _boxes(given, ensemble)
    ensemble = _with_bonds(judge(ensemble, unit=unit, box=boxes, opens=opens), bonds)
    refuse_clashes(ensemble)
    if unwrap or opens:
        ensemble = _apply_flags(ensemble)
    ensemble = with_whole_molecules(ensemble, complexes=not (unwrap or opens), together=unwrap)
    ensemble = replace(ensemble, images=fixed_images(ensemble)) if unwrap else ensemble
    ensemble = _select(ensemble, source, select)
    ensemble = _unwrap(ensemble, unwrap=unwrap, progress=progress)
    if opens:
        ensemble = replace(ensemble, frames=ensemble.frames.then(OpenSpace()), images=None)
    return _keep(ensemble, kept, weights)


def _open(
    source: Any,
    trajectories: str | Path | Sequence[str | Path],
    options: dict[str, Any],
    pick: Callable[..., Sequence[int]],
) -> tuple[Ensemble, str]:
    """Return a draft of all snapshots and atoms, and the option that is for such sources."""
    others = [trajectories] if isinstance(trajectories, str | Path) else list(trajectories)
    named = source if isinstance(source, list | tuple) and source else [source]
    if not all(isinstance(path, str | Path) for path in named):
        if others:
            raise ValueError(f"trajectories need a topology file, got {type(source).__name__}")
        if hasattr(source, "columns"):
            return from_dataframe(source, options["columns"]), "columns"
        return objects.from_object(source), ""
    paths = [_located(path) for path in (*named, *others)]
    kinds, name = {kind(path) for path in paths}, str(paths[0])
    if kinds & {*TABLES, ".npy"} and len(paths) > 1:
        raise ValueError(f"{name}: tables and arrays are read one at a time, got {len(paths)}")
    if kinds & TABLES:
        return read_table(paths[0], options["columns"]), "columns"
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(f"{name}: one of these files is given twice: leave one of them out")
    if not kinds <= STRUCTURES:
        cut = options["allow_truncated"]
        return from_trajectories(paths, listed=len(named) > 1, cut=cut), "allow_truncated"

    def choose(count: int) -> Sequence[int]:
        return pick(np.full(count, np.nan), [], [], source=name)

    files = [read_structure(path) for path in paths]
    return from_structures(files, choose, common_atoms=options["common_atoms"]), "common_atoms"


def _located(path: str | Path) -> Path:
    is_code = str(path).lower().startswith("pdb:")
    return fetch(str(path)[4:]) if is_code else checked_file(path)


def _choose(
    draft: Ensemble, pick: Callable[..., Sequence[int]] | None, *, unwrap: bool
) -> tuple[Ensemble, Sequence[int]]:
    """Return the draft with the snapshots that are read, in runs, and which of them are kept.

    Without ``pick``, that is all of them.
    """
    source, times, notes = draft.frames.source, draft.frames.times, list(draft.notes)
    if pick is None:
        return draft, range(len(times))
    name = draft.sources[0] if draft.sources else "array"
    files = source.files if isinstance(source, FileSource) else ()

    def are_same(one: int, other: int) -> bool:
        found = [pair for pair in source.read([one, other], None) if pair is not None]
        return all(np.array_equal(pair[0], pair[1], equal_nan=True) for pair in found)

    starts, repeats = runs.find_runs(times, are_same)
    counting = draft.gaps or any(file.in_steps for file in files)  # of frames of tables, and steps
    kept = pick(np.where(counting, np.nan, times), starts, repeats, source=name)
    if repeats:
        notes.append(f"{name}: {counted(len(repeats), 'snapshot')} repeat others and count once")
    if starts:
        count = f"{len(starts) + 1} trajectories count as replicas"
        notes.append(f"{count}, as their times start again: replicas='one' joins them")
    elif len(files) > 1 and np.isnan(times).any() and not draft.independent:
        notes.append(f"{len(files)} files without times count as one run: replicas= tells others")
    through = runs.choose_through(kept, starts, repeats) if unwrap else kept
    numbers, frames = np.searchsorted(starts, through, side="right"), draft.frames.keep(through)
    own = frozen(numbers) if np.ptp(numbers) else None
    return replace(draft, frames=frames, runs=own, n_source=len(times), notes=tuple(notes)), kept


def _box_of(given: Any) -> Any:
    """Return a box as numbers, None for that of the file, False for none."""
    if hasattr(given, "Lx"):
        return objects.box_vectors(given)
    if not isinstance(given, str):
        return given
    try:
        return given.strip().lower() != "none" and [float(word) for word in given.split(",")]
    except ValueError:
        raise ValueError(f"a box is written as 20,20,20 or none, got {given!r}") from None


def _boxes(given: Any, ensemble: Ensemble) -> Floats:
    """Return the user's boxes, one or those of all snapshots, for each that is read."""
    frames = ensemble.frames
    n_source, _, n_dimensions = frames.source.shape
    return rows(box_matrices(given, n_source, n_dimensions), frames.numbers)


def _with_bonds(ensemble: Ensemble, bonds: str | npt.ArrayLike) -> Ensemble:
    """Return an ensemble with the bonds of its source, guessed ones, none, or the user's."""
    if not isinstance(bonds, str) or bonds == "none":
        own = () if isinstance(bonds, str) else bonds
        return replace(ensemble, atoms=with_bonds(ensemble.atoms, own), traces=None)
    if bonds not in {"auto", "file", "guess"}:
        raise ValueError(f"bonds are 'auto', 'file', 'guess', 'none' or pairs, got {bonds!r}")
    ensemble, length = ensemble.with_traces(), angstrom_of(ensemble)
    atoms, prefix = ensemble.atoms, ensemble.prefix
    possible = length is not None and (atoms.elements != "").any()
    if bonds == "guess" and not possible:
        raise ValueError(f"{prefix}bonds='guess' needs elements and a unit such as Å: leave it out")
    # PDB and mmCIF files list unusual bonds only, and mdtraj knows those of standard residues.
    source = Path((*ensemble.sources, "")[0])
    few = not len(atoms.bonds) or kind(source) in STRUCTURES or source.name == objects.MDTRAJ
    if possible and (bonds == "guess" or (bonds == "auto" and few)):
        points, box = ensemble.snapshot()
        guessed = guess_bonds(atoms, points, box=box, angstrom=length or 1.0)
        refuse_crowded(ensemble, guessed)
        atoms = with_bonds(atoms, guessed, atoms.bonds if bonds == "auto" else ())
    return replace(ensemble, atoms=atoms)


def _apply_flags(ensemble: Ensemble) -> Ensemble:
    """Return an ensemble in which image flags of the files are applied, if these have any."""
    source = ensemble.frames.source
    if not (isinstance(source, FileSource) and all(file.has_images for file in source.files)):
        return ensemble
    starts = tuple(ensemble.frames.numbers[place] for place in ensemble.starts)
    flagged = replace(source, unfold=True, starts=starts)
    note = f"{ensemble.prefix}image flags of the file tell which faces of the box atoms crossed"
    frames = ensemble.frames.over(flagged)
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def _select(ensemble: Ensemble, source: Any, select: Any) -> Ensemble:
    """Return the sites that the user selects, of an AtomGroup those in it."""
    if objects.is_group(source):
        group = np.asarray(source.atoms.ix, np.int64)
        if isinstance(select, str):
            found = ensemble.find_sites(select)
            return ensemble.select(found[np.isin(found, group)])
        ensemble = ensemble.select(group)
    if callable(select):
        chosen: Ensemble = select(ensemble)
        return chosen
    return ensemble if select is None else ensemble.select(select)


def _unwrap(ensemble: Ensemble, *, unwrap: bool, progress: Progress | None) -> Ensemble:
    """Return an ensemble whose molecules go on through the snapshots that are read."""
    frames, source, prefix = ensemble.frames, ensemble.frames.source, ensemble.prefix
    flagged = isinstance(source, FileSource) and source.unfold
    if not unwrap and not (flagged and ensemble.starts):
        return ensemble
    owners = molecules_of(ensemble)
    step = unwrap_molecules(
        frames, owners, starts=ensemble.starts, flagged=flagged, progress=progress, prefix=prefix
    )
    return replace(ensemble, frames=frames.then(step))


def _keep(ensemble: Ensemble, kept: Sequence[int], weights: Any) -> Ensemble:
    """Return the snapshots that are kept, with their weights."""
    n_source = ensemble.n_source
    if len(kept) < ensemble.n_snapshots:
        ensemble = ensemble[np.searchsorted(ensemble.frames.numbers, kept)]
    if weights is None:
        return ensemble
    from_file = isinstance(weights, str | Path)
    array = _numbers_in(checked_file(weights)) if from_file else np.asarray(weights)
    every = array.shape == (n_source,) and len(kept) != n_source
    own = checked_weights(rows(array, kept) if every else array, len(kept))
    return replace(ensemble, weights=own)


def _numbers_in(path: Path) -> Floats:
    try:
        return np.loadtxt(path)
    except ValueError as error:
        fault = f"weights are one number in each line ({one_line(error)})"
        raise ValueError(f"{path}: {fault}: repair the file") from None
