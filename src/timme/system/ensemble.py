"""An ensemble: snapshots of the same sites, with what is known of their names, bonds and box."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, frozen, indices
from timme._html import Described
from timme.system.atoms import Atoms
from timme.system.blocks import Block
from timme.system.boxes import box_matrices
from timme.system.checks import checked_coordinates, checked_weights
from timme.system.frame_choices import rows_of
from timme.system.frames import Frames
from timme.system.held_frames import ArrayFrames
from timme.system.images import Images
from timme.system.selection import select_atoms
from timme.system.space import Boxes
from timme.system.traces import find_steps
from timme.system.units import unit_in_angstrom

# Coordinates of one block of frames held in double precision never exceed about this many bytes.
_BLOCK_BYTES = 150_000_000
_BLOCK_FRAMES = 256
_BLURRED = 1e-3  # of a box, by which a place that is known no better is not known at all

# Coordinates in single precision are summed in it from so many snapshots on, where that gives σ to
# 1e-5 (see the argument in _kernels/sums.py). Fewer are brought into double precision.
SINGLE_FROM = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ensemble(Described):
    """Snapshots of the same sites.

    Sites are the points that are analysed; ``site_atoms`` tells which of the atoms each one is.
    """

    frames: Frames
    atoms: Atoms
    site_atoms: Ints  # (sites,), indices into atoms
    unit: str = ""  # of the coordinates, as written on axes: "Å", "nm", "µm"; "" where unknown
    weights: Floats | None = None  # (snapshots,)
    gaps: bool = False  # NaN coordinates mean "not seen in this snapshot"
    independent: bool = False  # snapshots without an order in time, such as NMR models
    runs: Ints | None = None  # (snapshots,), number of the run that each is of; None for one run
    images: Images | None = None  # which images sites see in boxes, the nearest if None
    rounding: float = 0.0  # spacing of the grid on which the file stores coordinates; 0 unknown
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())  # what the reader chose and the user should know
    molecules: Ints | None = None  # (atoms,), as the file numbers them, 0 for none
    numbers: Ints | None = None  # (atoms,), of the user's files, their ids or places in all models
    steps: Ints | None = (
        None  # (steps, 3), atoms so many bonds apart through others that are missing
    )
    least_block: int = 8  # snapshots of a block, however many sites there are

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
        """Make an ensemble from coordinates in memory.

        Parameters
        ----------
        coordinates : array_like, shape (snapshots, sites, dimensions)
            Positions. Single and double precision are kept, all else becomes double.
        boxes : array_like, optional
            Periodic box: one length per dimension or one matrix of row vectors, for all
            snapshots or for each. A length of 0 leaves that direction open.
        atoms : Atoms, optional
            Names and bonds of the sites.
        weights : array_like, shape (snapshots,), optional
            One number per snapshot.
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
        >>> import numpy as np
        >>> pair = np.array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]])
        >>> Ensemble.from_array(pair).n_snapshots
        2
        """
        array = checked_coordinates(coordinates, gaps=gaps)
        snapshots, sites, dimensions = array.shape
        if atoms is not None and (len(atoms) != sites or (atoms.bonds >= sites).any()):
            raise ValueError(
                f"{sites} sites need as many atoms, and bonds between these, got {len(atoms)} atoms"
            )
        box_array = None if boxes is None else box_matrices(boxes, snapshots, dimensions)
        made = cls(
            frames=ArrayFrames(frozen(array), box_array),
            atoms=Atoms.unnamed(sites) if atoms is None else atoms,
            site_atoms=np.arange(sites),
            unit=unit,
            weights=None if weights is None else checked_weights(weights, snapshots),
            gaps=gaps,
        )
        return made.with_steps()

    def with_steps(self, angstrom: float | None = None) -> Self:
        """Find neighbours along chains of which one atom of each residue is known.

        Parameters
        ----------
        angstrom : float, optional
            Length of the unit in Å, if it is not what the unit says.

        Returns
        -------
        Ensemble
            With these steps; of all atoms, in the units of molecules, and in space. Bonds of the
            source that stand for such steps are no bonds any more.
        """
        length = angstrom or unit_in_angstrom(self.unit)
        if length is None or self.n_dimensions != 3 or not (self.atoms.names != "").any():
            return replace(self, steps=None)

        def measure(one: Ints, other: Ints) -> Floats:
            apart = list[Floats]()
            for points, matrices in self._few_snapshots():
                boxes = Boxes.of(matrices, 1, 3)
                apart.append(np.linalg.norm(boxes.between(points, one, other)[0], axis=1))
            return length * np.array(apart)

        steps, bonds = find_steps(self.atoms, measure)
        return replace(self, steps=steps, atoms=replace(self.atoms, bonds=bonds))

    def _few_snapshots(self) -> Iterator[tuple[Coordinates, Floats | None]]:
        """Look at a few snapshots, spread over all: one alone may be odd."""
        last = self.n_snapshots - 1
        for snapshot in sorted({0, last // 4, last // 2, last - last // 4, last}):
            try:
                yield self.frames.read(snapshot, snapshot + 1)
            except ValueError:  # of a damaged one, which is told when it is needed
                if snapshot == 0:
                    raise

    @property
    def n_snapshots(self) -> int:
        """Number of snapshots."""
        return self.frames.shape[0]

    @property
    def n_counting(self) -> int:
        """Number of snapshots that count: those of weight above 0."""
        return self.n_snapshots if self.weights is None else int(np.count_nonzero(self.weights))

    @property
    def replicas(self) -> tuple[int, ...]:
        """Numbers of snapshots of each independent run, in their order."""
        if self.runs is None:
            return (self.n_snapshots,)
        return tuple(np.unique(self.runs, return_counts=True)[1].tolist())

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return self.frames.shape[1]

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions of space."""
        return self.frames.shape[2]

    def blocks(self) -> Iterator[Block]:
        """Walk through all snapshots in blocks of a fixed length.

        The length depends on the size of the system only, never on the machine or the number of
        workers, so that sums over blocks are the same everywhere.

        Yields
        ------
        Block
            Consecutive snapshots, in order.
        """
        length = self.block_length
        for start in range(0, self.n_snapshots, length):
            yield self.block(start)

    @property
    def block_length(self) -> int:
        """Number of snapshots in every block but the last."""
        bytes_per_frame = 8 * max(1, self.n_sites * self.n_dimensions)
        return max(self.least_block, min(_BLOCK_FRAMES, _BLOCK_BYTES // bytes_per_frame))

    def block(self, start: int) -> Block:
        """Read the block that starts at a snapshot.

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
        self._refuse_non_finite(coordinates, start)
        self._refuse_far_away(coordinates, boxes, start)
        weights = np.ones(stop - start) if self.weights is None else self.weights[start:stop]
        complete = not self.gaps and self.weights is None
        single = coordinates.dtype == np.float32 and self.n_snapshots >= SINGLE_FROM
        return Block(
            start,
            coordinates,
            boxes,
            weights,
            complete=complete,
            single=single,
            images=self.images,
        )

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
        index = self._place(index)
        coordinates, boxes = self.frames.read(index, index + 1)
        self._refuse_non_finite(coordinates, index)
        return coordinates[0], None if boxes is None else boxes[0]

    def __len__(self) -> int:
        """Count the snapshots."""
        return self.n_snapshots

    def __getitem__(self, snapshots: slice | npt.ArrayLike) -> Ensemble:
        """Keep some of the snapshots, as ``ensemble[10:20]`` or ``ensemble[[0, 4, 9]]``.

        Weights go with their snapshots. Sites that were followed through walls stay where they
        were followed to, and see the same images of one another as in the whole.

        Parameters
        ----------
        snapshots : slice or array_like
            A slice that goes forwards, indices that ascend, or one truth value for each.

        Returns
        -------
        Ensemble
            The same sites in fewer snapshots; nothing is read.
        """
        kept = self._kept(snapshots)
        weights = self.weights
        if weights is not None:
            weights = checked_weights(rows_of(weights, kept), len(kept))
        runs = None if self.runs is None else rows_of(self.runs, kept)
        return replace(self, frames=self.frames.keep(kept), weights=weights, runs=runs)

    __iter__ = None  # what one step of a walk would be is asked for by name: a block, a snapshot

    def _place(self, index: int) -> int:
        """Number of a snapshot from the first on."""
        count = self.n_snapshots
        if not -count <= operator.index(index) < count:
            raise ValueError(
                f"snapshots go from 0 to {count - 1}, or from -{count} to -1, got {index}"
            )
        return index % count

    def _kept(self, given: slice | npt.ArrayLike) -> Sequence[int]:
        """Numbers of snapshots, a range where they are even."""
        count = self.n_snapshots
        if isinstance(given, int | np.integer):
            place = self._place(int(given))
            raise TypeError(
                f"snapshots are kept by a slice or a list, got {given}: use "
                f"ensemble[{place}:{place + 1}], or ensemble.snapshot({given}) for its numbers"
            )
        if isinstance(given, slice):
            kept: Sequence[int] = range(count)[given]
            forwards = given.step is None or given.step > 0
        else:
            array = indices(given, count, "snapshots")
            kept = array.tolist()
            forwards = bool((np.diff(array) > 0).all())
        if not kept or not forwards:
            raise ValueError(
                f"at least 1 of {count} snapshots is kept, and in their order, got {given}: "
                "give others"
            )
        return kept

    def coordinates(self) -> Coordinates:
        """Return all snapshots as one array.

        Returns
        -------
        ndarray, shape (snapshots, sites, dimensions)
            Positions, NaN where a site is not seen; all of them are held at a time.

        Examples
        --------
        >>> Ensemble.from_array([[[0.0], [1.0]], [[0.0], [2.0]]]).coordinates().shape
        (2, 2, 1)
        """
        return frozen(np.concatenate([block.coordinates for block in self.blocks()]))

    def select(self, sites: str | npt.ArrayLike) -> Ensemble:
        """Keep some of the sites.

        Parameters
        ----------
        sites : str or array_like
            A selection in the MDAnalysis language, such as ``name CA``, or a preset (``ca``,
            ``backbone``, ``heavy``, ``water-oxygen``); or indices of the sites to keep, in the
            order wanted, or one truth value for each.

        Returns
        -------
        Ensemble
            The same snapshots of fewer sites; bonds of the whole system stay known.
        """
        given = self.find_sites(sites) if isinstance(sites, str) else sites
        chosen = indices(given, self.n_sites, "sites")
        if chosen.size == 0:
            raise ValueError(
                f"a selection needs at least 1 of the {self.n_sites} sites, got none: "
                "check the names in the selection"
            )
        frames = self.frames.select(chosen)
        images = None if self.images is None else self.images.select(chosen)
        return replace(self, frames=frames, site_atoms=self.site_atoms[chosen], images=images)

    def find_sites(self, text: str) -> Ints:
        """Find sites by a selection.

        Parameters
        ----------
        text : str
            As for :meth:`select`.

        Returns
        -------
        ndarray of int
            Indices of the sites, at least one.
        """
        return select_atoms(self.atoms.take(self.site_atoms), self.snapshot()[0], text)

    def site_label(self, site: int) -> str:
        """Name one site for messages.

        Parameters
        ----------
        site : int
            Index of the site.

        Returns
        -------
        str
            The label of its atom.
        """
        return self.atoms.label(int(self.site_atoms[site]))

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("snapshots", self.n_snapshots),
            ("sites", self.n_sites),
            ("dimensions", self.n_dimensions),
            ("bonds", len(self.atoms.bonds)),
            ("unit", self.unit or "unknown"),
            ("sources", ", ".join(self.sources) or "memory"),
        )

    @property
    def prefix(self) -> str:
        """Names of the files, as they stand at the beginning of a message."""
        return f"{', '.join(self.sources)}: " if self.sources else ""

    def _refuse_non_finite(self, coordinates: Coordinates, start: int) -> None:
        bad = np.isinf(coordinates) if self.gaps else ~np.isfinite(coordinates)
        if not bad.any():
            return
        frame, site, _ = np.argwhere(bad)[0]
        remedy = (
            "repair it, or write NaN for a gap"
            if self.gaps
            else "repair or leave out that snapshot or atom, "
            "or say that missing values are gaps (gaps=True)"
        )
        raise ValueError(
            f"{self.prefix}coordinates must be finite, but atom {self.site_label(int(site))} "
            f"(site {site + 1}) of snapshot {start + frame + 1} is "
            f"{coordinates[frame, site].tolist()}: {remedy}"
        )

    def _refuse_far_away(self, coordinates: Coordinates, boxes: Floats | None, start: int) -> None:
        """Refuse places so many boxes away that nobody knows where in the box they are."""
        if boxes is None or not boxes.any():
            return
        ways = (np.fmin, np.fmax) if self.gaps else (np.minimum, np.maximum)  # which are quicker
        ends = [way.reduce(coordinates.reshape(len(coordinates), -1), axis=1) for way in ways]
        farthest = np.max(np.abs(ends), axis=0)
        lengths = np.linalg.norm(boxes, axis=2)
        widths = np.where(lengths > 0, lengths, np.inf).min(axis=1)
        far = np.flatnonzero(farthest * np.finfo(coordinates.dtype).eps > _BLURRED * widths)
        if not len(far):
            return
        frame = int(far[0])
        place = int(np.nanargmax(np.abs(coordinates[frame]).max(axis=1)))
        raise ValueError(
            f"{self.prefix}atom {self.site_label(place)} (site {place + 1}) of snapshot "
            f"{start + frame + 1} is at {coordinates[frame, place].tolist()}, too many boxes away "
            "to tell where in the box: repair or leave out that snapshot"
        )
