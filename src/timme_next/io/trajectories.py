"""Trajectories: frames of one or more files, which are opened for each block that is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from timme_next._arrays import Coordinates, Floats, Ints
from timme_next._text import one_line
from timme_next.ensemble import Atoms, Ensemble, Frames
from timme_next.ensemble.atoms import element_masses, guess_elements
from timme_next.ensemble.frames import Frame
from timme_next.ensemble.unwrapping import apply_image_flags
from timme_next.io import binary, text, topologies, xdr
from timme_next.io.files import (
    STRUCTURES,
    Trajectory,
    cell_box,
    checked_file,
    kind,
    open_npy,
    refuse_changed,
    stamp,
)
from timme_next.io.pdb import read_structure
from timme_next.io.structures import Model
from timme_next.io.topologies import LAMMPS_DATA, Topology, read_topology


class Format(NamedTuple):
    """How files of one format are read."""

    find: Callable[[Path], Trajectory]  # its frames
    open: Callable[[str], AbstractContextManager[Any]]
    read: Callable[[Any, Trajectory, int], Frame]  # of what is open, by its number


@dataclass(frozen=True, slots=True, eq=False)
class FileSource:
    """Frames of trajectory files in a row."""

    files: tuple[Trajectory, ...]
    starts: tuple[int, ...] = ()  # snapshots with which later runs start, where flags may be 0
    on_disk: ClassVar[bool] = True

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

    def read(
        self, numbers: Sequence[int], sites: Ints | None, *, unfold: bool = False
    ) -> tuple[Coordinates, Floats | None]:
        """Return coordinates in the precision of the files, and boxes as these have them.

        Snapshots without a box have one of zeros. With ``unfold``, image flags are applied.
        """
        _, n_sites, axes = self.shape
        n_sites = n_sites if sites is None else len(sites)
        found: Coordinates = np.empty((len(numbers), n_sites, axes), np.float32)
        boxes, at_zero = np.zeros((len(numbers), axes, axes)), -1
        for row, (number, frame) in enumerate(self._frames(numbers)):
            positions, box, images = frame.positions, frame.box, frame.images
            boxes[row] = 0.0 if box is None else box
            if unfold and images is not None:
                if not images.any():
                    if at_zero != number - 1:
                        self._refuse_reset(number)
                    at_zero = number
                positions = apply_image_flags(positions, images, box)
            if positions.dtype.itemsize > found.dtype.itemsize:
                found = found.astype(np.float64)  # no number loses digits of its file
            found[row] = positions if sites is None else positions[sites]
        return found, boxes

    def _frames(self, numbers: Sequence[int]) -> Iterator[tuple[int, Frame]]:
        """Yield snapshots with their numbers, from each file that holds some of them."""
        owners = np.searchsorted(self.firsts, numbers, side="right") - 1
        for owner in np.unique(owners).tolist():
            with _opened(self.files[owner]) as read:
                for number in np.asarray(numbers)[owners == owner].tolist():
                    yield number, read(number - int(self.firsts[owner]))

    def _refuse_reset(self, number: int) -> None:
        """Refuse image flags that are all 0 after a snapshot in which some were not."""
        if number in {0, *self.starts}:
            return
        for _, frame in self._frames([number - 1]):
            if frame.images is not None and frame.images.any():
                raise ValueError(
                    f"{self.files[0].path}: image flags are 0 for all atoms in snapshot "
                    f"{number + 1:,}, and were not before: read the parts before and after it by "
                    "themselves (start=, stop=)"
                )


def index_file(path: Path, n_atoms: int | None = None, *, cut: bool = False) -> Trajectory:
    """Find the frames of a file; those before damage, if it may be cut off.

    ``n_atoms`` is the number of atoms, for formats that do not tell it.
    """
    path = checked_file(path)
    before, format_ = stamp(path), kind(path)[1:].upper()
    try:
        if kind(path) in _BINARY and path.suffix.lower() in {".gz", ".bz2"}:
            raise ValueError("it is compressed: unpack it first")  # noqa: TRY301
        found = _format(path, n_atoms).find(path)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
        raise ValueError(
            f"{path}: not a {format_} file that can be read: {one_line(error)[:200]}: copy or "
            "write the file again"
        ) from None
    whole = f"the {found.n_frames} whole frames before it"
    if found.damage and not cut:
        raise ValueError(
            f"{path}: {found.damage}: copy or write the file again; allow_truncated=True goes on "
            f"with {whole}"
        )
    note = f"{found.damage}; {whole} are used" if found.damage else found.note
    absolute = str(path.absolute())
    return replace(found, path=absolute, note=f"{path}: {note}" if note else "", stamp=before)


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
            place = int(moved[0])
            fault = f"atom {place + 1} is {own[place]}, and {names[place]} in {name}"
    if fault:
        raise ValueError(
            f"{file.path}: {fault}: topology and trajectories need the same atoms in the same "
            "order; choose the matching files"
        )


def from_trajectories(paths: Sequence[Path], *, bare: bool, cut: bool) -> Ensemble:
    """Return a draft of a topology and its trajectories, or, bare, of trajectories alone."""
    first, others = paths[0], paths[1:]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ValueError(f"{first}: one of these files is given twice: leave one of them out")
    topology = None if bare or kind(first) == ".xyz" else read_topology(first)
    n_atoms = None if topology is None else len(topology.atoms)
    files = [index_file(path, n_atoms, cut=cut) for path in others or paths]
    alike = {kind(path) for path in others} == {kind(first)}
    if alike or topology is None:
        own = index_file(first, cut=cut)
        topology = topology or _topology_of(own)
        alone = all(file.n_frames == 1 for file in (own, *files))  # each a snapshot
        files = [own, *files] if alike and (bare or alone or own.n_frames > 1) else files
    atoms, ids, molecules = topology
    for file in files:
        refuse_other_atoms(file, topology, str(first.absolute()))
    notes = [file.note for file in files if file.note]
    if bare:
        notes.append(f"{first}: without a topology, sites have no names but types, and no bonds")
    units = {file.unit for file in files}
    if kind(first) in LAMMPS_DATA and ".dcd" in {kind(path) for path in others}:
        units = {""}  # that of the simulation
    return Ensemble(
        frames=Frames.of(FileSource(tuple(files))),
        atoms=atoms,
        site_atoms=np.arange(len(atoms)),
        unit=units.pop() if len(units) == 1 else "",
        independent=alike and not bare and all(file.n_frames == 1 for file in files),
        rounding=max(file.rounding for file in files),
        sources=tuple(map(str, paths)),
        notes=tuple(notes),
        molecules=molecules,
        numbers=ids,
    )


def _topology_of(file: Trajectory) -> Topology:
    """Return atoms as a trajectory names them."""
    atoms = Atoms.unnamed(file.n_atoms)
    if file.names is not None:
        elements = guess_elements(file.names, atoms.resnames)
        resids = np.ones(file.n_atoms, np.int64) if file.ids is None else file.ids
        atoms = replace(
            atoms,
            names=file.names,
            elements=elements,
            masses=element_masses(elements),
            resids=resids,
        )
    return Topology(atoms, file.ids, file.molecules)


@contextmanager
def _opened(file: Trajectory) -> Iterator[Callable[[int], Frame]]:
    """Open a file for reading frames with their atoms in one order; errors name file and frame."""
    form = _format(Path(file.path), file.n_atoms)

    def read(number: int) -> Frame:
        try:
            return _in_order(form.read(handle, file, number), file)
        except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
            refuse_changed(file.path, file.stamp)
            raise ValueError(
                f"{file.path}: frame {number + 1} cannot be read ({one_line(error)[:200]}): copy "
                "or write the file again, or stop before that frame (stop=)"
            ) from None

    refuse_changed(file.path, file.stamp)
    with form.open(file.path) as handle:
        yield read
    refuse_changed(file.path, file.stamp)


def _in_order(frame: Frame, file: Trajectory) -> Frame:
    """Return a frame with its atoms in the order of ids, or refuse other names than the first's."""
    if len(frame.positions) != file.n_atoms:
        raise ValueError(f"it has {len(frame.positions)} atoms, the others have {file.n_atoms}")
    if (frame.ids is None) != (file.ids is None):
        raise ValueError("it has no ids as others have, or others have none")
    if frame.ids is not None and file.ids is not None:
        order = np.argsort(frame.ids, kind="stable")
        if (frame.ids[order] != file.ids).any() or (np.diff(file.ids) == 0).any():
            raise ValueError("its ids are not those of the first frame, or some are there twice")
        images = None if frame.images is None else frame.images[order]
        return Frame(frame.positions[order], frame.box, images)
    if frame.names is not None and file.names is not None:
        for place in np.flatnonzero(frame.names != file.names).tolist():
            raise ValueError(
                f"its atom {place + 1} is {frame.names[place]}, which is {file.names[place]} in "
                "the first frame, and no ids tell which is which"
            )
    return frame


def _format(path: Path, n_atoms: int | None) -> Format:
    """Return how a file is read, by MDAnalysis if its format is no other."""
    find = partial(topologies.index_by_library, n_atoms=n_atoms)
    open_ = partial(topologies.open_by_library, n_atoms=n_atoms)
    return FORMATS.get(kind(path), Format(find, open_, topologies.read_by_library))


# ---- structures behind a topology ----------------------------------------------------------------


def _index_models(path: Path) -> Trajectory:
    models = _models(str(path), stamp(path))
    names, times = models[0].atoms.names, np.full(len(models), np.nan)
    return Trajectory(len(models), len(names), times, rounding=0.001, names=names)


def _open_models(path: str) -> AbstractContextManager[list[Model]]:
    return nullcontext(_models(path, stamp(path)))


@lru_cache(maxsize=1)
def _models(path: str, changed: tuple[int, int]) -> list[Model]:
    del changed  # another file under the same name is read anew
    return read_structure(Path(path)).models


def _read_model(models: list[Model], file: Trajectory, number: int) -> Frame:
    del file
    model = models[number]
    sizes = np.array(model.cell.sizes if model.cell else np.zeros(6))
    return Frame(model.coordinates, cell_box(sizes[:3], sizes[3:]), names=model.atoms.names)


def _text(head: text.ReadHead) -> Format:
    read = partial(text.read_text, head)
    return Format(partial(text.index_text, head), text.open_text, read)


def _xdr(head: xdr.ReadHead) -> Format:
    read = partial(xdr.read_xdr, head)
    return Format(partial(xdr.index_xdr, head), partial(open, mode="rb"), read)


_BINARY = frozenset((".xtc", ".trr", ".dcd", ".nc", ".h5md", ".gsd", ".npy"))
FORMATS = {
    ".xtc": _xdr(xdr.read_xtc_head),
    ".trr": _xdr(xdr.read_trr_head),
    ".gro": _text(text.read_gro_head),
    ".xyz": _text(text.read_xyz_head),
    ".lammpstrj": _text(text.read_dump_head),
    ".dcd": Format(binary.index_dcd, partial(open, mode="rb"), binary.read_dcd),
    ".nc": Format(binary.index_netcdf, binary.open_netcdf, binary.read_netcdf),
    ".h5md": Format(binary.index_h5md, binary.open_h5, binary.read_h5md),
    ".gsd": Format(binary.index_gsd, binary.open_gsd, binary.read_gsd),
    ".npy": Format(binary.index_npy, lambda path: nullcontext(open_npy(path)), binary.read_npy),
    **dict.fromkeys(STRUCTURES, Format(_index_models, _open_models, _read_model)),
}
