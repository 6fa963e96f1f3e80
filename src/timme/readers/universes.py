"""Universes of MDAnalysis: names, bonds, times and frames, taken as the library holds them."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, Strings
from timme.readers.boundaries import box_finder, formats_of, remark_on_step, unit_of_reader
from timme.readers.clocks import FrameClock, clock_of
from timme.readers.dcd import DcdFile
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import boxes_of_frames, fault_of
from timme.system.derived_frames import BoxedFrames, PlainFrames
from timme.system.elements import (
    element_masses,
    guess_elements,
    is_coarse_grained,
    is_element,
)
from timme.system.frame_choices import chosen_of, file_mark, marks_of_choice
from timme.system.frames import Frames
from timme.system.holes import ANY, Resting, may_lie_there
from timme.system.placeholders import judge_box, max_walls, walls_of

_TEXTS = frozenset(("DUMP", "GRO", "LAMMPSDUMP", "PDB", "XPDB", "XYZ", "TXYZ", "ARC"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniverseFrames(PlainFrames):
    """Frames of an MDAnalysis trajectory."""

    reader: Any
    chosen: Sequence[int]
    sites: Ints
    periodic: bool
    shared: bool  # with the user, whose frame is put back after reading
    walls: tuple[bool, ...] | None = None  # in which every frame must be periodic; None for any
    resting: Resting = ANY

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        return len(self.chosen), len(self.sites), 3

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
        before = self.reader.frame
        find_box = box_finder(self.reader)
        for row, frame in enumerate(frames):
            step = self.reader[frame]
            coordinates[row] = self.places(step)
            boxes.append(self.judge_box(find_box(step), step.frame))
        if self.shared:
            _ = self.reader[before]
        return coordinates, boxes_of_frames(boxes) if self.periodic else None

    def with_boxes(self, boxes: Floats | None) -> Frames:
        """Put other boxes in place of those of the trajectory.

        Parameters
        ----------
        boxes : ndarray, shape (snapshots, 3, 3), or None
            Box vectors as rows, None for open space.

        Returns
        -------
        Frames
            The same coordinates in these boxes; nobody asks which the trajectory has.
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
            In ps; None where the reader has no times.
        """
        if _lacks_times(self.reader):
            return None
        clock = _header_clock(self.reader)
        if clock is not None:
            return clock(self.chosen[snapshot])
        before = self.reader.frame
        found = time_of_frame(self.reader, self.chosen[snapshot])
        if self.shared:
            _ = self.reader[before]
        return found

    def select(self, sites: Ints) -> Self:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        UniverseFrames
            The same frames of fewer sites.
        """
        return replace(self, sites=self.sites[sites])

    def keep(self, snapshots: Sequence[int]) -> Self:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            Which to keep, ascending.

        Returns
        -------
        UniverseFrames
            The chosen ones; nothing is read.
        """
        return replace(self, chosen=chosen_of(self.chosen, snapshots))

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            What the reader says of itself, its files or its numbers, and what was chosen of them.
        """
        yield from ("universe", repr(self.reader), self.periodic, self.shared)
        for name in ("filename", "filenames"):
            named = getattr(self.reader, name, None)
            for path in named if isinstance(named, tuple | list | np.ndarray) else (named,):
                yield file_mark(path) if isinstance(path, str | Path) else repr(path)
        yield getattr(self.reader, "coordinate_array", "not in memory")
        yield from marks_of_choice(self.chosen, self.sites)

    def places(self, step: Any) -> Coordinates:
        """Take the places of the sites in a frame, and refuse one with holes.

        Parameters
        ----------
        step : Timestep
            As the reader fills it.

        Returns
        -------
        ndarray, shape (sites, 3)
            Positions.
        """
        positions: Coordinates = step.positions
        self.resting.refuse_holes(positions, step.frame, source=self.source, sites=self.sites)
        return positions[self.sites]

    @property
    def source(self) -> str:
        """Where they come from, for messages."""
        return str(getattr(self.reader, "filename", None) or "Universe")

    def judge_box(self, box: Floats | None, frame: int) -> Floats | None:
        """Take the box of a frame, or refuse one that no frame can have, or that others have not.

        Parameters
        ----------
        box : ndarray, shape (3, 3), or None
            Box vectors as rows.
        frame : int
            Which one, for the message.

        Returns
        -------
        ndarray, shape (3, 3), or None
            As for :func:`timme.system.placeholders.judge_box`.
        """
        unit, name = unit_of_reader(self.reader), f"{self.source}: frame {frame + 1}"
        return judge_box(box, unit, walls=self.walls, name=name)


def universe_frames(
    group: Any, *, any_boxes: bool = False
) -> tuple[UniverseFrames, tuple[str, ...]]:
    """Take the frames of the trajectory behind an AtomGroup.

    Parameters
    ----------
    group : AtomGroup
        Atoms that are kept.
    any_boxes : bool, optional
        Let some frames have a box and others none, where that of the trajectory does not count.

    Returns
    -------
    frames : UniverseFrames
        All frames, read by a reader of its own, so that the user's stays at its frame; on-the-fly
        transformations act on the user's atoms, so those are read from the user's reader.
    notes : tuple of str
        What was decided on its boxes.
    """
    own = group.universe.trajectory
    shared = bool(own.transformations)
    with quiet():
        reader = own if shared else own.copy()
        before = reader.frame
        last, find_box = len(reader) - 1, box_finder(reader)
        boxes, resting = list[Floats | None](), list[Ints | None]()
        remarks = list[str]()
        for frame in sorted({0, last // 2, last}):
            step = reader[frame]
            boxes.append(find_box(step))
            remarks.append(remark_on_step(reader, step, boxes[-1]))
            resting.append(may_lie_there(step.positions))
        found = [None if fault_of(box) else box for box in boxes]
        _ = reader[before]
    # Particles of texts may start all at the origin.
    named = bool((atoms_of_universe(group).elements != "").any())
    judged = ANY if formats_of(reader) & _TEXTS else Resting.of(resting, points=not named)
    sites = np.asarray(group.ix, dtype=np.int64)
    unit = unit_of_reader(reader)
    walls = None if any_boxes else max_walls(walls_of(box, unit) for box in found)
    periodic = any(box is not None and box.any() for box in found)
    frames = UniverseFrames(reader, range(len(reader)), sites, periodic, shared, walls, judged)
    told = dict.fromkeys(f"{frames.source}: {remark}" for remark in remarks if remark)
    return frames, () if any_boxes else tuple(told)


def atoms_of_universe(group: Any) -> Atoms:
    """Take names and bonds from an MDAnalysis AtomGroup.

    Parameters
    ----------
    group : AtomGroup
        Atoms.

    Returns
    -------
    Atoms
        The same atoms; bonds are those that the topology gives.
    """
    count = len(group)
    resnames = _attribute(group, "resnames", count)
    if not all(isinstance(name, str) for name in getattr(group, "resnames", ())):
        resnames = np.full(count, "")  # numbers of bodies, which GSD files have in their place
    names = _attribute(group, "names", count)
    typed = not (names != "").any()
    if typed:
        names = _attribute(group, "types", count)
    chains = _attribute(group, "chainIDs", count)
    if not (chains != "").any():
        chains = _attribute(group, "segids", count)
    elements = _attribute(group, "elements", count)
    known = not typed or _are_symbols(names)
    guessed = guess_elements(names, resnames) if known else np.full(count, "")
    elements = np.where(elements == "", guessed, np.char.capitalize(elements))
    if is_coarse_grained(names, resnames):
        elements = np.full(count, "")
    masses = np.asarray(getattr(group, "masses", np.zeros(count)), dtype=np.float64)
    return Atoms(
        names=names,
        elements=elements,
        resnames=resnames,
        resids=np.asarray(getattr(group, "resids", np.arange(1, count + 1)), dtype=np.int64),
        icodes=_attribute(group, "icodes", count),
        chains=np.where(chains == "SYSTEM", "", chains),
        masses=np.where(np.isfinite(masses) & (masses > 0), masses, element_masses(elements)),
        bonds=_bonds_of(group, count),
    )


def time_of(step: Any) -> float | None:
    """Take the time of an MDAnalysis time step.

    Parameters
    ----------
    step : Timestep
        As its reader fills it.

    Returns
    -------
    float or None
        In ps; None where the library would count frames instead.
    """
    if "time" not in step.data:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of readers that know no time between frames
            try:
                _ = step.dt
            except UserWarning:
                step.data.pop("dt", None)
                return None
    return float(step.time)


def time_of_frame(reader: Any, frame: int) -> float | None:
    """Tell when a frame was taken, without reading it where the reader counts from the first.

    Parameters
    ----------
    reader : MDAnalysis reader
        At any of its frames.
    frame : int
        Which one.

    Returns
    -------
    float or None
        In ps; None where nobody knows.
    """
    here = reader.ts
    if "time" in here.data:
        with quiet():
            return time_of(reader[frame])
    time = time_of(here)
    return None if time is None else time + (frame - here.frame) * float(here.dt)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence MDAnalysis, which warns of masses, boxes and times that play no part here.

    Its readers that could not open a file stumble again when they are taken down, which Python
    would report beside the error.
    """
    before = sys.unraisablehook
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.unraisablehook = lambda _: None
        try:
            yield
        finally:
            sys.unraisablehook = before


def _lacks_times(reader: Any) -> bool:
    """Tell whether times are made of a placeholder in a DCD header, unless the user gave others."""
    header = getattr(getattr(reader, "_file", None), "header", None)
    path = Path(str(reader.filename))
    if "DCD" not in formats_of(reader) or header is None or not path.is_file():
        return False
    file = DcdFile(path)
    return file.time(0) is None and bool(np.isclose(reader.ts.dt, file.stated_interval))


def _header_clock(reader: Any) -> FrameClock | None:
    """Read times from the headers of frames, where the reader knows where these are."""
    offsets = getattr(getattr(reader, "_xdr", None), "offsets", None)
    changed = reader.transformations or "time_offset" in reader.ts.data
    if offsets is None or changed or not formats_of(reader) <= {"XTC", "TRR"}:
        return None
    return clock_of(Path(str(reader.filename)), np.asarray(offsets, dtype=np.int64))


def _attribute(group: Any, name: str, count: int) -> Strings:
    values = getattr(group, name, None)
    if values is None or len(values) != count:
        return np.full(count, "")
    return np.char.strip(np.array([str(value) for value in values], dtype=np.str_))


def _are_symbols(types: Strings) -> bool:
    """Tell whether all types are elements: of A, B and C two are, and opls_135 begins like one."""
    return all(is_element(str(name)) for name in np.unique(types))


def _bonds_of(group: Any, count: int) -> Ints:
    bonds = getattr(group, "bonds", None)
    if bonds is None or not len(bonds):
        return sorted_bonds(())
    places = np.full(group.universe.atoms.n_atoms, -1)
    places[group.ix] = np.arange(count)
    pairs = places[np.asarray(bonds.indices, dtype=np.int64)]
    return sorted_bonds(pairs[(pairs >= 0).all(axis=1)])
