"""Reading: files and objects of other libraries become ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Floats, Ints, frozen
from timme_next._text import counted
from timme_next.ensemble import Atoms, Ensemble, Frames
from timme_next.ensemble.atoms import element_masses, guess_elements, is_coarse_grained
from timme_next.ensemble.bonds import guess_bonds, with_bonds
from timme_next.ensemble.ensemble import checked_weights
from timme_next.ensemble.frames import OpenSpace, rows
from timme_next.ensemble.molecules import with_whole_molecules
from timme_next.ensemble.space import box_matrices
from timme_next.ensemble.unwrapping import Progress, fixed_images, molecules_of
from timme_next.ensemble.unwrapping import unwrap as unwrapped
from timme_next.io.checks import angstrom_of, judge, refuse_clashes
from timme_next.io.files import STRUCTURES, TABLES, Trajectory, checked_file, fetch, kind, open_npy
from timme_next.io.matrices import Matrix, read_matrix
from timme_next.io.objects import (
    box_of_library,
    from_ase,
    from_mdtraj,
    from_universe,
    is_ase,
    is_group,
    is_mdtraj,
    refuse_no_array,
)
from timme_next.io.pdb import read_structure
from timme_next.io.runs import as_range, bound_of, choose, choose_through, find_runs
from timme_next.io.structures import from_structures
from timme_next.io.tables import Columns, from_dataframe, read_table
from timme_next.io.topologies import LAMMPS_DATA, Topology, read_topology
from timme_next.io.trajectories import (
    FileSource,
    index_file,
    refuse_other_atoms,
    refuse_other_order,
)

__all__ = ["Matrix", "fetch", "read", "read_matrix"]

# Trajectories that are read without a topology; a list of them is one trajectory.
_BARE = frozenset((".xtc", ".trr", ".dcd", ".nc", ".h5md", ".lammpstrj"))
_IN_A_ROW = _BARE | {".gsd", ".xyz"}
Files = tuple[tuple[int, str], ...]  # first snapshots of files, and their names
_KEYWORDS = {  # names that people expect
    "begin": "start", "end": "stop", "dt": "step", "stride": "step", "selection": "select",
    "traj": "trajectories", "trajectory": "trajectories", "units": "unit", "allow_gaps": "gaps",
}  # fmt: skip


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
    **others: Any,
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
        Periodic box in place of that of the file: lengths, row vectors or a box of freud or HOOMD,
        once or for each snapshot, of those that are kept or of all, or a text such as
        ``20,20,20``. False, or ``none``, leaves space open. The cell of a structure file is no
        box. Molecules are made whole along their bonds in any case.
    bonds : {"auto", "file", "guess", "none"} or array_like, optional
        Covalent bonds: those of the file and, where these are not complete, those guessed from
        distances; or those of the file only, guessed only, none, or pairs of atoms.
    weights : array_like, shape (snapshots,), or str, optional
        One number for each snapshot that is kept, or for each in the source; or the file of these.
    gaps : bool, optional
        Whether NaN means "not seen in this snapshot"; by default in tables only.
    columns : str or sequence of str or int, optional
        Columns of a table: frame, particle, coordinates, by name or by number from 1 on.
    unwrap : bool, optional
        Let molecules go on across the faces of the box, so that distances grow beyond half of it.
        Of two molecules, the images count that are nearest in the first snapshot. Refused where
        steps are so long that the faces they cross are uncertain.
    common_atoms : bool, optional
        Keep the atoms that all models share where models differ.
    allow_truncated : bool, optional
        Use the whole frames of a trajectory that is cut off.
    progress : callable, optional
        Called with the snapshots done and all of them, while molecules are unwrapped.

    Returns
    -------
    Ensemble
        Snapshots, names, bonds and box; ``notes`` tell what was decided on the way.

    Examples
    --------
    >>> import numpy as np
    >>> ensemble = read(np.zeros((5, 4, 3)), start=1)
    >>> ensemble.n_snapshots, ensemble.n_sites
    (4, 4)
    """
    for name in others:
        remedy = f"write {_KEYWORDS[name]}=" if name in _KEYWORDS else "leave it out"
        raise TypeError(f"timme.read takes no {name}=: {remedy}")
    wanted = _box_of(box)
    pick = partial(
        choose,
        start=bound_of(start, "start"),
        stop=bound_of(stop, "stop"),
        step=bound_of(step, "step"),
    )
    options = {"columns": columns, "common_atoms": common_atoms, "allow_truncated": allow_truncated}
    draft, in_cells = _open(source, trajectories, options, pick, box_given=wanted is not None)
    opens = wanted is False or (in_cells and wanted is None)
    if unwrap and opens:
        raise ValueError(
            f"{draft.prefix}unwrap=True needs a periodic box, for which no cell of a structure is "
            "taken: give it (box=), or leave out unwrap=True"
        )
    files = _files(draft)
    every: Sequence[int] = range(draft.n_snapshots)
    kept, through, starts = every, every, list[int]()
    if not in_cells:
        draft, kept, through, starts = _choose(draft, files, pick, unwrap=unwrap)
    n_source = draft.n_source or draft.n_snapshots
    ensemble = replace(
        draft,
        frames=draft.frames.keep(through),
        gaps=draft.gaps if gaps is None else gaps,
        n_source=n_source,
    )
    boxes = None
    if wanted is not None and wanted is not False:
        boxes = _boxes(wanted, ensemble, through)
    ensemble = judge(ensemble, unit=unit, box=boxes, opens=opens, files=files)
    ensemble = _with_bonds(ensemble, bonds)
    refuse_clashes(ensemble)
    flagged = (unwrap or opens) and _has_flags(draft)
    if flagged:
        ensemble = _apply_flags(ensemble, starts)
    ensemble = with_whole_molecules(ensemble, complexes=not (unwrap or opens), together=unwrap)
    if unwrap:
        ensemble = replace(ensemble, images=fixed_images(ensemble))
    ensemble = _select(ensemble, source, select)
    later = [place for place in np.searchsorted(through, starts).tolist() if place]
    if unwrap or (flagged and later):
        ensemble = _unwrap(ensemble, later, flagged=flagged, progress=progress)
    if opens:
        ensemble = replace(ensemble, frames=ensemble.frames.then(OpenSpace()), images=None)
    frames = ensemble.frames.keep(as_range(np.searchsorted(through, kept).tolist()))
    ensemble = replace(ensemble, frames=frames, weights=_weights(weights, kept, n_source))
    runs = np.searchsorted(starts, kept, side="right")
    return replace(ensemble, runs=frozen(runs) if len(set(runs.tolist())) > 1 else None)


def _choose(
    draft: Ensemble, files: Files, pick: Callable[..., Sequence[int]], *, unwrap: bool
) -> tuple[Ensemble, Sequence[int], Sequence[int], list[int]]:
    """Return the draft with notes, snapshots that are kept and read, and starts of runs."""
    times, source, name = draft.frames.times, draft.frames.source, files[0][1]

    def are_same(one: int, other: int) -> bool:
        (before, after), boxes = source.read([one, other], None)
        same = boxes is None or np.array_equal(boxes[0], boxes[1], equal_nan=True)
        return same and np.array_equal(before, after, equal_nan=True)

    starts, repeats = find_runs(times, [first for first, _ in files], are_same)
    in_steps = isinstance(source, FileSource) and any(file.in_steps for file in source.files)
    clock = np.full(len(times), np.nan) if in_steps or _is_table(draft) else times
    kept = pick(clock, starts, repeats, source=name)
    notes = list(draft.notes)
    if repeats:
        notes.append(f"{name}: {counted(len(repeats), 'snapshot')} repeat others and count once")
    if starts:
        notes.append(
            f"{len(starts) + 1} trajectories count as replicas, as their times start again or "
            "overlap: replicas='one' joins them"
        )
    elif len(files) > 1 and np.isnan(times).any() and not draft.independent:
        notes.append(
            f"{len(files)} trajectories without times count as one run: replicas= tells which are "
            "others"
        )
    through = choose_through(kept, starts, repeats) if unwrap else kept
    return replace(draft, notes=tuple(notes)), kept, through, starts


def _open(
    source: Any,
    trajectories: str | Path | Sequence[str | Path],
    options: dict[str, Any],
    pick: Callable[..., Sequence[int]],
    *,
    box_given: bool,
) -> tuple[Ensemble, bool]:
    """Return a draft of all snapshots and atoms, and whether its boxes are cells of structures."""
    others = [trajectories] if isinstance(trajectories, str | Path) else list(trajectories)
    if not all(isinstance(path, str | Path) for path in others):
        raise TypeError("trajectories= takes paths of files: pass an object alone as the source")
    named = [source] if isinstance(source, str | Path) else source
    listed = isinstance(source, list | tuple)
    if (
        not isinstance(named, list | tuple)
        or not named
        or not all(isinstance(each, str | Path) for each in named)
    ):
        if others:
            raise ValueError(f"trajectories need a topology file, got {type(source).__name__}")
        _refuse_unused(options, type(source).__name__, "columns" * hasattr(source, "columns"))
        return _from_object(source, options["columns"]), False
    paths = [_located(path) for path in (*named, *others)]
    kinds, name = [kind(path) for path in paths], str(paths[0])
    if set(kinds) <= STRUCTURES:
        _refuse_unused(options, name, "common_atoms")
        files = [read_structure(path) for path in paths]
        models = partial(_pick_models, pick)
        common = options["common_atoms"]
        draft = from_structures(files, common_atoms=common, choose=models, box_given=box_given)
        return draft, True
    if set(kinds) & (TABLES | {".npy"}):
        if len(paths) > 1:
            raise ValueError(
                f"{name}: tables and arrays are read one at a time: analyse each alone"
            )
        _refuse_unused(options, name, "columns" if kinds[0] in TABLES else "")
        return _from_table(paths[0], options["columns"]), False
    _refuse_unused(options, name, "allow_truncated")
    in_a_row = len(set(kinds)) == 1 and kinds[0] in _IN_A_ROW
    if (listed or kinds[0] in _BARE) and not in_a_row:
        raise ValueError(
            f"{name}: a list of files is of structures, or of trajectories of one kind: give a "
            "topology first, and then its trajectories"
        )
    return _from_trajectories(paths, bare=kinds[0] in _BARE, cut=options["allow_truncated"]), False


def _from_object(source: Any, columns: Columns) -> Ensemble:
    if isinstance(source, Ensemble):
        raise TypeError("an Ensemble is read already: slice its snapshots, or select sites of it")
    if isinstance(source, Iterator) and not hasattr(source, "ts"):
        source = list(source)  # such as ase.io.iread gives them, each once
    if is_group(source):
        return from_universe(source.universe)
    if is_mdtraj(source):
        return from_mdtraj(source)
    if is_ase(source):
        return from_ase(source)
    if hasattr(source, "columns"):
        return from_dataframe(source, columns)
    refuse_no_array(source)
    return Ensemble.from_array(source)


def _from_table(path: Path, columns: Columns) -> Ensemble:
    if kind(path) in TABLES:
        return read_table(path, columns)
    try:
        draft = Ensemble.from_array(open_npy(path))
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    return replace(draft, frames=Frames.of(FileSource((index_file(path),))), sources=(str(path),))


def _from_trajectories(paths: list[Path], *, bare: bool, cut: bool) -> Ensemble:
    """Return a draft of a topology and its trajectories, or of trajectories alone."""
    first, alike = paths[0], len({kind(path) for path in paths}) == 1
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(f"{first}: one of these files is given twice: leave one of them out")
    topology = None if bare or kind(first) == ".xyz" else read_topology(first)
    n_atoms = None if topology is None else len(topology.atoms)
    files = [
        index_file(path, n_atoms, cut=cut) for path in (paths if alike else paths[1:] or paths)
    ]
    if topology is None and not bare:
        topology = _named(files[0] if alike else index_file(first))
    alone = alike and all(file.n_frames == 1 for file in files) and len(files) > 1
    if alike and len(files) > 1 and not bare and files[0].n_frames == 1 and not alone:
        files = files[1:]  # a structure before a trajectory
    atoms, ids, molecules = _named(files[0]) if topology is None else topology
    notes = [file.note for file in files if file.note]
    for file in files:
        refuse_other_atoms(file, len(atoms), ids, str(first))
        if not bare and Path(file.path) != first.absolute():
            refuse_other_order(file, atoms.names, str(first))
    if bare:
        named = "are named by their type" if (atoms.names != "").any() else "have no names"
        notes.append(f"{first}: without a topology, sites {named} and have no bonds")
    units = {file.unit for file in files}
    if kind(first) in LAMMPS_DATA and any(kind(path) == ".dcd" for path in paths):
        units = {""}  # that of the simulation
    source = FileSource(tuple(files))
    return Ensemble(
        frames=Frames.of(source),
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit=units.pop() if len(units) == 1 else "",
        independent=alone,
        rounding=max(file.rounding for file in files),
        sources=tuple(dict.fromkeys(str(path) for path in paths)),
        notes=tuple(notes),
        molecules=molecules,
        numbers=ids,
    )


def _named(file: Trajectory) -> Topology:
    """Return atoms as a trajectory names them."""
    atoms = Atoms.unnamed(file.n_atoms)
    if file.names is not None:
        elements = guess_elements(file.names, atoms.resnames)
        masses = element_masses(elements)
        resids = np.ones(file.n_atoms, np.int64) if file.ids is None else file.ids
        atoms = replace(atoms, names=file.names, elements=elements, masses=masses, resids=resids)
    return Topology(atoms, file.ids, file.molecules)


def _located(path: str | Path) -> Path:
    if isinstance(path, str) and path.lower().startswith("pdb:"):
        return fetch(path[4:])
    return checked_file(path)


def _refuse_unused(options: dict[str, Any], source: str, used: str) -> None:
    for name, given in options.items():
        if given and name != used:
            raise ValueError(f"{source}: {name}= is for other sources: leave it out")


def _pick_models(pick: Callable[..., Sequence[int]], count: int, name: str) -> Sequence[int]:
    return pick(np.full(count, np.nan), [], [], source=name)


def _files(draft: Ensemble) -> Files:
    """Return the first snapshots of the files of a draft, and their names."""
    source = draft.frames.source
    if isinstance(source, FileSource):
        names = [file.path for file in source.files]
        return tuple(zip(source.firsts.tolist(), names, strict=False))
    return ((0, draft.sources[0] if draft.sources else "array"),)


def _is_table(draft: Ensemble) -> bool:
    return draft.sources[:1] == ("DataFrame",) or any(
        kind(Path(source)) in TABLES for source in draft.sources
    )


def _box_of(given: Any) -> Any:
    """Return a box as numbers, None for that of the file, False for none."""
    if not isinstance(given, str):
        return box_of_library(given)
    if given.strip().lower() == "none":
        return False
    try:
        return [float(word) for word in given.split(",")]
    except ValueError:
        raise ValueError(f"a box is written as 20,20,20 or none, got {given!r}") from None


def _boxes(given: Any, ensemble: Ensemble, through: Sequence[int]) -> Floats:
    """Return the user's boxes for each snapshot that is read."""
    n_snapshots, _, n_dimensions = ensemble.frames.shape
    every = len(np.shape(given)) > 1 and len(given) == ensemble.n_source != n_snapshots
    try:
        if every:
            return rows(box_matrices(given, ensemble.n_source, n_dimensions), through)
        return box_matrices(given, n_snapshots, n_dimensions)
    except ValueError as error:
        reason = str(error).removesuffix(": check the box of the file")
        raise ValueError(f"box= cannot be used: {reason}") from None


def _with_bonds(ensemble: Ensemble, bonds: str | npt.ArrayLike) -> Ensemble:
    """Return an ensemble with the bonds of its source, guessed ones, none, or the user's."""
    if not isinstance(bonds, str):
        return replace(ensemble, atoms=with_bonds(ensemble.atoms, bonds), traces=None)
    if bonds not in {"auto", "file", "guess", "none"}:
        raise ValueError(f"bonds are 'auto', 'file', 'guess', 'none' or pairs, got {bonds!r}")
    if bonds == "none":
        return replace(ensemble, atoms=with_bonds(ensemble.atoms), traces=None)
    ensemble, length = ensemble.with_traces(), angstrom_of(ensemble)
    atoms, notes = ensemble.atoms, list(ensemble.notes)
    if ensemble.traces is not None and len(ensemble.traces):
        notes.append(
            f"{ensemble.prefix}atoms between residues are missing: "
            f"{counted(len(ensemble.traces), 'pair')} of neighbours along chains count as 3 (Cα) "
            "or 6 (nucleotides) bonds apart"
        )
    beads = is_coarse_grained(atoms.names, atoms.resnames)
    possible = length is not None and (atoms.elements != "").any() and not beads
    if beads and bonds != "file" and not len(atoms.bonds):
        notes.append(f"{ensemble.prefix}beads have no covalent bonds: a TPR or PSF file gives some")
    if bonds == "guess" and not possible:
        raise ValueError(
            f"{ensemble.prefix}bonds are guessed from elements and a unit such as Å, and one of "
            "them is missing: leave out bonds='guess'"
        )
    # PDB and mmCIF files list unusual bonds only, and mdtraj knows those of standard residues.
    source = ensemble.sources[0] if ensemble.sources else ""
    partial_ = source == "mdtraj Trajectory" or kind(Path(source)) in STRUCTURES
    if possible and bonds != "file" and (bonds == "guess" or partial_ or not len(atoms.bonds)):
        points, box = ensemble.snapshot()
        guessed = guess_bonds(atoms, points, box=box, angstrom=length or 1.0)
        atoms = with_bonds(atoms, guessed, atoms.bonds if bonds == "auto" else ())
    return replace(ensemble, atoms=atoms, notes=tuple(notes))


def _has_flags(draft: Ensemble) -> bool:
    source = draft.frames.source
    return isinstance(source, FileSource) and all(file.has_images for file in source.files)


def _apply_flags(ensemble: Ensemble, starts: list[int]) -> Ensemble:
    """Return an ensemble in which image flags of the file are applied."""
    source = ensemble.frames.source
    assert isinstance(source, FileSource)  # noqa: S101
    source = replace(source, starts=tuple(starts))
    note = f"{ensemble.prefix}image flags of the file tell which faces of the box atoms crossed"
    frames = replace(ensemble.frames, source=source, unfold=True)
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def _unwrap(
    ensemble: Ensemble, starts: list[int], *, flagged: bool, progress: Progress | None
) -> Ensemble:
    molecules = molecules_of(ensemble)
    try:
        step = unwrapped(
            ensemble.frames, molecules, starts=starts, flagged=flagged, progress=progress
        )
    except ValueError as error:
        known = any(path in str(error) for _, path in _files(ensemble))
        raise ValueError(f"{'' if known else ensemble.prefix}{error}") from None
    return replace(ensemble, frames=ensemble.frames.then(step))


def _select(ensemble: Ensemble, source: Any, select: Any) -> Ensemble:
    """Return the sites that the user selects, of an AtomGroup those in it."""
    group: Ints | None = np.asarray(source.atoms.ix, np.int64) if is_group(source) else None
    if group is not None and not isinstance(select, str):
        ensemble = ensemble.select(group)
    if select is None:
        return ensemble
    if callable(select):
        chosen: Ensemble = select(ensemble)
        return chosen
    if group is None or not isinstance(select, str):
        return ensemble.select(select)
    found = ensemble.find_sites(select)
    return ensemble.select(found[np.isin(found, group)])


def _weights(given: Any, kept: Sequence[int], n_source: int) -> Floats | None:
    """Return one weight for each snapshot that is kept."""
    if given is None:
        return None
    if isinstance(given, str | Path):
        given = np.loadtxt(checked_file(given), ndmin=1)
    array = np.asarray(given)
    if array.shape == (n_source,) and len(kept) != n_source:
        array = array[np.asarray(kept)]
    return checked_weights(array, len(kept))
