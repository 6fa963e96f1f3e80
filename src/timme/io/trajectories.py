"""Trajectories: frames of one or more files, which are opened for each block that is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme._text import one_line
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.atoms import guess_elements
from timme.ensemble.frames import Frame, Numbers, Placed
from timme.io import binary, files, text, topologies
from timme.io.files import STRUCTURES, Trajectory, kind
from timme.io.pdb import read_structure
from timme.io.structures import StructureFile
from timme.io.topologies import LAMMPS_DATA, Topology, read_topology

# Trajectories that are read without a topology; a list of one kind is one trajectory.
_BARE = frozenset((".xtc", ".trr", ".dcd", ".nc", ".h5md", ".lammpstrj", ".npy"))
_IN_A_ROW = _BARE | {".gsd", ".xyz"}


class Format(NamedTuple):
    """How files of one format are read."""

    find: Callable[[Path], Trajectory]  # its frames
    open: Callable[[str], AbstractContextManager[Any]]
    read: Callable[[Any, Trajectory, int], Frame]  # of what is open, by its number


@dataclass(frozen=True, slots=True, eq=False)
class FileSource:
    """Frames of trajectory files in a row."""

    files: tuple[Trajectory, ...]
    unfold: bool = False  # whether image flags are applied
    starts: tuple[int, ...] = ()  # snapshots with which later runs start, where flags may be 0

    @property
    def on_disk(self) -> bool:
        """Whether another process can open the files."""
        return all(file.reader is None for file in self.files)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, atoms and dimensions."""
        return int(self.firsts[-1]), self.files[0].n_atoms, self.files[0].n_dimensions

    @property
    def times(self) -> Floats:
        """Times of all snapshots in ps, or their numbers of steps; NaN where unknown."""
        return np.concatenate([file.times for file in self.files])

    @property
    def firsts(self) -> Ints:
        """Number of the first snapshot of each file, and of all snapshots."""
        return np.cumsum([0] + [file.n_frames for file in self.files])

    def read(self, numbers: Numbers, sites: Ints | None) -> Placed:
        """Return coordinates in the precision of the files, and boxes as these have them.

        Snapshots without a box have one of zeros.
        """
        axes, found = self.shape[2], list[Coordinates]()
        boxes = np.zeros((len(numbers), axes, axes))
        for row, (number, frame) in enumerate(self._frames(numbers)):
            positions, box, images = frame.positions, frame.box, frame.images
            boxes[row] = 0.0 if box is None else box
            if self.unfold and images is not None and box is not None:
                if not images.any() and number not in {0, *self.starts}:
                    self._refuse_reset(number)
                positions = positions + images @ box  # of the file, which is not reduced
            found.append(positions if sites is None else positions[sites])
        return np.stack(found), boxes

    def _frames(self, numbers: Sequence[int]) -> Iterator[tuple[int, Frame]]:
        """Yield snapshots with their numbers, from each file that holds some of them."""
        owners = np.searchsorted(self.firsts, numbers, side="right") - 1
        for owner in np.unique(owners).tolist():
            with _opened(self.files[owner]) as read:
                for number in np.asarray(numbers)[owners == owner].tolist():
                    yield number, read(number - int(self.firsts[owner]))

    def _refuse_reset(self, number: int) -> None:
        """Refuse image flags that are all 0 after a snapshot in which some were not."""
        for _, frame in self._frames([number - 1]):
            if frame.images is not None and frame.images.any():
                fault = f"image flags begin again at 0 in snapshot {number + 1:,}"
                raise ValueError(f"{self.files[0].path}: {fault}: start or stop there (start=)")


def index_file(path: Path, n_atoms: int | None = None, *, cut: bool = False) -> Trajectory:
    """Find the frames of a file; those before damage, if it may be cut off.

    ``n_atoms`` is the number of atoms, for formats that do not tell it.
    """
    path = files.checked_file(path)
    before, again = files.stamp(path), "copy, unpack or write the file again"
    try:
        found = _format(path, n_atoms).find(path)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
        name, fault = kind(path)[1:].upper(), _fault_of(error)
        raise ValueError(f"{path}: not a {name} file that can be read: {fault}: {again}") from None
    note, whole = found.note, f"the {found.n_frames} whole frames before it"
    if found.damage and not cut:
        remedy = f"{again}; allow_truncated=True goes on with {whole}"
        raise ValueError(f"{path}: {found.damage}: {remedy}")
    note = f"{found.damage}; {whole} are used" if found.damage else note
    return replace(found, path=str(path.absolute()), note=note, stamp=before)


def refuse_other_atoms(file: Trajectory, topology: Topology, name: str) -> None:
    """Refuse a file that has not as many atoms as a topology, or others, or in another order."""
    names, fault = topology.atoms.names, ""
    if file.n_atoms != len(names):
        fault = f"{file.n_atoms} atoms, but {name} has {len(names)}"
    elif file.ids is not None and topology.ids is not None:
        other = np.setxor1d(file.ids, topology.ids).tolist()
        fault = f"its atoms are not those of {name}, see id {other[0]}" if other else ""
    elif file.names is not None and name != file.path:
        own = np.array([each[10:].strip() or each for each in file.names.tolist()])
        moved = np.flatnonzero(own != names)  # programs spell names differently
        same = Counter(own[moved].tolist()) & Counter(names[moved].tolist())
        if 2 * same.total() > len(moved):
            place = moved[0]
            fault = f"atom {place + 1} is {own[place]}, and {names[place]} in {name}"
    if fault:
        raise ValueError(f"{file.path}: {fault}: files of the same atoms in one order are needed")


def from_trajectories(paths: Sequence[Path], *, listed: bool, cut: bool) -> Ensemble:
    """Return a draft of a topology and its trajectories, or of trajectories alone."""
    first, others = paths[0], paths[1:]
    bare, kinds = kind(first) in _BARE, {kind(path) for path in paths}
    if (listed or bare) and not (len(kinds) == 1 and kinds <= _IN_A_ROW):
        raise ValueError(f"{first}: give a topology first, then trajectories, or files of one kind")
    # Its index shows that a file holds what it announces, before a library takes memory for it.
    own = index_file(first, cut=cut) if kind(first) in FORMATS.keys() - STRUCTURES else None
    unnamed = own if bare or kind(first) == ".xyz" else None
    topology = read_topology(first) if unnamed is None else _topology_of(unnamed)
    n_atoms = len(topology.atoms)
    found = [index_file(path, n_atoms, cut=cut) for path in others]
    singles = all(file.n_frames == 1 for file in found)
    alike = own is not None and len(kinds) == 1 and (bare or own.n_frames > 1 or singles)
    if alike or not others:  # the first one holds snapshots, too
        found.insert(0, own or index_file(first, n_atoms, cut=cut))
    for file in found:
        refuse_other_atoms(file, topology, str(first.absolute()))
    notes = [f"{file.path}: {file.note}" for file in found if file.note]
    units, atoms = {file.unit for file in found}, topology.atoms
    of_simulation = kind(first) in LAMMPS_DATA and ".dcd" in kinds
    unit = units.pop() if len(units) == 1 and not of_simulation else ""
    sources = tuple(map(str, paths))
    draft = Ensemble.from_source(FileSource(tuple(found)), atoms, unit, sources)
    return replace(
        draft,
        independent=not bare and alike and len(found) > 1 == max(file.n_frames for file in found),
        rounding=max(file.rounding for file in found),
        notes=tuple(notes),
        molecules=topology.molecules,
        numbers=topology.ids,
    )


def _topology_of(file: Trajectory) -> Topology:
    """Return atoms as a trajectory names them."""
    atoms = Atoms.unnamed(file.n_atoms)
    if file.names is not None:
        resids = np.ones(file.n_atoms, np.int64) if file.ids is None else file.ids
        atoms = replace(atoms, names=file.names, resids=resids)
        atoms = atoms.with_elements(guess_elements(file.names, atoms.resnames))
    return Topology(atoms, file.ids, file.molecules)


@contextmanager
def _opened(file: Trajectory) -> Iterator[Callable[[int], Frame]]:
    """Open a file for reading frames with their atoms in one order; errors name file and frame."""
    if file.reader is not None:  # of the user, whose frame is put back
        with topologies.quiet():
            before = file.reader.frame
            yield partial(topologies.read_by_library, file.reader, file)
            _ = file.reader[before]
        return
    form = _format(Path(file.path), file.n_atoms)

    def read(number: int) -> Frame:
        try:
            return _in_order(form.read(handle, file, number), file)
        except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
            files.refuse_changed(file.path, file.stamp)
            fault = f"{file.path}: frame {number + 1} cannot be read ({_fault_of(error)})"
            raise ValueError(f"{fault}: write it again, or stop before (stop=)") from None

    files.refuse_changed(file.path, file.stamp)
    with form.open(file.path) as handle:
        yield read
    files.refuse_changed(file.path, file.stamp)


def _fault_of(error: Exception) -> str:
    """Return what a library stumbled over, in a few words."""
    is_huge = isinstance(error, MemoryError)  # of a damaged file
    return "it announces more than memory can hold" if is_huge else one_line(error)[:200]


def _in_order(frame: Frame, file: Trajectory) -> Frame:
    """Return a frame with its atoms in the order of ids, or refuse other names than the first's."""
    positions, ids, names = frame.positions, frame.ids, frame.names
    if len(positions) != file.n_atoms or (ids is None) != (file.ids is None):
        raise ValueError(f"it has not the {file.n_atoms} atoms of the others, or no ids")
    if ids is not None and file.ids is not None:
        order = np.argsort(ids, kind="stable")
        if (ids[order] != file.ids).any() or (np.diff(file.ids) == 0).any():
            raise ValueError("its ids are not those of the first frame, or some are there twice")
        images = None if frame.images is None else frame.images[order]
        return Frame(positions[order], frame.box, images)
    if names is not None and file.names is not None and (names != file.names).any():
        place = np.flatnonzero(names != file.names)[0]
        fault = f"its atom {place + 1} is {names[place]}, and {file.names[place]} in the first"
        raise ValueError(f"{fault} frame, and no ids tell which is which")
    return frame


def _format(path: Path, n_atoms: int | None) -> Format:
    """Return how a file is read, by MDAnalysis if its format is no other."""
    find = partial(topologies.index_by_library, n_atoms=n_atoms)
    open_ = partial(topologies.open_by_library, n_atoms=n_atoms)
    return FORMATS.get(kind(path), Format(find, open_, topologies.read_by_library))


# ---- structures behind a topology ----------------------------------------------------------------


_structure = files.cached(read_structure)


def _index_models(path: Path) -> Trajectory:
    models = _structure(path).models
    names, times = models[0].atoms.names, np.full(len(models), np.nan)
    return Trajectory(len(models), len(names), times, rounding=0.001, names=names)


def _open_array(path: str) -> AbstractContextManager[Any]:
    return nullcontext(files.open_npy(path))


def _open_structure(path: str) -> AbstractContextManager[StructureFile]:
    return nullcontext(_structure(path))


def _read_model(structure: StructureFile, _: Trajectory, number: int) -> Frame:
    model = structure.models[number]
    return Frame(model.coordinates, model.cell, names=model.atoms.names)


_open = partial(open, mode="rb")
FORMATS = {
    **{
        name: Format(partial(binary.index_xdr, head), _open, partial(binary.read_xdr, head))
        for name, head in ((".xtc", binary.read_xtc_head), (".trr", binary.read_trr_head))
    },
    **{
        name: Format(partial(text.index_text, head), text.open_text, partial(text.read_text, head))
        for name, head in text.HEADS.items()
    },
    ".dcd": Format(binary.index_dcd, binary.open_dcd, binary.read_dcd),
    ".nc": Format(binary.index_netcdf, binary.open_netcdf, binary.read_netcdf),
    ".h5md": Format(binary.index_h5md, binary.open_h5, binary.read_h5md),
    ".gsd": Format(binary.index_gsd, binary.open_gsd, binary.read_gsd),
    ".npy": Format(binary.index_npy, _open_array, binary.read_npy),
    **dict.fromkeys(STRUCTURES, Format(_index_models, _open_structure, _read_model)),
}
