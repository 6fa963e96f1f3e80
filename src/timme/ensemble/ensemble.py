"""Ensembles: snapshots of the same sites, with their names, bonds, boxes and weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, frozen, indices, numbers
from timme._text import Described
from timme.ensemble.atoms import Atoms, angstroms
from timme.ensemble.bonds import trace_steps
from timme.ensemble.frames import ArraySource, Frames, Source, rows
from timme.ensemble.residues import selector
from timme.ensemble.space import Boxes, Images, box_matrices
from timme.ensemble.unwrapping import molecules_of, unwrap

# Coordinates of a block held in double precision never exceed about this many bytes.
_BLOCK_BYTES = 150_000_000
_MOST_FRAMES, _FEWEST_FRAMES = 256, 8  # of a block
_BLURRED = 1e-3  # of a box, by which a position must be known

# Coordinates in single precision are summed in it from this many snapshots on, where that gives σ
# to 1e-5; fewer are converted to double precision.
SINGLE_FROM = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(Described):
    """A run of consecutive snapshots."""

    start: int
    coordinates: Coordinates  # (frames, sites, dimensions)
    boxes: Floats | None  # (frames, dimensions, dimensions)
    weights: Floats  # (frames,)
    complete: bool  # whether every site is seen in every frame, and all weigh the same
    single: bool  # whether sums over the block may be in single precision
    images: Images | None = None  # which images sites see, the nearest if None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ensemble(Described):
    """Snapshots of the same sites.

    Sites are the points that are analysed; ``site_atoms`` holds the atom of each.
    Coordinates are read in blocks when they are needed.

    Attributes
    ----------
    frames : Frames
        Where the coordinates come from.
    atoms : Atoms
        Names and bonds of the whole system.
    site_atoms : ndarray of int, shape (sites,)
        Atom of each site.
    unit : str, optional
        Unit of the coordinates as it stands on axes: ``Å``, ``nm``, ``µm``; "" where unknown.
    weights : ndarray, shape (snapshots,), optional
        Weight of each snapshot, the largest 1.
    gaps : bool, optional
        Whether NaN means "not seen in this snapshot".
    independent : bool, optional
        Whether snapshots have no order in time, as NMR models.
    runs : ndarray of int, shape (snapshots,), optional
        Number of the run to which each snapshot belongs; one run by default.
    images : Images, optional
        Which periodic images are used; the nearest by default.
    rounding : float, optional
        Spacing of the grid on which a file stores coordinates; 0 where unknown.
    sources, notes : tuple of str, optional
        Names of files, and notes on how they were read.
    molecules : ndarray of int, shape (atoms,), optional
        Molecules as the file numbers them, 0 for none.
    numbers : ndarray of int, shape (atoms,), optional
        Numbers of the atoms in the user's file.
    traces : ndarray of int, shape (steps, 3), optional
        Pairs of atoms along chains and how many bonds they are apart, where the atoms between
        them are missing.
    n_source : int, optional
        Number of snapshots in the source, of which these were chosen; 0 if they are all.

    Examples
    --------
    >>> pair = Ensemble.from_array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]], unit="nm")
    >>> pair.n_snapshots, pair.n_sites, pair.n_dimensions
    (2, 2, 2)
    """

    frames: Frames
    atoms: Atoms
    site_atoms: Ints
    unit: str = ""
    weights: Floats | None = None
    gaps: bool = False
    independent: bool = False
    runs: Ints | None = None
    images: Images | None = None
    rounding: float = 0.0
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    molecules: Ints | None = None
    numbers: Ints | None = None
    traces: Ints | None = None
    n_source: int = 0

    @classmethod
    def from_source(
        cls, source: Source, atoms: Atoms, unit: str = "", sources: tuple[str, ...] = ()
    ) -> Self:
        """Return all snapshots and sites of a source as they are, unchecked.

        Parameters
        ----------
        source : Source
            Where coordinates come from.
        atoms : Atoms
            One for each site.
        unit : str, optional
            Unit of the coordinates.
        sources : tuple of str, optional
            Names of files.

        Returns
        -------
        Ensemble
            One site for each atom.
        """
        return cls(Frames.of(source), atoms, np.arange(len(atoms)), unit, sources=sources)

    @classmethod
    def from_array(
        cls,
        coordinates: npt.ArrayLike,
        *,
        boxes: npt.ArrayLike | None = None,
        atoms: Atoms | None = None,
        weights: npt.ArrayLike | None = None,
        unit: str = "",
        gaps: bool = False,
    ) -> Self:
        """Return an ensemble of coordinates in memory.

        Parameters
        ----------
        coordinates : array_like, shape (snapshots, sites, dimensions)
            Positions. Single and double precision are kept, all else becomes double; masked values
            become NaN.
        boxes : array_like, optional
            Periodic box, once or for each snapshot: one length per dimension, a matrix of row
            vectors, or three lengths and three angles in degrees. A length of 0 leaves that
            direction open.
        atoms : Atoms, optional
            Names and bonds of the sites.
        weights : array_like, shape (snapshots,), optional
            Weights of the snapshots; only their ratios count.
        unit : str, optional
            Unit of the coordinates.
        gaps : bool, optional
            Whether NaN means "not seen in this snapshot" rather than an error.

        Returns
        -------
        Ensemble
            The checked ensemble.

        Examples
        --------
        >>> square = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [9.0, 0.0]]]
        >>> Ensemble.from_array(square, boxes=[10.0, 10.0]).snapshot(1)[1].tolist()
        [[10.0, 0.0], [0.0, 10.0]]
        """
        array = _checked_coordinates(coordinates)
        n_snapshots, n_sites, n_dimensions = array.shape
        if atoms is not None and (len(atoms) != n_sites or (atoms.bonds >= n_sites).any()):
            raise ValueError(
                f"{n_sites} sites need {n_sites} atoms, bonds between these, got {len(atoms)}"
            )
        box_array = None if boxes is None else box_matrices(boxes, n_snapshots, n_dimensions)
        source = ArraySource(frozen(array), box_array, np.full(n_snapshots, np.nan))
        found = cls.from_source(source, Atoms.unnamed(n_sites) if atoms is None else atoms, unit)
        own = None if weights is None else checked_weights(weights, n_snapshots)
        return replace(found, weights=own, gaps=gaps).with_traces()

    def with_traces(self) -> Self:
        """Find neighbours along chains of which one atom of each residue is known.

        Returns
        -------
        Ensemble
            With ``traces``; bonds of the source that stand for these are dropped. The
            sites must be all atoms. Without a unit of molecules (Å, nm) there are no traces.
        """
        length = angstroms(self.unit)
        if length is None or self.n_dimensions != 3 or not (self.atoms.names != "").any():
            return replace(self, traces=None)
        # One snapshot may be unusual.
        spread = sorted({(self.n_snapshots - 1) * quarter // 4 for quarter in range(5)})
        points, matrices = self.frames.keep(spread).read(0, len(spread))
        boxes = Boxes.of(matrices, len(spread), 3)

        def distances(one: Ints, other: Ints) -> Floats:
            apart = length * np.linalg.norm(boxes.between(points, one, other), axis=2)
            median: Floats = np.sort(apart, axis=0)[(len(spread) - 1) // 2]
            return median

        traces, bonds = trace_steps(self.atoms, distances)
        return replace(self, traces=traces, atoms=replace(self.atoms, bonds=bonds))

    @property
    def n_snapshots(self) -> int:
        """Number of snapshots."""
        return self.frames.shape[0]

    @property
    def n_counting(self) -> int:
        """Number of snapshots that count: those of weight above 0."""
        return self.n_snapshots if self.weights is None else int(np.count_nonzero(self.weights))

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return self.frames.shape[1]

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions of space."""
        return self.frames.shape[2]

    @property
    def sites(self) -> Atoms:
        """Atoms that the sites are, with the bonds between them."""
        return self.atoms.take(self.site_atoms)

    @property
    def replicas(self) -> tuple[int, ...]:
        """Numbers of snapshots of each independent run, in their order."""
        if self.runs is None:
            return (self.n_snapshots,)
        return tuple(np.unique(self.runs, return_counts=True)[1].tolist())

    @property
    def starts(self) -> list[int]:
        """Numbers of the snapshots with which later runs start."""
        return [] if self.runs is None else (1 + np.flatnonzero(np.diff(self.runs))).tolist()

    @property
    def times(self) -> Floats:
        """Times of the snapshots in ps, or their numbers of steps; NaN where unknown."""
        return self.frames.times

    @property
    def prefix(self) -> str:
        """Names of the files, as they stand at the beginning of a message."""
        return f"{', '.join(self.sources)}: " if self.sources else ""

    @property
    def block_length(self) -> int:
        """Number of snapshots in every block but the last."""
        bytes_per_frame = 8 * self.n_sites * self.n_dimensions
        return max(_FEWEST_FRAMES, min(_MOST_FRAMES, _BLOCK_BYTES // bytes_per_frame))

    def blocks(self) -> Iterator[Block]:
        """Yield all snapshots in blocks of a fixed length.

        The length depends on the size of the system only, never on the machine or the number of
        workers, so that sums over blocks are the same everywhere.

        Yields
        ------
        Block
            Consecutive snapshots, in order.
        """
        for start in range(0, self.n_snapshots, self.block_length):
            yield self.block(start)

    def block(self, start: int) -> Block:
        """Return the block that starts at a snapshot.

        Parameters
        ----------
        start : int
            First snapshot of the block.

        Returns
        -------
        Block
            Checked coordinates: finite, or NaN where the ensemble has gaps.
        """
        stop = min(start + self.block_length, self.n_snapshots)
        coordinates, boxes = self.frames.read(start, stop)
        self._refuse_unusable(coordinates, boxes, start)
        weights = np.ones(stop - start) if self.weights is None else self.weights[start:stop]
        complete = not self.gaps and self.weights is None
        single = coordinates.dtype == np.float32 and self.n_snapshots >= SINGLE_FROM
        return Block(start, coordinates, boxes, weights, complete, single, self.images)

    def snapshot(self, index: int = 0) -> tuple[Coordinates, Floats | None]:
        """Return one snapshot and its box.

        Parameters
        ----------
        index : int, optional
            Which snapshot; counted from the last where it is negative.

        Returns
        -------
        coordinates : ndarray, shape (sites, dimensions)
            Positions.
        box : ndarray, shape (dimensions, dimensions), or None
            Box vectors as rows.
        """
        count = self.n_snapshots
        if not -count <= index < count:
            raise ValueError(f"snapshots range from {-count} to {count - 1}, got {index}")
        place = index % count
        coordinates, boxes = self.frames.read(place, place + 1)
        self._refuse_unusable(coordinates, None, place)
        return coordinates[0], None if boxes is None else boxes[0]

    def coordinates(self) -> Coordinates:
        """Return the positions in all snapshots as one array, NaN where a site is not seen.

        Returns
        -------
        ndarray, shape (snapshots, sites, dimensions)
            All are held in memory at once.

        Examples
        --------
        >>> Ensemble.from_array([[[0.0], [1.0]], [[0.0], [2.0]]]).coordinates().shape
        (2, 2, 1)
        """
        return frozen(np.concatenate([block.coordinates for block in self.blocks()]))

    def __len__(self) -> int:
        """Count the snapshots."""
        return self.n_snapshots

    def __getitem__(self, snapshots: slice | npt.ArrayLike) -> Ensemble:
        """Keep some of the snapshots, as ``ensemble[10:20]`` or ``ensemble[[0, 4, 9]]``.

        Weights go with their snapshots. Molecules that were unwrapped stay where they are.

        Parameters
        ----------
        snapshots : slice or array_like
            A slice that goes forwards, ascending indices, or one truth value for each snapshot.

        Returns
        -------
        Ensemble
            The same sites in fewer snapshots; nothing is read.
        """
        kept: Sequence[int]
        count = self.n_snapshots
        if isinstance(snapshots, slice):
            kept = range(count)[snapshots]
        else:
            kept = indices(snapshots, count, "snapshots").tolist()
        if not kept or list(kept) != sorted(kept):
            raise ValueError(f"choose 1 of {count} snapshots or more, ascending, got {snapshots!r}")
        weights = self.weights
        if weights is not None:
            weights = checked_weights(rows(weights, kept), len(kept))
        runs = None if self.runs is None else rows(self.runs, kept)
        return replace(self, frames=self.frames.keep(kept), weights=weights, runs=runs)

    __iter__ = None  # ambiguous: iterate over blocks(), or over snapshot(i)

    def select(self, sites: str | npt.ArrayLike) -> Ensemble:
        """Keep some of the sites.

        Parameters
        ----------
        sites : str or array_like
            A selection in the MDAnalysis language, such as ``name CA``, or a preset (``ca``,
            ``backbone``, ``heavy``, ``water-oxygen``); or indices of the sites to keep, in
            the order of the result, or one truth value for each.

        Returns
        -------
        Ensemble
            The same snapshots of fewer sites; bonds of the whole system stay known.

        Examples
        --------
        >>> Ensemble.from_array([[[0.0], [1.0], [5.0]]]).select([2, 0]).coordinates().tolist()
        [[[5.0], [0.0]]]
        """
        given = self.find_sites(sites) if isinstance(sites, str) else sites
        chosen = indices(given, self.n_sites, "selected sites")
        if len(chosen) == 0:
            raise ValueError(f"select at least 1 of the {self.n_sites} sites, got none")
        images = None if self.images is None else self.images.select(chosen)
        frames, site_atoms = self.frames.select(chosen), self.site_atoms[chosen]
        return replace(self, frames=frames, site_atoms=site_atoms, images=images)

    def unwrapped(self) -> Ensemble:
        """Follow molecules across the faces of the box, each to the image nearest to the last one.

        Every run starts at the positions in the file, and gaps are bridged to the nearest image.
        Unlike ``timme.read(unwrap=True)``, this refuses nothing.

        Returns
        -------
        Ensemble
            The same snapshots without jumps, in the same box; itself in open space.

        Examples
        --------
        >>> across = [[[0.2], [5.0]], [[9.9], [5.0]], [[9.5], [5.0]]]
        >>> Ensemble.from_array(across, boxes=10.0).unwrapped().coordinates()[:, 0, 0]
        array([ 0.2, -0.1, -0.5])
        """
        box = self.frames.read(0, 1)[1]
        fixed = self.images is not None and self.images.origin is not None  # unwrapped already
        if box is None or not box.any() or fixed:
            return self
        step = unwrap(self.frames, molecules_of(self), starts=self.starts, strict=False)
        return replace(self, frames=self.frames.then(step))

    def find_sites(self, text: str) -> Ints:
        """Return the indices of the sites that a selection names, at least one.

        Parameters
        ----------
        text : str
            As for `select`.

        Returns
        -------
        ndarray of int
            Indices of sites, ascending.
        """
        return selector(self.sites, self.snapshot()[0])(text)

    def site_label(self, site: int) -> str:
        """Return the name of one site for messages: the label of its atom."""
        return self.atoms.label(int(self.site_atoms[site]))

    def facts(self) -> dict[str, object]:
        """Return shape, bonds, unit and sources."""
        shape = dict(zip(("snapshots", "sites", "dimensions"), self.frames.shape, strict=True))
        sources = ", ".join(self.sources) or "memory"
        bonds, unit = len(self.atoms.bonds), self.unit or "unknown"
        return {**shape, "bonds": bonds, "unit": unit, "sources": sources}

    def _refuse_unusable(self, coordinates: Coordinates, boxes: Floats | None, start: int) -> None:
        """Refuse positions that are not finite, or too many boxes away to tell where in the box."""
        bad = np.isinf(coordinates) if self.gaps else ~np.isfinite(coordinates)
        if boxes is not None and boxes.any() and not bad.any():
            lengths = np.linalg.norm(boxes, axis=2)
            widths = np.where(lengths > 0, lengths, np.inf).min(axis=1)
            farthest = _BLURRED * widths / np.finfo(coordinates.dtype).eps
            bad = np.abs(coordinates) > farthest[:, None, None]
        if bad.any():
            frame, site, _ = np.argwhere(bad)[0].tolist()
            where = f"is at {coordinates[frame, site].tolist()}, not finite or too many boxes away"
            who = f"atom {self.site_label(site)} (site {site + 1}) of snapshot {start + frame + 1}"
            raise ValueError(f"{self.prefix}{who} {where}: leave it out, or read gaps (gaps=True)")


def checked_weights(weights: npt.ArrayLike, n_snapshots: int) -> Floats:
    """Return one weight per snapshot in double precision, the largest 1."""
    array = numbers(weights, "weights")
    usable = array.shape == (n_snapshots,) and np.isfinite(array).all() and not (array < 0).any()
    if not usable or np.count_nonzero(array) < min(2, n_snapshots):
        needed = (
            f"weights need one number for each of {n_snapshots} snapshots, finite, not negative"
        )
        got = f"{np.count_nonzero(array)} not zero of {array.size}"
        raise ValueError(f"{needed}, above zero for at least 2, got {got}")
    return frozen(array / array.max())


def _checked_coordinates(given: npt.ArrayLike) -> Coordinates:
    """Return an array (snapshots, sites, dimensions) in single or double precision."""
    array = np.asanyarray(given)
    if array.dtype.kind not in "fiu" or array.ndim != 3 or 0 in array.shape:
        needed = "coordinates are real numbers (snapshots, sites, dimensions), at least 1 of each"
        got = f"{array.dtype} of shape {array.shape}"
        raise ValueError(f"{needed}, got {got}: add the missing axis, or pass σ as a matrix")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return np.asarray(array, array.dtype if array.dtype in (np.float32, np.float64) else np.float64)
