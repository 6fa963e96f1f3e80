"""Trajectories: frames of one or more files, read when they are needed."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.readers.clocks import FrameClock, clock_of
from timme.readers.files import (
    STRUCTURES,
    UNITLESS,
    RawFrame,
    checked_file,
    kind,
    one_line,
    open_binary,
    read_bytes,
)
from timme.readers.gsd import GsdFile
from timme.readers.h5md import H5mdFile
from timme.readers.integrity import Layout, layout
from timme.readers.libraries import atoms_of_universe, quiet, time_of, time_of_frame
from timme.readers.mmcif import complete_mmcif
from timme.readers.numbering import pdb_numbers, without_line_numbers
from timme.readers.several import refuse_later_models, refuse_piled_models
from timme.readers.text import (
    DUMPS,
    dump_has_images,
    dump_ids,
    dump_style,
    plain_xyz,
    read_dump,
    read_gro,
    read_xyz,
)
from timme.system.atoms import Atoms
from timme.system.boxes import box_of, box_or_none, boxes_of_frames
from timme.system.frames import (
    BoxedFrames,
    Frames,
    PlainFrames,
    chosen_of,
    file_mark,
    marks_of_choice,
)
from timme.system.placeholders import can_be_box, refuse_other_space

_NM = 10.0  # Å
_OFFSETS = frozenset((".xtc", ".trr", ".gro", ".xyz")) | DUMPS  # formats that are read by place

ReadFrame = Callable[[int], RawFrame]


@dataclass(frozen=True, slots=True, eq=False)
class TrajectoryFile:
    """One trajectory file that was found whole."""

    path: str
    n_atoms: int
    n_frames: int
    offsets: Ints | None = None  # (frames,) for formats that need them for random access
    rounding: float = 0.0  # Å
    ids: Ints | None = None  # (atoms,), sorted, for formats that shuffle atoms
    has_images: bool = False  # whether it says how often atoms went through the walls
    unit: str = "Å"  # of its lengths, "" where it states none
    style: str = ""  # of the units of a LAMMPS dump


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrajectoryFrames(PlainFrames):
    """Frames of trajectory files in a row; files stay closed until they are read."""

    files: tuple[TrajectoryFile, ...]
    chosen: Sequence[int]  # frames that count, numbered through all files
    sites: Ints | None = None  # atoms that are kept, all if None
    periodic: bool = False
    through: bool = False  # whether atoms are where they went through the walls, as images say
    walled: bool | None = None  # whether every frame must have a box or none must; None for any
    _open: dict[int, ReadFrame] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)
    _clocks: dict[int, FrameClock] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        sites = self.files[0].n_atoms if self.sites is None else len(self.sites)
        return len(self.chosen), sites, 3

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            Range of snapshots, as in a slice.

        Returns
        -------
        coordinates : ndarray, shape (stop - start, sites, 3)
            Positions.
        boxes : ndarray, shape (stop - start, 3, 3), or None
            Box vectors as rows, None where space is open.
        """
        frames = self.chosen[start:stop]
        coordinates = np.empty((len(frames), *self.shape[1:]), dtype=np.float32)
        boxes = list[Floats | None]()
        with self._lock:
            for row, frame in enumerate(frames):
                file, place = self._place(frame)
                found = self._frame(file, place)
                self._refuse_other_space(found.box, file, place)
                positions = _unfolded(found) if self.through else found.positions
                coordinates[row] = positions if self.sites is None else positions[self.sites]
                boxes.append(found.box)
        return coordinates, boxes_of_frames(boxes) if self.periodic else None

    def select(self, sites: Ints) -> Self:
        """Keep some of the sites, so that no more than those are held.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        TrajectoryFrames
            The same frames of fewer sites.
        """
        kept = sites if self.sites is None else self.sites[sites]
        return replace(self, sites=kept, _open={}, _lock=threading.Lock(), _clocks={})

    def keep(self, snapshots: Sequence[int]) -> Self:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            Which to keep, ascending.

        Returns
        -------
        TrajectoryFrames
            The chosen ones; nothing is read.
        """
        return replace(self, chosen=chosen_of(self.chosen, snapshots))

    def with_boxes(self, boxes: Floats | None) -> Frames:
        """Put other boxes in place of those of the files.

        Parameters
        ----------
        boxes : ndarray, shape (snapshots, 3, 3), or None
            Box vectors as rows, None for open space.

        Returns
        -------
        Frames
            The same coordinates in these boxes; nobody asks which the files have.
        """
        return BoxedFrames(replace(self, walled=None), boxes)

    def time(self, snapshot: int) -> float | None:
        """Tell when a snapshot was taken.

        Parameters
        ----------
        snapshot : int
            Which one.

        Returns
        -------
        float or None
            In ps; None where the file does not say.
        """
        with self._lock:
            file, frame = self._place(self.chosen[snapshot])
            if file not in self._clocks:
                self._clocks[file] = self._clock(file)
            return self._clocks[file](frame)

    def unfolded(self) -> Self | None:
        """Put atoms where they went through the walls of the box.

        Returns
        -------
        TrajectoryFrames or None
            None unless all files count how often they did.
        """
        if not all(file.has_images for file in self.files):
            return None
        return replace(self, through=True)

    def elsewhere(self) -> Self:
        """Say what another process opens to read the same.

        Returns
        -------
        TrajectoryFrames
            Frames of the same files, by their whole paths.
        """
        files = tuple(replace(file, path=str(Path(file.path).absolute())) for file in self.files)
        return replace(self, files=files)

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            The files and what was found in them, and what was chosen of it.
        """
        yield from ("trajectory", self.periodic, self.through)
        for file in self.files:
            yield from (file_mark(file.path), file.n_atoms, file.n_frames, file.rounding)
            yield "none" if file.offsets is None else file.offsets
            yield "none" if file.ids is None else file.ids
        yield from marks_of_choice(self.chosen, self.sites)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes without open files."""
        chosen = self.chosen, self.sites
        return type(self), (self.files, *chosen, self.periodic, self.through, self.walled)

    def _refuse_other_space(self, box: Floats | None, file: int, frame: int) -> None:
        described = self.files[file]
        if self.walled is not None:
            name = f"{described.path}: frame {frame + 1}"
            refuse_other_space(box, described.unit, walled=self.walled, name=name)

    def probed_boxes(self) -> Iterator[tuple[Floats | None, str]]:
        """Look at the first, the middle and the last frame of every file, and at no others.

        Yields
        ------
        box : ndarray, shape (3, 3), or None
            Box vectors of a frame as rows.
        unit : str
            Their unit.
        """
        for number, file in enumerate(self.files):
            last = file.n_frames - 1
            for frame in sorted({0, last // 2, last}) if file.n_frames else ():
                try:
                    yield self._frame(number, frame).box, file.unit
                except ValueError:
                    if frame == 0:
                        raise
                    # A later frame that is damaged is told when it is needed.

    def _place(self, frame: int) -> tuple[int, int]:
        """Return in which file a frame is, and where in it."""
        firsts = np.cumsum([0] + [file.n_frames for file in self.files])
        file = int(np.searchsorted(firsts, frame, side="right")) - 1
        return file, int(frame - firsts[file])

    def _clock(self, file: int) -> FrameClock:
        """Find the quickest way to tell the times of the frames of a file."""
        described = self.files[file]
        clock = clock_of(Path(described.path), described.offsets, described.style)
        if clock is not None:
            return clock
        self._frame(file, 0)
        read = self._open[file]
        if isinstance(read, partial) and read.func is _read_frame:
            return partial(time_of_frame, read.args[0])
        opened = getattr(read, "__self__", None)
        return opened.time if isinstance(opened, H5mdFile) else partial(self._frame_time, file)

    def _frame_time(self, file: int, frame: int) -> float | None:
        return self._frame(file, frame).time

    def _frame(self, file: int, frame: int) -> RawFrame:
        description = self.files[file]
        try:
            with quiet():
                if file not in self._open:
                    self._open[file] = _open(description)
                return self._open[file](frame)
        except (
            OSError,
            ValueError,
            EOFError,
            StopIteration,
            IndexError,
            RuntimeError,
            KeyError,
        ) as error:
            raise ValueError(
                f"{description.path}: frame {frame + 1} cannot be read ({one_line(error)}): "
                "copy or write the file again, or stop before that frame"
            ) from None


def open_trajectories(
    paths: Sequence[Path],
    *,
    n_atoms: int | None,
    topology: str = "",
    allow_truncated: bool = False,
    any_boxes: bool = False,
) -> tuple[TrajectoryFrames, tuple[str, ...]]:
    """Look at trajectory files without reading their frames.

    Parameters
    ----------
    paths : sequence of Path
        Files, in the order in which their frames follow one another.
    n_atoms : int or None
        Number of atoms that the topology has, None without a topology.
    topology : str, optional
        Name of the topology, for messages.
    allow_truncated : bool, optional
        Use the whole frames of a file that is cut off.
    any_boxes : bool, optional
        Let some frames have a box and others none, where that of the files does not count.

    Returns
    -------
    frames : TrajectoryFrames
        All frames of all files.
    notes : tuple of str
        What was found.
    """
    files, notes = list[TrajectoryFile](), list[str]()
    expected, owner = n_atoms, topology
    for path in paths:
        file, note = _describe(checked_file(path), expected, allow_truncated=allow_truncated)
        if expected is not None and file.n_atoms != expected:
            raise ValueError(
                f"{path}: {file.n_atoms} atoms, but {owner} has {expected}: "
                "topology and trajectories need the same atoms; choose the matching files"
            )
        if files and file.ids is not None and files[-1].ids is not None:
            _refuse_other_ids(file.ids, files[-1].ids, str(path), files[-1].path)
        expected, owner = file.n_atoms, owner or str(path)
        files.append(file)
        notes.extend([note] if note else [])
    total = sum(file.n_frames for file in files)
    frames = TrajectoryFrames(tuple(files), range(total))
    found = list(frames.probed_boxes())
    walled = any(can_be_box(box, unit) for box, unit in found)
    periodic = any(box is not None for box, _ in found)
    frames = replace(frames, periodic=periodic, walled=None if any_boxes else walled)
    return frames, tuple(notes)


def read_topology(path: Path) -> Atoms:
    """Read names and bonds from any topology that MDAnalysis reads.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Atoms
        All atoms of the file.
    """
    import MDAnalysis
    from MDAnalysis.core._get_readers import get_parser_for

    cleaned = _clean(checked_file(path))
    refuse_piled_models(path)
    try:
        with quiet():
            parsed_as = "XYZ" if kind(path) == ".xyz" else None
            with get_parser_for(str(path), format=parsed_as)(cleaned) as parser:
                topology = parser.parse()
            atoms = atoms_of_universe(MDAnalysis.Universe(topology, to_guess=()).atoms)
    except Exception as error:  # noqa: BLE001, parsers raise what they stumble over
        raise ValueError(
            f"{path}: not a topology that can be read ({one_line(error)}): "
            "give a PDB, mmCIF, GRO, PSF, TPR, PRMTOP, LAMMPS data or similar file"
        ) from None
    return _renumbered(atoms, path)


def _renumbered(atoms: Atoms, path: Path) -> Atoms:
    """Give residues the numbers that the parser does not understand."""
    if kind(path) not in {".pdb", ".ent"}:
        return atoms
    numbers = pdb_numbers(read_bytes(path).decode("latin-1"))
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
    text = without_line_numbers(read_bytes(path)).decode("latin-1") if pdb else complete_mmcif(path)
    packed = path.suffix.lower() in {".gz", ".bz2"}
    return NamedStream(io.StringIO(text), str(path.with_suffix("") if packed else path))


def _describe(
    path: Path, n_atoms: int | None, *, allow_truncated: bool
) -> tuple[TrajectoryFile, str]:
    suffix = kind(path)
    found = layout(path, suffix)
    note = f"{path}: {found.remark}" if found is not None and found.remark else ""
    if found is not None and found.damage:
        if not allow_truncated:
            raise ValueError(
                f"{path}: {found.damage}: copy or write the file again; allow_truncated=True "
                f"goes on with the {len(found.offsets)} whole frames before it"
            )
        note = f"{path}: {found.damage}; the {len(found.offsets)} whole frames before it are used"
    if suffix == ".gsd":
        return _describe_gsd(path), note
    if suffix == ".h5md":
        return _describe_h5md(path), note
    if found is None:
        refuse_piled_models(path)
        refuse_later_models(path)
        return _describe_by_reader(path, n_atoms), note
    return _describe_by_layout(path, found), note


def _describe_by_layout(path: Path, found: Layout) -> TrajectoryFile:
    unit = "" if kind(path) in UNITLESS else "Å"
    described = TrajectoryFile(str(path), found.n_atoms, len(found.offsets), unit=unit)
    if kind(path) not in _OFFSETS:
        return described
    try:
        ids = dump_ids(path) if kind(path) in DUMPS else None
        has_images = kind(path) in DUMPS and dump_has_images(path)
        style, stated = dump_style(path) if kind(path) in DUMPS else ("", unit)
    except ValueError as error:
        raise ValueError(
            f"{path}: not a LAMMPS dump that can be read: {one_line(error)}: write it again"
        ) from None
    return replace(
        described,
        offsets=found.offsets,
        rounding=round(_NM * found.rounding, 9),
        ids=ids,
        has_images=has_images,
        unit=stated,
        style=style,
    )


def _describe_gsd(path: Path) -> TrajectoryFile:
    try:
        opened = GsdFile(path)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise ValueError(
            f"{path}: not a GSD file that can be read ({one_line(error)}): write it again"
        ) from None
    return TrajectoryFile(
        str(path), opened.n_atoms, opened.n_frames, has_images=opened.has_images, unit=""
    )


def _describe_h5md(path: Path) -> TrajectoryFile:
    try:
        opened = H5mdFile(path)
    except ImportError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(
            f"{path}: not an H5MD file that can be read ({one_line(error)}): write it again"
        ) from None
    return TrajectoryFile(
        str(path),
        opened.n_atoms,
        opened.n_frames,
        has_images=opened.has_images,
        unit=opened.unit,
    )


def _describe_by_reader(path: Path, n_atoms: int | None) -> TrajectoryFile:
    try:
        with quiet(), contextlib.closing(_reader(str(path), n_atoms or 0)) as reader:
            rounding = 0.001 if kind(path) in {".pdb", ".ent"} else 0.0
            unit = "" if kind(path) in UNITLESS else "Å"
            return TrajectoryFile(
                str(path), int(reader.n_atoms), int(reader.n_frames), rounding=rounding, unit=unit
            )
    except Exception as error:  # noqa: BLE001, readers raise what they stumble over
        raise ValueError(
            f"{path}: not a trajectory that can be read ({one_line(error)}): "
            "give a whole XTC, TRR, DCD, NetCDF, GRO, XYZ or LAMMPS dump file"
        ) from None


def _refuse_other_ids(ids: Ints, others: Ints, path: str, other_path: str) -> None:
    different = np.setxor1d(ids, others)
    if len(ids) and len(others) and len(different):
        raise ValueError(
            f"{path}: its atoms are not those of {other_path}, see id {different[0]}: "
            "trajectories need the same atoms; choose the matching files"
        )


def _open(file: TrajectoryFile) -> ReadFrame:
    if kind(Path(file.path)) == ".gsd":
        return GsdFile(Path(file.path)).read
    if kind(Path(file.path)) == ".h5md":
        return H5mdFile(Path(file.path)).read
    if file.offsets is None:
        return partial(_read_frame, _reader(file.path, file.n_atoms))
    path, offsets = Path(file.path), file.offsets
    if kind(path) in {".gro", ".xyz"}:
        read = read_gro if kind(path) == ".gro" else read_xyz
        return partial(_read_text, _stream_of(path), offsets, read)
    if file.ids is not None:
        read = partial(read_dump, ids=file.ids, style=file.style)
        return partial(_read_text, _stream_of(path), offsets, read)
    # The plain file classes keep no index beside the input, as the readers built on them do.
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile, XTCFile

    opened = (XTCFile if kind(path) == ".xtc" else TRRFile)(file.path)
    opened.set_offsets(offsets)
    return partial(_read_xdr, opened)


def _reader(path: str, n_atoms: int) -> Any:
    from MDAnalysis.coordinates.core import get_reader_for

    name = "NCDF" if kind(Path(path)) == ".nc" else None
    return get_reader_for(path, format=name)(path, n_atoms=n_atoms)


def _read_xdr(opened: Any, frame: int) -> RawFrame:
    opened.seek(frame)
    found = opened.read()
    if not getattr(found, "hasx", True):
        raise ValueError("it holds no positions")
    box = np.asarray(found.box, dtype=np.float64) * _NM
    positions = np.asarray(found.x) * np.float32(_NM)
    return RawFrame(positions, box_or_none(box), time=float(found.time))


def _stream_of(path: Path) -> Callable[[], BinaryIO]:
    """Open a text again for every frame, but unpack a compressed one only once."""
    if path.suffix.lower() not in {".gz", ".bz2"}:
        return partial(open_binary, path)
    with open_binary(path) as stream:
        return partial(io.BytesIO, stream.read())


def _read_text(
    opened: Callable[[], BinaryIO],
    offsets: Ints,
    read: Callable[[BinaryIO, int], RawFrame],
    frame: int,
) -> RawFrame:
    with opened() as stream:
        return read(stream, int(offsets[frame]))


def _read_frame(reader: Any, frame: int) -> RawFrame:
    step = reader[frame]
    return RawFrame(step.positions, box_of(step), time=time_of(step))


def _unfolded(found: RawFrame) -> Coordinates:
    if found.images is None or found.box is None:
        return found.positions
    moved: Coordinates = found.positions + found.images @ found.box
    return moved
