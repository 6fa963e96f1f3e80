"""Objects of other libraries (MDAnalysis, mdtraj, tables), known by their attributes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, Strings
from timme.readers.gsd import GsdFile
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import box_of, boxes_of_frames
from timme.system.elements import (
    element_masses,
    guess_elements,
    is_coarse_grained,
    is_element,
)
from timme.system.frames import (
    BoxedFrames,
    Frames,
    PlainFrames,
    chosen_of,
    file_mark,
    marks_of_choice,
)
from timme.system.placeholders import can_be_box, refuse_other_space

MDTRAJ = "mdtraj Trajectory"  # what such a source is called
_UNITLESS = frozenset(("DATA", "GSD", "LAMMPSDUMP", "XYZ"))  # formats that state no unit of length


def is_atom_group(source: object) -> bool:
    """Tell whether an object is an MDAnalysis Universe or AtomGroup.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has atoms of a universe with a trajectory.
    """
    return (
        hasattr(source, "universe")
        and hasattr(source, "atoms")
        and hasattr(source.universe, "trajectory")
    )


def is_mdtraj(source: object) -> bool:
    """Tell whether an object is an mdtraj Trajectory.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has coordinates, a topology and unit cells.
    """
    return all(hasattr(source, name) for name in ("xyz", "topology", "unitcell_vectors"))


def is_table(source: object) -> bool:
    """Tell whether an object is a table with named columns, such as a pandas DataFrame.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what has columns.
    """
    return (
        hasattr(source, "columns") and hasattr(source, "__getitem__") and hasattr(source, "__len__")
    )


def is_lazy_table(source: object) -> bool:
    """Tell whether an object is a table that is yet to be computed, such as a polars LazyFrame.

    Parameters
    ----------
    source : object
        Anything.

    Returns
    -------
    bool
        True for what ``collect`` turns into a table.
    """
    return all(hasattr(type(source), name) for name in ("collect", "collect_schema", "columns"))


def box_of_library(box: Any) -> Any:
    """Turn a box of freud or HOOMD, or one for each snapshot, into box vectors.

    Parameters
    ----------
    box : object
        Box with three lengths and three tilt factors, a list of such, or anything else.

    Returns
    -------
    object
        Box vectors as rows, in a list of such for one snapshot or all, with zeros in open
        directions; anything else as it is.
    """
    if isinstance(box, list | tuple) and box and all(_is_tilted_box(each) for each in box):
        return [_vectors_of(each) for each in box]
    return [_vectors_of(box)] if _is_tilted_box(box) else box


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


def _formats(reader: Any) -> set[str]:
    """Formats of the files of a trajectory, as MDAnalysis names them."""
    found = set[str]()
    for each in getattr(reader, "readers", None) or (reader,):
        named = getattr(each, "format", "")
        found.update({named} if isinstance(named, str) else set(named))
    return found


def _box_finder(reader: Any) -> Callable[[Any], Floats | None]:
    """Choose how the box of a time step is found.

    MDAnalysis takes the tilts of a GSD box for angles, so that it is read from the file itself.
    """
    if "GSD" not in _formats(reader):
        return box_of
    if reader.transformations or hasattr(reader, "readers"):
        raise ValueError(
            "the boxes of a GSD file are not those of its Universe, and this one is changed on the "
            "way or made of several files: give the files themselves to timme.read"
        )
    file = GsdFile(Path(reader.filename))
    return lambda step: file.box(step.frame)


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


def _is_tilted_box(box: object) -> bool:
    return all(hasattr(box, name) for name in ("Lx", "Ly", "Lz", "xy", "xz", "yz"))


def _vectors_of(box: Any) -> list[list[float]]:
    x, y, z = float(box.Lx), float(box.Ly), float(box.Lz)
    vectors = np.array([[x, 0.0, 0.0], [box.xy * y, y, 0.0], [box.xz * z, box.yz * z, z]])
    if getattr(box, "is2D", False):
        vectors[2] = 0.0
    periodic = np.broadcast_to(np.asarray(getattr(box, "periodic", True), dtype=np.bool_), 3)
    kept: list[list[float]] = (vectors * periodic[:, None]).tolist()
    return kept


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniverseFrames(PlainFrames):
    """Frames of an MDAnalysis trajectory."""

    reader: Any
    chosen: Sequence[int]
    sites: Ints
    periodic: bool
    shared: bool  # with the user, whose frame is put back after reading
    walled: bool | None = None  # whether every frame must have a box or none must; None for any

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
        find_box = _box_finder(self.reader)
        for row, frame in enumerate(frames):
            step = self.reader[frame]
            coordinates[row] = step.positions[self.sites]
            boxes.append(self._checked(find_box(step), step.frame))
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
            In ps; None where the reader has no times.
        """
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

    def _checked(self, box: Floats | None, frame: int) -> Floats | None:
        if self.walled is not None:
            name = f"{getattr(self.reader, 'filename', None) or 'Universe'}: frame {frame + 1}"
            unit = unit_of_reader(self.reader)
            refuse_other_space(box, unit, walled=self.walled, name=name)
        return box


def universe_frames(group: Any, *, any_boxes: bool = False) -> UniverseFrames:
    """Take the frames of the trajectory behind an AtomGroup.

    Parameters
    ----------
    group : AtomGroup
        Atoms that are kept.
    any_boxes : bool, optional
        Let some frames have a box and others none, where that of the trajectory does not count.

    Returns
    -------
    UniverseFrames
        All frames, read by a reader of its own, so that the user's stays at its frame; on-the-fly
        transformations act on the user's atoms, so those are read from the user's reader.
    """
    own = group.universe.trajectory
    shared = bool(own.transformations)
    with quiet():
        reader = own if shared else own.copy()
        before = reader.frame
        last, find_box = len(reader) - 1, _box_finder(reader)
        found = [find_box(reader[frame]) for frame in sorted({0, last // 2, last})]
        _ = reader[before]
    sites = np.asarray(group.ix, dtype=np.int64)
    unit = unit_of_reader(reader)
    walled = None if any_boxes else any(can_be_box(box, unit) for box in found)
    periodic = any(box is not None for box in found)
    return UniverseFrames(reader, range(len(reader)), sites, periodic, shared, walled)


def unit_of_reader(reader: Any) -> str:
    """Tell in which unit the lengths of an MDAnalysis trajectory are.

    Parameters
    ----------
    reader : object
        Of one file or several.

    Returns
    -------
    str
        ``Å``, into which the library converts them, or "" where the format states no unit.
    """
    return "" if _formats(reader) & _UNITLESS else "Å"


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


def atoms_of_mdtraj(topology: Any) -> Atoms:
    """Take names and bonds from an mdtraj Topology.

    Parameters
    ----------
    topology : Topology
        Atoms.

    Returns
    -------
    Atoms
        The same atoms and bonds.
    """
    atoms = list(topology.atoms)
    names = np.array([atom.name for atom in atoms], dtype=np.str_)
    resnames = np.array([atom.residue.name for atom in atoms], dtype=np.str_)
    symbols = [
        getattr(atom.element, "symbol", "") if atom.element is not None else "" for atom in atoms
    ]
    # Virtual sites are an element of their own there.
    elements = np.array([symbol if symbol != "VS" else "" for symbol in symbols], dtype=np.str_)
    return Atoms(
        names=names,
        elements=elements,
        resnames=resnames,
        resids=np.array([atom.residue.resSeq for atom in atoms], dtype=np.int64),
        icodes=np.full(len(atoms), ""),
        chains=np.array([_chain_of(atom.residue) for atom in atoms], dtype=np.str_),
        masses=element_masses(elements),
        bonds=sorted_bonds([(a.index, b.index) for a, b in topology.bonds]),
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence MDAnalysis, which warns of masses, boxes and times that play no part here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _chain_of(residue: Any) -> str:
    name = getattr(residue.chain, "chain_id", None) or residue.segment_id
    return str(name or chr(ord("A") + residue.chain.index % 26))


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
