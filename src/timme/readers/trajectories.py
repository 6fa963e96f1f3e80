"""Trajectories: frames of one or more files, read when they are needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.readers.clocks import FrameClock, clock_of
from timme.readers.files import RawFrame, checked_file
from timme.readers.identity import in_order, refuse_other_ids
from timme.readers.orders import order_by_topology
from timme.readers.probes import Probe
from timme.readers.trajectory_files import (
    ReadFrame,
    TrajectoryFile,
    clock_of_opened,
    describe_file,
    open_file,
    refuse_other_atoms,
    unreadable,
)
from timme.readers.universes import quiet
from timme.system.boxes import boxes_of_frames
from timme.system.derived_frames import BoxedFrames, PlainFrames
from timme.system.frame_choices import chosen_of, file_mark, marks_of_choice, rows_of
from timme.system.frames import Frames
from timme.system.holes import ANY, Resting
from timme.system.placeholders import judge_box, max_walls, plane_box, walls_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrajectoryFrames(PlainFrames):
    """Frames of trajectory files in a row; files stay closed until they are read."""

    files: tuple[TrajectoryFile, ...]
    chosen: Sequence[int]  # frames that count, numbered through all files
    sites: Ints | None = None  # atoms that are kept, all if None
    periodic: bool = False
    through: bool = False  # whether atoms are where they went through the walls, as images say
    walls: tuple[bool, ...] | None = None  # in which every frame must be periodic; None for any
    resting: Resting = ANY
    _open: dict[int, ReadFrame] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)
    _clocks: dict[int, FrameClock] = field(default_factory=dict, repr=False)

    @property
    def style(self) -> str:
        """Units of the simulation, where all files have the same."""
        styles = {file.style for file in self.files}
        return styles.pop() if len(styles) == 1 else ""

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
            Positions, in single precision where all frames are.
        boxes : ndarray, shape (stop - start, 3, 3), or None
            Box vectors as rows, None where space is open.
        """
        frames = self.chosen[start:stop]
        shape = len(frames), *self.shape[1:]
        coordinates: Coordinates = np.empty(shape, dtype=np.float32)
        boxes = list[Floats | None]()
        with self._lock:
            for row, frame in enumerate(frames):
                file, place = self._place(frame)
                found = self._frame(file, place)
                unit, name = self.files[file].unit, self._name(file, place)
                box = judge_box(found.box, unit, walls=self.walls, name=name)
                found = found._replace(box=box)
                self.resting.refuse_holes(
                    found.positions, place, source=self.files[file].path, sites=self.sites
                )
                positions = _unfold(found) if self.through else found.positions
                # No number loses digits that its file has: texts are double, most others single.
                if positions.dtype.itemsize > coordinates.dtype.itemsize:
                    wider = np.empty(shape, positions.dtype)
                    wider[:row] = coordinates[:row]
                    coordinates = wider
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
        return BoxedFrames(replace(self, walls=None), boxes)

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

    def stamps(self) -> Floats:
        """Tell times of snapshots, or the numbers of their steps, as headers give them.

        Returns
        -------
        ndarray, shape (snapshots,)
            NaN for formats that tell none without the whole frame.
        """
        with self._lock:
            found = [self._stamps(file) for file in range(len(self.files))]
        return rows_of(np.concatenate(found), self.chosen)

    def unfold(self) -> Self | None:
        """Put atoms where they went through the walls of the box.

        Returns
        -------
        TrajectoryFrames or None
            None unless all frames of all files tell how often they did: where only some do, what
            went through a wall would jump between these and the others.
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
        judged = self.periodic, self.through, self.walls, self.resting
        return type(self), (self.files, *chosen, *judged)

    def probes(self) -> Iterator[Probe]:
        """Look at the first, the middle and the last frame of every file, and at no others.

        Yields
        ------
        Probe
            What each of these frames tells.
        """
        for number, file in enumerate(self.files):
            last = file.n_frames - 1
            for frame in sorted({0, last // 2, last}) if file.n_frames else ():
                try:
                    yield Probe.of(self._frame(number, frame), file)
                except ValueError:
                    if frame == 0:
                        raise
                    # A later frame that is damaged is told when it is needed.

    def first_of_files(self) -> list[int]:
        """Number the frames with which files begin.

        Returns
        -------
        list of int
            Of all frames of all files.
        """
        return [int(first) for first in self._firsts[:-1]]

    def names_of(self, file: int) -> npt.NDArray[Any] | None:
        """Tell what the atoms of a file are called.

        Parameters
        ----------
        file : int
            Which one.

        Returns
        -------
        ndarray, shape (atoms,), or None
            As its first frame has them, in the order in which they are read; None without names.
        """
        found = self._frame(file, 0).names
        return self.files[file].names if found is None else found

    def name_of(self, frame: int) -> str:
        """Name a frame in messages.

        Parameters
        ----------
        frame : int
            Its number in all files.

        Returns
        -------
        str
            Its file, and its number in it, from 1 on.
        """
        return self._name(*self._place(frame))

    def _name(self, file: int, frame: int) -> str:
        return f"{self.files[file].path}: frame {frame + 1}"

    def _stamps(self, file: int) -> Floats:
        described = self.files[file]
        unknown = np.full(described.n_frames, np.nan)
        if described.stamps is not None:
            return described.stamps
        try:
            self._frame(file, 0)
        except ValueError:  # which is told when that frame is needed
            return unknown
        clock = clock_of_opened(self._open[file])
        if clock is None or isinstance(self._open[file], partial):  # which reads whole frames
            return unknown
        return np.array([clock(frame) for frame in range(described.n_frames)], dtype=np.float64)

    def _place(self, frame: int) -> tuple[int, int]:
        """Return in which file a frame is, and where in it."""
        file = int(np.searchsorted(self._firsts, frame, side="right")) - 1
        return file, int(frame - self._firsts[file])

    @property
    def _firsts(self) -> Ints:
        """Number of the first frame of each file, and of all frames."""
        return np.cumsum([0] + [file.n_frames for file in self.files])

    def _clock(self, file: int) -> FrameClock:
        """Find the quickest way to tell the times of the frames of a file."""
        described = self.files[file]
        clock = clock_of(Path(described.path), described.offsets, described.style)
        if clock is not None:
            return clock
        self._frame(file, 0)
        return clock_of_opened(self._open[file]) or partial(self._frame_time, file)

    def _frame_time(self, file: int, frame: int) -> float | None:
        return self._frame(file, frame).time

    def _frame(self, file: int, frame: int) -> RawFrame:
        description = self.files[file]
        try:
            with quiet():
                if file not in self._open:
                    self._open[file] = open_file(description)
                found = self._open[file](frame)
                box = plane_box(found.box, found.positions, description.unit)
                found = found._replace(box=box)
                return in_order(found, description.ids, description.names)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001, readers raise what they stumble over
            raise ValueError(unreadable(description.path, frame, error)) from None


def open_trajectories(
    paths: Sequence[Path],
    *,
    n_atoms: int | None,
    ids: Ints | None = None,
    serials: Ints | None = None,
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
    ids : ndarray of int, shape (atoms,), optional
        Those that the topology gives them, which files with ids share.
    serials : ndarray of int, shape (atoms,), optional
        Its numbers of them, which may be ids; without `ids`, the order of atoms follows from them.
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
        file, note = describe_file(checked_file(path), expected, allow_truncated=allow_truncated)
        if expected is not None and file.n_atoms != expected:
            raise ValueError(
                f"{path}: {file.n_atoms} atoms, but {owner} has {expected}: "
                "topology and trajectories need the same atoms; choose the matching files"
            )
        if ids is not None and file.ids is not None:
            refuse_other_ids(file.ids, ids, str(path), topology)
        for other in files[-1:]:
            refuse_other_atoms(file, other)
        expected, owner = file.n_atoms, owner or str(path)
        files.append(file)
        notes.extend([note] if note else [])
    if n_atoms is not None and topology and ids is None:
        files, note = order_by_topology(files, serials, topology)
        notes.extend([note] if note else [])
    notes.extend(_image_notes(files))
    total = sum(file.n_frames for file in files)
    frames = TrajectoryFrames(tuple(files), range(total))
    found = list(frames.probes())
    walls = None if any_boxes else max_walls(walls_of(probe.box, probe.unit) for probe in found)
    periodic = any(probe.box is not None and probe.box.any() for probe in found)
    resting = Resting.of(probe.resting for probe in found)
    frames = replace(frames, periodic=periodic, walls=walls, resting=resting)
    if not any_boxes:
        notes.extend(dict.fromkeys(probe.remark for probe in found if probe.remark))
    return frames, tuple(notes)


def _image_notes(files: Sequence[TrajectoryFile]) -> Iterator[str]:
    """Say where images are left out that only some frames have."""
    partly = next((file.path for file in files if file.some_images), "")
    without = next((file.path for file in files if not file.has_images), "")
    said = "how often atoms went through the walls of the box"
    if partly:
        yield f"{partly}: only some of its frames tell {said}, so that this is not used"
    elif without and any(file.has_images for file in files):
        yield f"{without}: it does not tell {said}, as other files do, so that this is not used"


def _unfold(found: RawFrame) -> Coordinates:
    if found.images is None or found.box is None:
        return found.positions
    moved: Coordinates = found.positions + found.images @ found.box
    return moved
