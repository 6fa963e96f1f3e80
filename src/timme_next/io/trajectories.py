"""Trajectories: frames of one or more files, which are opened for each block that is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from timme_next._arrays import Coordinates, Floats, Ints, Strings
from timme_next._text import one_line
from timme_next.ensemble.frames import Frame
from timme_next.io import binary, text, xdr
from timme_next.io.files import (
    STRUCTURES,
    Trajectory,
    cell_box,
    checked_file,
    kind,
    refuse_changed,
    stamp,
)
from timme_next.io.pdb import read_structure
from timme_next.io.structures import Model
from timme_next.io.topologies import index_by_library, open_by_library

ReadFrame = Callable[[int], Frame]


class Format(NamedTuple):
    """How files of one format are read."""

    find: Callable[[Path], Trajectory]
    open: Callable[[Trajectory], AbstractContextManager[ReadFrame]]


def _text(read_head: text.ReadHead) -> Format:
    return Format(partial(text.index_text, read_head), partial(text.open_text, read_head))


def _xdr(read_head: xdr.ReadHead) -> Format:
    return Format(partial(xdr.index_xdr, read_head), partial(xdr.open_xdr, read_head))


@dataclass(frozen=True, slots=True, eq=False)
class FileSource:
    """Frames of trajectory files in a row."""

    files: tuple[Trajectory, ...]
    starts: tuple[int, ...] = ()  # snapshots with which later runs start, where flags may be 0
    on_disk: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, atoms and dimensions."""
        first = self.files[0]
        return sum(file.n_frames for file in self.files), first.n_atoms, first.n_dimensions

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
        _, n_sites, n_dimensions = self.shape
        n_sites = n_sites if sites is None else len(sites)
        found: Coordinates = np.empty((len(numbers), n_sites, n_dimensions), np.float32)
        boxes, row = np.zeros((len(numbers), n_dimensions, n_dimensions)), 0
        owners, at_zero = self._owners(numbers), -1
        for owner in np.unique(owners).tolist():
            with opened(self.files[owner]) as read:
                for number in np.asarray(numbers)[owners == owner].tolist():
                    positions, box, images, *_ = read(number - int(self.firsts[owner]))
                    if unfold and images is not None and box is not None:
                        if not images.any():
                            if at_zero != number - 1:
                                self._refuse_reset(number)
                            at_zero = number
                        positions = positions + images @ box
                    if positions.dtype.itemsize > found.dtype.itemsize:
                        found = found.astype(np.float64)  # no number loses digits of its file
                    found[row] = positions if sites is None else positions[sites]
                    boxes[row] = 0.0 if box is None else box
                    row += 1
        return found, boxes

    def _owners(self, numbers: Sequence[int]) -> Ints:
        """Return the file of each of some snapshots."""
        return np.searchsorted(self.firsts, numbers, side="right") - 1

    def _refuse_reset(self, number: int) -> None:
        """Refuse image flags that are all 0 after a snapshot in which some were not."""
        if number in {0, *self.starts}:
            return
        owner = int(self._owners([number - 1])[0])
        with opened(self.files[owner]) as read:
            images = read(number - 1 - int(self.firsts[owner])).images
        if images is not None and images.any():
            raise ValueError(
                f"{self.files[owner].path}: image flags are 0 for all atoms in snapshot "
                f"{number + 1:,}, and were not before: read the parts before and after it by "
                "themselves (start=, stop=)"
            )


@contextmanager
def opened(file: Trajectory) -> Iterator[ReadFrame]:
    """Open a file for reading frames with their atoms in one order; errors name file and frame."""
    path = Path(file.path)

    def read(number: int) -> Frame:
        try:
            return _in_order(read_frame(number), file)
        except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
            refuse_changed(path, file.stamp)
            raise ValueError(
                f"{path}: frame {number + 1} cannot be read ({one_line(error)[:200]}): copy or "
                "write the file again, or stop before that frame (stop=)"
            ) from None

    refuse_changed(path, file.stamp)
    with FORMATS.get(kind(path), _BY_LIBRARY).open(file) as read_frame:
        yield read
    refuse_changed(path, file.stamp)


def index_file(path: Path, n_atoms: int | None = None, *, cut: bool = False) -> Trajectory:
    """Find the frames of a file; those before damage if it may be cut off.

    ``n_atoms`` is the number of atoms, for formats that do not tell it.
    """
    path = checked_file(path)
    before, format_ = stamp(path), kind(path)[1:].upper()
    if format_ in _BINARY and path.suffix.lower() in {".gz", ".bz2"}:
        raise ValueError(f"{path}: compressed {format_} files are not read: unpack it first")
    try:
        if kind(path) in FORMATS:
            found = FORMATS[kind(path)].find(path)
        else:
            found = index_by_library(path, n_atoms)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001, libraries raise what they stumble over
        raise ValueError(
            f"{path}: not a {format_} file that can be read ({one_line(error)[:200]}): copy or "
            "write the file again"
        ) from None
    whole = f"the {found.n_frames} whole frames before it"
    if found.damage and not cut:
        raise ValueError(
            f"{path}: {found.damage}: copy or write the file again; allow_truncated=True goes on "
            f"with {whole}"
        )
    note = f"{found.damage}; {whole} are used" if found.damage else found.note
    return replace(found, note=f"{path}: {note}" if note else "", stamp=before)


def refuse_other_atoms(file: Trajectory, n_atoms: int, ids: Ints | None, topology: str) -> None:
    """Refuse a file that has not the atoms of a topology: as many, and of the same ids."""
    if file.n_atoms != n_atoms:
        raise ValueError(
            f"{file.path}: {file.n_atoms} atoms, but {topology} has {n_atoms}: topology and "
            "trajectories need the same atoms; choose the matching files"
        )
    if ids is not None and file.ids is not None and len(other := np.setxor1d(file.ids, ids)):
        raise ValueError(
            f"{file.path}: its atoms are not those of {topology}, see id {other[0]}: topology and "
            "trajectories need the same atoms; choose the matching files"
        )


def refuse_other_order(file: Trajectory, names: Strings, topology: str) -> None:
    """Refuse names that differ from those of the topology, if most of them stand elsewhere."""
    if file.names is None:
        return
    found = file.names
    if kind(Path(file.path)) == ".gro":  # with number and name of the residue
        found = np.strings.strip([name[10:] for name in found.tolist()])
    other = np.flatnonzero(found != names)
    moved = (Counter(found[other].tolist()) & Counter(names[other].tolist())).total()
    if 2 * moved > len(other):
        place = int(other[0])
        raise ValueError(
            f"{file.path}: its atoms are not in the order of {topology}: atom {place + 1} is "
            f"{found[place]} here and {names[place]} there: write it in the order of the topology, "
            "or as XTC if only its names are others"
        )


def _in_order(frame: Frame, file: Trajectory) -> Frame:
    """Return a frame with its atoms in the order of ids, or refuse other names than the first's."""
    positions, box, images, ids, names = frame
    if len(positions) != file.n_atoms:
        raise ValueError(f"it has {len(positions)} atoms, the others have {file.n_atoms}")
    if (ids is None) != (file.ids is None):
        raise ValueError("it has no ids as others have, or others have none")
    if ids is not None and file.ids is not None:
        order = np.argsort(ids, kind="stable")
        if not np.array_equal(ids[order], file.ids) or (np.diff(file.ids) == 0).any():
            raise ValueError("its ids are not those of the first frame, or some are there twice")
        images = None if images is None else images[order]
        return Frame(positions[order], box, images)
    if names is not None and file.names is not None:
        for place in np.flatnonzero(names != file.names).tolist():
            raise ValueError(
                f"its atom {place + 1} is {names[place]}, which is {file.names[place]} in the "
                "first frame, and no ids tell which is which"
            )
    return frame


def index_models(path: Path) -> Trajectory:
    """Find the models of a structure file behind a topology."""
    models = _models(str(path), stamp(path))
    return Trajectory(
        str(path.absolute()),
        len(models),
        len(models[0].atoms),
        np.full(len(models), np.nan),
        rounding=0.001,
        names=models[0].atoms.names,
    )


@contextmanager
def open_models(file: Trajectory) -> Iterator[ReadFrame]:
    """Open a structure file for reading some of its models by their numbers."""
    models = _models(file.path, file.stamp)

    def read(number: int) -> Frame:
        model = models[number]
        sizes = np.zeros(6) if model.cell is None else np.array(model.cell.sizes)
        return Frame(model.coordinates, cell_box(sizes[:3], sizes[3:]), names=model.atoms.names)

    yield read


@lru_cache(maxsize=1)
def _models(path: str, changed: tuple[int, int]) -> list[Model]:
    del changed
    return read_structure(Path(path)).models


_BINARY = frozenset(("XTC", "TRR", "DCD", "NC", "H5MD", "GSD", "NPY"))
_MODELS = Format(index_models, open_models)
_BY_LIBRARY = Format(partial(index_by_library, n_atoms=None), open_by_library)
FORMATS = {
    ".xtc": _xdr(xdr.read_xtc_head),
    ".trr": _xdr(xdr.read_trr_head),
    ".gro": _text(text.read_gro_head),
    ".xyz": _text(text.read_xyz_head),
    ".lammpstrj": _text(text.read_dump_head),
    ".dcd": Format(binary.index_dcd, binary.open_dcd),
    ".nc": Format(binary.index_netcdf, binary.open_netcdf),
    ".h5md": Format(binary.index_h5md, binary.open_h5md),
    ".gsd": Format(binary.index_gsd, binary.open_gsd),
    ".npy": Format(binary.index_npy, binary.open_npy_file),
    **dict.fromkeys(STRUCTURES, _MODELS),
}
